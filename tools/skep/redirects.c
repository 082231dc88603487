/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/redirects.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdio.h>

static bool same(const struct packet_redirect *a, const struct packet_redirect *b)
{
	return a->target == b->target && a->ifindex == b->ifindex && a->map_id == b->map_id &&
	       a->key == b->key && a->flags == b->flags;
}

int redirects_add(struct redirects *r, const struct packet_redirect *to, bool verdict_redirects)
{
	struct redirect row = { .to = *to, .packets = 1 };

	r->clones += to->clones;
	if (!verdict_redirects || to->target == PACKET_NONE)
		return 0;
	for (size_t i = 0; i < r->list.n; i++) {
		if (same(&r->list.at[i].to, to)) {
			r->list.at[i].packets++;
			return 0;
		}
	}
	if (r->list.n < REDIRECTS_MAX)
		return vec_push(&r->list, row);
	r->more++;
	return 0;
}

void redirects_free(struct redirects *r)
{
	vec_free(&r->list);
}

static const char *map_name(struct bpf_object *o, uint32_t id)
{
	struct bpf_map_info info = { 0 };
	struct bpf_map *m;
	uint32_t size;

	bpf_object__for_each_map(m, o)
	{
		size = sizeof(info);
		if (!bpf_obj_get_info_by_fd(bpf_map__fd(m), &info, &size) && info.id == id)
			return bpf_map__name(m);
	}
	return "(unknown)";
}

void redirects_print_text(const struct redirects *r, struct bpf_object *o)
{
	for (size_t i = 0; i < r->list.n; i++) {
		const struct redirect *row = &r->list.at[i];

		printf("  redirected      %" PRIu64 " packets to ", row->packets);
		if (row->to.target == PACKET_DEV)
			printf("device %u\n", row->to.ifindex);
		else
			printf("map %s, key %" PRIu64 "\n", map_name(o, row->to.map_id),
			       row->to.key);
	}
	if (r->more)
		printf("  redirected      %" PRIu64 " packets to other targets\n", r->more);
	if (r->clones)
		printf("  cloned          %" PRIu64 " packets to devices\n", r->clones);
}

void redirects_print_json(const struct redirects *r, struct bpf_object *o, struct json *j)
{
	json_array(j, "redirects");
	for (size_t i = 0; i < r->list.n; i++) {
		const struct redirect *row = &r->list.at[i];

		json_object(j, NULL);
		json_u64(j, "packets", row->packets);
		if (row->to.target == PACKET_DEV) {
			json_u64(j, "device", row->to.ifindex);
		} else {
			json_text(j, "map", map_name(o, row->to.map_id));
			json_u64(j, "key", row->to.key);
		}
		json_u64(j, "flags", row->to.flags);
		json_object_end(j);
	}
	json_array_end(j);
	json_u64(j, "redirects_more", r->more);
	json_u64(j, "clones", r->clones);
}
