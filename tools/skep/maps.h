/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program left in its maps, as text and as JSON. */
#ifndef SKEP_TOOL_MAPS_H
#define SKEP_TOOL_MAPS_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "skep/json.h"
#include "skep/value.h"

struct events;

/* A map as the command looks at it. */
struct map_view {
	const char *name, *type_name;
	int fd;
	uint32_t type, max_entries;
	struct value_type key, value;
	unsigned slots;	    /* per-CPU maps: number of values of an entry; else 1 */
	uint32_t slot_size; /* bytes from one slot's value to the next */
	bool percpu;
	bool plain;    /* has keys and values that are data */
	bool numbered; /* array: all keys exist */
	bool queue;    /* no keys; values come out by popping */
};

/* btf: the object's, or NULL. */
void map_view(const struct bpf_map *m, const struct btf *btf, struct map_view *out);

/* Brings the maps' memory in (as the kernel's, which allocates it at once), so that the first use
 * of a page is not part of a packet's time. Maps above 64 MiB are left as they are. */
void maps_touch(struct bpf_object *o);

enum { MAP_ENTRIES_SHOWN = 32 };

/* All maps of a loaded object but constants. all: every entry, not only the first
 * MAP_ENTRIES_SHOWN. Elements of queues and stacks are taken out as they are printed. */
void maps_print_text(struct bpf_object *o, const struct events *ev, bool all);
void maps_print_json(struct bpf_object *o, const struct events *ev, struct json *j);

#endif
