/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known at one point of one path: registers, stack and frames.
 */
#ifndef SKEP_VERIFY_STATE_H
#define SKEP_VERIFY_STATE_H

#include <stddef.h>

#include "isa/unit.h"
#include "verify/scalar.h"
#include "verify/verify.h"

enum kind {
#define KIND(id, text, props) KIND_##id,
#include "verify/kind.def"
	KIND_COUNT
};

enum { K_MATH = 1, K_SPILL = 2, K_MAP = 4, K_PKT = 8, K_SOCK = 16, K_ID = 32 };

struct kind_row {
	const char *text;
	uint8_t props;
};

extern const struct kind_row kind_rows[KIND_COUNT];

/* reg.flags */
enum {
	RF_NULL = 1, /* may also be NULL */
	RF_RDONLY = 2,
	RF_RINGBUF = 4, /* KIND_MEM: a reserved record, which is submitted or discarded whole */
	/* KIND_BTF: valid while the program runs; while its RCU section lasts; perhaps not; in user
	 * space; of one CPU */
	RF_TRUSTED = 8,
	RF_RCU = 16,
	RF_UNTRUSTED = 32,
	RF_USER = 64,
	RF_PERCPU = 128,
};

/* reg.live (Documentation/bpf/verifier.rst, "Register liveness tracking") */
enum { LIVE_READ32 = 1, LIVE_READ64 = 2, LIVE_READ = 3, LIVE_WRITTEN = 4, LIVE_DONE = 8 };

/* reg.n of a packet pointer that a comparison showed to be at or past the end. */
#define PKT_AT_END ((uint32_t)-1)
#define PKT_BEYOND ((uint32_t)-2)

/* reg.dyn: what a dynptr, or a slice of one, refers to. */
enum dyn_type { DYN_NONE, DYN_LOCAL, DYN_RINGBUF, DYN_SKB, DYN_XDP };

/* In reg.id of a number: the register holds the id's value plus reg.off. */
#define ID_PLUS_OFF (1u << 31)

struct reg {
	uint8_t kind;
	uint8_t flags;
	uint8_t live;
	uint8_t frame;	 /* KIND_STACK: whose stack */
	uint8_t precise; /* number: its value decided something */
	uint8_t dyn;	 /* enum dyn_type, of a dynptr or of memory got from one */
	uint8_t iter;	 /* enum iter_type, of a slot of an iterator */
	uint8_t first;	 /* slot of an object: the one that pointers to it point to */
	uint8_t drained; /* iterator: it has given NULL */
	int32_t off;	 /* bytes, known part of a pointer's offset; s is the unknown part */
	uint32_t id;	 /* equal ids: equal values (numbers), null-ness or packet offset */
	uint32_t ref;	 /* id of the reference that the pointer stands for, 0: none */
	uint32_t n;	 /* packet: bytes known to exist from offset 0, or PKT_AT_END, PKT_BEYOND;
			  * MEM, BUF: size; FUNC: subprogram; ITER: rounds;
			  * BTF: type (typed.c) */
	uint32_t dyn_id; /* memory from a dynptr: the dynptr's id */
	uint32_t uid;	 /* of an inner map: which look-up it came from */
	uint32_t def;	 /* 1 + op that defined only the low half, 0: the whole was defined */
	const struct map_desc *map;
	struct reg *parent; /* the same place in the parent state; NULL: none */
	struct scalar s;
};

enum slot_type { SLOT_NONE, SLOT_SPILL, SLOT_MISC, SLOT_ZERO, SLOT_DYNPTR, SLOT_ITER };

/* Eight bytes of stack. The byte at `off` is type[(-off - 1) % 8] of slot (-off - 1) / 8. */
struct slot {
	uint8_t type[8];
	struct reg spill; /* when type[7] (the lowest byte) is SLOT_SPILL, SLOT_DYNPTR
			   * (KIND_DYNPTR) or SLOT_ITER (KIND_ITER) */
};

struct frame {
	struct reg r[BPF_REGS];
	struct slot *slot;
	uint32_t n_slots;
	uint32_t sub;		  /* subprogram that runs in it */
	uint32_t callsite;	  /* op of the call */
	uint32_t callback_depth;  /* callback: how often entered on this path */
	bool callback;		  /* called by a helper: exit goes back to the call */
	bool async;		  /* frame 0: called later, by a timer */
	uint32_t async_entry;	  /* async: how often entered from one another */
	uint32_t n_refs;	  /* callback: references held when it began */
	int32_t ret_min, ret_max; /* callback: what it may return */
};

enum { LINKED_MAX = 6 };

/* A register or a stack slot of a frame, in 16 bits. */
static inline uint16_t place_pack(unsigned frame, bool slot, unsigned n)
{
	return (uint16_t)(frame << 8 | (slot ? 128u : 0) | n);
}

/* One step of the path since the state began, in order; jumps and stack accesses only. */
struct hist {
	uint32_t op, prev;
	uint8_t stack; /* 0, or 1: op accessed `slot` of `frame` */
	uint8_t frame;
	uint16_t slot;
	uint8_t fp; /* jump: 1: dst, 2: src is a stack pointer, no number */
	uint8_t n_linked;
	uint16_t linked[LINKED_MAX]; /* places that shared an id at a jump: place_pack */
};

struct refs {
	uint32_t *id; /* ascending by time of acquisition */
	uint32_t *op;
	uint32_t n, cap;
};

struct state {
	struct frame *frame[VERIFY_FRAMES];
	uint32_t top; /* index of the running frame */
	struct state *parent;
	uint32_t branches;	    /* paths from here that are not finished */
	uint32_t at;		    /* kept state: the op it was kept at */
	uint32_t first_op, last_op; /* op at which it began; op before the end of its history */
	struct hist *hist;
	uint32_t n_hist, cap_hist;
	struct refs refs;
	const struct map_desc *lock; /* map of the held bpf_spin_lock, NULL: none */
	uint32_t lock_id;	     /* id of the value that it lies in */
	uint32_t preempt;	     /* how often bpf_preempt_disable was called */
	bool rcu;		     /* inside of bpf_rcu_read_lock */
	uint32_t may_goto;	     /* how often taken on this path */
	uint32_t callback_unroll;
	uint32_t dfs_depth;
	uint32_t watch;		  /* verify_watch's */
	struct state *loop_entry; /* the outermost state of a loop that this state is part of */
	bool used_as_loop_entry;
	bool cleaned;
};

/* Fresh memory; NULL when there is none. */
struct state *state_new(void);
void state_free(struct state *s);
void state_clear(struct state *s); /* frees what s owns, not s itself */
/* dst becomes what src is, history left out; dst's own memory is reused or freed. */
int state_copy(struct state *dst, const struct state *src);
/* A fresh frame on top of s with unreadable registers and its frame pointer. */
int state_push_frame(struct state *s, uint32_t sub, uint32_t callsite);
void state_pop_frame(struct state *s);

/* Bytes of memory that s holds. */
size_t state_bytes(const struct state *s);

static inline struct frame *state_top(const struct state *s)
{
	return s->frame[s->top];
}

/* The first register of frame i that may still be read: a call preserves r6 and up, but a
 * callback's end goes back to the call, which reads its arguments once more. */
static inline unsigned frame_first_reg(const struct state *s, uint32_t i)
{
	return i < s->top && !s->frame[i + 1]->callback ? 6 : 0;
}

/* Room for the stack down to -(n * 8). */
int frame_grow(struct frame *f, uint32_t n_slots);

/* What a register becomes; live, parent and def are kept (reg_set) unless said otherwise. */
void reg_set(struct reg *dst, const struct reg *src);
void reg_set_unknown(struct reg *r);
void reg_set_const(struct reg *r, uint64_t v);
void reg_set_kind(struct reg *r, enum kind kind, uint8_t flags);
void reg_set_none(struct reg *r);

static inline bool reg_is_scalar(const struct reg *r)
{
	return r->kind == KIND_SCALAR;
}

static inline bool reg_is_ptr(const struct reg *r)
{
	return r->kind != KIND_SCALAR && r->kind != KIND_NONE;
}

static inline bool reg_is_const(const struct reg *r)
{
	return r->kind == KIND_SCALAR && scalar_is_one(&r->s);
}

static inline bool reg_is_zero(const struct reg *r)
{
	return reg_is_const(r) && r->s.d.val == 0;
}

static inline bool reg_has(const struct reg *r, unsigned props)
{
	return (kind_rows[r->kind].props & props) != 0;
}

static inline bool slot_is_spill(const struct slot *s)
{
	return s->type[7] == SLOT_SPILL;
}

static inline bool slot_is_dynptr(const struct slot *s)
{
	return s->type[7] == SLOT_DYNPTR;
}

static inline bool slot_is_iter(const struct slot *s)
{
	return s->type[7] == SLOT_ITER;
}

/* All 8 bytes are one spilled number. */
static inline bool slot_is_scalar(const struct slot *s)
{
	return s->type[0] == SLOT_SPILL && s->spill.kind == KIND_SCALAR;
}

/* Calls f for each register and spilled register of every frame. */
typedef void (*reg_fn)(struct reg *r, void *arg);
void state_each_reg(struct state *s, reg_fn f, void *arg);

int refs_add(struct refs *r, uint32_t id, uint32_t op);
bool refs_remove(struct refs *r, uint32_t id);

#endif
