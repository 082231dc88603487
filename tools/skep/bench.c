/* SPDX-License-Identifier: BSD-2-Clause */
/* skep bench: how fast helpers and maps are, in skep and in the kernel. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "skep/bench.h"

#include "base/report.h"
#include "rewrite/rewrite.h"
#include "skep/command.h"
#include "skep/json.h"
#include "skep/ui.h"

enum { PRODUCERS_LIST = 16, ROUNDS = 5, SLICE_MS = 20 };

struct bench_values {
	const char *producers, *vs;
	struct opt_list no_inline;
	bool both, json, list;
	uint64_t rounds, slice;
};

static const struct opt bench_opts[] = {
	{ "producers", 'p', OPT_TEXT, offsetof(struct bench_values, producers), "N,...",
	  "how many threads run it at once (default: 1)" },
	{ "vs", 0, OPT_TEXT, offsetof(struct bench_values, vs), "kernel",
	  "also in the running kernel, in turns" },
	{ "no-inline", 0, OPT_LIST, offsetof(struct bench_values, no_inline), "NAME",
	  "leave a rewrite out (`all`; a wrong name lists them)" },
	{ "both", 0, OPT_FLAG, offsetof(struct bench_values, both), NULL,
	  "also without those of --no-inline (default: all)" },
	{ "rounds", 0, OPT_COUNT, offsetof(struct bench_values, rounds), "N",
	  "loads, each at another place (default: 5)" },
	{ "slice", 0, OPT_COUNT, offsetof(struct bench_values, slice), "MS",
	  "length of one turn; three a round (default: 20)" },
	{ "list", 0, OPT_FLAG, offsetof(struct bench_values, list), NULL,
	  "names of the benchmarks" },
	{ "json", 0, OPT_FLAG, offsetof(struct bench_values, json), NULL, "print JSON" },
};

static int off_mask(const struct bench_values *v, struct report *r, uint64_t *mask)
{
	int err = 0;

	*mask = v->both && !v->no_inline.n ? UINT64_MAX : 0;
	for (size_t i = 0; i < v->no_inline.n && !err; i++)
		if (!strcmp(v->no_inline.at[i], "all"))
			*mask = UINT64_MAX;
		else
			err = rewrite_turn_off(v->no_inline.at[i], r, mask);
	return err;
}

/* "1,2,4" */
static int producers_of(const char *text, struct report *r, unsigned *out, unsigned *n)
{
	const char *p = text ? text : "1";
	char *end;

	for (*n = 0; *n < PRODUCERS_LIST; p = end + 1) {
		unsigned long v = strtoul(p, &end, 10);

		if (end == p || !v || v > UINT16_MAX || (*end && *end != ','))
			break;
		out[(*n)++] = (unsigned)v;
		if (!*end)
			return 0;
	}
	return report_fail(r, -EINVAL, "bench: --producers=%s: not a list of numbers", text);
}

static bool chosen(const char *name, char **args, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!fnmatch(args[i], name, 0))
			return true;
	return !n;
}

static void print_spread(const struct spread *s, int digits)
{
	printf(" %8.*f (%.*f … %.*f)", digits, s->median, digits, s->low, digits, s->high);
}

static void print_line(const struct bench_job *job, const struct bench_result *res)
{
	printf("%-26s %2u", job->bench->name, job->producers);
	print_spread(&res->mops[SIDE_SKEP], 1);
	if (job->with[SIDE_OFF]) {
		print_spread(&res->mops[SIDE_OFF], 1);
		printf(" %+7.1f %%", (res->gain.median - 1) * 100);
	}
	if (job->with[SIDE_KERNEL]) {
		print_spread(&res->mops[SIDE_KERNEL], 1);
		print_spread(&res->ratio, 2);
	}
	printf("\n");
	fflush(stdout);
}

static void print_head(const struct bench_job *job)
{
	printf("%sM operations/s of all producers: median (lowest … highest) of %u rounds%s\n",
	       ui_bold(stdout), job->rounds, ui_plain(stdout));
	printf("%-26s  p  skep%s%s\n", "", job->with[SIDE_OFF] ? ", without rewrites, gain" : "",
	       job->with[SIDE_KERNEL] ? ", kernel, skep/kernel" : "");
}

static void json_spread(struct json *j, const char *name, const struct spread *s)
{
	static const char *const ends[] = { "", "_min", "_max" };
	const double values[] = { s->median, s->low, s->high };
	char key[64];

	for (int i = 0; i < 3; i++) {
		snprintf(key, sizeof(key), "%s%s", name, ends[i]);
		json_real(j, key, values[i]);
	}
}

static void json_row(struct json *j, const struct bench_job *job, const struct bench_result *res)
{
	json_object(j, NULL);
	json_text(j, "name", job->bench->name);
	json_u64(j, "producers", job->producers);
	json_u64(j, "batch", job->bench->ops);
	json_u64(j, "rounds", job->rounds);
	json_spread(j, "mops", &res->mops[SIDE_SKEP]);
	if (job->with[SIDE_OFF]) {
		json_spread(j, "no_inline_mops", &res->mops[SIDE_OFF]);
		json_spread(j, "gain", &res->gain);
	}
	if (job->with[SIDE_KERNEL]) {
		json_spread(j, "kernel_mops", &res->mops[SIDE_KERNEL]);
		json_spread(j, "ratio", &res->ratio);
	}
	json_object_end(j);
}

static int measure_all(struct bench_job *job, const unsigned *producers, unsigned n_producers,
		       char **args, unsigned n_args, struct json *j, struct report *r)
{
	unsigned n;
	const struct bench *list = bench_list(&n);
	struct bench_result res;
	int err = 0;

	for (unsigned i = 0; i < n && !err; i++) {
		if (!chosen(list[i].name, args, n_args))
			continue;
		job->bench = &list[i];
		for (unsigned k = 0; k < n_producers && !err; k++) {
			job->producers = producers[k];
			err = bench_measure(job, r, &res);
			if (!err && j)
				json_row(j, job, &res);
			else if (!err)
				print_line(job, &res);
		}
	}
	return err;
}

/* Each argument names something. */
static int names_check(char **args, unsigned n_args, struct report *r)
{
	unsigned n;
	const struct bench *list = bench_list(&n);

	for (unsigned i = 0; i < n_args; i++) {
		unsigned k = 0;

		while (k < n && fnmatch(args[i], list[k].name, 0))
			k++;
		if (k == n)
			return report_fail(r, -ENOENT,
					   "bench: no benchmark '%s'; --list names them", args[i]);
	}
	return 0;
}

static int print_list(void)
{
	unsigned n;
	const struct bench *list = bench_list(&n);

	for (unsigned i = 0; i < n; i++)
		printf("%s\n", list[i].name);
	return 0;
}

static int set_up(const struct bench_values *v, struct report *r, struct bench_job *job)
{
	uint64_t mask;
	int err = off_mask(v, r, &mask);

	if (err)
		return err;
	if (v->vs && strcmp(v->vs, "kernel") != 0)
		return report_fail(r, -EINVAL, "bench: --vs=%s: there is only `kernel`", v->vs);
	job->rounds = v->rounds ? (unsigned)v->rounds : ROUNDS;
	job->slice_ms = v->slice ? (unsigned)v->slice : SLICE_MS;
	job->with[SIDE_SKEP] = true;
	job->with[SIDE_OFF] = v->both;
	job->with[SIDE_KERNEL] = v->vs;
	job->off_mask[v->both ? SIDE_OFF : SIDE_SKEP] = mask;
	return 0;
}

static int run(const void *values, char **args, unsigned n)
{
	const struct bench_values *v = values;
	struct json j = { .f = stdout };
	struct bench_job job = { 0 };
	unsigned producers[PRODUCERS_LIST], n_producers;
	struct report r = { 0 };
	int err;

	if (v->list)
		return print_list();
	err = producers_of(v->producers, &r, producers, &n_producers);
	if (!err)
		err = names_check(args, n, &r);
	if (!err)
		err = set_up(v, &r, &job);
	if (!err && v->json) {
		json_object(&j, NULL);
		json_array(&j, "benchmarks");
	} else if (!err) {
		print_head(&job);
	}
	if (!err)
		err = measure_all(&job, producers, n_producers, args, n, v->json ? &j : NULL, &r);
	if (!err && v->json) {
		json_array_end(&j);
		json_object_end(&j);
	}
	if (err)
		ui_unable("%s", r.text ? r.text : strerror(-err));
	report_free(&r);
	return err ? EXIT_UNABLE : 0;
}

const struct command command_bench = {
	.name = "bench",
	.args = "[NAME]...",
	.line = "Measures helpers and maps, also against the kernel",
	.about = "A name may have * and ?; without one, all benchmarks are run.",
	.example = "Example: skep bench glob-arr-inc arr-inc hash-inc -p 1,2 --both --vs kernel",
	.opts = bench_opts,
	.n_opts = sizeof(bench_opts) / sizeof(bench_opts[0]),
	.max_args = 64,
	.run = run,
	.values_size = sizeof(struct bench_values),
};
