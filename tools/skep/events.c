/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/events.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

#include "base/report.h"

static int keep(void *ctx, void *data, size_t n)
{
	struct event_source *s = ctx;
	struct event e = { .n = (uint32_t)n };

	s->records++;
	s->bytes += n;
	if (s->kept.n >= EVENTS_KEPT)
		return 0;
	e.at = mem_dup(data, n);
	if (!e.at || vec_push(&s->kept, e)) {
		mem_free(e.at);
		return -ENOMEM;
	}
	return 0;
}

/* The struct that --type names for the map, into *s. */
static int set_type(struct bpf_object *o, struct event_source *s, const char *name,
		    struct report *r)
{
	const struct btf *btf = bpf_object__btf(o);
	int id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT) : -ENOENT;

	if (id < 0)
		return report_fail(r, -ENOENT,
				   "--type %s=%s: the object's BTF has no struct '%s' (it has only "
				   "those that the program uses)",
				   bpf_map__name(s->map), name, name);
	s->type_id = (uint32_t)id;
	s->type_size = (uint32_t)btf__resolve_size(btf, s->type_id);
	return 0;
}

static int apply_type(struct bpf_object *o, struct events *e, const char *text, struct report *r)
{
	const char *eq = strchr(text, '=');
	size_t n = eq ? (size_t)(eq - text) : 0;

	if (!eq || !n || !eq[1])
		return report_fail(r, -EINVAL, "--type '%s': expected MAP=STRUCT", text);
	for (size_t i = 0; i < e->n; i++) {
		const char *name = bpf_map__name(e->sources[i].map);

		if (strlen(name) == n && strncmp(name, text, n) == 0)
			return set_type(o, &e->sources[i], eq + 1, r);
	}
	return report_fail(r, -ENOENT, "--type %s: no ring buffer '%.*s' in the object", text,
			   (int)n, text);
}

static size_t count_rings(struct bpf_object *o)
{
	struct bpf_map *m;
	size_t n = 0;

	bpf_object__for_each_map(m, o) n += bpf_map__type(m) == BPF_MAP_TYPE_RINGBUF;
	return n;
}

static int add_ring(struct events *e, struct bpf_map *m)
{
	struct event_source *s = &e->sources[e->n++];

	s->map = m;
	if (e->rings)
		return ring_buffer__add(e->rings, bpf_map__fd(m), keep, s);
	e->rings = ring_buffer__new(bpf_map__fd(m), keep, s, NULL);
	return e->rings ? 0 : -errno;
}

int events_open(struct bpf_object *o, const char *const *types, size_t n_types, struct report *r,
		struct events *out)
{
	struct events e = { .n = 0 };
	struct bpf_map *m;
	int err = 0;

	e.sources = mem_zalloc(count_rings(o), sizeof(*e.sources));
	if (!e.sources)
		return report_fail(r, -ENOMEM, "out of memory");
	bpf_object__for_each_map(m, o)
	{
		if (bpf_map__type(m) != BPF_MAP_TYPE_RINGBUF)
			continue;
		err = add_ring(&e, m);
		if (err) {
			report_fail(r, err, "map '%s': cannot read the ring buffer: %s",
				    bpf_map__name(m), strerror(-err));
			break;
		}
	}
	for (size_t i = 0; !err && i < n_types; i++)
		err = apply_type(o, &e, types[i], r);
	if (err)
		events_close(&e);
	else
		*out = e;
	return err;
}

void events_close(struct events *e)
{
	ring_buffer__free(e->rings);
	for (size_t i = 0; i < e->n; i++) {
		for (size_t k = 0; k < e->sources[i].kept.n; k++)
			mem_free(e->sources[i].kept.at[k].at);
		vec_free(&e->sources[i].kept);
	}
	mem_free(e->sources);
	*e = (struct events){ 0 };
}

int events_take(struct events *e)
{
	int n = e->rings ? ring_buffer__consume(e->rings) : 0;

	return n < 0 ? n : 0;
}

const struct event_source *events_of(const struct events *e, const struct bpf_map *m)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->sources[i].map == m)
			return &e->sources[i];
	return NULL;
}
