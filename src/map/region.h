/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared memory of maps and rings; for src/map/ only. map_mem_new is in impl.h. */
#ifndef SKEP_MAP_REGION_H
#define SKEP_MAP_REGION_H

#include <stddef.h>
#include <stdint.h>

size_t region_page(void);

/* A memfd of `size` zero bytes. */
int region_fd(const char *name, uint64_t size, int *out);

/* A fresh range of `size` bytes with parts of files in it; the rest is private memory. */
struct region_piece {
	size_t at, size; /* in the range */
	int fd;
	uint64_t offset;
};
int region_map_pieces(const struct region_piece *piece, size_t n, int prot, size_t size,
		      void **out);

#endif
