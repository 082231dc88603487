/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify_fuzz [COUNT [SEED]]: random programs, mostly valid, to the running kernel's verifier and
 * to skep's. What skep accepts the kernel must accept: a program that only skep accepts is a
 * failure ("loose"); one that only the kernel accepts is counted ("strict") and may be at most one
 * in a hundred. A failing program is printed as text with its seed. TAP; skips where bpf(2) is not
 * allowed.
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
#include "verify/verify.h"

enum { INSNS = 160, VALUE = 48 };

static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % n;
}

/* -- the program under construction */

enum what { NOTHING, NUMBER, CTX, STACK, VALUE_PTR, PACKET };

static struct bpf_insn prog[INSNS + 64];
static uint32_t n_insns;
static enum what has[11]; /* what the generator believes; it need not be right */
static int map_fd;
static uint32_t prog_type;

static void put(uint8_t code, unsigned dst, unsigned src, int off, int32_t imm)
{
	prog[n_insns++] = (struct bpf_insn){ .code = code,
					     .dst_reg = dst & 15,
					     .src_reg = src & 15,
					     .off = (int16_t)off,
					     .imm = imm };
}

static int32_t constant(void)
{
	static const int32_t list[] = { 0,	   1,	2,   3,	  4,   7,     8,       15,
					16,	   31,	32,  33,  40,  47,    48,      63,
					64,	   127, 128, 255, 256, 65535, 1 << 30, INT32_MAX,
					INT32_MIN, -1,	-2,  -8,  -64 };

	return rnd(4) ? list[rnd(sizeof(list) / sizeof(list[0]))]
		      : (int32_t)(rnd(1u << 31) * 2u + 1);
}

/* A register that holds such a thing, or any when there is none. */
static unsigned pick(enum what w)
{
	unsigned start = rnd(10);

	for (unsigned i = 0; i < 10; i++) {
		if (has[(start + i) % 10] == w)
			return (start + i) % 10;
	}
	return 10;
}

static unsigned number(void)
{
	unsigned r = pick(NUMBER);

	if (r != 10)
		return r;
	r = rnd(10);
	put(BPF_ALU64 | BPF_MOV | BPF_K, r, 0, 0, constant());
	has[r] = NUMBER;
	return r;
}

static void gen_alu(void)
{
	static const uint8_t ops[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_OR,  BPF_AND,
				       BPF_XOR, BPF_AND, BPF_LSH, BPF_RSH, BPF_ARSH,
				       BPF_DIV, BPF_MOD, BPF_ADD, BPF_AND };
	uint8_t op = ops[rnd(sizeof(ops))], class = rnd(3) ? BPF_ALU64 : BPF_ALU;
	unsigned dst = number(), src = number();
	int32_t imm = constant();

	if (op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH)
		imm = (int32_t)rnd(class == BPF_ALU ? 32 : 64);
	if ((op == BPF_DIV || op == BPF_MOD) && !imm)
		imm = 3;
	if (rnd(3))
		put(class | op | BPF_K, dst, 0, 0, imm);
	else
		put(class | op | BPF_X, dst, src, 0, 0);
}

static void gen_move(void)
{
	unsigned dst = rnd(10), src = rnd(11);

	if (src != 10 && !has[src])
		src = number();
	if (has[src] == NUMBER && rnd(3) == 0) {
		static const int16_t sx[] = { 0, 8, 16 };

		put((rnd(2) ? BPF_ALU : BPF_ALU64) | BPF_MOV | BPF_X, dst, src, sx[rnd(3)], 0);
	} else {
		put(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
	}
	has[dst] = src == 10 ? STACK : has[src];
}

static void gen_jump(void)
{
	static const uint8_t ops[] = { BPF_JEQ,	 BPF_JNE,  BPF_JGT,  BPF_JGE,  BPF_JLT, BPF_JLE,
				       BPF_JSGT, BPF_JSGE, BPF_JSLT, BPF_JSLE, BPF_JSET };
	uint8_t op = ops[rnd(sizeof(ops))], class = rnd(3) ? BPF_JMP : BPF_JMP32;
	unsigned dst = number(), src = number();
	int off = (int)rnd(6);

	if (rnd(3))
		put(class | op | BPF_K, dst, 0, off, constant());
	else
		put(class | op | BPF_X, dst, src, off, 0);
}

static void gen_stack(void)
{
	static const uint8_t sizes[] = { BPF_B, BPF_H, BPF_W, BPF_DW, BPF_DW, BPF_DW };
	uint8_t size = sizes[rnd(6)];
	int bytes = size == BPF_B ? 1 : size == BPF_H ? 2 : size == BPF_W ? 4 : 8;
	int off = -bytes * (int)(1 + rnd((uint32_t)(64 / bytes)));
	unsigned r = rnd(10);

	if (!has[r])
		r = number();
	switch (rnd(4)) {
	case 0:
		put(BPF_ST | BPF_MEM | size, 10, 0, off, constant());
		break;
	case 1:
		put(BPF_STX | BPF_MEM | (has[r] == NUMBER ? size : BPF_DW), 10, r,
		    has[r] == NUMBER ? off : -8 * (int)(1 + rnd(8)), 0);
		break;
	default:
		r = rnd(10);
		put(BPF_LDX | BPF_MEM | size, r, 10, off, 0);
		has[r] = NUMBER;
		break;
	}
}

static void clobber(void)
{
	memset(has, 0, 6 * sizeof(has[0]));
}

static void gen_lookup(void)
{
	put(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, (int32_t)rnd(6));
	put(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0);
	put(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4);
	put(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, map_fd);
	put(0, 0, 0, 0, 0);
	put(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem);
	clobber();
	if (rnd(12)) {
		put(BPF_JMP | BPF_JNE | BPF_K, 0, 0, 2, 0);
		put(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
		put(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	}
	put(BPF_ALU64 | BPF_MOV | BPF_X, 6 + rnd(4), 0, 0, 0);
	has[prog[n_insns - 1].dst_reg] = has[0] = VALUE_PTR;
}

/* An index into a value, bounded as programs do it, or nearly so. */
static void gen_value(void)
{
	static const uint8_t sizes[] = { BPF_B, BPF_H, BPF_W, BPF_DW };
	uint8_t size = sizes[rnd(4)];
	unsigned p = pick(VALUE_PTR), r, t = rnd(10);

	if (p == 10) {
		gen_lookup();
		return;
	}
	if (rnd(2)) {
		r = number();
		if (t == r || t == p)
			return;
		if (rnd(4)) {
			if (rnd(2))
				put((rnd(2) ? BPF_ALU64 : BPF_ALU) | BPF_AND | BPF_K, r, 0, 0,
				    (int32_t[]){ 7, 15, 31, 32, 63, 40 }[rnd(6)]);
			else
				put((rnd(2) ? BPF_JMP : BPF_JMP32) | (rnd(2) ? BPF_JGT : BPF_JSGT) |
					BPF_K,
				    r, 0, (int)rnd(4), (int32_t)rnd(50));
		}
		put(BPF_ALU64 | BPF_MOV | BPF_X, t, p, 0, 0);
		put(BPF_ALU64 | (rnd(8) ? BPF_ADD : BPF_SUB) | BPF_X, t, r, 0, 0);
		has[t] = VALUE_PTR;
		p = t;
	}
	if (rnd(2)) {
		t = rnd(10);
		put(BPF_LDX | BPF_MEM | size, t, p, (int)rnd(VALUE), 0);
		has[t] = NUMBER;
	} else {
		put(BPF_STX | BPF_MEM | size, p, number(), (int)rnd(VALUE), 0);
	}
}

static void gen_packet(void)
{
	unsigned d = 7, e = 8, x = 9, t = rnd(6), i = 0;
	int need = 1 + (int)rnd(40);
	static const uint8_t sizes[] = { BPF_B, BPF_H, BPF_W, BPF_DW };
	static const uint8_t cmps[] = { BPF_JGT, BPF_JGE, BPF_JLT, BPF_JLE };
	bool xdp = prog_type == BPF_PROG_TYPE_XDP, index = rnd(2);

	if (has[6] != CTX)
		return;
	if (index)
		i = number();
	if (index && (i == d || i == e || i == x))
		return;
	put(BPF_LDX | BPF_MEM | BPF_W, d, 6, xdp ? 0 : 76, 0);
	put(BPF_LDX | BPF_MEM | BPF_W, e, 6, xdp ? 4 : 80, 0);
	if (index) {
		put(BPF_ALU64 | BPF_AND | BPF_K, i, 0, 0,
		    (int32_t[]){ 255, 65535, 0x7fff, 15 }[rnd(4)]);
		put(BPF_ALU64 | BPF_ADD | BPF_X, d, i, 0, 0);
	}
	put(BPF_ALU64 | BPF_MOV | BPF_X, x, d, 0, 0);
	put(BPF_ALU64 | BPF_ADD | BPF_K, x, 0, 0, need);
	if (rnd(2))
		put(BPF_JMP | cmps[rnd(4)] | BPF_X, x, e, 1 + (int)rnd(2), 0);
	else
		put(BPF_JMP | cmps[rnd(4)] | BPF_X, e, x, 1 + (int)rnd(2), 0);
	put(BPF_LDX | BPF_MEM | sizes[rnd(4)], t, d, (int)rnd((uint32_t)need + 2), 0);
	has[t] = NUMBER;
	has[d] = PACKET;
	has[e] = has[x] = NOTHING;
}

static void gen_call(void)
{
	put(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_prandom_u32);
	clobber();
	has[0] = NUMBER;
}

/* for (r = 0; r < n; r++) something */
static void gen_loop(void)
{
	unsigned r = 6 + rnd(4);
	uint32_t start;

	if (has[r] == CTX)
		return;
	put(BPF_ALU64 | BPF_MOV | BPF_K, r, 0, 0, 0);
	has[r] = NOTHING;
	start = n_insns;
	for (uint32_t i = 0; i < 1 + rnd(3); i++)
		gen_alu();
	put(BPF_ALU64 | BPF_ADD | BPF_K, r, 0, 0, 1);
	put(BPF_JMP | BPF_JLT | BPF_K, r, 0, (int)start - (int)n_insns - 1, (int32_t)(1 + rnd(8)));
	has[r] = NUMBER;
}

/* Jumps that would leave the program go to its end instead. */
static void jumps_fix(void)
{
	for (uint32_t i = 0; i < n_insns; i++) {
		uint8_t class = prog[i].code & 7, op = prog[i].code & 0xf0;
		bool jumps =
		    (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
		int64_t to = (int64_t)i + 1 + prog[i].off;

		if (!jumps)
			continue;
		if (to > n_insns - 2)
			to = n_insns - 2;
		if (to < n_insns && to > 0 && prog[to].code == 0)
			to++;
		prog[i].off = (int16_t)(to - i - 1);
	}
}

static void generate(void)
{
	static const uint32_t types[] = { BPF_PROG_TYPE_SOCKET_FILTER, BPF_PROG_TYPE_XDP,
					  BPF_PROG_TYPE_SCHED_CLS };
	uint32_t want = 10 + rnd(INSNS - 40);

	memset(has, 0, sizeof(has));
	n_insns = 0;
	prog_type = types[rnd(3)];
	put(BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0);
	has[6] = has[1] = CTX;
	gen_call();
	while (n_insns < want) {
		uint32_t dice = rnd(20);

		if (dice < 6)
			gen_alu();
		else if (dice < 8)
			gen_move();
		else if (dice < 11)
			gen_jump();
		else if (dice < 14)
			gen_stack();
		else if (dice < 17)
			gen_value();
		else if (dice < 18 && prog_type != BPF_PROG_TYPE_SOCKET_FILTER)
			gen_packet();
		else if (dice < 19)
			gen_call();
		else
			gen_loop();
	}
	put(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	put(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	jumps_fix();
}

/* -- both verifiers */

static char kernel_log[1 << 20];

static int bpf(int cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int kernel_verdict(bool log)
{
	union bpf_attr a = { .prog_type = prog_type,
			     .insns = (uint64_t)(uintptr_t)prog,
			     .insn_cnt = n_insns,
			     .license = (uint64_t)(uintptr_t)"GPL" };
	int fd;

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
	static const struct map_desc map = { .type = BPF_MAP_TYPE_ARRAY,
					     .key_size = 4,
					     .value_size = VALUE,
					     .max_entries = 4,
					     .name = "m" };
	const struct verify_input in = { .prog_type = prog_type, .gpl = true, .log_level = level };
	struct ref ref = { .kind = REF_MAP, .map = &map };
	struct unit *u = NULL;
	int err = unit_decode(prog, n_insns, false, log, &u);

	if (err)
		return -err;
	for (uint32_t i = 0; i < u->n_ops; i++) {
		if (u->ops[i].code == OP_LDMAP)
			u->ops[i].imm = 0;
	}
	mem_free(u->refs);
	u->refs = mem_dup(&ref, sizeof(ref));
	u->n_refs = 1;
	err = -verify(u, &in, log, NULL);
	unit_free(u);
	return err;
}

/* The log without states: enough to see what happened. */
static void show(uint64_t from)
{
	struct report r = { 0 };

	skep_verdict(&r, 1);
	printf("# seed %llu, type %u\n", (unsigned long long)from, prog_type);
	for (char *l = strtok(r.text ? r.text : "", "\n"); l; l = strtok(NULL, "\n"))
		printf("# skep: %s\n", l);
	kernel_verdict(true);
	for (char *l = strtok(kernel_log, "\n"); l; l = strtok(NULL, "\n"))
		printf("# kernel: %s\n", l);
	report_free(&r);
}

static bool begin(void)
{
	union bpf_attr a = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = VALUE, .max_entries = 4
	};

	map_fd = bpf(BPF_MAP_CREATE, &a);
	return map_fd >= 0;
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

		seed = (base + i) * 0x9e3779b97f4a7c15ull;
		generate();
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
	printf("%sok 2 - only by the kernel: %u\n1..2\n", strict * 100 > count ? "not " : "",
	       strict);
	return loose || strict * 100 > count;
}
