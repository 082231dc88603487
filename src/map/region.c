/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/mman.h>
#include <unistd.h>

#include "base/percpu.h"
#include "map/impl.h"

enum { LOW_MAX = 64 << 20 };

/* Small regions go where an address is a 32-bit immediate. */
static void *mem_map(int fd, size_t size)
{
	void *p = MAP_FAILED;

#ifdef MAP_32BIT
	if (size <= LOW_MAX)
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_32BIT, fd, 0);
#endif
	if (p == MAP_FAILED)
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	return p;
}

static uint64_t machine_memory(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

int map_mem_new(struct map *m, uint64_t size, uint64_t need)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	void *p = MAP_FAILED;

	if (need > machine_memory() || size > 1ull << 46)
		return -ENOMEM;
	size = (size + page - 1) & ~(page - 1);
	m->fd = memfd_create("bpf-map", MFD_CLOEXEC);
	if (m->fd < 0)
		return -errno;
	if (!ftruncate(m->fd, (off_t)size))
		p = mem_map(m->fd, size);
	if (p == MAP_FAILED)
		return -ENOMEM; /* map_free closes the fd */
	m->mem = p;
	m->mem_size = size;
	return 0;
}

int map_percpu_new(struct map *m, uint64_t n, uint32_t stride)
{
	uint64_t size = n * stride;

	if (size / stride != n || size > PERCPU_STRIDE)
		return -ENOMEM;
	m->percpu_off = percpu_alloc(size, stride >= 64 ? 64 : 8);
	return m->percpu_off ? 0 : -ENOMEM;
}

void map_percpu_free(struct map *m, uint64_t n, uint32_t stride)
{
	percpu_free(m->percpu_off, n * stride);
}
