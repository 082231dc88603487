/* SPDX-License-Identifier: BSD-2-Clause */
/* What `skep run` prints on standard output. */
#ifndef SKEP_TOOL_RESULT_H
#define SKEP_TOOL_RESULT_H

#include <stdbool.h>

struct bpf_object;
struct bpf_program;
struct events;
struct packets_job;
struct packets_result;

struct result_view {
	const char *path;
	struct bpf_object *object;
	const struct bpf_program *prog;
	const struct packets_job *job;
	const struct packets_result *packets;
	const struct events *events;
	bool all; /* entries of large maps */
};

/* Was the loaded program verified? Not with --unverified. */
bool prog_is_verified(const struct bpf_program *p);

/* As text for people, or as JSON (docs/run.md). */
void result_print(const struct result_view *v, bool json);

#endif
