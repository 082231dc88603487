/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Garbage for the commands that take much: fuzz [COUNT [SEED]].
 *   btf   a BTF object with every kind, with a few bytes changed: the kernel must say the same
 *   prog  instructions that are nearly right, attributes with odd values: an errno, no crash
 *   map   attributes with odd values, then element commands on what was made
 * Run under the sanitizers by scripts/check.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sides.h"

static uint64_t state = 1;

static uint32_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 16);
}

static uint32_t below(uint32_t n)
{
	return rnd() % n;
}

static uint32_t odd_value(void)
{
	static const uint32_t values[] = {
		0,    1,     2,		 3,	     4,		 7,	     8,
		16,   31,    32,	 64,	     255,	 256,	     4095,
		4096, 65535, 0x00ffffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff
	};

	return below(4) ? values[below(sizeof(values) / sizeof(values[0]))] : rnd();
}

/* ---- BTF ---- */
static void funcs_add(struct btf *b, int i32, int s)
{
	int ptr = btf__add_ptr(b, s), proto = btf__add_func_proto(b, i32), f;

	btf__add_func_param(b, "a", i32);
	btf__add_func_param(b, "b", ptr);
	f = btf__add_func(b, "f", BTF_FUNC_GLOBAL, proto);
	btf__add_decl_tag(b, "tag", f, 1);
	btf__add_decl_tag(b, "tag", s, -1);
	btf__add_func(b, "g", BTF_FUNC_STATIC, btf__add_func_proto(b, 0));
}

static void sums_add(struct btf *b, int i32)
{
	btf__add_enum(b, "e", 4);
	btf__add_enum_value(b, "E0", 0);
	btf__add_enum_value(b, "E1", 1);
	btf__add_enum64(b, "e64", 8, false);
	btf__add_enum64_value(b, "F0", 1ull << 40);
	btf__add_fwd(b, "later", BTF_FWD_STRUCT);
	btf__add_union(b, "u", 8);
	btf__add_field(b, "x", i32, 0, 0);
	btf__add_field(b, "y", btf__add_int(b, "long", 8, BTF_INT_SIGNED), 0, 0);
	btf__add_float(b, "double", 8);
}

static struct btf *btf_of_all_kinds(void)
{
	struct btf *b = btf__new_empty();
	int i32 = btf__add_int(b, "int", 4, BTF_INT_SIGNED), u8 = btf__add_int(b, "char", 1, 0);
	int array = btf__add_array(b, i32, u8, 16);
	int td = btf__add_typedef(b, "t", btf__add_const(b, btf__add_volatile(b, i32)));
	int s = btf__add_struct(b, "s", 32), var;

	btf__add_field(b, "a", i32, 0, 0);
	btf__add_field(b, "bits", i32, 32, 3);
	btf__add_field(b, "more", i32, 35, 5);
	btf__add_field(b, "t", td, 64, 0);
	btf__add_field(b, "c", array, 128, 0);
	btf__add_ptr(b, btf__add_type_tag(b, "user", s));
	btf__add_restrict(b, btf__add_ptr(b, 0));
	sums_add(b, i32);
	funcs_add(b, i32, s);
	var = btf__add_var(b, "v", BTF_VAR_GLOBAL_ALLOCATED, s);
	btf__add_datasec(b, ".data", 40);
	btf__add_datasec_var_info(b, var, 8, 32);
	return b;
}

/* The last line of the log that the last load made. */
static char said[SIDES][1 << 16];

static const char *last_line(int side)
{
	size_t n = strlen(said[side]);

	while (n && said[side][n - 1] == '\n')
		said[side][--n] = '\0';
	return strrchr(said[side], '\n') ? strrchr(said[side], '\n') + 1 : said[side];
}

static int btf_load(int side, const void *data, uint32_t size)
{
	union attr a = { .btf_load = { .btf = (uintptr_t)data,
				       .size = size,
				       .log_level = 1,
				       .log_buf = (uintptr_t)said[side],
				       .log_size = sizeof(said[0]) } };
	int fd = side_bpf(side, BPF_BTF_LOAD, &a, sizeof(a));

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void bytes_change(uint8_t *data, uint32_t size, uint32_t first)
{
	for (uint32_t n = 1 + below(3); n; n--) {
		uint32_t at = first + below(size - first), v = odd_value();

		if (below(2))
			data[at] = (uint8_t)(below(2) ? v : data[at] ^ 1u << below(8));
		else if ((at &= ~3u) + 4 <= size)
			memcpy(data + at, &v, 4);
	}
}

static bool fuzz_btf(unsigned count, bool kernel)
{
	struct btf *b = btf_of_all_kinds();
	uint32_t size, differ = 0, taken = 0;
	const void *good = btf__raw_data(b, &size);
	uint8_t *bad = malloc(size);

	if (btf_load(SKEP, good, size))
		printf("# the unchanged object is refused: %s\n", last_line(SKEP));
	for (unsigned i = 0; i < count; i++) {
		int ours, theirs;

		memcpy(bad, good, size);
		bytes_change(bad, size, below(8) ? sizeof(struct btf_header) : 0);
		ours = btf_load(SKEP, bad, size);
		theirs = kernel ? btf_load(KERNEL, bad, size) : ours;
		taken += !ours;
		/* Newer kernels than 6.12 give the flag a meaning for tags. */
		if (!theirs && strstr(last_line(SKEP), "kind_flag"))
			continue;
		if (ours != theirs && differ++ < 10)
			printf("# btf %u: kernel %d, skep %d\n# kernel: %s\n# skep: %s\n", i,
			       theirs, ours, last_line(KERNEL), last_line(SKEP));
	}
	printf("# btf: %u objects, %u taken, %u answers differ from the kernel's\n", count, taken,
	       differ);
	free(bad);
	btf__free(b);
	return !differ;
}

/* ---- programs ---- */
static struct bpf_insn near_insn(void)
{
	static const uint8_t codes[] = { 0x07, 0x0f, 0xb7, 0xbf, 0x04, 0xbc, 0x18, 0x61, 0x7b,
					 0x62, 0x05, 0x15, 0x1d, 0x56, 0x85, 0x95, 0x06, 0xdb,
					 0xc3, 0x20, 0x40, 0xd4, 0x8d, 0xe5, 0x63, 0x9f, 0x81 };
	struct bpf_insn in = { .code = below(16) ? codes[below(sizeof(codes))] : (uint8_t)rnd() };

	in.dst_reg = below(8) ? below(11) : rnd();
	in.src_reg = below(8) ? below(11) : rnd();
	in.off = (int16_t)(below(3) ? (int)below(9) - 4 : (int)odd_value());
	in.imm = below(3) ? (int)below(64) - 8 : (int)odd_value();
	return in;
}

static void insns_make(struct bpf_insn *insns, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		insns[i] = near_insn();
		if (insns[i].code == 0x18 && i + 1 < n && below(16))
			insns[++i] = (struct bpf_insn){ 0 };
	}
	if (n >= 2 && below(8)) {
		insns[0] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K };
		insns[n - 1] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	}
}

static bool fuzz_prog(unsigned count)
{
	struct bpf_insn insns[48];
	static char log[4096];
	unsigned taken = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned n = 1 + below(48);
		union attr a = { .prog_load = { .prog_type = below(34),
						.insn_cnt = n,
						.insns = (uintptr_t)insns,
						.license = (uintptr_t)"GPL",
						.log_buf = (uintptr_t)log,
						.log_size = sizeof(log),
						.log_level = 1 + below(3) } };
		int fd;

		insns_make(insns, n);
		if (!below(4))
			bytes_change(a.bytes, sizeof(a), 28);
		a.prog_load.insn_cnt = n;
		/* Garbage here would have the log written over ourselves. */
		a.prog_load.log_buf = below(32) ? (uintptr_t)log : 8;
		a.prog_load.log_size = sizeof(log);
		fd = side_bpf(SKEP, BPF_PROG_LOAD, &a, sizeof(a));
		taken += fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	printf("# prog: %u programs, %u taken (none was run)\n", count, taken);
	return true;
}

/* ---- maps ---- */
static void elems_try(int fd)
{
	static uint64_t key[64], values[4096];
	static const int cmds[] = { BPF_MAP_LOOKUP_ELEM, BPF_MAP_UPDATE_ELEM, BPF_MAP_DELETE_ELEM,
				    BPF_MAP_GET_NEXT_KEY, BPF_MAP_LOOKUP_AND_DELETE_ELEM };

	for (unsigned i = 0; i < 8; i++) {
		union attr a = { .elem = { .map_fd = (uint32_t)fd,
					   .key = (uintptr_t)key,
					   .value = (uintptr_t)values,
					   .flags = below(4) ? below(4) : odd_value() } };

		key[0] = odd_value();
		if (!below(16))
			a.elem.key = 0;
		if (!below(16))
			a.elem.value = 8;
		side_bpf(SKEP, cmds[below(5)], &a, sizeof(a));
	}
}

static bool fuzz_map(unsigned count)
{
	unsigned taken = 0;

	for (unsigned i = 0; i < count; i++) {
		union attr a = { .map_create = { .map_type = below(35),
						 .key_size = below(2) ? 4 : odd_value(),
						 .value_size = below(2) ? 4 : odd_value(),
						 .max_entries = 1 + below(64) } };
		int fd;

		if (!below(3))
			a.map_create.map_flags = 1u << below(20);
		if (!below(4))
			bytes_change(a.bytes, sizeof(a.map_create), 20);
		if (a.map_create.key_size > 512 && a.map_create.key_size < 0x10000)
			a.map_create.key_size = 512;
		if (a.map_create.value_size > 64 && a.map_create.value_size < 0x10000)
			a.map_create.value_size = 64;
		fd = side_bpf(SKEP, BPF_MAP_CREATE, &a, sizeof(a));
		if (fd < 0)
			continue;
		taken++;
		if (a.map_create.key_size <= 512 && a.map_create.value_size <= 64)
			elems_try(fd);
		close(fd);
	}
	printf("# map: %u maps, %u made\n", count, taken);
	return true;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 20000, tests = 0, failed = 0;
	bool kernel = side_open(KERNEL);

	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 88172645463325252ull;
	if (!kernel)
		printf("# bpf(2) cannot be used here: nothing to compare with\n");
	failed += !check(&tests, fuzz_btf(count, kernel), "damaged BTF gets the kernel's errno");
	failed += !check(&tests, fuzz_prog(count), "garbage programs");
	failed += !check(&tests, fuzz_map(count / 4), "garbage maps");
	printf("1..%u\n", tests);
	return failed != 0;
}
