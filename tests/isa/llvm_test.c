/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Against LLVM 19: what we print it assembles to the bytes that we encode, and what it
 * disassembles we read as the bytes that it says. Only what LLVM 19 knows; how much that is, the
 * test prints. Needs llvm-mc-19 and llvm-objcopy-19.
 */
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/report.h"
#include "base/vec.h"
#include "isa/unit.h"
#include "sample.h"

#define MC "llvm-mc-19 -triple=bpfel -mcpu=v4 "

static unsigned tests, failed;

static void ok(bool good, const char *what)
{
	failed += !good;
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, what);
}

/* Forms that LLVM 19's assembler has no words for. */
static bool llvm_lacks(const struct op *op)
{
	switch (op->code) {
	case OP_LDMAP:
	case OP_LDMAPIDX:
	case OP_LDVALUE:
	case OP_LDVALUEIDX:
	case OP_LDBTF:
	case OP_LDFUNC:
	case OP_CALLSUB: /* becomes a relocation */
	case OP_CALLKFUNC:
	case OP_LDACQ: /* LLVM 20 */
	case OP_STREL:
		return true;
	case OP_LDIND:
		return op->imm != 0;
	default:
		return false;
	}
}

/* All samples that LLVM knows as one program; jumps go to the next op. */
struct collect {
	VEC(struct op) ops;
	VEC(struct bpf_insn) insns; /* each sample by itself, wide ones as two */
	unsigned long lacking;
};

static void collect_sample(const struct bpf_insn *insns, void *ctx)
{
	const struct bpf_insn *in = &insns[SAMPLE_BEFORE];
	struct collect *c = ctx;
	struct unit *u = NULL;
	struct op op;

	if (unit_decode(insns, SAMPLE_INSNS, false, NULL, &u))
		return;
	op = u->ops[SAMPLE_BEFORE];
	unit_free(u);
	if (llvm_lacks(&op)) {
		c->lacking++;
		return;
	}
	if (op_has(&op, P_JUMP))
		op.off = (int32_t)c->ops.n + 1;
	if (vec_push(&c->ops, op) || vec_push(&c->insns, in[0]) ||
	    (op_has(&op, P_WIDE) && vec_push(&c->insns, in[1])))
		abort();
}

static bool write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	return f && fputs(text, f) >= 0 && fclose(f) == 0;
}

static bool run(const char *dir, const char *command)
{
	char line[1024];

	snprintf(line, sizeof(line), "cd %s && %s", dir, command);
	return system(line) == 0;
}

/* The first op whose bytes differ, as a note. */
static bool compare_bytes(const struct unit *u, const char *bytes, unsigned long size)
{
	struct bpf_insn *insns = NULL;
	uint32_t n = 0;
	bool same;
	char line[256];

	if (unit_encode(u, NULL, &insns, &n))
		return false;
	same = size == n * sizeof(*insns) && !memcmp(insns, bytes, size);
	for (uint32_t i = 0; !same && i < u->n_ops && (u->slot[i] + 1) * 8 <= size; i++) {
		if (!memcmp(&insns[u->slot[i]], bytes + u->slot[i] * 8, 8))
			continue;
		op_print(u, i, PRINT_LLVM, line, sizeof(line));
		printf("# LLVM reads \"%s\" otherwise\n", line);
		break;
	}
	mem_free(insns);
	return same;
}

static void we_print_llvm_assembles(const char *dir, struct collect *c)
{
	struct unit u = { 0 };
	struct report text = { 0 };
	unsigned long size = 0;
	char path[256], *bytes = NULL;

	vec_push(&c->ops, ((struct op){ .code = OP_EXIT }));
	u.ops = c->ops.at;
	u.n_ops = (uint32_t)c->ops.n;
	if (!unit_index(&u, &text)) {
		unit_print(&u, PRINT_LLVM, &text);
		snprintf(path, sizeof(path), "%s/x.s", dir);
		if (write_file(path, text.text) && run(dir, MC "-filetype=obj x.s -o x.o") &&
		    run(dir, "llvm-objcopy-19 -O binary -j .text x.o x.bin")) {
			snprintf(path, sizeof(path), "%s/x.bin", dir);
			bytes = sample_file(path, &size);
		}
	}
	ok(bytes && compare_bytes(&u, bytes, size), "LLVM assembles what we print");
	printf("# %u instructions compared, %lu have no LLVM text\n", u.n_ops - 1, c->lacking);
	free(bytes);
	mem_free(u.slot);
	mem_free(u.subs);
	report_free(&text);
}

static void put_hex(struct report *r, const struct bpf_insn *in, unsigned n)
{
	const uint8_t *bytes = (const uint8_t *)in;

	report_add(r, "[");
	for (unsigned i = 0; i < n * 8; i++)
		report_add(r, "0x%02x ", bytes[i]);
	report_add(r, "]\n");
}

/* One line of llvm-mc: "text # encoding: [0x..,...]". 1: same, 0: no such line, -1: other bytes */
static int compare_line(char *line)
{
	struct bpf_insn insns[SAMPLE_INSNS] = { 0 };
	char *mark = strstr(line, "# encoding: ["), *p = mark + 13;
	uint8_t *bytes = (uint8_t *)&insns[SAMPLE_BEFORE];
	struct report text = { 0 }, said = { 0 };
	struct unit *u = NULL;
	unsigned n = 0;
	int good;

	if (!mark)
		return 0;
	*mark = '\0';
	for (unsigned i = 0; i < SAMPLE_INSNS; i++)
		insns[i].code = BPF_JMP | BPF_EXIT;
	for (; n < 16 && *p && *p != ']'; n++)
		bytes[n] = (uint8_t)strtoul(p, &p, 16), p += *p == ',';
	for (unsigned i = 0; i < SAMPLE_INSNS - n / 8 + 1; i++)
		report_add(&text, "%s\n", i == SAMPLE_BEFORE ? line : "exit");
	good =
	    !unit_parse("llvm", text.text, &said, &u) && sample_encodes_to(u, insns, SAMPLE_INSNS);
	if (!good)
		printf("# %s: %s\n", line, said.text ? said.text : "other bytes");
	unit_free(u);
	report_free(&text);
	report_free(&said);
	return good ? 1 : -1;
}

static void llvm_prints_we_read(const char *dir, const struct collect *c)
{
	struct report hex = { 0 };
	unsigned long same = 0, other = 0;
	char path[256], line[1024];
	FILE *f;

	for (size_t i = 0; i < c->insns.n; i++) {
		unsigned n = c->insns.at[i].code == 0x18 ? 2 : 1;

		put_hex(&hex, &c->insns.at[i], n);
		i += n - 1;
	}
	snprintf(path, sizeof(path), "%s/x.hex", dir);
	write_file(path, hex.text);
	snprintf(line, sizeof(line), MC "-disassemble --show-encoding %s 2>/dev/null", path);
	f = popen(line, "r");
	while (f && fgets(line, sizeof(line), f)) {
		int result = compare_line(line);

		same += result > 0;
		other += result < 0;
	}
	if (f)
		pclose(f);
	ok(same > 1000 && !other, "we read what LLVM disassembles");
	printf("# %lu lines compared, %lu differ\n", same, other);
	report_free(&hex);
}

int main(void)
{
	char dir[] = "/tmp/skep-isa-llvm.XXXXXX";
	struct collect c = { 0 };

	if (!sample_has_command("llvm-mc-19") || !sample_has_command("llvm-objcopy-19") ||
	    !mkdtemp(dir)) {
		printf("1..0 # SKIP llvm-mc-19 and llvm-objcopy-19 are not installed\n");
		return 0;
	}
	sample_each(collect_sample, &c);
	we_print_llvm_assembles(dir, &c);
	llvm_prints_we_read(dir, &c);
	printf("1..%u\n", tests);
	run(dir, "rm -f x.s x.o x.bin x.hex");
	rmdir(dir);
	vec_free(&c.ops);
	vec_free(&c.insns);
	return failed != 0;
}
