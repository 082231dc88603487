/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * annotated OBJECT...: the programs of the kernel's selftests that say in their BTF (decl tags
 * "comment:test_...") what a verifier must make of them. Each is loaded by itself with the tags'
 * log level and flags; with libverify_shadow preloaded, skep's verdict and log come back through
 * SHADOW_OUT and are compared with the tags. Privileged mode only. One line a program:
 *
 *   ok|verdict|message OBJECT PROGRAM type: detail
 *
 * and a summary at the end.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MSGS = 64 };

struct spec {
	bool any, unpriv_any, fail, skip;
	int log_level;
	uint32_t flags;
	const char *msg[MSGS];
	int order[MSGS];
	unsigned n_msgs;
};

static unsigned total, verdict_ok, message_ok, kernel_same;
static const char *out_name;

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
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
	} else if (after(tag, "comment:test_auxiliary")) {
		s->skip = true;
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

static char *file_read(const char *name)
{
	FILE *f = fopen(name, "r");
	char *s;
	long n;

	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	n = ftell(f);
	rewind(f);
	s = calloc(1, (size_t)n + 1);
	if (s && fread(s, 1, (size_t)n, f) != (size_t)n)
		s[0] = '\0';
	fclose(f);
	return s;
}

/* Section names that older versions of libbpf do not know. */
static void type_guess(struct bpf_program *p)
{
	static const struct {
		const char *prefix;
		enum bpf_prog_type type;
		int attach;
	} rows[] = {
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

static void load(const char *path, const char *name, const struct spec *s)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	struct bpf_program *p;
	char level[16];

	snprintf(level, sizeof(level), "%d", s->log_level ? s->log_level : 1);
	setenv("SHADOW_LEVEL", level, 1);
	unlink(out_name);
	bpf_object__for_each_program(p, obj)
	{
		type_guess(p);
		bpf_program__set_autoload(p, !strcmp(bpf_program__name(p), name));
		bpf_program__set_flags(p, s->flags);
	}
	bpf_object__load(obj);
	bpf_object__close(obj);
}

static const char *last_of(const char *out, const char *needle)
{
	const char *last = NULL;

	for (const char *p = out; p && (p = strstr(p, needle)); p++)
		last = p;
	return last;
}

static void judge(const char *path, const char *name, int type, const struct spec *s)
{
	char *out = file_read(out_name);
	char mine[32];
	const char *head, *log, *miss = NULL;
	int kernel = 0, skep = 0;
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	snprintf(mine, sizeof(mine), " %.15s kernel=", name);
	head = out ? last_of(out, mine) : NULL;
	head = head ? strstr(head, " kernel=") : NULL;
	if (!head || sscanf(head, " kernel=%d", &kernel) != 1 ||
	    sscanf(strstr(head, "skep="), "skep=%d", &skep) != 1) {
		printf("absent %s %s %d\n", base, name, type);
		free(out);
		return;
	}
	total++;
	log = strstr(head, "--- skep\n");
	kernel_same += !kernel == !s->fail;
	if (!skep != !s->fail) {
		printf("verdict %s %s %d: wants %s, kernel %d:%.*s\n", base, name, type,
		       s->fail ? "failure" : "success", kernel,
		       (int)strcspn(strchr(head, '|'), "\n"), strchr(head, '|'));
	} else {
		verdict_ok++;
		miss = missing(s, log ? log : "");
		message_ok += !miss;
		printf("%s %s %s %d%s%s\n", miss ? "message" : "ok", base, name, type,
		       miss ? ": wants " : "", miss ? miss : "");
	}
	free(out);
}

static void object(const char *path)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	struct bpf_program *p;

	if (!obj) {
		printf("absent %s cannot be opened\n", path);
		return;
	}
	bpf_object__for_each_program(p, obj)
	{
		struct spec s;

		spec_read(obj, bpf_program__name(p), &s);
		if (s.skip || (!s.any && s.unpriv_any) || (!s.any && !s.n_msgs))
			continue;
		load(path, bpf_program__name(p), &s);
		judge(path, bpf_program__name(p), bpf_program__type(p), &s);
	}
	bpf_object__close(obj);
}

int main(int argc, char **argv)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &all);
	libbpf_set_print(quiet);
	out_name = getenv("SHADOW_OUT");
	if (!out_name) {
		fprintf(stderr, "annotated: SHADOW_OUT is not set: preload libverify_shadow.so\n");
		return 2;
	}
	setenv("SHADOW_MIN", "1", 1);
	for (int i = 1; i < argc; i++)
		object(argv[i]);
	printf("%u programs: %u verdicts (%.1f %%), %u of those with all messages (%.1f %%); "
	       "this kernel: %u verdicts\n",
	       total, verdict_ok, 100.0 * verdict_ok / (total ? total : 1), message_ok,
	       100.0 * message_ok / (total ? total : 1), kernel_same);
	return 0;
}
