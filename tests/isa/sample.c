/* SPDX-License-Identifier: BSD-2-Clause */
#include "sample.h"

#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "isa/unit.h"
#include "isa/wire.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static const int16_t offs[] = { 0, 1, 2, -1, -6, 8, 16, 32, INT16_MIN, INT16_MAX };
static const int32_t imms[] = { 0,	 1,	  2,	     -1,       5,     12,   16,
				32,	 64,	  0x40,	     0x41,     0x50,  0x51, 0xa0,
				0xa1,	 0xe1,	  0xf1,	     0x100,    0x110, -5,   1000,
				0x10000, 0x10001, INT32_MIN, INT32_MAX };
static const uint8_t dsts[] = { 0, 3, 10, 12, 13 };
static const uint8_t srcs[] = { 0, 1, 2, 3, 4, 5, 6, 10, 11, 15 };
static const int32_t highs[] = { 0, 7, -1 };

static void sample_imms(struct bpf_insn *insns, sample_fn each, void *ctx)
{
	struct bpf_insn *in = &insns[SAMPLE_BEFORE];

	for (unsigned i = 0; i < LENGTH(imms); i++) {
		in->imm = imms[i];
		if (in->code != 0x18) {
			each(insns, ctx);
			continue;
		}
		for (unsigned h = 0; h < LENGTH(highs); h++) {
			in[1] = (struct bpf_insn){ .imm = highs[h] };
			each(insns, ctx);
		}
	}
}

static void sample_opcode(struct bpf_insn *insns, sample_fn each, void *ctx)
{
	struct bpf_insn *in = &insns[SAMPLE_BEFORE];

	for (unsigned d = 0; d < LENGTH(dsts); d++)
		for (unsigned s = 0; s < LENGTH(srcs); s++)
			for (unsigned o = 0; o < LENGTH(offs); o++) {
				in->dst_reg = dsts[d];
				in->src_reg = srcs[s];
				in->off = offs[o];
				sample_imms(insns, each, ctx);
			}
}

void sample_each(sample_fn each, void *ctx)
{
	struct bpf_insn insns[SAMPLE_INSNS];

	for (unsigned code = 0; code < 256; code++) {
		for (unsigned i = 0; i < SAMPLE_INSNS; i++)
			insns[i] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
		insns[SAMPLE_BEFORE].code = (uint8_t)code;
		if (wire_first((uint8_t)code))
			sample_opcode(insns, each, ctx);
		else
			each(insns, ctx);
	}
}

bool sample_same(const struct unit *u, const struct unit *v)
{
	return u->n_ops == v->n_ops && u->n_subs == v->n_subs &&
	       !memcmp(u->ops, v->ops, u->n_ops * sizeof(*u->ops)) &&
	       !memcmp(u->slot, v->slot, (u->n_ops + 1) * sizeof(*u->slot)) &&
	       !memcmp(u->subs, v->subs, u->n_subs * sizeof(*u->subs));
}

bool sample_encodes_to(const struct unit *u, const struct bpf_insn *insns, uint32_t n)
{
	struct bpf_insn *out = NULL;
	uint32_t m = 0;
	bool same =
	    !unit_encode(u, NULL, &out, &m) && m == n && !memcmp(out, insns, n * sizeof(*insns));

	mem_free(out);
	return same;
}

char *sample_file(const char *path, unsigned long *n)
{
	FILE *f = fopen(path, "rb");
	char *bytes = NULL;
	long size;

	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	if (size >= 0)
		bytes = calloc(1, (size_t)size + 1);
	if (bytes)
		*n = fread(bytes, 1, (size_t)size, f);
	fclose(f);
	return bytes;
}

bool sample_has_command(const char *name)
{
	char command[256];

	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", name);
	return system(command) == 0;
}
