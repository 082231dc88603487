/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The caller's memory. A bad address must give EFAULT, so it is the kernel that copies
 * (process_vm_readv on ourselves); where it is not allowed to, plain copies take its place.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/cmd.h"

typedef ssize_t (*vm_copy)(pid_t, const struct iovec *, unsigned long, const struct iovec *,
			   unsigned long, unsigned long);

/* Copies through `copy`, in which `near` is the side that is known to be good. */
static int vm_move(vm_copy copy, void *near, uint64_t far, size_t n)
{
	struct iovec local = { near, n }, remote = { (void *)(uintptr_t)far, n };
	ssize_t done;

	if (!n)
		return 0;
	if (far < 4096 || far + n < far)
		return -EFAULT;
	done = copy(getpid(), &local, 1, &remote, 1, 0);
	if (done == (ssize_t)n)
		return 0;
	return done < 0 && (errno == ENOSYS || errno == EPERM) ? -ENOSYS : -EFAULT;
}

int user_read(void *to, uint64_t from, size_t n)
{
	int err = vm_move(process_vm_readv, to, from, n);

	if (err != -ENOSYS)
		return err;
	memcpy(to, (const void *)(uintptr_t)from, n);
	return 0;
}

int user_write(uint64_t to, const void *from, size_t n)
{
	int err = vm_move(process_vm_writev, (void *)(uintptr_t)from, to, n);

	if (err != -ENOSYS)
		return err;
	memcpy((void *)(uintptr_t)to, from, n);
	return 0;
}

int user_dup(uint64_t from, size_t n, void **out)
{
	void *copy = mem_zalloc(n, 1);
	int err = copy ? user_read(copy, from, n) : -ENOMEM;

	if (err) {
		mem_free(copy);
		return err;
	}
	*out = copy;
	return 0;
}

/* The string may end right before unreadable memory, so no read crosses a page. */
int user_string(char *to, uint64_t from, size_t size)
{
	size_t n = 0;

	while (n < size) {
		size_t room = 4096 - (size_t)((from + n) & 4095);
		size_t part = size - n < room ? size - n : room;
		int err = user_read(to + n, from + n, part);
		const char *end;

		if (err)
			return err;
		end = memchr(to + n, 0, part);
		if (end)
			return (int)(end - to);
		n += part;
	}
	to[size - 1] = '\0';
	return -E2BIG;
}

int user_zero(uint64_t from, size_t n)
{
	uint8_t part[256];

	while (n) {
		size_t len = n < sizeof(part) ? n : sizeof(part);
		int err = user_read(part, from, len);

		if (err)
			return err;
		for (size_t i = 0; i < len; i++) {
			if (part[i])
				return -E2BIG;
		}
		from += len;
		n -= len;
	}
	return 0;
}

int attr_write(const struct call *call, size_t offset, const void *from, size_t n)
{
	if (offset + n > call->size)
		return 0;
	return user_write((uint64_t)(uintptr_t)call->attr + offset, from, n);
}
