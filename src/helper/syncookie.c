/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SYN cookies without a socket (D. J. Bernstein 1996, as the kernel lays them out): the sequence
 * number holds a keyed hash of the connection, the minute (8 bits) and which of four segment sizes
 * the peer can take, so that an ACK shows that its sender saw our answer.
 */
#include <pthread.h>
#include <sys/random.h>
#include <time.h>

#include "helper/hash.h"
#include "helper/impl.h"

enum { COOKIE_BITS = 24, COOKIE_MASK = (1 << COOKIE_BITS) - 1, AGE_MAX = 2 /* minutes */ };

static const uint16_t mss4[4] = { 536, 1300, 1440, 1460 };
static const uint16_t mss6[4] = { 1220, 1420, 1440, 8940 };

static uint64_t secret[4]; /* two keys, drawn once */

static void secret_draw(void)
{
	while (getrandom(secret, sizeof(secret), 0) != sizeof(secret))
		;
}

/* What identifies a connection, seen from the peer. */
struct conn {
	uint8_t addr[32]; /* source, destination */
	uint8_t ports[4];
	uint32_t minute;
};

static struct conn conn_of(const uint8_t *ip, const uint8_t *tcp)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct conn c = { 0 };

	pthread_once(&once, secret_draw);
	if (ip[0] >> 4 == 6)
		memcpy(c.addr, ip + 8, 32);
	else
		memcpy(c.addr, ip + 12, 8);
	memcpy(c.ports, tcp, 4);
	return c;
}

static uint32_t conn_hash(struct conn c, uint32_t minute, unsigned key)
{
	c.minute = minute;
	return (uint32_t)hash_bytes(&c, sizeof(c), &secret[key * 2]);
}

static uint32_t minute_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint32_t)(t.tv_sec / 60);
}

static uint32_t be32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return ntohl(v);
}

static uint32_t cookie_make(const struct conn *c, uint32_t seq, uint32_t data)
{
	uint32_t minute = minute_now();

	return conn_hash(*c, 0, 0) + seq + (minute << COOKIE_BITS) +
	       ((conn_hash(*c, minute, 1) + data) & COOKIE_MASK);
}

/* The data that went into the cookie, or more than any data when it is too old. */
static uint32_t cookie_data(const struct conn *c, uint32_t cookie, uint32_t seq)
{
	uint32_t minute = minute_now(), age;

	cookie -= conn_hash(*c, 0, 0) + seq;
	age = (minute - (cookie >> COOKIE_BITS)) & 0xff;
	if (age >= AGE_MAX)
		return UINT32_MAX;
	return (cookie - conn_hash(*c, minute - age, 1)) & COOKIE_MASK;
}

/* The maximum segment size option of a TCP header of n bytes, 0 when there is none. */
static uint16_t mss_option(const uint8_t *tcp, uint32_t n)
{
	enum { END, NOP, MSS };

	for (uint32_t at = 20, len; at < n && tcp[at] != END; at += len) {
		if (tcp[at] == NOP) {
			len = 1;
			continue;
		}
		len = at + 1 < n ? tcp[at + 1] : 0;
		if (len < 2 || at + len > n)
			return 0;
		if (tcp[at] == MSS && len == 4)
			return (uint16_t)(tcp[at + 2] << 8 | tcp[at + 3]);
	}
	return 0;
}

static uint64_t syncookie_gen(const uint8_t *ip, const uint8_t *tcp, uint32_t n,
			      const uint16_t table[4], uint16_t mss_default)
{
	struct conn c;
	uint32_t i = 3, cookie;
	uint16_t mss;

	if (n < 20 || n != (tcp[12] >> 4) * 4u)
		return helper_err(-EINVAL);
	mss = mss_option(tcp, n);
	mss = mss ? mss : mss_default;
	while (i && mss < table[i])
		i--;
	c = conn_of(ip, tcp);
	cookie = cookie_make(&c, be32_at(tcp + 4), i);
	return cookie | (uint64_t)table[i] << 32;
}

static uint64_t syncookie_check(const uint8_t *ip, const uint8_t *tcp)
{
	struct conn c = conn_of(ip, tcp);
	uint32_t data = cookie_data(&c, be32_at(tcp + 8) - 1, be32_at(tcp + 4) - 1);

	return helper_err(data < 4 ? 0 : -EACCES);
}

HELPER_FN(tcp_raw_gen_syncookie_ipv4, r1, r2, r3, r4, r5)
{
	return syncookie_gen(ptr_of(r1), ptr_of(r2), (uint32_t)r3, mss4, 536);
}

HELPER_FN(tcp_raw_gen_syncookie_ipv6, r1, r2, r3, r4, r5)
{
	return syncookie_gen(ptr_of(r1), ptr_of(r2), (uint32_t)r3, mss6, 1220);
}

HELPER_FN(tcp_raw_check_syncookie_ipv4, r1, r2, r3, r4, r5)
{
	return syncookie_check(ptr_of(r1), ptr_of(r2));
}

HELPER_FN(tcp_raw_check_syncookie_ipv6, r1, r2, r3, r4, r5)
{
	return syncookie_check(ptr_of(r1), ptr_of(r2));
}
