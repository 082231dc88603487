/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

static void *pointer(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

/* Through a pipe, at most a page at a time, which it always has room for. */
static bool pipe_copy(uint64_t to, uint64_t from, size_t n)
{
	size_t done = 0, step = 0;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return false;
	for (; done < n; done += step) {
		step = n - done < 4096 ? n - done : 4096;
		if (write(fd[1], pointer(from + done), step) != (ssize_t)step ||
		    read(fd[0], pointer(to + done), step) != (ssize_t)step)
			break;
	}
	close(fd[0]);
	close(fd[1]);
	return done == n;
}

typedef ssize_t (*vm_copy)(pid_t, const struct iovec *, unsigned long, const struct iovec *,
			   unsigned long, unsigned long);

/* Sandboxes may forbid process_vm_readv and emulators lack it. */
static int reach(vm_copy copy, uint64_t near, uint64_t far, size_t n, uint64_t to, uint64_t from)
{
	struct iovec here = { pointer(near), n }, there = { pointer(far), n };
	ssize_t got;

	if (!n)
		return 0;
	if (far + n < far)
		return -EFAULT;
	got = copy(getpid(), &here, 1, &there, 1, 0);
	if (got < 0 && (errno == ENOSYS || errno == EPERM))
		return pipe_copy(to, from, n) ? 0 : -EFAULT;
	return got == (ssize_t)n ? 0 : -EFAULT;
}

int reach_read(void *to, uint64_t from, size_t n)
{
	return reach(process_vm_readv, (uintptr_t)to, from, n, (uintptr_t)to, from);
}

int reach_write(uint64_t to, const void *from, size_t n)
{
	return reach(process_vm_writev, (uintptr_t)from, to, n, to, (uintptr_t)from);
}
