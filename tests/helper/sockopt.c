// SPDX-License-Identifier: BSD-2-Clause
/*
 * sockopt OBJECT COUNT SEED: random calls of bpf_setsockopt and bpf_getsockopt on new sockets, and
 * what comes out, one line each. Built twice: with the system's libbpf the program is attached to a
 * cgroup of its own and the sockets are real; with skep's it is run on contexts that say the same.
 * Exit status: 0; 77 when the kernel does not allow it here; else 1.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef SKEP
#include <skep/skep.h>
#endif

enum { SKIP = 77, CALLS = 64 };

/* As in sockopt.bpf.c. */
struct call {
	int32_t level, number, size, set;
	int32_t result;
	uint8_t value[20];
};

static uint64_t state;

static uint32_t rnd(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 20) % below);
}

/* What Linux 6.12 lets programs use, and what it does not. */
static const struct {
	int level, number;
} options[] = {
	/* SOL_SOCKET: reuse, buffers, keepalive, priority, port, low water, mark, pacing, device */
	{ 1, 2 },
	{ 1, 7 },
	{ 1, 8 },
	{ 1, 9 },
	{ 1, 12 },
	{ 1, 15 },
	{ 1, 18 },
	{ 1, 36 },
	{ 1, 47 },
	{ 1, 62 },
	{ 1, 74 },
	{ 1, 25 },
	{ 1, 3 },
	{ 1, 13 },
	{ 1, 999 },
	/* IP and IPv6 */
	{ 0, 1 },
	{ 0, 2 },
	{ 41, 67 },
	{ 41, 70 },
	{ 41, 16 },
	/* TCP: nodelay, mss, keepalive, syncnt, clamp, congestion, thin, timeout, syn, lowat */
	{ 6, 1 },
	{ 6, 2 },
	{ 6, 4 },
	{ 6, 5 },
	{ 6, 6 },
	{ 6, 7 },
	{ 6, 10 },
	{ 6, 13 },
	{ 6, 16 },
	{ 6, 18 },
	{ 6, 25 },
	{ 6, 27 },
	{ 6, 28 },
	{ 6, 3 },
	/* the set-only ones */
	{ 6, 1001 },
	{ 6, 1002 },
	{ 6, 1003 },
	{ 6, 1004 },
	{ 6, 1100 },
	{ 17, 1 },
};

static int value_make(void)
{
	static const int values[] = { 0,     1,	    2,	    -1,	    -2,	    7,	     88,     87,
				      127,   128,   255,    256,    536,    1500,    4000,   4001,
				      32767, 32768, 100000, 200000, 200001, INT_MAX, INT_MIN };

	return rnd(3) ? values[rnd(sizeof(values) / sizeof(values[0]))] : (int)rnd(70000);
}

static bool is_name(const struct call *c)
{
	return (c->level == 6 && c->number == 13) || (c->level == 1 && c->number == 25);
}

/* Later kernels than 6.12 answer differently: reading these, and SO_TXREHASH of what is no TCP. */
static bool is_later(const struct call *c, int type)
{
	return (!c->set && c->level == 6 && c->number >= 1003 && c->number <= 1004) ||
	       (c->level == 1 && c->number == 74 && type != SOCK_STREAM);
}

/* The bounds of buffers and of SO_RCVLOWAT are the machine's, and a high SO_RCVLOWAT makes the
 * buffer grow, which it does not here. */
static bool is_far(const struct call *c, int v)
{
	bool size = c->number == 7 || c->number == 8 || c->number == 18;

	return c->level == 1 && size && (v < 0 || v > 50000);
}

static void call_make(struct call *c, int type)
{
	static const char *const names[] = { "reno",   "cubic", "no such", "lo",
					     "nodev0", "",	"cdg",	   "a name longer than" };
	uint32_t at = rnd(sizeof(options) / sizeof(options[0]));
	int v = value_make();

	memset(c, 0, sizeof(*c));
	c->level = options[at].level;
	c->number = options[at].number;
	c->set = (int32_t)rnd(2);
	c->size = rnd(12) ? 4 : 1 + (int32_t)rnd(20);
	memcpy(c->value, &v, sizeof(v));
	if (is_name(c)) {
		c->size = 1 + (int32_t)rnd(20);
		strcpy((char *)c->value, names[rnd(sizeof(names) / sizeof(names[0]))]);
	}
	if (is_later(c, type) || is_far(c, v))
		c->size = 0;
}

static void calls_print(int fd, unsigned round, int family, int type)
{
	for (uint32_t i = 0; i < CALLS; i++) {
		struct call c;

		if (bpf_map_lookup_elem(fd, &i, &c))
			continue;
		printf("%u %d/%d %s %d %d size %d: %d", round, family, type, c.set ? "set" : "get",
		       c.level, c.number, c.size, c.result);
		for (unsigned k = 0; k < sizeof(c.value) && !c.set; k++)
			printf(" %02x", c.value[k]);
		putchar('\n');
	}
}

#ifdef SKEP
static struct skep_prog *progs[2];

static int side_open(struct bpf_object *o)
{
	progs[0] =
	    skep_prog_get(bpf_program__fd(bpf_object__find_program_by_name(o, "on_connect4")));
	progs[1] =
	    skep_prog_get(bpf_program__fd(bpf_object__find_program_by_name(o, "on_connect6")));
	return progs[0] && progs[1] ? 0 : 1;
}

/* Each round has a socket of its own. */
static int side_run(unsigned round, int family, int type)
{
	static struct bpf_sock socks[4096];
	struct bpf_sock_addr ctx = { .family = (uint32_t)family,
				     .type = (uint32_t)type,
				     .protocol = type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP };

	ctx.sk = &socks[round % 4096];
	return skep_prog_run(progs[family == AF_INET6], &ctx) == 1 ? 0 : 1;
}

static void side_close(void)
{
	skep_prog_put(progs[0]);
	skep_prog_put(progs[1]);
}
#else
static char group[256];

static int group_attach(struct bpf_object *o, int fd)
{
	int err =
	    bpf_prog_attach(bpf_program__fd(bpf_object__find_program_by_name(o, "on_connect4")), fd,
			    BPF_CGROUP_INET4_CONNECT, 0);

	return err ? err
		   : bpf_prog_attach(
			 bpf_program__fd(bpf_object__find_program_by_name(o, "on_connect6")), fd,
			 BPF_CGROUP_INET6_CONNECT, 0);
}

static int group_enter(void)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	f = fopen(path, "w");
	if (!f)
		return 1;
	fprintf(f, "%d\n", (int)getpid());
	return fclose(f) ? 1 : 0;
}

static int side_open(struct bpf_object *o)
{
	static const char *const roots[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" };
	int fd = -1;

	for (unsigned i = 0; i < 2 && fd < 0; i++) {
		snprintf(group, sizeof(group), "%s/cgroup.procs", roots[i]);
		if (access(group, W_OK))
			continue;
		snprintf(group, sizeof(group), "%s/skep-sockopt-%d", roots[i], (int)getpid());
		if (!mkdir(group, 0755))
			fd = open(group, O_RDONLY | O_DIRECTORY);
	}
	if (fd < 0 || group_attach(o, fd) || group_enter())
		return SKIP;
	close(fd);
	return 0;
}

static int side_run(unsigned round, int family, int type)
{
	struct sockaddr_in a4 = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6, .sin6_port = htons(9) };
	int fd = socket(family, type, 0);

	if (fd < 0)
		return 1;
	a4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a6.sin6_addr = in6addr_loopback;
	if (family == AF_INET)
		connect(fd, (struct sockaddr *)&a4, sizeof(a4));
	else
		connect(fd, (struct sockaddr *)&a6, sizeof(a6));
	close(fd);
	return 0;
}

/* Back to where the process's parent is, so that the group can go. */
static void side_close(void)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%.*s/cgroup.procs", (int)(strrchr(group, '/') - group),
		 group);
	f = fopen(path, "w");
	if (f) {
		fprintf(f, "%d\n", (int)getpid());
		fclose(f);
	}
	rmdir(group);
}
#endif

static int rounds(int map, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		int family = rnd(2) ? AF_INET : AF_INET6, type = rnd(4) ? SOCK_STREAM : SOCK_DGRAM;

		for (uint32_t k = 0; k < CALLS; k++) {
			struct call c;

			call_make(&c, type);
			if (k == 0) /* the default is the machine's */
				c = (struct call){ 6, 13, 5, 1, 0, "cubic" };
			if (bpf_map_update_elem(map, &k, &c, 0))
				return 1;
		}
		if (side_run(i, family, type))
			return 1;
		calls_print(map, i, family, type);
	}
	return 0;
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, fmt, ap) : 0;
}

int main(int argc, char **argv)
{
	struct bpf_object *o;
	int err;

	if (argc != 4)
		return 1;
	libbpf_set_print(quiet);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	o = bpf_object__open(argv[1]);
	err = o ? bpf_object__load(o) : -errno;
	if (err)
		return err == -EPERM ? SKIP : 1;
	state = strtoull(argv[3], NULL, 0) * 0x9e3779b97f4a7c15u + 1;
	err = side_open(o);
	if (!err) {
		err = rounds(bpf_object__find_map_fd_by_name(o, "calls"), (unsigned)atoi(argv[2]));
		side_close();
	}
	bpf_object__close(o);
	return err;
}
