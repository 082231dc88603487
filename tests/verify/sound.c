/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify_sound [COUNT [SEED [RUNS]]]: random programs that the verifier accepts run on the
 * interpreter, where each op is held against what the verifier knew (cover.h), each access against
 * the memory there is, and the facts against what happens (region.h). Then they run once more with
 * garbage in the upper halves that, by the facts, nobody reads: nothing may change. TAP.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/report.h"
#include "cover.h"
#include "gen.h"
#include "helper/table.h"
#include "region.h"
#include "run/packet_run.h"
#include "verify/verify.h"
#include "world.h"

enum { OPS_MAX = 3000 };

struct run {
	struct cover *cover;
	struct places places;
	struct facts *facts;
	uint64_t rng, garbage, trace; /* trace: a hash of the ops that ran */
	uint32_t ops;
	bool poison; /* no checks, garbage instead */
	bool begun;
	const struct op *last;
	uint32_t last_op, last_depth;
	char bad[512];
};

static struct gen_prog prog;
static uint64_t worlds = 2; /* runs of each program */

static uint64_t next(uint64_t *rng)
{
	return world_next(rng);
}

static const struct fact *fact_of(const struct run *r, uint32_t op)
{
	return &r->facts->op[op];
}

/* Garbage in the upper half that the last op left as zero, where the fact says nobody looks. */
static void poison(struct run *r, const struct interp_at *at)
{
	unsigned form = op_row(r->last)->form;
	bool half = ((form == FORM_ALU || form == FORM_NEG || form == FORM_MOV) &&
		     r->last->mode & OP_W32) ||
		    (form == FORM_LD && op_size(r->last) < 8 && !(r->last->mode & OP_SX) &&
		     !fact_of(r, r->last_op)->ctx);

	if (half && !fact_of(r, r->last_op)->upper_used && at->depth == r->last_depth)
		at->r[r->last->dst] |= next(&r->garbage) << 32;
}

static const char *jump_check(const struct run *r, const struct interp_at *at)
{
	const struct fact *f = fact_of(r, r->last_op);

	if (op_row(r->last)->form != FORM_JCOND || (uint32_t)r->last->off == r->last_op + 1)
		return NULL;
	if (at->op == r->last_op + 1)
		return f->falls ? NULL : "the fact says that it always jumps";
	return f->jumps ? NULL : "the fact says that it never jumps";
}

static void after(struct run *r, const struct interp_at *at)
{
	if (op_row(r->last)->form == FORM_CALL && r->last->imm == BPF_FUNC_get_prandom_u32)
		at->r[0] = (uint32_t)next(&r->rng) >> (next(&r->rng) % 3 * 14);
	places_after(&r->places, at);
	if (r->poison)
		poison(r, at);
}

static int refuse(struct run *r, const struct interp_at *at, const char *what)
{
	char op[160];

	op_print(at->u, at->op, PRINT_KERNEL, op, sizeof(op));
	snprintf(r->bad, sizeof(r->bad), "%u (op %u): %s: %s", at->u->slot[at->op], at->op, op,
		 what);
	return -EFAULT;
}

/* A frame begins. (Tail calls find nothing.) */
static bool enters(const struct run *r, const struct interp_at *at)
{
	return !r->begun || at->depth > r->last_depth ||
	       (at->depth == r->last_depth && op_row(r->last)->form == FORM_EXIT);
}

static int on_op(void *arg, const struct interp_at *at)
{
	struct run *r = arg;
	const char *bad = NULL;

	if (++r->ops > OPS_MAX)
		return -ELOOP;
	r->places.depth = at->depth;
	r->places.frame[at->depth].r = at->r;
	/* The verified stack ends at r10, whatever a frame has below. */
	r->places.frame[at->depth].stack = (uint8_t *)(uintptr_t)at->r[BPF_FP] - BPF_STACK;
	if (enters(r, at))
		world_garbage(&r->rng, r->places.frame[at->depth].stack, BPF_STACK);
	if (r->begun) {
		after(r, at);
		bad = r->poison ? NULL : jump_check(r, at);
	}
	r->begun = true;
	r->trace = (r->trace ^ (at->op + 1) ^ (uint64_t)at->depth << 20) * 0x9e3779b97f4a7c15ull;
	if (!bad && !r->poison)
		bad = cover_op(r->cover, at);
	if (!bad)
		bad = places_op(&r->places, at, fact_of(r, at->op));
	if (bad)
		return refuse(r, at, bad);
	r->last = &at->u->ops[at->op];
	r->last_op = at->op;
	r->last_depth = at->depth;
	if (op_row(r->last)->form == FORM_CALL)
		places_call(&r->places, at);
	return 0;
}

struct result {
	uint64_t trace;
	uint32_t verdict;
	char bad[512];
	uint32_t ops;
};

/* One run on a world made from `seed`. */
static int run_once(struct cover *cover, struct facts *facts, const struct unit *u, uint64_t seed,
		    bool poisoned, struct result *out)
{
	static struct run r;
	struct prog p = { .type = prog.type, .xlated = u };
	struct packet_run pr = { 0 };
	struct packet_result res = { 0 };
	uint8_t bytes[WORLD_PACKET];
	uint32_t n;
	int err;

	memset(&r, 0, sizeof(r));
	r.cover = cover;
	r.facts = facts;
	r.poison = poisoned;
	r.rng = seed;
	err = world_reset(&r.rng);
	if (err)
		return err;
	n = world_packet(&r.rng, bytes);
	err = packet_run_open(&pr, &p);
	if (err)
		return err;
	r.places.prog_type = prog.type;
	r.places.ctx = (uintptr_t)&pr.ctx;
	r.places.ctx_size =
	    prog.type == BPF_PROG_TYPE_XDP ? sizeof(struct xdp_md) : sizeof(struct __sk_buff);
	r.places.packet = &pr.ctx;
	cover_begin(cover, &r.places, NULL);
	interp_watch(on_op, &r);
	err = packet_run_once(&pr, bytes, n, &res);
	interp_watch(NULL, NULL);
	packet_run_close(&pr);
	out->trace = r.trace;
	out->verdict = res.verdict;
	out->ops = r.ops;
	memcpy(out->bad, r.bad, sizeof(r.bad));
	return err;
}

static struct unit *unit_make(struct report *log)
{
	struct ref refs[GEN_MAPS];
	struct unit *u = NULL;

	if (unit_decode(prog.insns, prog.n, false, log, &u))
		return NULL;
	for (unsigned i = 0; i < GEN_MAPS; i++)
		refs[i] = (struct ref){ .kind = REF_MAP,
					.map = &world_map(i)->desc,
					.addr = (uintptr_t)world_map(i) };
	mem_free(u->refs);
	u->refs = mem_dup(refs, sizeof(refs));
	u->n_refs = GEN_MAPS;
	u->env = helper_env_of(prog.type);
	return u;
}

/* -- counting */

static struct {
	uint64_t programs, accepted, runs, ops, large, nodes, noisy, bad;
	uint32_t worst_insns;
} sum;

static void complain(const struct unit *u, const struct verify_input *in, const char *what)
{
	struct verify_input loud = *in;
	struct report log = { 0 };

	sum.bad++;
	printf("# seed %" PRIu64 ", type %u: %s\n", prog.seed, prog.type, what);
	if (sum.bad > 3)
		return;
	loud.watch = NULL;
	loud.log_level = getenv("SOUND_LOG") ? 2 : 1;
	verify(u, &loud, &log, NULL);
	for (char *l = strtok(log.text ? log.text : "", "\n"); l; l = strtok(NULL, "\n"))
		printf("# %s\n", l);
	report_free(&log);
}

static bool same(const struct result *a, const struct result *b)
{
	return !a->bad[0] == !b->bad[0] && a->trace == b->trace && a->verdict == b->verdict;
}

static void check_runs(struct cover *cover, struct facts *facts, const struct unit *u,
		       const struct verify_input *in)
{
	for (uint64_t i = 0; i < worlds; i++) {
		struct result plain, dirty, again;
		uint64_t seed = prog.seed * 977 + i;

		if (run_once(cover, facts, u, seed, false, &plain))
			return;
		sum.runs++;
		sum.ops += plain.ops;
		if (plain.bad[0]) {
			complain(u, in, plain.bad);
			return;
		}
		if (plain.ops > OPS_MAX || run_once(cover, facts, u, seed, true, &dirty) ||
		    same(&plain, &dirty))
			continue;
		/* One that does not do the same again tells nothing of the other. */
		if (run_once(cover, facts, u, seed, false, &again) || !same(&plain, &again)) {
			sum.noisy++;
			printf("# seed %" PRIu64 ", type %u: another run of the same differs: %s\n",
			       prog.seed, prog.type, again.bad);
			continue;
		}
		complain(u, in, dirty.bad[0] ? dirty.bad : "an upper half was used");
		return;
	}
}

static void check_one(struct cover *cover, uint64_t seed)
{
	struct verify_input in = { .gpl = true,
				   .key_facts = seed & 1,
				   .watch = cover_watch(cover) };
	struct report log = { 0 };
	struct facts *facts = NULL;
	struct unit *u;

	gen_make(seed, GEN_ALL, &prog);
	in.prog_type = prog.type;
	in.test_states = seed % 8 == 0;
	sum.programs++;
	u = unit_make(&log);
	if (u && !verify(u, &in, &log, &facts)) {
		sum.accepted++;
		sum.nodes += cover_size(cover);
		check_runs(cover, facts, u, &in);
	}
	sum.large += !cover_whole(cover);
	facts_free(facts);
	unit_free(u);
	report_free(&log);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 2000;
	uint64_t base = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	double limit = getenv("SOUND_SECONDS") ? atof(getenv("SOUND_SECONDS")) : 1e9;
	struct cover *cover;
	time_t start = time(NULL);

	if (world_make(argv)) {
		printf("Bail out! no maps\n");
		return 1;
	}
	worlds = argc > 3 ? strtoull(argv[3], NULL, 0) : worlds;
	cover = cover_new();
	for (uint64_t i = 0; i < count && difftime(time(NULL), start) < limit; i++)
		check_one(cover, base + i);
	printf("%sok 1 - %" PRIu64 " programs, %" PRIu64 " accepted, %" PRIu64 " runs, %" PRIu64
	       " ops: all covered\n",
	       sum.bad ? "not " : "", sum.programs, sum.accepted, sum.runs, sum.ops);
	printf("%sok 2 - %" PRIu64 " steps over a cut, %" PRIu64 " with loose places; %" PRIu64
	       " nodes, %" PRIu64 " programs too large\n",
	       cover_cuts(cover) ? "" : "not ", cover_cuts(cover), cover_loose(cover), sum.nodes,
	       sum.large);
	printf("%sok 3 - %" PRIu64 " runs that differ from themselves\n1..3\n",
	       sum.noisy ? "not " : "", sum.noisy);
	cover_free(cover);
	return sum.bad || sum.noisy;
}
