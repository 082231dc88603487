/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/packets.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "skep/capture.h"
#include "skep/engine.h"
#include "skep/events.h"
#include "skep/ui.h"
#include "skep/verdict.h"

enum { SAMPLES_MAX = 1 << 20 };

/* Everything that a run holds. */
struct work {
	const struct packets_job *job;
	struct report *r;
	struct packets_result *result;
	struct engine engine;
	struct capture_out out;
	struct progress progress;
	uint64_t round;
	uint64_t batches; /* that were measured */
	uint64_t random;  /* state of next_random() */
	bool warned;
	uint8_t *packet; /* ENGINE_OUT_MAX bytes, one packet on its way out */
};

static int write_shot(struct work *w, const struct shot *s)
{
	struct capture_head h = s->head;
	uint32_t cut = h.wire - h.n; /* bytes that the capture did not have */
	uint32_t n = engine_packet(s, w->packet);

	h.n = n;
	h.wire = n + cut;
	w->result->written++;
	return capture_write(&w->out, w->r, &h, w->packet);
}

/* Counts one result and writes the packet when it was passed. */
static int take_shot(struct work *w, const struct shot *s, uint64_t number)
{
	struct packets_result *p = w->result;
	const struct verdict *v;

	if (s->err) {
		if (!p->not_run++) {
			p->not_run_err = s->err;
			p->first_not_run = number;
		}
		return 0;
	}
	v = verdict_find(w->job->prog_type, s->result.verdict);
	p->count[v - verdicts]++;
	p->bytes_of[v - verdicts] += s->head.n;
	p->packets++;
	p->bytes += s->head.n;
	if (redirects_add(&p->redirects, &s->result.redirect, v->redirects))
		return report_fail(w->r, -ENOMEM, "out of memory");
	/* Output is that of the first round: later ones only measure. */
	return v->passed && w->out.dumper && w->round == 0 ? write_shot(w, s) : 0;
}

/* Says the job's warning when the first packets are about to run. */
static void warn_once(struct work *w)
{
	if (w->job->warning && !w->warned && w->engine.n) {
		ui_note("%s", w->job->warning);
		w->warned = true;
	}
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 32;
}

/* Keeps all samples at first, then SAMPLES_MAX of them so that each had the same chance (reservoir
 * sampling): the memory of long runs is bounded, and no batch of the capture is preferred. */
static int keep_sample(struct work *w, double ns)
{
	uint64_t n = w->batches++, at;

	if (n < SAMPLES_MAX)
		return vec_push(&w->result->samples, ns);
	at = next_random(&w->random) % (n + 1);
	if (at < SAMPLES_MAX)
		w->result->samples.at[at] = ns;
	return 0;
}

static int run_batch(struct work *w, uint64_t first)
{
	unsigned ran;
	uint64_t ns;
	int err;

	warn_once(w);
	engine_run(&w->engine, &ns, &ran);
	w->result->ns += ns;
	if (ran && keep_sample(w, (double)ns / ran))
		return report_fail(w->r, -ENOMEM, "out of memory");
	err = events_take(w->job->events);
	if (err)
		return report_fail(w->r, err, "ring buffer: %s", strerror(-err));
	for (unsigned i = 0; i < w->engine.n; i++) {
		err = take_shot(w, &w->engine.shots[i], first + i);
		if (err)
			return err;
	}
	engine_clear(&w->engine);
	return 0;
}

/* The next packets into the batch. 1: there may be more, 0: the capture is at its end, -errno. */
static int fill_batch(struct work *w, struct capture *c)
{
	struct capture_head head;
	const uint8_t *bytes;
	int got;

	while (w->engine.n < BATCH) {
		got = capture_next(c, w->r, &head, &bytes);
		if (got <= 0)
			return got;
		engine_add(&w->engine, &head, bytes);
	}
	return 1;
}

static int run_capture(struct work *w, struct capture *c)
{
	uint64_t first;
	int more, err;

	do {
		first = c->packets + 1;
		more = fill_batch(w, c);
		if (more < 0)
			return more;
		err = run_batch(w, first);
		if (err)
			return err;
		progress_at(&w->progress,
			    ((double)w->round + capture_part(c)) / (double)w->job->repeat);
	} while (more);
	if (!c->packets)
		return report_fail(w->r, -ENODATA, "%s: holds no packets", c->path);
	return 0;
}

static int run_rounds(struct work *w)
{
	struct capture c;
	int err = 0;

	for (w->round = 0; w->round < w->job->repeat && !err; w->round++) {
		err = capture_open(w->job->in, w->r, &c);
		if (err)
			return err;
		err = run_capture(w, &c);
		capture_close(&c);
	}
	return err;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int packets_run(const struct packets_job *job, struct report *r, struct packets_result *out)
{
	struct work w = { .job = job, .r = r, .result = out };
	int err = engine_open(&w.engine, job->prog_fd);

	*out = (struct packets_result){ 0 };
	if (err)
		return report_fail(r, err, "packets cannot be run: %s", strerror(-err));
	if (job->out) {
		w.packet = mem_zalloc(1, ENGINE_OUT_MAX);
		err = w.packet ? capture_create(job->out, r, &w.out)
			       : report_fail(r, -ENOMEM, "out of memory");
	}
	progress_start(&w.progress, "running");
	if (!err)
		err = run_rounds(&w);
	progress_end(&w.progress);
	if (!err && w.out.dumper)
		err = capture_commit(&w.out, r);
	capture_discard(&w.out);
	engine_close(&w.engine);
	mem_free(w.packet);
	if (out->samples.n)
		qsort(out->samples.at, out->samples.n, sizeof(*out->samples.at), compare);
	return err;
}

void packets_free(struct packets_result *p)
{
	vec_free(&p->samples);
	redirects_free(&p->redirects);
}

double packets_quantile(const struct packets_result *p, double q)
{
	size_t n = p->samples.n;

	return n ? p->samples.at[(size_t)(q * (double)(n - 1) + 0.5)] : 0;
}
