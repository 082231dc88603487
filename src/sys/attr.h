/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The attributes of bpf(2) in Linux 6.12, one structure for each layout of union bpf_attr. The
 * installed <linux/bpf.h> may be older, and its union may grow; these do not change. The last
 * member of a structure is the last field of its command: what lies behind must be zero.
 */
#ifndef SKEP_SYS_ATTR_H
#define SKEP_SYS_ATTR_H

#include <stdint.h>

/* Bytes of union bpf_attr in Linux 6.12; non-zero bytes beyond are E2BIG. */
enum { ATTR_SIZE = 152 };

typedef uint64_t __attribute__((aligned(8))) attr_ptr; /* an address of the caller */

struct attr_map_create {
	uint32_t map_type, key_size, value_size, max_entries, map_flags;
	uint32_t inner_map_fd, numa_node;
	char map_name[16];
	uint32_t map_ifindex, btf_fd, btf_key_type_id, btf_value_type_id;
	uint32_t btf_vmlinux_value_type_id;
	uint64_t map_extra;
	int32_t value_type_btf_obj_fd, map_token_fd;
};

struct attr_elem {
	uint32_t map_fd;
	attr_ptr key, value; /* GET_NEXT_KEY: value is next_key */
	uint64_t flags;
};

struct attr_batch {
	attr_ptr in_batch, out_batch, keys, values;
	uint32_t count, map_fd;
	uint64_t elem_flags, flags;
};

struct attr_prog_load {
	uint32_t prog_type, insn_cnt;
	attr_ptr insns, license;
	uint32_t log_level, log_size;
	attr_ptr log_buf;
	uint32_t kern_version, prog_flags;
	char prog_name[16];
	uint32_t prog_ifindex, expected_attach_type, prog_btf_fd, func_info_rec_size;
	attr_ptr func_info;
	uint32_t func_info_cnt, line_info_rec_size;
	attr_ptr line_info;
	uint32_t line_info_cnt, attach_btf_id, attach_fd, core_relo_cnt;
	attr_ptr fd_array, core_relos;
	uint32_t core_relo_rec_size, log_true_size;
	int32_t prog_token_fd;
};

struct attr_obj {
	attr_ptr pathname;
	uint32_t bpf_fd, file_flags;
	int32_t path_fd;
};

struct attr_attach {
	uint32_t target_fd, attach_bpf_fd, attach_type, attach_flags, replace_bpf_fd, relative_fd;
	uint64_t expected_revision;
};

struct attr_test {
	uint32_t prog_fd, retval, data_size_in, data_size_out;
	attr_ptr data_in, data_out;
	uint32_t repeat, duration, ctx_size_in, ctx_size_out;
	attr_ptr ctx_in, ctx_out;
	uint32_t flags, cpu, batch_size;
};

struct attr_id {
	uint32_t id, next_id, open_flags;
};

struct attr_info {
	uint32_t bpf_fd, info_len;
	attr_ptr info;
};

struct attr_query {
	uint32_t target_fd, attach_type, query_flags, attach_flags;
	attr_ptr prog_ids;
	uint32_t count;
	attr_ptr prog_attach_flags, link_ids, link_attach_flags;
	uint64_t revision;
};

struct attr_raw_tracepoint {
	attr_ptr name;
	uint32_t prog_fd;
	uint64_t cookie;
};

struct attr_btf_load {
	attr_ptr btf, log_buf;
	uint32_t size, log_size, log_level, log_true_size, flags;
	int32_t token_fd;
};

struct attr_task_fd_query {
	uint32_t pid, fd, flags, buf_len;
	attr_ptr buf;
	uint32_t prog_id, fd_type;
	uint64_t probe_offset, probe_addr;
};

struct attr_link_create {
	uint32_t prog_fd, target_fd, attach_type, flags;
	union {
		uint32_t target_btf_id;
		struct {
			attr_ptr info;
			uint32_t info_len;
		} iter;
		uint64_t perf_cookie;
		struct {
			uint32_t relative_fd;
			uint64_t expected_revision;
		} tcx;
		uint8_t rest[44]; /* up to uprobe_multi.pid */
	};
};

struct attr_link_update {
	uint32_t link_fd, new_fd, flags, old_fd;
};

struct attr_link {
	uint32_t fd, flags; /* LINK_DETACH: only fd; ITER_CREATE: both */
};

struct attr_bind_map {
	uint32_t prog_fd, map_fd, flags;
};

struct attr_token_create {
	uint32_t flags, bpffs_fd;
};

struct attr_enable_stats {
	uint32_t type;
};

union attr {
	uint8_t bytes[ATTR_SIZE];
	struct attr_map_create map_create;
	struct attr_elem elem;
	struct attr_batch batch;
	struct attr_prog_load prog_load;
	struct attr_obj obj;
	struct attr_attach attach;
	struct attr_test test;
	struct attr_id id;
	struct attr_info info;
	struct attr_query query;
	struct attr_raw_tracepoint raw_tracepoint;
	struct attr_btf_load btf_load;
	struct attr_task_fd_query task_fd_query;
	struct attr_link_create link_create;
	struct attr_link_update link_update;
	struct attr_link link;
	struct attr_bind_map bind_map;
	struct attr_token_create token_create;
	struct attr_enable_stats enable_stats;
};

#endif
