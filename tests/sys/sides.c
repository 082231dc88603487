/* SPDX-License-Identifier: BSD-2-Clause */
#include "sides.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "skep/skep.h"

struct side sides[SIDES];

int side_bpf(int side, int cmd, const void *attr, unsigned size)
{
	long result = side == KERNEL ? syscall(SYS_bpf, cmd, attr, size)
				     : skep_bpf(cmd, (union bpf_attr *)(uintptr_t)attr, size);

	return result < 0 ? -errno : (int)result;
}

static int map_make(int side, uint32_t type, uint32_t key, uint32_t value, uint32_t n,
		    uint32_t flags, int inner)
{
	union attr a = { .map_create = { .map_type = type,
					 .key_size = key,
					 .value_size = value,
					 .max_entries = n,
					 .map_flags = flags,
					 .inner_map_fd = (uint32_t)inner } };

	return side_bpf(side, BPF_MAP_CREATE, &a, sizeof(a));
}

/* BTF by hand: each row is name, kind, size, then the members. */
#define INT	  (1u << 24)
#define ARRAY	  (3u << 24)
#define STRUCT(n) (4u << 24 | (n))

static const struct {
	struct btf_header_ {
		uint16_t magic;
		uint8_t version, flags;
		uint32_t hdr_len, type_off, type_len, str_off, str_len;
	} h;
	uint32_t types[73];
	char strings[36];
} small_btf = {
	{ 0xeb9f, 1, 0, 24, 0, 292, 292, 36 },
	{
	    1,	INT,	   4,  0x01000020,		   /* 1: int */
	    5,	STRUCT(1), 4,  10,	   1, 0,	   /* 2: struct with an int */
	    12, STRUCT(1), 4,  10,	   1, 0,	   /* 3: bpf_spin_lock */
	    5,	STRUCT(2), 8,  10,	   3, 0, 5, 1, 32, /* 4: lock and int */
	    26, STRUCT(0), 16,				   /* 5: bpf_timer */
	    5,	STRUCT(1), 16, 10,	   5, 0,	   /* 6: timer */
	    5,	STRUCT(2), 16, 10,	   4, 0, 5, 4, 64, /* 7: two locks, further in */
	    5,	STRUCT(1), 8,  10,	   4, 0,	   /* 8: a struct with a lock inside */
	    0,	ARRAY,	   0,  1,	   1, 2,	   /* 9: int[2] */
	    5,	STRUCT(2), 8,  10,	   1, 0, 5, 3, 32, /* 10: int and lock */
	    5,	STRUCT(2), 20, 10,	   1, 0, 5, 5, 32, /* 11: int and misaligned timer */
	},
	"\0int\0pair\0a\0bpf_spin_lock\0bpf_timer",
};

static int btf_make(int side)
{
	union attr a = { .btf_load = { .btf = (uintptr_t)&small_btf, .size = sizeof(small_btf) } };

	return side_bpf(side, BPF_BTF_LOAD, &a, sizeof(a));
}

static int prog_make(int side)
{
	static const struct bpf_insn insns[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K },
						 { .code = BPF_JMP | BPF_EXIT } };
	union attr a = { .prog_load = { .prog_type = BPF_PROG_TYPE_XDP,
					.insn_cnt = 2,
					.insns = (uintptr_t)insns,
					.license = (uintptr_t)"GPL" } };

	return side_bpf(side, BPF_PROG_LOAD, &a, sizeof(a));
}

bool side_open(int side)
{
	struct side *s = &sides[side];

	s->hash = map_make(side, BPF_MAP_TYPE_HASH, 4, 8, 4, 0, 0);
	s->array = map_make(side, BPF_MAP_TYPE_ARRAY, 4, 8, 4, 0, 0);
	s->ro_array = map_make(side, BPF_MAP_TYPE_ARRAY, 4, 8, 1, BPF_F_RDONLY, 0);
	s->percpu = map_make(side, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 4, 0, 0);
	s->queue = map_make(side, BPF_MAP_TYPE_QUEUE, 0, 8, 4, 0, 0);
	s->outer = map_make(side, BPF_MAP_TYPE_HASH_OF_MAPS, 4, 4, 4, 0, s->hash);
	s->prog_array = map_make(side, BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4, 0, 0);
	s->ring = map_make(side, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0, 0);
	s->btf = btf_make(side);
	s->prog = prog_make(side);
	return s->hash >= 0 && s->array >= 0 && s->prog >= 0 && s->btf >= 0;
}

bool check(unsigned *tests, bool ok, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %u - ", ok ? "" : "not ", ++*tests);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	return ok;
}

static int row_run(const struct row *row, int side)
{
	union {
		union attr known;
		uint8_t all[4096];
	} a = { 0 };
	int result;

	row->fill(&a.known, &sides[side]);
	result = side_bpf(side, row->cmd, &a, row->size ? row->size : sizeof(union attr));
	if (result > 0)
		close(result);
	return result > 0 ? 0 : result;
}

unsigned rows_run(const struct row *rows, unsigned n, unsigned *tests)
{
	unsigned failed = 0;

	for (unsigned i = 0; i < n; i++) {
		int kernel = row_run(&rows[i], KERNEL), skep = row_run(&rows[i], SKEP);

		/* Kernels that refuse some program types to everybody say EPERM. */
		if (kernel == -EPERM && skep == -EINVAL && rows[i].cmd == BPF_PROG_LOAD) {
			printf("ok %u - %s # SKIP this kernel refuses the type\n", ++*tests,
			       rows[i].name);
			continue;
		}
		if (!check(tests, kernel == skep, "%s: %s", rows[i].name, strerror(-kernel))) {
			printf("# kernel %d, skep %d\n", kernel, skep);
			failed++;
		}
	}
	return failed;
}
