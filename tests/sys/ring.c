/* SPDX-License-Identifier: BSD-2-Clause */
/* libbpf's ring buffer and pinning through the private libbpf: what glue.c redirects. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Puts eight bytes into the ring buffer, 42 and its argument's length. */
static int writer_load(int ring)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 10, .off = -8, .imm = 42 },
		{ .code = BPF_LD | BPF_IMM | BPF_DW,
		  .dst_reg = 1,
		  .src_reg = BPF_PSEUDO_MAP_FD,
		  .imm = ring },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 2, .imm = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = 8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 4 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ringbuf_output },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "writer", "GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), NULL);
}

static int writer_run(int prog, unsigned repeat)
{
	char packet[64] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet),
		    .repeat = (int)repeat);
	int err = bpf_prog_test_run_opts(prog, &opts);

	return err ? err : (int)opts.retval;
}

static int count(void *ctx, void *data, size_t size)
{
	uint64_t value;

	memcpy(&value, data, sizeof(value));
	if (size == 8 && value == 42)
		++*(unsigned *)ctx;
	return 0;
}

static void *write_later(void *arg)
{
	usleep(50000);
	writer_run(*(int *)arg, 10);
	return NULL;
}

static void records_arrive(void **state)
{
	int map = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, 4096, NULL);
	int prog = writer_load(map);
	unsigned seen = 0;
	struct ring_buffer *ring = ring_buffer__new(map, count, &seen, NULL);

	assert_true(map >= 0 && prog >= 0);
	assert_non_null(ring);
	assert_int_equal(writer_run(prog, 5), 0);
	assert_int_equal(ring_buffer__consume(ring), 5);
	/* More than the buffer holds at once: its end and its beginning are next to each other. */
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(writer_run(prog, 100), 0);
		assert_int_equal(ring_buffer__consume(ring), 100);
	}
	assert_int_equal(seen, 10005);
	ring_buffer__free(ring);
	close(prog);
	close(map);
}

static void a_poll_wakes_up(void **state)
{
	int map = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, 4096, NULL);
	int prog = writer_load(map);
	unsigned seen = 0;
	struct ring_buffer *ring = ring_buffer__new(map, count, &seen, NULL);
	pthread_t t;

	assert_int_equal(ring_buffer__poll(ring, 0), 0);
	assert_int_equal(pthread_create(&t, NULL, write_later, &prog), 0);
	while (seen < 10)
		assert_true(ring_buffer__poll(ring, 5000) > 0);
	pthread_join(t, NULL);
	assert_int_equal(ring_buffer__poll(ring, 0), 0);
	ring_buffer__free(ring);
	close(prog);
	close(map);
}

static void a_full_ring_refuses(void **state)
{
	int map = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, 4096, NULL);
	int prog = writer_load(map);

	assert_int_equal(writer_run(prog, 255), 0);
	assert_int_equal(writer_run(prog, 10), -EAGAIN);
	close(prog);
	close(map);
}

static void pins_are_found_and_removed(void **state)
{
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "pinned", 4, 8, 4, NULL), again;

	assert_int_equal(bpf_obj_pin(map, "/sys/fs/bpf/skep_ring_test"), 0);
	again = bpf_obj_get("/sys/fs/bpf/skep_ring_test");
	assert_true(again >= 0);
	assert_true(access("/sys/fs/bpf/skep_ring_test", F_OK) < 0);
	close(again);
	close(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_arrive),
		cmocka_unit_test(a_poll_wakes_up),
		cmocka_unit_test(a_full_ring_refuses),
		cmocka_unit_test(pins_are_found_and_removed),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
