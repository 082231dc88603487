/* SPDX-License-Identifier: BSD-2-Clause */
/* One run of the verifier, and what its files offer each other. */
#ifndef SKEP_VERIFY_VER_H
#define SKEP_VERIFY_VER_H

#include <errno.h>

#include "base/report.h"
#include "isa/kfunc.h"
#include "verify/state.h"

enum { INSN_LIMIT = 1000000, JUMP_SEQ_LIMIT = 8192, VAR_OFF_MAX = 1 << 29 };
/* Linux' BPF_F_RDONLY_PROG and BPF_F_WRONLY_PROG, and map types; older headers may lack them. */
enum { MAP_RDONLY_PROG = 1 << 7, MAP_WRONLY_PROG = 1 << 8 };
enum { MAP_TYPE_CGRP_STORAGE = 32, MAP_TYPE_ARENA = 33 };
enum { MAY_GOTO_LIMIT = 8388608, BPF_LOOP_LIMIT = 8388608, PKT_OFF_MAX = 0xffff };

/* Where exploration stops to think. */
struct point {
	bool prune;    /* states are kept and compared here */
	bool force;    /* a state is always kept */
	bool jump;     /* belongs into the history */
	bool callback; /* calls a helper that calls back */
	bool iter;     /* gives the next element of an iterator */
};

/* A kept state, in the list of its op. */
struct seen {
	struct state state;
	struct seen *next;
	size_t bytes; /* counted in ver.bytes */
	uint32_t misses, hits;
};

struct pending {
	struct state *state;
	size_t bytes; /* counted in ver.bytes */
	uint32_t op, prev;
	size_t log_pos;
	struct pending *next;
};

struct sub_info {
	uint32_t start, end;
	uint32_t depth; /* bytes of stack */
	bool async;	/* a timer calls it, on a stack of its own */
	bool tail_call, called, verified;
	bool throws;	   /* it, or what it calls, may throw an exception */
	bool moves_packet; /* it, or what it calls, may move the packet */
};

struct ver {
	const struct unit *u;
	const struct verify_input *in;
	struct report *log;
	unsigned level;
	struct facts *facts;
	uint64_t begin; /* time, ns */
	struct point *point;
	struct sub_info *sub;
	struct seen **seen; /* by op */
	struct seen *evicted;
	struct pending *stack;
	struct state *cur;
	size_t bytes, peak_bytes; /* of states kept and put aside */
	uint32_t n_pending;
	uint32_t op, next, prev; /* running op, op after it, op before it */
	uint32_t id_gen;
	uint32_t insns, jumps, prev_insns, prev_jumps;
	uint32_t total_states, peak_states, longest_walk, max_states;
	uint32_t helper_types[BTF_TYPES]; /* ids in the kernel's types, 0: not looked up */
	uint32_t root;			  /* subprogram that is verified: 0, or a global one */
	bool print_all;			  /* the next op is preceded by the whole state */
	uint16_t scratched; /* registers of the running frame that changed since the last print */
	uint64_t scratched_slots;
	size_t line_pos; /* log position after the last op, 0: none */
	size_t line_start;
	const struct line *line;   /* source line that was printed last */
	struct report refusal;	   /* the lines that say why not, when there is a log */
	struct report explanation; /* what explain.c has found out about it */
	size_t log_pos;		   /* of the log when the current state was put aside */
};

/* -- ver.c: texts and small things */
int fail(struct ver *v, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void note(struct ver *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline struct frame *top(const struct ver *v)
{
	return v->cur->frame[v->cur->top];
}

static inline struct reg *reg(const struct ver *v, unsigned n)
{
	return &top(v)->r[n];
}

static inline const struct op *op_at(const struct ver *v)
{
	return &v->u->ops[v->op];
}

static inline uint32_t slot_of(const struct ver *v, uint32_t op)
{
	return v->u->slot[op];
}

static inline struct fact *fact(const struct ver *v)
{
	return &v->facts->op[v->op];
}

static inline uint32_t id_new(struct ver *v)
{
	return ++v->id_gen;
}

/* -- access.c: registers as operands, and liveness */
int reg_read(struct ver *v, unsigned n, bool whole);
int reg_write(struct ver *v, unsigned n, bool whole);
void reg_scratch(struct ver *v, unsigned n);
void live_read(struct ver *v, struct reg *r, uint8_t live);
int live_propagate(struct ver *v, const struct state *old);
void slot_live_read(struct ver *v, struct frame *f, uint32_t k);
void regs_clobber(struct ver *v);

/* -- explore.c */
int explore(struct ver *v);
struct state *state_push(struct ver *v, uint32_t op, uint32_t prev);
struct state *state_push_empty(struct ver *v, uint32_t op);
int state_count(struct ver *v, const struct state *s, size_t *bytes);
int hist_push(struct ver *v, const struct hist *h);
int hist_stack(struct ver *v, uint8_t frame, uint32_t slot);
int step(struct ver *v); /* step.c: 0, 1 at the end of a path, or -errno */

/* -- origin.c */
bool path_back(const struct state *s, uint32_t *n, uint32_t *i);

/* -- prune.c, equal.c */
int prune_visit(struct ver *v); /* 1: an equal or wider state was found safe before */
enum match { MATCH_SAFE, MATCH_WITHIN, MATCH_EXACT };
bool state_equal(struct ver *v, struct state *old, struct state *cur, enum match how);
void branches_done(struct ver *v, struct state *s);
void seen_free(struct ver *v);

/* -- precise.c */
int precise_mark(struct ver *v, unsigned reg);
int precise_mark_slot(struct ver *v, uint32_t frame, uint32_t slot);
int precise_propagate(struct ver *v, const struct state *old);

/* -- alu.c, pointer.c, branch.c, link.c */
int alu_step(struct ver *v);
int pointer_math(struct ver *v, const struct op *op, unsigned ptr_n, const struct reg *ptr,
		 const struct reg *num);
int branch_step(struct ver *v);
void link_sync(struct ver *v, struct state *s, const struct reg *known, const struct hist *h);
void link_collect(struct state *s, uint32_t id, struct hist *h);
struct state *state_before(struct ver *v, const struct state *from, uint32_t op);
void state_widen(const struct state *old, struct state *cur);
void null_mark(struct ver *v, struct state *s, uint32_t regno, bool is_null);

/* -- mem.c, stack.c, ctx.c, packet.c */
struct access {
	int32_t off;   /* from the address register */
	uint32_t size; /* bytes */
	bool write;
	bool sign;   /* sign-extended load */
	bool strict; /* alignment is demanded whatever the machine (atomics) */
	bool helper; /* by a helper on behalf of the op */
	int reg;     /* what is stored or loaded into; -1: nothing (a constant is `imm`) */
	bool has_imm;
	int64_t imm;
};
int mem_access(struct ver *v, unsigned addr, const struct access *a);
int mem_step(struct ver *v);
int align_check(struct ver *v, const struct reg *r, const struct access *a);
int region_access(struct ver *v, unsigned addr, int32_t off, uint32_t size, uint64_t room,
		  bool zero_ok);
int map_access(struct ver *v, unsigned addr, int32_t off, uint32_t size, bool write, bool zero_ok);
int unmodified_check(struct ver *v, unsigned n, bool fixed_ok);
int stack_access(struct ver *v, unsigned addr, const struct access *a);
/* Memory from addr that is read for any offset it may have. A helper may write it too; with raw
 * it need not be initialised, and *later is set when it is to be marked as written after the
 * call. */
int stack_range(struct ver *v, unsigned addr, int32_t off, uint32_t size, bool zero_ok, bool helper,
		bool raw, bool *later);
int ctx_access(struct ver *v, unsigned addr, const struct access *a);
int sock_access(struct ver *v, unsigned addr, const struct access *a);
int packet_access(struct ver *v, unsigned addr, int32_t off, uint32_t size, bool zero_ok);
bool packet_may(const struct ver *v, bool write);
void packet_find(struct ver *v, struct state *s, const struct reg *pkt, uint8_t kind, bool open);
void packet_clear(struct ver *v);

/* -- call.c, arg.c, sub.c */
/* What the arguments of a helper call have shown. */
struct call {
	struct helper h;
	const struct reg *map; /* the argument that is a map, NULL: none */
	struct reg map_reg;
	uint32_t ref;		   /* reference among the arguments, 0: none */
	uint32_t released;	   /* register whose reference is given up, 0: none */
	uint32_t size;		   /* of the memory that is returned */
	uint32_t max_size;	   /* most bytes of the last SIZE argument */
	uint32_t sub;		   /* callback + 1 */
	uint32_t timer;		   /* register of the timer, whose map is `map`; 0: none */
	struct reg dynptr;	   /* the dynptr argument, KIND_NONE: none */
	const struct kfunc *kfunc; /* NULL: a helper */
	uint8_t iter_frame;	   /* where the iterator argument lies */
	uint32_t iter_slot;
	uint32_t raw_reg, raw_size; /* memory that is written during the call */
};
int call_step(struct ver *v);
int args_check(struct ver *v, struct call *c);
int size_arg(struct ver *v, struct call *c, unsigned n, bool zero_ok);
bool is_sockmap(const struct map_desc *m);
void key_note(struct fact *f, bool known, uint64_t key);
bool map_fits(uint32_t helper, uint32_t map_type);
/* Memory that a helper or a global function reads, or also writes. */
int mem_range(struct ver *v, unsigned n, uint32_t size, bool zero_ok, bool write, bool raw,
	      bool *later);
int sub_step(struct ver *v);
int exit_step(struct ver *v);
int exit_throw(struct ver *v);
int throw_check(struct ver *v);
int exit_early(struct ver *v);
int ref_release(struct ver *v, uint32_t id);
int refs_leak_check(struct ver *v);

/* -- callback.c */
int callback_plan(struct ver *v, const struct call *c);
int callback_later(struct ver *v, const struct call *c);
void arg_pass(struct state *s, unsigned from, unsigned to);
int frame_enter(struct ver *v, struct state *s, uint32_t sub, uint32_t callsite);

/* -- special.c */
uint32_t map_field(const struct ver *v, const struct map_desc *m, enum special which);
bool map_has(const struct ver *v, const struct map_desc *m, enum special which);
int special_check(struct ver *v, unsigned addr, int32_t off, uint32_t size);
int maps_check(struct ver *v);
int lock_arg(struct ver *v, unsigned n, bool take);
int timer_arg(struct ver *v, struct call *c, unsigned n);
int timer_map_check(struct ver *v, const struct call *c, unsigned n);
const uint8_t *map_constant(const struct ver *v, const struct map_desc *m);
int string_arg(struct ver *v, unsigned n);
int snprintf_check(struct ver *v);

/* -- object.c, dynptr.c, iter.c, kfunc.c */
int object_slot(struct ver *v, const struct reg *r, const char *what, unsigned n);
int object_clear(struct ver *v, unsigned addr, unsigned n);
void object_set(struct slot *s, enum slot_type type, const struct reg *r, bool first);
void object_end(struct slot *s);
int object_overwrite(struct ver *v, struct frame *f, uint32_t k);
int dynptr_arg(struct ver *v, struct call *c, unsigned n, uint32_t arg);
int dynptr_overwrite(struct ver *v, struct frame *f, uint32_t k);
void dynptr_end(struct ver *v, const struct call *c);
void dynptr_callback_reg(struct ver *v, struct reg *r, enum dyn_type type);
const char *dyn_text(enum dyn_type type);
int iter_arg(struct ver *v, struct call *c, unsigned n, uint32_t arg);
int iter_next(struct ver *v, const struct call *c);
bool iter_runs(const struct ver *v);
bool iter_depths_differ(const struct state *old, const struct state *cur);
const struct kfunc *kfunc_at(const struct ver *v, uint32_t i);
int kfunc_step(struct ver *v);
int sections_check(struct ver *v);

/* -- typed.c */
uint32_t typed_id(struct ver *v, uint32_t helper);
const char *typed_name(const struct ver *v, uint32_t id);
uint32_t typed_find(const struct ver *v, const char *name);
void typed_load(struct ver *v, int dst, const char *name);
int typed_fits(struct ver *v, unsigned n, uint32_t want);
int typed_arg(struct ver *v, unsigned n, uint32_t helper);
int typed_kfunc_arg(struct ver *v, struct call *c, unsigned n, uint32_t arg);
int typed_range(struct ver *v, unsigned n, uint32_t size, bool write);
int typed_access(struct ver *v, unsigned addr, const struct access *a);
int typed_d_path(struct ver *v);
int typed_attach_check(struct ver *v);
bool typed_return_range(const struct ver *v, int *min, int *max);
bool typed_context(const struct ver *v);
int typed_context_access(struct ver *v, int32_t off, const struct access *a);

/* -- points.c */
int points_make(struct ver *v);
int depth_check_all(struct ver *v);

/* -- log.c */
static inline size_t log_here(const struct ver *v)
{
	return v->log ? report_pos(v->log) : 0;
}
void log_state(struct ver *v, const struct state *s, bool all);
void log_frame(struct ver *v, const struct state *s, uint32_t frame, bool all);
void log_changes(struct ver *v);
void log_insn(struct ver *v);
void log_source(struct ver *v);
void log_reset(struct ver *v, size_t pos);
void reg_text(struct ver *v, const struct reg *r, struct report *out);
const char *bits_text(const struct scalar *s, char *buf, size_t size);
const char *kind_text(const struct reg *r, char *buf, size_t size);

#endif
