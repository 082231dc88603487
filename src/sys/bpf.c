/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "skep/skep.h"
#include "sys/cmd.h"
#include "sys/fd.h"
#include "sys/sys.h"

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

/* As libc's wrappers of system calls return it. */
static int bpf_result(int result)
{
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

int skep_bpf(int cmd, union bpf_attr *attr, unsigned size)
{
	return bpf_result(bpf_call(cmd, attr, size));
}

/* Options of a caller that was compiled with an older or newer header. */
static int opts_read(const struct skep_load_opts *opts, struct skep_load_opts *out)
{
	memset(out, 0, sizeof(*out));
	if (!opts)
		return 0;
	if (opts->size < sizeof(opts->size))
		return -EINVAL;
	for (size_t i = sizeof(*out); i < opts->size; i++) {
		if (((const uint8_t *)opts)[i])
			return -E2BIG;
	}
	memcpy(out, opts, opts->size < sizeof(*out) ? opts->size : sizeof(*out));
	return 0;
}

int skep_prog_load(union bpf_attr *attr, unsigned size, const struct skep_load_opts *opts)
{
	struct load_opts *mine = sys_load_opts();
	const struct load_opts before = *mine;
	struct skep_load_opts known;
	int result = opts_read(opts, &known);

	if (result)
		return bpf_result(result);
	mine->unverified = known.unverified != 0;
	result = bpf_call(CMD_PROG_LOAD, attr, size);
	*mine = before;
	return bpf_result(result);
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
