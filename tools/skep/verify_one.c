/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/verify_one.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "object/object.h"
#include "verify/verify.h"

enum { MAPS_MAX = 64, NAME_MAX_BPF = 64 };

/* Maps that could not be made, and why: programs that do without them are verified all the same. */
struct missing {
	char name[MAPS_MAX][NAME_MAX_BPF];
	char why[MAPS_MAX][256];
	unsigned at[MAPS_MAX]; /* which of the object's maps it is */
	unsigned n;
};

/* libbpf puts calls of helpers from this number on where maps are used that were not created. */
enum { MAP_POISON = 2001000000 };

/* The figures, which stand in the log also when the program is refused. False: there are none, the
 * program did not come before the verifier. */
static bool figures_read(struct verify_row *row)
{
	const char *log = row->log.text ? row->log.text : "";
	const char *time = strstr(log, "verification time "), *last = NULL;

	for (const char *p = log; (p = strstr(p, "processed ")); p++) {
		if (p == log || p[-1] == '\n')
			last = p;
	}
	if (time)
		sscanf(time, "verification time %llu", (unsigned long long *)&row->usec);
	return last &&
	       sscanf(last,
		      "processed %u insns (limit %*u) max_states_per_insn %*u total_states %u "
		      "peak_states %u",
		      &row->insns, &row->states, &row->peak) == 3;
}

/* Only the chosen program, and of the maps only those that can be made. */
static void object_choose(struct bpf_object *o, const char *name, struct missing *m)
{
	struct bpf_program *p;
	struct bpf_map *map;
	unsigned at = 0;

	bpf_object__for_each_program(p, o)
	    bpf_program__set_autoload(p, !strcmp(bpf_program__name(p), name));
	bpf_object__for_each_map(map, o)
	{
		for (unsigned i = 0; i < m->n; i++) {
			if (strcmp(bpf_map__name(map), m->name[i]))
				continue;
			bpf_map__set_autocreate(map, false);
			m->at[i] = at;
		}
		at++;
	}
}

/* libbpf said "map 'NAME': failed to create: WHY": remembers it. */
static bool missing_add(struct missing *m, const char *text)
{
	const char *said = text ? strstr(text, "map '") : NULL;
	const char *why = said ? strstr(said, "': failed to create") : NULL;

	if (!why || m->n == MAPS_MAX || sscanf(said, "map '%63[^']'", m->name[m->n]) != 1)
		return false;
	why = strchr(why, ':');
	why = why ? strchr(why + 1, ':') : NULL;
	snprintf(m->why[m->n], sizeof(m->why[0]), "%.*s", (int)strcspn(why ? why + 1 : "", "\n"),
		 why ? why + 1 : "");
	m->n++;
	return true;
}

/* The one of the missing maps that the program was refused for, or -1. With the instructions in
 * the log libbpf names it. */
static int missing_used(const struct missing *m, const char *message)
{
	char words[NAME_MAX_BPF + 16];
	unsigned n = 0;

	sscanf(message, "invalid func unknown#%u", &n);
	for (unsigned i = 0; i < m->n; i++) {
		snprintf(words, sizeof(words), "BPF map '%s' ", m->name[i]);
		if (n == MAP_POISON + m->at[i] || !strncmp(message, words, strlen(words)))
			return (int)i;
	}
	return -1;
}

static void row_judge(struct verify_row *row, const struct missing *m, int err,
		      const struct report *said)
{
	bool tried = figures_read(row);
	int map;

	/* What is left to do for an object once its programs are loaded may need all of them. */
	if (!err || (tried && !row->message.n)) {
		row->verdict = VERIFY_ACCEPTED;
		return;
	}
	row->verdict = row->message.n ? VERIFY_REJECTED : VERIFY_UNTRIED;
	if (!row->message.n)
		report_add(&row->message, "%s", said->text ? said->text : strerror(-err));
	map = missing_used(m, row->message.text ? row->message.text : "");
	if (map < 0)
		return;
	row->verdict = VERIFY_UNTRIED;
	report_free(&row->message);
	report_add(&row->message, "map '%s', which it uses, cannot be made:%s", m->name[map],
		   m->why[map]);
}

static int row_begin(struct bpf_object *o, const char *name, struct verify_row *row)
{
	const struct bpf_program *p = bpf_object__find_program_by_name(o, name);
	const char *type = p ? libbpf_bpf_prog_type_str(bpf_program__type(p)) : NULL;

	verify_row_free(row);
	row->type = type ? type : "unknown";
	row->name = mem_strdup(name);
	return row->name ? 0 : -ENOMEM;
}

/* One attempt; `said` is the message of a failure. */
static int attempt(const char *path, const char *name, unsigned level, struct missing *m,
		   struct report *said, struct verify_row *row)
{
	struct object_load how = { .level = level | LOG_STATS,
				   .log = &row->log,
				   .refusal = &row->message };
	struct bpf_object *o;
	int err = object_open(path, said, &o);

	if (err)
		return err;
	err = row_begin(o, name, row);
	object_choose(o, name, m);
	if (!err)
		err = object_load(path, o, &how, said);
	bpf_object__close(o);
	return err;
}

int verify_one(const char *path, const char *name, unsigned level, struct report *r,
	       struct verify_row *row)
{
	struct missing m = { .n = 0 };
	struct report said = { 0 };
	int err;

	memset(row, 0, sizeof(*row));
	do {
		report_free(&said);
		err = attempt(path, name, level, &m, &said, row);
	} while (err && !row->message.n && missing_add(&m, said.text));
	if (row->name)
		row_judge(row, &m, err, &said);
	else
		report_fail(r, err, "%s", said.text ? said.text : strerror(-err));
	report_free(&said);
	return row->name ? 0 : err;
}

void verify_row_free(struct verify_row *row)
{
	mem_free(row->name);
	report_free(&row->message);
	report_free(&row->log);
	memset(row, 0, sizeof(*row));
}
