/* SPDX-License-Identifier: BSD-2-Clause */
/* Benchmarks: from the object in this command to a program in skep or the kernel, map filled. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/percpu.h"
#include "base/report.h"
#include "object/object.h"
#include "skep/bench.h"
#include "skep/skep.h"
#include "sys/sys.h"

/* bench/ops.bpf.c, compiled. */
static const unsigned char object_bytes[] = {
#if defined(BENCH_OBJECT)
#include BENCH_OBJECT
#else
	0
#endif
};

enum { CHUNK = 4096, KEY_BYTES = 40, LPM_WORD = 1, PREFIX = 32 };

static const char *const origin = "the benchmarks' object";

int bench_bpf(bool kernel, int cmd, union bpf_attr *attr, unsigned size)
{
	int err = kernel ? (int)syscall(SYS_bpf, cmd, attr, size) : skep_bpf(cmd, attr, size);

	return err < 0 ? -errno : err;
}

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static bool wanted(const struct bench *b, const char *prog)
{
	return !strcmp(prog, b->prog) || !strcmp(prog, b->undo);
}

/* Opened, with only what this benchmark needs switched on. */
static int object_for(const struct bench *b, struct report *r, struct bpf_object **out)
{
	struct bpf_object *o;
	struct bpf_program *p;
	struct bpf_map *m;

	if (sizeof(object_bytes) < 64)
		return report_fail(r, -ENOSYS,
				   "bench: this skep was built without clang, and has "
				   "no programs to measure");
	o = bpf_object__open_mem(object_bytes, sizeof(object_bytes), NULL);
	if (!o)
		return report_fail(r, -errno, "%s: %s", origin, strerror(errno));
	bpf_object__for_each_program(p, o)
	    bpf_program__set_autoload(p, wanted(b, bpf_program__name(p)));
	bpf_object__for_each_map(m, o)
	{
		bool this = b->map && !strcmp(bpf_map__name(m), b->map);

		if (!bpf_map__is_internal(m) && strcmp(bpf_map__name(m), "one_array"))
			bpf_map__set_autocreate(m, this);
		if (this && b->entries)
			bpf_map__set_max_entries(m, b->entries);
	}
	*out = o;
	return 0;
}

static int keep(struct bench_loaded *l, int fd)
{
	if (fd >= 0)
		l->fds[l->n_fds++] = fd;
	return fd;
}

/* The kernel's copy of a map that skep has. */
static int twin_map(const struct bpf_map *m)
{
	union bpf_attr a = { 0 };

	a.map_type = bpf_map__type(m);
	a.key_size = bpf_map__key_size(m);
	a.value_size = bpf_map__value_size(m);
	a.max_entries = bpf_map__max_entries(m);
	a.map_flags = bpf_map__map_flags(m);
	return bench_bpf(true, BPF_MAP_CREATE, &a, sizeof(a));
}

struct twins {
	int of[16], fd[16]; /* skep's, the kernel's */
	unsigned n;
};

static int twins_make(struct bench_loaded *l, struct twins *t, struct report *r)
{
	const struct bpf_map *m;

	bpf_object__for_each_map(m, l->object)
	{
		int fd = bpf_map__fd(m), twin;

		if (fd < 0 || t->n == 16)
			continue;
		twin = keep(l, twin_map(m));
		if (twin < 0)
			return report_fail(r, twin, "the kernel makes no map '%s': %s",
					   bpf_map__name(m), strerror(-twin));
		t->of[t->n] = fd;
		t->fd[t->n++] = twin;
	}
	return 0;
}

static int twin_of(const struct twins *t, int fd)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->of[i] == fd)
			return t->fd[i];
	return -1;
}

/* The same instructions in the kernel. */
static int twin_prog(const struct bpf_program *p, const struct twins *t, struct report *r)
{
	size_t n = bpf_program__insn_cnt(p);
	struct bpf_insn *insns = mem_dup(bpf_program__insns(p), n * sizeof(*insns));
	union bpf_attr a = { 0 };
	int fd;

	if (!insns)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (insns[i].code == (BPF_LD | BPF_IMM | BPF_DW) && insns[i].src_reg)
			insns[i].imm = twin_of(t, insns[i].imm);
	a.prog_type = bpf_program__type(p);
	a.insns = address(insns);
	a.insn_cnt = (uint32_t)n;
	a.license = address("Dual BSD/GPL");
	fd = bench_bpf(true, BPF_PROG_LOAD, &a, sizeof(a));
	mem_free(insns);
	return fd < 0 ? report_fail(r, fd, "the kernel does not load '%s': %s",
				    bpf_program__name(p), strerror(-fd))
		      : fd;
}

static struct bpf_program *prog_named(const struct bench_loaded *l, const char *name)
{
	return name[0] ? bpf_object__find_program_by_name(l->object, name) : NULL;
}

static int load_kernel(const struct bench *b, struct report *r, struct bench_loaded *l)
{
	struct bpf_program *prog = prog_named(l, b->prog), *undo = prog_named(l, b->undo);
	struct twins t = { .n = 0 };
	int err = twins_make(l, &t, r);

	if (err)
		return err;
	l->prog = keep(l, twin_prog(prog, &t, r));
	l->undo = undo && l->prog >= 0 ? keep(l, twin_prog(undo, &t, r)) : -1;
	if (l->prog < 0 || (undo && l->undo < 0))
		return l->prog < 0 ? l->prog : l->undo;
	l->map = twin_of(&t, l->map);
	return 0;
}

/* What is filled in: keys 0 .. n - 1, all values (of all CPUs) 1. */
struct filling {
	const struct bpf_map *m;
	bool kernel;
	int fd;
	size_t value_bytes;
	uint8_t *keys, *values; /* CHUNK of them */
};

static bool is_percpu(enum bpf_map_type t)
{
	return t == BPF_MAP_TYPE_PERCPU_ARRAY || t == BPF_MAP_TYPE_PERCPU_HASH ||
	       t == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static size_t cpus(bool kernel)
{
	return kernel ? (size_t)sysconf(_SC_NPROCESSORS_CONF) : percpu_slots();
}

/* Key i, as the programs make it. */
static void key_make(const struct filling *f, uint8_t *key, uint32_t i)
{
	bool lpm = bpf_map__type(f->m) == BPF_MAP_TYPE_LPM_TRIE;
	uint32_t words[KEY_BYTES / 4] = { PREFIX };

	words[lpm ? LPM_WORD : 0] = i;
	memcpy(key, words, bpf_map__key_size(f->m));
}

static int put_one(const struct filling *f, const void *key)
{
	union bpf_attr a = { 0 };

	a.map_fd = (uint32_t)f->fd;
	a.key = bpf_map__key_size(f->m) ? address(key) : 0;
	a.value = address(f->values);
	return bench_bpf(f->kernel, BPF_MAP_UPDATE_ELEM, &a, sizeof(a));
}

static int put_chunk(const struct filling *f, uint32_t n)
{
	union bpf_attr a = { 0 };
	int err;

	a.batch.map_fd = (uint32_t)f->fd;
	a.batch.keys = address(f->keys);
	a.batch.values = address(f->values);
	a.batch.count = n;
	err = bench_bpf(f->kernel, BPF_MAP_UPDATE_BATCH, &a, sizeof(a));
	if (!err)
		return 0;
	err = 0;
	for (uint32_t i = 0; i < n && !err; i++)
		err = put_one(f, f->keys + (size_t)i * bpf_map__key_size(f->m));
	return err;
}

static int fill_all(const struct filling *f, uint32_t n)
{
	uint64_t one = 1;
	int err = 0;

	for (size_t i = 0; i < CHUNK * f->value_bytes; i += 8)
		memcpy(f->values + i, &one, 8);
	for (uint32_t from = 0, part; from < n && !err; from += part) {
		part = n - from < CHUNK ? n - from : CHUNK;
		for (uint32_t i = 0; i < part; i++)
			key_make(f, f->keys + (size_t)i * bpf_map__key_size(f->m), from + i);
		err = put_chunk(f, part);
	}
	return err;
}

/* How many entries there are before the first run. */
static uint32_t entries_before(const struct bench *b, unsigned producers)
{
	if (b->kind == BENCH_INC)
		return 1;
	if (b->kind == BENCH_READ || b->kind == BENCH_EVICT)
		return b->entries;
	return b->entries / 2 + producers * b->ops <= b->entries ? b->entries / 2
								 : b->entries - producers * b->ops;
}

static int fill(const struct bench *b, bool kernel, unsigned producers, struct report *r,
		const struct bench_loaded *l)
{
	struct filling f = { .kernel = kernel, .fd = l->map };
	int err = -ENOMEM;

	f.m = bpf_object__find_map_by_name(l->object, b->map);
	f.value_bytes = is_percpu(bpf_map__type(f.m)) ? 8 * cpus(kernel) : 8;
	f.keys = mem_zalloc(CHUNK, KEY_BYTES);
	f.values = mem_zalloc(CHUNK, f.value_bytes);
	if (f.keys && f.values)
		err = fill_all(&f, entries_before(b, producers));
	/* Once more: what replacing needs has been touched too. */
	if (!err && bpf_map__key_size(f.m))
		err = fill_all(&f, entries_before(b, producers));
	mem_free(f.keys);
	mem_free(f.values);
	return err ? report_fail(r, err, "%s: filling map '%s': %s", b->name, b->map,
				 strerror(-err))
		   : 0;
}

static int load_skep(const struct bench *b, uint64_t off_mask, struct report *r,
		     struct bench_loaded *l)
{
	struct load_opts before = *sys_load_opts();
	int err;

	sys_load_opts()->rewrites_off = off_mask;
	err = object_load(origin, l->object, NULL, r);
	*sys_load_opts() = before;
	if (err)
		return err;
	l->prog = bpf_program__fd(prog_named(l, b->prog));
	if (b->undo[0])
		l->undo = bpf_program__fd(prog_named(l, b->undo));
	if (b->map)
		l->map = bpf_map__fd(bpf_object__find_map_by_name(l->object, b->map));
	return 0;
}

int bench_load(const struct bench *b, bool kernel, uint64_t off_mask, unsigned producers,
	       struct report *r, struct bench_loaded *out)
{
	struct bench_loaded l = { .prog = -1, .undo = -1, .map = -1 };
	int err;

	if (b->undo[0] && producers * b->ops > b->entries)
		return report_fail(r, -EINVAL, "%s: too few entries for %u producers", b->name,
				   producers);
	err = object_for(b, r, &l.object);
	if (!err)
		err = load_skep(b, off_mask, r, &l);
	if (!err && kernel)
		err = load_kernel(b, r, &l);
	if (!err && b->map)
		err = fill(b, kernel, producers, r, &l);
	if (err) {
		bench_unload(&l);
		return err;
	}
	*out = l;
	return 0;
}

void bench_unload(struct bench_loaded *l)
{
	for (unsigned i = 0; i < l->n_fds; i++)
		close(l->fds[i]);
	bpf_object__close(l->object);
	*l = (struct bench_loaded){ .prog = -1, .undo = -1, .map = -1 };
}
