/* SPDX-License-Identifier: BSD-2-Clause */
/* helper-doc: writes docs/helpers.md. helper-doc FILE: TAP, is FILE what it would write? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/helper.h"

static const struct {
	const char *name, *text;
} notes[] = {
#define NOTE(name, text) { #name, text },
#include "helper/note.def"
};

/* Program types whose helpers are shown, in columns. */
static const struct {
	uint32_t type;
	const char *title;
} columns[] = {
	{ BPF_PROG_TYPE_XDP, "XDP" },
	{ BPF_PROG_TYPE_SCHED_CLS, "TC" },
	{ BPF_PROG_TYPE_SOCKET_FILTER, "socket" },
	{ BPF_PROG_TYPE_CGROUP_SKB, "cgroup" },
	{ BPF_PROG_TYPE_LWT_IN, "lwt in" },
	{ BPF_PROG_TYPE_LWT_OUT, "out" },
	{ BPF_PROG_TYPE_LWT_XMIT, "xmit" },
	{ BPF_PROG_TYPE_LWT_SEG6LOCAL, "seg6" },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static const char *note_of(const char *name)
{
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (strcmp(notes[i].name, name) == 0)
			return notes[i].text;
	return "";
}

static bool is_for_packets(const struct helper *h)
{
	for (unsigned i = 0; i < COLUMNS; i++)
		if (helper_allowed(h->id, columns[i].type))
			return true;
	return false;
}

static const char *status_of(const struct helper *h)
{
	static const char *const words[] = { "no", "stand-in", "yes" };

	return words[h->status];
}

static void head_print(FILE *f)
{
	fprintf(
	    f,
	    "# Helpers\n\n"
	    "Generated from src/isa/helper.def and src/helper/note.def (`ninja docs-helpers`).\n\n"
	    "The helpers of Linux 6.12 and what skep makes of them. \"yes\": built, with the "
	    "kernel's checks, results\nand errors. \"stand-in\": answers what a kernel answers "
	    "that has no such object. skep runs programs in a\nworld with one network device, "
	    "the loopback (number 1), no route, no socket but the closed one that each\npacket "
	    "comes with, as in PROG_TEST_RUN, and one cgroup, the root.\n\n");
}

static void packet_table(FILE *f)
{
	fprintf(f, "## Programs that see packets\n\n"
		   "TC: classifiers and actions.\n\n| no. | helper | built |");
	for (unsigned i = 0; i < COLUMNS; i++)
		fprintf(f, " %s |", columns[i].title);
	fprintf(f, " what it does |\n|---|---|---|");
	for (unsigned i = 0; i < COLUMNS; i++)
		fprintf(f, "---|");
	fprintf(f, "---|\n");
	for (uint32_t id = 1; id <= HELPER_ID_MAX; id++) {
		const struct helper *h = helper_find(id);

		if (!is_for_packets(h))
			continue;
		fprintf(f, "| %u | `bpf_%s` | %s |", id, h->name, status_of(h));
		for (unsigned i = 0; i < COLUMNS; i++)
			fprintf(f, " %s |", helper_allowed(id, columns[i].type) ? "x" : "");
		fprintf(f, " %s |\n", h->doc);
	}
}

static void note_table(FILE *f)
{
	fprintf(f, "\n## Stand-ins, and what else differs from a kernel\n\n"
		   "| helper | built | here |\n|---|---|---|\n");
	for (uint32_t id = 1; id <= HELPER_ID_MAX; id++) {
		const struct helper *h = helper_find(id);
		const char *note = note_of(h->name);

		if (h->status == HELPER_STAND_IN || *note)
			fprintf(f, "| `bpf_%s` | %s | %s |\n", h->name, status_of(h), note);
	}
}

static void other_table(FILE *f)
{
	fprintf(f,
		"\n## Helpers of other program types\n\n| no. | helper | built | what it does |\n"
		"|---|---|---|---|\n");
	for (uint32_t id = 1; id <= HELPER_ID_MAX; id++) {
		const struct helper *h = helper_find(id);

		if (!is_for_packets(h))
			fprintf(f, "| %u | `bpf_%s` | %s | %s |\n", id, h->name, status_of(h),
				h->doc);
	}
}

static void doc_print(FILE *f)
{
	head_print(f);
	packet_table(f);
	note_table(f);
	other_table(f);
}

static bool file_is(const char *path, const char *text, size_t n)
{
	char *have = calloc(1, n + 2);
	FILE *f = fopen(path, "r");
	bool same = have && f && fread(have, 1, n + 1, f) == n && memcmp(have, text, n) == 0;

	if (f)
		fclose(f);
	free(have);
	return same;
}

static void point(unsigned n, bool ok, const char *what)
{
	printf("%s %u - %s\n", ok ? "ok" : "not ok", n, what);
}

/* Stand-ins must say what they do, and each note must belong to a helper that is built. */
static bool notes_fit(void)
{
	bool ok = true;

	for (uint32_t id = 1; id <= HELPER_ID_MAX; id++) {
		const struct helper *h = helper_find(id);

		if (h->status == HELPER_STAND_IN && !*note_of(h->name)) {
			printf("# stand-in without a note: %s\n", h->name);
			ok = false;
		}
	}
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		const struct helper *h = helper_by_name(notes[i].name);

		if (!h || h->status == HELPER_NONE) {
			printf("# note on a helper that is not built: %s\n", notes[i].name);
			ok = false;
		}
	}
	return ok;
}

static bool packet_helpers_built(void)
{
	bool ok = true;

	for (uint32_t id = 1; id <= HELPER_ID_MAX; id++) {
		const struct helper *h = helper_find(id);

		if (!is_for_packets(h) || h->status != HELPER_NONE)
			continue;
		printf("# not built: %s\n", h->name);
		ok = false;
	}
	return ok;
}

int main(int argc, char **argv)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f;

	if (argc == 1) {
		doc_print(stdout);
		return 0;
	}
	f = open_memstream(&text, &n);
	if (!f)
		return 1;
	doc_print(f);
	fclose(f);
	printf("1..3\n");
	point(1, file_is(argv[1], text, n), "docs/helpers.md is up to date (ninja docs-helpers)");
	point(2, notes_fit(), "every stand-in says what it answers");
	point(3, packet_helpers_built(), "every helper of the packet program types is there");
	free(text);
	return 0;
}
