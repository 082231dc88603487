/* SPDX-License-Identifier: BSD-2-Clause */
#include "object/glue.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/percpu.h"
#include "map/map.h"
#include "skep/skep.h"
#include "sys/pin.h"
#include "sys/sys.h"

long skep_libbpf_syscall(long number, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_bpf)
		return skep_bpf((int)a[0], (union bpf_attr *)a[1], (unsigned)a[2]);
	if (number == SYS_perf_event_open) {
		errno = ENOSYS;
		return -1;
	}
	return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* The ring buffer behind fd with a reference, or NULL. */
static struct map *ringbuf_of(int fd)
{
	struct obj *o = fd < 0 ? NULL : fd_obj(fd, OBJ_MAP);

	if (!o || map_of(o)->desc.type == BPF_MAP_TYPE_RINGBUF)
		return o ? map_of(o) : NULL;
	obj_put(o);
	return NULL;
}

void *skep_libbpf_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	struct map *ring = ringbuf_of(fd);
	void *at = MAP_FAILED;
	int err;

	if (!ring)
		return mmap(addr, length, prot, flags, fd, offset);
	err = map_mmap(ring, (uint64_t)offset, length, prot, &at);
	obj_put(&ring->obj);
	if (!err)
		return at;
	errno = -err;
	return MAP_FAILED;
}

void *skep_libbpf_mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	return skep_libbpf_mmap(addr, length, prot, flags, fd, offset);
}

int skep_libbpf_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	struct map *ring = ringbuf_of(fd);
	struct epoll_event edge;
	int result;

	if (!ring)
		return epoll_ctl(epoll, op, fd, event);
	if (event) {
		edge = *event;
		edge.events |= EPOLLET;
	}
	result = epoll_ctl(epoll, op, ring->wake_fd, event ? &edge : NULL);
	obj_put(&ring->obj);
	return result;
}

int skep_libbpf_unlink(const char *path)
{
	int err = pin_covers(path) ? pin_remove(path) : -ENOSYS;

	if (err == -ENOSYS)
		return unlink(path);
	errno = -err;
	return err ? -1 : 0;
}

int skep_libbpf_mkdir(const char *path, mode_t mode)
{
	return pin_covers(path) ? 0 : mkdir(path, mode);
}

int skep_libbpf_statfs64(const char *path, struct statfs64 *out)
{
	if (!pin_covers(path))
		return statfs64(path, out);
	*out = (struct statfs64){ .f_type = BPF_FS_MAGIC };
	return 0;
}

/* Takes the place of libbpf's own: a client's per-CPU values have as many parts as skep has slots.
 */
int libbpf_num_possible_cpus(void);
int libbpf_num_possible_cpus(void)
{
	return (int)percpu_slots();
}
