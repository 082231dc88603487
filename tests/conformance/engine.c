/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine.h"

#include <errno.h>
#include <string.h>

#include "base/report.h"
#include "interp/interp.h"
#include "kept.h"

static const struct engine engines[] = {
	{ .name = "interp" },
	{ .name = "jit", .native = true },
	{ .name = "jit-blind", .native = true, .jit = { .blind = true, .blind_seed = 1 } },
};

bool engine_find(const char *name, struct engine *out)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		if (strcmp(engines[i].name, name) == 0) {
			*out = engines[i];
			return true;
		}
	}
	return false;
}

int engine_compile(const struct engine *e, const struct unit *u, struct report *r)
{
	struct code *code = NULL;
	const int err = jit_compile(target_find(e->target), u, &e->jit, r, &code);

	if (!err)
		code_free(code);
	return err;
}

static int compile(const struct engine *e, const struct unit *u, struct report *r,
		   struct image **out)
{
	struct code *code;
	int err = jit_compile(target_find(NULL), u, &e->jit, r, &code);

	if (err)
		return err;
	err = image_new(code, r, out);
	if (err)
		code_free(code);
	return err;
}

int engine_load(const struct engine *e, const struct unit *u, struct report *r, struct loaded *out)
{
	struct image *image = NULL;
	const int err = e->native ? compile(e, u, r, &image) : 0;

	if (err)
		return err;
	*out = (struct loaded){
		.engine = e,
		.callee = { .native = image ? image->tail_entry : NULL, .unit = u },
		.image = image,
	};
	return 0;
}

int engine_run(const struct loaded *p, const uint64_t a[5], uint64_t *r0)
{
	const struct interp_opts opts = { .max_ops = p->engine->max_ops };
	bool kept;

	if (!p->image)
		return interp_run(p->callee.unit, a, &opts, r0);
	*r0 = kept_call(p->image->entry, a, &kept);
	return kept && code_stacks_whole(p->image->code) ? 0 : -EPROTO;
}

void engine_unload(struct loaded *p)
{
	if (p->image)
		image_free(p->image);
	*p = (struct loaded){ 0 };
}
