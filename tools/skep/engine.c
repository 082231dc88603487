/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/engine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "base/mem.h"
#include "run/prog.h"
#include "sys/sys.h"

enum { MACS = 12, TAG = 4 };

static int open_shots(struct engine *e)
{
	struct prog *p = prog_of(e->prog);
	int err = 0;

	for (size_t i = 0; i < BATCH && !err; i++) {
		e->shots[i].in = e->memory + i * PACKET_MAX;
		err = packet_run_open(&e->shots[i].run, p);
	}
	return err;
}

int engine_open(struct engine *e, int prog_fd)
{
	int err;

	*e = (struct engine){ .prog = fd_obj(prog_fd, OBJ_PROG) };
	if (!e->prog)
		return -EBADF;
	e->memory = mem_zalloc(BATCH, PACKET_MAX);
	err = e->memory ? open_shots(e) : -ENOMEM;
	if (err)
		engine_close(e);
	return err;
}

void engine_close(struct engine *e)
{
	for (size_t i = 0; i < BATCH; i++)
		if (e->shots[i].run.prog)
			packet_run_close(&e->shots[i].run);
	mem_free(e->memory);
	obj_put(e->prog);
	*e = (struct engine){ 0 };
}

void engine_add(struct engine *e, const struct capture_head *head, const uint8_t *bytes)
{
	struct shot *s = &e->shots[e->n++];

	s->head = *head;
	s->err = -EINVAL;
	if (head->n > PACKET_MAX)
		return;
	memcpy(s->in, bytes, head->n);
	s->err = packet_run_set(&s->run, s->in, head->n);
}

void engine_run(struct engine *e, uint64_t *ns, unsigned *ran)
{
	struct packet_run *runs[BATCH];
	int err;

	*ran = 0;
	for (unsigned i = 0; i < e->n; i++)
		if (!e->shots[i].err)
			runs[(*ran)++] = &e->shots[i].run;
	err = packet_run_batch(runs, *ran, ns);
	for (unsigned i = 0; i < e->n; i++) {
		struct shot *s = &e->shots[i];

		if (!s->err)
			s->err = err;
		if (!s->err)
			packet_run_get(&s->run, s->in, s->head.n, &s->result);
	}
}

static bool is_l2(const struct shot *s)
{
	return s->run.prog->type == BPF_PROG_TYPE_XDP || skb_type_is_l2(s->run.prog->type);
}

/* How much of a packet a socket filter lets through: what it returns counts from where it sees. */
static uint32_t kept(const struct shot *s, uint32_t n)
{
	uint64_t most = s->result.verdict + (is_l2(s) ? 0ull : PACKET_ETH);

	return s->run.prog->type == BPF_PROG_TYPE_SOCKET_FILTER && most < n ? (uint32_t)most : n;
}

uint32_t engine_packet(const struct shot *s, uint8_t *out)
{
	const struct __sk_buff *skb = &s->run.ctx.skb.skb;
	uint32_t n = s->result.n;
	uint16_t tag[2];

	packet_run_copy(&s->run, out, n);
	if (!is_l2(s) && n >= PACKET_ETH)
		memcpy(out, s->in, PACKET_ETH);
	if (s->run.prog->type == BPF_PROG_TYPE_XDP || !skb->vlan_present || n < MACS)
		return kept(s, n);
	memmove(out + MACS + TAG, out + MACS, n - MACS);
	tag[0] = (uint16_t)skb->vlan_proto;
	tag[1] = htons((uint16_t)skb->vlan_tci);
	memcpy(out + MACS, tag, sizeof(tag));
	return kept(s, n + TAG);
}
