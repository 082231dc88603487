/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel's own test_verifier is linked with (selftests.sh), before libbpf: its bpf(2) is
 * skep_bpf(), what it asks of the kernel beyond (capabilities, a module) is granted and not done,
 * and two of its functions are newer than the distribution's libbpf.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "skep/skep.h"

#define PUBLIC __attribute__((visibility("default")))

int capget(cap_user_header_t header, cap_user_data_t data);
int capset(cap_user_header_t header, const cap_user_data_t data);

int bpf_prog_get_info_by_fd(int fd, struct bpf_prog_info *info, uint32_t *size);
int bpf_link_get_info_by_fd(int fd, struct bpf_link_info *info, uint32_t *size);

static int info_get(int fd, void *info, uint32_t *size)
{
	union bpf_attr attr = { .info.bpf_fd = (uint32_t)fd,
				.info.info_len = *size,
				.info.info = (uint64_t)(uintptr_t)info };
	int err = skep_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));

	*size = attr.info.info_len;
	return err < 0 ? -errno : 0;
}

PUBLIC int bpf_prog_get_info_by_fd(int fd, struct bpf_prog_info *info, uint32_t *size)
{
	return info_get(fd, info, size);
}

PUBLIC int bpf_link_get_info_by_fd(int fd, struct bpf_link_info *info, uint32_t *size)
{
	return info_get(fd, info, size);
}

PUBLIC int capget(cap_user_header_t header, cap_user_data_t data)
{
	(void)header;
	memset(data, 0xff, 2 * sizeof(*data));
	return 0;
}

PUBLIC int capset(cap_user_header_t header, const cap_user_data_t data)
{
	(void)header;
	(void)data;
	return 0;
}

PUBLIC long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_bpf)
		return skep_bpf((int)a[0], (union bpf_attr *)a[1], (unsigned)a[2]);
	if (number == SYS_finit_module || number == SYS_delete_module)
		return 0;
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
