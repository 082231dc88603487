/* SPDX-License-Identifier: BSD-2-Clause */
/* printf as the kernel's helpers allow it: the verifier checks formats, the helpers print. */
#ifndef SKEP_ISA_FORMAT_H
#define SKEP_ISA_FORMAT_H

#include <stdbool.h>

/* One conversion. */
struct conversion {
	const char *flags; /* "[0 +-]*[width]" */
	unsigned n_flags;
	char conv;   /* 'd', 's', ...; 'p': see ptr */
	char ptr[2]; /* "I4", "i6", "x", ... */
	bool wide;   /* 64-bit number */
};

/* The conversion behind '%' at p; returns its last character, NULL when it is not allowed. */
const char *conversion_parse(const char *p, struct conversion *s);

/* May this character stand outside of conversions? */
bool format_plain(char c);

/* Do n arguments suffice for fmt, and is all in it allowed? */
bool format_ok(const char *fmt, unsigned n);

#endif
