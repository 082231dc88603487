/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stack, byte by byte: spilled registers, zeroes, data. Bytes never written may be read as
 * unknown numbers, as for a privileged user of the kernel.
 */
#include "verify/ver.h"

#include <inttypes.h>
#include <string.h>

/* Slot and place in slot of the byte at `off` (below 0). */
static uint32_t slot_at(int64_t off)
{
	return (uint32_t)(-off - 1) / 8;
}

static uint8_t *byte_at(struct frame *f, int64_t off)
{
	return &f->slot[slot_at(off)].type[(-off - 1) % 8];
}

static void slot_scratch(struct ver *v, uint32_t k)
{
	v->scratched_slots |= 1ull << k;
}

/* The slot holds data from now on. That zeroes beside the spilled bytes are forgotten too is what
 * the kernel does. */
static void slot_scrub(struct slot *s)
{
	for (int i = 0; i < 8; i++) {
		if (s->type[i] != SLOT_NONE)
			s->type[i] = SLOT_MISC;
	}
	reg_set_none(&s->spill);
}

static unsigned number_width(const struct reg *r)
{
	return r->s.d.umax ? 64 - (unsigned)__builtin_clzll(r->s.d.umax) : 0;
}

/* The range [off, off + size) lies in the frame for every value of the pointer; the stack is made
 * as deep as that needs. */
static int bounds_check(struct ver *v, unsigned addr, int32_t off, uint32_t size, const char *what)
{
	const struct reg *r = reg(v, addr);
	struct frame *f = v->cur->frame[r->frame];
	bool fixed = scalar_is_one(&r->s);
	int64_t min, max;
	char bits[48];

	if (!fixed && (r->s.d.smax >= VAR_OFF_MAX || r->s.d.smin <= -VAR_OFF_MAX))
		return fail(v, -EACCES, "invalid unbounded variable-offset %s stack R%u", what,
			    addr);
	min = off + (fixed ? (int64_t)r->s.d.val : r->s.d.smin);
	max = off + (fixed ? (int64_t)r->s.d.val : r->s.d.smax) + size;
	if (min < -BPF_STACK || min > -1 || max > 0) {
		if (fixed)
			return fail(v, -EACCES, "invalid %s stack R%u off=%" PRId64 " size=%d",
				    what, addr, min, (int)size);
		return fail(v, -EACCES,
			    "invalid variable-offset %s stack R%u var_off=%s off=%d "
			    "size=%d",
			    what, addr, bits_text(&r->s, bits, sizeof(bits)), off, (int)size);
	}
	if (v->sub[f->sub].depth < (uint32_t)-min)
		v->sub[f->sub].depth = (uint32_t)-min;
	return frame_grow(f, slot_at(min) + 1);
}

/* -- reads */

static bool byte_readable(struct frame *f, int64_t off)
{
	return *byte_at(f, off) != SLOT_DYNPTR && *byte_at(f, off) != SLOT_ITER;
}

static void read_bytes(struct ver *v, struct frame *f, int64_t min, int64_t max, int dst)
{
	bool zero = true;

	for (int64_t i = min; i < max; i++) {
		zero &= *byte_at(f, i) == SLOT_ZERO;
		slot_live_read(v, f, slot_at(i));
		slot_scratch(v, slot_at(i));
	}
	if (dst < 0)
		return;
	if (zero)
		reg_set_const(reg(v, (unsigned)dst), 0);
	else
		reg_set_unknown(reg(v, (unsigned)dst));
	reg(v, (unsigned)dst)->live |= LIVE_WRITTEN;
}

static unsigned spill_size(const struct slot *s)
{
	unsigned n = 0;

	while (n < 8 && s->type[7 - n] == SLOT_SPILL)
		n++;
	return n;
}

/* A part of a spilled number. True when the register's value still depends on that number. */
static bool fill_part(struct ver *v, struct frame *f, int64_t off, const struct access *a)
{
	struct slot *s = &f->slot[slot_at(off)];
	struct reg *dst = reg(v, (unsigned)a->reg);
	unsigned spilled = 0, zero = 0;

	if (off % 8 == 0 && a->size <= spill_size(s)) {
		reg_set(dst, &s->spill);
		if (number_width(&s->spill) > a->size * 8)
			dst->id = 0;
		dst->live |= LIVE_WRITTEN;
		return true;
	}
	for (uint32_t i = 0; i < a->size; i++) {
		spilled += *byte_at(f, off + i) == SLOT_SPILL;
		zero += *byte_at(f, off + i) == SLOT_ZERO;
	}
	dst->live |= LIVE_WRITTEN;
	if (spilled == a->size && reg_is_zero(&s->spill)) {
		reg_set_const(dst, 0);
		return true;
	}
	if (zero == a->size)
		reg_set_const(dst, 0);
	else
		reg_set_unknown(dst);
	return false;
}

static int read_spill(struct ver *v, uint8_t frame, int64_t off, const struct access *a)
{
	struct frame *f = v->cur->frame[frame];
	struct slot *s = &f->slot[slot_at(off)];
	bool whole = a->size == 8 && spill_size(s) == 8, depends = true;

	if (!whole && s->spill.kind != KIND_SCALAR)
		return fail(v, -EACCES, "invalid size of register fill");
	slot_live_read(v, f, slot_at(off));
	slot_scratch(v, slot_at(off));
	if (whole && a->reg >= 0) {
		reg_set(reg(v, (unsigned)a->reg), &s->spill);
		reg(v, (unsigned)a->reg)->live |= LIVE_WRITTEN;
	} else if (a->reg >= 0) {
		depends = fill_part(v, f, off, a);
	}
	return depends ? hist_stack(v, frame, slot_at(off)) : 0;
}

static int read_fixed(struct ver *v, uint8_t frame, int64_t off, const struct access *a)
{
	struct frame *f = v->cur->frame[frame];

	/* An access inside one slot; alignment to its size has been checked. */
	if (slot_is_spill(&f->slot[slot_at(off)]))
		return read_spill(v, frame, off, a);
	for (int i = 0; i < (int)a->size; i++) {
		if (!byte_readable(f, off + i))
			return fail(v, -EACCES, "invalid read from stack off %d+%d size %d",
				    (int)off, i, (int)a->size);
	}
	read_bytes(v, f, off, off + a->size, a->reg);
	return 0;
}

static int read_varying(struct ver *v, unsigned addr, int32_t off, const struct access *a)
{
	const struct reg *r = reg(v, addr);
	struct frame *f = v->cur->frame[r->frame];
	int64_t min = off + r->s.d.smin, max = off + r->s.d.smax + a->size;
	bool later;
	int err = stack_range(v, addr, off, a->size, false, false, false, &later);

	if (!err)
		read_bytes(v, f, min, max, a->reg);
	return err;
}

/* -- writes */

static void spill(struct slot *s, const struct reg *r, uint32_t size)
{
	reg_set(&s->spill, r);
	if (size == 8)
		s->spill.live |= LIVE_WRITTEN;
	for (uint32_t i = 0; i < 8; i++) {
		if (i < size)
			s->type[7 - i] = SLOT_SPILL;
		else if (s->type[7 - i] == SLOT_SPILL)
			s->type[7 - i] = SLOT_MISC;
	}
}

/* Copies of a number are linked by an id; one that needs more bits than are stored is not. */
static void spill_number(struct ver *v, struct slot *s, struct reg *r, uint32_t size)
{
	bool fits = number_width(r) <= 8 * size;

	if (fits && r->id & ID_PLUS_OFF) {
		r->id = 0;
		r->off = 0;
	}
	if (fits && !r->id && !scalar_is_one(&r->s))
		r->id = id_new(v);
	spill(s, r, size);
	if (!fits)
		s->spill.id = 0;
}

static int spill_pointer(struct ver *v, struct slot *s, uint8_t frame, const struct reg *r,
			 uint32_t size)
{
	if (size != 8)
		return fail(v, -EACCES, "invalid size of register spill");
	if (frame != v->cur->top && r->kind == KIND_STACK)
		return fail(v, -EINVAL,
			    "cannot spill pointers to stack into stack frame of the caller");
	spill(s, r, size);
	return 0;
}

/* Data, which replaces whatever register was spilled there. */
static int write_data(struct ver *v, struct frame *f, int64_t off, const struct access *a)
{
	struct slot *s = &f->slot[slot_at(off)];
	bool zero = a->reg >= 0 ? reg_is_zero(reg(v, (unsigned)a->reg)) : a->has_imm && !a->imm;
	int err = 0;

	if (slot_is_spill(s))
		slot_scrub(s);
	reg_set_none(&s->spill);
	if (a->size == 8)
		s->spill.live |= LIVE_WRITTEN;
	if (zero && a->reg >= 0)
		err = precise_mark(v, (unsigned)a->reg);
	for (uint32_t i = 0; i < a->size; i++)
		*byte_at(f, off + i) = zero ? SLOT_ZERO : SLOT_MISC;
	return err;
}

static int write_fixed(struct ver *v, uint8_t frame, int64_t off, const struct access *a)
{
	struct frame *f = v->cur->frame[frame];
	struct slot *s = &f->slot[slot_at(off)];
	struct reg *r = a->reg >= 0 ? reg(v, (unsigned)a->reg) : NULL;
	struct reg imm = { .kind = KIND_SCALAR, .s = scalar_one((uint64_t)a->imm) };
	int err = 0;

	slot_scratch(v, slot_at(off));
	err = object_overwrite(v, f, slot_at(off));
	if (err)
		return err;
	if (r && reg_is_ptr(r))
		err = spill_pointer(v, s, frame, r, a->size);
	else if (r && off % 8 == 0)
		spill_number(v, s, r, a->size);
	else if (a->has_imm && off % 8 == 0)
		spill(s, &imm, a->size);
	else
		return write_data(v, f, off, a);
	return err ? err : hist_stack(v, frame, slot_at(off));
}

/* Any of the bytes may have been written, none surely. */
static int write_varying(struct ver *v, unsigned addr, int32_t off, const struct access *a)
{
	const struct reg *r = reg(v, addr);
	struct frame *f = v->cur->frame[r->frame];
	bool zero = a->reg >= 0 ? reg_is_zero(reg(v, (unsigned)a->reg)) : a->has_imm && !a->imm;
	bool used = false;

	for (int64_t i = off + r->s.d.smin; i < off + r->s.d.smax + a->size; i++) {
		int err = object_overwrite(v, f, slot_at(i));

		if (err)
			return err;
	}
	for (int64_t i = off + r->s.d.smin; i < off + r->s.d.smax + a->size; i++) {
		struct slot *s = &f->slot[slot_at(i)];
		uint8_t *type = byte_at(f, i);

		slot_scratch(v, slot_at(i));
		if (zero && *type == SLOT_SPILL && reg_is_zero(&s->spill)) {
			used = true;
			continue;
		}
		if (slot_is_spill(s))
			slot_scrub(s);
		used |= zero && *type == SLOT_ZERO;
		if (!zero || *type != SLOT_ZERO)
			*type = SLOT_MISC;
	}
	return used && a->reg >= 0 ? precise_mark(v, (unsigned)a->reg) : 0;
}

int stack_access(struct ver *v, unsigned addr, const struct access *a)
{
	const struct reg *r = reg(v, addr);
	int32_t off = a->off + r->off;
	bool fixed = scalar_is_one(&r->s);
	int64_t at = off + (int64_t)r->s.d.val;
	int err = bounds_check(v, addr, off, a->size, a->write ? "write to" : "read from");

	if (err)
		return err;
	if (a->write)
		return fixed ? write_fixed(v, r->frame, at, a) : write_varying(v, addr, off, a);
	return fixed ? read_fixed(v, r->frame, at, a) : read_varying(v, addr, off, a);
}

/* A helper may write the byte (the kernel assumes it even of arguments that are only read): what
 * was known of it is lost. */
static void clobber(struct slot *s, uint8_t *type)
{
	if (slot_is_spill(s)) {
		slot_scrub(s);
		reg_set_unknown(&s->spill);
	}
	*type = SLOT_MISC;
}

/* A helper fills the bytes without reading them. */
static int raw_check(struct ver *v, struct frame *f, int64_t min, int64_t max)
{
	for (int64_t i = min; i < max; i++) {
		if (*byte_at(f, i) == SLOT_DYNPTR)
			return fail(v, -EACCES, "potential write to dynptr at off=%d disallowed",
				    (int)i);
	}
	return 0;
}

/* Byte `i` of the range from `min` holds what only its own helpers may read. */
static int range_refuse(struct ver *v, unsigned addr, int64_t min, int64_t i, uint32_t size,
			bool helper)
{
	const struct reg *r = reg(v, addr);
	const char *how = helper ? " indirect" : "";
	char bits[48];

	if (scalar_is_one(&r->s))
		return fail(v, -EACCES, "invalid%s read from stack R%u off %d+%d size %d", how,
			    addr, (int)min, (int)(i - min), (int)size);
	return fail(v, -EACCES, "invalid%s read from stack R%u var_off %s+%d size %d", how, addr,
		    bits_text(&r->s, bits, sizeof(bits)), (int)(i - min), (int)size);
}

int stack_range(struct ver *v, unsigned addr, int32_t off, uint32_t size, bool zero_ok, bool helper,
		bool raw, bool *later)
{
	const struct reg *r = reg(v, addr);
	struct frame *f = v->cur->frame[r->frame];
	bool fixed = scalar_is_one(&r->s);
	int64_t min, max;
	int err;

	*later = false;
	if (!size && !zero_ok)
		return fail(v, -EACCES, "invalid zero-sized read");
	err = bounds_check(v, addr, off, size, "indirect access to");
	if (err)
		return err;
	min = off + (fixed ? (int64_t)r->s.d.val : r->s.d.smin);
	max = off + (fixed ? (int64_t)r->s.d.val : r->s.d.smax) + size;
	if (raw && fixed) {
		*later = true;
		return raw_check(v, f, min, max);
	}
	for (int64_t i = min; i < max; i++) {
		if (!byte_readable(f, i))
			return range_refuse(v, addr, min, i, size, helper);
		if (helper)
			clobber(&f->slot[slot_at(i)], byte_at(f, i));
		slot_live_read(v, f, slot_at(i));
	}
	return 0;
}
