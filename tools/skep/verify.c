/* SPDX-License-Identifier: BSD-2-Clause */
/* skep verify: what the verifier says of each program of BPF objects. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "object/object.h"
#include "skep/command.h"
#include "skep/json.h"
#include "skep/ui.h"
#include "skep/verify_one.h"
#include "verify/verify.h"

struct verify_values {
	const char *prog;
	uint64_t level;
	bool verbose, json;
};

#define AT(member) offsetof(struct verify_values, member)

static const struct opt verify_opts[] = {
	{ "prog", 'p', OPT_TEXT, AT(prog), "NAME", "only the programs of this name" },
	{ "verbose", 'v', OPT_FLAG, AT(verbose), NULL, "print the log of each program" },
	{ "level", 'l', OPT_COUNT, AT(level), "N", "how much of it: 1 (default), 2: every state" },
	{ "json", 'j', OPT_FLAG, AT(json), NULL,
	  "print JSON (docs/verifier.md says what is in it)" },
};

struct job {
	const struct verify_values *v;
	struct json json;
	struct progress progress;
	unsigned total, done; /* programs */
	unsigned count[VERIFY_UNTRIED + 1];
	uint64_t usec;
	unsigned unopened;  /* objects */
	const char *object; /* the running one */
	bool headed;	    /* its header is printed */
	int width;	    /* of the column of names */
};

static unsigned log_level(const struct verify_values *v)
{
	return v->level ? (unsigned)v->level : v->verbose ? LOG_INSNS : 0;
}

/* -- as text */

static const struct {
	const char *text;
	const char *json;
} verdicts[] = {
	[VERIFY_ACCEPTED] = { "accepted", "accepted" },
	[VERIFY_REJECTED] = { "rejected", "rejected" },
	[VERIFY_UNTRIED] = { "not tried", "rejected" },
};

static const char *time_text(uint64_t usec, char *buf, size_t size)
{
	if (usec < 10000)
		snprintf(buf, size, "%llu us", (unsigned long long)usec);
	else if (usec < 10000000)
		snprintf(buf, size, "%.1f ms", (double)usec / 1e3);
	else
		snprintf(buf, size, "%.1f s", (double)usec / 1e6);
	return buf;
}

/* Lines, each behind two tabs' worth of blanks. */
static void lines_print(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		printf("      %.*s\n", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static void text_head(struct job *j)
{
	if (j->headed)
		return;
	printf("%s%s%s%s\n", j->done > 1 ? "\n" : "", ui_bold(stdout), j->object, ui_plain(stdout));
	printf("  %s%-*s  %-18s%-10s%10s%8s%8s%10s%s\n", ui_dim(stdout), j->width, "program",
	       "type", "verdict", "insns", "states", "peak", "time", ui_plain(stdout));
	j->headed = true;
}

static void text_row(struct job *j, const struct verify_row *row)
{
	char insns[32], states[32], peak[32], time[32];
	bool bold = row->verdict != VERIFY_ACCEPTED;

	progress_end(&j->progress);
	text_head(j);
	printf("  %-*s  %-18s%s%-10s%s%10s%8s%8s%10s\n", j->width, row->name, row->type,
	       bold ? ui_bold(stdout) : "", verdicts[row->verdict].text,
	       bold ? ui_plain(stdout) : "", ui_count(row->insns, insns, sizeof(insns)),
	       ui_count(row->states, states, sizeof(states)),
	       ui_count(row->peak, peak, sizeof(peak)), time_text(row->usec, time, sizeof(time)));
	if (log_level(j->v) && row->log.text)
		printf("%s%s", row->log.text, row->log.text[row->log.n - 1] == '\n' ? "" : "\n");
	else if (row->message.text)
		lines_print(row->message.text);
}

static void text_end(const struct job *j)
{
	char time[32];

	if (j->done != 1)
		printf("\n%u programs: %u accepted, %u rejected", j->done,
		       j->count[VERIFY_ACCEPTED], j->count[VERIFY_REJECTED]);
	if (j->done != 1 && j->count[VERIFY_UNTRIED])
		printf(", %u not tried", j->count[VERIFY_UNTRIED]);
	if (j->done != 1)
		printf("; %s\n", time_text(j->usec, time, sizeof(time)));
}

/* -- as JSON */

static void json_row(struct job *j, const struct verify_row *row)
{
	json_object(&j->json, NULL);
	json_text(&j->json, "object", j->object);
	json_text(&j->json, "name", row->name);
	json_text(&j->json, "type", row->type);
	json_text(&j->json, "verdict", verdicts[row->verdict].json);
	json_u64(&j->json, "visited_insns", row->insns);
	json_u64(&j->json, "states", row->states);
	json_u64(&j->json, "peak_states", row->peak);
	json_u64(&j->json, "usec", row->usec);
	json_text(&j->json, "message", row->message.text ? row->message.text : "");
	if (log_level(j->v))
		json_text(&j->json, "log", row->log.text ? row->log.text : "");
	json_object_end(&j->json);
}

/* -- the work */

static void row_take(struct job *j, const struct verify_row *row)
{
	j->done++;
	j->count[row->verdict]++;
	j->usec += row->usec;
	progress_at(&j->progress, j->total ? (double)j->done / j->total : 0);
	if (j->v->json)
		json_row(j, row);
	else
		text_row(j, row);
}

typedef VEC(char *) names;

static void names_free(names *list)
{
	for (size_t i = 0; i < list->n; i++)
		mem_free(list->at[i]);
	vec_free(list);
}

/* Names of the object's programs that are wanted. */
static int names_of(const struct job *j, const char *path, struct report *r, names *out)
{
	struct bpf_program *p;
	struct bpf_object *o;
	int err = object_open(path, r, &o);

	if (err)
		return err;
	if (!bpf_object__next_program(o, NULL))
		err = report_fail(r, -ENOENT, "%s: no program in it; is SEC(...) missing?", path);
	bpf_object__for_each_program(p, o)
	{
		char *name;

		if (err || (j->v->prog && strcmp(j->v->prog, bpf_program__name(p))))
			continue;
		name = mem_strdup(bpf_program__name(p));
		if (!name || vec_push(out, name)) {
			mem_free(name);
			err = -ENOMEM;
		}
	}
	bpf_object__close(o);
	return err;
}

static int verify_object(struct job *j, const char *path, const names *list, struct report *r)
{
	int err = 0;

	j->object = path;
	j->headed = false;
	j->width = 8;
	for (size_t i = 0; i < list->n; i++) {
		int n = (int)strlen(list->at[i]);

		j->width = n > j->width ? n : j->width;
	}
	for (size_t i = 0; i < list->n && !err; i++) {
		struct verify_row row;

		err = verify_one(path, list->at[i], log_level(j->v), r, &row);
		if (!err)
			row_take(j, &row);
		verify_row_free(&row);
	}
	return err;
}

/* An object that cannot be opened is told of, and does not stop the others. */
static void tell(struct job *j, struct report *r, int err)
{
	progress_end(&j->progress);
	ui_unable("%s", r->text ? r->text : strerror(-err));
	report_free(r);
	j->unopened++;
}

static void verify_all(struct job *j, char **paths, unsigned n)
{
	names *lists = mem_zalloc(n, sizeof(*lists));
	struct report r = { 0 };

	if (!lists)
		return tell(j, &r, -ENOMEM);
	for (unsigned i = 0; i < n; i++) {
		int err = names_of(j, paths[i], &r, &lists[i]);

		if (err)
			tell(j, &r, err);
		j->total += (unsigned)lists[i].n;
	}
	for (unsigned i = 0; i < n; i++) {
		int err = verify_object(j, paths[i], &lists[i], &r);

		if (err)
			tell(j, &r, err);
		names_free(&lists[i]);
	}
	mem_free(lists);
}

static int run_verify(const void *values, char **args, unsigned n)
{
	struct job j = { .v = values, .json = { .f = stdout, .style = JSON_PRETTY } };

	progress_start(&j.progress, "verifying");
	if (j.v->json) {
		json_object(&j.json, NULL);
		json_array(&j.json, "programs");
	}
	verify_all(&j, args, n);
	progress_end(&j.progress);
	if (!j.unopened && !j.done)
		ui_unable("verify: there is no program '%s'", j.v->prog);
	if (j.v->json) {
		json_array_end(&j.json);
		json_object_end(&j.json);
		fputc('\n', stdout);
	} else if (j.done) {
		text_end(&j);
	}
	if (j.unopened || !j.done || j.count[VERIFY_UNTRIED])
		return EXIT_UNABLE;
	return j.count[VERIFY_REJECTED] ? EXIT_NO : 0;
}

const struct command command_verify = {
	.name = "verify",
	.args = "OBJECT...",
	.line = "Says of each program of BPF objects whether it may run",
	.about = "By Linux 6.12's rules. Each program is tried, whatever came of the others.\n"
		 "Exit status: 0 all accepted; 1 some rejected; 2 some could not be tried.",
	.example = "Example: skep verify xdp_flow.bpf.o tc_nat.bpf.o",
	.opts = verify_opts,
	.n_opts = sizeof(verify_opts) / sizeof(verify_opts[0]),
	.min_args = 1,
	.max_args = 4096,
	.run = run_verify,
	.values_size = sizeof(struct verify_values),
};
