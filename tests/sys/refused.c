/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs through bpf(2), to the running kernel and to skep: verdict, errno, the log at each level
 * and in buffers that are too small, and errors of func_info and line_info. TAP.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sides.h"

enum { LOG = 1 << 16 };

static unsigned tests, failed;
static char text[SIDES][LOG];

#define CHECK(ok, ...) (failed += !check(&tests, ok, __VA_ARGS__))

#define MOV(r, n)     { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = r, .imm = n }
#define LOAD(r, s, o) { .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = r, .src_reg = s, .off = o }
#define EXIT	      { .code = BPF_JMP | BPF_EXIT }
#define CALL(n)	      { .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = n }

static const struct bpf_insn good[] = { MOV(0, 0), EXIT };
static const struct bpf_insn scalar[] = { MOV(2, 7), LOAD(0, 2, 0), EXIT };
static const struct bpf_insn unset[] = { EXIT };
static const struct bpf_insn context[] = { LOAD(0, 1, 500), EXIT };
static const struct bpf_insn dead[] = { MOV(0, 0), EXIT, MOV(0, 1), EXIT };
static const struct bpf_insn no_exit[] = { MOV(0, 0) };
static const struct bpf_insn two[] = { CALL(1), EXIT, MOV(0, 0), EXIT };
static const struct bpf_insn loop[] = { MOV(0, 0), { .code = BPF_JMP | BPF_JA, .off = -1 } };

static const struct prog_case {
	const char *name;
	const struct bpf_insn *insns;
	uint32_t n;
} cases[] = {
#define CASE(p) { #p, p, sizeof(p) / sizeof(p[0]) }
	CASE(good), CASE(scalar),  CASE(unset), CASE(context),
	CASE(dead), CASE(no_exit), CASE(two),	CASE(loop),
};

static int load(int side, const struct prog_case *c, uint32_t level, uint32_t size,
		uint32_t *true_size)
{
	union attr a = { .prog_load = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
					.insn_cnt = c->n,
					.insns = (uintptr_t)c->insns,
					.license = (uintptr_t)"GPL",
					.log_level = level,
					.log_buf = level && size ? (uintptr_t)text[side] : 0,
					.log_size = level ? size : 0 } };
	int fd;

	memset(text[side], 'x', LOG);
	fd = side_bpf(side, BPF_PROG_LOAD, &a, sizeof(a));
	*true_size = a.prog_load.log_true_size;
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* A line that differs from kernel to kernel (6.12 and later ones) or from run to run. */
static bool line_varies(const char *line)
{
	static const char *const begins[] = {
		"func#",       "Live regs", " ",	 "verification time",
		"stack depth", "from ",	    "cur state", "old state",
		"SCC ",	       "\n",	    "0",	 "1",
		"2",	       "3"
	};

	for (unsigned i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		if (!strncmp(line, begins[i], strlen(begins[i])))
			return true;
	}
	return false;
}

/* Leaves what both must say: why not, and the figures. */
static void log_plain(char *log)
{
	char *ours = strstr(log, "; skep: "), *time = strstr(log, "verification time"), *to = log;

	/* Some of the kernel's messages lack their newline. */
	if (time && time > log && time[-1] != '\n')
		memset(time, '\n', strcspn(time, "\n"));

	if (ours)
		*ours = '\0';
	for (char *line = log, *next; *line; line = next) {
		next = strchr(line, '\n');
		next = next ? next + 1 : line + strlen(line);
		if (line_varies(line))
			continue;
		memmove(to, line, (size_t)(next - line));
		to += next - line;
	}
	*to = '\0';
}

static void logs_agree(const struct prog_case *c, uint32_t level)
{
	uint32_t n[SIDES];
	int kernel = load(KERNEL, c, level, LOG, &n[KERNEL]),
	    skep = load(SKEP, c, level, LOG, &n[SKEP]);

	CHECK(kernel == skep, "%s, level %u: errno %d, %d", c->name, level, -kernel, -skep);
	CHECK(level ? n[SKEP] > strlen(text[SKEP]) : !n[SKEP], "%s, level %u: its size", c->name,
	      level);
	if (!level)
		return;
	if (c->insns != no_exit) /* which is refused before the verifier sees it */
		CHECK(!kernel == !strstr(text[SKEP], "; skep: "),
		      "%s, level %u: a refusal is explained", c->name, level);
	log_plain(text[KERNEL]);
	log_plain(text[SKEP]);
	if (strcmp(text[KERNEL], text[SKEP]))
		printf("# kernel: %s\n# skep: %s\n", text[KERNEL], text[SKEP]);
	CHECK(!strcmp(text[KERNEL], text[SKEP]), "%s, level %u: the same log", c->name, level);
}

/* Ends the log where our explanation begins. */
static void ours_cut(char *log)
{
	char *ours = strstr(log, "; skep: ");

	if (ours)
		*ours = '\0';
}

/* A buffer that has room for the kernel's lines but not for all of ours has none of ours. */
static void explanation_gives_way(const struct prog_case *c, uint32_t level)
{
	static char plain[LOG];
	uint32_t n, full;
	int refusal = load(SKEP, c, level, LOG, &full), err;

	strcpy(plain, text[SKEP]);
	ours_cut(plain);
	CHECK(strlen(plain) + 1 < full && refusal < 0, "%s: explained", c->name);
	for (uint32_t size = (uint32_t)strlen(plain) + 1; size <= full; size++) {
		err = load(SKEP, c, level, size, &n);
		if (err != refusal || n != full || (size < full) != !strcmp(text[SKEP], plain))
			CHECK(false, "%s, %u bytes: errno %d, size %u of %u", c->name, size, -err,
			      n, full);
	}
	CHECK(strstr(text[SKEP], "; skep: "), "%s: with room for it the explanation is there",
	      c->name);
}

/* A buffer that is too small holds the log's end, or with level 8 its start. */
static void log_is_cut(const struct prog_case *c, uint32_t level, uint32_t size)
{
	static char whole[LOG];
	uint32_t n, full;
	int skep = load(SKEP, c, level, LOG, &full);

	strcpy(whole, text[SKEP]);
	ours_cut(whole);
	CHECK(skep != -ENOSPC, "%s: it fits", c->name);
	skep = load(SKEP, c, level, size, &n);
	CHECK(skep == -ENOSPC, "%s, level %u, %u bytes: ENOSPC", c->name, level, size);
	CHECK(n == full, "%s, level %u, %u bytes: its whole size", c->name, level, size);
	CHECK(strlen(text[SKEP]) == size - 1 && text[SKEP][size] == 'x',
	      "%s, level %u, %u bytes: no more than fits", c->name, level, size);
	CHECK(!strcmp(text[SKEP], level & 8 ? (whole[size - 1] = '\0', whole)
					    : whole + strlen(whole) - size + 1),
	      "%s, level %u, %u bytes: the right part", c->name, level, size);
}

/* -- func_info and line_info */

/* 1: int, 2: a prototype that returns it, 3: main, 4: sub */
static int btf_load(int side)
{
	static const char strings[] = "\0int\0main\0sub\0f";
	struct {
		struct btf_header {
			uint16_t magic;
			uint8_t version, flags;
			uint32_t hdr_len, type_off, type_len, str_off, str_len;
		} h;
		uint32_t types[13];
		char strings[sizeof(strings)];
	} b = { .h = { 0xeb9f, 1, 0, 24, 0, sizeof(b.types), sizeof(b.types), sizeof(strings) },
		.types = { 1, 1u << 24, 4, 1u << 24 | 32, /* int */
			   0, 13u << 24, 1,		  /* proto */
			   5, 12u << 24, 2,		  /* main */
			   10, 12u << 24, 2 } };	  /* sub */
	union attr a = { .btf_load = { .btf = (uintptr_t)&b, .size = sizeof(b) } };

	memcpy(b.strings, strings, sizeof(strings));
	return side_bpf(side, BPF_BTF_LOAD, &a, sizeof(a));
}

struct rows_case {
	const char *name;
	uint32_t n_funcs, n_lines, func_size, line_size;
	struct bpf_func_info funcs[3];
	struct bpf_line_info lines[3];
	bool no_exit; /* the program is wrong, too: which error is told? */
};

#define FUNCS { { 0, 3 }, { 2, 4 } }
#define LINES { { 0, 5, 5, 1024 }, { 2, 5, 5, 2048 } }
static const struct rows_case rows_cases[] = {
	{ "good rows", 2, 2, 8, 16, FUNCS, LINES, false },
	{ "no func_info", 0, 2, 8, 16, { { 0 } }, LINES, false },
	{ "a short row of func_info", 2, 2, 4, 16, FUNCS, LINES, false },
	{ "a short row of line_info", 2, 2, 8, 8, FUNCS, LINES, false },
	{ "func_info goes back", 2, 2, 8, 16, { { 0, 3 }, { 0, 4 } }, LINES, false },
	{ "func_info of no function", 2, 2, 8, 16, { { 0, 1 }, { 2, 4 } }, LINES, false },
	{ "func_info of no type", 2, 2, 8, 16, { { 0, 3 }, { 2, 99 } }, LINES, false },
	{ "too few func_info", 1, 2, 8, 16, FUNCS, LINES, false },
	{ "too many func_info", 3, 2, 8, 16, { { 0, 3 }, { 2, 4 }, { 3, 4 } }, LINES, false },
	{ "func_info elsewhere", 2, 2, 8, 16, { { 0, 3 }, { 3, 4 } }, LINES, false },
	{ "line_info goes back", 2, 2, 8, 16, FUNCS, { { 0, 5, 5, 0 }, { 0, 5, 5, 0 } }, false },
	{ "line_info behind the end",
	  2,
	  2,
	  8,
	  16,
	  FUNCS,
	  { { 0, 5, 5, 0 }, { 9, 5, 5, 0 } },
	  false },
	{ "line_info without text",
	  2,
	  2,
	  8,
	  16,
	  FUNCS,
	  { { 0, 999, 5, 0 }, { 2, 5, 5, 0 } },
	  false },
	{ "a function without a line", 2, 1, 8, 16, FUNCS, LINES, false },
	{ "the first function without a line", 2, 1, 8, 16, FUNCS, { { 2, 5, 5, 0 } }, false },
	{ "func_info before the program", 2, 2, 8, 16, { { 0, 3 }, { 0, 4 } }, LINES, true },
	{ "the program before line_info", 2, 2, 8, 16, FUNCS, { { 9, 5, 5, 0 } }, true },
};

static int rows_load(int side, const struct rows_case *c)
{
	static const struct bpf_insn bad[] = { CALL(1), EXIT, MOV(0, 0), MOV(0, 0) };
	int btf = btf_load(side), fd;
	union attr a = { .prog_load = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
					.insn_cnt = 4,
					.insns = (uintptr_t)(c->no_exit ? bad : two),
					.license = (uintptr_t)"GPL",
					.prog_btf_fd = (uint32_t)btf,
					.func_info = (uintptr_t)c->funcs,
					.func_info_cnt = c->n_funcs,
					.func_info_rec_size = c->func_size,
					.line_info = (uintptr_t)c->lines,
					.line_info_cnt = c->n_lines,
					.line_info_rec_size = c->line_size,
					.log_level = 4,
					.log_buf = (uintptr_t)text[side],
					.log_size = LOG } };

	text[side][0] = '\0';
	fd = btf < 0 ? btf : side_bpf(side, BPF_PROG_LOAD, &a, sizeof(a));
	close(btf);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void rows_agree(const struct rows_case *c)
{
	int kernel = rows_load(KERNEL, c), skep = rows_load(SKEP, c);

	log_plain(text[KERNEL]);
	log_plain(text[SKEP]);
	CHECK(kernel == skep, "%s: errno %d, %d", c->name, -kernel, -skep);
	if (strcmp(text[KERNEL], text[SKEP]))
		printf("# kernel: %s\n# skep: %s\n", text[KERNEL], text[SKEP]);
	CHECK(!strcmp(text[KERNEL], text[SKEP]), "%s: the same log", c->name);
}

int main(void)
{
	bool kernel = side_open(KERNEL);

	if (!kernel)
		printf("# the kernel does not allow bpf(2) here: %s\n", strerror(errno));
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]) && kernel; i++) {
		for (uint32_t level = 0; level < 8; level++)
			if (level < 3 || level == 4)
				logs_agree(&cases[i], level);
	}
	for (uint32_t size = 1; size < 100; size += 33) {
		log_is_cut(&cases[1], 1, size);
		log_is_cut(&cases[1], 2, size);
		log_is_cut(&cases[1], 9, size);
		log_is_cut(&cases[0], 2, size);
	}
	explanation_gives_way(&cases[1], 1);
	explanation_gives_way(&cases[1], 9);
	explanation_gives_way(&cases[2], 1);
	for (unsigned i = 0; i < sizeof(rows_cases) / sizeof(rows_cases[0]) && kernel; i++)
		rows_agree(&rows_cases[i]);
	if (!kernel)
		printf("ok %u - the kernel's logs # SKIP bpf(2) is not allowed\n", ++tests);
	printf("1..%u\n", tests);
	return failed != 0;
}
