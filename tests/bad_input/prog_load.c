/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prog_load [COUNT [SEED]]: PROG_LOAD of garbage through skep_bpf(): random bytes, generated
 * programs with changed bytes, absurd counts and sizes, BTF that lies, func_info and line_info out
 * of range, descriptors of other things. Each load ends with a descriptor or an errno that
 * PROG_LOAD gives, a log that it writes ends with NUL, and memory stays within a bound. TAP.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <skep/skep.h>

#include "../verify/gen.h"

enum { LOG = 1 << 16, BTF_ROOM = 512, ROWS = 64, SECONDS = 120, MIB_MAX = 2048 };

static uint64_t rng;
static uint64_t seed_now;
static int map_fd[GEN_MAPS];
static struct gen_prog prog;

static uint32_t rnd(uint32_t n)
{
	rng = rng * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(rng >> 33) % n;
}

static uint32_t absurd(void)
{
	static const uint32_t list[] = { 0,	 1,	     2,	      7,	8,	   255,
					 4096,	 65535,	     1 << 20, 1u << 24, INT32_MAX, 1u << 31,
					 0xffff, UINT32_MAX, 1000000, 1000001,	0x7ffffff8 };

	return rnd(3) ? list[rnd(sizeof(list) / sizeof(list[0]))] : rnd(1u << 31) * 2 + rnd(2);
}

/* CPU time: machines are busy. */
static void clock_limit(time_t seconds)
{
	const struct itimerval t = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_PROF, &t, NULL);
}

static void on_limit(int sig)
{
	char text[100];
	int n = snprintf(text, sizeof(text), "not ok 1 - seed %" PRIu64 ": %s\n1..1\n", seed_now,
			 sig == SIGPROF ? "takes too long" : strsignal(sig));

	if (write(1, text, (size_t)n) < 0)
		_exit(2);
	_exit(1);
}

static void maps_make(void)
{
	for (unsigned i = 0; i < GEN_MAPS; i++) {
		union bpf_attr a = { .map_type = gen_maps[i].type,
				     .key_size = gen_maps[i].key_size,
				     .value_size = gen_maps[i].value_size,
				     .max_entries = gen_maps[i].max_entries };

		map_fd[i] = skep_bpf(BPF_MAP_CREATE, &a, sizeof(a));
		if (map_fd[i] < 0) {
			printf("Bail out! no map\n");
			exit(1);
		}
	}
}

/* -- what a load is made of */

struct load {
	struct bpf_insn insns[GEN_INSNS];
	uint8_t rows[2][ROWS * 16];
	char log[LOG];
	int32_t fds[8];
	union bpf_attr a;
	uint32_t size; /* of `a`, as far as it is given */
	int btf_fd;
};

static void bytes_random(void *at, size_t n)
{
	uint8_t *p = at;

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)rnd(256);
}

static void bytes_change(void *at, size_t n, uint32_t times)
{
	uint8_t *p = at;

	for (uint32_t i = 0; n && i < times; i++) {
		size_t k = rnd((uint32_t)n);

		p[k] = rnd(2) ? (uint8_t)rnd(256) : p[k] ^ (uint8_t)(1u << rnd(8));
	}
}

/* int, two prototypes and functions, a struct; then, mostly, changed. */
static int btf_make(void)
{
	static const char strings[] = "\0int\0main\0sub\0arg";
	struct {
		struct btf_header h;
		struct btf_type num;
		uint32_t num_data;
		struct btf_type proto, main, sub;
		char strings[sizeof(strings)];
	} b = { .h = { .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(struct btf_header) } };
	uint8_t blob[BTF_ROOM] = { 0 };
	union bpf_attr a = { 0 };

	b.h.type_len = (uint32_t)((char *)b.strings - (char *)&b.num);
	b.h.str_off = b.h.type_len;
	b.h.str_len = sizeof(strings);
	b.num = (struct btf_type){ .name_off = 1, .info = BTF_KIND_INT << 24, .size = 4 };
	b.num_data = BTF_INT_SIGNED << 24 | 32;
	b.proto = (struct btf_type){ .info = BTF_KIND_FUNC_PROTO << 24, .type = 1 };
	b.main = (struct btf_type){ .name_off = 5, .info = BTF_KIND_FUNC << 24 | 1, .type = 2 };
	b.sub =
	    (struct btf_type){ .name_off = 10, .info = BTF_KIND_FUNC << 24 | rnd(3), .type = 2 };
	memcpy(b.strings, strings, sizeof(strings));
	memcpy(blob, &b, sizeof(b));
	if (rnd(2))
		bytes_change(blob + sizeof(b.h), sizeof(b) - sizeof(b.h), 1 + rnd(3));
	a.btf = (uint64_t)(uintptr_t)blob;
	a.btf_size = rnd(20) ? sizeof(b) : absurd() % BTF_ROOM;
	return skep_bpf(BPF_BTF_LOAD, &a, sizeof(a));
}

static void insns_make(struct load *l)
{
	gen_make(seed_now, GEN_ALL, &prog);
	memcpy(l->insns, prog.insns, sizeof(l->insns));
	for (uint32_t i = 0; i < prog.n; i++) {
		if (l->insns[i].code == (BPF_LD | BPF_IMM | BPF_DW) &&
		    l->insns[i].src_reg == BPF_PSEUDO_MAP_FD)
			l->insns[i].imm = map_fd[l->insns[i].imm];
	}
	switch (rnd(4)) {
	case 0:
		bytes_random(l->insns, prog.n * sizeof(l->insns[0]));
		break;
	case 1:
		bytes_change(l->insns, prog.n * sizeof(l->insns[0]), 1 + rnd(30));
		break;
	case 2:
		bytes_change(l->insns, prog.n * sizeof(l->insns[0]), 1 + rnd(3));
		break;
	default:
		break;
	}
	l->a.insns = (uint64_t)(uintptr_t)l->insns;
	l->a.insn_cnt = prog.n;
	l->a.prog_type = prog.type;
	l->a.license = (uint64_t)(uintptr_t)"GPL";
}

/* Rows that name the subprograms there are, more or less. */
static void rows_make(struct load *l)
{
	struct bpf_func_info f[ROWS] = { 0 };
	struct bpf_line_info n[ROWS] = { 0 };
	uint32_t subs = 1;

	f[0].type_id = 3;
	for (uint32_t i = 0; i < prog.n && subs < ROWS; i++) {
		if (l->insns[i].code == (BPF_JMP | BPF_EXIT) && i + 1 < prog.n && rnd(2))
			f[subs++] = (struct bpf_func_info){ i + 1, 3 + rnd(2) };
	}
	for (uint32_t i = 0; i < ROWS; i++)
		n[i] = (struct bpf_line_info){ i * 2, 1 + rnd(12), 1 + rnd(12), i << 10 };
	memcpy(l->rows[0], f, sizeof(f));
	memcpy(l->rows[1], n, sizeof(n));
	if (rnd(2))
		bytes_change(l->rows[rnd(2)], ROWS * 8, 1 + rnd(6));
	l->a.prog_btf_fd = rnd(10) ? (uint32_t)l->btf_fd : absurd();
	l->a.func_info = (uint64_t)(uintptr_t)l->rows[0];
	l->a.func_info_rec_size = rnd(10) ? 8 : absurd() % 4096;
	l->a.func_info_cnt = rnd(10) ? subs : rnd(ROWS / 2);
	l->a.line_info = (uint64_t)(uintptr_t)l->rows[1];
	l->a.line_info_rec_size = rnd(10) ? 16 : rnd(16);
	l->a.line_info_cnt = rnd(ROWS);
}

/* Counts that say more than there is are only given with addresses where nothing is. */
static void attr_break(struct load *l)
{
	union bpf_attr *a = &l->a;

	switch (rnd(12)) {
	case 0:
		a->prog_type = absurd();
		break;
	case 1:
		a->insn_cnt = absurd();
		a->insns = a->insn_cnt > prog.n ? rnd(4096) : a->insns;
		break;
	case 2:
		a->prog_flags = absurd();
		break;
	case 3:
		a->expected_attach_type = absurd();
		break;
	case 4:
		a->log_level = absurd();
		break;
	case 5:
		a->log_size = absurd() % LOG;
		break;
	case 6:
		a->func_info_cnt = absurd();
		a->func_info = rnd(4096);
		break;
	case 7:
		a->line_info_cnt = absurd();
		a->line_info = rnd(4096);
		break;
	case 8:
		a->attach_btf_id = absurd();
		a->attach_prog_fd = rnd(2) ? 0 : absurd();
		break;
	case 9:
		a->core_relo_cnt = absurd();
		a->core_relos = rnd(4096);
		a->core_relo_rec_size = absurd();
		break;
	case 10:
		a->fd_array = rnd(2) ? (uint64_t)(uintptr_t)l->fds : rnd(4096);
		break;
	default:
		a->license = rnd(4096);
		break;
	}
}

static int load(struct load *l)
{
	memset(&l->a, 0, sizeof(l->a));
	l->btf_fd = -1;
	insns_make(l);
	/* The whole log of a million instructions takes half a minute. */
	l->a.log_level = rnd(4) == 0 ? 0 : rnd(16) ? 4 : 1u << rnd(2);
	l->a.log_size = l->a.log_level ? (rnd(8) ? LOG : rnd(300)) : 0;
	l->a.log_buf = l->a.log_level ? (uint64_t)(uintptr_t)l->log : 0;
	for (unsigned i = 0; i < 8; i++)
		l->fds[i] = (int32_t)absurd();
	memset(l->log, 'x', sizeof(l->log));
	if (rnd(2)) {
		l->btf_fd = btf_make();
		rows_make(l);
	}
	for (uint32_t i = rnd(3) ? 0 : 1 + rnd(3); i-- > 0;)
		attr_break(l);
	l->size = rnd(20) ? sizeof(l->a) : rnd(sizeof(l->a) + 1);
	return skep_bpf(BPF_PROG_LOAD, &l->a, l->size);
}

/* There is room for a log, within the attributes that were given, and nothing in it. */
static bool silent(const struct load *l)
{
	return l->size >= offsetof(union bpf_attr, log_buf) + sizeof(l->a.log_buf) &&
	       l->a.log_level && l->a.log_size == LOG && (l->log[0] == 'x' || !l->log[0]);
}

static bool known_errno(int err)
{
	static const int list[] = { EPERM, ENOENT, E2BIG,  EBADF,  ENOMEM,     EACCES, EFAULT,
				    EBUSY, EINVAL, ENOSPC, ERANGE, EOPNOTSUPP, 524,    EEXIST };

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		if (err == list[i])
			return true;
	}
	return false;
}

static long mib_used(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss / 1024;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 3000;
	uint64_t base = argc > 2 ? strtoull(argv[2], NULL, 0) : 1, taken = 0, odd = 0, wordless = 0;
	struct load *l = calloc(1, sizeof(*l));

	signal(SIGPROF, on_limit);
	maps_make();
	for (uint64_t i = 0; l && i < count; i++) {
		int r;

		seed_now = base + i;
		rng = seed_now * 0x9e3779b97f4a7c15ull;
		clock_limit(SECONDS);
		r = load(l);
		clock_limit(0);
		if (r >= 0) {
			taken++;
			close(r);
		} else if (!known_errno(errno)) {
			odd++;
			printf("# seed %" PRIu64 ": errno %d\n", seed_now, errno);
		} else if (silent(l)) {
			/* Only the verifier says EACCES; the others may be about attributes. */
			odd += errno == EACCES;
			wordless++;
			printf("# seed %" PRIu64 ": without a message: %s, type %u, level %u\n",
			       seed_now, strerror(errno), l->a.prog_type, l->a.log_level);
		}
		if (l->a.log_size == LOG && l->log[0] != 'x' && !memchr(l->log, 0, LOG)) {
			odd++;
			printf("# seed %" PRIu64 ": a log without an end\n", seed_now);
		}
		if (l->btf_fd >= 0)
			close(l->btf_fd);
	}
	printf("%sok 1 - %" PRIu64 " loads of garbage, %" PRIu64
	       " taken: an errno, a log that ends, EACCES with a message\n",
	       odd ? "not " : "", count, taken);
	printf("# %" PRIu64 " refusals without a message, by errno above, none of them EACCES\n",
	       wordless);
	printf("%sok 2 - at most %d MiB: %ld\n1..2\n", mib_used() > MIB_MAX ? "not " : "", MIB_MAX,
	       mib_used());
	free(l);
	return odd || mib_used() > MIB_MAX;
}
