/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of rules.c for PROG_LOAD. */
#include <string.h>

#include "sides.h"

static uint64_t bad_ptr(void)
{
	return 8;
}

static uint64_t addr(const void *p)
{
	return (uintptr_t)p;
}

static uint64_t value[512];

static const struct bpf_insn good[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K },
					{ .code = BPF_JMP | BPF_EXIT } };
static const struct bpf_insn no_exit[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K } };
static const struct bpf_insn gpl_call[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 10 },
	{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -8 },
	{ .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 1 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 8 },
	{ .code = BPF_JMP | BPF_CALL, .imm = 6 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
	{ .code = BPF_JMP | BPF_EXIT },
};
static const struct bpf_insn call_9999[] = { { .code = BPF_JMP | BPF_CALL, .imm = 9999 },
					     { .code = BPF_JMP | BPF_EXIT } };
static const struct bpf_insn map_bad_fd[] = { { .code = 0x18, .src_reg = 1, .imm = 12345 },
					      { 0 },
					      { .code = BPF_ALU64 | BPF_MOV | BPF_K },
					      { .code = BPF_JMP | BPF_EXIT } };
static const struct bpf_insn map_idx[] = { { .code = 0x18, .src_reg = 5, .imm = 0 },
					   { 0 },
					   { .code = BPF_ALU64 | BPF_MOV | BPF_K },
					   { .code = BPF_JMP | BPF_EXIT } };
static char log_buf[1 << 16];

#define LOAD(id, ...)                                                                              \
	static void load_##id(union attr *a, const struct side *s)                                 \
	{                                                                                          \
		struct attr_prog_load *p = &a->prog_load;                                          \
                                                                                                   \
		*p = (struct attr_prog_load){ .prog_type = BPF_PROG_TYPE_SOCKET_FILTER,            \
					      .insn_cnt = 2,                                       \
					      .insns = addr(good),                                 \
					      .license = addr("GPL") };                            \
		__VA_ARGS__;                                                                       \
	}
LOAD(ok, (void)p)
LOAD(type_0, p->prog_type = 0)
LOAD(type_99, p->prog_type = 99)
LOAD(no_insns, p->insn_cnt = 0)
LOAD(too_many, p->insn_cnt = 1000001)
LOAD(insns_null, p->insns = 0)
LOAD(insns_bad, p->insns = bad_ptr())
LOAD(license_null, p->license = 0)
LOAD(license_bad, p->license = bad_ptr())
LOAD(no_exit, p->insns = addr(no_exit); p->insn_cnt = 1)
LOAD(gpl, p->insns = addr(gpl_call); p->insn_cnt = 9)
LOAD(not_gpl, p->insns = addr(gpl_call); p->insn_cnt = 9; p->license = addr("MIT"))
LOAD(call, p->insns = addr(call_9999))
LOAD(map_fd, p->insns = addr(map_bad_fd); p->insn_cnt = 4)
LOAD(map_idx, p->insns = addr(map_idx); p->insn_cnt = 4)
LOAD(map_idx_bad, p->insns = addr(map_idx); p->insn_cnt = 4; p->fd_array = bad_ptr())
LOAD(map_idx_ok, p->insns = addr(map_idx); p->insn_cnt = 4; p->fd_array = addr(&s->hash))
LOAD(map_idx_prog, p->insns = addr(map_idx); p->insn_cnt = 4; p->fd_array = addr(&s->prog))
LOAD(flags, p->prog_flags = 1 << 30)
LOAD(flag_token, p->prog_flags = 1 << 16; p->prog_token_fd = 12345)
LOAD(flag_strict, p->prog_flags = 1)
LOAD(sleepable, p->prog_flags = 1 << 4)
LOAD(xdp_frags, p->prog_type = BPF_PROG_TYPE_XDP; p->prog_flags = 1 << 5)
LOAD(name, memcpy(p->prog_name, "ok_9.x", 7))
LOAD(name_bad, memcpy(p->prog_name, "a-b", 4))
LOAD(name_long, memset(p->prog_name, 'x', 16))
LOAD(log_no_buf, p->log_level = 1)
LOAD(log_no_level, p->log_buf = addr(log_buf); p->log_size = sizeof(log_buf))
LOAD(log_no_size, p->log_buf = addr(log_buf); p->log_level = 1)
LOAD(log_size_only, p->log_size = 4096; p->log_level = 1)
LOAD(log_ok, p->log_buf = addr(log_buf); p->log_size = sizeof(log_buf); p->log_level = 1)
LOAD(log_level_16, p->log_buf = addr(log_buf); p->log_size = sizeof(log_buf); p->log_level = 16)
LOAD(log_huge, p->log_buf = addr(log_buf); p->log_size = 1u << 31; p->log_level = 1)
LOAD(log_bad, p->log_buf = bad_ptr(); p->log_size = 4096; p->log_level = 1)
LOAD(log_short, p->log_buf = addr(log_buf); p->log_size = 3; p->log_level = 1)
LOAD(log_short_fixed, p->log_buf = addr(log_buf); p->log_size = 3; p->log_level = 9)
LOAD(log_short_fail, p->log_buf = addr(log_buf); p->log_size = 3; p->log_level = 1;
     p->insns = addr(no_exit); p->insn_cnt = 1)
LOAD(attach_skb, p->prog_type = BPF_PROG_TYPE_CGROUP_SKB; p->expected_attach_type = 1)
LOAD(attach_skb_bad, p->prog_type = BPF_PROG_TYPE_CGROUP_SKB; p->expected_attach_type = 2)
LOAD(attach_sock_0, p->prog_type = BPF_PROG_TYPE_CGROUP_SOCK)
LOAD(attach_lookup_0, p->prog_type = BPF_PROG_TYPE_SK_LOOKUP)
LOAD(attach_any, p->expected_attach_type = 9999)
LOAD(attach_id, p->attach_btf_id = 1)
LOAD(attach_fd, p->attach_fd = 12345)
LOAD(attach_prog, p->attach_fd = (uint32_t)s->prog)
LOAD(attach_btf, p->attach_fd = (uint32_t)s->btf)
LOAD(tracing_none, p->prog_type = BPF_PROG_TYPE_TRACING)
LOAD(ext_none, p->prog_type = BPF_PROG_TYPE_EXT)
LOAD(ext_attach, p->prog_type = BPF_PROG_TYPE_EXT; p->expected_attach_type = 1)
LOAD(lsm_none, p->prog_type = BPF_PROG_TYPE_LSM)
LOAD(btf_unused, p->prog_btf_fd = 12345)
LOAD(func_info, p->prog_btf_fd = (uint32_t)s->btf; p->func_info = addr(value); p->func_info_cnt = 1;
     p->func_info_rec_size = 8)
LOAD(func_info_size, p->prog_btf_fd = (uint32_t)s->btf; p->func_info = addr(value);
     p->func_info_cnt = 1; p->func_info_rec_size = 4)
LOAD(func_info_no_btf, p->func_info = addr(value); p->func_info_cnt = 1; p->func_info_rec_size = 8)
LOAD(line_info_size, p->prog_btf_fd = (uint32_t)s->btf; p->line_info = addr(value);
     p->line_info_cnt = 1; p->line_info_rec_size = 256)
LOAD(line_info, p->prog_btf_fd = (uint32_t)s->btf; p->line_info = addr(value); p->line_info_cnt = 1;
     p->line_info_rec_size = 16)
LOAD(line_info_bad, p->prog_btf_fd = (uint32_t)s->btf; p->line_info = bad_ptr();
     p->line_info_cnt = 1; p->line_info_rec_size = 16)
LOAD(ifindex, p->prog_ifindex = 1)

#define L(id) { "PROG_LOAD " #id, BPF_PROG_LOAD, load_##id, 0 }
const struct row prog_rows[] = {
	L(ok),
	L(type_0),
	L(type_99),
	L(no_insns),
	L(too_many),
	L(insns_null),
	L(insns_bad),
	L(license_null),
	L(license_bad),
	L(no_exit),
	L(gpl),
	L(not_gpl),
	L(call),
	L(map_fd),
	L(map_idx),
	L(map_idx_bad),
	L(map_idx_ok),
	L(map_idx_prog),
	L(flags),
	L(flag_token),
	L(flag_strict),
	L(sleepable),
	L(xdp_frags),
	L(name),
	L(name_bad),
	L(name_long),
	L(log_no_buf),
	L(log_no_level),
	L(log_no_size),
	L(log_size_only),
	L(log_ok),
	L(log_level_16),
	L(log_huge),
	L(log_bad),
	L(log_short),
	L(log_short_fixed),
	L(log_short_fail),
	L(attach_skb),
	L(attach_skb_bad),
	L(attach_sock_0),
	L(attach_lookup_0),
	L(attach_any),
	L(attach_id),
	L(attach_fd),
	L(attach_prog),
	L(attach_btf),
	L(tracing_none),
	L(ext_none),
	L(ext_attach),
	L(lsm_none),
	L(btf_unused),
	L(func_info),
	L(func_info_size),
	L(func_info_no_btf),
	L(line_info_size),
	L(line_info),
	L(line_info_bad),
	L(ifindex),
	{ "PROG_LOAD short", BPF_PROG_LOAD, load_ok, 48 },
	{ "PROG_LOAD shorter", BPF_PROG_LOAD, load_ok, 16 },
};

const unsigned n_prog_rows = sizeof(prog_rows) / sizeof(prog_rows[0]);
