/* SPDX-License-Identifier: BSD-2-Clause */
#include "map/region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/near.h"
#include "base/percpu.h"
#include "map/impl.h"

enum { HUGE_MIN = 4 << 20 };

static void *shared_map(int fd, size_t size, void *at)
{
	void *p = mmap(at, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_NORESERVE | (at ? MAP_FIXED : 0), fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static uint64_t machine_memory(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

size_t region_page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int region_fd(const char *name, uint64_t size, int *out)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	/* Clients hold the fd: none may pull the memory away under the others. */
	if (ftruncate(fd, (off_t)size) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		close(fd);
		return -ENOMEM;
	}
	*out = fd;
	return 0;
}

static int mem_new(struct map *m, uint64_t size, uint64_t need, bool near)
{
	uint64_t page = region_page();
	void *p, *at;
	int err;

	if (need > machine_memory() || size > 1ull << 46)
		return -ENOMEM;
	size = (size + page - 1) & ~(page - 1);
	err = region_fd("bpf-map", size, &m->fd);
	if (err)
		return err;
	at = near ? near_take(size) : NULL;
	p = shared_map(m->fd, size, at);
	if (!p) {
		if (at)
			near_give(at, size);
		return -ENOMEM; /* map_free closes the fd */
	}
	if (need >= HUGE_MIN)
		madvise(p, size, MADV_HUGEPAGE);
	m->mem = p;
	m->mem_size = size;
	return 0;
}

int map_mem_new(struct map *m, uint64_t size, uint64_t need)
{
	return mem_new(m, size, need, false);
}

int map_mem_near(struct map *m, uint64_t size, uint64_t need)
{
	return mem_new(m, size, need, true);
}

int region_map_pieces(const struct region_piece *piece, size_t n, int prot, size_t size, void **out)
{
	uint8_t *base = mmap(NULL, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (mmap(base + piece[i].at, piece[i].size, prot, MAP_SHARED | MAP_FIXED,
			 piece[i].fd, (off_t)piece[i].offset) == MAP_FAILED) {
			munmap(base, size);
			return -ENOMEM;
		}
	*out = base;
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
