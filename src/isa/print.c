/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text of ops in two syntaxes that share nearly everything: one printer for each form, with the
 * few differences decided in it. What this prints, parse.c reads.
 */
#include "isa/print.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/helper.h"
#include "isa/wire.h"

/* Names of access sizes by log2, unsigned and signed. */
static const char *const size_names[2][4] = { { "u8", "u16", "u32", "u64" },
					      { "s8", "s16", "s32", "s64" } };

struct print {
	const struct unit *u;
	const struct op *op;
	uint32_t i;
	bool kernel;
	char *buf;
	unsigned size, n;
};

static void __attribute__((format(printf, 2, 3))) put(struct print *p, const char *fmt, ...)
{
	unsigned room = p->size - p->n;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(p->buf + p->n, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		p->n += (unsigned)n < room ? (unsigned)n : room - 1;
}

static const char *size_name(const struct op *op)
{
	return size_names[(op->mode & OP_SX) != 0][op_size_log(op)];
}

/* The letter of registers that the op uses at its own width. */
static char width_letter(const struct op *op)
{
	return op->mode & OP_W32 ? 'w' : 'r';
}

/* The letter of registers at an access's width; the kernel always prints r. */
static char size_letter(const struct print *p)
{
	return !p->kernel && op_size_log(p->op) < 3 ? 'w' : 'r';
}

static const char *access_prefix(const struct op *op)
{
	if (op->mode & OP_ARENA)
		return "arena ";
	return op->mode & OP_PROBE ? "probe " : "";
}

/* "(r1 + 4" or "(r1 +4", without the closing bracket. */
static void put_base(struct print *p, unsigned reg)
{
	int off = p->op->off;

	if (p->kernel)
		put(p, "(r%u %+d", reg, off);
	else
		put(p, "(r%u %c %u", reg, off < 0 ? '-' : '+',
		    off < 0 ? 0u - (unsigned)off : (unsigned)off);
}

/* "*(u32 *)(r1 + 4)" */
static void put_access(struct print *p, unsigned reg)
{
	put(p, "*(%s *)", size_name(p->op));
	put_base(p, reg);
	put(p, ")");
}

/* "(u32 *)(r1 + 4)" as an argument */
static void put_place(struct print *p, unsigned reg)
{
	put(p, "(%s *)", size_name(p->op));
	put_base(p, reg);
	put(p, ")");
}

/* Register src at the op's width, or imm. */
static void put_operand(struct print *p)
{
	if (p->op->mode & OP_REG)
		put(p, "%c%u", width_letter(p->op), p->op->src);
	else
		put(p, "%d", (int)p->op->imm);
}

static long distance(const struct print *p)
{
	return (long)p->u->slot[unit_target(p->u, p->i)] - p->u->slot[p->i] - 1;
}

static void put_target(struct print *p)
{
	if (p->kernel)
		put(p, " pc%+ld", distance(p));
	else
		put(p, " L%u", unit_target(p->u, p->i));
}

static void put_sub(struct print *p, uint32_t sub)
{
	const char *name = print_sub_name(p->u, sub);

	if (name)
		put(p, "%s", name);
	else
		put(p, "sub%u", sub);
}

static void print_alu(struct print *p)
{
	put(p, "%c%u %s ", width_letter(p->op), p->op->dst, op_row(p->op)->text);
	put_operand(p);
}

static void print_neg(struct print *p)
{
	char c = width_letter(p->op);

	put(p, "%c%u = -%c%u", c, p->op->dst, c, p->op->dst);
}

static void print_mov(struct print *p)
{
	put(p, "%c%u = ", width_letter(p->op), p->op->dst);
	if (p->op->mode & OP_SX)
		put(p, "(%s)", size_name(p->op));
	put_operand(p);
}

static void print_end(struct print *p)
{
	put(p, "r%u = %s%d r%u", p->op->dst, op_row(p->op)->text, (int)p->op->imm, p->op->dst);
}

static void print_ldimm(struct print *p)
{
	if (p->kernel)
		put(p, "r%u = 0x%llx", p->op->dst, (unsigned long long)p->op->imm);
	else
		put(p, "r%u = %lld ll", p->op->dst, (long long)p->op->imm);
}

/* How the kernel names what LDMAP and its kin load: before the number, and before the offset
 * (NULL: there is none). */
static const struct {
	const char *number, *offset;
} kernel_refs[OP_COUNT] = {
	[OP_LDMAP] = { "map[id:", NULL },     [OP_LDVALUE] = { "map[id:", "[0]" },
	[OP_LDMAPIDX] = { "map[idx:", NULL }, [OP_LDVALUEIDX] = { "map[idx:", "" },
	[OP_LDBTF] = { "btf[id:", "" },
};

static void print_ref(struct print *p, int id)
{
	const char *tail = kernel_refs[p->op->code].offset;

	put(p, "r%u = %s%d]", p->op->dst, kernel_refs[p->op->code].number, id);
	if (tail)
		put(p, "%s%+d", tail, p->op->off);
	if (!p->kernel)
		put(p, " ll");
}

static void print_ldmap(struct print *p)
{
	const struct op *op = p->op;
	bool index = op->code == OP_LDMAPIDX || op->code == OP_LDVALUEIDX;
	const struct ref *ref = NULL;

	if (!index && op->imm >= 0 && op->imm < (int64_t)p->u->n_refs)
		ref = &p->u->refs[op->imm];
	if (ref && ref->kind == REF_VAR) {
		put(p, "r%u = 0x%llx%s", op->dst, (unsigned long long)ref->addr,
		    p->kernel ? "" : " ll");
	} else if (p->kernel || ref) {
		print_ref(p, ref ? (int)ref->map->id : (int)op->imm);
	} else {
		put(p, "r%u = %s %d", op->dst, op_row(op)->text, (int)op->imm);
		if (op->off)
			put(p, " + %u", (unsigned)op->off);
		put(p, " ll");
	}
}

static void print_ldfunc(struct print *p)
{
	put(p, "r%u = ", p->op->dst);
	if (p->kernel) {
		put(p, "subprog[%+ld]", distance(p));
		return;
	}
	put(p, "func ");
	put_sub(p, unit_sub_of(p->u, unit_target(p->u, p->i)));
	if (p->op->imm)
		put(p, "#%d", (int)p->op->imm);
	put(p, " ll");
}

static void print_ld(struct print *p)
{
	put(p, "r%u = %s", p->op->dst, access_prefix(p->op));
	put_access(p, p->op->src);
}

static void print_st(struct print *p)
{
	put(p, "%s", access_prefix(p->op));
	put_access(p, p->op->dst);
	if (p->op->mode & OP_REG)
		put(p, " = r%u", p->op->src);
	else
		put(p, " = %d", (int)p->op->imm);
}

static void print_ldabs(struct print *p)
{
	put(p, "r0 = *(%s *)skb[", size_name(p->op));
	if (p->op->code == OP_LDABS)
		put(p, "%d]", (int)p->op->imm);
	else if (p->kernel || p->op->imm)
		put(p, "r%u + %d]", p->op->src, (int)p->op->imm);
	else
		put(p, "r%u]", p->op->src);
}

static const char *const fetch_names[OP_COUNT] = {
	[OP_AADD] = "fetch_add", [OP_AOR] = "fetch_or", [OP_AAND] = "fetch_and",
	[OP_AXOR] = "fetch_xor", [OP_XCHG] = "xchg",	[OP_CMPXCHG] = "cmpxchg",
};

static void print_atomic_kernel(struct print *p)
{
	const struct op *op = p->op;
	bool cmp = op->code == OP_CMPXCHG;

	put(p, "r%u = %satomic%s_%s(", cmp ? 0 : op->src, access_prefix(op),
	    op_size_log(op) == 3 ? "64" : "", fetch_names[op->code]);
	put_place(p, op->dst);
	put(p, "%s, r%u)", cmp ? ", r0" : "", op->src);
}

/* LLVM's exchanges: "r2 = xchg_64(r1 + 0, r2)", "w0 = cmpxchg32_32(r1 + 0, w0, w2)" */
static void print_exchange_llvm(struct print *p)
{
	const struct op *op = p->op;
	bool cmp = op->code == OP_CMPXCHG;
	char c = size_letter(p);

	put(p, "%c%u = %s%s%s", c, cmp ? 0 : op->src, access_prefix(op), fetch_names[op->code],
	    c == 'w' ? "32_32" : "_64");
	put_base(p, op->dst);
	if (cmp)
		put(p, ", %c0", c);
	put(p, ", %c%u)", c, op->src);
}

static void print_atomic(struct print *p)
{
	const struct op *op = p->op;
	char c = size_letter(p);

	if (!(op->mode & OP_FETCH)) {
		put(p, "%slock ", access_prefix(op));
		put_access(p, op->dst);
		put(p, " %s %c%u", op_row(op)->text, c, op->src);
	} else if (p->kernel) {
		print_atomic_kernel(p);
	} else if (op->code == OP_XCHG || op->code == OP_CMPXCHG) {
		print_exchange_llvm(p);
	} else {
		put(p, "%c%u = %satomic_%s(", c, op->src, access_prefix(op), fetch_names[op->code]);
		put_place(p, op->dst);
		put(p, ", %c%u)", c, op->src);
	}
}

static void print_acq(struct print *p)
{
	put(p, "%c%u = %sload_acquire(", size_letter(p), p->op->dst, access_prefix(p->op));
	put_place(p, p->op->src);
	put(p, ")");
}

static void print_rel(struct print *p)
{
	put(p, "%sstore_release(", access_prefix(p->op));
	put_place(p, p->op->dst);
	put(p, ", %c%u)", size_letter(p), p->op->src);
}

static void print_ja(struct print *p)
{
	put(p, "goto%s", p->op->mode & OP_W32 ? "l" : "");
	put_target(p);
}

static void print_jcond(struct print *p)
{
	const struct op *op = p->op;

	put(p, "if %c%u %s ", width_letter(op), op->dst, op_row(op)->text);
	if (p->kernel && !(op->mode & OP_REG))
		put(p, "0x%x", (unsigned)op->imm);
	else
		put_operand(p);
	put(p, " goto");
	put_target(p);
}

static void print_maygoto(struct print *p)
{
	put(p, "may_goto");
	put_target(p);
}

/* The kernel shows a number behind each name; LLVM only knows numbers. */
static void print_call_number(struct print *p, int64_t number)
{
	const struct helper *h = helper_find((uint32_t)number);

	if (!p->kernel)
		put(p, "call %d", (int)number);
	else if (h)
		put(p, "call bpf_%s#%d", h->name, (int)number);
	else
		put(p, "call unknown#%d", (int)number);
}

static void print_call(struct print *p)
{
	print_call_number(p, p->op->imm);
}

static void print_callsub(struct print *p)
{
	uint32_t sub = unit_sub_of(p->u, unit_target(p->u, p->i));

	put(p, "call ");
	if (p->kernel)
		put(p, "pc%+ld", distance(p));
	if (p->kernel && print_sub_name(p->u, sub))
		put(p, "#");
	if (!p->kernel || print_sub_name(p->u, sub))
		put_sub(p, sub);
}

static void print_callkfunc(struct print *p)
{
	if (p->kernel)
		put(p, "call kernel-function#%d", (int)p->op->imm);
	else
		put(p, "call kfunc %d", (int)p->op->imm);
	if (p->op->off)
		put(p, " + %d", p->op->off);
}

/* A number is what is left when a unit that refers to nothing is printed. */
static void print_calldirect(struct print *p)
{
	const struct op *op = p->op;
	const char *name = op->imm >= 0 && op->imm < p->u->n_refs ? p->u->refs[op->imm].name : NULL;

	put(p, "call direct ");
	if (p->kernel && name)
		put(p, "%s#", name);
	put(p, "%d", (int)op->imm);
}

static void print_callx(struct print *p)
{
	put(p, "callx r%u", p->op->dst);
}

static void print_tailcall(struct print *p)
{
	if (p->op->mode & OP_REG)
		put(p, "tail_call");
	else
		print_call_number(p, 12);
}

static void print_word(struct print *p)
{
	put(p, "%s", op_row(p->op)->text);
}

static void print_cast(struct print *p)
{
	uint32_t imm = (uint32_t)p->op->imm;

	put(p, "r%u = addr_space_cast(r%u, %u, %u)", p->op->dst, p->op->src, imm >> 16,
	    imm & 0xffff);
}

static void print_percpu(struct print *p)
{
	put(p, "r%u = &(void __percpu *)(r%u)", p->op->dst, p->op->src);
}

static void (*const printers[])(struct print *p) = {
	[FORM_ALU] = print_alu,
	[FORM_NEG] = print_neg,
	[FORM_MOV] = print_mov,
	[FORM_END] = print_end,
	[FORM_LDIMM] = print_ldimm,
	[FORM_LDMAP] = print_ldmap,
	[FORM_LDFUNC] = print_ldfunc,
	[FORM_LD] = print_ld,
	[FORM_ST] = print_st,
	[FORM_LDABS] = print_ldabs,
	[FORM_ATOMIC] = print_atomic,
	[FORM_ACQ] = print_acq,
	[FORM_REL] = print_rel,
	[FORM_JA] = print_ja,
	[FORM_JCOND] = print_jcond,
	[FORM_MAYGOTO] = print_maygoto,
	[FORM_CALL] = print_call,
	[FORM_CALLSUB] = print_callsub,
	[FORM_CALLKFUNC] = print_callkfunc,
	[FORM_CALLDIRECT] = print_calldirect,
	[FORM_CALLX] = print_callx,
	[FORM_TAILCALL] = print_tailcall,
	[FORM_EXIT] = print_word,
	[FORM_CAST] = print_cast,
	[FORM_PERCPU] = print_percpu,
	[FORM_THROW] = print_word,
	[FORM_NOSPEC] = print_word,
};

int op_print(const struct unit *u, uint32_t i, enum print_syntax syntax, char *buf, unsigned size)
{
	struct print p = { u, &u->ops[i], i, syntax == PRINT_KERNEL, buf, size, 0 };
	const struct wire *w = wire_of_op(p.op);

	buf[0] = '\0';
	if (p.kernel)
		put(&p, "(%02x) ", w ? w->opcode : 0);
	printers[op_row(p.op)->form](&p);
	return (int)p.n;
}
