/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small programs, and what the verifier makes of them: the message it refuses them with, or how
 * many ops it visits. Every program also runs out of memory at each allocation. TAP.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "verify/explain.h"

#define CGROUP BPF_PROG_TYPE_CGROUP_SKB
#define LWT    BPF_PROG_TYPE_LWT_IN
#define NONE   BPF_PROG_TYPE_UNSPEC
#define FILTER BPF_PROG_TYPE_SOCKET_FILTER
#define XDP    BPF_PROG_TYPE_XDP
#define TC     BPF_PROG_TYPE_SCHED_CLS
#define RAW    BPF_PROG_TYPE_RAW_TRACEPOINT

#define NOT_GPL (1u << 31) /* beside a type: the licence is another one */

struct row {
	const char *name;
	uint32_t type;
	const char *text;
	const char *refused; /* in the log, NULL: accepted */
	uint32_t visited;    /* accepted: exactly so many, 0: any number */
};

/* map_fd 0: ARRAY of 48 bytes; 1: HASH; 2: RINGBUF; 3: frozen, read-only ARRAY; 4: ARRAY_OF_MAPS;
 * 5: HASH with a lock at 0 and a timer at 8; 6: maps like 5; 7: frozen strings; 8: USER_RINGBUF */
static const struct row rows[] = {
#define ACCEPT(name, type, visited, text) { name, type, text, NULL, visited },
#define REFUSE(name, type, message, text) { name, type, text, message, 0 },
#include "cases.def"
#include "explain_cases.def"
};

static const uint32_t constants[2] = { 7, 9 };
static const struct map_desc inner = {
	.type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1
};
static const char strings[16] = "%d %s\0%q\0unknown";
static const struct map_desc special = { .type = BPF_MAP_TYPE_HASH,
					 .key_size = 4,
					 .value_size = 24,
					 .max_entries = 4,
					 .name = "special",
					 .btf_id = 1 };
static const struct map_desc maps[] = {
	{ .type = BPF_MAP_TYPE_ARRAY,
	  .key_size = 4,
	  .value_size = 48,
	  .max_entries = 4,
	  .name = "array" },
	{ .type = BPF_MAP_TYPE_HASH,
	  .key_size = 8,
	  .value_size = 8,
	  .max_entries = 4,
	  .name = "hash" },
	{ .type = BPF_MAP_TYPE_RINGBUF, .max_entries = 4096, .name = "ring" },
	{ .type = BPF_MAP_TYPE_ARRAY,
	  .key_size = 4,
	  .value_size = 8,
	  .max_entries = 1,
	  .name = "const",
	  .flags = 1 << 7,
	  .frozen = 1 },
	{ .type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
	  .key_size = 4,
	  .value_size = 4,
	  .max_entries = 2,
	  .name = "outer",
	  .inner = &inner },
	{ .type = BPF_MAP_TYPE_HASH,
	  .key_size = 4,
	  .value_size = 24,
	  .max_entries = 4,
	  .name = "locked",
	  .btf_id = 1 },
	{ .type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
	  .key_size = 4,
	  .value_size = 4,
	  .max_entries = 2,
	  .name = "outer2",
	  .inner = &special },
	{ .type = BPF_MAP_TYPE_ARRAY,
	  .key_size = 4,
	  .value_size = 16,
	  .max_entries = 1,
	  .name = "strings",
	  .flags = 1 << 7,
	  .frozen = 1 },
	{ .type = BPF_MAP_TYPE_USER_RINGBUF, .max_entries = 4096, .name = "user" },
	{ .type = BPF_MAP_TYPE_PROG_ARRAY,
	  .key_size = 4,
	  .value_size = 4,
	  .max_entries = 1,
	  .name = "programs" },
};

enum { MAPS = sizeof(maps) / sizeof(maps[0]) };

/* Calls of kernel functions: kfunc 1, 2, ... */
static const char *kfunc_name(int64_t imm, int32_t off)
{
	static const char *const names[] = {
		NULL,
		"bpf_iter_num_new",
		"bpf_iter_num_next",
		"bpf_iter_num_destroy",
		"bpf_dynptr_from_skb",
		"bpf_dynptr_slice",
		"bpf_dynptr_slice_rdwr",
		"bpf_dynptr_clone",
		"bpf_rcu_read_lock",
		"bpf_rcu_read_unlock",
		"bpf_preempt_disable",
		"bpf_preempt_enable",
		"bpf_nobody_knows",
		"bpf_throw",
	};

	return imm > 0 && (size_t)imm < sizeof(names) / sizeof(names[0]) ? names[imm] : NULL;
}

static void map_special(const struct map_desc *m, uint32_t off[VERIFY_SPECIALS])
{
	bool has = m == &maps[5] || m == &special;

	off[SPECIAL_LOCK] = has ? 0 : UINT32_MAX;
	off[SPECIAL_TIMER] = has ? 8 : UINT32_MAX;
	off[SPECIAL_WORK] = UINT32_MAX;
}

/* Only the maps that the program names: some are not for all programs. */
static void maps_name(const struct unit *u, struct ref *refs)
{
	for (uint32_t i = 0; i < u->n_ops; i++) {
		uint64_t n = (uint64_t)u->ops[i].imm;

		if (op_row(&u->ops[i])->form == FORM_LDMAP && n < MAPS)
			refs[n] = (struct ref){ .kind = REF_MAP, .map = &maps[n], .addr = 1 };
	}
}

static struct unit *unit_of(const struct row *row, struct report *r)
{
	struct unit *u = NULL;
	struct ref *refs;

	if (unit_parse(row->name, row->text, r, &u))
		return NULL;
	refs = mem_zalloc(MAPS, sizeof(*refs));
	maps_name(u, refs);
	refs[3].value = (uint64_t)(uintptr_t)constants;
	mem_free(u->refs);
	u->refs = refs;
	refs[7].value = (uint64_t)(uintptr_t)strings;
	u->n_refs = MAPS;
	return u;
}

static int run(const struct row *row, const struct unit *u, unsigned level, struct report *log,
	       struct facts **facts)
{
	const struct verify_input in = { .prog_type = row->type & ~NOT_GPL,
					 .gpl = !(row->type & NOT_GPL),
					 .log_level = level,
					 .kfunc_name = kfunc_name,
					 .map_special = map_special };

	return verify(u, &in, log, facts);
}

static bool judge(const struct row *row, const struct unit *u)
{
	struct facts *facts = NULL;
	struct report log = { 0 };
	int err = run(row, u, 0, &log, &facts);
	bool good = row->refused ? err && log.text && strstr(log.text, row->refused)
				 : !err && (!row->visited || facts->stats.insns == row->visited);

	if (!good) {
		report_free(&log);
		run(row, u, 2, &log, NULL);
		for (char *l = strtok(log.text ? log.text : "", "\n"); l; l = strtok(NULL, "\n"))
			printf("# %s\n", l);
	}
	facts_free(facts);
	report_free(&log);
	return good;
}

static bool met[256]; /* rows of explain.def that explained something */

/* Behind the figures, a refusal is explained: where, and by a row of explain.def, if it has one. */
static bool explained(const struct row *row, const struct unit *u)
{
	struct report log = { 0 };
	int err = run(row, u, LOG_STATS, &log, NULL);
	bool known = false;
	const char *figures = log.text ? strstr(log.text, "processed ") : NULL;
	const char *ours = log.text ? strstr(log.text, EXPLAIN_MARK) : NULL;
	bool good = err ? !figures || !ours || ours > figures : !ours;

	for (const char *l = log.text; err && l && *l && l != ours; l = strchr(l, '\n') + 1) {
		int n = explain_find(l);

		if (n >= 0)
			met[n] = known = true;
	}
	report_free(&log);
	return good && (ours || !known);
}

/* Rows that no program here meets. */
static unsigned unmet(void)
{
	unsigned n = 0;

	for (unsigned i = 0; explain_pattern(i); i++) {
		if (!met[i])
			printf("# no program for: %s\n", explain_pattern(i));
		n += !met[i];
	}
	return n;
}

/* The verdict with log and without is the same, and a lack of memory is only ever -ENOMEM: at each
 * of the first hundred allocations, then at ever fewer (each costs a run up to there). */
static bool robust(const struct row *row, const struct unit *u)
{
	struct report log = { 0 };
	int plain = run(row, u, 0, NULL, NULL), loud = run(row, u, 6, &log, NULL);
	bool good = plain == loud;

	report_free(&log);
	for (unsigned long n = 1; good; n += n < 100 ? 1 : n / 8) {
		struct facts *facts = NULL;
		unsigned long count;
		int err;

		mem_fail_at(n, 0);
		err = run(row, u, 0, NULL, &facts);
		count = mem_fail_count();
		mem_fail_at(0, 0);
		facts_free(facts);
		if (count < n)
			break;
		good = err == -ENOMEM || err == -E2BIG;
	}
	return good;
}

/* A loop whose states take more memory than is allowed is refused, and with that memory is not. */
static bool budget(void)
{
	const struct row row = {
		"", FILTER,
		"r0 = 0\nagain:\nr0 += 1\nr1 = 1\nr1 = 2\nr1 = 3\nr1 = 4\n"
		"r1 = 5\nr1 = 6\nr1 = 7\nif r0 < 5000 goto again\nr0 = 0\nexit\n"
	};
	struct verify_input in = { .prog_type = FILTER, .gpl = true };
	struct report log = { 0 };
	struct facts *facts = NULL;
	struct unit *u = unit_of(&row, &log);
	bool good = u && !verify(u, &in, &log, &facts) && facts->stats.peak_bytes > 4096;

	in.state_bytes = good ? facts->stats.peak_bytes : 1;
	good = good && !verify(u, &in, &log, NULL);
	in.state_bytes--;
	good = good && verify(u, &in, &log, NULL) == -E2BIG && log.text &&
	       strstr(log.text, "Its states need more than ");
	facts_free(facts);
	unit_free(u);
	report_free(&log);
	return good;
}

int main(void)
{
	unsigned n = sizeof(rows) / sizeof(rows[0]), bad = 0;
	bool missing, good;

	printf("1..%u\n", 2 * n + 2);
	for (unsigned i = 0; i < n; i++) {
		struct report r = { 0 };
		struct unit *u = unit_of(&rows[i], &r);
		bool verdict = u && judge(&rows[i], u) && explained(&rows[i], u),
		     memory = u && robust(&rows[i], u);

		if (!u)
			printf("# %s\n", r.text ? r.text : "");
		printf("%sok %u - %s\n", verdict ? "" : "not ", 2 * i + 1, rows[i].name);
		printf("%sok %u - %s, without memory\n", memory ? "" : "not ", 2 * i + 2,
		       rows[i].name);
		bad += !verdict + !memory;
		if (u)
			unit_free(u);
		report_free(&r);
	}
	missing = unmet() != 0;
	bad += missing;
	printf("%sok %u - each explanation has a program\n", missing ? "not " : "", 2 * n + 1);
	good = budget();
	bad += !good;
	printf("%sok %u - states have a budget\n", good ? "" : "not ", 2 * n + 2);
	return bad != 0;
}
