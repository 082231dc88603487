/* SPDX-License-Identifier: BSD-2-Clause */
/* One statement of BPF text to one op: statement.c and expression.c, for parse.c. */
#ifndef SKEP_ISA_STATEMENT_H
#define SKEP_ISA_STATEMENT_H

#include "isa/parse.h"

/* Reads one statement into p->op, with a fix where it names something. 0 or -EINVAL, -ENOMEM. */
int statement_parse(struct parse *p);

/* The rest of "rN = ..." or "wN = ...", of which p->op.dst and `letter` are known. */
int expression_parse(struct parse *p, char letter);

/* Parts of both. */
int part_want(struct parse *p, const char *token);	  /* the token must stand here */
int part_reg(struct parse *p, char letter, uint8_t *reg); /* 0: either letter */
int part_imm(struct parse *p);			    /* 32 bits, signed or unsigned, to op.imm */
int part_size(struct parse *p);			    /* "(u32 *)" to op.mode */
int part_address(struct parse *p, uint8_t *reg);    /* "(r1 + 4)" to *reg and op.off */
int part_offset(struct parse *p);		    /* "+ 4", "- 4" or nothing, to op.off */
bool part_probe(struct parse *p);		    /* "probe" or "arena" to op.mode */
int part_fix(struct parse *p, const struct fix *f); /* for the op that is being read */
void part_width(struct parse *p, char letter);	    /* OP_W32 for 'w' */

#endif
