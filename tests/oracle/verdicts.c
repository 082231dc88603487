/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verdicts OBJECT...: loads each program of each object by itself with libbpf, and prints one row
 * for each, its columns separated by tabs:
 *   object  program  type  errno (0: accepted)  visited instructions  states  peak states
 *   microseconds  last message  microseconds of CPU time in PROG_LOAD  KiB that it took at its peak
 * (the last one is this process's own, so it says something of skep only).
 * Whoever libbpf talks to is judged: the running kernel, skep (with its private libbpf), or the
 * kernel of a virtual machine, where this program, linked statically, is /init: it takes the
 * objects under /objects and powers the machine off at the end.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LOG_SIZE = 1 << 22, STATS = 4 };

static char *log_text;
static double load_usec; /* CPU time of the last PROG_LOAD that was no probe */
static long load_kib;

/* libbpf's way to bpf(2), which the linker leads through here (meson.build: --wrap). */
#define NAME_OF(prefix, name) prefix##name
#define WRAP(name)	      NAME_OF(__wrap_, name)
#define REAL(name)	      NAME_OF(__real_, name)
long REAL(SYSCALL)(long number, ...);
long WRAP(SYSCALL)(long number, ...);

static double cpu_usec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* A number of /proc/self/status, by its name. */
static long status_kib(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kib = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, name, strlen(name)))
			kib = atol(line + strlen(name));
	}
	if (f)
		fclose(f);
	return kib;
}

/* Makes the peak what there is now. */
static long peak_reset(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY);

	malloc_trim(0);
	if (fd >= 0) {
		if (write(fd, "5", 1) != 1)
			load_kib = -1;
		close(fd);
	}
	return status_kib("VmRSS:");
}

long WRAP(SYSCALL)(long number, ...)
{
	const union bpf_attr *attr;
	double begin;
	long a[6], result, before;
	va_list ap;
	int err;

	va_start(ap, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	attr = (const union bpf_attr *)a[1];
	if (number != SYS_bpf || a[0] != BPF_PROG_LOAD || attr->log_level != STATS)
		return REAL(SYSCALL)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	before = peak_reset();
	begin = cpu_usec();
	result = REAL(SYSCALL)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	err = errno;
	load_usec = cpu_usec() - begin;
	load_kib = status_kib("VmHWM:") - before;
	errno = err;
	return result;
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

/* Maps of maps that do not say what they hold get maps of one number. */
static void inner_maps(struct bpf_object *obj)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, obj)
	{
		enum bpf_map_type t = bpf_map__type(m);

		if ((t != BPF_MAP_TYPE_ARRAY_OF_MAPS && t != BPF_MAP_TYPE_HASH_OF_MAPS) ||
		    bpf_map__inner_map(m))
			continue;
		bpf_map__set_inner_map_fd(
		    m, bpf_map_create(BPF_MAP_TYPE_HASH, "inner", 4, 4, 16, NULL));
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

/* A number of the log's last line, by the word in front of it. */
static unsigned long number_after(const char *log, const char *word)
{
	const char *p = log ? strstr(log, word) : NULL;

	return p ? strtoul(p + strlen(word), NULL, 10) : 0;
}

/* The line before "processed …", without tabs; explanations of skep's own are no message. */
static void message_print(char *log)
{
	char *line, *last = "", *save = NULL;

	for (line = strtok_r(log, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "processed ", 10) && strncmp(line, "verification time", 17) &&
		    strncmp(line, "stack depth", 11) && strncmp(line, "; ", 2))
			last = line;
	}
	for (char *c = last; *c; c++)
		*c = *c == '\t' ? ' ' : *c;
	printf("%.200s", last);
}

static void row_print(const char *path, const struct bpf_program *p, int err)
{
	const char *dir = strrchr(path, '/'), *processed;

	while (dir && dir > path && dir[-1] != '/')
		dir--;
	printf("%s\t%s\t%s\t%d\t", dir ? dir : path, bpf_program__name(p),
	       libbpf_bpf_prog_type_str(bpf_program__type(p)), err);
	processed = strstr(log_text, "processed ");
	printf("%lu\t%lu\t%lu\t%lu\t", number_after(processed, "processed "),
	       number_after(processed, "total_states "), number_after(processed, "peak_states "),
	       number_after(log_text, "verification time "));
	if (err)
		message_print(log_text);
	printf("\t%.0f\t%ld\n", load_usec, load_kib);
	fflush(stdout);
}

static int load_one(const char *path, const char *name)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .relaxed_maps = true);
	struct bpf_object *obj = bpf_object__open_file(path, &opts);
	struct bpf_program *p, *it = NULL;
	int err;

	if (!obj)
		return -errno;
	bpf_object__for_each_program(p, obj)
	{
		bool mine = !strcmp(bpf_program__name(p), name);

		type_guess(p);
		bpf_program__set_autoload(p, mine);
		if (mine)
			it = p;
	}
	inner_maps(obj);
	log_text[0] = '\0';
	load_usec = 0;
	load_kib = 0;
	bpf_program__set_log_level(it, STATS);
	bpf_program__set_log_buf(it, log_text, LOG_SIZE);
	err = bpf_object__load(obj);
	row_print(path, it, -err);
	bpf_object__close(obj);
	return err;
}

static void object_load(const char *path)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .relaxed_maps = true);
	struct bpf_object *obj = bpf_object__open_file(path, &opts);
	struct bpf_program *p;

	if (!obj) {
		printf("# %s cannot be opened: %s\n", path, strerror(errno));
		return;
	}
	bpf_object__for_each_program(p, obj) load_one(path, bpf_program__name(p));
	bpf_object__close(obj);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (type == FTW_F && strstr(path, ".o"))
		object_load(path);
	return 0;
}

/* /init of a virtual machine: never returns. */
static void machine(void)
{
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("bpf", "/sys/fs/bpf", "bpf", 0, NULL);
	printf("\n==== begin\n");
	nftw("/objects", visit, 8, FTW_PHYS);
	printf("==== end\n");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &all);
	libbpf_set_print(quiet);
	log_text = malloc(LOG_SIZE);
	if (!log_text)
		return 1;
	if (getpid() == 1)
		machine();
	for (int i = 1; i < argc; i++)
		object_load(argv[i]);
	return 0;
}
