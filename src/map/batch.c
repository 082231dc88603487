/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches: hash maps go by whole buckets, the others key by key. */
#include "base/mem.h"
#include "map/impl.h"
#include "map/value.h"

static int batch_check(const struct map *m, const struct map_batch *b, uint8_t what)
{
	const uint32_t no_read = BPF_F_WRONLY, no_write = BPF_F_RDONLY;

	if (what & (BATCH_LOOKUP | BATCH_ERASE) && m->desc.flags & no_read)
		return -EPERM;
	if (what != BATCH_LOOKUP && (m->desc.flags & no_write || m->desc.frozen))
		return -EPERM;
	if (!(m->type->batch & what))
		return -ENOTSUPP;
	if (b->elem_flags & ~(uint64_t)BPF_F_LOCK)
		return -EINVAL;
	return b->elem_flags & BPF_F_LOCK && !value_has_lock(m) ? -EINVAL : 0;
}

/* Bucket numbers as tokens. What does not fit any more is the next batch's, unless it is all. */
static int buckets_read(struct map *m, struct map_batch *b, uint32_t room, bool erase)
{
	size_t size = map_user_value_size(m);
	uint32_t bucket = 0, done = 0, n;
	int err = 0;

	if (b->flags)
		return -EINVAL;
	if (b->in_batch)
		memcpy(&bucket, b->in_batch, sizeof(bucket));
	for (; !err && done < room; bucket += !err) {
		n = room - done;
		err =
		    m->ops->bucket(m, &bucket, (uint8_t *)b->keys + (size_t)done * m->desc.key_size,
				   (uint8_t *)b->values + done * size, &n, b->elem_flags, erase);
		done += err ? 0 : n;
	}
	if (err == -ENOSPC && done)
		err = 0;
	if (!err || err == -ENOENT || err == -ENOSPC)
		memcpy(b->out_batch, &bucket, sizeof(bucket));
	b->count = done;
	return err;
}

/* The last key that was read is the token. */
static int keys_read(struct map *m, struct map_batch *b, uint32_t room, uint8_t *key)
{
	size_t size = map_user_value_size(m), key_size = m->desc.key_size;
	const void *prev = b->in_batch;
	uint32_t done = 0;
	int err = 0;

	while (done < room) {
		err = map_next_key(m, prev, key);
		if (err)
			break;
		err = map_lookup(m, key, (uint8_t *)b->values + done * size, b->elem_flags);
		if (err && err != -ENOENT)
			break;
		if (!err) {
			memcpy((uint8_t *)b->keys + done * key_size, key, key_size);
			done++;
		}
		memcpy(b->out_batch, key, key_size);
		prev = b->out_batch;
	}
	b->count = done;
	return err == -ENOENT && done == room ? 0 : err;
}

static int batch_read(struct map *m, struct map_batch *b, uint8_t what)
{
	int err = batch_check(m, b, what);
	uint32_t room = b->count;
	uint8_t *key;

	if (err || !room)
		return err;
	b->count = 0;
	if (m->ops->bucket)
		return buckets_read(m, b, room, what == BATCH_ERASE);
	key = mem_zalloc(1, m->desc.key_size);
	if (!key)
		return -ENOMEM;
	err = keys_read(m, b, room, key);
	mem_free(key);
	return err;
}

int map_lookup_batch(struct map *m, struct map_batch *b)
{
	return batch_read(m, b, BATCH_LOOKUP);
}

int map_lookup_erase_batch(struct map *m, struct map_batch *b)
{
	return batch_read(m, b, BATCH_ERASE);
}

int map_update_batch(struct map *m, struct map_batch *b)
{
	size_t size = map_user_value_size(m);
	int err = batch_check(m, b, BATCH_UPDATE);
	uint32_t n = b->count, i = 0;

	if (err || !n)
		return err;
	for (; i < n && !err; i += !err)
		err = map_update(m, (const uint8_t *)b->keys + (size_t)i * m->desc.key_size,
				 (const uint8_t *)b->values + i * size, b->elem_flags);
	b->count = i;
	return err;
}

int map_delete_batch(struct map *m, struct map_batch *b)
{
	int err = batch_check(m, b, BATCH_DELETE);
	uint32_t n = b->count, i = 0;

	if (err || !n)
		return err;
	for (; i < n && !err; i += !err)
		err = map_erase(m, (const uint8_t *)b->keys + (size_t)i * m->desc.key_size);
	b->count = i;
	return err;
}
