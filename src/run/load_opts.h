/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a client may ask for at a load that bpf(2)'s attributes have no place for. It holds for the
 * loads of the thread that asked (sys/sys.h: sys_load_opts), since a loader such as libbpf stands
 * between the one who asks and PROG_LOAD.
 */
#ifndef SKEP_RUN_LOAD_OPTS_H
#define SKEP_RUN_LOAD_OPTS_H

#include <stdbool.h>
#include <stdint.h>

struct load_opts {
	uint64_t rewrites_off; /* rewrite/rewrite.h: rewrite_opts.off */
	unsigned rewrite_stop; /* ... .stop */
	bool hardened;	       /* ... .hardened; and code that is hard to abuse: blinded constants,
				* landing pads, signed returns */
	bool private_stacks;   /* jit/jit.h: jit_opts.private_stack */
	bool
	    unverified; /* do without the verifier: only structure and what is called are checked */
};

#endif
