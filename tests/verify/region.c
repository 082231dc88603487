/* SPDX-License-Identifier: BSD-2-Clause */
#include "region.h"

#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

#include "helper/skb.h"
#include "helper/xdp.h"
#include "isa/helper.h"

struct packet_span places_packet(const struct places *p)
{
	const struct xdp_ctx *x = p->packet;
	const struct skb_ctx *s = p->packet;

	if (p->prog_type == BPF_PROG_TYPE_XDP)
		return (struct packet_span){ (uintptr_t)x->meta, (uintptr_t)x->data,
					     (uintptr_t)x->end };
	return (struct packet_span){ (uintptr_t)s->data, (uintptr_t)s->data, (uintptr_t)s->tail };
}

void places_add(struct places *p, uint8_t kind, uint64_t addr, uint32_t size,
		const struct map_desc *map)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->region[i].addr == addr && p->region[i].kind == kind) {
			p->region[i] = (struct region){ addr, size, kind, map };
			return;
		}
	}
	if (p->n < PLACES_REGIONS)
		p->region[p->n++] = (struct region){ addr, size, kind, map };
}

void places_remove(struct places *p, uint64_t addr)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->region[i].addr == addr)
			p->region[i] = p->region[--p->n];
	}
}

static bool in(uint64_t addr, uint64_t size, uint64_t from, uint64_t to)
{
	return addr >= from && addr <= to && size <= to - addr;
}

enum kind places_find(const struct places *p, uint64_t addr, uint64_t size)
{
	struct packet_span s = places_packet(p);

	for (uint32_t i = 0; i <= p->depth; i++) {
		uint64_t stack = (uintptr_t)p->frame[i].stack;

		if (in(addr, size, stack, stack + BPF_STACK))
			return KIND_STACK;
	}
	if (in(addr, size, p->ctx, p->ctx + p->ctx_size))
		return KIND_CTX;
	if (in(addr, size, s.data, s.end))
		return KIND_PKT;
	if (in(addr, size, s.meta, s.data))
		return KIND_PKT_META;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct region *r = &p->region[i];

		if (in(addr, size, r->addr, r->addr + r->size))
			return r->kind;
	}
	return KIND_NONE;
}

static const char *access_check(const struct places *p, const struct interp_at *at,
				const struct fact *f)
{
	const struct op *op = &at->u->ops[at->op];
	bool load = op_row(op)->form == FORM_LD || op_row(op)->form == FORM_ACQ;
	uint64_t addr = at->r[load ? op->src : op->dst] + (uint64_t)(int64_t)op->off;
	enum kind k = places_find(p, addr, op_size(op));

	if (k == KIND_NONE)
		return "access outside of all memory";
	if (f->accessed && f->ptr_kind && f->ptr_kind != k && f->ptr_kind != KIND_MEM)
		return "access to another kind of memory than the fact says";
	if (f->ctx && k != KIND_CTX)
		return "the fact says context";
	return NULL;
}

/* Bytes behind argument i, 0: it is no memory. */
static uint64_t arg_size(const struct helper *h, unsigned i, const uint64_t *r,
			 const struct map_desc *map)
{
	switch (ARG_KIND(h->arg[i])) {
	case ARG_MAP_KEY:
		return map ? map->key_size : 0;
	case ARG_MAP_VALUE:
		return map ? map->value_size : 0;
	case ARG_MEM:
		return h->arg[i] & ARGF_FIXED ? ARG_NUMBER(h->arg[i]) : r[i + 2];
	default:
		return 0;
	}
}

/* The map among r1-r5 that the prototype asks for. */
static const struct map_desc *arg_map(const struct helper *h, const uint64_t *r)
{
	for (unsigned i = 0; i < 5; i++) {
		if (ARG_KIND(h->arg[i]) == ARG_CONST_MAP)
			return (const struct map_desc *)(uintptr_t)r[i + 1];
	}
	return NULL;
}

static uint64_t key_value(const struct helper *h, const struct map_desc *map, const uint64_t *r)
{
	uint64_t key = 0;

	if (h->id == BPF_FUNC_tail_call)
		return (uint32_t)r[3];
	if (map && map->key_size <= 8)
		memcpy(&key, (const void *)(uintptr_t)r[2], map->key_size);
	return key;
}

static const char *call_check(const struct places *p, const struct interp_at *at,
			      const struct fact *f)
{
	const struct op *op = &at->u->ops[at->op];
	bool tail = op_row(op)->form == FORM_TAILCALL;
	const uint64_t *r = at->r;
	const struct map_desc *map;
	struct helper h;

	if (!helper_proto(tail ? BPF_FUNC_tail_call : (uint32_t)op->imm, p->prog_type, &h))
		return "call of a helper that this type does not have";
	map = arg_map(&h, r);
	for (unsigned i = 0; i < 5; i++) {
		uint64_t n = arg_size(&h, i, r, map);
		bool null = !r[i + 1] && h.arg[i] & ARGF_OR_NULL;

		if (n && !null && places_find(p, r[i + 1], n) == KIND_NONE)
			return "a helper's argument lies outside of all memory";
	}
	if (f->map && f->map != map)
		return "another map than the fact says";
	if (f->key_known && f->key != key_value(&h, map, r))
		return "another key than the fact says";
	if (h.id == BPF_FUNC_loop && !f->loop_flags && r[4])
		return "flags of bpf_loop where the fact says none";
	return NULL;
}

const char *places_op(const struct places *p, const struct interp_at *at, const struct fact *f)
{
	const struct op *op = &at->u->ops[at->op];

	if (!f->seen)
		return "the fact says that the op is never reached";
	switch (op_row(op)->form) {
	case FORM_LD:
	case FORM_ST:
	case FORM_ATOMIC:
	case FORM_ACQ:
	case FORM_REL:
		return access_check(p, at, f);
	case FORM_CALL:
	case FORM_TAILCALL:
		return call_check(p, at, f);
	default:
		return NULL;
	}
}

void places_call(struct places *p, const struct interp_at *at)
{
	p->frame[at->depth].call = &at->u->ops[at->op];
	memcpy(p->frame[at->depth].args, &at->r[1], sizeof(p->frame[at->depth].args));
}

static void returned(struct places *p, int64_t helper, const uint64_t *args, uint64_t r0)
{
	const struct map_desc *map = (const struct map_desc *)(uintptr_t)args[0];

	if (helper == BPF_FUNC_map_lookup_elem && r0)
		places_add(p, KIND_MAP_VALUE, r0, map->value_size, map);
	if (helper == BPF_FUNC_ringbuf_reserve && r0)
		places_add(p, KIND_MEM, r0, (uint32_t)args[1], map);
	if (helper == BPF_FUNC_ringbuf_submit || helper == BPF_FUNC_ringbuf_discard)
		places_remove(p, args[0]);
}

void places_after(struct places *p, const struct interp_at *at)
{
	uint32_t d = at->depth;

	if (p->frame[d].call) {
		returned(p, p->frame[d].call->imm, p->frame[d].args, at->r[0]);
		p->frame[d].call = NULL;
	}
	if (d && p->frame[d - 1].call && p->frame[d - 1].call->imm == BPF_FUNC_for_each_map_elem &&
	    at->op == at->u->subs[unit_sub_of(at->u, at->op)]) {
		const uint64_t addr = p->frame[d - 1].args[0];
		const struct map_desc *map = (const struct map_desc *)(uintptr_t)addr;

		places_add(p, KIND_MAP_KEY, at->r[2], map->key_size, map);
		places_add(p, KIND_MAP_VALUE, at->r[3], map->value_size, map);
	}
}
