/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/result.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "run/prog.h"
#include "skep/engine.h"
#include "skep/json.h"
#include "skep/maps.h"
#include "skep/packets.h"
#include "skep/ui.h"
#include "skep/verdict.h"
#include "sys/sys.h"

enum { SAMPLES_FEW = 16 };

bool prog_is_verified(const struct bpf_program *p)
{
	struct obj *o = fd_obj(bpf_program__fd(p), OBJ_PROG);
	bool verified = o && prog_of(o)->verified;

	obj_put(o);
	return verified;
}

/* Why packets were not run, in words; their errno is the engine's. */
static const char *not_run_reason(const struct packets_result *p)
{
	if (p->not_run_err == -EINVAL)
		return "too short or too long for this type of program";
	return strerror(-p->not_run_err);
}

static double per_second(const struct packets_result *p)
{
	return p->ns ? (double)p->packets * 1e9 / (double)p->ns : 0;
}

static void verdict_row(const char *name, uint64_t packets, uint64_t bytes, uint64_t of)
{
	char a[32], b[32];

	printf("  %-20s%14s%8.1f %%%18s\n", name, ui_count(packets, a, sizeof(a)),
	       of ? 100.0 * (double)packets / (double)of : 0, ui_count(bytes, b, sizeof(b)));
}

static void text_verdicts(const struct result_view *v)
{
	const struct packets_result *p = v->packets;
	char count[32];

	printf("\n%s  %-20s%14s%10s%18s%s\n", ui_bold(stdout), "verdict", "packets", "share",
	       "bytes", ui_plain(stdout));
	for (unsigned i = 0; i < n_verdicts; i++)
		if (p->count[i])
			verdict_row(verdicts[i].name, p->count[i], p->bytes_of[i], p->packets);
	if (p->not_run)
		printf("  %-20s%14s  (%s; the first is number %llu)\n", "not run",
		       ui_count(p->not_run, count, sizeof(count)), not_run_reason(p),
		       (unsigned long long)p->first_not_run);
}

static void text_time(const struct result_view *v)
{
	const struct packets_result *p = v->packets;
	char rate[32];

	if (!p->samples.n)
		return;
	printf("\n  time a packet   median %.0f ns, middle half %.0f-%.0f ns, "
	       "80 %% within %.0f-%.0f ns\n",
	       packets_quantile(p, .5), packets_quantile(p, .25), packets_quantile(p, .75),
	       packets_quantile(p, .1), packets_quantile(p, .9));
	printf("  packets/second  %s\n", ui_count((uint64_t)per_second(p), rate, sizeof(rate)));
	if (p->samples.n < SAMPLES_FEW)
		printf("                  (few packets, cold caches: --repeat tells more)\n");
}

static void print_text(const struct result_view *v)
{
	const struct packets_result *p = v->packets;
	char packets[32], bytes[32], written[32];

	printf("%s%s%s (%s) on %s", ui_bold(stdout), bpf_program__name(v->prog), ui_plain(stdout),
	       verdict_type_name(v->job->prog_type), v->job->in);
	if (v->job->repeat > 1)
		printf(", %llu times", (unsigned long long)v->job->repeat);
	printf(": %s packets, %s bytes\n", ui_count(p->packets, packets, sizeof(packets)),
	       ui_count(p->bytes, bytes, sizeof(bytes)));
	text_verdicts(v);
	text_time(v);
	if (v->job->out)
		printf("  written         %s packets to %s\n",
		       ui_count(p->written, written, sizeof(written)), v->job->out);
	redirects_print_text(&p->redirects, v->object);
	maps_print_text(v->object, v->events, v->all);
}

static void json_verdicts(const struct result_view *v, struct json *j)
{
	const struct packets_result *p = v->packets;

	json_array(j, "verdicts");
	for (unsigned i = 0; i < n_verdicts; i++) {
		if (!p->count[i])
			continue;
		json_object(j, NULL);
		json_text(j, "name", verdicts[i].name);
		if (!verdicts[i].rest)
			json_i64(j, "value", verdicts[i].value);
		json_u64(j, "packets", p->count[i]);
		json_u64(j, "bytes", p->bytes_of[i]);
		json_bool(j, "passed", verdicts[i].passed);
		json_object_end(j);
	}
	json_array_end(j);
	json_object(j, "not_run");
	json_u64(j, "packets", p->not_run);
	if (p->not_run) {
		json_u64(j, "first", p->first_not_run);
		json_text(j, "reason", not_run_reason(p));
	}
	json_object_end(j);
}

static void json_time(const struct result_view *v, struct json *j)
{
	static const struct {
		const char *name;
		double q;
	} quantiles[] = {
		{ "p10", .1 }, { "p25", .25 }, { "median", .5 }, { "p75", .75 }, { "p90", .9 }
	};
	const struct packets_result *p = v->packets;

	json_object(j, "time_ns");
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		json_real(j, quantiles[i].name, packets_quantile(p, quantiles[i].q));
	json_u64(j, "total", p->ns);
	json_u64(j, "samples", p->samples.n);
	json_u64(j, "packets_per_sample", BATCH);
	json_object_end(j);
	json_real(j, "packets_per_second", per_second(p));
}

static void print_json(const struct result_view *v)
{
	struct json j = { .f = stdout, .style = JSON_PRETTY };

	json_object(&j, NULL);
	json_text(&j, "skep", SKEP_VERSION);
	json_text(&j, "object", v->path);
	json_object(&j, "program");
	json_text(&j, "name", bpf_program__name(v->prog));
	json_text(&j, "type", libbpf_bpf_prog_type_str(v->job->prog_type));
	json_bool(&j, "verified", prog_is_verified(v->prog));
	json_object_end(&j);
	json_object(&j, "capture");
	json_text(&j, "path", v->job->in);
	json_u64(&j, "repeat", v->job->repeat);
	json_u64(&j, "packets", v->packets->packets);
	json_u64(&j, "bytes", v->packets->bytes);
	json_object_end(&j);
	json_verdicts(v, &j);
	redirects_print_json(&v->packets->redirects, v->object, &j);
	json_time(v, &j);
	if (v->job->out) {
		json_object(&j, "output");
		json_text(&j, "path", v->job->out);
		json_u64(&j, "packets", v->packets->written);
		json_object_end(&j);
	}
	maps_print_json(v->object, v->events, &j);
	json_object_end(&j);
	fputc('\n', stdout);
}

void result_print(const struct result_view *v, bool json)
{
	if (json)
		print_json(v);
	else
		print_text(v);
}
