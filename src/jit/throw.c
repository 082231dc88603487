/* SPDX-License-Identifier: BSD-2-Clause */
#include "jit/throw.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

struct catcher {
	jmp_buf at;
	struct catcher *outer; /* of the same thread */
	bool thrown;	       /* the program has ended; its frames are being left */
	uint64_t cookie, fn;
};

/* The innermost of this thread. */
static __thread struct catcher *catching;

/* r0 of body; what ends by an exception is in *c. */
static uint64_t run(struct catcher *c, const uint64_t a[5], helper_fn body)
{
	uint64_t r0 = 0;

	c->outer = catching;
	catching = c;
	if (!_setjmp(c->at))
		r0 = helper_call(body, a[0], a[1], a[2], a[3], a[4]);
	catching = c->outer;
	return r0;
}

/* What callback c->fn makes of the exception. What it throws itself is lost, and it gives 0. */
static uint64_t handle(const struct catcher *c)
{
	struct catcher sink = { .outer = catching };
	uint64_t r0;

	catching = &sink;
	r0 = helper_call((helper_fn)(uintptr_t)c->fn, c->cookie, 0, 0, 0, 0);
	catching = sink.outer;
	return sink.thrown ? 0 : r0;
}

uint64_t throw_run(BPF_PARAMS(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5),
		   helper_fn body)
{
	struct catcher c = { .thrown = false };
	uint64_t r0 = run(&c, (const uint64_t[5]){ r1, r2, r3, r4, r5 }, body);

	if (!c.thrown)
		return r0;
	return c.fn ? handle(&c) : c.cookie;
}

/* The exception is the outer catcher's from here on: throw_go_on finds it there. */
uint64_t throw_call(BPF_PARAMS(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5),
		    helper_fn body)
{
	struct catcher c = { .thrown = false };
	uint64_t r0;

	if (catching && catching->thrown)
		return 1;
	r0 = run(&c, (const uint64_t[5]){ r1, r2, r3, r4, r5 }, body);
	if (c.thrown && catching) {
		catching->cookie = c.cookie;
		catching->fn = c.fn;
		catching->thrown = true;
	}
	return c.thrown ? 1 : r0;
}

uint64_t throw_now(BPF_PARAMS(uint64_t cookie, uint64_t fn, uint64_t r3, uint64_t r4, uint64_t r5))
{
	struct catcher *c = catching;

	c->cookie = cookie;
	c->fn = fn;
	c->thrown = true;
	_longjmp(c->at, 1);
}

uint64_t throw_go_on(BPF_PARAMS(uint64_t r0, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5))
{
	if (catching->thrown)
		_longjmp(catching->at, 1);
	return r0;
}
