/* SPDX-License-Identifier: BSD-2-Clause */
#include "object/object.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/report.h"
#include "base/vec.h"
#include "object/btf_check.h"
#include "object/elf_file.h"
#include "verify/verify.h"

enum { EXPLAIN_MARK_SIZE = sizeof(EXPLAIN_MARK) - 1 };

/* What libbpf said during one call: `why` is its first warning, which names the cause; later ones
 * only repeat that something failed. One call at a time in a thread. */
static __thread struct {
	struct report *all, *log;
	char why[256];
	char refused[256];	   /* the last word of a verifier log */
	struct report explanation; /* what skep has to say of it */
} said;

/* Copies a line without "libbpf: " and its newline. */
static void line_keep(char to[256], const char *line)
{
	static const char prefix[] = "libbpf: ";
	size_t n;

	if (!strncmp(line, prefix, sizeof(prefix) - 1))
		line += sizeof(prefix) - 1;
	n = strcspn(line, "\n");
	snprintf(to, 256, "%.*s", (int)(n < 255 ? n : 255), line);
}

/* Warnings that name no cause of failure: libbpf goes on after them. */
static bool line_is_harmless(const char *line)
{
	return strstr(line, "Retrying without BTF") || strstr(line, "failed to set name") ||
	       strstr(line, "BTF is optional");
}

static bool line_is_statistics(const char *line)
{
	return !strncmp(line, "processed ", 10) || !strncmp(line, "verification time", 17) ||
	       !strncmp(line, "stack depth", 11) || !strncmp(line, "libbpf: ", 8) || *line == '\n';
}

static bool line_explains(const char *line)
{
	return !strncmp(line, EXPLAIN_MARK, EXPLAIN_MARK_SIZE);
}

/* The line that gives offset and size, before the verdict "R1 min value is outside of ...". */
static bool line_details(const char *line, const char *next, const char *end)
{
	return !strncmp(line, "invalid access to ", 18) && next < end && *next == 'R';
}

/* Of a verifier log between libbpf's marks: the log and, of a refused program, its last line that
 * is a verdict, and ours. */
static void log_keep(const char *text, bool refused)
{
	const char *line = strstr(text, "-- BEGIN PROG LOAD LOG --\n");
	const char *end = line ? strstr(line, "-- END PROG LOAD LOG --") : NULL, *next;

	if (!end)
		return;
	report_free(&said.explanation);
	line = strchr(line, '\n') + 1;
	if (said.log)
		report_add(said.log, "%.*s", (int)(end - line), line);
	for (; refused && line < end; line = next) {
		next = strchr(line, '\n') + 1;
		if (next > end)
			return;
		if (line_explains(line))
			report_add(&said.explanation, "  %.*s",
				   (int)(next - line - EXPLAIN_MARK_SIZE),
				   line + EXPLAIN_MARK_SIZE);
		else if (line_details(line, next, end))
			report_add(&said.explanation, "  %.*s", (int)(next - line), line);
		else if (!line_is_statistics(line))
			line_keep(said.refused, line);
	}
}

static int libbpf_says(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	struct report text = { 0 };
	va_list again;

	if (said.all && level <= LIBBPF_INFO) {
		va_copy(again, ap);
		report_addv(said.all, fmt, again);
		va_end(again);
	}
	if (level != LIBBPF_WARN && !said.log)
		return 0;
	report_addv(&text, fmt, ap);
	if (text.text && level == LIBBPF_WARN && !said.why[0] && !line_is_harmless(text.text))
		line_keep(said.why, text.text);
	if (text.text)
		log_keep(text.text, level == LIBBPF_WARN);
	report_free(&text);
	return 0;
}

static libbpf_print_fn_t listen(const struct object_load *how)
{
	report_free(&said.explanation);
	memset(&said, 0, sizeof(said));
	said.all = how->all;
	said.log = how->log;
	return libbpf_set_print(libbpf_says);
}

static const char *error_text(int err)
{
	return strerror(err < 0 ? -err : err);
}

/* What to do about a failure to open, by what libbpf said. */
static const char *open_remedy(void)
{
	static const struct {
		const char *words, *remedy;
	} rows[] = {
		{ "legacy map", "define maps in SEC(\".maps\") with BTF and compile with -g" },
		{ "legacy", "define maps in SEC(\".maps\") with BTF and compile with -g" },
		{ "BTF is required", "compile with -g" },
		{ "BTF", "compile it again with clang -target bpf -g" },
		{ "section", "compile it again with clang -target bpf -g -O2 -c" },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strstr(said.why, rows[i].words))
			return rows[i].remedy;
	}
	return "compile it again with clang -target bpf -g -O2 -c";
}

/* Section names of loaders other than libbpf, which it gives no type. */
static void types_guess(struct bpf_object *obj)
{
	static const struct {
		const char *prefix;
		enum bpf_prog_type type;
	} rows[] = {
		{ "tc", BPF_PROG_TYPE_SCHED_CLS },
		{ "xdp", BPF_PROG_TYPE_XDP },
		{ "filter", BPF_PROG_TYPE_SOCKET_FILTER },
		{ "loadbalancer", BPF_PROG_TYPE_SOCKET_FILTER }, /* Suricata's */
		{ "cgroup/sock", BPF_PROG_TYPE_CGROUP_SOCK },
	};
	struct bpf_program *p;

	bpf_object__for_each_program(p, obj)
	{
		for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			if (bpf_program__type(p) == BPF_PROG_TYPE_UNSPEC &&
			    !strncmp(bpf_program__section_name(p), rows[i].prefix,
				     strlen(rows[i].prefix)))
				bpf_program__set_type(p, rows[i].type);
		}
	}
}

/* The one type that the object's typed programs have, or UNSPEC. */
static enum bpf_prog_type type_shared(const struct bpf_object *obj)
{
	enum bpf_prog_type type = BPF_PROG_TYPE_UNSPEC;
	struct bpf_program *p;

	bpf_object__for_each_program(p, obj)
	{
		enum bpf_prog_type t = bpf_program__type(p);

		if (type != BPF_PROG_TYPE_UNSPEC && t != BPF_PROG_TYPE_UNSPEC && t != type)
			return BPF_PROG_TYPE_UNSPEC;
		type = t != BPF_PROG_TYPE_UNSPEC ? t : type;
	}
	return type;
}

/* Programs for tc lie in sections of any name: those without a type are taken to be classifiers
 * where all others are. */
static void classifiers_guess(struct bpf_object *obj)
{
	struct bpf_program *p;

	if (type_shared(obj) != BPF_PROG_TYPE_SCHED_CLS)
		return;
	bpf_object__for_each_program(p, obj)
	{
		if (bpf_program__type(p) == BPF_PROG_TYPE_UNSPEC)
			bpf_program__set_type(p, BPF_PROG_TYPE_SCHED_CLS);
	}
}

int object_open(const char *path, struct report *r, struct bpf_object **out)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .relaxed_maps = true);
	int err = elf_file_check(path, r);
	libbpf_print_fn_t before;
	struct bpf_object *obj = NULL;

	if (err)
		return err;
	before = listen(&(struct object_load){ 0 });
	err = btf_check_file(path, r);
	if (!err) {
		obj = bpf_object__open_file(path, &opts);
		err = obj ? 0 : -errno;
	}
	libbpf_set_print(before);
	if (!err) {
		types_guess(obj);
		classifiers_guess(obj);
		*out = obj;
		return 0;
	}
	return report_fail(r, err, "%s: %s; %s", path, said.why[0] ? said.why : error_text(err),
			   open_remedy());
}

static void level_set(struct bpf_object *obj, unsigned level)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, obj) bpf_program__set_log_level(p, level);
}

static int load_failed(const char *path, const struct object_load *how, int err, struct report *r)
{
	if (how->refusal && said.refused[0])
		report_add(how->refusal, "%s\n%s", said.refused,
			   said.explanation.text ? said.explanation.text : "");
	report_fail(r, err, "%s: %s%s%s", path, said.why[0] ? said.why : error_text(err),
		    said.refused[0] ? ": " : "", said.refused);
	if (said.explanation.text)
		report_add(r, "%s", said.explanation.text);
	return err;
}

int object_load(const char *path, struct bpf_object *obj, const struct object_load *how,
		struct report *r)
{
	static const struct object_load plain;
	libbpf_print_fn_t before;
	int err;

	how = how ? how : &plain;
	if (how->level)
		level_set(obj, how->level);
	before = listen(how);
	err = bpf_object__load(obj);
	libbpf_set_print(before);
	if (err)
		load_failed(path, how, err, r);
	report_free(&said.explanation);
	return err;
}

/* Number of edits from a to b; names are short. */
static unsigned name_distance(const char *a, const char *b)
{
	unsigned row[64] = { 0 }, n = (unsigned)strnlen(b, 63);

	for (unsigned j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned i = 0; a[i]; i++) {
		unsigned diagonal = row[0];

		row[0] = i + 1;
		for (unsigned j = 0; j < n; j++) {
			unsigned best = diagonal + (a[i] != b[j]);

			diagonal = row[j + 1];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			row[j + 1] = best < diagonal + 1 ? best : diagonal + 1;
		}
	}
	return row[n];
}

static struct bpf_program *prog_nearest(const struct bpf_object *obj, const char *name)
{
	struct bpf_program *p, *best = NULL;
	unsigned least = ~0u;

	bpf_object__for_each_program(p, obj)
	{
		unsigned d = name_distance(name, bpf_program__name(p));

		if (d < least) {
			least = d;
			best = p;
		}
	}
	return best;
}

/* "a, b, c", `first` in front, at most eight names. */
static void names_list(const struct bpf_object *obj, const struct bpf_program *first,
		       struct report *out)
{
	struct bpf_program *p;
	unsigned n = 0;

	if (first)
		report_add(out, "%s", bpf_program__name(first));
	bpf_object__for_each_program(p, obj)
	{
		if (p == first)
			continue;
		if (++n == 8) {
			report_add(out, ", ...");
			break;
		}
		report_add(out, "%s%s", n > 1 || first ? ", " : "", bpf_program__name(p));
	}
}

static int prog_missing(const char *path, const struct bpf_object *obj, const char *name,
			struct report *r)
{
	struct report names = { 0 };
	int err;

	names_list(obj, prog_nearest(obj, name), &names);
	err = report_fail(r, -ENOENT, "%s: there is no program '%s'; it has: %s", path, name,
			  names.text ? names.text : "none");
	report_free(&names);
	return err;
}

static int prog_only(const char *path, const struct bpf_object *obj, struct report *r,
		     struct bpf_program **out)
{
	struct bpf_program *first = bpf_object__next_program(obj, NULL);
	struct report names = { 0 };
	int err;

	if (!first)
		return report_fail(r, -ENOENT, "%s: no program in it; is SEC(...) missing?", path);
	if (!bpf_object__next_program(obj, first)) {
		*out = first;
		return 0;
	}
	names_list(obj, NULL, &names);
	err = report_fail(r, -EINVAL, "%s: several programs; choose one with -p: %s", path,
			  names.text ? names.text : "");
	report_free(&names);
	return err;
}

int object_find_prog(const char *path, const struct bpf_object *obj, const char *name,
		     struct report *r, struct bpf_program **out)
{
	if (!name)
		return prog_only(path, obj, r, out);
	*out = bpf_object__find_program_by_name(obj, name);
	return *out ? 0 : prog_missing(path, obj, name, r);
}
