/* SPDX-License-Identifier: BSD-2-Clause */
/* Subprograms, callbacks, and the end of each. */
#include "verify/ver.h"

#include <inttypes.h>
#include <stdio.h>

/* -- calls */

static void log_frames(struct ver *v)
{
	uint32_t n = v->cur->top;

	if (!(v->level & (LOG_INSNS | LOG_STATES)))
		return;
	note(v, "caller:\n");
	log_frame(v, v->cur, n - 1, true);
	note(v, "callee:\n");
	log_state(v, v->cur, true);
}

static int call_static(struct ver *v, uint32_t sub)
{
	struct frame *caller = top(v);
	int err = frame_enter(v, v->cur, sub, v->op);

	if (err)
		return err;
	for (unsigned i = 1; i <= 5; i++)
		arg_pass(v->cur, i, i);
	for (unsigned i = 0; i <= 5; i++) {
		reg_set_none(&caller->r[i]);
		caller->r[i].live |= LIVE_WRITTEN;
		caller->r[i].def = 0;
	}
	v->next = v->sub[sub].start;
	log_frames(v);
	return 0;
}

/* Memory that may be NULL is as large as its type when it is not. */
static int global_memory(struct ver *v, unsigned n, uint8_t want, uint32_t size)
{
	struct reg *r = reg(v, n), saved = *r;
	bool later;
	int err;

	if (want == SUB_ARG_MEM_OR_NULL && reg_is_zero(r))
		return precise_mark(v, n);
	if (want == SUB_ARG_MEM && (reg_is_zero(r) || r->flags & RF_NULL))
		return fail(v, -EINVAL, "arg#%u is expected to be non-NULL", n - 1);
	r->flags &= (uint8_t)~RF_NULL;
	err = mem_range(v, n, size, false, true, false, &later);
	r->flags = saved.flags;
	return err;
}

static int global_dynptr(struct ver *v, unsigned n)
{
	struct call c = { .size = 0 };

	if (reg(v, n)->kind == KIND_DYNPTR && unmodified_check(v, n, false))
		return -EACCES;
	return dynptr_arg(v, &c, n, ARG_DYNPTR_RD);
}

static int global_typed(struct ver *v, unsigned n, uint8_t want, const char *type)
{
	const struct reg *r = reg(v, n);
	char buf[64];

	if (want == SUB_ARG_TRUSTED_OR_NULL && reg_is_zero(r))
		return precise_mark(v, n);
	if (r->kind != KIND_BTF || r->flags & (RF_UNTRUSTED | RF_USER | RF_PERCPU) ||
	    (r->flags & RF_NULL && want == SUB_ARG_TRUSTED))
		return fail(v, -EACCES, "R%u type=%s expected=ptr_, trusted_ptr_, rcu_ptr_", n,
			    kind_text(r, buf, sizeof(buf)));
	if (!(r->flags & RF_TRUSTED) && !r->ref)
		return fail(v, -EACCES, "R%u must be referenced or trusted", n);
	return typed_fits(v, n, typed_find(v, type));
}

static int global_arg(struct ver *v, unsigned n, const struct verify_sub *s)
{
	uint8_t want = s->arg[n - 1];
	uint32_t size = s->size[n - 1];
	const struct reg *r = reg(v, n);

	if (r->kind == KIND_NONE)
		return reg_read(v, n, true);
	switch (want) {
	case SUB_ARG_SCALAR:
		return r->kind == KIND_SCALAR ? 0 : fail(v, -EINVAL, "R%u is not a scalar", n);
	case SUB_ARG_CTX:
		return r->kind == KIND_CTX
			   ? unmodified_check(v, n, false)
			   : fail(v, -EINVAL, "arg#%u expects pointer to ctx", n - 1);
	case SUB_ARG_DYNPTR:
		return global_dynptr(v, n);
	case SUB_ARG_TRUSTED:
	case SUB_ARG_TRUSTED_OR_NULL:
		return global_typed(v, n, want, s->type[n - 1]);
	default:
		return global_memory(v, n, want, size);
	}
}

static int call_global(struct ver *v, uint32_t sub)
{
	const struct verify_sub *s = &v->in->subs[sub];
	int err = 0;

	if (v->cur->lock)
		return fail(v, -EINVAL,
			    "global function calls are not allowed while holding a lock,\n"
			    "use static function instead");
	if (v->cur->preempt)
		return fail(v, -EINVAL,
			    "global function calls are not allowed with preemption disabled,\n"
			    "use static function instead");
	for (unsigned i = 0; s->has_proto && !err && i < s->n_args; i++) {
		err = global_arg(v, i + 1, s);
		if (!err)
			err = reg_read(v, i + 1, true);
	}
	if (!s->has_proto)
		err = fail(v, -EINVAL, "%s", s->why);
	if (err)
		return fail(v, err, "Caller passes invalid args into func#%u ('%s')", sub, s->name);
	note(v, "Func#%u ('%s') is global and assumed valid.\n", sub, s->name);
	v->sub[sub].called = true;
	if (v->sub[sub].throws && throw_check(v))
		return -EINVAL;
	regs_clobber(v);
	if (!s->returns_void)
		reg_set_unknown(reg(v, 0));
	if (v->sub[sub].moves_packet)
		packet_clear(v);
	return 0;
}

int sub_step(struct ver *v)
{
	uint32_t sub = unit_sub_of(v->u, unit_target(v->u, v->op));

	v->jumps++;
	if (v->in->subs && v->in->subs[sub].global)
		return call_global(v, sub);
	return call_static(v, sub);
}

/* -- returns */

static int range_refuse(struct ver *v, unsigned regno, int min, int max, const char *where)
{
	const struct reg *r = reg(v, regno);
	char text[128];
	int n = 0;

	text[0] = '\0';
	if (r->s.d.smin > INT64_MIN)
		n += snprintf(text, sizeof(text), " smin=%" PRId64, r->s.d.smin);
	if (r->s.d.smax < INT64_MAX)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " smax=%" PRId64, r->s.d.smax);
	if (!n)
		snprintf(text, sizeof(text), " unknown scalar value");
	return fail(v, -EINVAL, "%s the register R%u has%s should have been in [%d, %d]", where,
		    regno, text, min, max);
}

/* Attach points whose programs can only let pass. The numbers are those of AF_UNIX recvmsg,
 * getpeername and getsockname, which older headers lack. */
static bool attach_always(uint32_t attach)
{
	static const uint64_t always =
	    1ull << BPF_CGROUP_UDP4_RECVMSG | 1ull << BPF_CGROUP_UDP6_RECVMSG |
	    1ull << BPF_CGROUP_INET4_GETPEERNAME | 1ull << BPF_CGROUP_INET6_GETPEERNAME |
	    1ull << BPF_CGROUP_INET4_GETSOCKNAME | 1ull << BPF_CGROUP_INET6_GETSOCKNAME |
	    7ull << 51;

	return attach < 64 && always >> attach & 1;
}

/* What programs of some types may return; false: anything. */
static bool return_range(const struct ver *v, int *min, int *max)
{
	uint32_t attach = v->in->attach_type;

	*min = 0;
	*max = 1;
	switch (v->in->prog_type) {
	case BPF_PROG_TYPE_CGROUP_SOCK_ADDR:
		*min = attach_always(attach);
		if (attach == BPF_CGROUP_INET4_BIND || attach == BPF_CGROUP_INET6_BIND)
			*max = 3;
		return true;
	case BPF_PROG_TYPE_CGROUP_SKB:
		*max = attach == BPF_CGROUP_INET_EGRESS ? 3 : 1;
		return true;
	case BPF_PROG_TYPE_CGROUP_SOCK:
	case BPF_PROG_TYPE_SOCK_OPS:
	case BPF_PROG_TYPE_CGROUP_DEVICE:
	case BPF_PROG_TYPE_CGROUP_SYSCTL:
	case BPF_PROG_TYPE_CGROUP_SOCKOPT:
	case BPF_PROG_TYPE_SK_LOOKUP:
	case BPF_PROG_TYPE_NETFILTER:
		return true;
	case BPF_PROG_TYPE_LSM:
		return typed_return_range(v, min, max);
	case BPF_PROG_TYPE_TRACING:
		*max = attach == BPF_TRACE_ITER ? 1 : 0;
		return attach != BPF_TRACE_RAW_TP && attach != BPF_MODIFY_RETURN;
	default:
		return false;
	}
}

static int exit_global(struct ver *v)
{
	const struct reg *r = reg(v, 0);
	char buf[64];

	if (v->in->subs[v->root].returns_void)
		return 1;
	if (reg_read(v, 0, true))
		return -EACCES;
	if (r->kind != KIND_SCALAR)
		return fail(v, -EINVAL,
			    "At subprogram exit the register R0 is not a scalar value (%s)",
			    kind_text(r, buf, sizeof(buf)));
	return 1;
}

static bool exit_range(const struct ver *v, int *min, int *max, const char **where)
{
	*where = "At program exit";
	if (!top(v)->async)
		return return_range(v, min, max);
	*where = "At async callback return";
	*min = *max = 0;
	return true;
}

/* Register n is what the program returns. 1: it may be. */
static int return_check(struct ver *v, unsigned n)
{
	const struct reg *r = reg(v, n);
	const char *where;
	int min, max, err = reg_read(v, n, true);
	char buf[64];

	if (err || !exit_range(v, &min, &max, &where))
		return err ? err : 1;
	if (r->kind != KIND_SCALAR)
		return fail(v, -EINVAL, "%s the register R%u is not a known value (%s)", where, n,
			    kind_text(r, buf, sizeof(buf)));
	err = precise_mark(v, n);
	if (err)
		return err;
	if (v->in->prog_type == BPF_PROG_TYPE_LSM && !top(v)->async) {
		/* A hook returns an int. */
		if (r->s.w.smin < min || r->s.w.smax > max)
			return range_refuse(v, n, min, max, where);
	} else if (r->s.d.smin < min || r->s.d.smax > max) {
		return range_refuse(v, n, min, max, where);
	}
	return 1;
}

static int exit_main(struct ver *v)
{
	return v->root && !top(v)->async ? exit_global(v) : return_check(v, 0);
}

/* May the program end here, out of all frames? Nobody would give back what it holds. */
int throw_check(struct ver *v)
{
	const struct state *s = v->cur;

	for (uint32_t i = 0; i <= s->top; i++) {
		if (s->frame[i]->callback)
			return fail(v, -EINVAL,
				    "bpf_throw kfunc (insn %u) cannot be called from callback "
				    "subprog %u",
				    slot_of(v, v->op), s->frame[i]->sub);
	}
	if (s->lock || s->rcu || s->preempt)
		return fail(v, -EINVAL, "bpf_throw cannot be used inside %s-ed region",
			    s->lock  ? "bpf_spin_lock"
			    : s->rcu ? "bpf_rcu_read_lock"
				     : "bpf_preempt_disable");
	for (uint32_t i = 0; i < s->refs.n; i++)
		fail(v, -EINVAL, "Unreleased reference id=%u alloc_insn=%u", s->refs.id[i],
		     slot_of(v, s->refs.op[i]));
	return s->refs.n ? -EINVAL : 0;
}

/* bpf_throw: r1 is what the program returns. */
int exit_throw(struct ver *v)
{
	int err = return_check(v, 1);

	if (err < 0)
		return err;
	err = throw_check(v);
	return err ? err : 1;
}

/* Back to the frame below, which goes on at op `to`. */
static void frame_leave(struct ver *v, uint32_t to)
{
	note(v, "returning from callee:\n");
	if (v->level & (LOG_INSNS | LOG_STATES))
		log_state(v, v->cur, true);
	state_pop_frame(v->cur);
	note(v, "to caller at %u:\n", slot_of(v, to));
	if (v->level & (LOG_INSNS | LOG_STATES))
		log_state(v, v->cur, true);
	v->print_all = true;
}

static int exit_callback(struct ver *v)
{
	struct frame *f = top(v);
	struct reg *r = &f->r[0];
	struct state *before;
	int err = 0;

	if (r->kind != KIND_SCALAR)
		return fail(v, -EACCES, "R0 not a scalar value");
	live_read(v, r, LIVE_READ64);
	err = precise_mark(v, 0);
	if (err)
		return err;
	if (r->s.d.smin < f->ret_min || r->s.d.smax > f->ret_max)
		return range_refuse(v, 0, f->ret_min, f->ret_max, "At callback return");
	v->next = f->callsite;
	frame_leave(v, f->callsite);
	before = state_before(v, v->cur, v->next);
	if (before)
		state_widen(before, v->cur);
	return 0;
}

static int exit_static(struct ver *v)
{
	struct frame *f = top(v);
	struct reg r0 = f->r[0];

	if (r0.kind == KIND_STACK)
		return fail(v, -EINVAL, "cannot return stack pointer to the caller");
	v->next = f->callsite + 1;
	v->cur->frame[v->cur->top - 1]->r[0] = r0;
	frame_leave(v, v->next);
	return 0;
}

/* LD_ABS and LD_IND in a subprogram return 0 from it when the packet is too short. */
int exit_early(struct ver *v)
{
	const struct frame *f = top(v);
	struct state *s;

	if (!v->cur->top)
		return 0;
	s = state_push(v, f->callback ? f->callsite : f->callsite + 1, v->op);
	if (!s)
		return -E2BIG;
	state_pop_frame(s);
	if (f->callback)
		return 0;
	reg_set_const(&s->frame[s->top]->r[0], 0);
	s->frame[s->top]->r[0].live |= LIVE_WRITTEN;
	return 0;
}

int exit_step(struct ver *v)
{
	int err;

	v->jumps++;
	if (!v->cur->top && v->cur->lock)
		return fail(v, -EINVAL, "bpf_spin_unlock is missing");
	err = v->cur->top ? 0 : sections_check(v);
	if (!err)
		err = refs_leak_check(v);
	if (err)
		return err;
	if (!v->cur->top)
		return exit_main(v);
	return top(v)->callback ? exit_callback(v) : exit_static(v);
}
