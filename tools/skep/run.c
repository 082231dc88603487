/* SPDX-License-Identifier: BSD-2-Clause */
/* skep run: a BPF object on the packets of a capture. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "helper/trace.h"
#include "object/object.h"
#include "skep/command.h"
#include "skep/events.h"
#include "skep/load_opts.h"
#include "skep/maps.h"
#include "skep/outfile.h"
#include "skep/packets.h"
#include "skep/preset.h"
#include "skep/result.h"
#include "skep/ui.h"
#include "skep/verdict.h"

struct run_values {
	const char *prog, *in, *out, *trace, *map_file;
	uint64_t repeat;
	struct opt_list maps, variables, types;
	struct load_values load;
	bool json, all;
};

#define AT(member) offsetof(struct run_values, member)

static const struct opt run_opts[] = {
	{ "prog", 'p', OPT_TEXT, AT(prog), "NAME", "the program, when there is more than one" },
	{ "input", 'i', OPT_TEXT, AT(in), "FILE",
	  "capture to read (pcap, pcapng); -: standard input" },
	{ "output", 'o', OPT_TEXT, AT(out), "FILE", "write the packets that were passed (pcap)" },
	{ "repeat", 'n', OPT_COUNT, AT(repeat), "N", "replay the capture N times" },
	{ "set", 0, OPT_LIST, AT(variables), "VAR=VALUE", "set a global variable first" },
	{ "map", 'm', OPT_LIST, AT(maps), "ENTRY",
	  "put an entry, 'MAP KEY VALUE', into a map first" },
	{ "map-file", 0, OPT_TEXT, AT(map_file), "FILE", "the same, one entry a line of a file" },
	{ "type", 't', OPT_LIST, AT(types), "MAP=STRUCT", "what a ring buffer's records are" },
	{ "trace", 0, OPT_TEXT, AT(trace), "FILE", "bpf_trace_printk's output (else: stderr)" },
	LOAD_OPTS(struct run_values, load),
	{ "all", 'a', OPT_FLAG, AT(all), NULL, "print all entries of large maps" },
	{ "json", 'j', OPT_FLAG, AT(json), NULL, "print JSON (docs/run.md says what is in it)" },
};

/* Puts in what the user asked for; types are what only a loaded object can take. */
static int preset_entries(const struct run_values *v, struct bpf_object *o, struct report *r)
{
	int err = 0;

	for (size_t i = 0; i < v->maps.n && !err; i++)
		err = preset_entry(o, v->maps.at[i], "--map", r);
	if (!err && v->map_file)
		err = preset_file(o, v->map_file, r);
	return err;
}

static int load(const struct run_values *v, const char *path, struct bpf_object *o,
		struct report *r)
{
	int err = 0;

	for (size_t i = 0; i < v->variables.n && !err; i++)
		err = preset_variable(o, v->variables.at[i], r);
	if (!err)
		err = object_load(path, o, NULL, r);
	if (!err)
		err = preset_entries(v, o, r);
	return err;
}

static int check_type(const char *path, const struct bpf_program *p, struct report *r)
{
	uint32_t type = bpf_program__type(p);
	const char *name = libbpf_bpf_prog_type_str(type);

	if (verdict_type_name(type))
		return 0;
	return report_fail(r, -EOPNOTSUPP,
			   "%s: program '%s' is of type %s, which takes no packets; run gives "
			   "packets to xdp, tc, socket filter, cgroup skb and lwt programs",
			   path, bpf_program__name(p), name ? name : "unknown");
}

/* bpf_trace_printk's output goes to this file from now on, as it comes. */
static int trace_open(const char *path, struct report *r)
{
	int fd;

	if (!path)
		return 0;
	if (outfile_check(path, r))
		return -EINVAL;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return outfile_failed(path, -errno, r);
	trace_set_fd(fd); /* open until the process ends */
	return 0;
}

/* What to say when what runs was not verified, to be freed; else NULL. */
static char *warning_of(const char *path, const struct bpf_program *p)
{
	char *text = NULL;

	if (!prog_is_verified(p) &&
	    asprintf(&text,
		     "%s: program '%s' is not verified (--unverified); run only what you trust",
		     path, bpf_program__name(p)) < 0)
		return NULL;
	return text;
}

/*
 * Nothing that is read gets overwritten. -o may name the capture: it is replaced when all is read.
 */
static int spare_inputs(const struct run_values *v, const char *object, struct report *r)
{
	int err = v->out ? outfile_spares(v->out, object, r) : 0;

	if (!err && v->out)
		err = outfile_spares(v->out, v->map_file, r);
	if (err || !v->trace)
		return err;
	err = outfile_spares(v->trace, object, r);
	if (!err)
		err = outfile_spares(v->trace, v->in, r);
	if (!err)
		err = outfile_spares(v->trace, v->map_file, r);
	return err;
}

/* The loaded program on the capture, and what came out of it. */
static int run_loaded(const struct run_values *v, const char *path, struct bpf_object *o,
		      const struct bpf_program *p, struct report *r)
{
	struct packets_job job = { .prog_fd = bpf_program__fd(p),
				   .prog_type = bpf_program__type(p),
				   .in = v->in ? v->in : "-",
				   .out = v->out,
				   .repeat = v->repeat ? v->repeat : 1 };
	struct packets_result result;
	struct events events;
	char *warning;
	int err = events_open(o, v->types.at, v->types.n, r, &events);

	if (err)
		return err;
	job.events = &events;
	err = trace_open(v->trace, r);
	if (err) {
		events_close(&events);
		return err;
	}
	job.warning = warning = warning_of(path, p);
	err = packets_run(&job, r, &result);
	if (!err)
		result_print(&(struct result_view){ path, o, p, &job, &result, &events, v->all },
			     v->json);
	packets_free(&result);
	events_close(&events);
	free(warning);
	return err;
}

static int run_object(const struct run_values *v, const char *path, struct report *r)
{
	struct bpf_object *o;
	struct bpf_program *p;
	int err = object_open(path, r, &o);

	if (err)
		return err;
	err = object_find_prog(path, o, v->prog, r, &p);
	if (!err)
		err = check_type(path, p, r);
	if (!err)
		err = load(v, path, o, r);
	if (!err) {
		maps_touch(o);
		err = run_loaded(v, path, o, p, r);
	}
	bpf_object__close(o);
	return err;
}

static bool reads_stdin(const struct run_values *v)
{
	return !v->in || strcmp(v->in, "-") == 0;
}

static int run(const void *values, char **args, unsigned n)
{
	const struct run_values *v = values;
	struct report r = { 0 };
	int err;

	(void)n;
	if (!v->in && isatty(STDIN_FILENO))
		return ui_unable("run: no capture given; say -i FILE");
	if (v->repeat > 1 && reads_stdin(v))
		return ui_unable("run: standard input cannot be repeated; say -i FILE");
	err = spare_inputs(v, args[0], &r);
	if (!err)
		err = load_opts_set(&v->load, &r);
	if (!err)
		err = run_object(v, args[0], &r);
	if (err)
		ui_unable("%s", r.text ? r.text : strerror(-err));
	report_free(&r);
	return err ? EXIT_UNABLE : 0;
}

const struct command command_run = {
	.name = "run",
	.args = "OBJECT",
	.line = "Runs a program of a BPF object on each packet of a capture",
	.about = "Prints packets by verdict, the time that they took, and the maps.",
	.example = "Example: skep run xdp_firewall.bpf.o -i in.pcap -o passed.pcap \\\n"
		   "             --map 'deny4 24,198.51.100.0 0' --type drops=drop",
	.opts = run_opts,
	.n_opts = sizeof(run_opts) / sizeof(run_opts[0]),
	.min_args = 1,
	.max_args = 1,
	.run = run,
	.values_size = sizeof(struct run_values),
};
