/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers of tracing and cgroup programs: who runs, and what is known of it. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "helper/impl.h"
#include "map/map.h"
#include "map/perf.h"

HELPER_FN(get_current_uid_gid, r1, r2, r3, r4, r5)
{
	return (uint64_t)getgid() << 32 | getuid();
}

/* Cut off, and filled up with zeroes. */
HELPER_FN(get_current_comm, r1, r2, r3, r4, r5)
{
	enum { COMM = 16 };
	char name[COMM] = "", *to = ptr_of(r1);
	uint32_t n = (uint32_t)r2;

	prctl(PR_GET_NAME, name);
	memset(to, 0, n);
	memcpy(to, name, n < COMM ? n : COMM);
	if (n)
		to[n - 1] = 0;
	return 0;
}

static int signal_check(uint32_t sig)
{
	return sig > 64 ? -EINVAL : 0;
}

HELPER_FN(send_signal, r1, r2, r3, r4, r5)
{
	int err = signal_check((uint32_t)r1);

	return helper_err(!err && kill(getpid(), (int)r1) ? -errno : err);
}

HELPER_FN(send_signal_thread, r1, r2, r3, r4, r5)
{
	int err = signal_check((uint32_t)r1);

	if (!err && syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), (int)r1))
		err = -errno;
	return helper_err(err);
}

/* Programs without a packet: there is nothing that could follow the record. */
HELPER_FN(plain_perf_event_output, r1, r2, r3, r4, r5)
{
	struct iovec part = { ptr_of(r4), r5 };

	if (r3 & ~BPF_F_INDEX_MASK)
		return helper_err(-EINVAL);
	return helper_err(perf_output(ptr_of(r2), r3, &part, 1));
}

/* Programs are run, not attached: there is no cookie, and no probed function. */
HELPER_FN(get_attach_cookie, r1, r2, r3, r4, r5)
{
	return 0;
}

HELPER_FN(get_func_ip, r1, r2, r3, r4, r5)
{
	return 0;
}

enum { STACK_FLAGS = BPF_F_SKIP_FIELD_MASK | BPF_F_USER_STACK };

/* There is no stack of a traced task to walk. */
HELPER_FN(get_stackid, r1, r2, r3, r4, r5)
{
	const uint64_t more = BPF_F_FAST_STACK_CMP | BPF_F_REUSE_STACKID;

	return helper_err(r3 & ~(STACK_FLAGS | more) ? -EINVAL : -EFAULT);
}

HELPER_FN(get_stack, r1, r2, r3, r4, r5)
{
	uint32_t each = r4 & BPF_F_USER_BUILD_ID ? sizeof(struct bpf_stack_build_id) : 8;
	int err = -EFAULT;

	if (r4 & ~(uint64_t)(STACK_FLAGS | BPF_F_USER_BUILD_ID) ||
	    (r4 & BPF_F_USER_BUILD_ID && !(r4 & BPF_F_USER_STACK)) || (uint32_t)r3 % each)
		err = -EINVAL;
	memset(ptr_of(r2), 0, (uint32_t)r3);
	return helper_err(err);
}
