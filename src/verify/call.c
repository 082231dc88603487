/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of helpers. */
#include "verify/ver.h"

#include <string.h>

#include "base/percpu.h"

struct pair {
	uint16_t map, helper;
	bool both; /* the map goes nowhere else either */
};

static const struct pair pairs[] = {
#define MAP(type, name)	  { BPF_MAP_TYPE_##type, BPF_FUNC_##name, true },
#define TAKES(name, type) { BPF_MAP_TYPE_##type, BPF_FUNC_##name, false },
#include "verify/compat.def"
};

/* Helpers that work on maps of any plain type too. */
static bool is_general(uint32_t helper)
{
	return helper == BPF_FUNC_map_lookup_elem || helper == BPF_FUNC_map_update_elem ||
	       helper == BPF_FUNC_map_delete_elem || helper == BPF_FUNC_kptr_xchg;
}

/* May this helper be called with a map of this type? */
bool map_fits(uint32_t helper, uint32_t map_type)
{
	bool map_bound = false, helper_bound = false;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const struct pair *p = &pairs[i];

		if (p->map == map_type && p->helper == helper)
			return true;
		map_bound |= p->both && p->map == map_type;
		helper_bound |= p->helper == helper && !is_general(helper);
	}
	return !map_bound && !helper_bound;
}

void key_note(struct fact *f, bool known, uint64_t key)
{
	if (!f->key_seen) {
		f->key = key;
		f->key_known = known;
	} else if (!known || f->key != key) {
		f->key_known = 0;
	}
	f->key_seen = 1;
}

static int call_allowed(struct ver *v, uint32_t id, struct call *c)
{
	const struct helper *h = helper_find(id);

	if (!h)
		return fail(v, -EINVAL, "invalid func unknown#%u", id);
	if (!helper_proto(id, v->in->prog_type, &c->h))
		return fail(v, -EINVAL, "program of this type cannot use helper bpf_%s#%u", h->name,
			    id);
	if (h->flags & HELPER_GPL && !v->in->gpl)
		return fail(v, -EINVAL,
			    "cannot call GPL-restricted function from non-GPL "
			    "compatible program");
	if (v->cur->lock && id != BPF_FUNC_spin_unlock)
		return fail(v, -EINVAL, "function calls are not allowed while holding a lock");
	if (h->flags & HELPER_SLEEPS && !v->in->sleepable)
		return fail(v, -EINVAL, "helper call might sleep in a non-sleepable prog");
	if (h->flags & HELPER_SLEEPS && (v->cur->rcu || v->cur->preempt))
		return fail(v, -EINVAL, "sleepable helper bpf_%s#%u in %s region", h->name, id,
			    v->cur->rcu ? "rcu_read_lock" : "non-preemptible");
	if (id == BPF_FUNC_tail_call && (v->cur->rcu || v->cur->preempt))
		return fail(v, -EINVAL, "tail_call cannot be used inside %s-ed region",
			    v->cur->rcu ? "bpf_rcu_read_lock" : "bpf_preempt_disable");
	return 0;
}

bool is_sockmap(const struct map_desc *m)
{
	return m->type == BPF_MAP_TYPE_SOCKMAP || m->type == BPF_MAP_TYPE_SOCKHASH;
}

/* Programs that cannot meet a locked socket may change socket maps. */
static bool sockmap_may(const struct ver *v, uint32_t helper)
{
	static const uint64_t types = HELPER_ON(SOCKET_FILTER) | HELPER_ON(SCHED_CLS) |
				      HELPER_ON(SCHED_ACT) | HELPER_ON(XDP) |
				      HELPER_ON(SK_REUSEPORT) | HELPER_ON(FLOW_DISSECTOR) |
				      HELPER_ON(SK_LOOKUP);
	uint32_t type = v->in->prog_type;

	if (type == BPF_PROG_TYPE_TRACING && v->in->attach_type == BPF_TRACE_ITER)
		return true;
	if (helper == BPF_FUNC_map_delete_elem && type == BPF_PROG_TYPE_SOCK_OPS)
		return true;
	if (helper != BPF_FUNC_map_update_elem && helper != BPF_FUNC_map_delete_elem)
		return true;
	return types >> type & 1;
}

static int call_map(struct ver *v, struct call *c)
{
	struct fact *f = fact(v);
	const struct map_desc *m = c->map ? c->map->map : NULL;

	if (!m)
		return 0;
	if (f->map_seen && f->map != m)
		f->map_varies = 1;
	f->map = f->map_varies ? NULL : m;
	f->map_seen = 1;
	if (is_sockmap(m) && !sockmap_may(v, c->h.id))
		return fail(v, -EINVAL, "cannot update sockmap in this context");
	if (map_fits(c->h.id, m->type))
		return 0;
	return fail(v, -EINVAL, "cannot pass map_type %u into func bpf_%s#%u", m->type, c->h.name,
		    c->h.id);
}

/* Memory that the helper fills: as if it were stored byte by byte. */
static int call_fill(struct ver *v, const struct call *c)
{
	for (uint32_t i = 0; i < c->raw_size; i++) {
		struct access a = {
			.off = (int32_t)i, .size = 1, .write = true, .reg = -1, .helper = true
		};
		int err = mem_access(v, c->raw_reg, &a);

		if (err)
			return err;
	}
	return 0;
}

static int call_release(struct ver *v, const struct call *c)
{
	if (!c->released)
		return 0;
	if (ARG_KIND(c->h.arg[c->released - 1]) == ARG_DYNPTR)
		dynptr_end(v, c);
	if (c->ref && !ref_release(v, c->ref))
		return 0;
	if (reg_is_zero(reg(v, c->released)))
		return precise_mark(v, c->released);
	return fail(v, -EINVAL, "func bpf_%s#%u reference has not been acquired before", c->h.name,
		    c->h.id);
}

static int call_loop(struct ver *v, const struct call *c)
{
	bool plain = reg_is_zero(reg(v, 4));
	int err = plain ? precise_mark(v, 4) : 0;

	fact(v)->loop_flags |= !plain;
	if (!err)
		err = precise_mark(v, 1);
	if (err)
		return err;
	if (top(v)->callback_depth < reg(v, 1)->s.d.umax)
		return callback_plan(v, c);
	top(v)->callback_depth = 0;
	if (v->level & LOG_STATES)
		note(v, "frame%u bpf_loop iteration limit reached\n", v->cur->top);
	return 0;
}

/* A constant index is a fact for the code that follows, so other values must not be taken for
 * the same. */
static int call_tail(struct ver *v, const struct call *c)
{
	const struct reg *r = reg(v, 3);
	bool known = reg_is_const(r) && r->s.d.val < c->map->map->max_entries;

	key_note(fact(v), known, r->s.d.val);
	return known ? precise_mark(v, 3) : 0;
}

/* What is special to single helpers. */
static int call_special(struct ver *v, const struct call *c)
{
	char buf[64];

	switch (c->h.id) {
	case BPF_FUNC_tail_call:
		if (v->cur->refs.n)
			return fail(v, -EINVAL, "tail_call would lead to reference leak");
		return call_tail(v, c);
	case BPF_FUNC_get_local_storage:
		return reg_is_zero(reg(v, 2))
			   ? precise_mark(v, 2)
			   : fail(v, -EINVAL, "get_local_storage() doesn't support non-zero flags");
	case BPF_FUNC_loop:
		return call_loop(v, c);
	case BPF_FUNC_d_path:
		return typed_d_path(v);
	case BPF_FUNC_timer_set_callback:
		return callback_later(v, c);
	case BPF_FUNC_snprintf:
		return snprintf_check(v);
	case BPF_FUNC_dynptr_from_mem:
		if (reg(v, 1)->kind == KIND_MAP_VALUE)
			return 0;
		return fail(v, -EACCES, "Unsupported reg type %s for bpf_dynptr_from_mem data",
			    kind_text(reg(v, 1), buf, sizeof(buf)));
	default:
		return c->sub ? callback_plan(v, c) : 0;
	}
}

static enum kind ret_kind(uint32_t ret)
{
	static const uint8_t kinds[] = {
		[RET_INT] = KIND_SCALAR,
		[RET_VOID] = KIND_NONE,
		[RET_MAP_VALUE] = KIND_MAP_VALUE,
		[RET_SOCKET] = KIND_SOCK,
		[RET_SOCK_COMMON] = KIND_SOCK_COMMON,
		[RET_TCP_SOCK] = KIND_TCP_SOCK,
		[RET_RINGBUF_MEM] = KIND_MEM,
		[RET_DYNPTR_MEM] = KIND_MEM,
		[RET_PERCPU] = KIND_BTF,
		[RET_BTF] = KIND_BTF,
		[RET_KPTR] = KIND_BTF,
	};

	return (enum kind)kinds[ret & 0xff];
}

/* Casts of a socket give a view of the same object. */
static bool is_cast(uint32_t id)
{
	return id == BPF_FUNC_tcp_sock || id == BPF_FUNC_sk_fullsock ||
	       (id >= BPF_FUNC_skc_to_tcp6_sock && id <= BPF_FUNC_skc_to_udp6_sock) ||
	       id == BPF_FUNC_skc_to_unix_sock || id == BPF_FUNC_skc_to_mptcp_sock;
}

static bool acquires(const struct call *c)
{
	if (c->h.id == BPF_FUNC_map_lookup_elem)
		return is_sockmap(c->map->map);
	return c->h.flags & HELPER_ACQUIRES;
}

static int ret_pointer(struct ver *v, const struct call *c, struct reg *r)
{
	uint8_t flags = c->h.ret & RETF_OR_NULL ? RF_NULL : 0;

	if ((c->h.ret & 0xff) == RET_RINGBUF_MEM)
		flags |= RF_RINGBUF;
	if (c->h.ret & RETF_TRUSTED)
		flags |= RF_TRUSTED;
	reg_set_kind(r, ret_kind(c->h.ret), flags);
	if (r->kind == KIND_MEM)
		r->n = c->size;
	if ((c->h.ret & 0xff) == RET_DYNPTR_MEM) {
		r->dyn = c->dynptr.dyn;
		r->dyn_id = c->dynptr.id;
		r->ref = c->dynptr.ref;
	}
	if (r->kind == KIND_BTF)
		r->n = typed_id(v, c->h.ret >> 24);
	if (r->kind == KIND_MAP_VALUE) {
		r->map = c->map->map;
		r->uid = c->map->uid;
	}
	if (flags & RF_NULL || (r->map && map_has(v, r->map, SPECIAL_LOCK)))
		r->id = id_new(v);
	if (is_cast(c->h.id)) {
		r->ref = c->ref;
	} else if (acquires(c)) {
		r->id = r->ref = id_new(v);
		return refs_add(&v->cur->refs, r->ref, v->op);
	}
	return 0;
}

/* Helpers whose results are known to lie in a range. */
static void ret_range(struct ver *v, const struct call *c, struct reg *r)
{
	switch (c->h.id) {
	case BPF_FUNC_get_stack:
	case BPF_FUNC_get_task_stack:
	case BPF_FUNC_probe_read_str:
	case BPF_FUNC_probe_read_kernel_str:
	case BPF_FUNC_probe_read_user_str:
		r->s.d.smax = c->max_size;
		r->s.w.smax = (int32_t)c->max_size;
		r->s.d.smin = -4095;
		r->s.w.smin = -4095;
		break;
	case BPF_FUNC_get_smp_processor_id:
		r->s.d.umax = percpu_slots() - 1;
		r->s.w.umax = percpu_slots() - 1;
		r->s.d.smin = r->s.w.smin = 0;
		r->s.d.smax = r->s.w.smax = (int32_t)percpu_slots() - 1;
		break;
	default:
		return;
	}
	scalar_sync(&r->s);
}

static int call_return(struct ver *v, const struct call *c)
{
	struct reg *r = reg(v, 0);
	enum kind kind = ret_kind(c->h.ret);

	if (kind == KIND_NONE)
		return 0;
	if (kind != KIND_SCALAR)
		return ret_pointer(v, c, r);
	reg_set_unknown(r);
	ret_range(v, c, r);
	return 0;
}

int call_step(struct ver *v)
{
	const struct op *op = op_at(v);
	uint32_t id = op->code == OP_TAILCALL ? BPF_FUNC_tail_call : (uint32_t)op->imm;
	struct call c = { .size = 0 };
	int err = call_allowed(v, id, &c);

	v->jumps++;
	if (!err)
		err = args_check(v, &c);
	if (!err)
		err = call_fill(v, &c);
	if (!err)
		err = call_release(v, &c);
	if (!err)
		err = call_special(v, &c);
	if (err)
		return err;
	regs_clobber(v);
	err = call_return(v, &c);
	if (!err)
		err = call_map(v, &c);
	if (!err && (c.h.flags & HELPER_MOVES_PKT || id == BPF_FUNC_tail_call ||
		     (id == BPF_FUNC_dynptr_write && c.dynptr.dyn == DYN_SKB)))
		packet_clear(v);
	if (!err && c.sub) {
		struct fact *f = fact(v);

		f->sub = f->sub_seen && f->sub != c.sub ? 0 : c.sub;
		f->sub_seen = 1;
	}
	return err;
}
