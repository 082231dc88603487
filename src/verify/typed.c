/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pointers to kernel structures: from the arguments of what a program is attached to, from helpers,
 * and from each other. reg.n is the type's id in the kernel's BTF, or (without one) HELPER_TYPE and
 * the enum helper_btf of the helper that gave it.
 */
#include "verify/ver.h"
#include "verify/walk.h"

#include <stdio.h>
#include <string.h>

#define HELPER_TYPE (1u << 31)

/* The id of a helper's type. */
uint32_t typed_id(struct ver *v, uint32_t helper)
{
	uint32_t id = helper | HELPER_TYPE;

	if (!v->in->kernel || helper >= BTF_TYPES)
		return id;
	if (!v->helper_types[helper])
		v->helper_types[helper] =
		    walk_find(v->in->kernel, helper_btf_name((enum helper_btf)helper));
	return v->helper_types[helper] ? v->helper_types[helper] : id;
}

const char *typed_name(const struct ver *v, uint32_t id)
{
	const struct btf_type *t;

	if (id & HELPER_TYPE)
		return helper_btf_name((enum helper_btf)(id & ~HELPER_TYPE));
	t = v->in->kernel ? btf_obj_type(v->in->kernel, id) : NULL;
	return t ? btf_obj_string(v->in->kernel, t->name_off) : "";
}

/* A structure by the name that a program has for it, which may go on behind "___". */
uint32_t typed_find(const struct ver *v, const char *name)
{
	const char *flavour = strstr(name, "___");
	char base[128];

	snprintf(base, sizeof(base), "%.*s", (int)(flavour ? flavour - name : 127), name);
	return v->in->kernel ? walk_find(v->in->kernel, base) : 0;
}

/* Register `dst` becomes a trusted pointer to the structure of this name; -1: none does. */
void typed_load(struct ver *v, int dst, const char *name)
{
	if (dst < 0)
		return;
	reg_set_kind(reg(v, (unsigned)dst), KIND_BTF, RF_TRUSTED);
	reg(v, (unsigned)dst)->n = typed_find(v, name);
	reg(v, (unsigned)dst)->def = 0;
}

/* Does r point to the start of a structure of type `want`, or of one that begins with it? */
static bool points_to(const struct ver *v, const struct reg *r, uint32_t want)
{
	if (r->n == want && !r->off)
		return true;
	return v->in->kernel && !((r->n | want) & HELPER_TYPE) && r->off >= 0 &&
	       walk_begins_with(v->in->kernel, r->n, (uint32_t)r->off, want);
}

/* Does the pointer in register n fit a helper's argument of this type? */
int typed_arg(struct ver *v, unsigned n, uint32_t helper)
{
	return typed_fits(v, n, typed_id(v, helper));
}

int typed_fits(struct ver *v, unsigned n, uint32_t want)
{
	const struct reg *r = reg(v, n);

	if (points_to(v, r, want))
		return 0;
	return fail(v, -EACCES, "R%u is of type %s but %s is expected", n, typed_name(v, r->n),
		    typed_name(v, want));
}

static const char *type_word(const struct ver *v, uint32_t id)
{
	const struct btf_type *t =
	    v->in->kernel && !(id & HELPER_TYPE) ? btf_obj_type(v->in->kernel, id) : NULL;

	return t && btf_kind(t) == BTF_KIND_UNION ? "UNION" : "STRUCT";
}

/* The same for an argument of a kernel function, which may ask for more than the type. */
int typed_kfunc_arg(struct ver *v, struct call *c, unsigned n, uint32_t arg)
{
	const struct reg *r = reg(v, n);
	uint32_t want = typed_id(v, ARG_NUMBER(arg));
	uint8_t flags = c->kfunc->flags;
	bool release = flags & KFUNC_RELEASE, strict = flags & (KFUNC_TRUSTED | KFUNC_RELEASE);

	if ((strict || flags & KFUNC_RCU) && (reg_is_zero(r) || r->flags & RF_NULL))
		return fail(v, -EACCES, "Possibly NULL pointer passed to trusted arg%u", n - 1);
	if (r->kind != KIND_BTF)
		return fail(v, -EINVAL,
			    "arg#%u pointer type %s %s must point to scalar, or struct with scalar",
			    n - 1, type_word(v, want), typed_name(v, want));
	if (r->ref) {
		c->ref = r->ref;
		c->released = release ? n : 0;
	}
	if ((strict || flags & KFUNC_RCU) && !(r->flags & RF_TRUSTED) && !r->ref) {
		if (!(flags & KFUNC_RCU))
			return fail(v, -EINVAL, "R%u must be referenced or trusted", n);
		if (!(r->flags & RF_RCU))
			return fail(v, -EINVAL, "R%u must be a rcu pointer", n);
	}
	if (release && r->off)
		return fail(v, -EINVAL,
			    "R%u must have zero offset when passed to release func or trusted arg "
			    "to kfunc",
			    n);
	if (points_to(v, r, want))
		return 0;
	return fail(v, -EINVAL,
		    "kernel function bpf_%s args#%u expected pointer to %s %s but R%u has a "
		    "pointer to %s %s",
		    c->kfunc->name, n - 1, type_word(v, want), typed_name(v, want), n,
		    type_word(v, r->n), typed_name(v, r->n));
}

/* -- walking */

static bool in_rcu(const struct ver *v)
{
	return v->cur->rcu || v->cur->lock || !v->in->sleepable;
}

/* Fields that keep what is known of the structure they are in. */
struct field {
	const char *type, *field;
};

static bool listed(const struct ver *v, uint32_t id, const char *name, const struct field *rows,
		   unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (!strcmp(rows[i].type, typed_name(v, id)) && !strcmp(rows[i].field, name))
			return true;
	}
	return false;
}

#define LISTED(rows) listed(v, id, name, rows, sizeof(rows) / sizeof((rows)[0]))

/* Flags of the pointer in field `name` of the structure that r points to. */
static uint8_t walked_flags(const struct ver *v, const struct reg *r, const struct walk *w)
{
	static const struct field trusted[] = {
		{ "bpf_iter_meta", "seq" },   { "bpf_iter__task", "meta" },
		{ "bpf_iter__task", "task" }, { "linux_binprm", "file" },
		{ "file", "f_inode" },	      { "dentry", "d_inode" },
	};
	static const struct field trusted_null[] = { { "socket", "sk" } };
	static const struct field rcu[] = {
		{ "task_struct", "cpus_ptr" },
		{ "task_struct", "cgroups" },
		{ "task_struct", "real_parent" },
		{ "task_struct", "group_leader" },
		{ "cgroup", "kn" },
		{ "css_set", "dfl_cgrp" },
		{ "cgroup_subsys_state", "cgroup" },
	};
	static const struct field rcu_null[] = { { "mm_struct", "exe_file" },
						 { "sk_buff", "sk" },
						 { "request_sock", "sk" } };
	uint8_t tags = (uint8_t)((w->tags & WALK_USER ? RF_USER : 0) |
				 (w->tags & WALK_PERCPU ? RF_PERCPU : 0));
	uint32_t id = r->n;
	const char *name = w->field;

	if (w->unions || r->flags & RF_UNTRUSTED)
		return RF_UNTRUSTED;
	if (!(r->flags & (RF_TRUSTED | RF_RCU)) && !r->ref)
		return tags;
	if (LISTED(trusted))
		return RF_TRUSTED;
	if (LISTED(trusted_null))
		return RF_TRUSTED | RF_NULL;
	if (!in_rcu(v))
		return RF_UNTRUSTED;
	if (LISTED(rcu))
		return RF_RCU;
	if (w->tags & WALK_RCU || LISTED(rcu_null))
		return RF_RCU | RF_NULL;
	return tags;
}

static void walked(struct ver *v, struct reg *dst, const struct reg *from, const struct walk *w)
{
	uint8_t flags = walked_flags(v, from, w);

	reg_set_kind(dst, KIND_BTF, flags);
	dst->n = w->id;
	dst->def = 0;
	if (flags & RF_NULL)
		dst->id = id_new(v);
}

static int typed_check(struct ver *v, unsigned addr, const struct access *a, int32_t off)
{
	const struct reg *r = reg(v, addr);
	const char *name = typed_name(v, r->n);
	char bits[48];

	if (!v->in->gpl)
		return fail(v, -EINVAL,
			    "Cannot access kernel 'struct %s' from non-GPL compatible program",
			    name);
	if (off < 0)
		return fail(v, -EACCES, "R%u is ptr_%s invalid negative access: off=%d", addr, name,
			    off);
	if (!scalar_is_one(&r->s) || r->s.d.val)
		return fail(v, -EACCES, "R%u is ptr_%s invalid variable offset: off=%d, var_off=%s",
			    addr, name, off, bits_text(&r->s, bits, sizeof(bits)));
	if (r->flags & (RF_USER | RF_PERCPU))
		return fail(v, -EACCES, "R%u is ptr_%s access %s memory: off=%d", addr, name,
			    r->flags & RF_USER ? "user" : "percpu", off);
	if (a->write)
		return fail(v, -EACCES, "only read is supported");
	return 0;
}

int typed_access(struct ver *v, unsigned addr, const struct access *a)
{
	const struct reg from = *reg(v, addr);
	int32_t off = a->off + from.off;
	struct walk w = { .id = 0 };
	char buf[64];
	int err;

	if (!v->in->kernel || from.n & HELPER_TYPE || !walk_is_struct(v->in->kernel, from.n))
		return fail(v, -EACCES, "R%u invalid mem access '%s'", addr,
			    kind_text(&from, buf, sizeof(buf)));
	err = typed_check(v, addr, a, off);
	if (!err)
		err = walk_struct(v, from.n, (uint32_t)off, a->size, &w);
	if (err)
		return err;
	fact(v)->may_fault |= !(from.flags & (RF_TRUSTED | RF_RCU)) && !from.ref;
	if (a->reg < 0)
		return 0;
	if (w.id)
		walked(v, reg(v, (unsigned)a->reg), &from, &w);
	else
		reg_set_unknown(reg(v, (unsigned)a->reg));
	return 0;
}

/* A helper reads `size` bytes of a structure. */
int typed_range(struct ver *v, unsigned n, uint32_t size, bool write)
{
	const struct access a = { .size = size, .reg = -1, .helper = true };
	char buf[64];

	if (!write)
		return size ? typed_access(v, n, &a) : 0;
	return fail(v, -EACCES, "helper may write into memory pointed by R%u type=%s", n,
		    kind_text(reg(v, n), buf, sizeof(buf)));
}

/* -- contexts: the arguments of the function or tracepoint that the program is attached to */

enum { AT_LSM_MAC = 27 };

static const struct btf_type *target(const struct ver *v, unsigned *first)
{
	const struct btf_obj *b = v->in->kernel;
	const struct btf_type *t = b ? btf_obj_type(b, v->in->attach_btf_id) : NULL;

	*first = 0;
	if (t && v->in->prog_type == BPF_PROG_TYPE_TRACING &&
	    v->in->attach_type == BPF_TRACE_RAW_TP) {
		t = btf_kind(t) == BTF_KIND_TYPEDEF ? btf_obj_type(b, t->type) : NULL;
		*first = 1; /* the tracepoint's own data */
	}
	if (!t || (btf_kind(t) != BTF_KIND_FUNC && btf_kind(t) != BTF_KIND_PTR))
		return NULL;
	t = btf_obj_type(b, t->type);
	return t && btf_kind(t) == BTF_KIND_FUNC_PROTO && btf_vlen_of(t) >= *first ? t : NULL;
}

bool typed_context(const struct ver *v)
{
	uint32_t type = v->in->prog_type;

	return v->in->kernel && (type == BPF_PROG_TYPE_TRACING || type == BPF_PROG_TYPE_LSM);
}

/* -- what it is attached to, by name */

static bool name_is_in(const char *name, const char *const *names, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (!strcmp(names[i], name))
			return true;
	}
	return false;
}

/* Is it one of these LSM hooks? bpf_lsm_ is left out. */
static bool hook_is(const struct ver *v, const char *const *names, unsigned n)
{
	const char *name = typed_name(v, v->in->attach_btf_id);

	return v->in->prog_type == BPF_PROG_TYPE_LSM && !strncmp(name, "bpf_lsm_", 8) &&
	       name_is_in(name + 8, names, n);
}

#define HOOK_IS(names) hook_is(v, names, sizeof(names) / sizeof((names)[0]))

/* What they are given is being made or freed. */
static bool hook_untrusted(const struct ver *v)
{
	static const char *const names[] = {
		"bpf_map_free",	      "bpf_prog_free",	   "file_alloc_security",
		"file_free_security", "sk_alloc_security", "sk_free_security",
		"task_free"
	};

	return HOOK_IS(names);
}

/* What they return would not be understood. */
int typed_attach_check(struct ver *v)
{
	static const char *const names[] = { "vm_enough_memory",    "inode_need_killpriv",
					     "inode_getsecurity",   "inode_listsecurity",
					     "inode_copy_up_xattr", "getselfattr",
					     "getprocattr",	    "setprocattr",
					     "audit_rule_match",    "ismaclabel" };

	if (!v->in->kernel || !HOOK_IS(names))
		return 0;
	return fail(v, -EINVAL, "attach_btf_id %u points to disabled hook %s", v->in->attach_btf_id,
		    typed_name(v, v->in->attach_btf_id));
}

/* What an LSM program may return; false: anything. */
bool typed_return_range(const struct ver *v, int *min, int *max)
{
	static const char *const bools[] = { "audit_rule_known", "inode_xattr_skipcap",
					     "xfrm_state_pol_flow_match" };
	unsigned first;
	const struct btf_type *t = typed_context(v) ? target(v, &first) : NULL;

	if (!t || !t->type)
		return false;
	*min = HOOK_IS(bools) ? 0 : -4095;
	*max = HOOK_IS(bools) ? 1 : 0;
	return true;
}

/* Are pointers among the arguments known to be valid? */
static bool args_trusted(const struct ver *v)
{
	return (v->in->prog_type == BPF_PROG_TYPE_LSM && !hook_untrusted(v)) ||
	       v->in->attach_type == BPF_TRACE_RAW_TP || v->in->attach_type == BPF_TRACE_ITER;
}

static bool has_return(const struct ver *v)
{
	uint32_t at = v->in->attach_type;

	return at == BPF_TRACE_FEXIT || at == BPF_MODIFY_RETURN || at == AT_LSM_MAC;
}

static int arg_load(struct ver *v, const struct access *a, uint32_t type, unsigned arg)
{
	const struct btf_obj *b = v->in->kernel;
	const struct btf_type *t = btf_obj_type(b, btf_obj_base(b, type));
	const char *func = typed_name(v, v->in->attach_btf_id);
	struct reg *dst = a->reg >= 0 ? reg(v, (unsigned)a->reg) : NULL;
	unsigned tags;
	uint32_t to;

	if (t && btf_kind(t) == BTF_KIND_PTR && a->size != 8)
		return fail(v, -EACCES, "func '%s' size %u must be 8", func, a->size);
	if (dst)
		reg_set_unknown(dst);
	if (!t || btf_kind(t) != BTF_KIND_PTR)
		return 0;
	to = walk_target(b, t, &tags);
	if (!walk_is_struct(b, to)) {
		const struct btf_type *k = btf_obj_type(b, to);

		if (!to || btf_kind(k) == BTF_KIND_INT || btf_kind(k) == BTF_KIND_PTR)
			return 0;
		return fail(v, -EACCES, "func '%s' arg%u type %s is not a struct", func, arg,
			    btf_kind(k) == BTF_KIND_FUNC_PROTO ? "FUNC_PROTO" : "UNKNOWN");
	}
	if (!dst)
		return 0;
	reg_set_kind(dst, KIND_BTF, args_trusted(v) ? RF_TRUSTED : 0);
	/* At its end an iterator calls the program once more without an element. */
	if (v->in->attach_type == BPF_TRACE_ITER && arg) {
		dst->flags |= RF_NULL;
		dst->id = id_new(v);
	}
	dst->flags |= tags & WALK_USER ? RF_USER : tags & WALK_PERCPU ? RF_PERCPU : 0;
	dst->n = to;
	dst->def = 0;
	return 0;
}

enum { ARGS_MAX = 12 };

int typed_context_access(struct ver *v, int32_t off, const struct access *a)
{
	const char *func = typed_name(v, v->in->attach_btf_id);
	unsigned first, n, arg = (unsigned)off / 8;
	const struct btf_type *t = target(v, &first);
	const struct btf_param *p = (const struct btf_param *)(t + 1);
	int err = 0;

	if (!t || a->write || off < 0 || off >= 8 * ARGS_MAX || off % (int)a->size)
		return -EACCES;
	if (off % 8)
		return fail(v, -EACCES, "func '%s' offset %d is not multiple of 8", func, off);
	n = btf_vlen_of(t) - first;
	if (arg < n)
		err = arg_load(v, a, p[arg + first].type, arg);
	else if (arg == n && has_return(v))
		err = arg_load(v, a, t->type, arg);
	else
		err = fail(v, -EACCES, "func '%s' doesn't have %u-th argument", func, arg + 1);
	return err;
}

/* bpf_d_path takes locks that the function traced must not hold. */
int typed_d_path(struct ver *v)
{
	static const char *const names[] = { "security_file_permission",
					     "security_inode_getattr",
					     "security_file_open",
					     "security_path_truncate",
					     "vfs_truncate",
					     "vfs_fallocate",
					     "dentry_open",
					     "vfs_getattr",
					     "filp_close" };

	if (!typed_context(v) || v->in->prog_type == BPF_PROG_TYPE_LSM ||
	    v->in->attach_type == BPF_TRACE_ITER)
		return 0;
	if (name_is_in(typed_name(v, v->in->attach_btf_id), names,
		       sizeof(names) / sizeof(names[0])))
		return 0;
	return fail(v, -EINVAL, "helper call is not allowed in probe");
}
