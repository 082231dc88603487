/* SPDX-License-Identifier: BSD-2-Clause */
#include "isa/helper.h"

#include <string.h>

#define ON(type)       HELPER_ON(type)
#define PROGS_ATTACHED (ON(TRACING) | ON(LSM))
#define PROGS_TYPED    (PROGS_ATTACHED | ON(SYSCALL))
#define PROGS_TRACE                                                                                \
	(PROGS_TYPED | ON(KPROBE) | ON(TRACEPOINT) | ON(PERF_EVENT) | ON(RAW_TRACEPOINT) |         \
	 ON(RAW_TRACEPOINT_WRITABLE))
#define PROGS_TC     (ON(SCHED_CLS) | ON(SCHED_ACT))
#define PROGS_LWT    (ON(LWT_IN) | ON(LWT_OUT) | ON(LWT_XMIT) | ON(LWT_SEG6LOCAL))
#define PROGS_TC_LWT (PROGS_TC | PROGS_LWT)
/* Types with the cgroup helpers of the current task. */
#define PROGS_CGROUP                                                                               \
	(ON(CGROUP_SOCK) | ON(CGROUP_DEVICE) | ON(CGROUP_SOCK_ADDR) | ON(CGROUP_SYSCTL) |          \
	 ON(CGROUP_SOCKOPT) | ON(LSM))
/* Types with the conversions between kinds of sockets. */
#define PROGS_NET                                                                                  \
	(PROGS_TC_LWT | ON(SOCKET_FILTER) | ON(XDP) | ON(CGROUP_SKB) | ON(SOCK_OPS) | ON(SK_SKB) | \
	 ON(SK_MSG) | ON(CGROUP_SOCK_ADDR) | ON(FLOW_DISSECTOR) | ON(SK_LOOKUP))
/* Types with the base helpers: all but LIRC_MODE2 and EXT (which has those of its target). */
#define PROGS_BASE                                                                                 \
	(PROGS_NET | PROGS_TRACE | PROGS_CGROUP | ON(SK_REUSEPORT) | ON(STRUCT_OPS) | ON(NETFILTER))
#define PROGS_BASE_LIRC (PROGS_BASE | ON(LIRC_MODE2))

#define F_GPL	      HELPER_GPL
#define F_MOVES_PKT   HELPER_MOVES_PKT
#define F_PKT_ARGS    HELPER_PKT_ARGS
#define F_ACQUIRES    HELPER_ACQUIRES
#define F_RELEASES    HELPER_RELEASES
#define F_SLEEPS      HELPER_SLEEPS
#define F_FASTCALL    HELPER_FASTCALL
#define F_CAP_BPF     HELPER_CAP_BPF
#define F_CAP_PERFMON HELPER_CAP_PERFMON

static const struct helper rows[HELPER_ID_MAX + 1] = {
#define HELPER(n, nm, r, a1, a2, a3, a4, a5, fl, pr, st, dc)                                       \
	[n] = { .id = n,                                                                           \
		.status = HELPER_##st,                                                             \
		.flags = fl,                                                                       \
		.ret = RET_##r,                                                                    \
		.arg = { ARG_##a1, ARG_##a2, ARG_##a3, ARG_##a4, ARG_##a5 },                       \
		.progs = pr,                                                                       \
		.name = #nm,                                                                       \
		.doc = dc },
#include "isa/helper.def"
};

/* Other prototypes of the same helper; progs says in which types. */
static const struct helper variants[] = {
#define HELPER_VARIANT(n, nm, r, a1, a2, a3, a4, a5, pr)                                           \
	{ .id = n,                                                                                 \
	  .ret = RET_##r,                                                                          \
	  .arg = { ARG_##a1, ARG_##a2, ARG_##a3, ARG_##a4, ARG_##a5 },                             \
	  .progs = pr },
#include "isa/helper.def"
};

static const char *const btf_names[BTF_TYPES] = {
	[BTF_TASK] = "task_struct",
	[BTF_FILE] = "file",
	[BTF_INODE] = "inode",
	[BTF_PATH] = "path",
	[BTF_CGROUP] = "cgroup",
	[BTF_LINUX_BINPRM] = "linux_binprm",
	[BTF_SEQ_FILE] = "seq_file",
	[BTF_PT_REGS] = "pt_regs",
	[BTF_SK_BUFF] = "sk_buff",
	[BTF_XDP_BUFF] = "xdp_buff",
	[BTF_SOCKET] = "socket",
	[BTF_SOCK_COMMON] = "sock_common",
	[BTF_TCP_SOCK] = "tcp_sock",
	[BTF_TCP6_SOCK] = "tcp6_sock",
	[BTF_TCP_TIMEWAIT_SOCK] = "tcp_timewait_sock",
	[BTF_TCP_REQUEST_SOCK] = "tcp_request_sock",
	[BTF_UDP6_SOCK] = "udp6_sock",
	[BTF_UNIX_SOCK] = "unix_sock",
	[BTF_MPTCP_SOCK] = "mptcp_sock",
	[BTF_VM_AREA] = "vm_area_struct",
	[BTF_CPUMASK] = "cpumask",
	[BTF_BPF_CPUMASK] = "bpf_cpumask",
	[BTF_BPF_KEY] = "bpf_key",
};

const struct helper *helper_find(uint32_t id)
{
	return id <= HELPER_ID_MAX && rows[id].name ? &rows[id] : NULL;
}

const struct helper *helper_by_name(const char *name)
{
	if (strncmp(name, "bpf_", 4) == 0)
		name += 4;
	for (uint32_t id = 1; id <= HELPER_ID_MAX; id++)
		if (strcmp(rows[id].name, name) == 0)
			return &rows[id];
	return NULL;
}

bool helper_allowed(uint32_t id, uint32_t prog_type)
{
	const struct helper *h = helper_find(id);

	return h && prog_type < 64 && (h->progs >> prog_type & 1);
}

bool helper_proto(uint32_t id, uint32_t prog_type, struct helper *out)
{
	if (!helper_allowed(id, prog_type))
		return false;
	*out = rows[id];
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		if (variants[i].id != id || !(variants[i].progs >> prog_type & 1))
			continue;
		out->ret = variants[i].ret;
		memcpy(out->arg, variants[i].arg, sizeof(out->arg));
	}
	return true;
}

const char *helper_btf_name(enum helper_btf type)
{
	return type < BTF_TYPES ? btf_names[type] : NULL;
}
