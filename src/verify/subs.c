/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/subs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#ifndef BPF_PROG_TYPE_NETFILTER
#define BPF_PROG_TYPE_NETFILTER 32
#endif

/* The structure that a program of this type calls its context. */
static const char *const ctx_names[] = {
	[BPF_PROG_TYPE_SOCKET_FILTER] = "__sk_buff",
	[BPF_PROG_TYPE_SCHED_CLS] = "__sk_buff",
	[BPF_PROG_TYPE_SCHED_ACT] = "__sk_buff",
	[BPF_PROG_TYPE_CGROUP_SKB] = "__sk_buff",
	[BPF_PROG_TYPE_LWT_IN] = "__sk_buff",
	[BPF_PROG_TYPE_LWT_OUT] = "__sk_buff",
	[BPF_PROG_TYPE_LWT_XMIT] = "__sk_buff",
	[BPF_PROG_TYPE_LWT_SEG6LOCAL] = "__sk_buff",
	[BPF_PROG_TYPE_SK_SKB] = "__sk_buff",
	[BPF_PROG_TYPE_FLOW_DISSECTOR] = "__sk_buff",
	[BPF_PROG_TYPE_XDP] = "xdp_md",
	[BPF_PROG_TYPE_CGROUP_SOCK] = "bpf_sock",
	[BPF_PROG_TYPE_CGROUP_SOCK_ADDR] = "bpf_sock_addr",
	[BPF_PROG_TYPE_SOCK_OPS] = "bpf_sock_ops",
	[BPF_PROG_TYPE_SK_MSG] = "sk_msg_md",
	[BPF_PROG_TYPE_KPROBE] = "pt_regs",
	[BPF_PROG_TYPE_PERF_EVENT] = "bpf_perf_event_data",
	[BPF_PROG_TYPE_RAW_TRACEPOINT] = "bpf_raw_tracepoint_args",
	[BPF_PROG_TYPE_CGROUP_DEVICE] = "bpf_cgroup_dev_ctx",
	[BPF_PROG_TYPE_CGROUP_SYSCTL] = "bpf_sysctl",
	[BPF_PROG_TYPE_CGROUP_SOCKOPT] = "bpf_sockopt",
	[BPF_PROG_TYPE_SK_REUSEPORT] = "sk_reuseport_md",
	[BPF_PROG_TYPE_SK_LOOKUP] = "bpf_sk_lookup",
};

static bool is_ctx(const struct btf_obj *b, uint32_t id, uint32_t prog_type)
{
	const struct btf_type *t = btf_obj_type(b, btf_obj_base(b, id));
	const char *want =
	    prog_type < sizeof(ctx_names) / sizeof(ctx_names[0]) ? ctx_names[prog_type] : NULL;

	if (!want || !t || btf_kind(t) != BTF_KIND_STRUCT)
		return false;
	/* Old programs make a structure of the typedef's name. */
	return !strcmp(btf_obj_string(b, t->name_off), want) ||
	       (prog_type == BPF_PROG_TYPE_KPROBE &&
		!strcmp(btf_obj_string(b, t->name_off), "bpf_user_pt_regs_t"));
}

static bool is_number(const struct btf_obj *b, uint32_t id)
{
	const struct btf_type *t = btf_obj_type(b, btf_obj_base(b, id));
	unsigned kind = t ? btf_kind(t) : 0;

	return kind == BTF_KIND_INT || kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64;
}

/* Tags of an argument ("arg:..."). */
enum {
	TAG_CTX = 1,
	TAG_NONNULL = 2,
	TAG_NULLABLE = 4,
	TAG_TRUSTED = 8,
	TAG_ARENA = 16,
	TAG_BAD = 32
};

static unsigned tag_bit(const char *name)
{
	static const char *const names[] = { "ctx", "nonnull", "nullable", "trusted", "arena" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i]))
			return 1u << i;
	}
	return TAG_BAD;
}

/* The tags of argument i of function `func`. */
static unsigned tags_of(const struct btf_obj *b, uint32_t func, int i)
{
	unsigned tags = 0;

	for (uint32_t id = 1; id < b->n_types; id++) {
		const struct btf_type *t = btf_obj_type(b, id);
		const struct btf_decl_tag *d = (const struct btf_decl_tag *)(t + 1);

		if (btf_kind(t) != BTF_KIND_DECL_TAG || t->type != func || d->component_idx != i ||
		    strncmp(btf_obj_string(b, t->name_off), "arg:", 4))
			continue;
		tags |= tag_bit(btf_obj_string(b, t->name_off) + 4);
	}
	return tags;
}

static bool has_catcher(const struct btf_obj *b, uint32_t func)
{
	static const char tag[] = "exception_callback:";

	for (uint32_t id = 1; id < b->n_types; id++) {
		const struct btf_type *t = btf_obj_type(b, id);

		if (btf_kind(t) == BTF_KIND_DECL_TAG && t->type == func &&
		    !strncmp(btf_obj_string(b, t->name_off), tag, sizeof(tag) - 1))
			return true;
	}
	return false;
}

static bool is_dynptr(const struct btf_obj *b, uint32_t id)
{
	const struct btf_type *t = btf_obj_type(b, btf_obj_base(b, id));

	return t && btf_kind(t) == BTF_KIND_STRUCT &&
	       !strcmp(btf_obj_string(b, t->name_off), "bpf_dynptr");
}

#define WHY(s, ...) (snprintf((s)->why, sizeof((s)->why), __VA_ARGS__), false)

static const char *kind_name(const struct btf_type *t)
{
	static const char *const names[] = {
		[BTF_KIND_STRUCT] = "STRUCT", [BTF_KIND_UNION] = "UNION",
		[BTF_KIND_FWD] = "FWD",	      [BTF_KIND_FUNC_PROTO] = "FUNC_PROTO",
		[BTF_KIND_PTR] = "PTR",
	};
	unsigned kind = t ? btf_kind(t) : 0;

	return kind < sizeof(names) / sizeof(names[0]) && names[kind] ? names[kind] : "UNKN";
}

/* Argument i is a pointer to memory of the size of its type. */
static bool arg_memory(const struct btf_obj *b, int i, uint32_t id, unsigned tags,
		       struct verify_sub *s)
{
	const struct btf_type *t = btf_obj_type(b, btf_obj_base(b, id));

	s->arg[i] = tags & TAG_NONNULL ? SUB_ARG_MEM : SUB_ARG_MEM_OR_NULL;
	if (tags & ~(unsigned)TAG_NONNULL)
		return WHY(s, "arg#%d has invalid combination of tags", i);
	if (btf_obj_size(b, id, &s->size[i]))
		return true;
	return WHY(s, "arg#%d reference type('%s %s') size cannot be determined: -22", i,
		   kind_name(t), t && t->name_off ? btf_obj_string(b, t->name_off) : "");
}

static bool arg_make(const struct btf_obj *b, uint32_t func, int i, uint32_t id, uint32_t prog_type,
		     struct verify_sub *s)
{
	const struct btf_type *t = btf_obj_type(b, btf_obj_base(b, id));
	unsigned tags = s->global ? tags_of(b, func, i) : 0;
	bool ptr = t && btf_kind(t) == BTF_KIND_PTR;

	if (tags & TAG_BAD)
		return WHY(s, "arg#%d has unsupported set of tags", i);
	if (ptr && (tags & TAG_CTX || (!tags && is_ctx(b, t->type, prog_type)))) {
		s->arg[i] = SUB_ARG_CTX;
		return tags & ~(unsigned)TAG_CTX
			   ? WHY(s, "arg#%d has invalid combination of tags", i)
			   : true;
	}
	if (ptr && is_dynptr(b, t->type)) {
		s->arg[i] = SUB_ARG_DYNPTR;
		return tags ? WHY(s, "arg#%d has invalid combination of tags", i) : true;
	}
	if (ptr && tags & TAG_TRUSTED) {
		s->arg[i] = tags & TAG_NULLABLE ? SUB_ARG_TRUSTED_OR_NULL : SUB_ARG_TRUSTED;
		t = btf_obj_type(b, btf_obj_base(b, t->type));
		s->type[i] = t ? btf_obj_string(b, t->name_off) : "";
		return true;
	}
	if (tags & TAG_ARENA)
		return WHY(s, "arg#%d: arena pointers are not supported yet", i);
	if (ptr)
		return arg_memory(b, i, t->type, tags, s);
	if (tags)
		return WHY(s, "arg#%d has pointer tag, but is not a pointer type", i);
	s->arg[i] = SUB_ARG_SCALAR;
	return is_number(b, id) ? true
				: WHY(s, "Arg#%d type %s in %s() is not supported yet.", i,
				      kind_name(t), s->name);
}

/* False with the reason in s->why. */
static bool proto_make(const struct btf_obj *b, uint32_t func, const struct btf_type *proto,
		       uint32_t prog_type, struct verify_sub *s)
{
	const struct btf_param *p = (const struct btf_param *)(proto + 1);
	unsigned n = btf_vlen_of(proto);

	if (n > 5)
		return WHY(s, "Global function %s() with %u > 5 args. Buggy compiler.", s->name, n);
	if (!is_number(b, proto->type))
		return WHY(s,
			   "Global function %s() doesn't return scalar. Only those are supported.",
			   s->name);
	s->n_args = (uint8_t)n;
	for (unsigned i = 0; i < n; i++) {
		if (!arg_make(b, func, (int)i, p[i].type, prog_type, s))
			return false;
	}
	return true;
}

static void sub_make(const struct btf_obj *b, uint32_t func, uint32_t prog_type,
		     struct verify_sub *s)
{
	const struct btf_type *t = btf_obj_type(b, func);
	const struct btf_type *proto;

	if (!t || btf_kind(t) != BTF_KIND_FUNC)
		return;
	s->name = btf_obj_string(b, t->name_off);
	s->global = btf_vlen_of(t) == BTF_FUNC_GLOBAL;
	s->catches = has_catcher(b, func);
	proto = btf_obj_type(b, t->type);
	if (!proto || btf_kind(proto) != BTF_KIND_FUNC_PROTO)
		return;
	s->returns_void = !is_number(b, proto->type);
	s->has_proto = proto_make(b, func, proto, prog_type, s);
}

int subs_make(const struct unit *u, const struct btf_obj *b, const struct bpf_func_info *funcs,
	      uint32_t n, uint32_t prog_type, struct verify_sub **out)
{
	struct verify_sub *s = mem_zalloc(u->n_subs, sizeof(*s));

	if (!s)
		return -ENOMEM;
	for (uint32_t i = 0; i < u->n_subs; i++) {
		s[i].name = "";
		if (b && i < n)
			sub_make(b, funcs[i].type_id, prog_type, &s[i]);
	}
	*out = s;
	return 0;
}
