/* SPDX-License-Identifier: BSD-2-Clause */
/* One op: which rule it falls under. */
#include "verify/ver.h"

static int step_const(struct ver *v)
{
	const struct op *op = op_at(v);
	int err = reg_write(v, op->dst, true);

	if (!err)
		reg_set_const(reg(v, op->dst), (uint64_t)op->imm);
	return err;
}

static int step_value(struct ver *v, struct reg *r, const struct op *op)
{
	if ((uint32_t)op->off >= r->map->value_size)
		return fail(v, -EINVAL, "invalid access to map value pointer, value_size=%u off=%u",
			    r->map->value_size, (uint32_t)op->off);
	r->kind = KIND_MAP_VALUE;
	r->off = op->off;
	return 0;
}

static int step_map(struct ver *v)
{
	const struct op *op = op_at(v);
	const struct unit *u = v->u;
	struct reg *r = reg(v, op->dst);
	int err = reg_write(v, op->dst, true);

	if (err)
		return err;
	if ((op->code != OP_LDMAP && op->code != OP_LDVALUE) || op->imm < 0 ||
	    op->imm >= u->n_refs || u->refs[op->imm].kind != REF_MAP)
		return fail(v, -EINVAL, "unrecognized bpf_ld_imm64 insn");
	reg_set_kind(r, KIND_MAP, 0);
	r->map = u->refs[op->imm].map;
	return op->code == OP_LDVALUE ? step_value(v, r, op) : 0;
}

static int step_func(struct ver *v)
{
	const struct op *op = op_at(v);
	uint32_t sub = unit_sub_of(v->u, unit_target(v->u, v->op));
	int err = reg_write(v, op->dst, true);

	if (err)
		return err;
	if (!sub)
		return fail(v, -EINVAL, "callback function cannot be the main program");
	if (v->in->subs && v->in->subs[sub].global)
		return fail(v, -EINVAL, "callback function not static");
	reg_set_kind(reg(v, op->dst), KIND_FUNC, 0);
	reg(v, op->dst)->n = sub;
	return 0;
}

static int step_packet_load(struct ver *v)
{
	const struct op *op = op_at(v);
	uint32_t type = v->in->prog_type;
	int err;

	if (type != BPF_PROG_TYPE_SOCKET_FILTER && type != BPF_PROG_TYPE_SCHED_CLS &&
	    type != BPF_PROG_TYPE_SCHED_ACT)
		return fail(v, -EINVAL,
			    "BPF_LD_[ABS|IND] instructions not allowed for this program type");
	err = reg_read(v, 6, true);
	if (err)
		return err;
	if (v->cur->refs.n)
		return fail(v, -EINVAL, "BPF_LD_[ABS|IND] cannot be mixed with socket references");
	if (v->cur->lock)
		return fail(v, -EINVAL,
			    "BPF_LD_[ABS|IND] cannot be used inside bpf_spin_lock-ed region");
	if (v->cur->rcu || v->cur->preempt)
		return fail(v, -EINVAL, "BPF_LD_[ABS|IND] cannot be used inside %s-ed region",
			    v->cur->rcu ? "bpf_rcu_read_lock" : "bpf_preempt_disable");
	if (reg(v, 6)->kind != KIND_CTX)
		return fail(v, -EINVAL, "at the time of BPF_LD_ABS|IND R6 != pointer to skb");
	if (op->code == OP_LDIND)
		err = reg_read(v, op->src, true);
	if (!err)
		err = unmodified_check(v, 6, false);
	if (!err)
		err = exit_early(v);
	if (err)
		return err;
	regs_clobber(v);
	reg_set_unknown(reg(v, 0));
	return 0;
}

static int step_refuse(struct ver *v)
{
	const char *name = op_row(op_at(v))->name;

	return fail(v, -EINVAL, "insn %u: %s is not supported", slot_of(v, v->op), name);
}

int step(struct ver *v)
{
	static int (*const by_form[])(struct ver *v) = {
		[FORM_ALU] = alu_step,	       [FORM_NEG] = alu_step,
		[FORM_MOV] = alu_step,	       [FORM_END] = alu_step,
		[FORM_LDIMM] = step_const,     [FORM_LDMAP] = step_map,
		[FORM_LDFUNC] = step_func,     [FORM_LD] = mem_step,
		[FORM_ST] = mem_step,	       [FORM_LDABS] = step_packet_load,
		[FORM_ATOMIC] = mem_step,      [FORM_ACQ] = mem_step,
		[FORM_REL] = mem_step,	       [FORM_JA] = branch_step,
		[FORM_JCOND] = branch_step,    [FORM_MAYGOTO] = branch_step,
		[FORM_CALL] = call_step,       [FORM_CALLSUB] = sub_step,
		[FORM_CALLKFUNC] = kfunc_step, [FORM_CALLX] = step_refuse,
		[FORM_TAILCALL] = call_step,   [FORM_EXIT] = exit_step,
		[FORM_CAST] = step_refuse,     [FORM_PERCPU] = step_refuse,
		[FORM_NOSPEC] = step_refuse,   [FORM_THROW] = step_refuse,
	};

	return by_form[op_row(op_at(v))->form](v);
}
