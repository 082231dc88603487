/* SPDX-License-Identifier: BSD-2-Clause */
#include "isa/kfunc.h"

#include <string.h>

#define ON(type)      HELPER_ON(type)
#define PROGS_ALL     UINT64_MAX
#define PROGS_TRACING (ON(TRACING) | ON(TRACEPOINT) | ON(PERF_EVENT) | ON(LSM))
#define PROGS_CPUMASK (PROGS_TRACING | ON(STRUCT_OPS) | ON(SYSCALL))
#define PROGS_GENERIC (PROGS_CPUMASK | ON(SCHED_CLS) | ON(XDP) | ON(CGROUP_SKB))
#define PROGS_SKB                                                                                  \
	(ON(SCHED_CLS) | ON(SCHED_ACT) | ON(SK_SKB) | ON(SOCKET_FILTER) | ON(CGROUP_SKB) |         \
	 ON(LWT_OUT) | ON(LWT_IN) | ON(LWT_XMIT) | ON(LWT_SEG6LOCAL) | ON(NETFILTER) |             \
	 ON(TRACING))

#define F_RDONLY  KFUNC_RDONLY
#define F_NEXT	  KFUNC_NEXT
#define F_SLEEPS  KFUNC_SLEEPS
#define F_ACQUIRE KFUNC_ACQUIRE
#define F_RELEASE KFUNC_RELEASE
#define F_TRUSTED KFUNC_TRUSTED
#define F_RCU	  KFUNC_RCU

static const struct kfunc rows[KFUNC_COUNT] = {
#define KFUNC(nm, r, a1, a2, a3, a4, a5, fl, pr, dc)                                               \
	[KFUNC_##nm] = { .name = #nm,                                                              \
			 .doc = dc,                                                                \
			 .ret = RET_##r,                                                           \
			 .arg = { ARG_##a1, ARG_##a2, ARG_##a3, ARG_##a4, ARG_##a5 },              \
			 .progs = pr,                                                              \
			 .id = KFUNC_##nm,                                                         \
			 .flags = fl },
#include "isa/kfunc.def"
};

const struct kfunc *kfunc_find(const char *name)
{
	if (strncmp(name, "bpf_", 4))
		return NULL;
	for (unsigned i = 0; i < KFUNC_COUNT; i++) {
		if (!strcmp(rows[i].name, name + 4))
			return &rows[i];
	}
	return NULL;
}

static const struct {
	const char *name;
	unsigned slots;
} iters[] = { [ITER_NONE] = { "none", 0 }, [ITER_NUM] = { "num", 1 }, [ITER_BITS] = { "bits", 2 } };

const char *iter_name(enum iter_type type)
{
	return iters[type].name;
}

unsigned iter_slots(enum iter_type type)
{
	return iters[type].slots;
}
