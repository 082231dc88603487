/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Against the running kernel: programs are assembled by us and loaded; then the verifier's log
 * (the kernel's own printer) must show each instruction as PRINT_KERNEL does, and what bpftool
 * prints of the rewritten program must be what PRINT_KERNEL makes of the same instructions.
 * Needs bpf(2) and bpftool; skips aloud without.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/unit.h"
#include "refusal.h"
#include "sample.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static const struct program {
	const char *name;
	uint32_t type;
	bool old;	  /* bpftool 7.1 knows all its instructions */
	const char *text; /* .map array names an ARRAY map */
} programs[] = {
	{ "arithmetic", BPF_PROG_TYPE_XDP, true,
	  "r0 = 5\n r0 += 7\n r0 -= -7\n r0 *= 3\n r0 /= 2\n r0 %= 9\n r0 |= 8\n r0 &= 15\n"
	  "r0 ^= 1\n r0 <<= 3\n r0 >>= 1\n r0 s>>= 1\n r0 = -r0\n r2 = r0\n r0 += r2\n r0 -= r2\n"
	  "r0 *= r2\n r0 |= r2\n r0 &= r2\n r0 ^= r2\n r2 = 3\n r0 <<= r2\n r0 >>= r2\n r0 s>>= "
	  "r2\n"
	  "r0 /= r2\n r0 %= r2\n r0 = be16 r0\n r0 = be64 r0\n r0 = le32 r0\n"
	  "r1 = 0x123456789abcdef0 ll\n r0 = 1\n exit\n" },
	{ "arithmetic32", BPF_PROG_TYPE_XDP, true,
	  "w0 = 5\n w0 += -7\n w0 -= 7\n w0 *= 3\n w0 |= 8\n w0 &= 15\n w0 ^= 1\n w0 <<= 3\n"
	  "w0 >>= 1\n w0 s>>= 1\n w0 = -w0\n w2 = w0\n w0 += w2\n w0 *= w2\n w2 = 3\n w0 s>>= w2\n"
	  "w0 /= w2\n w0 %= 7\n r0 = 1\n exit\n" },
	{ "cpu v4", BPF_PROG_TYPE_XDP, false,
	  "r0 = 5\n r2 = 3\n r0 s/= r2\n w0 s/= 2\n w0 s%= w2\n r0 s%= -3\n r0 = bswap16 r0\n"
	  "r0 = bswap32 r0\n r0 = bswap64 r0\n r0 = (s8)r2\n r0 = (s32)r2\n w0 = (s16)w2\n"
	  "*(u64 *)(r10 - 8) = -1\n r0 = *(s8 *)(r10 - 8)\n r0 = *(s16 *)(r10 - 8)\n"
	  "r0 = *(s32 *)(r10 - 4)\n if r0 == 0 goto +1\n gotol +1\n r0 = 2\n r0 = 1\n exit\n" },
	{ "memory", BPF_PROG_TYPE_XDP, true,
	  "r6 = r1\n *(u8 *)(r10 - 1) = 5\n *(u16 *)(r10 - 4) = 5\n *(u32 *)(r10 - 8) = -5\n"
	  "*(u64 *)(r10 - 16) = 5\n r0 = 7\n *(u8 *)(r10 - 1) = r0\n *(u16 *)(r10 - 4) = r0\n"
	  "*(u32 *)(r10 - 8) = r0\n *(u64 *)(r10 - 16) = r0\n r0 = *(u8 *)(r10 - 1)\n"
	  "r0 = *(u16 *)(r10 - 4)\n r0 = *(u32 *)(r10 - 8)\n r0 = *(u64 *)(r10 - 16)\n"
	  "r0 = *(u32 *)(r6 + 0)\n r0 = 1\n exit\n" },
	{ "atomics", BPF_PROG_TYPE_XDP, true,
	  "*(u64 *)(r10 - 16) = 5\n *(u64 *)(r10 - 8) = 5\n r2 = 3\n r0 = 1\n"
	  "lock *(u64 *)(r10 - 16) += r2\n lock *(u32 *)(r10 - 8) += w2\n"
	  "lock *(u64 *)(r10 - 16) |= r2\n lock *(u32 *)(r10 - 8) &= w2\n"
	  "lock *(u64 *)(r10 - 16) ^= r2\n r2 = atomic_fetch_add((u64 *)(r10 - 16), r2)\n"
	  "w2 = atomic_fetch_add((u32 *)(r10 - 8), w2)\n r2 = atomic_fetch_or((u64 *)(r10 - 16), "
	  "r2)\n"
	  "w2 = atomic_fetch_and((u32 *)(r10 - 8), w2)\n r2 = atomic_fetch_xor((u64 *)(r10 - 16), "
	  "r2)\n"
	  "r2 = xchg_64(r10 - 16, r2)\n w2 = xchg32_32(r10 - 8, w2)\n"
	  "r0 = cmpxchg_64(r10 - 16, r0, r2)\n w0 = cmpxchg32_32(r10 - 8, w0, w2)\n r0 = 1\n "
	  "exit\n" },
	{ "acquire and release", BPF_PROG_TYPE_XDP, false,
	  "*(u64 *)(r10 - 16) = 5\n r2 = 3\n r0 = load_acquire((u64 *)(r10 - 16))\n"
	  "w0 = load_acquire((u8 *)(r10 - 16))\n store_release((u32 *)(r10 - 8), w2)\n"
	  "store_release((u64 *)(r10 - 16), r2)\n r0 = 1\n exit\n" },
	{ "jumps", BPF_PROG_TYPE_XDP, true,
	  "call bpf_get_prandom_u32\n r6 = r0\n r7 = 5\n if r6 == 3 goto +0\n if r6 != r7 goto +0\n"
	  "if r6 > 7 goto +0\n if r6 >= r7 goto +0\n if r6 < 7 goto +0\n if r6 <= 7 goto +0\n"
	  "if r6 s> -7 goto +0\n if r6 s>= r7 goto +0\n if r6 s< -7 goto +0\n if r6 s<= 7 goto +0\n"
	  "if r6 & 8 goto +0\n if w6 == -3 goto +0\n if w6 s< w7 goto +0\n if w6 & w7 goto +1\n"
	  "goto +0\n r0 = 1\n exit\n" },
	{ "may_goto", BPF_PROG_TYPE_XDP, false, "r0 = 1\n L: may_goto +1\n goto L\n exit\n" },
	{ "maps", BPF_PROG_TYPE_XDP, true,
	  "*(u32 *)(r10 - 4) = 0\n r2 = r10\n r2 += -4\n r1 = array ll\n call bpf_map_lookup_elem\n"
	  "if r0 == 0 goto out\n r1 = *(u64 *)(r0 + 0)\n"
	  "out: r1 = map_value ARRAY + 8 ll\n r0 = *(u64 *)(r1 + 0)\n r0 = 1\n exit\n" },
	{ "subprograms", BPF_PROG_TYPE_XDP, true,
	  "r1 = 4\n call twice\n r6 = r0\n call twice\n r0 = 1\n exit\n"
	  "twice: r0 = 1\n r0 += r0\n exit\n" },
	{ "packet loads", BPF_PROG_TYPE_SOCKET_FILTER, true,
	  "r6 = r1\n r0 = *(u8 *)skb[14]\n r7 = 12\n r0 = *(u16 *)skb[r7 + 2]\n r0 = *(u32 "
	  "*)skb[0]\n"
	  "r0 = 1\n exit\n" },
};

static unsigned tests, failed;

static void ok(bool good, const char *name, const char *what)
{
	failed += !good;
	printf("%sok %u - %s: %s\n", good ? "" : "not ", ++tests, name, what);
}

static long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

static int map_new(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 16, .max_entries = 1
	};

	return (int)bpf(BPF_MAP_CREATE, &attr);
}

/* The program's text with the map's number. */
static struct unit *assemble(const struct program *p, int map)
{
	struct report text = { 0 }, said = { 0 };
	const char *at = p->text, *mark;
	struct unit *u = NULL;

	report_add(&text, ".map array %d\n", map);
	while ((mark = strstr(at, "ARRAY"))) {
		report_add(&text, "%.*s%d", (int)(mark - at), at, map);
		at = mark + 5;
	}
	report_add(&text, "%s", at);
	if (unit_parse(p->name, text.text, &said, &u))
		printf("# %s", said.text);
	report_free(&text);
	report_free(&said);
	return u;
}

static char log_text[1 << 20];

/* The new program's fd, with the verifier's words in log_text, or -1. */
static int load_insns(const struct bpf_insn *insns, uint32_t n, uint32_t type)
{
	union bpf_attr attr = { .prog_type = type,
				.insns = (uintptr_t)insns,
				.insn_cnt = n,
				.license = (uintptr_t)"GPL",
				.log_level = 2,
				.log_size = sizeof(log_text),
				.log_buf = (uintptr_t)log_text };

	log_text[0] = '\0';
	return (int)bpf(BPF_PROG_LOAD, &attr);
}

static int load(const struct program *p, const struct unit *u)
{
	struct bpf_insn *insns = NULL;
	uint32_t n = 0;
	int fd;

	if (unit_encode(u, NULL, &insns, &n))
		return -1;
	fd = load_insns(insns, n, p->type);
	mem_free(insns);
	return fd;
}

/* Instructions whose text carries addresses or symbols of this kernel. */
static bool is_relocated(const struct op *op)
{
	return op->code == OP_LDMAP || op->code == OP_LDVALUE || op->code == OP_LDFUNC;
}

/* Lines "SLOT: (OP) text   ; state" of the log; the first for each instruction counts. */
static unsigned compare_log(const struct unit *u, const char *log, unsigned *seen)
{
	struct unit bare = *u; /* the verifier has no names */
	unsigned wrong = 0;
	char want[256], line[256];

	*seen = 0;
	bare.sub_names = NULL;
	for (uint32_t i = 0; i < u->n_ops; i++) {
		const char *at, *end;

		snprintf(line, sizeof(line), "\n%u: (", u->slot[i]);
		at = strstr(log, line);
		if (!at || is_relocated(&u->ops[i]))
			continue;
		at = strchr(at, '(');
		end = at + strcspn(at, ";\n");
		while (end[-1] == ' ')
			end--;
		op_print(&bare, i, PRINT_KERNEL, want, sizeof(want));
		++*seen;
		if (strlen(want) == (size_t)(end - at) && !memcmp(want, at, strlen(want)))
			continue;
		printf("# the kernel prints \"%.*s\", we \"%s\"\n", (int)(end - at), at, want);
		wrong++;
	}
	return wrong;
}

/* The rewritten instructions as bpf_prog_info hands them out. */
static struct unit *rewritten(int fd, uint32_t *id)
{
	static struct bpf_insn insns[4096];
	struct bpf_prog_info info = { .xlated_prog_len = sizeof(insns),
				      .xlated_prog_insns = (uintptr_t)insns };
	union bpf_attr attr = { .info = { .bpf_fd = (uint32_t)fd,
					  .info_len = sizeof(info),
					  .info = (uintptr_t)&info } };
	struct report said = { 0 };
	struct unit *u = NULL;

	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr))
		return NULL;
	*id = info.id;
	if (unit_decode(insns, info.xlated_prog_len / sizeof(*insns), true, &said, &u))
		printf("# %s", said.text);
	report_free(&said);
	return u;
}

/* Cuts what only bpftool knows: the name or address of a called function. */
static void cut_symbol(char *line)
{
	char *call = strstr(line, "call "), *sharp = call ? strchr(call, '#') : NULL;

	line[strcspn(line, "\n")] = '\0';
	if (sharp && !strncmp(call, "call pc", 7))
		*sharp = '\0';
	else if (sharp)
		memmove(call + 5, sharp, strlen(sharp) + 1);
}

static unsigned compare_dump(const struct unit *u, uint32_t id, unsigned *seen)
{
	char command[128], line[512], want[512], text[400];
	unsigned wrong = 0;
	FILE *f;

	snprintf(command, sizeof(command), "bpftool prog dump xlated id %u 2>/dev/null", id);
	f = popen(command, "r");
	for (*seen = 0; f && fgets(line, sizeof(line), f);) {
		if (*seen >= u->n_ops || !strstr(line, ": ("))
			continue;
		op_print(u, *seen, PRINT_KERNEL, text, sizeof(text));
		snprintf(want, sizeof(want), "%4u: %s", u->slot[*seen], text);
		++*seen;
		cut_symbol(line);
		cut_symbol(want);
		if (!strcmp(line, want))
			continue;
		printf("# bpftool prints \"%s\", we \"%s\"\n", line, want);
		wrong++;
	}
	if (f)
		pclose(f);
	return wrong + (*seen != u->n_ops);
}

static void check_dump(const struct program *p, int fd)
{
	unsigned seen = 0, wrong = 1;
	uint32_t id = 0;
	struct unit *u = rewritten(fd, &id);

	if (u)
		wrong = compare_dump(u, id, &seen);
	ok(!wrong, p->name, "bpftool's dump");
	printf("# %u instructions compared\n", seen);
	unit_free(u);
}

/* The last lines, where the verifier says why not. */
static const char *log_end(const char *log)
{
	size_t n = strlen(log);

	return log + (n > 400 ? n - 400 : 0);
}

static void check(const struct program *p, int map)
{
	struct unit *u = assemble(p, map);
	unsigned seen = 0;
	int fd = u ? load(p, u) : -1;

	if (u && fd < 0)
		printf("# %s: %s\n", strerror(errno), log_end(log_text));
	ok(fd >= 0 && !compare_log(u, log_text, &seen) && seen, p->name, "verifier log");
	printf("# %u instructions compared\n", seen);
	if (fd >= 0 && p->old)
		check_dump(p, fd);
	if (fd >= 0)
		close(fd);
	unit_free(u);
}

/* The decoder's refusals: the kernel refuses too, and in the same words. */
static void check_refusals(void)
{
	unsigned same = 0, wrong = 0;

	for (unsigned i = 0; i < n_refusals; i++) {
		const struct refusal *f = &refusals[i];
		const char *colon = strchr(f->what, ':');
		const char *what = colon ? colon + 2 : f->what;
		int fd = load_insns(f->insns, f->n, BPF_PROG_TYPE_SOCKET_FILTER);
		bool good = fd < 0 && (f->otherwise || strstr(log_text, what));

		if (!good)
			printf("# we say \"%s\", the kernel \"%.300s\"\n", what, log_text);
		same += good && !f->otherwise;
		wrong += !good;
		if (fd >= 0)
			close(fd);
	}
	ok(!wrong, "refusals", "the kernel's words");
	printf("# %u of %u in the same words\n", same, n_refusals);
}

int main(void)
{
	int map = map_new();

	if (map < 0 || !sample_has_command("bpftool")) {
		printf("1..0 # SKIP needs root, bpf(2) and bpftool: %s\n", strerror(errno));
		return 0;
	}
	for (unsigned i = 0; i < LENGTH(programs); i++)
		check(&programs[i], map);
	check_refusals();
	printf("1..%u\n", tests);
	close(map);
	return failed != 0;
}
