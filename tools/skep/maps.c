/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "map/map.h"
#include "skep/events.h"
#include "skep/ui.h"
#include "sys/sys.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { TOUCHED_MAX = 64 << 20 }; /* bytes */

/* How to look at a map of each type. */
enum how { HOW_DATA = 1, HOW_ARRAY = 2, HOW_PERCPU = 4, HOW_QUEUE = 8, HOW_IDS = 16 };

static unsigned how(uint32_t type)
{
	static const uint8_t table[] = {
		[BPF_MAP_TYPE_HASH] = HOW_DATA,
		[BPF_MAP_TYPE_ARRAY] = HOW_DATA | HOW_ARRAY,
		[BPF_MAP_TYPE_PERCPU_HASH] = HOW_DATA | HOW_PERCPU,
		[BPF_MAP_TYPE_PERCPU_ARRAY] = HOW_DATA | HOW_ARRAY | HOW_PERCPU,
		[BPF_MAP_TYPE_LRU_HASH] = HOW_DATA,
		[BPF_MAP_TYPE_LRU_PERCPU_HASH] = HOW_DATA | HOW_PERCPU,
		[BPF_MAP_TYPE_LPM_TRIE] = HOW_DATA,
		[BPF_MAP_TYPE_QUEUE] = HOW_QUEUE,
		[BPF_MAP_TYPE_STACK] = HOW_QUEUE,
		[BPF_MAP_TYPE_DEVMAP] = HOW_DATA,
		[BPF_MAP_TYPE_DEVMAP_HASH] = HOW_DATA,
		[BPF_MAP_TYPE_CPUMAP] = HOW_DATA,
		[BPF_MAP_TYPE_PROG_ARRAY] = HOW_IDS,
		[BPF_MAP_TYPE_ARRAY_OF_MAPS] = HOW_IDS,
		[BPF_MAP_TYPE_HASH_OF_MAPS] = HOW_IDS,
	};

	return type < sizeof(table) ? table[type] : 0;
}

void map_view(const struct bpf_map *m, const struct btf *btf, struct map_view *out)
{
	const char *type_name = libbpf_bpf_map_type_str(bpf_map__type(m));
	unsigned h = how(bpf_map__type(m));

	*out = (struct map_view){
		.name = bpf_map__name(m),
		.type_name = type_name ? type_name : "unknown",
		.fd = bpf_map__fd(m),
		.type = bpf_map__type(m),
		.max_entries = bpf_map__max_entries(m),
		.key = { btf, bpf_map__btf_key_type_id(m), bpf_map__key_size(m) },
		.value = { btf, bpf_map__btf_value_type_id(m), bpf_map__value_size(m) },
		.slots = 1,
		.slot_size = bpf_map__value_size(m),
		.percpu = h & HOW_PERCPU,
		.plain = h & HOW_DATA,
		.numbered = h & HOW_ARRAY,
		.queue = h & HOW_QUEUE,
	};
	if (h & HOW_IDS)
		out->value = (struct value_type){ .size = 4 };
	if (h & HOW_PERCPU) {
		out->slots = (unsigned)libbpf_num_possible_cpus();
		out->slot_size = (out->value.size + 7) & ~7u;
	}
}

/* One entry of a map; key NULL: of a queue. values: slots of slot_size bytes. */
struct entry {
	const struct map_view *map;
	const void *key;
	const char *values;
};

typedef void (*entry_fn)(const struct entry *e, void *ctx);

static void each_queued(const struct map_view *v, char *value, entry_fn fn, void *ctx)
{
	while (!bpf_map_lookup_and_delete_elem(v->fd, NULL, value))
		fn(&(struct entry){ v, NULL, value }, ctx);
}

static void each_keyed(const struct map_view *v, char *key, char *next, char *value, entry_fn fn,
		       void *ctx)
{
	int err = bpf_map_get_next_key(v->fd, NULL, next);

	while (!err) {
		memcpy(key, next, v->key.size);
		if (!bpf_map_lookup_elem(v->fd, key, value))
			fn(&(struct entry){ v, key, value }, ctx);
		err = bpf_map_get_next_key(v->fd, key, next);
	}
}

/* Calls fn for each entry. 0 or -errno. */
static int each_entry(const struct map_view *v, entry_fn fn, void *ctx)
{
	char *key = mem_zalloc(2, v->key.size + 8ull);
	char *value = mem_zalloc(v->slots, v->slot_size + 8ull);

	if (!key || !value) {
		mem_free(key);
		mem_free(value);
		return -ENOMEM;
	}
	if (v->queue)
		each_queued(v, value, fn, ctx);
	else if (how(v->type))
		each_keyed(v, key, key + v->key.size + 8, value, fn, ctx);
	mem_free(key);
	mem_free(value);
	return 0;
}

static bool is_zero(const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((const char *)p)[i])
			return false;
	return true;
}

/* Sum over the slots, fresh memory (mem_free); NULL when the type has none. */
static void *slot_sum(const struct entry *e)
{
	const struct map_view *v = e->map;
	void *sum = mem_zalloc(1, v->slot_size);

	for (unsigned i = 0; sum && i < v->slots; i++) {
		if (!value_add(&v->value, sum, e->values + i * (size_t)v->slot_size)) {
			mem_free(sum);
			return NULL;
		}
	}
	return sum;
}

void maps_touch(struct bpf_object *o)
{
	struct bpf_map *m;
	struct obj *obj;

	bpf_object__for_each_map(m, o)
	{
		obj = fd_obj(bpf_map__fd(m), OBJ_MAP);
		if (obj && map_of(obj)->mem_size <= TOUCHED_MAX)
			madvise(map_of(obj)->mem, map_of(obj)->mem_size, MADV_POPULATE_WRITE);
		obj_put(obj);
	}
}

struct text {
	uint64_t shown, all, limit;
};

static void text_value(const char *before, const struct value_type *t, const void *p)
{
	struct json j = { .f = stdout, .style = JSON_LINE };

	fputs(before, stdout);
	value_print(&j, NULL, t, p);
	fputc('\n', stdout);
}

static void text_slots(const struct entry *e)
{
	const struct map_view *v = e->map;
	void *sum = slot_sum(e);
	char label[32];

	fputc('\n', stdout);
	for (unsigned i = 0; i < v->slots; i++) {
		const char *p = e->values + i * (size_t)v->slot_size;

		snprintf(label, sizeof(label), "    slot %u: ", i);
		if (!is_zero(p, v->value.size))
			text_value(label, &v->value, p);
	}
	if (sum)
		text_value("    sum: ", &v->value, sum);
	mem_free(sum);
}

static void text_entry(const struct entry *e, void *ctx)
{
	const struct map_view *v = e->map;
	struct json j = { .f = stdout, .style = JSON_LINE };
	struct text *t = ctx;

	if (v->numbered && is_zero(e->values, v->slots * (size_t)v->slot_size))
		return;
	if (t->all++ >= t->limit)
		return;
	t->shown++;
	fputs("  ", stdout);
	if (e->key) {
		value_print(&j, NULL, &v->key, e->key);
		fputs(v->percpu ? ":" : ": ", stdout);
	}
	if (v->percpu)
		text_slots(e);
	else
		text_value("", &v->value, e->values);
}

static void text_head(const struct map_view *v)
{
	printf("\n%smap %s%s (%s, at most %u)\n", ui_bold(stdout), v->name, ui_plain(stdout),
	       v->type_name, v->max_entries);
}

static void text_events(const struct event_source *s, const struct value_type *t, uint64_t limit)
{
	printf("  %llu records, %llu bytes\n", (unsigned long long)s->records,
	       (unsigned long long)s->bytes);
	for (size_t i = 0; i < s->kept.n && i < limit; i++) {
		const struct event *e = &s->kept.at[i];

		text_value("  ",
			   e->n >= t->size && t->id ? t : &(struct value_type){ .size = e->n },
			   e->at);
	}
	if (s->records > limit)
		printf("  ... and %llu more\n", (unsigned long long)(s->records - limit));
}

/* Variables of .data or .bss, one a line. */
static void text_section(const struct map_view *v)
{
	const struct btf_type *section = btf__type_by_id(v->value.btf, v->value.id);
	const struct btf_var_secinfo *s = btf_var_secinfos(section);
	char *value = mem_zalloc(1, v->value.size);
	char label[160];
	uint32_t zero = 0;

	if (value && !bpf_map_lookup_elem(v->fd, &zero, value)) {
		for (uint32_t i = 0; i < btf_vlen(section); i++, s++) {
			const struct btf_type *var = btf__type_by_id(v->value.btf, s->type);
			const char *name = btf__name_by_offset(v->value.btf, var->name_off);

			snprintf(label, sizeof(label), "  %s: ", name);
			text_value(label, &(struct value_type){ v->value.btf, var->type, s->size },
				   value + s->offset);
		}
	}
	mem_free(value);
}

static bool is_section(const struct map_view *v)
{
	const struct btf_type *t = v->value.btf ? btf__type_by_id(v->value.btf, v->value.id) : NULL;

	return t && btf_is_datasec(t);
}

/* Constants are not worth a line: the program cannot have changed them. */
static bool is_constant(const struct bpf_map *m)
{
	return bpf_map__is_internal(m) && bpf_map__map_flags(m) & BPF_F_RDONLY_PROG;
}

static void print_text(const struct bpf_map *m, const struct map_view *v,
		       const struct event_source *s, const struct btf *btf, uint64_t limit)
{
	struct text t = { .limit = limit };

	if (is_section(v)) {
		printf("\n%svariables of %s%s\n", ui_bold(stdout), bpf_map__name(m),
		       ui_plain(stdout));
		text_section(v);
		return;
	}
	text_head(v);
	if (s) {
		text_events(s, &(struct value_type){ btf, s->type_id, s->type_size }, limit);
		return;
	}
	if (each_entry(v, text_entry, &t))
		printf("  out of memory\n");
	if (t.all > t.shown)
		printf("  ... and %llu more (--all prints them)\n",
		       (unsigned long long)(t.all - t.shown));
	if (!t.all)
		printf("  %s\n", v->numbered ? "all zero" : "empty");
}

void maps_print_text(struct bpf_object *o, const struct events *ev, bool all)
{
	const struct btf *btf = bpf_object__btf(o);
	uint64_t limit = all ? UINT64_MAX : MAP_ENTRIES_SHOWN;
	struct map_view v;
	struct bpf_map *m;

	bpf_object__for_each_map(m, o)
	{
		map_view(m, btf, &v);
		if (!is_constant(m))
			print_text(m, &v, events_of(ev, m), btf, limit);
	}
}

static void json_entry(const struct entry *e, void *ctx)
{
	const struct map_view *v = e->map;
	struct json *j = ctx;
	void *sum;

	json_object(j, NULL);
	if (e->key)
		value_print(j, "key", &v->key, e->key);
	if (!v->percpu) {
		value_print(j, "value", &v->value, e->values);
		json_object_end(j);
		return;
	}
	json_array(j, "values");
	for (unsigned i = 0; i < v->slots; i++)
		value_print(j, NULL, &v->value, e->values + i * (size_t)v->slot_size);
	json_array_end(j);
	sum = slot_sum(e);
	if (sum)
		value_print(j, "sum", &v->value, sum);
	mem_free(sum);
	json_object_end(j);
}

static void json_events(struct json *j, const struct event_source *s, const struct value_type *t)
{
	json_u64(j, "records", s->records);
	json_u64(j, "bytes", s->bytes);
	json_array(j, "events");
	for (size_t i = 0; i < s->kept.n; i++) {
		const struct event *e = &s->kept.at[i];

		value_print(j, NULL,
			    e->n >= t->size && t->id ? t : &(struct value_type){ .size = e->n },
			    e->at);
	}
	json_array_end(j);
}

void maps_print_json(struct bpf_object *o, const struct events *ev, struct json *j)
{
	const struct btf *btf = bpf_object__btf(o);
	const struct event_source *s;
	struct map_view v;
	struct bpf_map *m;

	json_array(j, "maps");
	bpf_object__for_each_map(m, o)
	{
		map_view(m, btf, &v);
		s = events_of(ev, m);
		json_object(j, NULL);
		json_text(j, "name", v.name);
		json_text(j, "type", v.type_name);
		json_u64(j, "key_size", v.key.size);
		json_u64(j, "value_size", bpf_map__value_size(m));
		json_u64(j, "max_entries", v.max_entries);
		if (s) {
			json_events(j, s, &(struct value_type){ btf, s->type_id, s->type_size });
		} else if (how(v.type)) {
			json_array(j, "entries");
			each_entry(&v, json_entry, j);
			json_array_end(j);
		}
		json_object_end(j);
	}
	json_array_end(j);
}
