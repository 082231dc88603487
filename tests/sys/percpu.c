/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * No per-CPU value loses an update: programs that increment one without atomics, run by many more
 * threads than there are slots, by threads that come and go, by signal handlers that interrupt
 * such a run, and by a forked child. Counts must be exact.
 *
 *   percpu [SLOTS]
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "skep/skep.h"

enum { THREADS = 64, RUNS = 300, COMERS = 400, STAY = 30, FLOOD = 20000 };

static unsigned slots = 2;

#define RAW(c, d, s, o, i) { .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }
#define MOV64(d, s)	   RAW(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV64_K(d, i)	   RAW(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD64_K(d, i)	   RAW(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define JMP_K(op, d, i, o) RAW(BPF_JMP | (op) | BPF_K, d, 0, o, i)

/* Adds 1 to the map's value of key 0, with a while between load and store. Returns 1. */
static int adder_load(int map)
{
	const struct bpf_insn insns[] = {
		RAW(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -8, 0),
		RAW(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, map),
		RAW(0, 0, 0, 0, 0),
		MOV64(2, 10),
		ADD64_K(2, -8),
		RAW(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		JMP_K(BPF_JEQ, 0, 0, 7),
		RAW(BPF_LDX | BPF_MEM | BPF_DW, 6, 0, 0, 0),
		MOV64_K(7, 0),
		ADD64_K(7, 1),
		JMP_K(BPF_JLT, 7, 50, -2),
		ADD64_K(6, 1),
		RAW(BPF_STX | BPF_MEM | BPF_DW, 0, 6, 0, 0),
		MOV64_K(0, 1),
		RAW(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "adder", "GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), NULL);
}

/* One map with its one element, and two programs on it. */
struct world {
	int map, fd[2];
	struct skep_prog *prog, *other;
};

static const uint64_t key;

static void world_close(struct world *w)
{
	skep_prog_put(w->prog);
	skep_prog_put(w->other);
	close(w->fd[0]);
	close(w->fd[1]);
	close(w->map);
}

static void world_open(struct world *w, enum bpf_map_type type)
{
	uint32_t key_size = type == BPF_MAP_TYPE_PERCPU_ARRAY ? 4 : 8;
	uint64_t *zeros = calloc((size_t)libbpf_num_possible_cpus(), 8);

	w->map = bpf_map_create(type, "counts", key_size, 8, 4, NULL);
	assert_true(w->map >= 0);
	assert_int_equal(bpf_map_update_elem(w->map, &key, zeros, BPF_ANY), 0);
	free(zeros);
	w->fd[0] = adder_load(w->map);
	w->fd[1] = adder_load(w->map);
	w->prog = skep_prog_get(w->fd[0]);
	w->other = skep_prog_get(w->fd[1]);
	assert_non_null(w->prog);
	assert_non_null(w->other);
}

static uint64_t world_total(const struct world *w)
{
	int n = libbpf_num_possible_cpus();
	uint64_t *values = calloc((size_t)n, 8), sum = 0;

	assert_int_equal(bpf_map_lookup_elem(w->map, &key, values), 0);
	for (int i = 0; i < n; i++)
		sum += values[i];
	free(values);
	return sum;
}

static const enum bpf_map_type types[] = { BPF_MAP_TYPE_PERCPU_ARRAY, BPF_MAP_TYPE_PERCPU_HASH,
					   BPF_MAP_TYPE_LRU_PERCPU_HASH };

static struct world world;
static uint64_t done; /* runs that took place, by all threads */

static void *runs(void *arg)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < *(const unsigned *)arg; i++)
		n += skep_prog_run(world.prog, NULL);
	__atomic_fetch_add(&done, n, __ATOMIC_RELAXED);
	return NULL;
}

static void for_each_type(void (*one)(void))
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		world_open(&world, types[i]);
		done = 0;
		one();
		assert_int_equal(world_total(&world), done);
		world_close(&world);
	}
}

static void many(unsigned threads, unsigned each)
{
	pthread_t t[THREADS];

	for (unsigned i = 0; i < threads; i++)
		assert_int_equal(pthread_create(&t[i], NULL, runs, &each), 0);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
}

static void many_threads(void)
{
	many(THREADS, RUNS);
	assert_int_equal(done, THREADS * RUNS);
}

static void no_update_is_lost_by_many_threads(void **state)
{
	for_each_type(many_threads);
}

/* Some stay while others come for a few runs and end. */
static void comers(void)
{
	unsigned stay = RUNS * 10, few = 3;
	pthread_t t[STAY], c;

	for (unsigned i = 0; i < STAY; i++)
		assert_int_equal(pthread_create(&t[i], NULL, runs, &stay), 0);
	for (unsigned i = 0; i < COMERS; i++) {
		assert_int_equal(pthread_create(&c, NULL, runs, &few), 0);
		pthread_join(c, NULL);
	}
	for (unsigned i = 0; i < STAY; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(done, STAY * stay + COMERS * few);
}

static void no_update_is_lost_by_threads_that_come_and_go(void **state)
{
	for_each_type(comers);
}

static uint64_t handled, missed;
static volatile int stop;

static void on_signal(int sig)
{
	uint64_t ran = skep_prog_run(world.other, NULL);

	__atomic_fetch_add(ran ? &handled : &missed, 1, __ATOMIC_RELAXED);
}

static void *runs_until(void *arg)
{
	uint64_t n = 0;

	while (!stop)
		n += skep_prog_run(world.prog, NULL);
	__atomic_fetch_add(&done, n, __ATOMIC_RELAXED);
	return NULL;
}

/* `missed` runs found every slot taken by an interrupted run: they did not happen, and count for
 * nothing. Each is in the programs' count of misses. */
static void interrupted(void)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	pthread_t t[8];

	handled = missed = 0;
	stop = 0;
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&t[i], NULL, runs_until, NULL), 0);
	usleep(20000);
	for (unsigned i = 0; i < FLOOD && __atomic_load_n(&handled, __ATOMIC_RELAXED) < 1000; i++) {
		pthread_kill(t[i % 8], i % 3 ? SIGUSR1 : SIGUSR2);
		if (i % 4 == 0)
			usleep(50);
	}
	stop = 1;
	for (unsigned i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	assert_true(handled > 100);
	assert_int_equal(bpf_obj_get_info_by_fd(world.fd[1], &info, &size), 0);
	assert_int_equal(info.recursion_misses, missed);
	print_message("# %llu runs in handlers, %llu without a slot\n", (unsigned long long)handled,
		      (unsigned long long)missed);
	done += handled;
}

/* A handler may itself be interrupted by the other signal. */
static void no_update_is_lost_by_signal_handlers(void **state)
{
	const struct sigaction a = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGUSR2, &a, NULL);
	for_each_type(interrupted);
}

/* One thread, one slot to spare: its handlers always find it. */
static void alone(void)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	pthread_t t;

	handled = missed = 0;
	stop = 0;
	assert_int_equal(pthread_create(&t, NULL, runs_until, NULL), 0);
	for (unsigned i = 0; i < 3000; i++) {
		pthread_kill(t, SIGUSR1);
		usleep(20);
	}
	stop = 1;
	pthread_join(t, NULL);
	assert_int_equal(missed, 0);
	assert_true(handled > 100);
	done += handled;
	assert_int_equal(bpf_obj_get_info_by_fd(world.fd[1], &info, &size), 0);
	assert_int_equal(info.recursion_misses, 0);
}

static void a_handler_finds_the_slot_that_is_free(void **state)
{
	for_each_type(alone);
}

/* Values are shared with children. */
static void forked(void)
{
	unsigned each = RUNS;
	pid_t child[4];
	int status;

	for (unsigned i = 0; i < 4; i++) {
		child[i] = fork();
		if (!child[i]) {
			many(8, each);
			_exit(done != 8 * RUNS);
		}
	}
	many(8, each);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, 0);
	}
	done += 4 * 8 * RUNS;
}

static void no_update_is_lost_by_children(void **state)
{
	for_each_type(forked);
}

/* Clients find as many values as libbpf says, and no byte is written behind them. */
static void clients_see_every_slot(void **state)
{
	enum { GUARD = 4096 };
	uint8_t *values = malloc(8 * slots + GUARD);

	assert_int_equal(libbpf_num_possible_cpus(), slots);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		memset(values, 0x5a, 8 * slots + GUARD);
		world_open(&world, types[i]);
		assert_int_equal(bpf_map_lookup_elem(world.map, &key, values), 0);
		for (unsigned k = 0; k < 8 * slots + GUARD; k++)
			assert_int_equal(values[k], k < 8 * slots ? 0 : 0x5a);
		world_close(&world);
	}
	free(values);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clients_see_every_slot),
		cmocka_unit_test(no_update_is_lost_by_many_threads),
		cmocka_unit_test(no_update_is_lost_by_threads_that_come_and_go),
		cmocka_unit_test(no_update_is_lost_by_signal_handlers),
		cmocka_unit_test(a_handler_finds_the_slot_that_is_free),
		cmocka_unit_test(no_update_is_lost_by_children),
	};

	if (argc > 1)
		slots = (unsigned)atoi(argv[1]);
	setenv("SKEP_CPUS", argc > 1 ? argv[1] : "2", 1);
	return cmocka_run_group_tests_name("percpu", tests, NULL, NULL);
}
