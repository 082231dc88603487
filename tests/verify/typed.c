/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs on a kernel whose types are made here: what they are given, what lies behind it, and
 * what kernel functions ask of it. TAP.
 */
#define btf_kind libbpf_btf_kind /* both libraries have one */
#include <bpf/btf.h>
#undef btf_kind
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "btf/btf.h"
#include "verify/verify.h"

enum { AT_LSM_MAC = 27 };

/* Ids of what programs attach to. */
static struct {
	int trace, hook, bool_hook, dead_hook, entry;
} ids;

static int arg(struct btf *b, const char *name, int type)
{
	return btf__add_func_param(b, name, type);
}

/* struct task_struct { int pid; char comm[16]; struct task_struct *parent, *real_parent;
 *                      union { long l; struct task_struct *any; }; } */
static int task_add(struct btf *b, int num, int chr)
{
	int bytes = btf__add_array(b, num, chr, 16);
	int task = bytes + 1, ptr = bytes + 2, either = bytes + 3;

	btf__add_struct(b, "task_struct", 56);
	btf__add_field(b, "pid", num, 0, 0);
	btf__add_field(b, "comm", bytes, 32, 0);
	btf__add_field(b, "parent", ptr, 192, 0);
	btf__add_field(b, "real_parent", ptr, 256, 0);
	btf__add_field(b, "either", either, 320, 0);
	btf__add_ptr(b, task);
	btf__add_union(b, "either", 8);
	btf__add_field(b, "any", ptr, 0, 0);
	btf__add_field(b, "n", num, 0, 0);
	return ptr;
}

static struct btf_obj *kernel_make(void)
{
	struct btf *b = btf__new_empty();
	int num = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	int chr = btf__add_int(b, "char", 1, 0);
	int task = task_add(b, num, chr);
	int data = btf__add_ptr(b, 0), proto = btf__add_func_proto(b, 0);
	struct btf_obj *o = NULL;
	const void *raw;
	uint32_t size;

	arg(b, "data", data);
	arg(b, "task", task);
	ids.trace = btf__add_typedef(b, "btf_trace_new", btf__add_ptr(b, proto));
	proto = btf__add_func_proto(b, num);
	arg(b, "task", task);
	ids.hook = btf__add_func(b, "bpf_lsm_task_kill", BTF_FUNC_STATIC, proto);
	ids.bool_hook = btf__add_func(b, "bpf_lsm_audit_rule_known", BTF_FUNC_STATIC, proto);
	ids.dead_hook = btf__add_func(b, "bpf_lsm_getprocattr", BTF_FUNC_STATIC, proto);
	ids.entry = btf__add_func(b, "do_exit", BTF_FUNC_STATIC, proto);
	raw = btf__raw_data(b, &size);
	btf_obj_load_kernel(raw, size, NULL, &o);
	btf__free(b);
	return o;
}

struct row {
	const char *name;
	uint32_t type, attach;
	const int *id;
	const char *text;
	const char *refused; /* NULL: accepted */
};

#define TRACE BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, &ids.trace
#define ENTRY BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, &ids.entry
#define LSM   BPF_PROG_TYPE_LSM, AT_LSM_MAC
#define TASK  "r6 = *(u64 *)(r1 + 0)\n"
#define END   "r0 = 0\nexit\n"

static const struct row rows[] = {
	{ "a number of a structure", TRACE, TASK "r0 = *(u32 *)(r6 + 0)\n" END, NULL },
	{ "a pointer of a structure", TRACE,
	  TASK "r7 = *(u64 *)(r6 + 24)\nr0 = *(u32 *)(r7 + 0)\n" END, NULL },
	{ "structures are only read", TRACE, TASK "*(u32 *)(r6 + 0) = 1\n" END,
	  "only read is supported" },
	{ "a structure has an end", TRACE, TASK "r0 = *(u64 *)(r6 + 56)\n" END,
	  "access beyond struct task_struct at off 56 size 8" },
	{ "and a beginning", TRACE, TASK "r0 = *(u64 *)(r6 - 8)\n" END,
	  "R6 is ptr_task_struct invalid negative access: off=-8" },
	{ "half a pointer is none", TRACE, TASK "r0 = *(u32 *)(r6 + 24)\n" END,
	  "cannot access ptr member parent with moff 24 in struct task_struct with off 24 size 4" },
	{ "a number is not read past", TRACE, TASK "r0 = *(u64 *)(r6 + 0)\n" END,
	  "access beyond the end of member pid (mend:4) in struct task_struct with off 0 size 8" },
	{ "a pointer at an unknown place", TRACE,
	  TASK "call 7\nr0 &= 8\nr6 += r0\nr0 = *(u32 *)(r6 + 0)\n" END,
	  "R6 is ptr_task_struct invalid variable offset" },
	{ "a tracepoint's arguments have an end", TRACE, "r0 = *(u64 *)(r1 + 8)\n" END,
	  "func 'btf_trace_new' doesn't have 2-th argument" },
	{ "a tracing program's context is not written", TRACE, "*(u64 *)(r1 + 0) = 0\n" END,
	  "invalid bpf_context access off=0 size=8" },
	{ "a task is held and given back", TRACE,
	  TASK "r1 = r6\ncall kfunc 1\nif r0 == 0 goto out\nr1 = r0\ncall kfunc 2\nout:\n" END,
	  NULL },
	{ "a task is given back", TRACE, TASK "r1 = r6\ncall kfunc 1\n" END,
	  "Unreleased reference" },
	{ "a task that may not be there", TRACE,
	  TASK "r1 = r6\ncall kfunc 1\nr1 = r0\ncall kfunc 2\n" END,
	  "Possibly NULL pointer passed to trusted arg0" },
	{ "a task that was never held", TRACE, TASK "r1 = r6\ncall kfunc 2\n" END,
	  "release kernel function bpf_task_release expects refcounted PTR_TO_BTF_ID" },
	{ "a parent under RCU", TRACE,
	  TASK "r1 = *(u64 *)(r6 + 32)\ncall kfunc 1\nif r0 == 0 goto out\nr1 = r0\ncall kfunc "
	       "2\nout:\n" END,
	  NULL },
	{ "a pointer that nobody vouches for", TRACE,
	  TASK "r1 = *(u64 *)(r6 + 24)\ncall kfunc 1\n" END, "R1 must be a rcu pointer" },
	{ "a pointer out of a union", TRACE, TASK "r1 = *(u64 *)(r6 + 40)\ncall kfunc 1\n" END,
	  "R1 must be a rcu pointer" },
	{ "not under RCU any more", TRACE,
	  "call kfunc 3\n"
	  "r0 = 0\nexit\n",
	  "bpf_rcu_read_unlock is missing" },
	{ "the end of an RCU section", TRACE,
	  "r6 = r1\ncall kfunc 3\nr7 = *(u64 *)(r6 + 0)\nr7 = *(u64 *)(r7 + 32)\ncall kfunc 4\n"
	  "r1 = r7\ncall kfunc 1\n" END,
	  "R1 must be a rcu pointer" },
	{ "a function's arguments may be anything", ENTRY, TASK "r1 = r6\ncall kfunc 1\n" END,
	  "R1 must be a rcu pointer" },
	{ "an entry program returns 0", ENTRY, "r0 = 1\nexit\n", "should have been in [0, 0]" },
	{ "a hook returns an error", LSM, &ids.hook, "r0 = -1\nexit\n", NULL },
	{ "a hook returns no other number", LSM, &ids.hook, "r0 = 1\nexit\n",
	  "should have been in [-4095, 0]" },
	{ "a hook that answers yes or no", LSM, &ids.bool_hook, "r0 = 1\nexit\n", NULL },
	{ "a hook that answers nothing else", LSM, &ids.bool_hook, "r0 = -1\nexit\n",
	  "should have been in [0, 1]" },
	{ "netfilter's packet has no such type here", 32, 45, &ids.hook,
	  "r6 = *(u64 *)(r1 + 8)\nr0 = *(u32 *)(r6 + 0)\n" END, "R6 invalid mem access" },
	{ "a hook that is not for programs", LSM, &ids.dead_hook, "r0 = 0\nexit\n",
	  "points to disabled hook bpf_lsm_getprocattr" },
};

static const char *kfunc_name(int64_t imm, int32_t off)
{
	static const char *const names[] = { "", "bpf_task_acquire", "bpf_task_release",
					     "bpf_rcu_read_lock", "bpf_rcu_read_unlock" };

	return imm > 0 && imm < 5 ? names[imm] : NULL;
}

static int run(const struct row *row, const struct btf_obj *kernel, const struct unit *u,
	       struct report *log)
{
	const struct verify_input in = { .prog_type = row->type,
					 .attach_type = row->attach,
					 .attach_btf_id = (uint32_t)*row->id,
					 .kernel = kernel,
					 .kfunc_name = kfunc_name,
					 .gpl = true };

	return verify(u, &in, log, NULL);
}

static bool judge(const struct row *row, const struct btf_obj *kernel, struct report *log)
{
	struct unit *u = NULL;
	int err = unit_parse(row->name, row->text, log, &u);

	if (err)
		return false;
	err = run(row, kernel, u, log);
	unit_free(u);
	return row->refused ? err && log->text && strstr(log->text, row->refused) : !err;
}

/* A global function that only moves the packet in a callback has moved it for its callers. */
static bool callback_moves(void)
{
	static const char text[] =
	    "r6 = *(u32 *)(r1 + 76)\nr2 = *(u32 *)(r1 + 80)\nr3 = r6\nr3 += 1\n"
	    "r0 = 0\nif r3 > r2 goto out\ncall g\nr0 = *(u8 *)(r6 + 0)\nout:\n"
	    "r0 = 0\nexit\n"
	    "g:\nr3 = r1\nr1 = 1\nr2 = func cb ll\nr3 = 0\nr4 = 0\ncall 181\n"
	    "r0 = 0\nexit\n"
	    "cb:\nr1 = 0\nr0 = 0\nif r1 == 0 goto done\nr2 = 9\ncall 39\ndone:\n"
	    "r0 = 0\nexit\n";
	const struct verify_sub subs[3] = {
		{ .name = "main" },
		{ .name = "g",
		  .global = true,
		  .has_proto = true,
		  .n_args = 1,
		  .arg = { SUB_ARG_CTX } },
		{ .name = "cb" },
	};
	const struct verify_input in = { .prog_type = BPF_PROG_TYPE_SCHED_CLS, .subs = subs };
	struct report log = { 0 };
	struct unit *u = NULL;
	bool good = !unit_parse("moves", text, &log, &u) && verify(u, &in, &log, NULL) &&
		    strstr(log.text, "R6 invalid mem access 'scalar'");

	if (!good)
		printf("# %s\n", log.text ? log.text : "");
	if (u)
		unit_free(u);
	report_free(&log);
	return good;
}

int main(void)
{
	const unsigned n = sizeof(rows) / sizeof(rows[0]);
	struct btf_obj *kernel = kernel_make();
	unsigned bad = 0;
	bool moves;

	printf("1..%u\n", n + 1);
	for (unsigned i = 0; i < n; i++) {
		struct report log = { 0 };
		bool good = kernel && judge(&rows[i], kernel, &log);

		for (char *l = good ? NULL : strtok(log.text, "\n"); l; l = strtok(NULL, "\n"))
			printf("# %s\n", l);
		printf("%sok %u - %s\n", good ? "" : "not ", i + 1, rows[i].name);
		bad += !good;
		report_free(&log);
	}
	moves = callback_moves();
	bad += !moves;
	printf("%sok %u - a packet that a global function's callback may move\n",
	       moves ? "" : "not ", n + 1);
	if (kernel)
		obj_put(&kernel->obj);
	return bad != 0;
}
