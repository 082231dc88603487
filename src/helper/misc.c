/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers for time, CPU, task, random numbers and loops. */
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/percpu.h"
#include "helper/impl.h"

HELPER_FN(ktime_get_ns, r1, r2, r3, r4, r5)
{
	return clock_ns(CLOCK_MONOTONIC);
}

HELPER_FN(ktime_get_boot_ns, r1, r2, r3, r4, r5)
{
	return clock_ns(CLOCK_BOOTTIME);
}

HELPER_FN(ktime_get_coarse_ns, r1, r2, r3, r4, r5)
{
	return clock_ns(CLOCK_MONOTONIC_COARSE);
}

HELPER_FN(ktime_get_tai_ns, r1, r2, r3, r4, r5)
{
	return clock_ns(CLOCK_TAI);
}

/* 250 ticks a second, starting at 2^32 - 5 minutes as the kernel's counter does. */
HELPER_FN(jiffies64, r1, r2, r3, r4, r5)
{
	enum { HZ = 250 };

	return (uint32_t)-(300 * HZ) + clock_ns(CLOCK_MONOTONIC) / (1000000000u / HZ);
}

static const struct percpu_head *head(void)
{
	return (const struct percpu_head *)percpu_self;
}

HELPER_FN(get_smp_processor_id, r1, r2, r3, r4, r5)
{
	return head()->cpu;
}

HELPER_FN(get_numa_node_id, r1, r2, r3, r4, r5)
{
	return head()->node;
}

HELPER_FN(get_prandom_u32, r1, r2, r3, r4, r5)
{
	return percpu_random(&((struct percpu_head *)percpu_self)->random);
}

HELPER_FN(get_current_pid_tgid, r1, r2, r3, r4, r5)
{
	return (uint64_t)getpid() << 32 | (uint32_t)syscall(SYS_gettid);
}

HELPER_FN(get_ns_current_pid_tgid, r1, r2, r3, r4, r5)
{
	struct bpf_pidns_info info = { .pid = (uint32_t)syscall(SYS_gettid),
				       .tgid = (uint32_t)getpid() };
	struct stat st;

	if ((uint32_t)r4 == sizeof(info) && stat("/proc/self/ns/pid", &st) == 0 &&
	    st.st_dev == r1 && st.st_ino == r2) {
		memcpy(ptr_of(r3), &info, sizeof(info));
		return 0;
	}
	memset(ptr_of(r3), 0, (uint32_t)r4);
	return helper_err(-EINVAL);
}

/* There is no kernel structure of a task. Reading through the pointer reads zeroes. */
HELPER_FN(get_current_task, r1, r2, r3, r4, r5)
{
	return 0;
}

HELPER_FN(get_current_task_btf, r1, r2, r3, r4, r5)
{
	return 0;
}

HELPER_FN(task_pt_regs, r1, r2, r3, r4, r5)
{
	return 0;
}

HELPER_FN(loop, r1, r2, r3, r4, r5)
{
	enum { LOOPS_MAX = 8 << 20 };
	uint32_t n = (uint32_t)r1;

	if (r4)
		return helper_err(-EINVAL);
	if (n > LOOPS_MAX)
		return helper_err(-E2BIG);
	for (uint32_t i = 0; i < n; i++)
		if (callback_call(r2, i, r3, 0, 0, 0))
			return i + 1;
	return n;
}
