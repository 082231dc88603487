/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets of W-bit numbers, as known bits and as an unsigned and a signed interval at once: a number
 * is in the set when it is in all three. Compiled for each width; at small widths tests/prove
 * tries every set and every member.
 *
 * Before inclusion: W (bits), U and S (unsigned and signed type of at least W bits), DOM (name of
 * the struct), N(f) (name of function f). They are undefined at the end.
 *
 * Of U only the low W bits are used; S holds sign-extended values. `mask` has the unknown bits,
 * `val` the known ones, 0 where mask is set.
 */
#define UMAX   ((U)((U) ~(U)0 >> (8 * sizeof(U) - W)))
#define SBIT   ((U)((U)1 << (W - 1)))
#define SMAX   ((S)(UMAX >> 1))
#define SMIN   ((S)(-SMAX - 1))
#define CUT(x) ((U)((U)(x) & UMAX))
#define SGN(x) ((S)((U)((U)(CUT(x) ^ SBIT) - SBIT)))

struct DOM {
	U val, mask;
	U umin, umax;
	S smin, smax;
};

static inline struct DOM N(any)(void)
{
	return (struct DOM){ 0, UMAX, 0, UMAX, SMIN, SMAX };
}

static inline struct DOM N(one)(U v)
{
	return (struct DOM){ CUT(v), 0, CUT(v), CUT(v), SGN(v), SGN(v) };
}

static inline bool N(is_one)(const struct DOM *a)
{
	return a->mask == 0;
}

static inline bool N(has)(const struct DOM *a, U v)
{
	return (v & ~a->mask & UMAX) == a->val && v >= a->umin && v <= a->umax &&
	       SGN(v) >= a->smin && SGN(v) <= a->smax;
}

/* Every member of b is a member of a, as far as the representation shows. */
static inline bool N(within)(const struct DOM *a, const struct DOM *b)
{
	return a->umin <= b->umin && a->umax >= b->umax && a->smin <= b->smin && a->smax >= b->smax;
}

static inline bool N(bits_within)(const struct DOM *a, const struct DOM *b)
{
	return !(b->mask & ~a->mask) && a->val == (b->val & ~a->mask);
}

static inline bool N(is_empty)(const struct DOM *a)
{
	return a->umin > a->umax || a->smin > a->smax || (a->val & a->mask);
}

/* Known bits of the numbers in [min, max]: the common prefix of both ends. */
static inline void N(bits_range)(U min, U max, U *val, U *mask)
{
	U diff = min ^ max;

	*mask = 0;
	for (unsigned i = W; i-- > 0;) {
		if (diff >> i & 1) {
			*mask = (U)(((U)1 << i) | (((U)1 << i) - 1));
			break;
		}
	}
	*val = min & ~*mask & UMAX;
}

/* Keeps what both sets of known bits allow. A bit known as 1 on one side and 0 on the other means
 * that nothing is in both; the result is then arbitrary. */
static inline void N(bits_meet)(struct DOM *a, U val, U mask)
{
	U both = a->mask & mask;

	a->val = (a->val | val) & ~both & UMAX;
	a->mask = both;
}

static inline void N(from_bits)(struct DOM *a)
{
	U umax = a->val | a->mask;
	S smin = SGN(a->val | (a->mask & SBIT)), smax = SGN(a->val | (a->mask & ~SBIT));

	a->umin = a->umin > a->val ? a->umin : a->val;
	a->umax = a->umax < umax ? a->umax : umax;
	a->smin = a->smin > smin ? a->smin : smin;
	a->smax = a->smax < smax ? a->smax : smax;
}

/* An interval that does not cross its sign boundary is the same interval in the other reading. */
static inline void N(from_intervals)(struct DOM *a)
{
	if (SGN(a->umin) <= SGN(a->umax)) {
		a->smin = a->smin > SGN(a->umin) ? a->smin : SGN(a->umin);
		a->smax = a->smax < SGN(a->umax) ? a->smax : SGN(a->umax);
	}
	if (CUT(a->smin) <= CUT(a->smax)) {
		a->umin = a->umin > CUT(a->smin) ? a->umin : CUT(a->smin);
		a->umax = a->umax < CUT(a->smax) ? a->umax : CUT(a->smax);
	} else if (CUT(a->smax) < a->umin) {
		/* Signed from below 0 to above, unsigned wholly past smax: only the part below 0
		 * is in both. */
		a->umin = a->umin > CUT(a->smin) ? a->umin : CUT(a->smin);
		a->smin = SGN(a->umin);
		a->smax = a->smax < SGN(a->umax) ? a->smax : SGN(a->umax);
	} else if (a->umax < CUT(a->smin)) {
		a->umax = a->umax < CUT(a->smax) ? a->umax : CUT(a->smax);
		a->smin = a->smin > SGN(a->umin) ? a->smin : SGN(a->umin);
	}
}

static inline void N(to_bits)(struct DOM *a)
{
	U val, mask;

	N(bits_range)(a->umin, a->umax, &val, &mask);
	N(bits_meet)(a, val, mask);
}

/* Lets each of the three descriptions learn from the others. Members stay members. */
static inline void N(sync)(struct DOM *a)
{
	N(from_bits)(a);
	N(from_intervals)(a);
	N(from_intervals)(a);
	N(to_bits)(a);
	N(from_bits)(a);
}

static inline void N(forget_u)(struct DOM *a)
{
	a->umin = 0;
	a->umax = UMAX;
}

static inline void N(forget_s)(struct DOM *a)
{
	a->smin = SMIN;
	a->smax = SMAX;
}

/* Signed interval from the unsigned one, when that does not cross the sign boundary. */
static inline void N(s_from_u)(struct DOM *a)
{
	N(forget_s)(a);
	if (SGN(a->umin) <= SGN(a->umax)) {
		a->smin = SGN(a->umin);
		a->smax = SGN(a->umax);
	}
}

/* Known bits of a sum: a carry out of unknown bits makes the bits that differ between the smallest
 * and the largest sum unknown. */
static inline void N(bits_add)(U av, U am, U bv, U bm, U *val, U *mask)
{
	U sv = av + bv, sm = am + bm, sum = sv + sm;
	U mu = (sum ^ sv) | am | bm;

	*mask = CUT(mu);
	*val = CUT(sv & ~mu);
}

static inline bool N(s_add)(S a, S b, S *out)
{
	*out = SGN(CUT(a) + CUT(b));
	return (b >= 0 && a > SMAX - b) || (b < 0 && a < SMIN - b);
}

static inline bool N(s_sub)(S a, S b, S *out)
{
	*out = SGN(CUT(a) - CUT(b));
	return (b >= 0 && a < SMIN + b) || (b < 0 && a > SMAX + b);
}

static inline struct DOM N(add)(const struct DOM *a, const struct DOM *b)
{
	struct DOM r;

	N(bits_add)(a->val, a->mask, b->val, b->mask, &r.val, &r.mask);
	if (N(s_add)(a->smin, b->smin, &r.smin) | N(s_add)(a->smax, b->smax, &r.smax))
		N(forget_s)(&r);
	r.umin = a->umin + b->umin;
	r.umax = a->umax + b->umax;
	if (a->umin > UMAX - b->umin || a->umax > UMAX - b->umax)
		N(forget_u)(&r);
	return r;
}

static inline struct DOM N(sub)(const struct DOM *a, const struct DOM *b)
{
	U dv = a->val - b->val, alpha = dv + a->mask, beta = dv - b->mask;
	U mu = (alpha ^ beta) | a->mask | b->mask;
	struct DOM r = { .val = CUT(dv & ~mu), .mask = CUT(mu) };

	if (N(s_sub)(a->smin, b->smax, &r.smin) | N(s_sub)(a->smax, b->smin, &r.smax))
		N(forget_s)(&r);
	r.umin = a->umin - b->umax;
	r.umax = a->umax - b->umin;
	if (a->umin < b->umax)
		N(forget_u)(&r);
	return r;
}

/* Known bits of a product: the sum, over the bits of a, of b shifted. An unknown bit of a adds
 * either 0 or b, so any of b's possible ones may be there: only unknown bits are added for it. */
static inline void N(bits_mul)(const struct DOM *a, const struct DOM *b, U *val, U *mask)
{
	U av = a->val, am = a->mask, bv = b->val, bm = b->mask;
	U accv = CUT(av * bv), accmv = 0, accm = 0;

	while (av || am) {
		if (av & 1)
			N(bits_add)(accmv, accm, 0, bm, &accmv, &accm);
		else if (am & 1)
			N(bits_add)(accmv, accm, 0, CUT(bv | bm), &accmv, &accm);
		av >>= 1;
		am >>= 1;
		bv = CUT(bv << 1);
		bm = CUT(bm << 1);
	}
	N(bits_add)(accv, 0, accmv, accm, val, mask);
}

static inline struct DOM N(mul)(const struct DOM *a, const struct DOM *b)
{
	struct DOM r = N(any)();
	U half = UMAX >> (W / 2);

	N(bits_mul)(a, b, &r.val, &r.mask);
	if (a->smin < 0 || b->smin < 0 || a->umax > half || b->umax > half)
		return r;
	r.umin = a->umin * b->umin;
	r.umax = a->umax * b->umax;
	if (r.umax <= (U)SMAX) {
		r.smin = SGN(r.umin);
		r.smax = SGN(r.umax);
	}
	return r;
}

static inline struct DOM N (and)(const struct DOM *a, const struct DOM *b)
{
	U val = a->val & b->val, some = (a->val | a->mask) & (b->val | b->mask);
	struct DOM r = { .val = val, .mask = some & ~val & UMAX };

	r.umin = r.val;
	r.umax = a->umax < b->umax ? a->umax : b->umax;
	N(s_from_u)(&r);
	return r;
}

static inline struct DOM N(or)(const struct DOM *a, const struct DOM *b)
{
	U val = a->val | b->val;
	struct DOM r = { .val = val, .mask = (a->mask | b->mask) & ~val & UMAX };

	r.umin = a->umin > b->umin ? a->umin : b->umin;
	r.umax = r.val | r.mask;
	N(s_from_u)(&r);
	return r;
}

static inline struct DOM N (xor)(const struct DOM *a, const struct DOM *b)
{
	U mask = a->mask | b->mask;
	struct DOM r = { .val = (a->val ^ b->val) & ~mask & UMAX, .mask = mask };

	r.umin = r.val;
	r.umax = r.val | r.mask;
	N(s_from_u)(&r);
	return r;
}

/* Shifts by a known n < W. */
static inline struct DOM N(lsh)(const struct DOM *a, unsigned n)
{
	struct DOM r = N(any)();

	r.val = CUT(a->val << n);
	r.mask = CUT(a->mask << n);
	if (a->umax <= (U)((U)1 << (W - 1 - n))) {
		r.umin = a->umin << n;
		r.umax = a->umax << n;
	}
	return r;
}

static inline struct DOM N(rsh)(const struct DOM *a, unsigned n)
{
	struct DOM r = N(any)();

	r.val = a->val >> n;
	r.mask = a->mask >> n;
	r.umin = a->umin >> n;
	r.umax = a->umax >> n;
	return r;
}

/* The low n bits of v, the highest of them repeated upwards. */
static inline U N(arsh_bits)(U v, unsigned n)
{
	U top = (U)1 << (n - 1);

	return CUT(((v & ((U)(top << 1) - 1)) ^ top) - top);
}

static inline struct DOM N(arsh)(const struct DOM *a, unsigned n)
{
	struct DOM r = N(any)();

	r.val = CUT(SGN(a->val) >> n);
	r.mask = CUT(SGN(a->mask) >> n);
	r.smin = a->smin >> n;
	r.smax = a->smax >> n;
	return r;
}

static inline bool N(apart)(const struct DOM *a, const struct DOM *b)
{
	return a->umin > b->umax || a->umax < b->umin || a->smin > b->smax || a->smax < b->smin;
}

/* Whether `a cmp b` holds: 1 for all members, 0 for none, -1 otherwise. */
static inline int N(cmp)(enum cmp c, const struct DOM *a, const struct DOM *b)
{
	switch (c) {
	case CMP_EQ:
		if (!a->mask && !b->mask)
			return a->val == b->val;
		if ((a->val ^ b->val) & ~(a->mask | b->mask) & UMAX)
			return 0;
		return N(apart)(a, b) ? 0 : -1;
	case CMP_LT:
		return a->umax < b->umin ? 1 : a->umin >= b->umax ? 0 : -1;
	case CMP_LE:
		return a->umax <= b->umin ? 1 : a->umin > b->umax ? 0 : -1;
	case CMP_SLT:
		return a->smax < b->smin ? 1 : a->smin >= b->smax ? 0 : -1;
	case CMP_SLE:
		return a->smax <= b->smin ? 1 : a->smin > b->smax ? 0 : -1;
	case CMP_SET:
		if (b->mask)
			return -1;
		return a->val & b->val ? 1 : !((a->val | a->mask) & b->val) ? 0 : -1;
	default:
		return -1;
	}
}

static inline void N(assume_eq)(struct DOM *a, struct DOM *b)
{
	a->umin = b->umin = a->umin > b->umin ? a->umin : b->umin;
	a->umax = b->umax = a->umax < b->umax ? a->umax : b->umax;
	a->smin = b->smin = a->smin > b->smin ? a->smin : b->smin;
	a->smax = b->smax = a->smax < b->smax ? a->smax : b->smax;
	N(bits_meet)(a, b->val, b->mask);
	b->val = a->val;
	b->mask = a->mask;
}

/* A known number that is an end of the other's intervals moves that end. */
static inline void N(assume_ne)(struct DOM *a, const struct DOM *b)
{
	if (b->mask || N(is_one)(a))
		return;
	a->umin += a->umin == b->val && a->umin < UMAX;
	a->umax -= a->umax == b->val && a->umax > 0;
	a->smin += a->smin == SGN(b->val) && a->smin < SMAX;
	a->smax -= a->smax == SGN(b->val) && a->smax > SMIN;
}

static inline void N(assume_set)(struct DOM *a, const struct DOM *b, bool holds)
{
	U c = b->val;

	if (b->mask)
		return;
	if (!holds) {
		a->val &= ~c;
		a->mask &= ~c;
	} else if (c && !(c & (c - 1))) {
		a->val |= c;
		a->mask &= ~c;
	}
}

/* a < b or, with eq, a <= b. Where nothing satisfies it the result is empty or unchanged. */
static inline void N(assume_u)(struct DOM *a, struct DOM *b, bool eq)
{
	U amax = eq || !b->umax ? b->umax : b->umax - 1;
	U bmin = eq || a->umin == UMAX ? a->umin : a->umin + 1;

	a->umax = a->umax < amax ? a->umax : amax;
	b->umin = b->umin > bmin ? b->umin : bmin;
}

static inline void N(assume_s)(struct DOM *a, struct DOM *b, bool eq)
{
	S amax = eq || b->smax == SMIN ? b->smax : b->smax - 1;
	S bmin = eq || a->smin == SMAX ? a->smin : a->smin + 1;

	a->smax = a->smax < amax ? a->smax : amax;
	b->smin = b->smin > bmin ? b->smin : bmin;
}

/* Keeps of a and b what makes `a cmp b` hold (or, with holds false, not hold). Not synced. */
static inline void N(assume)(enum cmp c, bool holds, struct DOM *a, struct DOM *b)
{
	switch (c) {
	case CMP_EQ:
		if (holds) {
			N(assume_eq)(a, b);
		} else {
			struct DOM was = *a;

			N(assume_ne)(a, b);
			N(assume_ne)(b, &was);
		}
		break;
	case CMP_SET:
		if (N(is_one)(a) && !N(is_one)(b))
			N(assume_set)(b, a, holds);
		else
			N(assume_set)(a, b, holds);
		break;
	case CMP_LT:
	case CMP_LE:
		if (holds)
			N(assume_u)(a, b, c == CMP_LE);
		else
			N(assume_u)(b, a, c == CMP_LT);
		break;
	case CMP_SLT:
	case CMP_SLE:
		if (holds)
			N(assume_s)(a, b, c == CMP_SLE);
		else
			N(assume_s)(b, a, c == CMP_SLT);
		break;
	}
}

#undef UMAX
#undef SBIT
#undef SMAX
#undef SMIN
#undef CUT
#undef SGN
#undef W
#undef U
#undef S
#undef DOM
#undef N
