/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prototypes of helpers: what the verifier checks a call against, and what printers and parsers
 * call a helper. The rows are helper.def; how a helper works is src/helper/'s business.
 */
#ifndef SKEP_ISA_HELPER_H
#define SKEP_ISA_HELPER_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef BPF_PROG_TYPE_NETFILTER
#define BPF_PROG_TYPE_NETFILTER 32
#endif

enum { HELPER_ID_MAX = 211 };

/* Kernel types behind the typed pointers (ARG_BTF, RET_BTF). Names: helper_btf_name(). */
enum helper_btf {
	BTF_TASK = 1,
	BTF_FILE,
	BTF_INODE,
	BTF_PATH,
	BTF_CGROUP,
	BTF_LINUX_BINPRM,
	BTF_SEQ_FILE,
	BTF_PT_REGS,
	BTF_SK_BUFF,
	BTF_XDP_BUFF,
	BTF_SOCKET,
	BTF_SOCK_COMMON,
	BTF_TCP_SOCK,
	BTF_TCP6_SOCK,
	BTF_TCP_TIMEWAIT_SOCK,
	BTF_TCP_REQUEST_SOCK,
	BTF_UDP6_SOCK,
	BTF_UNIX_SOCK,
	BTF_MPTCP_SOCK,
	BTF_VM_AREA,
	BTF_CPUMASK,
	BTF_BPF_CPUMASK,
	BTF_BPF_KEY,
	BTF_TYPES
};

/* Iterators that programs step through themselves. */
enum iter_type { ITER_NONE, ITER_NUM, ITER_BITS };

/* An argument's type: kind (bits 0-7), flags (8-23), and a number (24-31): the size of a fixed
 * block, or the enum helper_btf of a typed pointer. */
enum helper_arg_kind {
	ARG_NONE,
	ARG_ANYTHING,  /* any initialised value */
	ARG_SCALAR,    /* a number, no pointer */
	ARG_CONST_MAP, /* a map, by LDMAP */
	ARG_MAP_KEY,   /* key_size readable bytes of the call's map */
	ARG_MAP_VALUE, /* value_size bytes of the call's map */
	ARG_MEM,  /* memory; its size is the next argument (SIZE*), or ARG_NUMBER with F_FIXED */
	ARG_SIZE, /* size of the argument before, > 0 */
	ARG_SIZE_OR_ZERO,	/* size of the argument before */
	ARG_ALLOC_SIZE_OR_ZERO, /* known constant: size of what the call returns */
	ARG_CTX,		/* the program's context */
	ARG_SPIN_LOCK,		/* struct bpf_spin_lock in a map value */
	ARG_SOCK_COMMON,	/* struct bpf_sock of any state */
	ARG_SOCKET,		/* full struct bpf_sock */
	ARG_SOCK_ANY,		/* any socket pointer, typed ones included */
	ARG_BTF,		/* typed pointer to ARG_NUMBER */
	ARG_KPTR,	 /* typed pointer that fits the kptr field of the KPTR_DEST argument */
	ARG_KPTR_DEST,	 /* a kptr field of a map value */
	ARG_RINGBUF_MEM, /* a reserved ring buffer record */
	ARG_PERCPU_BTF,	 /* a per-CPU kernel variable */
	ARG_FUNC,	 /* a callback, by LDFUNC */
	ARG_STACK,	 /* stack memory */
	ARG_CONST_STR,	 /* NUL-terminated string in a read-only map */
	ARG_TIMER,	 /* struct bpf_timer in a map value */
	ARG_DYNPTR,	 /* struct bpf_dynptr on the stack */
	/* of kfuncs only */
	ARG_ITER,	/* struct bpf_iter_* (ARG_NUMBER: enum iter_type) on the stack */
	ARG_CONST_SIZE, /* known constant: size of the argument before, and of what is returned */
	ARG_KINDS
};

enum helper_arg_flag {
	ARGF_OR_NULL = 1 << 8,
	ARGF_UNINIT = 1 << 9,	/* need not be initialised, is afterwards */
	ARGF_RDONLY = 1 << 10,	/* only read: read-only memory is fine */
	ARGF_WRITE = 1 << 11,	/* written: read-only memory is refused */
	ARGF_ALIGNED = 1 << 12, /* access counts as aligned one of the block's size */
	ARGF_FIXED = 1 << 13,	/* ARG_MEM of ARG_NUMBER bytes */
	ARGF_RELEASE = 1 << 14, /* gives the reference up */
	ARGF_LOCAL = 1 << 15,	/* dynptr over local memory */
	ARGF_RINGBUF = 1 << 16, /* dynptr over a ring buffer record */
	ARGF_SKB = 1 << 17,	/* dynptr over a packet, by its struct __sk_buff */
	ARGF_XDP = 1 << 18,	/* dynptr over a packet, by its struct xdp_md */
};

#define ARG_KIND(a)	((a) & 0xffu)
#define ARG_NUMBER(a)	((uint32_t)(a) >> 24)
#define ARG_FIXED(size) (ARG_MEM | ARGF_FIXED | (size) << 24)
#define ARG_TYPED(btf)	(ARG_BTF | (btf) << 24)
#define ARG_OUT_FLAGS	(ARGF_UNINIT | ARGF_WRITE)

/* Combinations that rows use. */
enum helper_arg {
	ARG_MAP_VALUE_OR_NULL = ARG_MAP_VALUE | ARGF_OR_NULL,
	ARG_MAP_VALUE_OUT = ARG_MAP_VALUE | ARG_OUT_FLAGS,
	ARG_MEM_OR_NULL = ARG_MEM | ARGF_OR_NULL,
	ARG_MEM_RD = ARG_MEM | ARGF_RDONLY,
	ARG_MEM_RD_OR_NULL = ARG_MEM | ARGF_RDONLY | ARGF_OR_NULL,
	ARG_MEM_WR = ARG_MEM | ARGF_WRITE,
	ARG_MEM_OUT = ARG_MEM | ARG_OUT_FLAGS,
	ARG_OUT_U64 = ARG_FIXED(8) | ARG_OUT_FLAGS | ARGF_ALIGNED,
	ARG_INOUT_U32 = ARG_FIXED(4) | ARGF_WRITE | ARGF_ALIGNED,
	ARG_IPHDR = ARG_FIXED(20),
	ARG_IPV6HDR = ARG_FIXED(40),
	ARG_TCPHDR = ARG_FIXED(20),
	ARG_CTX_OR_NULL = ARG_CTX | ARGF_OR_NULL,
	ARG_SOCKET_OR_NULL = ARG_SOCKET | ARGF_OR_NULL,
	ARG_SOCK_ANY_OR_NULL = ARG_SOCK_ANY | ARGF_OR_NULL,
	ARG_SOCK_RELEASE = ARG_SOCK_ANY | ARGF_RELEASE,
	ARG_KPTR_OR_NULL = ARG_KPTR | ARGF_OR_NULL | ARGF_RELEASE,
	ARG_RINGBUF_MEM_RELEASE = ARG_RINGBUF_MEM | ARGF_RELEASE,
	ARG_STACK_OR_NULL = ARG_STACK | ARGF_OR_NULL,
	ARG_DYNPTR_RD = ARG_DYNPTR | ARGF_RDONLY,
	ARG_DYNPTR_LOCAL_OUT = ARG_DYNPTR | ARGF_LOCAL | ARG_OUT_FLAGS,
	ARG_DYNPTR_RINGBUF_OUT = ARG_DYNPTR | ARGF_RINGBUF | ARG_OUT_FLAGS,
	ARG_DYNPTR_OUT = ARG_DYNPTR | ARG_OUT_FLAGS,
	ARG_DYNPTR_SKB_OUT = ARG_DYNPTR | ARGF_SKB | ARG_OUT_FLAGS,
	ARG_DYNPTR_XDP_OUT = ARG_DYNPTR | ARGF_XDP | ARG_OUT_FLAGS,
	ARG_BUFFER = ARG_MEM | ARGF_OR_NULL,
	ARG_ITER_NUM = ARG_ITER | ITER_NUM << 24,
	ARG_ITER_NUM_OUT = ARG_ITER_NUM | ARG_OUT_FLAGS,
	ARG_ITER_NUM_RELEASE = ARG_ITER_NUM | ARGF_RELEASE,
	ARG_ITER_BITS = ARG_ITER | ITER_BITS << 24,
	ARG_ITER_BITS_OUT = ARG_ITER_BITS | ARG_OUT_FLAGS,
	ARG_ITER_BITS_RELEASE = ARG_ITER_BITS | ARGF_RELEASE,
	ARG_DYNPTR_RINGBUF_RELEASE = ARG_DYNPTR | ARGF_RINGBUF | ARGF_RELEASE,
	ARG_BTF_TASK = ARG_TYPED(BTF_TASK),
	ARG_BTF_TASK_OR_NULL = ARG_TYPED(BTF_TASK) | ARGF_OR_NULL,
	ARG_BTF_FILE = ARG_TYPED(BTF_FILE),
	ARG_BTF_INODE = ARG_TYPED(BTF_INODE),
	ARG_BTF_INODE_OR_NULL = ARG_TYPED(BTF_INODE) | ARGF_OR_NULL,
	ARG_BTF_PATH = ARG_TYPED(BTF_PATH),
	ARG_BTF_CGROUP = ARG_TYPED(BTF_CGROUP),
	ARG_BTF_CPUMASK = ARG_TYPED(BTF_CPUMASK),
	ARG_BTF_BPF_CPUMASK = ARG_TYPED(BTF_BPF_CPUMASK),
	ARG_BTF_BPF_KEY = ARG_TYPED(BTF_BPF_KEY),
	ARG_BTF_CGROUP_OR_NULL = ARG_TYPED(BTF_CGROUP) | ARGF_OR_NULL,
	ARG_BTF_LINUX_BINPRM = ARG_TYPED(BTF_LINUX_BINPRM),
	ARG_BTF_SEQ_FILE = ARG_TYPED(BTF_SEQ_FILE),
	ARG_BTF_SK_BUFF = ARG_TYPED(BTF_SK_BUFF),
	ARG_BTF_XDP_BUFF = ARG_TYPED(BTF_XDP_BUFF),
	ARG_BTF_TCP_SOCK = ARG_TYPED(BTF_TCP_SOCK),
	ARG_BTF_SOCK_COMMON_OR_NULL = ARG_TYPED(BTF_SOCK_COMMON) | ARGF_OR_NULL,
};

/* What a helper returns: kind (bits 0-7), RETF_OR_NULL, and the enum helper_btf of RET_BTF. */
enum helper_ret_kind {
	RET_INT,       /* a number */
	RET_VOID,      /* r0 is not readable afterwards */
	RET_MAP_VALUE, /* value of the call's map */
	RET_SOCKET,
	RET_SOCK_COMMON,
	RET_TCP_SOCK,
	RET_RINGBUF_MEM, /* ALLOC_SIZE bytes */
	RET_DYNPTR_MEM,	 /* ALLOC_SIZE bytes of the dynptr */
	RET_PERCPU,	 /* the variable of the PERCPU_BTF argument: memory or typed, read-only */
	RET_BTF,	 /* typed pointer to ARG_NUMBER */
	RET_KPTR,	 /* typed pointer as the kptr field of the KPTR_DEST argument holds */
	RET_SLICE,	 /* CONST_SIZE bytes of the dynptr */
	RET_RDONLY,	 /* as many bytes as bits 24-31 say, not to be written */
};

enum { RETF_OR_NULL = 1 << 8, RETF_TRUSTED = 1 << 9 };
#define RET_TYPED(btf) (RET_BTF | (btf) << 24)

enum helper_ret {
	RET_MAP_VALUE_OR_NULL = RET_MAP_VALUE | RETF_OR_NULL,
	RET_SOCKET_OR_NULL = RET_SOCKET | RETF_OR_NULL,
	RET_SOCK_COMMON_OR_NULL = RET_SOCK_COMMON | RETF_OR_NULL,
	RET_TCP_SOCK_OR_NULL = RET_TCP_SOCK | RETF_OR_NULL,
	RET_RINGBUF_MEM_OR_NULL = RET_RINGBUF_MEM | RETF_OR_NULL,
	RET_DYNPTR_MEM_OR_NULL = RET_DYNPTR_MEM | RETF_OR_NULL,
	RET_PERCPU_OR_NULL = RET_PERCPU | RETF_OR_NULL,
	RET_TASK_OR_NULL = RET_TYPED(BTF_TASK) | RETF_OR_NULL,
	RET_CGROUP_OR_NULL = RET_TYPED(BTF_CGROUP) | RETF_OR_NULL,
	RET_CPUMASK = RET_TYPED(BTF_BPF_CPUMASK),
	RET_CPUMASK_OR_NULL = RET_TYPED(BTF_BPF_CPUMASK) | RETF_OR_NULL,
	RET_KEY_OR_NULL = RET_TYPED(BTF_BPF_KEY) | RETF_OR_NULL,
	RET_FILE_OR_NULL = RET_TYPED(BTF_FILE) | RETF_OR_NULL,
	RET_SLICE_OR_NULL = RET_SLICE | RETF_OR_NULL,
	RET_RDONLY_4_OR_NULL = RET_RDONLY | RETF_OR_NULL | 4 << 24,
	RET_KPTR_OR_NULL = RET_KPTR | RETF_OR_NULL,
	RET_BTF_TASK = RET_TYPED(BTF_TASK) | RETF_TRUSTED,
	RET_BTF_PT_REGS = RET_TYPED(BTF_PT_REGS),
	RET_BTF_SOCKET_OR_NULL = RET_TYPED(BTF_SOCKET) | RETF_OR_NULL,
	RET_BTF_TCP_SOCK_OR_NULL = RET_TYPED(BTF_TCP_SOCK) | RETF_OR_NULL,
	RET_BTF_TCP6_SOCK_OR_NULL = RET_TYPED(BTF_TCP6_SOCK) | RETF_OR_NULL,
	RET_BTF_TCP_TIMEWAIT_SOCK_OR_NULL = RET_TYPED(BTF_TCP_TIMEWAIT_SOCK) | RETF_OR_NULL,
	RET_BTF_TCP_REQUEST_SOCK_OR_NULL = RET_TYPED(BTF_TCP_REQUEST_SOCK) | RETF_OR_NULL,
	RET_BTF_UDP6_SOCK_OR_NULL = RET_TYPED(BTF_UDP6_SOCK) | RETF_OR_NULL,
	RET_BTF_UNIX_SOCK_OR_NULL = RET_TYPED(BTF_UNIX_SOCK) | RETF_OR_NULL,
	RET_BTF_MPTCP_SOCK_OR_NULL = RET_TYPED(BTF_MPTCP_SOCK) | RETF_OR_NULL,
};

enum helper_flag {
	HELPER_GPL = 1 << 0,	     /* only for programs with a GPL-compatible licence */
	HELPER_MOVES_PKT = 1 << 1,   /* packet pointers are invalid afterwards */
	HELPER_PKT_ARGS = 1 << 2,    /* memory arguments may point into the packet */
	HELPER_ACQUIRES = 1 << 3,    /* what it returns (or its dynptr) must be released */
	HELPER_RELEASES = 1 << 4,    /* releases the argument with ARGF_RELEASE */
	HELPER_SLEEPS = 1 << 5,	     /* only in sleepable programs */
	HELPER_FASTCALL = 1 << 6,    /* clobbers nothing but r0 when inlined */
	HELPER_CAP_BPF = 1 << 7,     /* outside of tracing types: needs CAP_BPF */
	HELPER_CAP_PERFMON = 1 << 8, /* outside of tracing types: needs CAP_PERFMON */
};

enum helper_status { HELPER_NONE, HELPER_STAND_IN, HELPER_IMPLEMENTED };

/* Program types as bits. */
#define HELPER_ON(type) (1ull << BPF_PROG_TYPE_##type)

struct helper {
	uint16_t id;
	uint8_t status; /* enum helper_status */
	uint16_t flags; /* enum helper_flag */
	uint32_t ret;
	uint32_t arg[5];
	uint64_t progs;	  /* bit per BPF_PROG_TYPE_* */
	const char *name; /* without bpf_ */
	const char *doc;
};

/* The row of a helper, NULL when there is none with this number. */
const struct helper *helper_find(uint32_t id);

/* The row by name, with or without bpf_ in front; NULL when there is none. */
const struct helper *helper_by_name(const char *name);

/* May programs of this type call it? (Licence and capabilities are the caller's business.) */
bool helper_allowed(uint32_t id, uint32_t prog_type);

/* The prototype that programs of this type see: like helper_find, but ret and arg are those of the
 * type's variant where it has one. *out is filled. False when helper_allowed is. */
bool helper_proto(uint32_t id, uint32_t prog_type, struct helper *out);

/* "task_struct" for BTF_TASK, ... */
const char *helper_btf_name(enum helper_btf type);

#endif
