/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What stands under a refusal: where it is, the registers that had a part in it, and where their
 * values came from on the refused path. TAP.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "verify/verify.h"

struct row {
	const char *name, *text;
	const char *says[5]; /* each is in the explanation; one that begins with '!' is not */
};

static const struct row rows[] = {
	{ "an op and its register",
	  "r0 = 7\nr0 = *(u32 *)(r0 + 4)\nexit\n",
	  { "where: insn 1 (r0 = *(u32 *)(r0 +4))", "r0: 7, from insn 0 (r0 = 7)",
	    "accepted: a pointer that" } },
	{ "a register of the start",
	  "r1 = *(u32 *)(r1 + 5)\nr0 = 0\nexit\n",
	  { "r1: ctx(), as it was at the start" } },
	{ "a copy of a copy",
	  "r6 = 7\nr7 = r6\nr8 = r7\nr0 = *(u32 *)(r8 + 0)\nexit\n",
	  { "r8: 7, from insn 2 (r8 = r7)", "which had it from insn 0 (r6 = 7)" } },
	{ "the branch that was taken",
	  "r6 = *(u32 *)(r1 + 0)\nr7 = 1\nif r6 == 0 goto out\nr7 = 2\nr8 = 3\nout:\n"
	  "r0 = *(u32 *)(r7 + 0)\nexit\n",
	  { "r7: 2, from insn 3 (r7 = 2)", "!from insn 1" } },
	{ "the other branch",
	  "r6 = *(u32 *)(r1 + 0)\nr7 = r1\nif r6 != 0 goto out\nr7 = 2\nout:\n"
	  "r0 = *(u32 *)(r7 + 0)\nexit\n",
	  { "r7: 2, from insn 3 (r7 = 2)" } },
	{ "a call clobbers",
	  "r3 = 1\ncall 7\nr0 = r3\nexit\n",
	  { "r3: nothing that may be read, from insn 1 (call bpf_get_prandom_u32#7)" } },
	{ "a call leaves the others",
	  "r6 = 1\ncall 7\nr0 = *(u8 *)(r6 + 0)\nexit\n",
	  { "r6: 1, from insn 0 (r6 = 1)" } },
	{ "what a subprogram returns",
	  "r6 = 5\ncall f\nr0 = *(u8 *)(r0 + 0)\nexit\nf:\nr0 = 9\nexit\n",
	  { "r0: 9, from insn 4 (r0 = 9)" } },
	{ "what a subprogram leaves",
	  "r6 = 5\ncall f\nr0 = *(u8 *)(r6 + 0)\nexit\nf:\nr6 = 9\nr0 = 0\nexit\n",
	  { "r6: 5, from insn 0 (r6 = 5)", "!insn 4" } },
	{ "an argument of a subprogram",
	  "r1 = 5\ncall f\nexit\nf:\nr0 = *(u8 *)(r1 + 0)\nexit\n",
	  { "r1: 5, from insn 0 (r1 = 5)" } },
	{ "a round of a loop",
	  "r6 = 0\nr7 = 1\nloop:\nr7 += 2\nr6 += 1\nif r6 != 3 goto loop\n"
	  "r0 = *(u8 *)(r7 + 0)\nexit\n",
	  { "r7: 7, from insn 2 (r7 += 2)" } },
	{ "a packet that moved",
	  "r6 = r1\nr7 = *(u32 *)(r1 + 76)\nr2 = 64\nr3 = 0\ncall 38\nr0 = *(u8 *)(r7 + 0)\nexit\n",
	  { "r7: scalar(", "from insn 1 (r7 = *(u32 *)(r1 +76))",
	    "since then the packet may have moved, and its pointers with it: insn 4 (call "
	    "bpf_skb_change_tail#38)" } },
	{ "two registers",
	  "r6 = r10\ncall 7\nr6 += r0\nr0 = 0\nexit\n",
	  { "r0: scalar(), from insn 1 (call bpf_get_prandom_u32#7)",
	    "r6: fp0, from insn 0 (r6 = r10)" } },
	{ "what atomics fetch",
	  "*(u64 *)(r10 - 8) = 0\nr6 = 1\nr6 = atomic_fetch_add((u64 *)(r10 - 8), r6)\n"
	  "r0 = *(u8 *)(r6 + 0)\nexit\n",
	  { "from insn 2 (r6 = atomic64_fetch_add" } },
	{ "the frame pointer",
	  "r0 = *(u64 *)(r10 + 8)\nexit\n",
	  { "r10: fp0, the frame pointer" } },
	{ "a register that was never written",
	  "r0 = r9\nexit\n",
	  { "r9: nothing that may be read, as it was at the start" } },
};

static bool says(const char *log, const char *what)
{
	const char *ours = strstr(log, EXPLAIN_MARK);

	if (!ours)
		return false;
	return what[0] == '!' ? !strstr(ours, what + 1) : strstr(ours, what) != NULL;
}

static bool judge(const struct row *row, unsigned level)
{
	const struct verify_input in = { .prog_type = BPF_PROG_TYPE_SCHED_CLS,
					 .gpl = true,
					 .log_level = level };
	struct report log = { 0 }, r = { 0 };
	struct unit *u = NULL;
	bool good = !unit_parse(row->name, row->text, &r, &u) && verify(u, &in, &log, NULL);

	for (unsigned i = 0; good && i < 5 && row->says[i]; i++) {
		good = says(log.text, row->says[i]);
		if (!good)
			printf("# not so: %s\n", row->says[i]);
	}
	if (!good)
		printf("# %s%s\n", r.text ? r.text : "", log.text ? log.text : "");
	unit_free(u);
	report_free(&log);
	report_free(&r);
	return good;
}

/* Nothing is said where nobody reads it. */
static bool silent(void)
{
	const struct verify_input in = { .prog_type = BPF_PROG_TYPE_SCHED_CLS };
	struct report log = { 0 };
	struct unit *u = NULL;
	bool good = !unit_parse("silent", rows[0].text, NULL, &u) && verify(u, &in, &log, NULL) &&
		    log.text && !strstr(log.text, EXPLAIN_MARK);

	unit_free(u);
	report_free(&log);
	return good;
}

int main(void)
{
	unsigned n = sizeof(rows) / sizeof(rows[0]), bad = 0;

	printf("1..%u\n", n + 1);
	for (unsigned i = 0; i < n; i++) {
		bool good = judge(&rows[i], LOG_STATS) && judge(&rows[i], LOG_STATES);

		printf("%sok %u - %s\n", good ? "" : "not ", i + 1, rows[i].name);
		bad += !good;
	}
	bad += !silent();
	printf("%sok %u - no explanation without a log\n", silent() ? "" : "not ", n + 1);
	return bad != 0;
}
