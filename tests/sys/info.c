/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OBJ_GET_INFO_BY_FD: what both sides say of the same program, map and BTF, and of an object's
 * programs that libbpf loaded.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sides.h"

static unsigned tests, failed;

#define CHECK(ok, ...) (failed += !check(&tests, ok, __VA_ARGS__))

static int info_get(int side, int fd, void *info, uint32_t *len)
{
	union attr a = { .info = {
			     .bpf_fd = (uint32_t)fd, .info_len = *len, .info = (uintptr_t)info } };
	int err = side_bpf(side, BPF_OBJ_GET_INFO_BY_FD, &a, sizeof(a));

	*len = a.info.info_len;
	return err;
}

/* Uses two maps, one of them twice, and a subprogram. */
static int prog_load(int side)
{
	const struct bpf_insn insns[] = {
		{ .code = 0x18,
		  .dst_reg = 1,
		  .src_reg = BPF_PSEUDO_MAP_FD,
		  .imm = sides[side].hash },
		{ 0 },
		{ .code = 0x18,
		  .dst_reg = 2,
		  .src_reg = BPF_PSEUDO_MAP_FD,
		  .imm = sides[side].array },
		{ 0 },
		{ .code = 0x18,
		  .dst_reg = 3,
		  .src_reg = BPF_PSEUDO_MAP_FD,
		  .imm = sides[side].hash },
		{ 0 },
		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 7 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union attr a = { .prog_load = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
					.insn_cnt = 10,
					.insns = (uintptr_t)insns,
					.license = (uintptr_t)"GPL",
					.prog_name = "two_maps" } };

	return side_bpf(side, BPF_PROG_LOAD, &a, sizeof(a));
}

/* The tag of prog_load's program: SHA-1 up to Linux 6.17, SHA-256 from 6.18 on, in both cases of
 * the instructions without map descriptors. skep is 6.12. */
static void tags_compare(const uint8_t kernel[8], const uint8_t skep[8])
{
	static const uint8_t sha1[8] = { 0xdb, 0x11, 0xd4, 0xd9, 0x62, 0x0b, 0x9d, 0x7b };
	static const uint8_t sha256[8] = { 0x14, 0x77, 0xc0, 0x3d, 0xb9, 0x7d, 0xc2, 0x0d };

	CHECK(!memcmp(skep, sha1, 8), "the tag is the SHA-1 of the instructions");
	CHECK(!memcmp(kernel, sha1, 8) || !memcmp(kernel, sha256, 8),
	      "so is the kernel's, or SHA-256");
}

static void progs_compare(void)
{
	struct bpf_prog_info info[SIDES] = { 0 };
	struct bpf_insn xlated[SIDES][16] = { 0 };
	uint32_t ids[SIDES][4] = { 0 }, len;
	uint8_t jited[4096], tags[SIDES][2][8] = { 0 };
	uint64_t ksyms[2] = { 0 };

	for (int side = 0; side < SIDES; side++) {
		int fd = prog_load(side);

		CHECK(fd >= 0, "the program loads on side %d", side);
		info[side].map_ids = (uintptr_t)ids[side];
		info[side].nr_map_ids = 4;
		info[side].xlated_prog_insns = (uintptr_t)xlated[side];
		info[side].xlated_prog_len = sizeof(xlated[side]);
		info[side].jited_prog_insns = (uintptr_t)jited;
		info[side].jited_prog_len = sizeof(jited);
		info[side].jited_ksyms = (uintptr_t)ksyms;
		info[side].nr_jited_ksyms = 2;
		info[side].prog_tags = (uintptr_t)tags[side];
		info[side].nr_prog_tags = 2;
		len = sizeof(info[side]);
		CHECK(!info_get(side, fd, &info[side], &len), "info of the program");
		CHECK(len == sizeof(info[side]), "it has all of struct bpf_prog_info");
		close(fd);
	}
	CHECK(info[0].type == info[1].type, "type");
	tags_compare(info[KERNEL].tag, info[SKEP].tag);
	CHECK(!strcmp(info[0].name, info[1].name), "name");
	CHECK(info[0].gpl_compatible == info[1].gpl_compatible, "licence");
	CHECK(info[0].nr_map_ids == 2 && info[1].nr_map_ids == 2, "each map counts once");
	CHECK(info[0].xlated_prog_len == info[1].xlated_prog_len, "xlated length");
	CHECK(info[1].jited_prog_len > 0 && info[1].nr_jited_ksyms == 2,
	      "both functions are native");
	CHECK(info[0].nr_prog_tags == info[1].nr_prog_tags, "a tag for each function");
	for (unsigned i = 0; i < 3; i++) {
		uint32_t id = (uint32_t)xlated[SKEP][2 * i].imm;

		CHECK(xlated[SKEP][2 * i].src_reg == 1 && id == ids[SKEP][i == 1],
		      "xlated insn %u names its map by id", 2 * i);
	}
	CHECK(!memcmp(&xlated[0][7], &xlated[1][7], 3 * sizeof(xlated[0][0])),
	      "the rest is as loaded");
}

static void maps_compare(void)
{
	struct bpf_map_info info[SIDES] = { 0 };
	uint32_t len[SIDES] = { sizeof(info[0]), sizeof(info[0]) };

	for (int side = 0; side < SIDES; side++)
		CHECK(!info_get(side, sides[side].array, &info[side], &len[side]), "info of a map");
	CHECK(len[SKEP] == sizeof(info[0]), "it has all of struct bpf_map_info");
	info[0].id = info[1].id;
	CHECK(!memcmp(&info[0], &info[1], offsetof(struct bpf_map_info, map_extra)),
	      "fields agree");
}

static void btfs_compare(void)
{
	struct bpf_btf_info info[SIDES] = { 0 };
	uint8_t data[SIDES][256] = { 0 };
	uint32_t len = sizeof(info[0]);

	for (int side = 0; side < SIDES; side++) {
		info[side].btf = (uintptr_t)data[side];
		info[side].btf_size = sizeof(data[side]);
		CHECK(!info_get(side, sides[side].btf, &info[side], &len), "info of BTF");
	}
	CHECK(info[0].btf_size == info[1].btf_size && info[0].kernel_btf == info[1].kernel_btf,
	      "size");
	CHECK(!memcmp(data[0], data[1], sizeof(data[0])), "the data is as loaded");
}

/* Rows that do not fit are left out; the number says how many there are. */
static void room_is_kept(void)
{
	struct bpf_prog_info info[SIDES] = { 0 };
	uint32_t ids[SIDES][4] = { 0 };

	for (int side = 0; side < SIDES; side++) {
		uint32_t len = 64;
		int fd = prog_load(side);

		info[side].map_ids = (uintptr_t)ids[side];
		info[side].nr_map_ids = 1;
		CHECK(!info_get(side, fd, &info[side], &len), "a short structure is filled");
		CHECK(len == 64 && info[side].nr_map_ids == 2, "side %d: 2 maps, 1 has room", side);
		CHECK(ids[side][0] && !ids[side][1], "one id is written");
		close(fd);
	}
}

int main(void)
{
	if (!side_open(KERNEL)) {
		printf("1..0 # SKIP bpf(2) cannot be used here: %s\n", strerror(errno));
		return 0;
	}
	CHECK(side_open(SKEP), "skep's own objects");
	progs_compare();
	maps_compare();
	btfs_compare();
	room_is_kept();
	printf("1..%u\n", tests);
	return failed != 0;
}
