/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/mman.h>

#include "map/impl.h"
#include "map/region.h"
#include "map/types.h"

static int values_mmap(const struct map *m, uint64_t offset, size_t length, int prot, void **out)
{
	size_t page = region_page();
	void *p;

	length = (length + page - 1) & ~(page - 1);
	if (offset % page || !length || offset > m->mem_size || length > m->mem_size - offset)
		return -EINVAL;
	if (prot & PROT_WRITE && (m->desc.frozen || m->desc.flags & BPF_F_RDONLY_PROG))
		return m->desc.frozen ? -EPERM : -EACCES;
	p = mmap(NULL, length, prot, MAP_SHARED, m->fd, (off_t)offset);
	if (p == MAP_FAILED)
		return -errno;
	*out = p;
	return 0;
}

int map_mmap(const struct map *m, uint64_t offset, size_t length, int prot, void **out)
{
	if (m->desc.type == BPF_MAP_TYPE_RINGBUF)
		return ringbuf_mmap(m, offset, length, prot, out);
	return m->desc.flags & BPF_F_MMAPABLE ? values_mmap(m, offset, length, prot, out)
					      : -ENOTSUPP;
}
