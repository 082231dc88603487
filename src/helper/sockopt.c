/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf_setsockopt and bpf_getsockopt on stand-ins: each socket that a context names (`sk`, or none)
 * has its options, of which programs read what they set. Nothing else depends on them.
 */
#include <limits.h>
#include <linux/in6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <net/if.h>
#include <sys/socket.h>

#include "helper/impl.h"

#ifndef SO_TXREHASH
#define SO_TXREHASH 74
#endif
#ifndef SO_BINDTOIFINDEX
#define SO_BINDTOIFINDEX 62
#endif
#ifndef IPV6_AUTOFLOWLABEL
#define IPV6_AUTOFLOWLABEL 70
#endif

enum { SOL_IP_ = 0, TCP_BPF_SOCK_OPS_CB_FLAGS = 1008 };
enum { CONGESTION_NAME = 16, NAME_SIZE = IFNAMSIZ };

#define SOCKOPT(level, number, rule, lo, hi, first) ROW_##number,
#define SOCKOPT_SET(level, number, rule, lo, hi)    ROW_##number,
enum {
	NO_ROW = -1,
#include "helper/sockopt.def"
	ROWS
};

/* A socket's options. All bytes zero are those of a new socket: what is kept is the difference. */
struct sock {
	uint64_t key; /* 1 + what the context calls it; 0: free */
	int diff[ROWS];
	uint32_t congestion; /* an index, as in `congestions` */
	bool no_tcp;
};

/* What the call is about. */
struct sockopt_call {
	struct sock *sock;
	uint32_t family, type, protocol;
	bool full;
	int level, number;
	void *at;
	int n;
};

struct row {
	int level, number, lo, hi, first;
	bool set_only;
	int (*rule)(struct sock *s, const struct row *row, int *v);
};

static int value_get(const struct sock *s, int row);
static void value_set(struct sock *s, int row, int v);

/* Rules: 0 with the value as the socket keeps it, or -EINVAL. */
static int rule_any(struct sock *s, const struct row *row, int *v)
{
	return 0;
}

static int rule_bool(struct sock *s, const struct row *row, int *v)
{
	*v = !!*v;
	return 0;
}

static int rule_range(struct sock *s, const struct row *row, int *v)
{
	return *v < row->lo || *v > row->hi ? -EINVAL : 0;
}

static int rule_or_zero(struct sock *s, const struct row *row, int *v)
{
	if (*v)
		return rule_range(s, row, v);
	*v = row->first;
	return 0;
}

static int rule_or_default(struct sock *s, const struct row *row, int *v)
{
	if (*v == -1)
		*v = row->first;
	return rule_range(s, row, v);
}

/* hi bounds what is asked for, lo what is kept, which is twice as much. */
static int rule_buffer(struct sock *s, const struct row *row, int *v)
{
	uint32_t asked = (uint32_t)*v < (uint32_t)row->hi ? (uint32_t)*v : (uint32_t)row->hi;

	*v = (int)(2 * asked) > row->lo ? (int)(2 * asked) : row->lo;
	return 0;
}

static int rule_low_water(struct sock *s, const struct row *row, int *v)
{
	int rcvbuf = value_get(s, ROW_SO_RCVBUF);
	bool locked = s->diff[ROW_SO_RCVBUF] != 0;
	int most = s->no_tcp ? INT_MAX : locked ? rcvbuf / 2 : row->hi;

	*v = *v < 0 || *v > most ? most : *v ? *v : 1;
	return 0;
}

static int rule_clamp(struct sock *s, const struct row *row, int *v)
{
	if (*v)
		*v = *v < row->lo ? row->lo : *v;
	return 0;
}

/* TCP keeps the two lowest bits, which belong to congestion notification. */
static int class_of(const struct sock *s, int row, int v)
{
	return s->no_tcp ? v : (v & ~3) | (value_get(s, row) & 3);
}

/* The priority follows, even where the eight bits that are kept stay the same. */
static int rule_tos(struct sock *s, const struct row *row, int *v)
{
	static const uint8_t priority[] = { 0, 2, 6, 4 };

	*v = class_of(s, ROW_IP_TOS, *v);
	if (*v != value_get(s, ROW_IP_TOS))
		value_set(s, ROW_SO_PRIORITY, priority[(*v & 0x1e) >> 3]);
	*v &= 0xff;
	return 0;
}

static int rule_class(struct sock *s, const struct row *row, int *v)
{
	if (*v == -1)
		*v = 0;
	if (rule_range(s, row, v))
		return -EINVAL;
	*v = class_of(s, ROW_IPV6_TCLASS, *v);
	return 0;
}

static const struct row rows[] = {
#define SOCKOPT(level, number, rule, lo, hi, first)                                                \
	{ level, number, lo, hi, first, false, rule_##rule },
#define SOCKOPT_SET(level, number, rule, lo, hi) { level, number, lo, hi, 0, true, rule_##rule },
#include "helper/sockopt.def"
};

/* What a new socket has. Buffers of TCP begin smaller, since they grow. */
static int first_of(const struct sock *s, int row)
{
	bool buffer = row == ROW_SO_SNDBUF || row == ROW_SO_RCVBUF;

	return buffer && s->no_tcp ? rows[row].hi : rows[row].first;
}

static int value_get(const struct sock *s, int row)
{
	return __atomic_load_n(&s->diff[row], __ATOMIC_RELAXED) ^ first_of(s, row);
}

static void value_set(struct sock *s, int row, int v)
{
	__atomic_store_n(&s->diff[row], v ^ first_of(s, row), __ATOMIC_RELAXED);
}

enum { SOCKS = 256, TRIES = 8 };

/* The options of the socket with this address. Of very many sockets some begin anew. */
static struct sock *sock_of(uint64_t address)
{
	static struct sock socks[SOCKS];
	uint64_t key = address + 1;
	uint32_t at = (uint32_t)(address * 0x9e3779b97f4a7c15u >> 56);
	struct sock *s;

	for (uint32_t i = 0; i < TRIES; i++) {
		uint64_t free = 0;

		s = &socks[(at + i) % SOCKS];
		if (__atomic_load_n(&s->key, __ATOMIC_RELAXED) == key ||
		    __atomic_compare_exchange_n(&s->key, &free, key, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED) ||
		    free == key)
			return s;
	}
	s = &socks[at];
	memset(s, 0, sizeof(*s));
	__atomic_store_n(&s->key, key, __ATOMIC_RELAXED);
	return s;
}

static int row_find(const struct sockopt_call *c)
{
	for (int i = 0; i < ROWS; i++)
		if (rows[i].level == c->level && rows[i].number == c->number)
			return i;
	return NO_ROW;
}

/* Has a socket like this the options of the level? */
static bool level_fits(const struct sockopt_call *c)
{
	switch (c->level) {
	case SOL_SOCKET:
		return true;
	case SOL_IP_:
		return c->family == AF_INET || (c->family == AF_INET6 && c->type != SOCK_RAW);
	case SOL_IPV6:
		return c->family == AF_INET6;
	case SOL_TCP:
		return c->protocol == IPPROTO_TCP;
	}
	return false;
}

static const char congestions[][CONGESTION_NAME] = { "cubic", "reno" };

static int congestion_set(const struct sockopt_call *c)
{
	char name[CONGESTION_NAME] = "";

	if (c->n < 2)
		return -EINVAL;
	if (c->n >= 3 && !strncmp("cdg", c->at, (size_t)c->n))
		return -ENOTSUPP;
	memcpy(name, c->at, (size_t)c->n < sizeof(name) - 1 ? (size_t)c->n : sizeof(name) - 1);
	for (uint32_t i = 0; i < sizeof(congestions) / sizeof(congestions[0]); i++) {
		if (strcmp(congestions[i], name))
			continue;
		__atomic_store_n(&c->sock->congestion, i, __ATOMIC_RELAXED);
		return 0;
	}
	return -ENOENT;
}

/* Its last byte is always NUL. How many bytes are written, or -EINVAL. */
static int congestion_get(const struct sockopt_call *c)
{
	int n = c->n - 1 < CONGESTION_NAME ? c->n - 1 : CONGESTION_NAME;

	if (c->n < 2)
		return -EINVAL;
	memcpy(c->at, congestions[__atomic_load_n(&c->sock->congestion, __ATOMIC_RELAXED)],
	       (size_t)n);
	return n;
}

/* By name; the one device is the loopback. */
static int device_set(const struct sockopt_call *c)
{
	char name[NAME_SIZE] = "";

	memcpy(name, c->at, (size_t)c->n < sizeof(name) - 1 ? (size_t)c->n : sizeof(name) - 1);
	if (*name && strcmp(name, "lo"))
		return -ENODEV;
	value_set(c->sock, ROW_SO_BINDTOIFINDEX, *name ? PACKET_LO : 0);
	return 0;
}

static int option_set(const struct sockopt_call *c)
{
	int row = row_find(c), v, err;

	if (!c->full || !level_fits(c))
		return -EINVAL;
	if (c->level == SOL_TCP && c->number == TCP_CONGESTION)
		return congestion_set(c);
	if (c->level == SOL_TCP && c->number == TCP_SAVED_SYN)
		return c->n < (int)sizeof(v) ? -EINVAL : -ENOPROTOOPT;
	if (c->level == SOL_SOCKET && c->number == SO_BINDTODEVICE)
		return device_set(c);
	if (row == NO_ROW || c->n != sizeof(v))
		return -EINVAL;
	memcpy(&v, c->at, sizeof(v));
	err = rows[row].rule(c->sock, &rows[row], &v);
	if (!err)
		value_set(c->sock, row, v);
	return err;
}

/* How many bytes are written, or an error. */
static int option_read(const struct sockopt_call *c)
{
	int row = row_find(c), v;

	if (!c->full || !level_fits(c))
		return -EINVAL;
	if (c->level == SOL_TCP && c->number == TCP_CONGESTION)
		return congestion_get(c);
	if (row == NO_ROW || rows[row].set_only || c->n != sizeof(v))
		return -EINVAL;
	v = value_get(c->sock, row);
	memcpy(c->at, &v, sizeof(v));
	return sizeof(v);
}

/* What is not written becomes zero. */
static int option_get(const struct sockopt_call *c)
{
	int n = option_read(c), done = n < 0 ? 0 : n;

	memset((uint8_t *)c->at + done, 0, (size_t)(c->n - done));
	return n < 0 ? n : 0;
}

/* Calls by what the first argument is: a struct bpf_sock, bpf_sock_addr, or bpf_sock_ops. */
static uint64_t answer(int (*what)(const struct sockopt_call *c), uint64_t sk,
		       struct sockopt_call *c)
{
	c->sock = sock_of(sk);
	c->sock->no_tcp = c->protocol != IPPROTO_TCP;
	return helper_err(what(c));
}

#define CALL .level = (int)r2, .number = (int)r3, .at = ptr_of(r4), .n = (int)r5

#define ON_SOCK(name, what)                                                                        \
	HELPER_FN(name, r1, r2, r3, r4, r5)                                                        \
	{                                                                                          \
		static const struct bpf_sock none;                                                 \
		const struct bpf_sock *sk = r1 ? ptr_of(r1) : &none;                               \
                                                                                                   \
		return answer(what, r1,                                                            \
			      &(struct sockopt_call){ CALL, .full = r1 != 0, .family = sk->family, \
						      .type = sk->type,                            \
						      .protocol = sk->protocol });                 \
	}

#define ON_SOCK_ADDR(name, what)                                                                   \
	HELPER_FN(name, r1, r2, r3, r4, r5)                                                        \
	{                                                                                          \
		const struct bpf_sock_addr *ctx = ptr_of(r1);                                      \
                                                                                                   \
		return answer(what, (uintptr_t)ctx->sk,                                            \
			      &(struct sockopt_call){ CALL, .full = true, .family = ctx->family,   \
						      .type = ctx->type,                           \
						      .protocol = ctx->protocol });                \
	}

#define ON_SOCK_OPS(name, what)                                                                    \
	HELPER_FN(name, r1, r2, r3, r4, r5)                                                        \
	{                                                                                          \
		const struct bpf_sock_ops *ctx = ptr_of(r1);                                       \
                                                                                                   \
		return answer(what, (uintptr_t)ctx->sk,                                            \
			      &(struct sockopt_call){ CALL, .full = ctx->is_fullsock,              \
						      .family = ctx->family, .type = SOCK_STREAM,  \
						      .protocol = IPPROTO_TCP });                  \
	}

/* Packets of the handshake are asked for by number; contexts here have none. */
static int sock_ops_get(const struct sockopt_call *c)
{
	if (c->level != SOL_TCP || c->number < TCP_BPF_SYN || c->number > TCP_BPF_SYN_MAC)
		return option_get(c);
	memset(c->at, 0, (size_t)c->n);
	return -ENOENT;
}

ON_SOCK(setsockopt, option_set)
ON_SOCK(getsockopt, option_get)
ON_SOCK_ADDR(sock_addr_setsockopt, option_set)
ON_SOCK_ADDR(sock_addr_getsockopt, option_get)
ON_SOCK_OPS(sock_ops_setsockopt, option_set)
ON_SOCK_OPS(sock_ops_getsockopt, sock_ops_get)

HELPER_FN(sock_ops_cb_flags_set, r1, r2, r3, r4, r5)
{
	struct bpf_sock_ops *ctx = ptr_of(r1);
	uint32_t known = (uint32_t)r2 & BPF_SOCK_OPS_ALL_CB_FLAGS;

	if (!ctx->is_fullsock)
		return helper_err(-EINVAL);
	ctx->bpf_sock_ops_cb_flags = known;
	value_set(sock_of((uintptr_t)ctx->sk), ROW_TCP_BPF_SOCK_OPS_CB_FLAGS, (int)known);
	return (uint32_t)r2 & ~known;
}
