/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay OBJECT PROGRAM CAPTURE [MAP=KEY:VALUE]...: runs a program on each packet of a capture
 * through BPF_PROG_TEST_RUN and prints what there is to see: verdict, context and packet of each
 * run, then the maps. Built twice from this source, with the system's libbpf (the kernel runs the
 * program) and with skep's: the outputs are to be the same. KEY and VALUE: hexadecimal bytes.
 *
 * What may differ is left out: which slot of a per-CPU map was used, ids, order of hash tables.
 * Exit status: 0; 77 when bpf(2) is not allowed here, 76 when it refuses the object; else 1.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIP = 77, REFUSED = 76, OUT_MAX = 128 << 10, PACKET_MAX = 64 << 10 };

static int fail(const char *what, int err)
{
	fprintf(stderr, "replay: %s: %s\n", what, strerror(err < 0 ? -err : err));
	return err == -EPERM || err == -EACCES ? SKIP : 1;
}

static void print_hex(FILE *f, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%02x", p[i]);
}

static bool read_hex(const char *s, size_t chars, uint8_t *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (2 * i + 2 > chars || sscanf(s + 2 * i, "%2hhx", &out[i]) != 1)
			return false;
	return chars == 2 * n;
}

static bool is_percpu(uint32_t type)
{
	return type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

/* Bytes from one slot's value to the next in what bpf(2) takes and gives. */
static uint32_t stride(const struct bpf_map *m)
{
	return (bpf_map__value_size(m) + 7) & ~7u;
}

/* Per-CPU maps: the value goes to each slot. */
static int write_entry(const struct bpf_map *m, const void *key, const void *value)
{
	size_t slots = (size_t)libbpf_num_possible_cpus();
	uint8_t *all = calloc(slots, stride(m));
	int err;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < slots; i++)
		memcpy(all + i * stride(m), value, bpf_map__value_size(m));
	err = bpf_map_update_elem(bpf_map__fd(m), key, all, BPF_ANY);
	free(all);
	return err;
}

/* "MAP=KEY:VALUE". */
static int preset(struct bpf_object *o, const char *text)
{
	const char *eq = strchr(text, '='), *colon = strchr(text, ':');
	uint8_t key[256] = { 0 }, value[1024] = { 0 };
	struct bpf_map *m;
	char name[64];

	if (!eq || !colon || eq - text >= (int)sizeof(name))
		return -EINVAL;
	snprintf(name, sizeof(name), "%.*s", (int)(eq - text), text);
	m = bpf_object__find_map_by_name(o, name);
	if (!m)
		return -ENOENT;
	if (!read_hex(eq + 1, (size_t)(colon - eq - 1), key, bpf_map__key_size(m)) ||
	    !read_hex(colon + 1, strlen(colon + 1), value, bpf_map__value_size(m)))
		return -EINVAL;
	return write_entry(m, key, value);
}

/* One run: "N: err", or "N: verdict context packet". */
static void run_packet(unsigned number, int fd, bool xdp, const uint8_t *packet, uint32_t n)
{
	static uint8_t out[OUT_MAX];
	struct xdp_md md = { .data_end = n };
	struct __sk_buff skb = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = packet, .data_size_in = n, .data_out = out,
		    .data_size_out = sizeof(out), .repeat = 1);
	int err;

	o.ctx_out = xdp ? (void *)&md : (void *)&skb;
	o.ctx_size_out = xdp ? sizeof(md) : sizeof(skb);
	o.ctx_in = o.ctx_out;
	o.ctx_size_in = o.ctx_size_out;
	err = bpf_prog_test_run_opts(fd, &o);
	if (err) {
		printf("packet %u: errno %d\n", number, -err);
		return;
	}
	printf("packet %u: %d ", number, (int)o.retval);
	print_hex(stdout, o.ctx_out, o.ctx_size_out);
	printf(" ");
	print_hex(stdout, out, o.data_size_out);
	printf("\n");
}

/* The records of a capture in the format that mkpcap writes. */
static int run_capture(const char *path, int fd, bool xdp)
{
	static uint8_t packet[PACKET_MAX];
	uint32_t head[6], record[4];
	FILE *f = fopen(path, "rbe");
	unsigned number = 0;

	if (!f || fread(head, sizeof(head), 1, f) != 1 || head[0] != 0xa1b2c3d4)
		return fail(path, f ? EINVAL : errno);
	while (fread(record, sizeof(record), 1, f) == 1) {
		if (record[2] > sizeof(packet) || fread(packet, 1, record[2], f) != record[2])
			return fail(path, EINVAL);
		run_packet(++number, fd, xdp, packet, record[2]);
	}
	fclose(f);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/* What maps of programs and maps hold are ids: only that there is one counts. */
static bool holds_ids(uint32_t type)
{
	return type == BPF_MAP_TYPE_PROG_ARRAY || type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
	       type == BPF_MAP_TYPE_HASH_OF_MAPS;
}

static __thread uint32_t compare_size;

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, compare_size);
}

/* "KEY: VALUE", of per-CPU maps the values that are not zero, sorted; NULL out of memory. Sorts
 * the values in place. */
static char *entry_line(const struct bpf_map *m, const uint8_t *key, uint8_t *value)
{
	uint32_t type = bpf_map__type(m), size = bpf_map__value_size(m);
	size_t slots = is_percpu(type) ? (size_t)libbpf_num_possible_cpus() : 1, len;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	compare_size = size;
	qsort(value, slots, stride(m), by_bytes);
	print_hex(f, key, bpf_map__key_size(m));
	fputc(':', f);
	for (size_t i = 0; i < slots; i++) {
		if (slots > 1 && is_zero(value + i * stride(m), size))
			continue;
		fputc(' ', f);
		if (holds_ids(type))
			fputs("set", f);
		else
			print_hex(f, value + i * stride(m), size);
	}
	fclose(f);
	return text;
}

/* All entries of one map, sorted. */
static void print_entries(const struct bpf_map *m)
{
	uint8_t key[1024], next[1024];
	uint8_t *value =
	    calloc((size_t)libbpf_num_possible_cpus(), ((size_t)bpf_map__value_size(m) + 7) & ~7ul);
	char **lines = calloc(bpf_map__max_entries(m) + 1ul, sizeof(*lines));
	size_t n = 0;
	int err = bpf_map_get_next_key(bpf_map__fd(m), NULL, next);

	while (!err && n < bpf_map__max_entries(m)) {
		memcpy(key, next, bpf_map__key_size(m));
		if (!bpf_map_lookup_elem(bpf_map__fd(m), key, value))
			lines[n++] = entry_line(m, key, value);
		err = bpf_map_get_next_key(bpf_map__fd(m), key, next);
	}
	qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0; i < n; i++) {
		printf("map %s %s\n", bpf_map__name(m), lines[i]);
		free(lines[i]);
	}
	free(lines);
	free(value);
}

static int print_record(void *ctx, void *data, size_t n)
{
	printf("ring %s ", bpf_map__name(ctx));
	print_hex(stdout, data, n);
	printf("\n");
	return 0;
}

static void print_ring(struct bpf_map *m)
{
	struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(m), print_record, m, NULL);
	int n = ring ? ring_buffer__consume(ring) : -errno;

	printf("ring %s: %d\n", bpf_map__name(m), n);
	ring_buffer__free(ring);
}

static void print_maps(struct bpf_object *o)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, o)
	{
		if (bpf_map__type(m) == BPF_MAP_TYPE_RINGBUF)
			print_ring(m);
		else if (bpf_map__type(m) != BPF_MAP_TYPE_PERF_EVENT_ARRAY &&
			 bpf_map__key_size(m) && bpf_map__key_size(m) <= 1024)
			print_entries(m);
	}
}

/* Other programs of the object are left out unless a map of programs may need them. */
static void choose(struct bpf_object *o, const struct bpf_program *wanted)
{
	struct bpf_program *p;
	struct bpf_map *m;
	bool all = false;

	bpf_object__for_each_map(m, o)
	{
		all |= bpf_map__type(m) == BPF_MAP_TYPE_PROG_ARRAY;
		bpf_map__set_pin_path(m, NULL);
	}
	bpf_object__for_each_program(p, o) bpf_program__set_autoload(p, all || p == wanted);
}

/* All runs on one CPU, so that one slot of each per-CPU map is used. */
static void stay(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

int main(int argc, char **argv)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .relaxed_maps = true);
	struct bpf_program *p;
	struct bpf_object *o;
	int err;

	if (argc < 4)
		return fail("usage: replay OBJECT PROGRAM CAPTURE [MAP=KEY:VALUE]...", EINVAL);
	stay();
	o = bpf_object__open_file(argv[1], &opts);
	if (!o)
		return fail(argv[1], errno);
	p = bpf_object__find_program_by_name(o, argv[2]);
	if (!p)
		return fail(argv[2], ENOENT);
	choose(o, p);
	err = bpf_object__load(o);
	if (err)
		return fail("load", err) == SKIP ? SKIP : REFUSED;
	for (int i = 4; i < argc; i++) {
		err = preset(o, argv[i]);
		if (err)
			return fail(argv[i], err);
	}
	err = run_capture(argv[3], bpf_program__fd(p), bpf_program__type(p) == BPF_PROG_TYPE_XDP);
	if (!err)
		print_maps(o);
	bpf_object__close(o);
	return err;
}
