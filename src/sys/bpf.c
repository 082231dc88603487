/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "skep/skep.h"
#include "sys/cmd.h"
#include "sys/fd.h"

struct cmd_row {
	int (*handler)(union attr *attr, const struct call *call);
	uint16_t end; /* offset behind the last field */
};

#define END_OF(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

static const struct cmd_row rows[CMD_COUNT] = {
#define CMD(name, handler, member, last) { cmd_##handler, END_OF(struct attr_##member, last) },
#include "sys/cmd.def"
};

/* The caller's attributes with a zero tail. They are small and on his stack: unlike what they
 * point to, they are read without asking whether that can be done. */
static int attr_read(union attr *attr, const void *from, unsigned size)
{
	unsigned known = size < ATTR_SIZE ? size : ATTR_SIZE;

	if ((uintptr_t)from < 4096)
		return -EFAULT;
	if (size > 4096)
		return -E2BIG;
	memcpy(attr, from, known);
	memset(attr->bytes + known, 0, ATTR_SIZE - known);
	for (unsigned i = known; i < size; i++) {
		if (((const uint8_t *)from)[i])
			return -E2BIG;
	}
	return 0;
}

static int tail_check(const union attr *attr, unsigned end)
{
	for (unsigned i = end; i < ATTR_SIZE; i++) {
		if (attr->bytes[i])
			return -EINVAL;
	}
	return 0;
}

static int bpf_call(int cmd, void *client, unsigned size)
{
	const struct call call = { client, size };
	union attr attr;
	int err = attr_read(&attr, client, size);

	if (err)
		return err;
	if (cmd < 0 || cmd >= CMD_COUNT)
		return -EINVAL;
	err = tail_check(&attr, rows[cmd].end);
	return err ? err : rows[cmd].handler(&attr, &call);
}

int skep_bpf(int cmd, union bpf_attr *attr, unsigned size)
{
	int result = bpf_call(cmd, attr, size);

	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

int token_error(int fd)
{
	return fcntl(fd, F_GETFD) < 0 ? -EBADF : -EINVAL;
}

int name_check(const char name[16])
{
	for (unsigned i = 0; i < 16; i++) {
		char c = name[i];

		if (!c)
			return 0;
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_' || c == '.'))
			return -EINVAL;
	}
	return -EINVAL;
}
