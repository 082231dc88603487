// SPDX-License-Identifier: BSD-2-Clause
#include "skep/engine.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"

enum { PACKET_MAX = 64 << 10, OUT_MAX = 128 << 10 };

int engine_open(struct engine *e, int prog_fd)
{
	*e = (struct engine){ .prog_fd = prog_fd };
	e->memory = mem_zalloc(BATCH, PACKET_MAX + OUT_MAX);
	if (!e->memory)
		return -ENOMEM;
	for (size_t i = 0; i < BATCH; i++) {
		e->shots[i].in = e->memory + i * (PACKET_MAX + OUT_MAX);
		e->shots[i].out = e->shots[i].in + PACKET_MAX;
	}
	return 0;
}

void engine_close(struct engine *e)
{
	mem_free(e->memory);
	e->memory = NULL;
}

int engine_add(struct engine *e, const struct capture_head *head, const uint8_t *bytes)
{
	struct shot *s = &e->shots[e->n];

	if (head->n > PACKET_MAX)
		return -EMSGSIZE;
	s->head = *head;
	memcpy(s->in, bytes, head->n);
	e->n++;
	return 0;
}

static uint64_t run_one(int prog_fd, struct shot *s)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = s->in, .data_size_in = s->head.n,
		    .data_out = s->out, .data_size_out = OUT_MAX, .repeat = 1);

	s->err = bpf_prog_test_run_opts(prog_fd, &o);
	s->verdict = o.retval;
	s->n_out = o.data_size_out;
	return s->err ? 0 : o.duration;
}

void engine_run(struct engine *e, uint64_t *ns, unsigned *ran)
{
	*ns = 0;
	*ran = 0;
	for (unsigned i = 0; i < e->n; i++) {
		*ns += run_one(e->prog_fd, &e->shots[i]);
		*ran += !e->shots[i].err;
	}
}
