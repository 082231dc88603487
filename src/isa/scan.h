/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading BPF text: comments, positions, and the small parts that statements consist of. Nothing
 * here moves past the end of the line.
 */
#ifndef SKEP_ISA_SCAN_H
#define SKEP_ISA_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report;

struct scan {
	const char *name; /* of the file, for messages */
	const char *line; /* where the line begins */
	const char *at;	  /* what is read next */
	unsigned row;	  /* 1 is the first line */
	struct report *r;
};

/* Turns comments into spaces and line ends into NULs, so that rows and columns stay. Comments:
 * from "//" to the end of the line, from ';' or '#' too where it is the first on its line or has
 * white space before it, and what is between slash-star and star-slash. (A ';' right behind a
 * statement separates statements; the '#' of "call name#5" is part of the call.) */
void scan_strip(char *text, size_t n);

/* All return whether it was there; then it has been read. White space before it is skipped. */
bool scan_end(struct scan *s);				      /* the line's end; nothing is read */
bool scan_eat(struct scan *s, const char *token);	      /* a word only as a whole */
bool scan_reg(struct scan *s, char *letter, uint8_t *number); /* r0-r12, w0-w12 */
bool scan_name(struct scan *s, const char **name, size_t *n);

/* A number: decimal, or hexadecimal with 0x; a sign may stand before it, with spaces after it.
 * `big`: it needs more than 64 bits. */
struct scan_number {
	uint64_t value; /* two's complement when `minus` */
	bool minus, big;
};
bool scan_number(struct scan *s, struct scan_number *out);

/* "NAME:LINE:COL: what; accepted" for what stands at s->at. -EINVAL. */
int scan_fail(struct scan *s, const char *what, const char *accepted);
/* The same with what stands there in quotes: "unexpected 'xyz'". */
int scan_unexpected(struct scan *s, const char *accepted);

#endif
