/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small programs and what one rewrite makes of them, verified first. Each also runs out of memory
 * at every allocation. TAP.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/direct.h"
#include "rewrite/rewrite.h"
#include "verify/verify.h"

#define FILTER BPF_PROG_TYPE_SOCKET_FILTER
#define XDP    BPF_PROG_TYPE_XDP
#define TC     BPF_PROG_TYPE_SCHED_CLS
#define OPS    BPF_PROG_TYPE_SOCK_OPS
#define KPROBE BPF_PROG_TYPE_KPROBE

#define PLAIN (TRAIT_ZEXT32 | TRAIT_PERCPU | TRAIT_DIV0)

enum { JIT = 1, HARDENED = 2, UNVERIFIED = 4 };

struct row {
	const char *name;
	unsigned pass;
	uint32_t type, traits;
	int flags;
	const char *text, *want; /* want NULL: as it was */
};

/* The maps are maps[], by map_fd. */
static const struct row rows[] = {
#define CASE(pass, name, type, traits, flags, text, want)                                          \
	{ name, REWRITE_##pass, type, traits, flags, text, want },
#include "text.def"
};

static uint64_t function(BPF_PARAMS(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e))
{
	return a;
}

/* What functions and addresses the maps offer; functions are refs behind those of the maps. */
static const struct map_direct array_direct = { .values = 16, .stride = 48 };
static const struct map_direct percpu_direct = { .percpu_off = 4096, .stride = 8 };
static const struct map_direct hash_direct = { .lookup = { function, "lookup" },
					       .value_off = 24,
					       .update = { function, "update" } };
static const struct map_direct lru_direct = {
	.lookup = { function, "lookup" }, .value_off = 24, .ref_off = 14, .percpu = true
};
static const struct map_direct trie_direct = { .lookup = { function, "lookup" } };
static const struct map_direct maps_direct = { .slots = 512 };
static const struct map_desc inner = {
	.type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1
};

#define MAP(kind, key, value, max, number, more)                                                   \
	{ .type = BPF_MAP_TYPE_##kind,                                                             \
	  .key_size = key,                                                                         \
	  .value_size = value,                                                                     \
	  .max_entries = max,                                                                      \
	  .id = number,                                                                            \
	  .direct = more }

static const struct map_desc maps[] = {
	MAP(ARRAY, 4, 48, 5, 1, &array_direct),
	MAP(HASH, 8, 8, 4, 2, &hash_direct),
	MAP(PERCPU_ARRAY, 4, 8, 5, 3, &percpu_direct),
	MAP(LRU_PERCPU_HASH, 8, 8, 4, 4, &lru_direct),
	MAP(LPM_TRIE, 8, 8, 4, 5, &trie_direct),
	{ .type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
	  .key_size = 4,
	  .value_size = 4,
	  .max_entries = 5,
	  .id = 6,
	  .inner = &inner,
	  .direct = &maps_direct },
};

enum { MAPS = sizeof(maps) / sizeof(maps[0]) };

static int parse(const struct row *row, const char *text, struct report *r, struct unit **out)
{
	int err = unit_parse(row->name, text, r, out);

	if (err)
		return err;
	mem_free((*out)->refs);
	(*out)->n_refs = 0;
	(*out)->refs = mem_zalloc(MAPS, sizeof(*(*out)->refs));
	if (!(*out)->refs) {
		unit_free(*out);
		return -ENOMEM;
	}
	(*out)->n_refs = MAPS;
	for (unsigned i = 0; i < MAPS; i++)
		(*out)->refs[i] =
		    (struct ref){ .kind = REF_MAP, .map = &maps[i], .addr = 8, .value = 16 };
	return 0;
}

/* Facts and stacks of u become its own. */
static int verified(const struct row *row, struct unit *u, struct report *r)
{
	const struct verify_input in = { .prog_type = row->type, .gpl = true, .key_facts = true };
	struct facts *f;
	int err = row->flags & UNVERIFIED ? 0 : verify(u, &in, r, &f);

	if (err || row->flags & UNVERIFIED)
		return err;
	u->facts = f->op;
	u->stack = f->stack_depth;
	f->op = NULL;
	f->stack_depth = NULL;
	facts_free(f);
	return 0;
}

static int rewritten(const struct row *row, struct report *r, struct unit **out)
{
	const struct rewrite_opts opts = { .scratch = 2,
					   .traits = row->traits,
					   .prog_type = row->type,
					   .jit = row->flags & JIT,
					   .hardened = row->flags & HARDENED,
					   .off = ~(1ull << row->pass) };
	struct unit *u = NULL;
	int err = parse(row, row->text, r, &u);

	if (err)
		return err;
	err = verified(row, u, r);
	if (!err)
		err = rewrite(u, &opts, r, out);
	unit_free(u);
	return err;
}

/* A unit in the syntax that is the same for the same ops. */
static bool same_text(const struct unit *got, const struct unit *want)
{
	struct report a = { 0 }, b = { 0 };
	bool same;

	unit_print(got, PRINT_LLVM, &a);
	unit_print(want, PRINT_LLVM, &b);
	same = a.text && b.text && !strcmp(a.text, b.text);
	for (char *l = same ? NULL : strtok(a.text, "\n"); l; l = strtok(NULL, "\n"))
		printf("# %s\n", l);
	report_free(&a);
	report_free(&b);
	return same;
}

static bool judge(const struct row *row)
{
	struct unit *got = NULL, *want = NULL;
	struct report r = { 0 };
	bool ok = !rewritten(row, &r, &got) &&
		  !parse(row, row->want ? row->want : row->text, &r, &want) && same_text(got, want);

	if (r.text)
		printf("# %s", r.text);
	unit_free(got);
	unit_free(want);
	report_free(&r);
	return ok;
}

static bool robust(const struct row *row)
{
	for (unsigned long n = 1; n < 3000; n++) {
		struct unit *u = NULL;
		unsigned long count;
		int err;

		mem_fail_at(n, 0);
		err = rewritten(row, NULL, &u);
		count = mem_fail_count();
		mem_fail_at(0, 0);
		unit_free(u);
		if (count < n)
			return true;
		if (err != -ENOMEM && err != -E2BIG) {
			printf("# allocation %lu: %d\n", n, err);
			return false;
		}
	}
	return true;
}

int main(void)
{
	unsigned n = sizeof(rows) / sizeof(rows[0]), bad = 0;

	printf("1..%u\n", 2 * n);
	for (unsigned i = 0; i < n; i++) {
		bool same = judge(&rows[i]), memory = robust(&rows[i]);

		printf("%sok %u - %s: %s\n", same ? "" : "not ", 2 * i + 1,
		       rewrite_name(rows[i].pass), rows[i].name);
		printf("%sok %u - %s, without memory\n", memory ? "" : "not ", 2 * i + 2,
		       rows[i].name);
		bad += !same + !memory;
	}
	return bad != 0;
}
