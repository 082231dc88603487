/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What single BPF instructions become on arm64, as text, on any host; and the table "One instance
 * of each sequence": no row may cost more cycles or uops by llvm-mca, in a single pass on four
 * CPUs, than the published figures. Programs end at their first exit; what is before it is shown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/unit.h"
#include "jit/arm64/insn.h"
#include "jit/jit.h"
#include "jit/target.h"
#include "rewrite/rewrite.h"

enum { CPUS = 4, TEXT = 1024, BASE = 0x40000000 };
static const char *const cpus[CPUS] = { "neoverse-n1", "neoverse-n2", "neoverse-v1",
					"neoverse-v2" };

/* cpu NULL: neoverse-v2. */
static const struct shape {
	const char *bpf, *native, *cpu;
} shapes[] = {
#define SHAPE(bpf, native)	   { bpf, native, NULL },
#define SHAPE_ON(cpu, bpf, native) { bpf, native, cpu },
#define COST(...)
#define COST_OF(...)
#include "a64_sequence.def"
};

static const struct cost {
	const char *name, *bpf;
	unsigned cycles[CPUS], uops[CPUS];
	unsigned skip, take; /* lines of the text; take 0: all */
} costs[] = {
#define SHAPE(...)
#define SHAPE_ON(...)
#define COST(bpf, c1, c2, c3, c4, u1, u2, u3, u4) COST_OF(0, 0, bpf, c1, c2, c3, c4, u1, u2, u3, u4)
#define COST_OF(skip, take, bpf, c1, c2, c3, c4, u1, u2, u3, u4)                                   \
	{ #bpf, bpf "\nexit\nexit\n", { c1, c2, c3, c4 }, { u1, u2, u3, u4 }, skip, take },
#include "a64_sequence.def"
};

enum { SHAPES = sizeof(shapes) / sizeof(*shapes), COSTS = sizeof(costs) / sizeof(*costs) };

/* The native text of bytes [from, to), a line each. */
static void text_of(const uint8_t *bytes, size_t from, size_t to, char *out)
{
	size_t n = 0;

	for (size_t i = from; i < to && n + 64 < TEXT; i += sizeof(uint32_t)) {
		uint32_t word;

		memcpy(&word, bytes + i, sizeof(word));
		n += (size_t)a64_print(word, out + n, TEXT - n);
		out[n++] = '\n';
	}
	out[n] = 0;
}

static uint32_t first_exit(const struct unit *u)
{
	uint32_t i = 0;

	while (i < u->n_ops && u->ops[i].code != OP_EXIT)
		i++;
	return i;
}

/* Compiles text and prints what is before the first exit. */
static int show(const char *bpf, const char *cpu, char *out)
{
	const struct jit_opts opts = { .cpu = cpu ? cpu : "neoverse-v2",
				       .base = BASE,
				       .separate = true };
	const struct rewrite_opts rewrites = { .scratch = 2,
					       .traits = target_find("arm64")->traits };
	struct unit *parsed = NULL, *u = NULL;
	struct report r = { 0 };
	struct code *c = NULL;
	uint8_t *bytes = NULL;
	int err = unit_parse("row", bpf, &r, &parsed);

	*out = 0;
	if (!err)
		err = rewrite(parsed, &rewrites, &r, &u);
	if (!err)
		err = jit_compile(target_find("arm64"), u, &opts, &r, &c);
	if (!err)
		bytes = mem_zalloc(c->size, 1);
	if (bytes && !code_link(c, BASE, bytes))
		text_of(bytes, 0, c->lines[first_exit(u)].offset, out);
	if (err)
		printf("# %s", r.text ? r.text : "no message\n");
	mem_free(bytes);
	code_free(c);
	if (u)
		unit_free(u);
	if (parsed)
		unit_free(parsed);
	report_free(&r);
	return err;
}

static unsigned check_shapes(unsigned *n)
{
	char got[TEXT], want[TEXT];
	unsigned wrong = 0;

	for (int i = 0; i < SHAPES; i++) {
		snprintf(want, sizeof(want), "%s", shapes[i].native);
		show(shapes[i].bpf, shapes[i].cpu, got);
		if (strcmp(got, want)) {
			printf("# %s\n# gives\n%s# not\n%s", shapes[i].bpf, got, want);
			wrong++;
		}
		printf("%sok %u - shape %d\n", strcmp(got, want) ? "not " : "", ++*n, i + 1);
	}
	return wrong;
}

struct figure {
	unsigned cycles, uops;
};

/* llvm-mca's totals of each region of a file, in order. */
static void mca_run(const char *path, const char *cpu, struct figure out[COSTS])
{
	char line[512];
	FILE *p;
	int row = -1;

	snprintf(line, sizeof(line),
		 "llvm-mca-19 -mtriple=aarch64 -mcpu=%s -iterations=1 -instruction-info=0 "
		 "-resource-pressure=0 %s",
		 cpu, path);
	p = popen(line, "r");
	while (p && fgets(line, sizeof(line), p)) {
		row += strstr(line, "Code Region") != NULL;
		if (row >= 0 && row < COSTS) {
			sscanf(line, "Total Cycles: %u", &out[row].cycles);
			sscanf(line, "Total uOps: %u", &out[row].uops);
		}
	}
	if (p)
		pclose(p);
}

static void rows_write(FILE *f)
{
	char text[TEXT];

	for (int i = 0; i < COSTS; i++) {
		unsigned n = 0, end = costs[i].take ? costs[i].skip + costs[i].take : TEXT;

		show(costs[i].bpf, NULL, text);
		fprintf(f, "# LLVM-MCA-BEGIN row%d\n", i);
		printf("# %s\n", costs[i].name);
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), n++) {
			if (n < costs[i].skip || n >= end)
				continue;
			fprintf(f, "%s\n", line);
			printf("#     %s\n", line);
		}
		fputs("# LLVM-MCA-END\n", f);
	}
}

static bool row_report(int i, struct figure got[CPUS][COSTS])
{
	bool ok = true;

	printf("# %-44s", costs[i].name);
	for (int c = 0; c < CPUS; c++) {
		struct figure f = got[c][i];

		ok = ok && f.cycles && f.cycles <= costs[i].cycles[c] && f.uops <= costs[i].uops[c];
		printf(" %u/%u %u/%u |", f.cycles, costs[i].cycles[c], f.uops, costs[i].uops[c]);
	}
	putchar('\n');
	return ok;
}

static unsigned check_costs(unsigned *n)
{
	static struct figure got[CPUS][COSTS];
	char path[] = "/tmp/a64-rows-XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	unsigned wrong = 0;

	if (!f)
		return 1;
	rows_write(f);
	fclose(f);
	for (int c = 0; c < CPUS; c++)
		mca_run(path, cpus[c], got[c]);
	unlink(path);
	for (int i = 0; i < COSTS; i++) {
		bool ok = row_report(i, got);

		printf("%sok %u - cost of %s\n", ok ? "" : "not ", ++*n, costs[i].name);
		wrong += !ok;
	}
	return wrong;
}

int main(void)
{
	unsigned n = 0, wrong = check_shapes(&n);

	if (system("llvm-mca-19 --version >/dev/null 2>&1"))
		printf("ok %u - costs # SKIP llvm-mca-19 is not installed\n", ++n);
	else
		wrong += check_costs(&n);
	printf("1..%u\n", n);
	return wrong != 0;
}
