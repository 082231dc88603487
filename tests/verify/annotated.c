/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * annotated OBJECT...: the programs of the kernel's selftests that say in their BTF (decl tags
 * "comment:test_...") what a verifier must make of them, and what they return. Each is loaded by
 * itself through skep_bpf(), in a process of its own, with the tags' log level and flags; verdict,
 * log and result are held against the tags. Privileged mode only. One line a program, its columns
 * separated by tabs:
 *
 *   OUTCOME OBJECT PROGRAM type step detail
 *
 * OUTCOME is ok, verdict (the other one), message (the verdict, but not the texts), retval (loaded,
 * but not the result), or absent (nothing was tried: libbpf could not say what, or the process
 * ended). Then the sums by step: `# STEP programs verdicts messages results` (steps.def).
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/verify.h"

enum { MSGS = 64, LOG_SIZE = 16 << 20, DATA_SIZE = 64, SECONDS = 120 };

/* Children tell theirs by exit status. */
enum outcome { OUTCOME_OK, OUTCOME_VERDICT, OUTCOME_MESSAGE, OUTCOME_RETVAL, OUTCOME_ABSENT };
static const char *const outcome_name[] = { "ok", "verdict", "message", "retval", "absent" };

enum step {
	STEP_A1,
	STEP_A2,
	STEP_A3,
	STEP_A4,
	STEP_B1,
	STEP_B2,
	STEP_B3,
	STEP_B4,
	STEP_C1,
	STEP_C2,
	STEPS
};
static const char *const step_name[] = { "A-1", "A-2", "A-3", "A-4", "B-1",
					 "B-2", "B-3", "B-4", "C-1", "C-2" };

struct spec {
	bool any, unpriv_any, fail, skip, auxiliary, run;
	int32_t retval;
	int log_level;
	uint32_t flags;
	const char *msg[MSGS];
	int order[MSGS];
	const char *btf; /* object whose BTF stands for the kernel's, NULL: the kernel's */
	unsigned n_msgs;
};

static unsigned count[STEPS][OUTCOME_ABSENT + 1];
static char *log_text;

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return getenv("ANNOTATED_DEBUG") ? vfprintf(stderr, fmt, ap) : 0;
}

static const char *after(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(s, prefix, n) ? NULL : s + n;
}

static uint32_t flag_of(const char *s)
{
	if (strstr(s, "STRICT_ALIGNMENT"))
		return BPF_F_STRICT_ALIGNMENT;
	if (strstr(s, "STATE_FREQ"))
		return BPF_F_TEST_STATE_FREQ;
	if (strstr(s, "RND_HI32"))
		return BPF_F_TEST_RND_HI32;
	if (strstr(s, "SLEEPABLE"))
		return BPF_F_SLEEPABLE;
	if (strstr(s, "XDP_HAS_FRAGS"))
		return BPF_F_XDP_HAS_FRAGS;
	return (uint32_t)strtoul(s, NULL, 0);
}

/* Messages keep the order of their counters. */
static void msg_add(struct spec *s, const char *text)
{
	char *end;
	int n = (int)strtol(text, &end, 10);
	unsigned at = s->n_msgs;

	if (*end != '=' || s->n_msgs == MSGS)
		return;
	for (; at && s->order[at - 1] > n; at--) {
		s->order[at] = s->order[at - 1];
		s->msg[at] = s->msg[at - 1];
	}
	s->order[at] = n;
	s->msg[at] = end + 1;
	s->n_msgs++;
}

/* A pointer's value, which a program also may return, is no number to hold it against. */
static void retval_read(struct spec *s, const char *v)
{
	if (!strcmp(v, "POINTER_VALUE") || !strncmp(v, "0xcafe4all", 10))
		return;
	s->run = true;
	s->retval = !strcmp(v, "INT_MIN")	  ? INT32_MIN
		    : !strcmp(v, "TEST_DATA_LEN") ? DATA_SIZE
						  : (int32_t)strtol(v, NULL, 0);
}

static void tag_read(struct spec *s, const char *tag)
{
	const char *v;

	if (strstr(tag, "_unpriv")) {
		s->unpriv_any = true;
	} else if (!strcmp(tag, "comment:test_expect_success")) {
		s->any = true;
	} else if (!strcmp(tag, "comment:test_expect_failure")) {
		s->any = s->fail = true;
	} else if ((v = after(tag, "comment:test_expect_msg="))) {
		msg_add(s, v);
	} else if ((v = after(tag, "comment:test_log_level="))) {
		s->log_level = atoi(v);
	} else if ((v = after(tag, "comment:test_prog_flags="))) {
		s->flags |= flag_of(v);
	} else if ((v = after(tag, "comment:test_arch="))) {
		s->skip |= strcmp(v, "X86_64") != 0;
	} else if ((v = after(tag, "comment:test_retval="))) {
		retval_read(s, v);
	} else if ((v = after(tag, "comment:test_btf_path="))) {
		s->btf = v;
	} else if (after(tag, "comment:test_auxiliary")) {
		s->auxiliary = s->skip = true;
	}
}

static void spec_read(struct bpf_object *obj, const char *func, struct spec *s)
{
	struct btf *btf = bpf_object__btf(obj);
	int id = btf__find_by_name_kind(btf, func, BTF_KIND_FUNC);

	memset(s, 0, sizeof(*s));
	for (uint32_t i = 1; id > 0 && i < btf__type_cnt(btf); i++) {
		const struct btf_type *t = btf__type_by_id(btf, i);

		if (btf_is_decl_tag(t) && t->type == (uint32_t)id &&
		    btf_decl_tag(t)->component_idx < 0)
			tag_read(s, btf__name_by_offset(btf, t->name_off));
	}
}

/* The text as a regular expression: literal but for what is in {{ }}. */
static void pattern_make(const char *msg, char *out, size_t size)
{
	size_t n = 0;
	bool regex = false;

	for (; *msg && n + 3 < size; msg++) {
		if (!strncmp(msg, "{{", 2) || !strncmp(msg, "}}", 2)) {
			regex = *msg == '{';
			out[n++] = regex ? '(' : ')';
			msg++;
			continue;
		}
		if (!regex && strchr(".[]()*+?^$|\\{}", *msg))
			out[n++] = '\\';
		out[n++] = *msg;
	}
	out[n] = '\0';
}

/* The messages, in order; returns the first that is missing or NULL. */
static const char *missing(const struct spec *s, const char *log)
{
	for (unsigned i = 0; i < s->n_msgs; i++) {
		char pattern[2048];
		regmatch_t m;
		regex_t re;
		bool found;

		pattern_make(s->msg[i], pattern, sizeof(pattern));
		if (regcomp(&re, pattern, REG_EXTENDED | REG_NEWLINE))
			return s->msg[i];
		found = regexec(&re, log, 1, &m, 0) == 0;
		regfree(&re);
		if (!found)
			return s->msg[i];
		log += m.rm_eo;
	}
	return NULL;
}

/* Section names that older versions of libbpf do not know. */
static void type_guess(struct bpf_program *p)
{
	static const struct {
		const char *prefix;
		enum bpf_prog_type type;
		int attach;
	} rows[] = {
		{ "tc/", BPF_PROG_TYPE_SCHED_CLS, 0 },
		{ "tcx/", BPF_PROG_TYPE_SCHED_CLS, 0 },
		{ "netfilter", 32, 45 },
		{ "cgroup/connect_unix", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 49 },
		{ "cgroup/sendmsg_unix", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 50 },
		{ "cgroup/recvmsg_unix", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 51 },
		{ "cgroup/getpeername_unix", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 52 },
		{ "cgroup/getsockname_unix", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 53 },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (bpf_program__type(p) != BPF_PROG_TYPE_UNSPEC ||
		    strncmp(bpf_program__section_name(p), rows[i].prefix, strlen(rows[i].prefix)))
			continue;
		bpf_program__set_type(p, rows[i].type);
		bpf_program__set_expected_attach_type(p, rows[i].attach);
	}
}

/* Which part of the work a program belongs to: by its object, else by its type. */
static enum step step_of(const char *object, int type)
{
#define STEP(prefix, step) { prefix, step },
	static const struct {
		const char *prefix;
		enum step step;
	} rows[] = {
#include "steps.def"
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!strncmp(object, rows[i].prefix, strlen(rows[i].prefix)))
			return rows[i].step;
	}
	switch (type) {
	case BPF_PROG_TYPE_KPROBE:
	case BPF_PROG_TYPE_TRACEPOINT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE:
	case BPF_PROG_TYPE_PERF_EVENT:
		return STEP_B1;
	case BPF_PROG_TYPE_TRACING:
	case BPF_PROG_TYPE_LSM:
		return STEP_B3;
	case BPF_PROG_TYPE_SYSCALL:
	case BPF_PROG_TYPE_STRUCT_OPS:
		return STEP_C2;
	case BPF_PROG_TYPE_SOCKET_FILTER:
	case BPF_PROG_TYPE_SCHED_CLS:
	case BPF_PROG_TYPE_XDP:
		return STEP_A1;
	default:
		return STEP_A2;
	}
}

/* Drops skep's own lines: the kernel does not have them. */
static void log_trim(char *log)
{
	char *to = log;

	for (char *line = log, *next; *line; line = next) {
		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (strncmp(line, EXPLAIN_MARK, sizeof(EXPLAIN_MARK) - 1)) {
			memmove(to, line, (size_t)(next - line));
			to += next - line;
		}
	}
	*to = '\0';
}

/* The line that says why, without tabs. */
static const char *log_last(const char *log)
{
	static char out[200];
	size_t n = 0;

	for (const char *line = log, *next; *line; line = next) {
		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (strncmp(line, "processed ", 10) && strncmp(line, "stack depth", 11) &&
		    strncmp(line, "verification time", 17)) {
			n = (size_t)(next - line) - (next > line && next[-1] == '\n');
			n = n < sizeof(out) ? n : sizeof(out) - 1;
			memcpy(out, line, n);
		}
	}
	out[n] = '\0';
	for (char *c = out; *c; c++)
		*c = *c == '\t' ? ' ' : *c;
	return out;
}

static int run(int fd, int type, uint32_t *retval)
{
	uint8_t in[DATA_SIZE] = { 0 }, out[4 * DATA_SIZE] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .repeat = 1);

	if (type != BPF_PROG_TYPE_SYSCALL && type != BPF_PROG_TYPE_RAW_TRACEPOINT) {
		opts.data_in = in;
		opts.data_size_in = sizeof(in);
		opts.data_out = out;
		opts.data_size_out = sizeof(out);
	}
	if (type == BPF_PROG_TYPE_SYSCALL || type == BPF_PROG_TYPE_RAW_TRACEPOINT)
		opts.repeat = 0;
	if (bpf_prog_test_run_opts(fd, &opts))
		return errno;
	*retval = opts.retval;
	return 0;
}

/* What to say of the program, and what came out. */
static enum outcome judge(const struct spec *s, const struct bpf_program *p, int err, char *why,
			  size_t size)
{
	int type = (int)bpf_program__type(p);
	const char *miss;
	uint32_t retval = 0;

	log_trim(log_text);
	if (strstr(log_text, "is referenced but wasn't created")) {
		snprintf(why, size, "%s", log_last(log_text));
		return OUTCOME_ABSENT;
	}
	if (!err != !s->fail) {
		snprintf(why, size, "wants %s, skep %d: %s", s->fail ? "failure" : "success", -err,
			 log_last(log_text));
		return !err || log_text[0] ? OUTCOME_VERDICT : OUTCOME_ABSENT;
	}
	miss = missing(s, log_text);
	if (miss) {
		snprintf(why, size, "wants \"%s\"; skep: %s", miss, log_last(log_text));
		return log_text[0] ? OUTCOME_MESSAGE : OUTCOME_ABSENT;
	}
	if (err || !s->run)
		return OUTCOME_OK;
	err = run(bpf_program__fd(p), type, &retval);
	if (!err && (int32_t)retval == s->retval)
		return OUTCOME_OK;
	snprintf(why, size, "wants result %d, skep %s%d", s->retval, err ? "errno " : "",
		 err ? err : (int)retval);
	return OUTCOME_RETVAL;
}

/* Maps of types that skep does not have are left out: programs that do without them can be loaded,
 * others cannot be tried. */
static void maps_leave_out(struct bpf_object *obj)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, obj)
	{
		if (bpf_map__type(m) == BPF_MAP_TYPE_STRUCT_OPS ||
		    libbpf_probe_bpf_map_type(bpf_map__type(m), NULL) <= 0)
			bpf_map__set_autocreate(m, false);
	}
}

/* What the tests' own runner puts into maps of two objects before it runs their programs. */
static void maps_fill(const char *path, struct bpf_object *obj)
{
	bool arith = strstr(path, "verifier_value_ptr_arith.o");
	uint32_t key = 0, value[12] = { [0] = 28, [7] = 0xabcdef12 };
	struct bpf_map *m;

	if (!arith && !strstr(path, "verifier_array_access.o"))
		return;
	m = bpf_object__find_map_by_name(obj, arith ? "map_array_48b" : "map_array_ro");
	if (m)
		bpf_map_update_elem(bpf_map__fd(m), &key, value, BPF_ANY);
}

/* In a child: loads the program and those that stand beside it. */
static enum outcome load(const char *path, const char *name, const struct spec *s, char *why,
			 size_t size)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	struct bpf_program *p, *it = NULL;
	struct bpf_object *obj;
	char btf[PATH_MAX];
	int err;

	if (s->btf) {
		snprintf(btf, sizeof(btf), "%.*s/%s", (int)(strrchr(path, '/') - path), path,
			 s->btf);
		opts.btf_custom_path = btf;
	}
	obj = bpf_object__open_file(path, &opts);
	log_text = calloc(1, LOG_SIZE);
	if (!obj || !log_text)
		return OUTCOME_ABSENT;
	bpf_object__for_each_program(p, obj)
	{
		bool mine = !strcmp(bpf_program__name(p), name);
		struct spec other;

		spec_read(obj, bpf_program__name(p), &other);
		type_guess(p);
		bpf_program__set_autoload(p, mine || other.auxiliary);
		it = mine ? p : it;
	}
	maps_leave_out(obj);
	bpf_program__set_flags(it, s->flags);
	bpf_program__set_log_level(it, (unsigned)(s->log_level ? s->log_level : 1));
	bpf_program__set_log_buf(it, log_text, LOG_SIZE);
	err = bpf_object__load(obj);
	if (!err)
		maps_fill(path, obj);
	return judge(s, it, err, why, size);
}

static enum outcome in_child(const char *path, const char *name, int type, enum step step,
			     const struct spec *s)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	char why[512] = "";
	enum outcome o;
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid) {
		if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		    WEXITSTATUS(status) <= OUTCOME_ABSENT)
			return (enum outcome)WEXITSTATUS(status);
		printf("absent\t%s\t%s\t%d\t%s\tended by signal %d\n", base, name, type,
		       step_name[step], WTERMSIG(status));
		return OUTCOME_ABSENT;
	}
	alarm(SECONDS);
	o = load(path, name, s, why, sizeof(why));
	for (char *c = why; *c; c++)
		*c = *c == '\n' || *c == '\t' ? ' ' : *c;
	printf("%s\t%s\t%s\t%d\t%s\t%s\n", outcome_name[o], base, name, type, step_name[step], why);
	fflush(stdout);
	_exit((int)o);
}

static void object(const char *path)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct bpf_program *p;

	if (!obj) {
		printf("absent\t%s\t-\t0\t-\tcannot be opened\n", base);
		return;
	}
	bpf_object__for_each_program(p, obj)
	{
		enum step step;
		struct spec s;

		spec_read(obj, bpf_program__name(p), &s);
		type_guess(p);
		if (s.skip || (!s.any && s.unpriv_any) || (!s.any && !s.n_msgs && !s.run))
			continue;
		step = step_of(base, (int)bpf_program__type(p));
		count[step]
		     [in_child(path, bpf_program__name(p), (int)bpf_program__type(p), step, &s)]++;
	}
	bpf_object__close(obj);
}

static void sum_print(const char *name, const unsigned *c)
{
	unsigned n = 0, verdicts;

	for (unsigned i = 0; i <= OUTCOME_ABSENT; i++)
		n += c[i];
	verdicts = n - c[OUTCOME_VERDICT] - c[OUTCOME_ABSENT];
	printf("# %-9s %4u programs: %4u verdicts (%5.1f %%), %4u of those with all messages "
	       "(%5.1f %%), %u wrong results; %u not tried\n",
	       name, n, verdicts, n ? 100.0 * verdicts / n : 0, verdicts - c[OUTCOME_MESSAGE],
	       n ? 100.0 * (verdicts - c[OUTCOME_MESSAGE]) / n : 0, c[OUTCOME_RETVAL],
	       c[OUTCOME_ABSENT]);
}

int main(int argc, char **argv)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	unsigned first[OUTCOME_ABSENT + 1] = { 0 }, every[OUTCOME_ABSENT + 1] = { 0 };

	setrlimit(RLIMIT_MEMLOCK, &all);
	libbpf_set_print(quiet);
	for (int i = 1; i < argc; i++)
		object(argv[i]);
	for (unsigned s = 0; s < STEPS; s++) {
		sum_print(step_name[s], count[s]);
		for (unsigned i = 0; i <= OUTCOME_ABSENT; i++) {
			every[i] += count[s][i];
			first[i] += s <= STEP_A2 ? count[s][i] : 0;
		}
	}
	sum_print("A-1 + A-2", first);
	sum_print("all", every);
	return 0;
}
