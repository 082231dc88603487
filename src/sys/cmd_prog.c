/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "map/map.h"
#include "run/prog.h"
#include "sys/cmd.h"
#include "sys/debug.h"
#include "sys/fd.h"
#include "sys/log.h"
#include "sys/prog_type.h"
#include "sys/sys.h"
#include "verify/verify.h"

enum { INSNS_MAX = 1000000, LICENSE_MAX = 128, KNOWN_FLAGS = 0x1ff, FLAG_TOKEN_FD = 1 << 16 };

static __thread struct load_opts load_opts;

struct load_opts *sys_load_opts(void)
{
	return &load_opts;
}

static bool license_is_gpl(const char *s)
{
	static const char *const list[] = {
		"GPL",		"GPL v2",	"GPL and additional rights",
		"Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		if (!strcmp(s, list[i]))
			return true;
	}
	return false;
}

/* What is said before any memory is read, in the kernel's order. */
static int attr_check(const struct attr_prog_load *a)
{
	if (a->prog_flags & ~(uint32_t)(KNOWN_FLAGS | FLAG_TOKEN_FD))
		return -EINVAL;
	if (a->prog_flags & FLAG_TOKEN_FD)
		return token_error(a->prog_token_fd);
	if (!a->insn_cnt || a->insn_cnt > INSNS_MAX)
		return -E2BIG;
	return 0;
}

/* The program or BTF object that the program is to be attached to: there is no kernel BTF, and
 * nothing can replace a function of another program yet. */
static int target_check(const struct attr_prog_load *a)
{
	struct obj *o = NULL;
	bool is_prog;

	if (!a->attach_fd)
		return a->attach_btf_id ? -EINVAL : 0;
	if (fd_get((int)a->attach_fd, 0, &o))
		return -EINVAL;
	is_prog = o->kind == OBJ_PROG;
	obj_put(o);
	if (is_prog && a->prog_type != BPF_PROG_TYPE_TRACING && a->prog_type != BPF_PROG_TYPE_EXT)
		return -EINVAL;
	return is_prog ? -EOPNOTSUPP : -E_NOTSUPP;
}

static bool type_may_sleep(uint32_t type)
{
	return type == BPF_PROG_TYPE_KPROBE || type == BPF_PROG_TYPE_SYSCALL ||
	       type == BPF_PROG_TYPE_TRACING || type == BPF_PROG_TYPE_LSM ||
	       type == BPF_PROG_TYPE_STRUCT_OPS;
}

/* fd_array as the instructions see it. */
struct fds {
	uint64_t array;
};

static int find_map(void *arg, bool by_index, int32_t n, struct map **out)
{
	const struct fds *fds = arg;
	struct obj *o = NULL;
	int fd = n, err;

	if (by_index) {
		if (!fds->array)
			return -EPROTO;
		if (n < 0 || user_read(&fd, fds->array + (uint64_t)n * sizeof(fd), sizeof(fd)))
			return -EFAULT;
	}
	err = fd_get(fd, OBJ_MAP, &o);
	if (!err)
		*out = map_of(o);
	return err;
}

static int load_unlogged(const struct attr_prog_load *a, const struct call *call,
			 struct prog_spec *spec, struct report *log, struct prog **out)
{
	const struct prog_type *type = prog_type_find(a->prog_type);
	struct debug_info debug = { 0 };
	int err;

	if (!type->loadable)
		return report_fail(log, -EINVAL,
				   "%s programs need kernel BTF, which skep does not have",
				   type->name);
	if ((a->prog_flags & BPF_F_SLEEPABLE) && !type_may_sleep(a->prog_type))
		return report_fail(log, -EINVAL,
				   "Only fentry/fexit/fmod_ret, lsm, iter, uprobe, and struct_ops "
				   "programs can be sleepable");
	if (a->core_relo_cnt)
		return report_fail(log, -EOPNOTSUPP, "CO-RE relocations are the loader's job");
	spec->describe = debug_describe;
	spec->describe_arg = &debug;
	err = debug_read(a, call, log, &debug);
	if (err)
		verify_log_none(a->log_level, log);
	else
		err = prog_load(spec, log, out);
	debug_free(&debug);
	return err;
}

/* Loads, and writes the log whatever came out. A log that does not fit fails a good load too. */
static int load_logged(const struct attr_prog_load *a, const struct call *call,
		       struct prog_spec *spec, struct prog **out)
{
	const struct user_log log = { a->log_level, a->log_size, a->log_buf };
	struct report report = log_report(&log);
	uint32_t true_size;
	int err = log_check(&log), log_err;

	if (err)
		return err;
	spec->log_level = log.level;
	err = load_unlogged(a, call, spec, &report, out);
	if (!err && spec->opts.unverified)
		report_add(&report, "not verified, as the client wanted it\n");
	log_err = log_finish(&log, &report, &true_size);
	report_free(&report);
	if (ATTR_RESULT(call, prog_load.log_true_size, true_size))
		log_err = -EFAULT;
	return log_err ? log_err : err;
}

static int spec_read(const struct attr_prog_load *a, struct prog_spec *spec)
{
	char license[LICENSE_MAX];
	int err = user_dup(a->insns, (size_t)a->insn_cnt * sizeof(struct bpf_insn),
			   (void **)&spec->insns);

	if (!err)
		err = user_string(license, a->license, sizeof(license));
	if (err < 0 && err != -E2BIG)
		return err;
	spec->gpl = license_is_gpl(license);
	if (a->prog_ifindex || !prog_type_find(a->prog_type))
		return -EINVAL;
	memcpy(spec->name, a->prog_name, sizeof(spec->name));
	return name_check(a->prog_name);
}

static int load(const struct attr_prog_load *a, const struct call *call, struct prog_spec *spec)
{
	struct prog *p = NULL;
	int err = prog_type_check(spec->type, spec->attach_type, a->attach_btf_id);

	if (!err)
		err = spec_read(a, spec);
	if (!err)
		err = load_logged(a, call, spec, &p);
	mem_free((void *)spec->insns);
	if (err) {
		if (p)
			obj_put(&p->obj);
		return err;
	}
	return fd_publish(&p->obj, -1, NULL);
}

int cmd_prog_load(union attr *attr, const struct call *call)
{
	const struct attr_prog_load *a = &attr->prog_load;
	struct fds fds = { a->fd_array };
	struct prog_spec spec = {
		.type = a->prog_type,
		.attach_type = prog_type_attach(a->prog_type, a->expected_attach_type),
		.flags = a->prog_flags,
		.n_insns = a->insn_cnt,
		.find_map = find_map,
		.find_arg = &fds,
		.opts = load_opts,
	};
	int err = attr_check(a);

	if (!err)
		err = target_check(a);
	return err ? err : load(a, call, &spec);
}

int cmd_prog_bind_map(union attr *attr, const struct call *call)
{
	struct obj *prog = NULL, *map = NULL;
	int err;

	if (attr->bind_map.flags)
		return -EINVAL;
	err = fd_get((int)attr->bind_map.prog_fd, OBJ_PROG, &prog);
	if (err)
		return err;
	err = fd_get((int)attr->bind_map.map_fd, OBJ_MAP, &map);
	if (!err)
		err = prog_bind_map(prog_of(prog), map_of(map));
	obj_put(map);
	obj_put(prog);
	return err;
}
