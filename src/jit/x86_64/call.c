/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames, calls and addresses. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "jit/private.h"
#include "jit/x86_64/x86_64.h"

enum { NEAR_REACH = INT32_MAX - 4096, RED_ZONE = 128 };

void x86_mov_address(struct builder *b, uint8_t dst, uint64_t address)
{
	if (address > UINT32_MAX && builder_near(b, address, NEAR_REACH)) {
		builder_fixup(b, builder_here(b), FIXUP_LEA, address);
		x_lea_rip(b, dst, 0);
	} else {
		x86_mov_imm(b, dst, address);
	}
}

void x86_call(struct builder *b, uint64_t address)
{
	static const uint8_t call[5] = { 0xe8 };

	if (builder_near(b, address, NEAR_REACH)) {
		builder_fixup(b, builder_here(b), FIXUP_CALL, address);
		builder_put(b, call, sizeof(call));
	} else {
		x86_mov_imm(b, RAX, address);
		x_call_r(b, 0, RAX);
	}
}

int x86_fixup(uint8_t *p, uint8_t kind, uint64_t at, uint64_t address)
{
	unsigned opcode = kind == FIXUP_CALL ? 1 : 3;
	int64_t rel = (int64_t)(address - (at + opcode + 4));
	int32_t v = (int32_t)rel;

	if (v != rel)
		return -ERANGE;
	memcpy(p + opcode, &v, sizeof(v));
	return 0;
}

void x86_call_table(struct builder *b, uint8_t dst, const helper_fn *table, uint32_t n)
{
	uint32_t bad = builder_labels(b, 2), done = bad + 1;

	x86_cmp_imm(b, 1, dst, n);
	x86_jcc(b, CC_AE, bad);
	x86_mov_imm(b, TMP, (uint64_t)(uintptr_t)table);
	x_mov_load_x(b, 1, TMP, TMP, dst, 3, 0);
	x_test_rr(b, 1, TMP, TMP);
	x86_jcc(b, CC_E, bad);
	x_call_r(b, 0, TMP);
	x86_jump(b, done);
	builder_bind(b, bad);
	x86_mov_imm(b, RAX, (uint64_t)-EOPNOTSUPP);
	builder_bind(b, done);
}

void x86_call_label(struct builder *b, uint32_t label)
{
	builder_branch(b, (struct branch){ .label = label, .kind = BRANCH_CALL });
}

void x86_label_address(struct builder *b, uint8_t dst, uint32_t label)
{
	builder_branch(b, (struct branch){ .label = label, .kind = BRANCH_LEA, .reg = dst });
}

void x86_thunk(struct builder *b, uint32_t label)
{
	x_push_fs(b, b->tail_tp);
	x_and_fs_i8(b, b->tail_tp, 0);
	x86_call_label(b, label);
	x_pop_fs(b, b->tail_tp);
	x_ret(b);
}

/* The arguments stay; what to run is the C function's sixth. */
void x86_catch(struct builder *b, uint32_t label, uint64_t address)
{
	x86_label_address(b, R9, label);
	x86_mov_address(b, TMP, address);
	x_jmp_r(b, 0, TMP);
}

/* TMP = this slot's memory, TMP2 = offset of the area in use, which lies there. */
static void private_head(struct builder *b)
{
	x_mov_load_fs(b, TMP, b->percpu_tp);
	x_mov_load(b, 1, TMP2, TMP, b->private.off);
}

void x86_private_enter(struct builder *b, uint32_t label)
{
	uint32_t none = builder_labels(b, 1);
	int64_t stride = private_stride(b);

	private_head(b);
	x_cmp_ri32(b, 1, TMP2, stride * (PRIVATE_AREAS - 1));
	x86_jcc(b, CC_AE, none);
	x_add_ri32(b, 1, TMP2, stride);
	x_mov_store(b, 1, TMP2, TMP, b->private.off);
	x_push(b, 0, RAX); /* the stack's alignment */
	x86_call_label(b, label);
	x_pop(b, 0, RCX);
	private_head(b);
	x_sub_ri32(b, 1, TMP2, stride);
	x_mov_store(b, 1, TMP2, TMP, b->private.off);
	x_ret(b);
	builder_bind(b, none);
	x_xor_rr(b, 0, RAX, RAX);
	x_ret(b);
}

/* rbp for a frame in the area in use. */
static void private_base(struct builder *b, const struct frame *f)
{
	private_head(b);
	x_lea_x(b, 1, RBP, TMP, TMP2, 0, b->private.off + (int64_t)f->private_off - f->bias);
}

/* How a frame lies on the stack, from the return address down: what is saved, rbp, and `local`
 * bytes below it. */
struct shape {
	bool fp;
	uint32_t local; /* bytes that rsp is moved by */
};

static const struct {
	uint8_t bpf, native;
} saved[] = { { 6, RBX }, { 7, R13 }, { 8, R14 }, { 9, R15 }, { BPF_BX, R12 } };
enum { SAVED = sizeof(saved) / sizeof(*saved) };

static bool is_saved(const struct frame *f, unsigned i)
{
	return f->writes >> saved[i].bpf & 1;
}

/* At calls rsp is a multiple of 16. Where nothing is called, what is below rsp is ours as far as
 * the red zone goes, unless atomics in the arena push there. */
static struct shape shape_of(const struct frame *f)
{
	uint32_t bytes = 8u + 8u * f->fp;
	uint32_t local = f->fp && !f->is_private ? f->stack + 8u * f->loops : 0;

	for (unsigned i = 0; i < SAVED; i++)
		bytes += 8u * is_saved(f, i);
	if (f->calls)
		local += (bytes + local) % 16;
	else if (local <= RED_ZONE && !f->arenas)
		local = 0;
	return (struct shape){ f->fp, local };
}

/* A displacement of one byte reaches 128 bytes below the frame register; with the register set
 * lower, up to 248 bytes below r10. Each access that comes into reach saves 3 bytes, each address
 * made from r10 costs one, entering and leaving 6. */
int32_t x86_bias(const struct frame *f, const uint32_t *depth, uint32_t moves)
{
	int64_t gain = -(int64_t)moves - 6, best_gain = 0;
	int32_t best = 0;

	for (int32_t bias = 1; bias <= 120; bias++) {
		gain += 3 * (int64_t)depth[RED_ZONE + bias];
		if (bias % 8 == 0 && gain > best_gain) {
			best_gain = gain;
			best = bias;
		}
	}
	return best;
}

void x86_enter(struct builder *b, const struct frame *f)
{
	struct shape s = shape_of(f);

	for (unsigned i = 0; i < SAVED; i++)
		if (is_saved(f, i))
			x_push(b, 0, saved[i].native);
	if (s.fp) {
		x_push(b, 0, RBP);
		if (f->is_private)
			private_base(b, f);
		else if (f->bias)
			x_lea(b, 1, RBP, RSP, -(int64_t)f->bias);
		else
			x_mov_rr(b, 1, RBP, RSP);
	}
	if (s.local == 8 && (!s.fp || f->is_private))
		x_push(b, 0, RAX);
	else if (s.local && s.local < 128)
		x_sub_ri8(b, 1, RSP, s.local);
	else if (s.local)
		x_sub_ri32(b, 1, RSP, s.local);
	if (f->loops)
		x_mov_mi32(b, 1, RBP, f->bias - (int64_t)f->stack - 8, 8 << 20);
}

/* Pops the frame: rsp is as it was at entry. r0 and r1-r3 keep their values. */
static void frame_pop(struct builder *b, const struct frame *f)
{
	struct shape s = shape_of(f);

	if (s.local && (!s.fp || f->is_private))
		x_pop(b, 0, RCX);
	if (f->bias && !f->is_private)
		x_lea(b, 1, RSP, RBP, f->bias);
	if (s.fp && s.local && !f->bias && !f->is_private)
		x_leave(b);
	else if (s.fp)
		x_pop(b, 0, RBP);
	for (unsigned i = SAVED; i-- > 0;)
		if (is_saved(f, i))
			x_pop(b, 0, saved[i].native);
}

void x86_leave(struct builder *b, const struct frame *f)
{
	frame_pop(b, f);
	x_ret(b);
}

unsigned x86_leave_size(const struct frame *f)
{
	unsigned size = 1 + (f->fp || shape_of(f).local) + (f->bias ? 4 : 0) + f->is_private;

	for (unsigned i = 0; i < SAVED; i++)
		size += is_saved(f, i) * (saved[i].native < R8 ? 1u : 2u);
	return size;
}

/* r1: context, r2: map, r3: index, a 32-bit value. Enters the callee as if it had been called in
 * place of the running subprogram, or goes to `out`. */
static void tail_enter(struct builder *b, const struct frame *f, uint32_t out)
{
	enum { TAIL = TAIL_ARRAY_OFFSET };

	x_cmp_mr(b, 0, RDX, RSI, TAIL + offsetof(struct tail_array, n));
	x86_jcc(b, CC_BE, out);
	x_cmp_fs_i8(b, b->tail_tp, TAIL_CALL_LIMIT);
	x86_jcc(b, CC_AE, out);
	x_mov_rr(b, 0, RDX, RDX);
	x_mov_load_x(b, 1, TMP, RSI, RDX, 3, TAIL_SLOTS_OFFSET);
	x_test_rr(b, 1, TMP, TMP);
	x86_jcc(b, CC_E, out);
	x_mov_load(b, 1, TMP, TMP, offsetof(struct callee, native));
	x_test_rr(b, 1, TMP, TMP);
	x86_jcc(b, CC_E, out);
	x_inc_fs(b, b->tail_tp);
	frame_pop(b, f);
	x_jmp_r(b, 0, TMP);
}

/* Where several tail calls share the sequence, each says in TMP2 where it goes on. */
void x86_tail_call(struct builder *b, const struct frame *f)
{
	uint32_t out = builder_labels(b, 1);

	if (f->tail_calls > 1) {
		x86_label_address(b, TMP2, out);
		x86_jump(b, f->tail);
	} else {
		tail_enter(b, f, out);
	}
	builder_bind(b, out);
	if (f->tail_calls > 1 && b->opts->landing_pads)
		x_endbr64(b);
}

void x86_tail_shared(struct builder *b, const struct frame *f)
{
	uint32_t out = builder_labels(b, 1);

	tail_enter(b, f, out);
	builder_bind(b, out);
	x_jmp_r(b, 0, TMP2);
}
