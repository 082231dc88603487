/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify_fuzz [COUNT [SEED]]: random programs, mostly valid, to the running kernel's verifier and
 * to skep's. What skep accepts the kernel must accept: a program that only skep accepts is a
 * failure ("loose"); one that only the kernel accepts is counted ("strict") and may be at most one
 * in twenty (kernels after 6.12 know that look-ups by a constant index of an array find something).
 * A failing program is printed as text with its seed. TAP; skips where bpf(2) is not allowed.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/report.h"
#include "gen.h"
#include "verify/verify.h"

static struct gen_prog prog;
static int map_fd[GEN_MAPS];

/* -- both verifiers */

static char kernel_log[1 << 20];

static int bpf(int cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int kernel_verdict(bool log)
{
	struct bpf_insn insns[GEN_INSNS];
	union bpf_attr a = { .prog_type = prog.type,
			     .insns = (uint64_t)(uintptr_t)insns,
			     .insn_cnt = prog.n,
			     .license = (uint64_t)(uintptr_t)"GPL" };
	int fd;

	memcpy(insns, prog.insns, prog.n * sizeof(insns[0]));
	for (uint32_t i = 0; i < prog.n; i++) {
		if (insns[i].code == (BPF_LD | BPF_IMM | BPF_DW) &&
		    insns[i].src_reg == BPF_PSEUDO_MAP_FD)
			insns[i].imm = map_fd[insns[i].imm];
	}
	if (log) {
		a.log_level = 1;
		a.log_size = sizeof(kernel_log);
		a.log_buf = (uint64_t)(uintptr_t)kernel_log;
		kernel_log[0] = '\0';
	}
	fd = bpf(BPF_PROG_LOAD, &a);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int skep_verdict(struct report *log, unsigned level)
{
	static struct map_desc maps[GEN_MAPS];
	const struct verify_input in = { .prog_type = prog.type, .gpl = true, .log_level = level };
	struct ref refs[GEN_MAPS];
	struct unit *u = NULL;
	int err = unit_decode(prog.insns, prog.n, false, log, &u);

	if (err)
		return -err;
	for (unsigned i = 0; i < GEN_MAPS; i++) {
		maps[i] = (struct map_desc){ .type = gen_maps[i].type,
					     .key_size = gen_maps[i].key_size,
					     .value_size = gen_maps[i].value_size,
					     .max_entries = gen_maps[i].max_entries };
		refs[i] = (struct ref){ .kind = REF_MAP, .map = &maps[i] };
	}
	mem_free(u->refs);
	u->refs = mem_dup(refs, sizeof(refs));
	u->n_refs = GEN_MAPS;
	err = -verify(u, &in, log, NULL);
	unit_free(u);
	return err;
}

/* The log without states: enough to see what happened. */
static void show(uint64_t from)
{
	struct report r = { 0 };

	skep_verdict(&r, 1);
	printf("# seed %llu, type %u\n", (unsigned long long)from, prog.type);
	for (char *l = strtok(r.text ? r.text : "", "\n"); l; l = strtok(NULL, "\n"))
		printf("# skep: %s\n", l);
	printf("# kernel: error %d\n", kernel_verdict(true));
	for (char *l = strtok(kernel_log, "\n"); l; l = strtok(NULL, "\n"))
		printf("# kernel: %s\n", l);
	report_free(&r);
}

static bool begin(void)
{
	for (unsigned i = 0; i < GEN_MAPS; i++) {
		union bpf_attr a = { .map_type = gen_maps[i].type,
				     .key_size = gen_maps[i].key_size,
				     .value_size = gen_maps[i].value_size,
				     .max_entries = gen_maps[i].max_entries };

		map_fd[i] = bpf(BPF_MAP_CREATE, &a);
		if (map_fd[i] < 0)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? (uint32_t)atoi(argv[1]) : 3000, loose = 0, strict = 0, both = 0;
	uint64_t base = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	bool verbose = argc > 3;

	if (!begin()) {
		printf("1..0 # SKIP bpf(2) is not allowed here: %s\n", strerror(errno));
		return 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct report log = { 0 };
		int k, s;

		gen_make(base + i, 0, &prog);
		k = kernel_verdict(false);
		s = skep_verdict(&log, 0);
		report_free(&log);
		both += !k && !s;
		loose += k && !s;
		strict += !k && s;
		if ((k && !s && loose <= 3) || (verbose && !k && s && strict <= 5))
			show(base + i);
	}
	printf("%sok 1 - %u programs, %u accepted by both; only by skep: %u\n", loose ? "not " : "",
	       count, both, loose);
	printf("%sok 2 - only by the kernel: %u\n1..2\n", strict * 20 > count ? "not " : "",
	       strict);
	return loose || strict * 20 > count;
}
