/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bad_input SKEP DIR CAPTURE OBJECT PROGRAM [OBJECT PROGRAM]... -- FILE...: damages good files in
 * many ways and gives them to the command. Whatever it is given, it must end by itself, without a
 * signal or a sanitizer's report; with exit status 2 there is exactly one line of message, which
 * names the file, nothing on stdout, and no output file. Files after `--` are bad as they are.
 *
 * Objects whose bytes were changed are only loaded (`skep dump xlated`), not run: until there is a
 * verifier, a program with other instructions may do anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SECONDS = 60,
	TEXT_MAX = 8192,
	FLIPS = 120,
	CUTS = 40,
	CAPTURE_CUTS = 24,
	CAPTURE_FLIPS = 40
};

static const char *skep, *dir;
static unsigned points, failures;

struct bytes {
	uint8_t *at;
	size_t n;
};

struct outcome {
	int status; /* as of waitpid */
	char out[TEXT_MAX], err[TEXT_MAX];
};

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct bytes read_file(const char *path)
{
	struct bytes b;
	struct stat st;
	FILE *f = fopen(path, "rbe");

	if (!f || fstat(fileno(f), &st))
		die(path);
	b.n = (size_t)st.st_size;
	b.at = malloc(b.n + 1);
	if (!b.at || fread(b.at, 1, b.n, f) != b.n)
		die(path);
	fclose(f);
	return b;
}

static void write_file(const char *path, const uint8_t *at, size_t n)
{
	FILE *f = fopen(path, "wbe");

	if (!f || fwrite(at, 1, n, f) != n || fclose(f))
		die(path);
}

/* xorshift64*: the same damage each time. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

static void slurp(const char *path, char *text)
{
	FILE *f = fopen(path, "rbe");
	size_t n = f ? fread(text, 1, TEXT_MAX - 1, f) : 0;

	text[n] = 0;
	if (f)
		fclose(f);
}

static void child(char *const argv[], const char *out, const char *err)
{
	int o = open(out, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	int e = open(err, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	dup2(o, STDOUT_FILENO);
	dup2(e, STDERR_FILENO);
	alarm(SECONDS);
	execv(skep, argv);
	_exit(127);
}

static void run(char *const argv[], struct outcome *o)
{
	char out[512], err[512];
	pid_t pid;

	snprintf(out, sizeof(out), "%s/stdout", dir);
	snprintf(err, sizeof(err), "%s/stderr", dir);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		child(argv, out, err);
	if (waitpid(pid, &o->status, 0) != pid)
		die("waitpid");
	slurp(out, o->out);
	slurp(err, o->err);
}

/* Lines of messages, without those that explain one. */
static unsigned count_lines(const char *text, const char *name, bool *named)
{
	unsigned n = 0;

	*named = false;
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (strncmp(text, "  ", 2)) {
			n++;
			*named |= memmem(text, len, name, strlen(name)) != NULL;
		}
		text += len + (text[len] == '\n');
	}
	return n;
}

/* NULL, or what is wrong with how the command took a bad `file`. must: it cannot be taken. */
static const char *judge(const struct outcome *o, const char *file, const char *output, bool must)
{
	bool named, wrote = access(output, F_OK) == 0;
	unsigned lines = count_lines(o->err, file, &named);

	unlink(output);
	if (WIFSIGNALED(o->status))
		return WTERMSIG(o->status) == SIGALRM ? "did not end" : "died of a signal";
	if (strstr(o->err, "Sanitizer") || strstr(o->err, "runtime error"))
		return "a sanitizer reported something";
	if (WEXITSTATUS(o->status) < 2)
		return must ? "took what it cannot take" : NULL;
	if (WEXITSTATUS(o->status) != 2)
		return "exit status other than 0, 1, 2";
	if (lines != 1)
		return "not exactly one line of message";
	if (!named)
		return "the message does not name the file";
	if (o->out[0])
		return "printed results in spite of the error";
	return wrote ? "left an output file" : NULL;
}

/* Nothing but the files that we make may be in our directory. */
static bool has_leftovers(void)
{
	char command[600];

	snprintf(command, sizeof(command), "ls '%s' | grep -q '^passed.pcap'", dir);
	return system(command) == 0;
}

/* The file of a failure stays, as failed-NUMBER. */
static void keep(const char *file)
{
	char name[600];

	snprintf(name, sizeof(name), "%s/failed-%u", dir, points);
	if (strncmp(file, dir, strlen(dir)) == 0 && rename(file, name) == 0)
		printf("# kept as %s\n", name);
}

static void point(const char *what, const char *file, const struct outcome *o, const char *wrong)
{
	if (!wrong && has_leftovers())
		wrong = "left a temporary file";
	points++;
	if (!wrong) {
		printf("ok %u - %s\n", points, what);
		return;
	}
	failures++;
	keep(file);
	printf("# status %#x; stderr:\n", (unsigned)o->status);
	for (const char *s = o->err; *s; s += strcspn(s, "\n") + (s[strcspn(s, "\n")] == '\n'))
		printf("#   %.*s\n", (int)strcspn(s, "\n"), s);
	printf("not ok %u - %s: %s\n", points, what, wrong);
}

static void try_run(const char *what, const char *object, const char *prog, const char *capture,
		    const char *named, bool must)
{
	char output[512];
	struct outcome o;
	char *argv[] = { (char *)skep, (char *)"run", (char *)object, (char *)"-i", (char *)capture,
			 (char *)"-o", output,	      (char *)"-p",   (char *)prog, NULL };

	snprintf(output, sizeof(output), "%s/passed.pcap", dir);
	if (!prog)
		argv[7] = NULL;
	run(argv, &o);
	point(what, named, &o, judge(&o, named, output, must));
}

static void try_load(const char *what, const char *object, const char *prog)
{
	struct outcome o;
	char *argv[] = { (char *)skep,
			 (char *)"dump",
			 (char *)"xlated",
			 (char *)object,
			 (char *)"-p",
			 (char *)prog,
			 NULL };

	run(argv, &o);
	point(what, object, &o, judge(&o, object, "/nonexistent", false));
}

/* The start of a good object, at CUTS lengths spread over it. */
static void cut_object(const char *path, const char *prog, const char *capture)
{
	struct bytes b = read_file(path);
	char cut[512], what[700];

	snprintf(cut, sizeof(cut), "%s/cut.o", dir);
	for (unsigned i = 0; i < CUTS; i++) {
		size_t n = i < 8 ? i * 9 : b.n * i / CUTS;

		write_file(cut, b.at, n);
		snprintf(what, sizeof(what), "%s cut to %zu of %zu bytes", prog, n, b.n);
		try_run(what, cut, prog, capture, cut, true);
	}
	free(b.at);
}

/* Bytes changed: one at each place of the ELF header, then 1 to 8 at random places. */
static void flip_object(const char *path, const char *prog)
{
	struct bytes b = read_file(path);
	uint8_t *copy = malloc(b.n);
	uint64_t state = 0x5eed;
	char flipped[512], what[700];

	snprintf(flipped, sizeof(flipped), "%s/flipped.o", dir);
	for (unsigned i = 0; copy && i < 64 + FLIPS; i++) {
		unsigned changes = i < 64 ? 1 : 1 + i % 8;

		memcpy(copy, b.at, b.n);
		for (unsigned k = 0; k < changes; k++) {
			size_t at = i < 64 ? i : next_random(&state) % b.n;

			copy[at] ^= (uint8_t)(1 + next_random(&state) % 255);
		}
		write_file(flipped, copy, b.n);
		snprintf(what, sizeof(what), "%s with %u changed bytes (%u)", prog, changes, i);
		try_load(what, flipped, prog);
	}
	free(copy);
	free(b.at);
}

static void damage_capture(const char *object, const char *prog, const char *path)
{
	struct bytes b = read_file(path);
	uint8_t *copy = malloc(b.n);
	uint64_t state = 0xcab;
	char bad[512], what[200];

	snprintf(bad, sizeof(bad), "%s/bad.pcap", dir);
	for (unsigned i = 0; i < CAPTURE_CUTS; i++) {
		size_t n = i < 4 ? i * 8 : i == 4 ? 24 : 24 + 16 + (i - 5) * (b.n / CAPTURE_CUTS);

		write_file(bad, b.at, n);
		snprintf(what, sizeof(what), "capture cut to %zu of %zu bytes", n, b.n);
		try_run(what, object, prog, bad, bad, true);
	}
	for (unsigned i = 0; copy && i < CAPTURE_FLIPS; i++) {
		memcpy(copy, b.at, b.n);
		for (unsigned k = 0; k <= i % 4; k++)
			copy[i < 24 ? i : next_random(&state) % b.n] ^=
			    (uint8_t)(1 + next_random(&state) % 255);
		write_file(bad, copy, b.n);
		snprintf(what, sizeof(what), "capture with changed bytes (%u)", i);
		try_run(what, object, prog, bad, bad, false);
	}
	free(copy);
	free(b.at);
}

/* What is no capture or object at all, and what may not be read or written. */
static void strange_paths(const char *object, const char *prog, const char *capture)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/empty", dir);
	write_file(path, (const uint8_t *)"", 0);
	try_run("an empty file as the object", path, NULL, capture, path, true);
	try_run("an empty file as the capture", object, prog, path, path, true);
	try_run("a directory as the object", dir, NULL, capture, dir, true);
	try_run("a directory as the capture", object, prog, dir, dir, true);
	snprintf(path, sizeof(path), "%s/missing", dir);
	try_run("an object that is not there", path, NULL, capture, path, true);
	try_run("a capture that is not there", object, prog, path, path, true);
	try_run("a capture as the object", capture, NULL, capture, capture, true);
	try_run("an object as the capture", object, prog, object, object, true);
	try_run("a program that is not there", object, "no_such_program", capture, object, true);
	snprintf(path, sizeof(path), "%s/secret", dir);
	write_file(path, (const uint8_t *)"x", 1);
	chmod(path, 0);
	try_run("an object that may not be read", path, NULL, capture, path, true);
	try_run("a capture that may not be read", object, prog, path, path, true);
}

/* A capture of another link type (101: raw IP), and other magic numbers. */
static void strange_captures(const char *object, const char *prog, const char *path)
{
	static const struct {
		const char *what;
		uint8_t at, value[4];
		bool must;
	} rows[] = {
		{ "a capture of raw IP", 20, { 101 }, true },
		{ "a capture of 802.11", 20, { 105 }, true },
		{ "a capture of an unknown link type", 20, { 0xee, 0xee }, true },
		{ "a capture in the other byte order", 0, { 0xa1, 0xb2, 0xc3, 0xd4 }, true },
		{ "a capture with nanoseconds", 0, { 0x4d, 0x3c, 0xb2, 0xa1 }, false },
		{ "a capture of version 9", 4, { 9, 0, 4, 0 }, true },
		{ "the start of a pcapng", 0, { 0x0a, 0x0d, 0x0d, 0x0a }, true },
	};
	struct bytes b = read_file(path);
	uint8_t old[4];
	char bad[512];

	snprintf(bad, sizeof(bad), "%s/strange.pcap", dir);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memcpy(old, b.at + rows[i].at, 4);
		memcpy(b.at + rows[i].at, rows[i].value, 4);
		write_file(bad, b.at, b.n);
		try_run(rows[i].what, object, prog, bad, bad, rows[i].must);
		memcpy(b.at + rows[i].at, old, 4);
	}
	free(b.at);
}

int main(int argc, char **argv)
{
	const char *capture;
	int i;

	if (argc < 6) {
		fprintf(stderr,
			"usage: bad_input SKEP DIR CAPTURE OBJECT PROGRAM... [-- FILE...]\n");
		return 2;
	}
	skep = argv[1];
	dir = argv[2];
	capture = argv[3];
	mkdir(dir, 0700);
	setenv("LC_ALL", "C", 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
	strange_paths(argv[4], argv[5], capture);
	strange_captures(argv[4], argv[5], capture);
	damage_capture(argv[4], argv[5], capture);
	for (i = 4; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2) {
		cut_object(argv[i], argv[i + 1], capture);
		flip_object(argv[i], argv[i + 1]);
	}
	for (i++; i < argc; i++)
		try_run(argv[i], argv[i], NULL, capture, argv[i], true);
	printf("1..%u\n", points);
	return failures != 0;
}
