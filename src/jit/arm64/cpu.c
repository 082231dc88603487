/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "jit/arm64/arm64.h"
#include "jit/host.h"

static const struct {
	uint64_t feature;
	unsigned word, bit, level;
} rows[] = {
#define FEATURE(id, name, word, bit, level) { FEAT_##id, word, bit, level },
#define CPU(...)
#include "jit/arm64/cpu.def"
};

static const struct {
	const char *name;
	unsigned level;
	uint64_t also;
} cpus[] = {
#define FEATURE(...)
#define CPU(name, level, also) { name, level, also },
#include "jit/arm64/cpu.def"
};

const char a64_cpus[] = ""
#define FEATURE(...)
#define CPU(name, level, also) " " name
#include "jit/arm64/cpu.def"
    ;

enum { ROWS = sizeof(rows) / sizeof(*rows), CPUS = sizeof(cpus) / sizeof(*cpus) };

static uint64_t level_features(unsigned level)
{
	uint64_t f = 0;

	for (unsigned i = 0; i < ROWS; i++)
		f |= rows[i].level <= level ? rows[i].feature : 0;
	return f;
}

static uint64_t running_features(void)
{
	uint64_t f = 0;

	for (unsigned i = 0; i < ROWS; i++)
		f |= host_hwcap(rows[i].word) >> rows[i].bit & 1 ? rows[i].feature : 0;
	return f;
}

int a64_cpu(const char *name, uint64_t *features)
{
	if (!name) {
		*features = running_features();
		return 0;
	}
	for (unsigned i = 0; i < CPUS; i++) {
		if (!strcmp(cpus[i].name, name)) {
			*features = level_features(cpus[i].level) | cpus[i].also;
			return 0;
		}
	}
	return -EINVAL;
}
