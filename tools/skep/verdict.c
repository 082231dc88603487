/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/verdict.h"

#include <linux/bpf.h>
#include <stddef.h>

const struct verdict verdicts[] = {
#define PROG(type, name)
#define VERDICT(type, value, name, passed)                                                         \
	{ BPF_PROG_TYPE_##type, value, name, passed, false, false },
#define VERDICT_REDIRECT(type, value, name)                                                        \
	{ BPF_PROG_TYPE_##type, value, name, false, true, false },
#define VERDICT_REST(type, name, passed) { BPF_PROG_TYPE_##type, 0, name, passed, false, true },
#include "skep/verdict.def"
#undef PROG
#undef VERDICT
#undef VERDICT_REDIRECT
#undef VERDICT_REST
};

const unsigned n_verdicts = sizeof(verdicts) / sizeof(verdicts[0]);

const char *verdict_type_name(uint32_t type)
{
	static const struct {
		uint32_t type;
		const char *name;
	} types[] = {
#define PROG(type, name) { BPF_PROG_TYPE_##type, name },
#define VERDICT(type, value, name, passed)
#define VERDICT_REDIRECT(type, value, name)
#define VERDICT_REST(type, name, passed)
#include "skep/verdict.def"
#undef PROG
#undef VERDICT
#undef VERDICT_REDIRECT
#undef VERDICT_REST
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].type == type)
			return types[i].name;
	return NULL;
}

const struct verdict *verdict_find(uint32_t type, uint32_t value)
{
	const struct verdict *v = verdicts, *rest = NULL;

	for (unsigned i = 0; i < n_verdicts; i++, v++) {
		if (v->type != type)
			continue;
		if (v->rest)
			rest = v;
		else if ((uint32_t)v->value == value)
			return v;
	}
	return rest;
}
