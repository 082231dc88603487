/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A preload library for any program that loads BPF into the running kernel through syscall():
 * each PROG_LOAD is also given to skep's verifier, and both verdicts go, one line a program, to
 * the file named by SHADOW_OUT (else stderr):
 *
 *   same|DIFF TYPE NAME kernel=ERRNO,INSNS,USEC skep=ERRNO,INSNS,USEC | kernel's last line | ours
 *
 * Only loads of at least SHADOW_MIN instructions (default 3: not libbpf's probes) are compared.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/report.h"
#include "verify/subs.h"
#include "verify/verify.h"

enum { LOG_SIZE = 16 << 20, MAPS_MAX = 256, OUTER_MAX = 1 << 16 };

typedef long (*syscall_fn)(long, ...);

static long real_bpf(int cmd, union bpf_attr *attr, unsigned size)
{
	static syscall_fn real;

	if (!real)
		real = (syscall_fn)dlsym(RTLD_NEXT, "syscall");
	return real(SYS_bpf, cmd, attr, size);
}

/* -- maps of a load, as the verifier sees them */

/* desc comes first: map_special finds the rest by it. */
struct shadow_desc {
	struct map_desc desc;
	uint32_t special[VERIFY_SPECIALS];
};

struct shadow_map {
	struct shadow_desc self, inner;
	int32_t fd;
	void *value;
};

static struct btf_obj *btf_of(int fd);

static void map_special(const struct map_desc *m, uint32_t off[VERIFY_SPECIALS])
{
	memcpy(off, ((const struct shadow_desc *)m)->special, sizeof(uint32_t) * VERIFY_SPECIALS);
}

static void special_find(struct shadow_desc *s, const struct bpf_map_info *info)
{
	union bpf_attr attr = { .btf_id = info->btf_id };
	int fd = info->btf_id ? (int)real_bpf(BPF_BTF_GET_FD_BY_ID, &attr, sizeof(attr)) : -1;
	struct btf_obj *b = fd >= 0 ? btf_of(fd) : NULL;
	struct btf_special found;

	memset(s->special, 0xff, sizeof(s->special));
	if (b && info->btf_value_type_id && !btf_obj_special(b, info->btf_value_type_id, &found)) {
		s->special[SPECIAL_LOCK] = found.spin_lock;
		s->special[SPECIAL_TIMER] = found.timer;
		s->special[SPECIAL_WORK] = found.workqueue;
	}
	if (b)
		obj_put(&b->obj);
	if (fd >= 0)
		close(fd);
}

static int map_info(int fd, struct bpf_map_info *info)
{
	union bpf_attr attr = { .info.bpf_fd = (uint32_t)fd,
				.info.info_len = sizeof(*info),
				.info.info = (uint64_t)(uintptr_t)info };

	memset(info, 0, sizeof(*info));
	return (int)real_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));
}

static void desc_fill(struct shadow_desc *s, const struct bpf_map_info *info)
{
	struct map_desc *d = &s->desc;

	special_find(s, info);
	d->btf_id = info->btf_id;
	d->btf_value_id = info->btf_value_type_id;
	d->type = info->type;
	d->key_size = info->key_size;
	d->value_size = info->value_size;
	d->max_entries = info->max_entries;
	d->flags = info->map_flags;
	d->id = info->id;
	memcpy(d->name, info->name, sizeof(d->name));
}

static bool is_frozen(int fd)
{
	char path[64], line[256];
	int frozen = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "frozen: %d", &frozen);
	if (f)
		fclose(f);
	return frozen;
}

static void *first_value(int fd, const struct map_desc *d)
{
	uint32_t key = 0;
	void *value;
	union bpf_attr attr = { .map_fd = (uint32_t)fd, .key = (uint64_t)(uintptr_t)&key };

	if (d->type != BPF_MAP_TYPE_ARRAY || d->key_size != 4)
		return NULL;
	value = calloc(1, d->value_size + 8);
	attr.value = (uint64_t)(uintptr_t)value;
	if (value && real_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)) == 0)
		return value;
	free(value);
	return NULL;
}

/* Maps of maps that were created in this process, and what they hold. */
static struct {
	uint32_t id;
	struct shadow_desc inner;
} outer[OUTER_MAX];
static uint32_t n_outer;

static void outer_note(int fd, const union bpf_attr *attr)
{
	struct bpf_map_info info, in;

	if ((attr->map_type != BPF_MAP_TYPE_ARRAY_OF_MAPS &&
	     attr->map_type != BPF_MAP_TYPE_HASH_OF_MAPS) ||
	    n_outer == OUTER_MAX || map_info(fd, &info) || map_info((int)attr->inner_map_fd, &in))
		return;
	outer[n_outer].id = info.id;
	desc_fill(&outer[n_outer++].inner, &in);
}

static void inner_find(struct shadow_map *m)
{
	for (uint32_t i = 0; i < n_outer; i++) {
		if (outer[i].id == m->self.desc.id) {
			m->inner = outer[i].inner;
			m->self.desc.inner = &m->inner.desc;
		}
	}
}

struct load {
	struct shadow_map map[MAPS_MAX];
	uint32_t n_maps;
	struct ref ref[MAPS_MAX];
};

/* Index of the map in the load, or -1. */
static int map_add(struct load *l, int fd)
{
	struct shadow_map *m = &l->map[l->n_maps];
	struct bpf_map_info info;

	for (uint32_t i = 0; i < l->n_maps; i++) {
		if (l->map[i].fd == fd)
			return (int)i;
	}
	if (l->n_maps == MAPS_MAX || map_info(fd, &info))
		return -1;
	memset(m, 0, sizeof(*m));
	m->fd = fd;
	desc_fill(&m->self, &info);
	m->self.desc.frozen = is_frozen(fd);
	m->value = first_value(fd, &m->self.desc);
	inner_find(m);
	l->ref[l->n_maps] = (struct ref){ .kind = REF_MAP,
					  .map = &m->self.desc,
					  .addr = 1,
					  .value = (uint64_t)(uintptr_t)m->value };
	return (int)l->n_maps++;
}

static int unit_resolve(struct unit *u, struct load *l, const int *fd_array)
{
	for (uint32_t i = 0; i < u->n_ops; i++) {
		struct op *op = &u->ops[i];
		bool by_index = op->code == OP_LDMAPIDX || op->code == OP_LDVALUEIDX;
		int n;

		if (op_row(op)->form != FORM_LDMAP || op->code == OP_LDBTF)
			continue;
		n = map_add(l, by_index && fd_array ? fd_array[op->imm] : (int)op->imm);
		if (n < 0)
			return -1;
		op->code =
		    op->code == OP_LDVALUE || op->code == OP_LDVALUEIDX ? OP_LDVALUE : OP_LDMAP;
		op->imm = n;
	}
	mem_free(u->refs);
	u->refs = mem_dup(l->ref, sizeof(l->ref));
	u->n_refs = l->n_maps;
	return 0;
}

/* -- BTF */

static struct btf_obj *btf_of(int fd)
{
	struct bpf_btf_info info = { 0 };
	union bpf_attr attr = { .info.bpf_fd = (uint32_t)fd,
				.info.info_len = sizeof(info),
				.info.info = (uint64_t)(uintptr_t)&info };
	struct btf_obj *b = NULL;
	void *data;

	if (fd <= 0 || real_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)))
		return NULL;
	data = malloc(info.btf_size + 1);
	info = (struct bpf_btf_info){ .btf = (uint64_t)(uintptr_t)data, .btf_size = info.btf_size };
	if (real_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) == 0)
		btf_obj_load(data, info.btf_size, NULL, &b);
	free(data);
	return b;
}

/* The running kernel's BTF, NULL: there is none. */
static struct btf_obj *kernel_btf(void)
{
	static struct btf_obj *kernel;
	char *data = NULL;
	size_t n = 0;
	int fd;

	if (kernel)
		return kernel;
	fd = open("/sys/kernel/btf/vmlinux", O_RDONLY);
	for (ssize_t got = 1; fd >= 0 && got > 0; n += got > 0 ? (size_t)got : 0) {
		data = realloc(data, n + (1 << 20));
		got = read(fd, data + n, 1 << 20);
	}
	if (fd >= 0)
		close(fd);
	if (!data || btf_obj_load_kernel(data, (uint32_t)n, NULL, &kernel))
		kernel = NULL;
	free(data);
	return kernel;
}

/* Modules (off) have no names here. */
static const char *kfunc_name(int64_t imm, int32_t off)
{
	struct btf_obj *b = kernel_btf();
	const struct btf_type *t = b && !off ? btf_obj_type(b, (uint32_t)imm) : NULL;

	return t && btf_kind(t) == BTF_KIND_FUNC ? btf_obj_string(b, t->name_off) : NULL;
}

/* -- one load */

struct outcome {
	int err;
	unsigned insns;
	double usec;
	char last[400];
	char *log;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* The last line that says something, and the number of visited instructions. */
static void log_read(const char *log, struct outcome *o)
{
	const char *end = log + strlen(log), *line;

	for (; end > log; end = line > log ? line - 1 : log) {
		size_t n;

		for (line = end; line > log && line[-1] != '\n'; line--)
			;
		n = (size_t)(end - line);
		if (!strncmp(line, "processed ", 10)) {
			o->insns = (unsigned)atoi(line + 10);
		} else if (n && strncmp(line, "verification time", 17) &&
			   strncmp(line, "stack depth", 11) &&
			   strncmp(line, EXPLAIN_MARK, sizeof(EXPLAIN_MARK) - 1)) {
			snprintf(o->last, sizeof(o->last), "%.*s", (int)(n > 390 ? 390 : n), line);
			return;
		}
		if (line == log)
			return;
	}
}

static long kernel_load(const union bpf_attr *attr, unsigned size, struct outcome *o)
{
	static char *log;
	union bpf_attr a = { 0 };
	double begin;
	long fd;

	if (!log)
		log = malloc(LOG_SIZE);
	memcpy(&a, attr, size < sizeof(a) ? size : sizeof(a));
	a.log_level = getenv("SHADOW_LEVEL") ? (unsigned)atoi(getenv("SHADOW_LEVEL")) : 4;
	a.log_buf = (uint64_t)(uintptr_t)log;
	a.log_size = LOG_SIZE;
	log[0] = '\0';
	begin = now();
	fd = real_bpf(BPF_PROG_LOAD, &a, size);
	o->usec = now() - begin;
	o->err = fd < 0 ? errno : 0;
	if (fd < 0 && !log[0] && o->err != ENOSPC) {
		a.log_level = 1;
		if (real_bpf(BPF_PROG_LOAD, &a, size) >= 0)
			o->err = -1;
	}
	log_read(log, o);
	o->log = log;
	return fd;
}

static bool is_gpl(const char *s)
{
	return !strcmp(s, "GPL") || !strcmp(s, "GPL v2") || !strcmp(s, "Dual BSD/GPL") ||
	       !strcmp(s, "Dual MIT/GPL") || !strcmp(s, "Dual MPL/GPL") ||
	       !strcmp(s, "GPL and additional rights");
}

static void skep_verify(const union bpf_attr *attr, struct outcome *o, struct report *log)
{
	static struct load l;
	struct verify_input in = {
		.prog_type = attr->prog_type,
		.attach_type = attr->expected_attach_type,
		.gpl = is_gpl((const char *)(uintptr_t)attr->license),
		.strict_align = attr->prog_flags & BPF_F_STRICT_ALIGNMENT,
		.test_states = attr->prog_flags & BPF_F_TEST_STATE_FREQ,
		.sleepable = attr->prog_flags & BPF_F_SLEEPABLE,
		.map_special = map_special,
		.kernel = attr->attach_btf_obj_fd ? NULL : kernel_btf(),
		.attach_btf_id = attr->attach_btf_id,
		.kfunc_name = kfunc_name,
		.log_level = getenv("SHADOW_LEVEL") ? (unsigned)atoi(getenv("SHADOW_LEVEL")) : 4,
	};
	struct btf_obj *b = btf_of((int)attr->prog_btf_fd);
	struct verify_sub *subs = NULL;
	struct facts *facts = NULL;
	struct unit *u = NULL;
	double begin;

	l.n_maps = 0;
	o->err = -unit_decode((const struct bpf_insn *)(uintptr_t)attr->insns, attr->insn_cnt,
			      false, log, &u);
	if (!o->err && unit_resolve(u, &l, (const int *)(uintptr_t)attr->fd_array))
		o->err = EBADF;
	if (!o->err)
		subs_make(u, b, (const void *)(uintptr_t)attr->func_info,
			  attr->func_info_rec_size == 8 ? attr->func_info_cnt : 0, attr->prog_type,
			  &subs);
	in.subs = subs;
	begin = now();
	if (!o->err)
		o->err = -verify(u, &in, log, &facts);
	o->usec = now() - begin;
	if (facts)
		o->insns = facts->stats.insns;
	log_read(log->text ? log->text : "", o);
	facts_free(facts);
	mem_free(subs);
	if (u)
		unit_free(u);
	if (b)
		obj_put(&b->obj);
	for (uint32_t i = 0; i < l.n_maps; i++)
		free(l.map[i].value);
}

static FILE *out_file(void)
{
	const char *name = getenv("SHADOW_OUT");
	FILE *f = name ? fopen(name, "a") : NULL;

	return f ? f : stderr;
}

static long shadow_load(union bpf_attr *attr, unsigned size)
{
	struct outcome k = { 0 }, s = { 0 };
	struct report log = { 0 };
	union bpf_attr a = { 0 };
	FILE *out;
	long fd;

	memcpy(&a, attr, size < sizeof(a) ? size : sizeof(a));
	fd = kernel_load(attr, size, &k);
	skep_verify(&a, &s, &log);
	out = out_file();
	fprintf(out, "%s %u %.16s kernel=%d,%u,%.0f skep=%d,%u,%.0f | %s | %s\n",
		!k.err == !s.err ? "same" : "DIFF", a.prog_type, a.prog_name[0] ? a.prog_name : "-",
		k.err, k.insns, k.usec, s.err, s.insns, s.usec, k.err ? k.last : "",
		s.err ? s.last : "");
	if (getenv("SHADOW_LEVEL"))
		fprintf(out, "--- kernel\n%s--- skep\n%s---\n", k.log, log.text ? log.text : "");
	if (out != stderr)
		fclose(out);
	report_free(&log);
	errno = k.err;
	return fd;
}

__attribute__((visibility("default"))) long syscall(long number, ...)
{
	long a[6];
	va_list ap;
	const char *min = getenv("SHADOW_MIN");
	syscall_fn real = (syscall_fn)dlsym(RTLD_NEXT, "syscall");

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_bpf && a[0] == BPF_PROG_LOAD) {
		union bpf_attr *attr = (union bpf_attr *)a[1];

		if (attr->insn_cnt >= (min ? (unsigned)atoi(min) : 3))
			return shadow_load(attr, (unsigned)a[2]);
	}
	if (number == SYS_bpf && a[0] == BPF_MAP_CREATE) {
		union bpf_attr attr = { 0 };
		long fd = real(number, a[0], a[1], a[2]);
		int err = errno;

		memcpy(&attr, (void *)a[1],
		       (size_t)a[2] < sizeof(attr) ? (size_t)a[2] : sizeof(attr));
		if (fd >= 0)
			outer_note((int)fd, &attr);
		errno = err;
		return fd;
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
