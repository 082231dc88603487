/* SPDX-License-Identifier: BSD-2-Clause */
/* Records that a program sends through ring buffers, collected while it runs. */
#ifndef SKEP_TOOL_EVENTS_H
#define SKEP_TOOL_EVENTS_H

#include <bpf/libbpf.h>
#include <stdint.h>

#include "base/vec.h"

struct report;

enum { EVENTS_KEPT = 10000 }; /* records of a map that are kept; the others are only counted */

struct event {
	uint8_t *at;
	uint32_t n;
};

struct event_source {
	const struct bpf_map *map;
	uint32_t type_id; /* BTF type of its records, 0: unknown */
	uint32_t type_size;
	uint64_t records, bytes;
	VEC(struct event) kept;
};

struct events {
	struct ring_buffer *rings;
	struct event_source *sources;
	size_t n;
};

/* All ring buffers of a loaded object. types: n texts "MAP=STRUCT" that say what the records of a
 * map are. 0 or -errno. */
int events_open(struct bpf_object *o, const char *const *types, size_t n_types, struct report *r,
		struct events *out);
void events_close(struct events *e);

/* Takes what is there. 0 or -errno. */
int events_take(struct events *e);

const struct event_source *events_of(const struct events *e, const struct bpf_map *m);

#endif
