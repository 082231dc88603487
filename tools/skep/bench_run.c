/* SPDX-License-Identifier: BSD-2-Clause */
/* Benchmarks: runs of one on all sides, in turns. */
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/report.h"
#include "base/vec.h"
#include "skep/bench.h"

/* SLICES: how often a side has its turn in a round. REPEAT: runs of a program that needs nothing
 * between them in one call. */
enum { SLICES = 3, REPEAT = 32, PACKET = 64, ROUNDS_MAX = 101, PRODUCERS_MAX = 64 };

typedef VEC(double) samples; /* ns of one operation, in calls */

struct producer {
	const struct bench_job *job;
	const struct bench_loaded *l;
	bool kernel;
	unsigned number; /* from 0 */
	uint32_t next;	 /* elements of the runs so far */
	uint64_t until;
	samples *ns;
	int err;
};

/* What bench/ops.bpf.c reads from the packet. */
struct job_bytes {
	uint32_t first, step, mask;
};

static int test_run(const struct producer *p, int prog, const struct job_bytes *job, uint32_t *ret,
		    uint32_t *ns)
{
	uint8_t packet[PACKET] = { 0 };
	union bpf_attr a = { 0 };
	int err;

	memcpy(packet, job, sizeof(*job));
	a.test.prog_fd = (uint32_t)prog;
	a.test.data_in = (uint64_t)(uintptr_t)packet;
	a.test.data_size_in = sizeof(packet);
	a.test.repeat = p->job->bench->kind == BENCH_INC ? REPEAT : 1;
	err = bench_bpf(p->kernel, BPF_PROG_TEST_RUN, &a, sizeof(a));
	*ret = a.test.retval;
	*ns = a.test.duration;
	return err;
}

/* Which elements the next run takes: neighbours in time are no neighbours in the map; those that
 * are added were never there. */
static struct job_bytes job_next(struct producer *p)
{
	const struct bench *b = p->job->bench;
	uint32_t first = p->next;

	p->next += b->ops;
	if (b->kind != BENCH_READ && b->kind != BENCH_INC)
		return (struct job_bytes){ (p->number + 1) << 26 | (first & ((1 << 26) - 1)), 1,
					   UINT32_MAX };
	return (struct job_bytes){ first * 0x9e3779b1, 0x9e3779b1, b->entries - 1 };
}

/* One call, or one of the program and one of what undoes it. */
static int sample(struct producer *p)
{
	const struct bench *b = p->job->bench;
	struct job_bytes job = job_next(p);
	uint32_t ret, ns, undone = b->ops, undo_ns = 0;
	int err = test_run(p, p->l->prog, &job, &ret, &ns);

	if (!err && p->l->undo >= 0)
		err = test_run(p, p->l->undo, &job, &undone, &undo_ns);
	if (err)
		return err;
	if (b->exact && (ret != b->ops || undone != b->ops))
		return -EPROTO;
	ns = b->kind == BENCH_UNDO ? undo_ns : ns;
	return vec_push(p->ns, (double)(ns ? ns : 1) / b->ops);
}

static void *produce(void *arg)
{
	struct producer *p = arg;

	do
		p->err = sample(p);
	while (!p->err && clock_ns(CLOCK_MONOTONIC) < p->until);
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct spread spread_of(double *v, size_t n)
{
	if (!n)
		return (struct spread){ 0 };
	qsort(v, n, sizeof(*v), by_value);
	return (struct spread){ v[n / 2], v[0], v[n - 1] };
}

/* A side in one round: what is loaded, and each producer's samples. */
struct turn {
	struct bench_loaded loaded;
	bool is_loaded;
	samples ns[PRODUCERS_MAX];
	uint32_t next[PRODUCERS_MAX];
};

/* All producers at once, for one slice. */
static int slice(const struct bench_job *job, struct turn *t, bool kernel)
{
	struct producer p[PRODUCERS_MAX];
	pthread_t thread[PRODUCERS_MAX];
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + job->slice_ms * 1000000ull;
	unsigned started = 0;
	int err = 0;

	for (; started < job->producers && !err; started += !err) {
		p[started] =
		    (struct producer){ job,   &t->loaded,      kernel, started, t->next[started],
				       until, &t->ns[started], 0 };
		err = -pthread_create(&thread[started], NULL, produce, &p[started]);
	}
	for (unsigned i = 0; i < started; i++) {
		pthread_join(thread[i], NULL);
		t->next[i] = p[i].next;
		err = err ? err : p[i].err;
	}
	return err;
}

/* The median of a producer's samples is its speed: they are shorter than other processes' turns,
 * which do not move it then. The sum over producers; more than there are CPUs share these. */
static double turn_mops(const struct bench_job *job, struct turn *t)
{
	double mops = 0, cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);

	for (unsigned i = 0; i < job->producers; i++)
		mops += 1000 / spread_of(t->ns[i].at, t->ns[i].n).median;
	return job->producers > cpus ? mops * cpus / job->producers : mops;
}

static void turns_free(struct turn *turn)
{
	for (int s = 0; s < SIDES; s++) {
		if (turn[s].is_loaded)
			bench_unload(&turn[s].loaded);
		for (unsigned i = 0; i < PRODUCERS_MAX; i++)
			vec_free(&turn[s].ns[i]);
	}
	mem_free(turn);
}

static int turns_load(const struct bench_job *job, struct turn *turn, struct report *r)
{
	int err = 0;

	for (int s = 0; s < SIDES && !err; s++) {
		if (!job->with[s])
			continue;
		err = bench_load(job->bench, s == SIDE_KERNEL, job->off_mask[s], job->producers, r,
				 &turn[s].loaded);
		turn[s].is_loaded = !err;
	}
	return err;
}

static const char *const side_name[] = { "skep", "skep without rewrites", "the kernel" };

static int turns_run(const struct bench_job *job, struct turn *turn, struct report *r)
{
	for (int i = 0; i < SLICES * SIDES; i++) {
		int s = i % SIDES, err = job->with[s] ? slice(job, &turn[s], s == SIDE_KERNEL) : 0;

		if (err == -EPROTO)
			return report_fail(r, err, "%s: an operation that must work fails in %s",
					   job->bench->name, side_name[s]);
		if (err)
			return report_fail(r, err, "%s: a run in %s: %s", job->bench->name,
					   side_name[s], strerror(-err));
	}
	return 0;
}

/* *kept: code that stays where it is, so that the next round's lies elsewhere. */
static int round_run(const struct bench_job *job, struct report *r, double mops[SIDES],
		     struct turn **kept)
{
	struct turn *turn = mem_zalloc(SIDES, sizeof(*turn));
	int err = turn ? turns_load(job, turn, r) : -ENOMEM;

	*kept = turn;
	if (!err)
		err = turns_run(job, turn, r);
	for (int s = 0; s < SIDES && !err; s++)
		mops[s] = job->with[s] ? turn_mops(job, &turn[s]) : 0;
	return err;
}

static void summarise(const struct bench_job *job, double mops[SIDES][ROUNDS_MAX],
		      struct bench_result *out)
{
	double ratio[ROUNDS_MAX], gain[ROUNDS_MAX];

	for (unsigned i = 0; i < job->rounds; i++) {
		ratio[i] = job->with[SIDE_KERNEL] ? mops[SIDE_SKEP][i] / mops[SIDE_KERNEL][i] : 0;
		gain[i] = job->with[SIDE_OFF] ? mops[SIDE_SKEP][i] / mops[SIDE_OFF][i] : 0;
	}
	for (int s = 0; s < SIDES; s++)
		out->mops[s] = spread_of(mops[s], job->rounds);
	out->ratio = spread_of(ratio, job->rounds);
	out->gain = spread_of(gain, job->rounds);
}

int bench_measure(const struct bench_job *job, struct report *r, struct bench_result *out)
{
	double mops[SIDES][ROUNDS_MAX] = { { 0 } }, now[SIDES];
	struct turn *kept[ROUNDS_MAX] = { NULL };
	int err = 0;

	if (job->rounds > ROUNDS_MAX || job->producers > PRODUCERS_MAX)
		return report_fail(r, -EINVAL, "bench: at most %d rounds and %d producers",
				   ROUNDS_MAX, PRODUCERS_MAX);
	for (unsigned i = 0; i < job->rounds && !err; i++) {
		err = round_run(job, r, now, &kept[i]);
		for (int s = 0; s < SIDES && !err; s++)
			mops[s][i] = now[s];
		if (job->bench->entries > 1 << 16 && kept[i]) {
			turns_free(kept[i]);
			kept[i] = NULL;
		}
	}
	for (unsigned i = 0; i < job->rounds; i++)
		if (kept[i])
			turns_free(kept[i]);
	if (!err)
		summarise(job, mops, out);
	return err;
}
