/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of kernel functions. */
#include "verify/ver.h"

#include <string.h>

/* The row of the kfunc that the op at i calls, NULL: it calls none that is known. */
const struct kfunc *kfunc_at(const struct ver *v, uint32_t i)
{
	const struct op *op = &v->u->ops[i];
	const char *name = op->code == OP_CALLKFUNC && v->in->kfunc_name
			       ? v->in->kfunc_name(op->imm, op->off)
			       : NULL;

	return name ? kfunc_find(name) : NULL;
}

static int kfunc_allowed(struct ver *v, const struct kfunc **out)
{
	const struct op *op = op_at(v);
	const char *name;

	if (!v->in->kfunc_name)
		return fail(v, -EOPNOTSUPP,
			    "calling kernel function is not supported without "
			    "CONFIG_DEBUG_INFO_BTF");
	name = v->in->kfunc_name(op->imm, op->off);
	if (!name)
		return fail(v, -EINVAL, "kernel btf_id %u is not a function", (unsigned)op->imm);
	if (!v->in->gpl)
		return fail(v, -EINVAL,
			    "cannot call kernel function from non-GPL compatible program");
	*out = kfunc_find(name);
	if (!*out)
		return fail(v, -EOPNOTSUPP,
			    "kernel function %s is not supported by this verifier yet", name);
	if (v->in->prog_type >= 64 || !((*out)->progs >> v->in->prog_type & 1))
		return fail(v, -EACCES, "calling kernel function %s is not allowed", name);
	if (v->cur->lock)
		return fail(v, -EINVAL, "function calls are not allowed while holding a lock");
	if ((*out)->flags & KFUNC_SLEEPS && !v->in->sleepable)
		return fail(v, -EACCES, "program must be sleepable to call sleepable kfunc %s",
			    name);
	if ((*out)->flags & KFUNC_SLEEPS && (v->cur->rcu || v->cur->preempt))
		return fail(v, -EACCES, "kernel func %s is sleepable within %s region", name,
			    v->cur->rcu ? "rcu_read_lock" : "non-preemptible");
	return 0;
}

/* -- arguments */

static int mem_size(struct ver *v, struct call *c, unsigned n)
{
	int err = size_arg(v, c, n, true);

	return err ? fail(v, err, "arg#%u arg#%u memory, len pair leads to invalid memory access",
			  n - 2, n - 1)
		   : 0;
}

static int const_size(struct ver *v, struct call *c, unsigned n)
{
	const struct reg *r = reg(v, n);
	int err = reg_is_zero(reg(v, n - 1)) ? 0 : mem_size(v, c, n);

	if (err)
		return err;
	if (!reg_is_const(r))
		return fail(v, -EINVAL, "R%u must be a known constant", n);
	c->size = (uint32_t)r->s.d.val;
	return precise_mark(v, n);
}

/* Programs without a packet of their own may have the kernel's. */
static int kernel_packet(struct ver *v, unsigned n)
{
	const struct reg *r = reg(v, n);

	if (!(r->flags & RF_TRUSTED) && !r->ref)
		return fail(v, -EINVAL, "R%u must be referenced or trusted", n);
	return typed_fits(v, n, typed_id(v, BTF_SK_BUFF));
}

static int kfunc_arg(struct ver *v, struct call *c, unsigned n, uint32_t arg)
{
	const struct reg *r = reg(v, n);
	char buf[64];

	switch (ARG_KIND(arg)) {
	case ARG_SCALAR:
		return reg_is_scalar(r) ? 0 : fail(v, -EINVAL, "R%u is not a scalar", n);
	case ARG_CTX:
		if (c->kfunc->id == KFUNC_dynptr_from_skb && r->kind == KIND_BTF)
			return kernel_packet(v, n);
		if (r->kind != KIND_CTX)
			return fail(v, -EINVAL, "arg#%u expected pointer to ctx, but got %s", n - 1,
				    kind_text(r, buf, sizeof(buf)));
		return unmodified_check(v, n, false);
	case ARG_DYNPTR:
		if (r->kind == KIND_DYNPTR && unmodified_check(v, n, false))
			return -EACCES;
		return dynptr_arg(v, c, n, arg);
	case ARG_ITER:
		return iter_arg(v, c, n, arg);
	case ARG_BTF:
		return typed_kfunc_arg(v, c, n, arg);
	case ARG_SIZE:
		return mem_size(v, c, n);
	case ARG_CONST_SIZE:
		return const_size(v, c, n);
	default:
		return 0;
	}
}

static int kfunc_args(struct ver *v, struct call *c)
{
	int err = 0;

	for (unsigned n = 1; !err && n <= 5 && ARG_KIND(c->h.arg[n - 1]) != ARG_NONE; n++) {
		err = reg_read(v, n, true);
		if (!err)
			err = kfunc_arg(v, c, n, c->h.arg[n - 1]);
	}
	return err;
}

/* -- what is special to single ones */

/* What RCU protected may be gone from now on. */
static void rcu_end(struct reg *r, void *arg)
{
	if (r->kind == KIND_BTF && r->flags & RF_RCU)
		r->flags = (uint8_t)((r->flags & ~(RF_RCU | RF_NULL)) | RF_UNTRUSTED);
}

static int kfunc_rcu(struct ver *v, const struct kfunc *k)
{
	struct state *s = v->cur;
	bool lock = k->id == KFUNC_rcu_read_lock;

	if (lock && s->rcu)
		return fail(v, -EINVAL, "nested rcu read lock (kernel function bpf_%s)", k->name);
	if (!lock && !s->rcu)
		return fail(v, -EINVAL, "unmatched rcu read unlock (kernel function bpf_%s)",
			    k->name);
	s->rcu = lock;
	if (!lock)
		state_each_reg(s, rcu_end, NULL);
	return 0;
}

static int kfunc_preempt(struct ver *v, const struct kfunc *k)
{
	struct state *s = v->cur;
	bool off = k->id == KFUNC_preempt_disable;

	if (!off && !s->preempt)
		return fail(v, -EINVAL,
			    "unmatched attempt to enable preemption (kernel function bpf_%s)",
			    k->name);
	s->preempt = off ? s->preempt + 1 : s->preempt - 1;
	return 0;
}

static int kfunc_special(struct ver *v, const struct kfunc *k)
{
	switch (k->id) {
	case KFUNC_rcu_read_lock:
	case KFUNC_rcu_read_unlock:
		return kfunc_rcu(v, k);
	case KFUNC_preempt_disable:
	case KFUNC_preempt_enable:
		return kfunc_preempt(v, k);
	case KFUNC_dynptr_slice_rdwr:
		return packet_may(v, true)
			   ? 0
			   : fail(v, -EINVAL, "the prog does not allow writes to packet data");
	default:
		return 0;
	}
}

static int kfunc_release(struct ver *v, const struct call *c)
{
	if (!(c->kfunc->flags & KFUNC_RELEASE))
		return 0;
	if (!c->released)
		return fail(v, -EINVAL,
			    "release kernel function bpf_%s expects refcounted PTR_TO_BTF_ID",
			    c->kfunc->name);
	if (!ref_release(v, c->ref))
		return 0;
	return fail(v, -EINVAL, "kfunc bpf_%s#%d reference has not been acquired before",
		    c->kfunc->name, (int)op_at(v)->imm);
}

static void kfunc_return(struct ver *v, const struct kfunc *k, const struct call *c)
{
	struct reg *r = reg(v, 0);
	bool slice = (k->ret & 0xff) == RET_SLICE;

	switch (k->ret & 0xff) {
	case RET_VOID:
		return;
	case RET_BTF:
		reg_set_kind(r, KIND_BTF, k->ret & RETF_OR_NULL ? RF_NULL : 0);
		r->n = typed_id(v, k->ret >> 24);
		r->id = r->flags & RF_NULL ? id_new(v) : 0;
		return;
	case RET_SLICE:
	case RET_RDONLY:
		reg_set_kind(r, KIND_MEM,
			     RF_NULL | (!slice || k->flags & KFUNC_RDONLY ? RF_RDONLY : 0));
		r->n = slice ? c->size : k->ret >> 24;
		r->id = id_new(v);
		r->ref = slice ? 0 : c->ref;
		r->dyn = slice ? c->dynptr.dyn : DYN_NONE;
		r->dyn_id = slice ? c->dynptr.id : 0;
		return;
	default:
		reg_set_unknown(r);
	}
}

int kfunc_step(struct ver *v)
{
	const struct kfunc *k = NULL;
	struct call c = { .size = 0 };
	int err = kfunc_allowed(v, &k);

	v->jumps++;
	if (err)
		return err;
	memcpy(c.h.arg, k->arg, sizeof(c.h.arg));
	c.h.name = k->name;
	c.kfunc = k;
	err = kfunc_args(v, &c);
	if (!err)
		err = kfunc_release(v, &c);
	if (!err)
		err = kfunc_special(v, k);
	if (err)
		return err;
	if (k->id == KFUNC_throw)
		return v->in->subs && v->in->subs[0].catches
			   ? fail(v, -EOPNOTSUPP, "exception callbacks are not supported")
			   : exit_throw(v);
	regs_clobber(v);
	kfunc_return(v, k, &c);
	if (k->flags & KFUNC_ACQUIRE) {
		reg(v, 0)->id = reg(v, 0)->ref = id_new(v);
		return refs_add(&v->cur->refs, reg(v, 0)->ref, v->op);
	}
	return k->flags & KFUNC_NEXT ? iter_next(v, &c) : 0;
}

/* At the end of the program: sections that were begun must have been ended. */
int sections_check(struct ver *v)
{
	const struct state *s = v->cur;

	if (s->rcu)
		return fail(v, -EINVAL, "bpf_rcu_read_unlock is missing");
	if (s->preempt)
		return fail(v, -EINVAL, "%u bpf_preempt_enable%s missing", s->preempt,
			    s->preempt == 1 ? " is" : "(s) are");
	return 0;
}
