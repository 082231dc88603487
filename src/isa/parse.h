/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between parse.c, which turns statements into ops, and link.c, which turns the names and
 * distances in them into op indices.
 */
#ifndef SKEP_ISA_PARSE_H
#define SKEP_ISA_PARSE_H

#include "base/vec.h"
#include "isa/scan.h"
#include "isa/unit.h"

enum fix_kind {
	FIX_DISTANCE, /* goes `distance` 8-byte instructions past the next one */
	FIX_LABEL,    /* goes to the label `name` */
	FIX_CALL,     /* calls the label `name`, or else the helper of that name */
	FIX_SYMBOL,   /* loads the address of the label `name`, or else of the map of that name */
};

/* What is still to be found out about an op. */
struct fix {
	enum fix_kind kind;
	uint32_t op; /* in the order of the text */
	int64_t distance;
	const char *name; /* n bytes, in the text */
	size_t n;
	struct scan where; /* for messages */
};

/* A label at the op `value`, or a map with the number `value`. */
struct symbol {
	const char *name;
	size_t n;
	uint32_t value;
	struct scan where;
};

struct parse {
	struct scan s;
	VEC(struct op) ops;
	VEC(uint8_t) late; /* for each op: 1 when it stands in .text, which goes last */
	VEC(struct fix) fixes;
	VEC(struct symbol) labels, maps;
	bool in_text;	/* the section is .text */
	bool in_data;	/* the section has no code: its lines are skipped */
	uint8_t opcode; /* that bpftool printed before the statement, else 0 */
	struct op op;	/* being read */
};

/* A fresh unit from what was parsed. Terminates names in the text. 0 or -errno. */
int parse_link(struct parse *p, struct unit **out);

#endif
