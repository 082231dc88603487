/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loadall [-p PROG] OBJECT...: loads each program of each object by itself with the system's
 * libbpf, and says on stdout which ones the kernel took. With libverify_shadow preloaded, skep's
 * verifier sees the same loads.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level == LIBBPF_WARN && 0 ? vfprintf(stderr, fmt, ap) : 0;
}

/* Maps of maps that do not say what they hold get maps of one number. */
static void inner_maps(struct bpf_object *obj)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, obj)
	{
		enum bpf_map_type t = bpf_map__type(m);
		int fd;

		if ((t != BPF_MAP_TYPE_ARRAY_OF_MAPS && t != BPF_MAP_TYPE_HASH_OF_MAPS) ||
		    bpf_map__inner_map(m))
			continue;
		fd = bpf_map_create(BPF_MAP_TYPE_HASH, "inner", 4, 4, 16, NULL);
		bpf_map__set_inner_map_fd(m, fd);
	}
}

/* Types for section names that libbpf does not know. */
static void type_guess(struct bpf_program *p)
{
	static const struct {
		const char *prefix;
		enum bpf_prog_type type;
	} rows[] = {
		{ "xdp", BPF_PROG_TYPE_XDP },
		{ "filter", BPF_PROG_TYPE_SOCKET_FILTER },
		{ "loadbalancer", BPF_PROG_TYPE_SOCKET_FILTER },
		{ "cgroup/sock", BPF_PROG_TYPE_CGROUP_SOCK },
		{ "", BPF_PROG_TYPE_SCHED_CLS },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (bpf_program__type(p) == BPF_PROG_TYPE_UNSPEC &&
		    !strncmp(bpf_program__section_name(p), rows[i].prefix, strlen(rows[i].prefix)))
			bpf_program__set_type(p, rows[i].type);
	}
}

static int load_one(const char *path, const char *name)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .relaxed_maps = true);
	struct bpf_object *obj = bpf_object__open_file(path, &opts);
	struct bpf_program *p;
	int err;

	if (!obj)
		return -errno;
	bpf_object__for_each_program(p, obj)
	{
		type_guess(p);
		bpf_program__set_autoload(p, !strcmp(bpf_program__name(p), name));
	}
	inner_maps(obj);
	err = bpf_object__load(obj);
	bpf_object__close(obj);
	return err;
}

int main(int argc, char **argv)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .relaxed_maps = true);
	const char *only = NULL;
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &all);
	libbpf_set_print(quiet);
	if (argc > 2 && !strcmp(argv[1], "-p")) {
		only = argv[2];
		argv += 2;
		argc -= 2;
	}
	for (int i = 1; i < argc; i++) {
		struct bpf_object *obj = bpf_object__open_file(argv[i], &opts);
		struct bpf_program *p;

		if (!obj) {
			printf("%s: cannot be opened\n", argv[i]);
			continue;
		}
		bpf_object__for_each_program(p, obj)
		{
			int err;

			if (only && strcmp(only, bpf_program__name(p)))
				continue;
			err = load_one(argv[i], bpf_program__name(p));

			printf("%s %s %d\n", argv[i], bpf_program__name(p), err);
		}
		bpf_object__close(obj);
	}
	return 0;
}
