/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of a register that holds a number: a set for the whole register (d) and one for
 * its low half (w). Compiled for 64/32 bits, and for 4/2 bits for tests/prove.
 *
 * Before inclusion: SC (struct name), F(f) (function names), DOM, D(f), U, S, W for the whole and
 * HDOM, H(f), HU, HS for the half. They are undefined at the end.
 */
#define HW	(W / 2)
#define HMAX	((U)(((U)1 << HW) - 1))
#define HSMAX	((HS)(HMAX >> 1))
#define HSMIN	((HS)(-HSMAX - 1))
#define HSGN(x) ((HS)((HU)((HU)(((HU)(x) & HMAX) ^ ((HU)1 << (HW - 1))) - ((HU)1 << (HW - 1)))))

struct SC {
	struct DOM d;
	struct HDOM w;
};

static inline struct SC F(any)(void)
{
	return (struct SC){ D(any)(), H(any)() };
}

static inline struct SC F(one)(U v)
{
	return (struct SC){ D(one)(v), H(one)((HU)(v & HMAX)) };
}

static inline bool F(is_one)(const struct SC *a)
{
	return D(is_one)(&a->d);
}

static inline bool F(has)(const struct SC *a, U v)
{
	return D(has)(&a->d, v) && H(has)(&a->w, (HU)(v & HMAX));
}

/* Known bits of the low half are the same bits in both. */
static inline void F(share_bits)(struct SC *a)
{
	U mask = (a->d.mask & ~HMAX) | (a->d.mask & a->w.mask);

	a->d.val = (a->d.val | a->w.val) & ~mask;
	a->d.mask = mask;
	a->w.val = (HU)(a->d.val & HMAX);
	a->w.mask = (HU)(mask & HMAX);
}

static inline void F(w_meet_u)(struct SC *a, HU min, HU max)
{
	a->w.umin = a->w.umin > min ? a->w.umin : min;
	a->w.umax = a->w.umax < max ? a->w.umax : max;
}

static inline void F(w_meet_s)(struct SC *a, HS min, HS max)
{
	a->w.smin = a->w.smin > min ? a->w.smin : min;
	a->w.smax = a->w.smax < max ? a->w.smax : max;
}

/* An interval whose ends share the upper half is an interval of the low half. One that crosses
 * from upper half -1 to 0 is a signed interval of the low half. */
static inline void F(w_from_ends)(struct SC *a, U min, U max)
{
	HU lo = (HU)(min & HMAX), hi = (HU)(max & HMAX);
	U min_up = (min >> HW) & HMAX, max_up = (max >> HW) & HMAX;

	if (min_up == max_up) {
		F(w_meet_u)(a, lo, hi);
		if (HSGN(lo) <= HSGN(hi))
			F(w_meet_s)(a, HSGN(lo), HSGN(hi));
	} else if (((min_up + 1) & HMAX) == max_up && HSGN(lo) < 0 && HSGN(hi) >= 0) {
		F(w_meet_s)(a, HSGN(lo), HSGN(hi));
	}
}

static inline void F(w_from_d)(struct SC *a)
{
	F(w_from_ends)(a, a->d.umin, a->d.umax);
	F(w_from_ends)(a, (U)a->d.smin, (U)a->d.smax);
}

/* Each end of the whole interval may be moved to the next number whose low half is in w's
 * interval, when that keeps the end's upper half. */
static inline void F(d_from_w)(struct SC *a)
{
	U umin = (a->d.umin & ~HMAX) | a->w.umin, umax = (a->d.umax & ~HMAX) | a->w.umax;
	S smin = (S)(((U)a->d.smin & ~HMAX) | a->w.umin);
	S smax = (S)(((U)a->d.smax & ~HMAX) | a->w.umax);

	a->d.umin = a->d.umin > umin ? a->d.umin : umin;
	a->d.umax = a->d.umax < umax ? a->d.umax : umax;
	a->d.smin = a->d.smin > smin ? a->d.smin : smin;
	a->d.smax = a->d.smax < smax ? a->d.smax : smax;
	if (a->d.smin >= HSMIN && a->d.smax <= HSMAX) {
		a->d.smin = a->d.smin > a->w.smin ? a->d.smin : a->w.smin;
		a->d.smax = a->d.smax < a->w.smax ? a->d.smax : a->w.smax;
	}
}

/* Lets all descriptions learn from each other. Members stay members. */
static inline void F(sync)(struct SC *a)
{
	F(share_bits)(a);
	D(from_bits)(&a->d);
	H(from_bits)(&a->w);
	for (int i = 0; i < 2; i++) {
		F(w_from_d)(a);
		H(from_intervals)(&a->w);
		D(from_intervals)(&a->d);
		F(d_from_w)(a);
		D(from_intervals)(&a->d);
	}
	D(to_bits)(&a->d);
	H(to_bits)(&a->w);
	F(share_bits)(a);
	D(from_bits)(&a->d);
	H(from_bits)(&a->w);
}

static inline bool F(is_empty)(const struct SC *a)
{
	return D(is_empty)(&a->d) || H(is_empty)(&a->w);
}

/* The low half, zero-extended. */
static inline void F(zext)(struct SC *a)
{
	a->d =
	    (struct DOM){ a->w.val, a->w.mask, a->w.umin, a->w.umax, (S)a->w.umin, (S)a->w.umax };
	F(sync)(a);
}

static inline struct SC F(widen)(const struct DOM *d)
{
	struct SC r = { *d, H(any)() };

	F(sync)(&r);
	return r;
}

/* a with its low n bits sign-extended to the whole; 0 < n < W. Known bits are given up unless all
 * are known, as the kernel does. */
static inline struct SC F(sext)(const struct SC *a, unsigned n)
{
	U low = ((U)1 << n) - 1, top = (U)1 << (n - 1);
	S max = (S)(top - 1), min = (S)(-max - 1);
	struct DOM r = D(any)();

	if (D(is_one)(&a->d))
		return F(one)(D(arsh_bits)(a->d.val, n));
	r.smin = min;
	r.smax = max;
	if (((U)a->d.smin & ~(top - 1)) == ((U)a->d.smax & ~(top - 1))) {
		r.smin = (S)(((U)a->d.smin & low) ^ top) - (S)top;
		r.smax = (S)(((U)a->d.smax & low) ^ top) - (S)top;
	}
	return F(widen)(&r);
}

/* The low n bits, zero-extended; 0 < n < W. */
static inline struct SC F(trunc)(const struct SC *a, unsigned n)
{
	U low = ((U)1 << n) - 1;
	struct DOM r = { a->d.val & low, a->d.mask & low, 0, low, 0, (S)low };
	struct SC out;

	if ((a->d.umin & ~low) == (a->d.umax & ~low)) {
		r.umin = a->d.umin & low;
		r.umax = a->d.umax & low;
	}
	out = F(widen)(&r);
	if (n == HW) {
		out.w = a->w;
		F(zext)(&out);
	}
	return out;
}

static inline struct DOM F(lsh_d)(const struct SC *a, unsigned n)
{
	struct DOM r = D(lsh)(&a->d, n);

	if (n == HW && a->w.smax >= 0)
		r.smax = (S)((U)a->w.smax << HW);
	if (n == HW && a->w.smin >= 0)
		r.smin = (S)((U)a->w.smin << HW);
	return r;
}

/* The whole register: shifts need a known b below W; everything else takes any two sets. */
static inline struct SC F(alu)(enum alu op, const struct SC *a, const struct SC *b)
{
	struct SC r = F(any)();
	unsigned n = (unsigned)b->d.val;

	switch (op) {
	case ALU_ADD:
		r = (struct SC){ D(add)(&a->d, &b->d), H(add)(&a->w, &b->w) };
		break;
	case ALU_SUB:
		r = (struct SC){ D(sub)(&a->d, &b->d), H(sub)(&a->w, &b->w) };
		break;
	case ALU_MUL:
		r = (struct SC){ D(mul)(&a->d, &b->d), H(mul)(&a->w, &b->w) };
		break;
	case ALU_AND:
		r = (struct SC){ D(and)(&a->d, &b->d), H(and)(&a->w, &b->w) };
		break;
	case ALU_OR:
		r = (struct SC){ D(or)(&a->d, &b->d), H(or)(&a->w, &b->w) };
		break;
	case ALU_XOR:
		r = (struct SC){ D(xor)(&a->d, &b->d), H(xor)(&a->w, &b->w) };
		break;
	case ALU_LSH:
		r.d = F(lsh_d)(a, n);
		if (n < HW)
			r.w = H(lsh)(&a->w, n);
		break;
	case ALU_RSH:
		r.d = D(rsh)(&a->d, n);
		break;
	case ALU_ARSH:
		r.d = D(arsh)(&a->d, n);
		break;
	}
	F(sync)(&r);
	return r;
}

/* The same on the low halves, with the upper half zero in the result; shifts below W / 2. */
static inline struct SC F(alu_w)(enum alu op, const struct SC *a, const struct SC *b)
{
	struct SC r = F(any)();
	unsigned n = (unsigned)b->w.val;

	switch (op) {
	case ALU_ADD:
		r.w = H(add)(&a->w, &b->w);
		break;
	case ALU_SUB:
		r.w = H(sub)(&a->w, &b->w);
		break;
	case ALU_MUL:
		r.w = H(mul)(&a->w, &b->w);
		break;
	case ALU_AND:
		r.w = H(and)(&a->w, &b->w);
		break;
	case ALU_OR:
		r.w = H(or)(&a->w, &b->w);
		break;
	case ALU_XOR:
		r.w = H(xor)(&a->w, &b->w);
		break;
	case ALU_LSH:
		r.w = H(lsh)(&a->w, n);
		break;
	case ALU_RSH:
		r.w = H(rsh)(&a->w, n);
		break;
	case ALU_ARSH:
		r.w = H(arsh)(&a->w, n);
		break;
	}
	F(zext)(&r);
	return r;
}

/* Whether `a cmp b` holds for all (1), for none (0), or neither (-1). */
static inline int F(cmp)(enum cmp c, bool half, const struct SC *a, const struct SC *b)
{
	int r = half ? H(cmp)(c, &a->w, &b->w) : D(cmp)(c, &a->d, &b->d);

	if (r < 0 && !half && c == CMP_EQ && H(apart)(&a->w, &b->w))
		return 0;
	return r;
}

/* Keeps of a and b what makes `a cmp b` hold (or not hold). False when nothing does; a and b are
 * then of no meaning. */
static inline bool F(assume)(enum cmp c, bool half, bool holds, struct SC *a, struct SC *b)
{
	if (!half)
		D(assume)(c, holds, &a->d, &b->d);
	if (half || (c == CMP_EQ && holds))
		H(assume)(c, holds, &a->w, &b->w);
	F(sync)(a);
	F(sync)(b);
	return !F(is_empty)(a) && !F(is_empty)(b);
}

#undef HW
#undef HMAX
#undef HSMAX
#undef HSMIN
#undef HSGN
#undef SC
#undef F
#undef DOM
#undef D
#undef U
#undef S
#undef W
#undef HDOM
#undef H
#undef HU
#undef HS
