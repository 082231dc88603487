/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_jit: random programs on the interpreter and on the JIT, as TAP. A program is made from one
 * number; `fuzz_jit --seed N --count 1 --shrink` makes the failing one small.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/report.h"
#include "check.h"
#include "rng.h"
#include "shrink.h"
#include "world.h"

struct options {
	uint64_t seed, count;
	const char *engine, *target, *cpu, *out;
	bool shrink, print, stats, blind;
};

/* For the signal handler. */
static volatile uint64_t seed_now;

static volatile bool quiet; /* while shrinking, crashes are expected */

static void report_crash(int sig)
{
	static const char *const phases[] = { "generator", "interpreter", "engine under test" };
	char text[200];
	const int n = snprintf(text, sizeof(text),
			       "not ok 1 - seed %" PRIu64 ": signal %d (%s) in the %s\n"
			       "# again: fuzz_jit --seed %" PRIu64 " --count 1 --shrink\n1..1\n",
			       seed_now, sig, strsignal(sig), phases[*check_phase], seed_now);

	if (!quiet && write(1, text, (size_t)n) < 0)
		_exit(SHRINK_CRASHED);
}

/* Goes on behind loads that may fault; all else is the end. */
static void caught(int sig, siginfo_t *info, void *context)
{
	if ((sig == SIGSEGV || sig == SIGBUS) && image_resume(context))
		return;
	report_crash(sig);
	_exit(SHRINK_CRASHED);
}

/* On the program's own stack, so that it shows when native code keeps what is out of bounds. */
static void catch_crashes(void)
{
	const struct sigaction action = { .sa_sigaction = caught, .sa_flags = SA_SIGINFO };
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGPROF, SIGABRT };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

static void print_unit(const struct unit *u)
{
	struct report r = { 0 };
	const char *line, *end;

	unit_print(u, PRINT_LLVM, &r);
	for (line = r.text ? r.text : ""; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		printf("#   %.*s\n", (int)(end - line), line);
	}
	report_free(&r);
}

static void print_case(const struct gen_case *c)
{
	for (unsigned i = 0; i < c->n_units; i++) {
		printf("# program %u, %u ops\n", i, c->unit[i]->n_ops);
		print_unit(c->unit[i]);
	}
}

/* Each unit of the case as a file DIR/fuzz-SEED-UNIT.s. */
static void write_case(const char *dir, uint64_t seed, const struct gen_case *c)
{
	for (unsigned i = 0; dir && i < c->n_units; i++) {
		struct report r = { 0 };
		char path[4096];
		FILE *f;

		snprintf(path, sizeof(path), "%s/fuzz-%" PRIu64 "-%u.s", dir, seed, i);
		unit_print(c->unit[i], PRINT_LLVM, &r);
		f = fopen(path, "w");
		if (f) {
			fputs(r.text ? r.text : "", f);
			fclose(f);
			printf("# written: %s\n", path);
		}
		report_free(&r);
	}
}

/* Which code is checked follows from the seed: half of the programs use what the CPU has. */
static void configure(const struct options *o, uint64_t seed, struct check *check)
{
	struct rng rng = { seed ^ 0x6a09e667f3bcc908 };

	check->other.jit = (struct jit_opts){
		.cpu = o->cpu		    ? o->cpu
		       : rng_below(&rng, 2) ? NULL
					    : "baseline",
		.features_off = rng_once_in(&rng, 4) ? rng_next(&rng) : 0,
		.landing_pads = rng_once_in(&rng, 4),
		.blind = o->blind || rng_once_in(&rng, 4),
		.blind_seed = seed + 1,
		.sign_returns = rng_once_in(&rng, 4),
		.private_stack = rng_once_in(&rng, 4),
		.separate = rng_once_in(&rng, 4),
	};
}

static void explain(const struct check *check, uint64_t seed)
{
	printf("# seed %" PRIu64 ": %s\n", seed, check->text);
	printf("# again: fuzz_jit --seed %" PRIu64 " --count 1 --shrink\n", seed);
}

struct counts {
	uint64_t verdict[CHECK_UNSUPPORTED + 1];
	uint64_t ops;
	uint64_t by_code[OP_COUNT][2]; /* op, OP_REG */
};

static void count_ops(struct counts *n, const struct gen_case *c)
{
	for (unsigned k = 0; k < c->n_units; k++) {
		const struct unit *u = c->unit[k];

		n->ops += u->n_ops;
		for (uint32_t i = 0; i < u->n_ops; i++)
			n->by_code[u->ops[i].code][(u->ops[i].mode & OP_REG) != 0]++;
	}
}

static void print_stats(const struct counts *n)
{
	for (int i = 0; i < OP_COUNT; i++)
		printf("# %-12s %10" PRIu64 " imm %10" PRIu64 " reg\n", op_rows[i].name,
		       n->by_code[i][0], n->by_code[i][1]);
}

/* False when the program made a difference. */
static bool run_seed(const struct options *o, struct check *check, uint64_t seed, struct counts *n)
{
	static const struct itimerval limit = { .it_value = { .tv_sec = 60 } };
	struct gen_case c;
	enum verdict v;

	seed_now = seed;
	setitimer(ITIMER_PROF, &limit, NULL);
	if (gen_case_new(seed, NULL, &c) || world_bind(&c)) {
		printf("# seed %" PRIu64 ": no program could be made\n", seed);
		return false;
	}
	configure(o, seed, check);
	if (o->print)
		print_case(&c);
	count_ops(n, &c);
	v = check_case(check, &c);
	gen_case_free(&c);
	n->verdict[v]++;
	if (v == CHECK_UNSUPPORTED && n->verdict[v] == 1)
		printf("# seed %" PRIu64 ": %s\n", seed, check->text);
	if (v == CHECK_DIFFERENT || v == CHECK_FAILED)
		explain(check, seed);
	return v != CHECK_DIFFERENT && v != CHECK_FAILED;
}

static int run(const struct options *o, struct check *check)
{
	struct counts n = { 0 };
	uint64_t bad = 0;

	for (uint64_t i = 0; i < o->count && bad < 10; i++)
		bad += !run_seed(o, check, o->seed + i, &n);
	if (o->stats)
		print_stats(&n);
	printf("# %" PRIu64 " ops; %" PRIu64 " programs good, %" PRIu64 " different, %" PRIu64
	       " not loaded, %" PRIu64 " too long, %" PRIu64 " not supported by the engine\n",
	       n.ops, n.verdict[CHECK_SAME], n.verdict[CHECK_DIFFERENT], n.verdict[CHECK_FAILED],
	       n.verdict[CHECK_LONG], n.verdict[CHECK_UNSUPPORTED]);
	printf("%s 1 - %s %s programs %" PRIu64 " to %" PRIu64 "\n1..1\n", bad ? "not ok" : "ok",
	       o->target ? o->target : check->other.name,
	       o->target ? "compiles" : "and interp agree on", o->seed, o->seed + o->count - 1);
	return bad != 0;
}

static int shrink_one(const struct options *o, struct check *check)
{
	struct gen_case small;

	configure(o, o->seed, check);
	if (!shrink_seed(check, o->seed, &small)) {
		printf("ok 1 - seed %" PRIu64 " does not fail\n1..1\n", o->seed);
		return 0;
	}
	if (shrink_verdict(check, &small) == SHRINK_CRASHED)
		snprintf(check->text, sizeof(check->text), "crash");
	else
		check_case(check, &small);
	printf("# %s\n", check->text);
	print_case(&small);
	write_case(o->out, o->seed, &small);
	gen_case_free(&small);
	printf("not ok 1 - seed %" PRIu64 " fails\n1..1\n", o->seed);
	return 1;
}

static const char usage[] =
    "usage: fuzz_jit [--seed N] [--count N] [--engine jit|interp] [--cpu NAME] [--print]\n"
    "                [--blind] [--stats] [--shrink [--out DIR]]\n"
    "Random programs number N, N+1, ... on the interpreter and on the engine. --shrink makes\n"
    "program N small if it fails, and with --out writes it to DIR. With --target, the code of\n"
    "that back end is made and not run.\n";

static bool *flag_of(struct options *o, int c)
{
	return c == 'k' ? &o->shrink : c == 'p' ? &o->print : c == 'b' ? &o->blind : &o->stats;
}

static bool parse(int argc, char **argv, struct options *o)
{
	static const struct option known[] = {
		{ "seed", 1, NULL, 's' },
		{ "count", 1, NULL, 'n' },
		{ "engine", 1, NULL, 'e' },
		{ "cpu", 1, NULL, 'c' },
		{ "target", 1, NULL, 'g' },
		{ "out", 1, NULL, 'o' },
		{ "shrink", 0, NULL, 'k' },
		{ "print", 0, NULL, 'p' },
		{ "stats", 0, NULL, 't' },
		{ "blind", 0, NULL, 'b' },
		{ NULL },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 's')
			o->seed = strtoull(optarg, NULL, 0);
		else if (c == 'n')
			o->count = strtoull(optarg, NULL, 0);
		else if (c == 'e')
			o->engine = optarg;
		else if (c == 'c')
			o->cpu = optarg;
		else if (c == 'g')
			o->target = optarg;
		else if (c == 'o')
			o->out = optarg;
		else if (c == 'k' || c == 'p' || c == 't' || c == 'b')
			*flag_of(o, c) = true;
		else
			return false;
	}
	return optind == argc;
}

int main(int argc, char **argv)
{
	struct options o = { .seed = 1, .count = 1000, .engine = "jit" };
	struct check check = { 0 };

	if (!parse(argc, argv, &o)) {
		fputs(usage, stderr);
		return 2;
	}
	if (!engine_find("interp", &check.reference) || !engine_find(o.engine, &check.other)) {
		printf("1..0 # SKIP there is no engine %s\n", o.engine);
		return 0;
	}
	if (o.target && !target_find(o.target)) {
		printf("1..0 # SKIP there is no target %s\n", o.target);
		return 0;
	}
	check.other.target = o.target;
	setvbuf(stdout, NULL, _IOLBF, 0);
	catch_crashes();
	quiet = o.shrink;
	if (o.shrink)
		return shrink_one(&o, &check);
	return run(&o, &check);
}
