/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the sample capture: mkpcap FILE. The same bytes each time: TCP connections, DNS, ping and
 * their like over IPv4 and IPv6, VLAN and double VLAN tags, options and extension headers,
 * fragments, ARP; then packets cut off at each length and packets whose headers are wrong.
 * Checksums are right but where a packet is meant to be broken.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ETH_IPV4 = 0x0800,
	ETH_ARP = 0x0806,
	ETH_VLAN = 0x8100,
	ETH_IPV6 = 0x86dd,
	ETH_QINQ = 0x88a8
};
enum { ETH_LLDP = 0x88cc };
enum { ICMP = 1, TCP = 6, UDP = 17, ROUTING = 43, FRAGMENT = 44, ICMP6 = 58, DEST_OPTIONS = 60 };
enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };

/* A packet under construction. */
struct packet {
	uint8_t at[4096];
	size_t n;
	size_t l3, l4; /* where the IP header and the transport header begin */
};

struct out {
	FILE *file;
	unsigned packets;
	bool failed;
};

/* An end of a connection. */
struct peer {
	const char *addr; /* IPv4 or IPv6, as text */
	uint16_t port;
};

static void put8(struct packet *p, uint8_t v)
{
	p->at[p->n++] = v;
}

static void put16(struct packet *p, uint16_t v)
{
	put8(p, (uint8_t)(v >> 8));
	put8(p, (uint8_t)v);
}

static void put32(struct packet *p, uint32_t v)
{
	put16(p, (uint16_t)(v >> 16));
	put16(p, (uint16_t)v);
}

static void put_addr(struct packet *p, const char *text)
{
	bool v6 = strchr(text, ':') != NULL;

	if (inet_pton(v6 ? AF_INET6 : AF_INET, text, p->at + p->n) != 1)
		abort();
	p->n += v6 ? 16 : 4;
}

/* n bytes that look like data and are the same each time. */
static void put_data(struct packet *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put8(p, (uint8_t)('a' + (i * 7 + n) % 26));
}

static void set16(struct packet *p, size_t at, uint16_t v)
{
	p->at[at] = (uint8_t)(v >> 8);
	p->at[at + 1] = (uint8_t)v;
}

static uint32_t sum(const uint8_t *at, size_t n, uint32_t start)
{
	for (size_t i = 0; i + 1 < n; i += 2)
		start += (uint32_t)at[i] << 8 | at[i + 1];
	return n & 1 ? start + ((uint32_t)at[n - 1] << 8) : start;
}

static uint16_t fold(uint32_t s)
{
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)~s;
}

static void ethernet(struct packet *p, uint16_t proto)
{
	static const uint8_t macs[12] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1 };

	memset(p, 0, sizeof(*p));
	memcpy(p->at, macs, sizeof(macs));
	p->n = sizeof(macs);
	put16(p, proto);
}

static void ipv4(struct packet *p, const char *src, const char *dst, uint8_t proto, uint16_t frag,
		 unsigned options)
{
	p->l3 = p->n;
	put8(p, (uint8_t)(0x45 + options / 4));
	put8(p, 0);
	put16(p, 0); /* total length: finish_ipv4 */
	put16(p, 0x1234);
	put16(p, frag);
	put8(p, 64);
	put8(p, proto);
	put16(p, 0);
	put_addr(p, src);
	put_addr(p, dst);
	for (unsigned i = 0; i < options; i++)
		put8(p, i + 1 < options); /* no-operation, then end of options */
	p->l4 = p->n;
}

static void ipv6(struct packet *p, const char *src, const char *dst, uint8_t next)
{
	p->l3 = p->n;
	put32(p, 0x60000000);
	put16(p, 0); /* payload length: finish_ipv6 */
	put8(p, next);
	put8(p, 64);
	put_addr(p, src);
	put_addr(p, dst);
	p->l4 = p->n;
}

/* An extension header of 8 * (1 + extra) bytes full of padding. */
static void extension(struct packet *p, uint8_t next, unsigned extra)
{
	put8(p, next);
	put8(p, (uint8_t)extra);
	put8(p, 1); /* PadN over the rest */
	put8(p, (uint8_t)(4 + 8 * extra));
	put32(p, 0);
	for (unsigned i = 0; i < extra; i++) {
		put32(p, 0);
		put32(p, 0);
	}
	p->l4 = p->n;
}

static void fragment_header(struct packet *p, uint8_t next, unsigned offset, bool more)
{
	put8(p, next);
	put8(p, 0);
	put16(p, (uint16_t)(offset | more));
	put32(p, 0xfeed);
	p->l4 = p->n;
}

static void tcp(struct packet *p, uint16_t src, uint16_t dst, uint8_t flags, size_t data)
{
	put16(p, src);
	put16(p, dst);
	put32(p, 1000u + flags);
	put32(p, flags & ACK ? 2000 : 0);
	put16(p, (uint16_t)(0x5000 | flags));
	put16(p, 64240);
	put32(p, 0);
	put_data(p, data);
}

static void udp(struct packet *p, uint16_t src, uint16_t dst, size_t data)
{
	put16(p, src);
	put16(p, dst);
	put16(p, (uint16_t)(8 + data));
	put16(p, 0);
	put_data(p, data);
}

static void icmp(struct packet *p, uint8_t type, size_t data)
{
	put16(p, (uint16_t)(type << 8));
	put16(p, 0);
	put32(p, 0x00010001);
	put_data(p, data);
}

/* Length of the IP header's own fields, and its checksum. */
static void finish_ipv4(struct packet *p)
{
	size_t header = (p->at[p->l3] & 15) * 4u;

	set16(p, p->l3 + 2, (uint16_t)(p->n - p->l3));
	set16(p, p->l3 + 10, 0);
	set16(p, p->l3 + 10, fold(sum(p->at + p->l3, header, 0)));
}

static void finish_ipv6(struct packet *p)
{
	set16(p, p->l3 + 4, (uint16_t)(p->n - p->l3 - 40));
}

/* The transport checksum, over the pseudo header where the protocol has one. */
static void finish_l4(struct packet *p, uint8_t proto)
{
	bool v6 = p->at[p->l3] >> 4 == 6;
	size_t n = p->n - p->l4, at = p->l4 + (proto == TCP ? 16 : proto == UDP ? 6 : 2);
	const uint8_t *addrs = p->at + p->l3 + (v6 ? 8 : 12);
	uint32_t pseudo = proto == ICMP ? 0 : sum(addrs, v6 ? 32 : 8, (uint32_t)(proto + n));
	uint16_t s = fold(sum(p->at + p->l4, n, pseudo));

	set16(p, at, s || proto != UDP ? s : 0xffff);
}

static void finish(struct packet *p, uint8_t proto)
{
	finish_l4(p, proto);
	if (p->at[p->l3] >> 4 == 6)
		finish_ipv6(p);
	else
		finish_ipv4(p);
}

static void raw32(struct out *o, uint32_t v)
{
	o->failed |= fwrite(&v, sizeof(v), 1, o->file) != 1;
}

/* One record: `n` bytes of a packet that had `whole` bytes on the wire. */
static void emit_cut(struct out *o, const struct packet *p, size_t n, size_t whole)
{
	raw32(o, 1700000000u + o->packets / 100);
	raw32(o, o->packets % 100 * 10000);
	raw32(o, (uint32_t)n);
	raw32(o, (uint32_t)whole);
	o->failed |= fwrite(p->at, 1, n, o->file) != n;
	o->packets++;
}

static void emit(struct out *o, const struct packet *p)
{
	emit_cut(o, p, p->n, p->n);
}

static void header(struct out *o)
{
	static const uint16_t version[2] = { 2, 4 };

	raw32(o, 0xa1b2c3d4);
	o->failed |= fwrite(version, sizeof(version), 1, o->file) != 1;
	raw32(o, 0);
	raw32(o, 0);
	raw32(o, 65535);
	raw32(o, 1); /* Ethernet */
}

static bool is_v6(const struct peer *a)
{
	return strchr(a->addr, ':') != NULL;
}

/* Ethernet, tags (0-2 of them) and IP header from a to b. */
static void start(struct packet *p, const struct peer *a, const struct peer *b, uint8_t proto,
		  unsigned tags)
{
	uint16_t ip = is_v6(a) ? ETH_IPV6 : ETH_IPV4;

	ethernet(p, tags == 2 ? ETH_QINQ : tags == 1 ? ETH_VLAN : ip);
	if (tags == 2) {
		put16(p, 200);
		put16(p, ETH_VLAN);
	}
	if (tags) {
		put16(p, 0x2000 | 100); /* priority 1 */
		put16(p, ip);
	}
	if (is_v6(a))
		ipv6(p, a->addr, b->addr, proto);
	else
		ipv4(p, a->addr, b->addr, proto, 0x4000, 0);
}

static void segment(struct out *o, const struct peer *a, const struct peer *b, unsigned tags,
		    uint8_t flags, size_t data)
{
	struct packet p;

	start(&p, a, b, TCP, tags);
	tcp(&p, a->port, b->port, flags, data);
	finish(&p, TCP);
	emit(o, &p);
}

/* A connection from its first SYN to its last ACK, or to a reset. */
static void connection(struct out *o, struct peer a, struct peer b, unsigned tags, unsigned rounds,
		       bool reset)
{
	segment(o, &a, &b, tags, SYN, 0);
	segment(o, &b, &a, tags, SYN | ACK, 0);
	segment(o, &a, &b, tags, ACK, 0);
	for (unsigned i = 0; i < rounds; i++) {
		segment(o, &a, &b, tags, PSH | ACK, 20 + 61 * i % 400);
		segment(o, &b, &a, tags, PSH | ACK, i % 3 ? 1400 : 200);
	}
	if (reset) {
		segment(o, &b, &a, tags, RST, 0);
		return;
	}
	segment(o, &a, &b, tags, FIN | ACK, 0);
	segment(o, &b, &a, tags, FIN | ACK, 0);
	segment(o, &a, &b, tags, ACK, 0);
}

static void datagram(struct out *o, struct peer a, struct peer b, unsigned tags, size_t data)
{
	struct packet p;

	start(&p, &a, &b, UDP, tags);
	udp(&p, a.port, b.port, data);
	finish(&p, UDP);
	emit(o, &p);
}

static void ping(struct out *o, struct peer a, struct peer b, unsigned tags, bool answer)
{
	uint8_t proto = is_v6(&a) ? ICMP6 : ICMP;
	struct packet p;

	start(&p, &a, &b, proto, tags);
	icmp(&p, proto == ICMP ? (answer ? 0 : 8) : (answer ? 129 : 128), 56);
	finish(&p, proto);
	emit(o, &p);
}

static void arp(struct out *o, const char *who, const char *asks)
{
	static const uint8_t macs[12] = { 2, 0, 0, 0, 0, 1 };
	struct packet p;

	ethernet(&p, ETH_ARP);
	memset(p.at, 0xff, 6);
	put32(&p, 0x00010800);
	put32(&p, 0x06040001);
	memcpy(p.at + p.n, macs, 6);
	p.n += 6;
	put_addr(&p, who);
	p.n += 6;
	put_addr(&p, asks);
	put_data(&p, 18);
	emit(o, &p);
}

static void traffic(struct out *o)
{
	static const char *const clients[] = { "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4" };
	static const char *const clients6[] = { "2001:db8:1::1", "2001:db8:1::2" };
	struct peer web = { "192.0.2.80", 443 }, web6 = { "2001:db8:80::1", 443 };
	struct peer dns = { "192.0.2.53", 53 }, dns6 = { "2001:db8:53::1", 53 };

	for (unsigned i = 0; i < 4; i++) {
		struct peer c = { clients[i], (uint16_t)(40000 + i) }, none = { clients[i], 0 };
		unsigned tags = i % 3;

		arp(o, clients[i], web.addr);
		datagram(o, c, dns, tags, 30 + i);
		datagram(o, dns, c, tags, 90 + i);
		connection(o, c, web, tags, 3 + i, i == 2);
		ping(o, none, (struct peer){ web.addr, 0 }, tags, false);
		ping(o, (struct peer){ web.addr, 0 }, none, tags, true);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct peer c = { clients6[i], (uint16_t)(50000 + i) };

		datagram(o, c, dns6, i, 33);
		datagram(o, dns6, c, i, 101);
		connection(o, c, web6, i * 2, 4, i);
		ping(o, c, web6, i, false);
		ping(o, web6, c, i, true);
	}
}

/* What the sample rules of the firewall's help deny, and a stray segment. */
static void unwanted(struct out *o)
{
	struct peer bad = { "198.51.100.7", 31337 }, bad6 = { "2001:db8:bad::7", 31337 };
	struct peer web = { "192.0.2.80", 443 }, web6 = { "2001:db8:80::1", 443 };
	struct peer stray = { "10.0.0.9", 1234 };

	for (uint16_t port = 1; port <= 8; port++) {
		web.port = web6.port = port;
		segment(o, &bad, &web, 0, SYN, 0);
		segment(o, &bad6, &web6, 0, SYN, 0);
	}
	datagram(o, bad, web, 1, 64);
	segment(o, &stray, &web, 0, ACK, 10);
	segment(o, &stray, &web, 0, RST, 0);
}

static void options_and_extensions(struct out *o)
{
	static const char a[] = "10.0.0.1", b[] = "192.0.2.80";
	static const char a6[] = "2001:db8:1::1", b6[] = "2001:db8:80::1";
	struct packet p;

	for (unsigned options = 4; options <= 40; options += 12) {
		ethernet(&p, ETH_IPV4);
		ipv4(&p, a, b, UDP, 0, options);
		udp(&p, 7000, 7001, options);
		finish(&p, UDP);
		emit(o, &p);
	}
	for (unsigned n = 1; n <= 4; n++) {
		ethernet(&p, ETH_IPV6);
		ipv6(&p, a6, b6, 0); /* hop by hop */
		for (unsigned i = 1; i < n; i++)
			extension(&p, i == 1 ? ROUTING : DEST_OPTIONS, i - 1);
		extension(&p, UDP, n == 4 ? 2 : 0);
		udp(&p, 7000, 7001, 10 * n);
		finish(&p, UDP);
		emit(o, &p);
	}
}

/* One datagram in three fragments each, IPv4 and IPv6. */
static void fragments(struct out *o)
{
	struct packet whole, p;

	ethernet(&whole, ETH_IPV4);
	ipv4(&whole, "10.0.0.3", "192.0.2.80", UDP, 0, 0);
	udp(&whole, 9000, 9001, 3000);
	finish(&whole, UDP);
	for (unsigned at = 0; at < 3008; at += 1200) {
		size_t n = 3008 - at < 1200 ? 3008 - at : 1200;

		ethernet(&p, ETH_IPV4);
		ipv4(&p, "10.0.0.3", "192.0.2.80", UDP, (uint16_t)(at / 8 | (at + n < 3008) << 13),
		     0);
		memcpy(p.at + p.n, whole.at + whole.l4 + at, n);
		p.n += n;
		finish_ipv4(&p);
		emit(o, &p);
	}
	ethernet(&whole, ETH_IPV6);
	ipv6(&whole, "2001:db8:1::1", "2001:db8:80::1", UDP);
	udp(&whole, 9000, 9001, 3000);
	finish(&whole, UDP);
	for (unsigned at = 0; at < 3008; at += 1200) {
		size_t n = 3008 - at < 1200 ? 3008 - at : 1200;

		ethernet(&p, ETH_IPV6);
		ipv6(&p, "2001:db8:1::1", "2001:db8:80::1", FRAGMENT);
		fragment_header(&p, UDP, at, at + n < 3008);
		memcpy(p.at + p.n, whole.at + whole.l4 + at, n);
		p.n += n;
		finish_ipv6(&p);
		emit(o, &p);
	}
}

/* The start of a good packet at every length that a header can be cut at. */
static void truncated(struct out *o)
{
	struct peer a = { "10.0.0.1", 40000 }, b = { "192.0.2.80", 443 };
	struct peer a6 = { "2001:db8:1::1", 50000 }, b6 = { "2001:db8:80::1", 443 };
	struct packet p;

	start(&p, &a, &b, TCP, 2);
	tcp(&p, a.port, b.port, PSH | ACK, 0);
	finish(&p, TCP);
	for (size_t n = 6; n < p.n; n += 4)
		emit_cut(o, &p, n, p.n);
	start(&p, &a6, &b6, UDP, 0);
	udp(&p, a6.port, b6.port, 12);
	finish(&p, UDP);
	for (size_t n = 14; n < p.n; n += 4)
		emit_cut(o, &p, n, p.n);
}

/* Good packets with one byte of a header that makes no sense. */
static void malformed(struct out *o)
{
	static const struct {
		uint8_t at, value; /* offset from the IP header */
	} bad[] = {
		{ 0, 0x44 },  /* header length 16 */
		{ 0, 0x35 },  /* version 3 */
		{ 0, 0x4f },  /* header longer than the packet */
		{ 2, 0xff },  /* total length beyond the end */
		{ 3, 0x04 },  /* total length within the header */
		{ 10, 0x55 }, /* checksum */
		{ 32, 0x10 }, /* TCP header length 4 */
		{ 32, 0xf0 }, /* TCP header longer than the packet */
		{ 9, 200 },   /* unknown protocol */
	};
	struct peer a = { "10.0.0.1", 40000 }, b = { "192.0.2.80", 443 };
	struct packet p;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		start(&p, &a, &b, TCP, 0);
		tcp(&p, a.port, b.port, PSH | ACK, 0);
		finish(&p, TCP);
		p.at[p.l3 + bad[i].at] = bad[i].value;
		emit(o, &p);
	}
	ethernet(&p, ETH_IPV6);
	ipv6(&p, "2001:db8:1::1", "2001:db8:80::1", 0);
	for (unsigned i = 0; i < 9; i++) /* more extensions than anyone sends */
		extension(&p, i < 8 ? DEST_OPTIONS : UDP, 0);
	udp(&p, 1, 2, 8);
	finish(&p, UDP);
	emit(o, &p);
	p.at[p.l3] = 0x40;
	emit(o, &p);
	start(&p, &a, &b, UDP, 0);
	udp(&p, 1, 2, 8);
	finish(&p, UDP);
	set16(&p, p.l4 + 4, 3); /* UDP length below its header */
	emit(o, &p);
}

static void others(struct out *o)
{
	struct packet p;

	ethernet(&p, ETH_LLDP);
	put_data(&p, 60);
	emit(o, &p);
	ethernet(&p, 0x0042); /* a length: 802.3 */
	put_data(&p, 0x42);
	emit(o, &p);
	ethernet(&p, ETH_IPV4);
	ipv4(&p, "10.0.0.1", "192.0.2.80", 47, 0, 0); /* GRE, as unknown bytes */
	put_data(&p, 32);
	finish_ipv4(&p);
	emit(o, &p);
	ethernet(&p, ETH_IPV4);
	ipv4(&p, "10.0.0.1", "192.0.2.80", UDP, 0, 0);
	udp(&p, 4000, 4001, 3000); /* jumbo */
	finish(&p, UDP);
	emit(o, &p);
}

int main(int argc, char **argv)
{
	struct out o = { 0 };

	if (argc != 2 || argv[1][0] == '-') {
		fprintf(stderr, "usage: mkpcap FILE\n");
		return 2;
	}
	o.file = fopen(argv[1], "wb");
	if (!o.file) {
		fprintf(stderr, "mkpcap: %s: %s\n", argv[1], strerror(errno));
		return 2;
	}
	header(&o);
	traffic(&o);
	unwanted(&o);
	options_and_extensions(&o);
	fragments(&o);
	truncated(&o);
	malformed(&o);
	others(&o);
	if (fclose(o.file) || o.failed) {
		fprintf(stderr, "mkpcap: %s: could not be written\n", argv[1]);
		remove(argv[1]);
		return 2;
	}
	printf("%s: %u packets\n", argv[1], o.packets);
	return 0;
}
