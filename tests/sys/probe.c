/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libbpf's feature probes through the private libbpf, against those of the system's libbpf and the
 * running kernel: which program types, map types and helpers there are.
 */
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "isa/helper.h"

typedef int (*probe_type)(uint32_t type, const void *opts);
typedef int (*probe_helper)(uint32_t type, uint32_t helper, const void *opts);

static unsigned tests, failed;

/* What part 1 leaves out is said by name, and is no failure. */
static void result(int kernel, int skep, const char *what, const char *name)
{
	if (kernel == skep || kernel < 0)
		printf("ok %u - %s %s: %d\n", ++tests, what, name, skep);
	else if (kernel > skep)
		printf("not ok %u - %s %s: kernel %d, skep %d # TODO not there yet\n", ++tests,
		       what, name, kernel, skep);
	else
		printf("ok %u - %s %s # SKIP this kernel was built without it\n", ++tests, what,
		       name);
}

static void progs_probe(probe_type kernel)
{
	for (uint32_t t = 1; t <= BPF_PROG_TYPE_SYSCALL; t++)
		result(kernel(t, NULL), libbpf_probe_bpf_prog_type(t, NULL), "program type",
		       libbpf_bpf_prog_type_str(t));
}

static void maps_probe(probe_type kernel)
{
	for (uint32_t t = 1; t <= BPF_MAP_TYPE_BLOOM_FILTER; t++)
		result(kernel(t, NULL), libbpf_probe_bpf_map_type(t, NULL), "map type",
		       libbpf_bpf_map_type_str(t));
}

/* One line for a program type; helpers that differ are listed in it. */
static void helpers_probe(probe_helper kernel, uint32_t type)
{
	unsigned same = 0, fewer = 0, more = 0;

	for (uint32_t id = 1; id <= HELPER_ID_MAX; id++) {
		int theirs = kernel(type, id, NULL), ours = libbpf_probe_bpf_helper(type, id, NULL);

		same += ours == theirs;
		if (theirs < 0 || ours == theirs)
			continue;
		fewer += ours < theirs;
		more += ours > theirs;
		printf("# %s: kernel %d, skep %d\n", helper_find(id)->name, theirs, ours);
	}
	printf("%sok %u - helpers of %s: %u as in the kernel, %u fewer, %u more\n",
	       more ? "not " : "", ++tests, libbpf_bpf_prog_type_str(type), same, fewer, more);
	failed += more;
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

int main(void)
{
	static const uint32_t types[] = { BPF_PROG_TYPE_XDP, BPF_PROG_TYPE_SCHED_CLS,
					  BPF_PROG_TYPE_SOCKET_FILTER, BPF_PROG_TYPE_CGROUP_SKB };
	void *lib = dlopen("libbpf.so.1", RTLD_NOW | RTLD_LOCAL);
	probe_type progs = lib ? (probe_type)dlsym(lib, "libbpf_probe_bpf_prog_type") : NULL;
	probe_type maps = lib ? (probe_type)dlsym(lib, "libbpf_probe_bpf_map_type") : NULL;
	probe_helper helpers = lib ? (probe_helper)dlsym(lib, "libbpf_probe_bpf_helper") : NULL;

	libbpf_set_print(quiet);
	if (!progs || !maps || !helpers || progs(BPF_PROG_TYPE_XDP, NULL) != 1) {
		printf("1..0 # SKIP bpf(2) or libbpf.so.1 cannot be used here\n");
		return 0;
	}
	progs_probe(progs);
	maps_probe(maps);
	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		helpers_probe(helpers, types[i]);
	printf("1..%u\n", tests);
	return failed != 0;
}
