/* SPDX-License-Identifier: BSD-2-Clause */
/* The benchmarks: those of system.md P8, and each operation of each map by number of entries. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "skep/bench.h"

enum { OP_LOOKUP = 1, OP_REPLACE = 2, OP_CHANGE = 4, OP_EVICT = 8 };
enum { OP_TABLE = OP_LOOKUP | OP_REPLACE | OP_CHANGE };
enum { BATCH = 5000, SOME = 250, LIST_MAX = 256 };

static const struct {
	const char *name;
	unsigned ops;
	bool exact;
} maps[] = {
#define BENCH_MAP(name, ops, exact) { #name, ops, exact },
#include "skep/bench_maps.def"
};

/* `prog` and `undo` are the ends of programs' names, behind that of the map. */
static const struct {
	const char *name, *prog, *undo;
	unsigned op;
	enum bench_kind kind;
	uint32_t ops;
} operations[] = {
	{ "lookup", "_lookup", NULL, OP_LOOKUP, BENCH_READ, SOME },
	{ "replace", "_replace", NULL, OP_REPLACE, BENCH_READ, SOME },
	{ "update", "_update", "_delete", OP_CHANGE, BENCH_PAIR, SOME },
	{ "delete", "_update", "_delete", OP_CHANGE, BENCH_UNDO, SOME },
	{ "evict", "_evict", NULL, OP_EVICT, BENCH_EVICT, SOME },
};

static const struct {
	const char *name;
	uint32_t entries;
} sizes[] = { { "1k", 1 << 10 }, { "1m", 1 << 20 } };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct {
	struct bench at[LIST_MAX];
	unsigned n;
	pthread_once_t once;
} list = { .once = PTHREAD_ONCE_INIT };

static void add_inc(const char *name, const char *prog, const char *map)
{
	struct bench *b = &list.at[list.n++];

	*b = (struct bench){ .map = map, .kind = BENCH_INC, .ops = BATCH, .exact = true };
	snprintf(b->name, sizeof(b->name), "%s", name);
	snprintf(b->prog, sizeof(b->prog), "%s", prog);
}

static void add(size_t map, size_t op, size_t size)
{
	struct bench *b = &list.at[list.n++];
	const char *undo = operations[op].undo;

	*b = (struct bench){ .map = maps[map].name,
			     .kind = operations[op].kind,
			     .entries = sizes[size].entries,
			     .ops = operations[op].ops,
			     .exact = maps[map].exact };
	snprintf(b->name, sizeof(b->name), "%s-%s-%s", maps[map].name, operations[op].name,
		 sizes[size].name);
	snprintf(b->prog, sizeof(b->prog), "%s%s", maps[map].name, operations[op].prog);
	snprintf(b->undo, sizeof(b->undo), "%s%s", undo ? maps[map].name : "", undo ? undo : "");
}

static void list_make(void)
{
	add_inc("glob-arr-inc", "glob_arr_inc", NULL);
	add_inc("arr-inc", "arr_inc", NULL);
	add_inc("hash-inc", "hash_inc", "one_hash");
	for (size_t map = 0; map < COUNT(maps); map++)
		for (size_t op = 0; op < COUNT(operations); op++)
			for (size_t size = 0; size < COUNT(sizes); size++)
				if (maps[map].ops & operations[op].op)
					add(map, op, size);
}

const struct bench *bench_list(unsigned *n)
{
	pthread_once(&list.once, list_make);
	*n = list.n;
	return list.at;
}
