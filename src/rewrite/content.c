/* SPDX-License-Identifier: BSD-2-Clause */
#include "rewrite/content.h"

#include <linux/bpf.h>
#include <string.h>

static const struct content nothing = { ANYTHING, 0 };

void contents_forget(struct contents *k)
{
	memset(k, 0, sizeof(*k));
	k->r[BPF_FP] = (struct content){ FRAME, 0 };
}

static void stack_forget(struct contents *k)
{
	memset(k->word, 0, sizeof(k->word));
}

/* Registers change: words that are copies of them are copies no longer. */
static void regs_forget(struct contents *k, uint16_t regs)
{
	for (unsigned i = 0; i < BPF_REGS; i++)
		if (regs >> i & 1)
			k->r[i] = nothing;
	for (unsigned i = 0; i < CONTENT_WORDS; i++)
		if (k->word[i].c.is == COPY && regs >> k->word[i].c.value & 1)
			k->word[i].off = 0;
}

static bool is_wide(const struct op *op)
{
	return !(op->mode & (OP_W32 | OP_SX));
}

static struct content moved(const struct contents *k, const struct op *op)
{
	bool reg = op->mode & OP_REG;
	struct content c = reg ? k->r[op->src] : (struct content){ CONSTANT, op->imm };

	if (op->mode & OP_SX || (op->mode & OP_W32 && c.is != CONSTANT))
		return nothing;
	if (op->mode & OP_W32)
		c.value = (uint32_t)c.value;
	return c;
}

static struct content added(const struct contents *k, const struct op *op)
{
	struct content c = k->r[op->dst];
	int64_t off = (int64_t)((uint64_t)c.value + (uint64_t)op->imm);

	if (!is_wide(op))
		return nothing;
	if (!(op->mode & OP_REG) && (c.is == CONSTANT || (c.is == FRAME && off == (int16_t)off)))
		return (struct content){ c.is, off };
	return (struct content){ c.is == ADDRESS ? ADDRESS : ANYTHING, 0 };
}

static struct content result(const struct contents *k, const struct op *op, const struct fact *fact)
{
	switch (op->code) {
	case OP_MOV:
		return moved(k, op);
	case OP_ADD:
		return added(k, op);
	case OP_LDIMM:
		return fact->address ? (struct content){ ADDRESS, 0 }
				     : (struct content){ CONSTANT, op->imm };
	case OP_LDMAP:
	case OP_LDVALUE:
	case OP_PERCPU:
		return (struct content){ ADDRESS, 0 };
	default:
		return nothing;
	}
}

static void word_forget(struct contents *k, int64_t off)
{
	for (unsigned i = 0; i < CONTENT_WORDS; i++)
		if (k->word[i].off == off)
			k->word[i].off = 0;
}

static void word_set(struct contents *k, int64_t off, struct content c)
{
	k->word[k->next] = (struct content_word){ (int32_t)off, c };
	k->next = (k->next + 1) % CONTENT_WORDS;
}

/* The low or the high half of what is stored. */
static void half_store(struct contents *k, const struct op *op, int64_t off, unsigned half)
{
	bool reg = op->mode & OP_REG;
	struct content c = reg ? k->r[op->src] : (struct content){ CONSTANT, op->imm };

	if (c.is == CONSTANT)
		word_set(k, off,
			 (struct content){ CONSTANT, (uint32_t)((uint64_t)c.value >> 32 * half) });
	else if (reg && !half && op->src != BPF_FP)
		word_set(k, off, (struct content){ COPY, op->src });
}

static void note_store(struct contents *k, const struct op *op)
{
	struct content base = k->r[op->dst];
	int64_t off = base.value + op->off;
	unsigned size = op_size(op);

	if (base.is == ADDRESS)
		return;
	if (base.is != FRAME || op->code != OP_ST) {
		stack_forget(k);
		return;
	}
	for (int64_t at = off & ~3ll; at < off + size; at += 4)
		word_forget(k, at);
	if (size >= 4 && off % 4 == 0)
		half_store(k, op, off, 0);
	if (size == 8 && off % 4 == 0)
		half_store(k, op, off + 4, 1);
}

/* Calls that write nothing: a look-up's key stays what it is. */
static bool leaves_stack(const struct op *op, const struct fact *fact)
{
	return fact->address || (op->code == OP_CALL && op->imm == BPF_FUNC_map_lookup_elem);
}

static void note_call(struct contents *k, const struct op *op, const struct fact *fact)
{
	if (!leaves_stack(op, fact))
		stack_forget(k);
	regs_forget(k, 0x3f | 1 << BPF_AX | 1 << BPF_BX);
	k->r[0].is = fact->address ? ADDRESS_OR_ZERO : ANYTHING;
}

void contents_step(struct contents *k, const struct op *op, const struct fact *fact)
{
	struct content c;

	if (op_has(op, P_JUMP)) {
		k->r[op->dst] = content_tested(op, k->r[op->dst], false);
	} else if (op_has(op, P_CALL) || op_row(op)->form == FORM_LDABS) {
		note_call(k, op, fact);
	} else {
		c = result(k, op, fact);
		if (op_has(op, P_MEM) && op_has(op, P_READS_DST))
			note_store(k, op);
		regs_forget(k, op_writes(op));
		if (op_has(op, P_WRITES_DST))
			k->r[op->dst] = c;
	}
}

static struct content word_at(const struct contents *k, int64_t off)
{
	for (unsigned i = 0; i < CONTENT_WORDS; i++)
		if (off && k->word[i].off == off)
			return k->word[i].c;
	return nothing;
}

struct content contents_stack(const struct contents *k, int64_t off, unsigned n)
{
	struct content low = word_at(k, off), high = word_at(k, off + 4);

	if (n == 4)
		return low;
	if (n != 8 || low.is != CONSTANT || high.is != CONSTANT)
		return nothing;
	low.value |= (int64_t)((uint64_t)high.value << 32);
	return low;
}

bool is_zero_test(const struct op *op)
{
	return (op->code == OP_JEQ || op->code == OP_JNE) && !(op->mode & (OP_REG | OP_W32)) &&
	       !op->imm;
}

struct content content_tested(const struct op *op, struct content c, bool jumps)
{
	if (!is_zero_test(op) || c.is == CONSTANT)
		return c;
	if (jumps == (op->code == OP_JEQ))
		return (struct content){ CONSTANT, 0 };
	if (c.is == ADDRESS_OR_ZERO)
		c.is = ADDRESS;
	else if (c.is == ANYTHING)
		c.is = NOT_ZERO;
	return c;
}

int content_outcome(const struct op *test, const struct content *c)
{
	bool zero = c->is == CONSTANT && !c->value;

	if (c->is == ANYTHING || c->is == ADDRESS_OR_ZERO)
		return -1;
	return zero == (test->code == OP_JEQ);
}

void contents_join(struct contents *k, const struct unit *u, uint32_t i, uint8_t join)
{
	if (join == JOIN_ANY)
		contents_forget(k);
	if (join == JOIN_STORE) {
		regs_forget(k, (uint16_t)(1u << u->ops[i - 2].dst));
		stack_forget(k);
	}
}

static bool skips_store(const struct unit *u, uint32_t i, uint32_t to)
{
	return op_row(&u->ops[i])->form == FORM_JCOND && to == i + 2 &&
	       u->ops[i + 1].code == OP_ST && u->ops[i].dst != BPF_FP;
}

void joins_find(const struct unit *u, const uint32_t *to, uint8_t *joins)
{
	memset(joins, 0, u->n_ops);
	for (uint32_t s = 0; s < u->n_subs; s++)
		joins[u->subs[s]] = JOIN_ANY;
	for (uint32_t i = 0; i < u->n_ops; i++)
		if (op_has(&u->ops[i], P_JUMP))
			joins[to[i]] =
			    !joins[to[i]] && skips_store(u, i, to[i]) ? JOIN_STORE : JOIN_ANY;
}
