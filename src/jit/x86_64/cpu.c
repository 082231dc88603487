/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "jit/host.h"
#include "jit/x86_64/x86_64.h"

static const struct {
	uint64_t feature;
	unsigned level;
	struct host_cpuid at;
} rows[] = {
#define FEATURE(id, name, level, leaf, reg, bit) { FEAT_##id, level, { leaf, HOST_##reg, bit } },
#include "jit/x86_64/cpu.def"
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

static uint64_t level_features(unsigned level)
{
	uint64_t f = 0;

	for (unsigned i = 0; i < ROWS; i++)
		f |= rows[i].level <= level ? rows[i].feature : 0;
	return f;
}

/* Asked once: cpuid is slow in virtual machines. */
static pthread_once_t running_once = PTHREAD_ONCE_INIT;
static uint64_t running;

static void running_find(void)
{
	for (unsigned i = 0; i < ROWS; i++)
		running |= host_has(&rows[i].at) ? rows[i].feature : 0;
}

static uint64_t running_features(void)
{
	pthread_once(&running_once, running_find);
	return running;
}

int x86_cpu(const char *name, uint64_t *features)
{
	if (!name) {
		*features = running_features();
	} else if (!strcmp(name, "baseline")) {
		*features = level_features(1);
	} else if (!strncmp(name, "x86-64-v", 8) && name[8] >= '2' && name[8] <= '4' && !name[9]) {
		*features = level_features((unsigned)(name[8] - '0'));
	} else {
		return -EINVAL;
	}
	return 0;
}
