/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the user puts into an object before it runs: variables (before it is loaded) and map
 * entries (after). Texts are as value_parse takes them.
 */
#ifndef SKEP_TOOL_PRESET_H
#define SKEP_TOOL_PRESET_H

#include <bpf/libbpf.h>

struct report;

/* "VARIABLE=VALUE" for a global variable of the object, not loaded yet. 0 or -errno. */
int preset_variable(struct bpf_object *o, const char *text, struct report *r);

/* "MAP KEY VALUE": one entry; in per-CPU maps the value goes to every slot. 0 or -errno. `where`
 * begins messages. */
int preset_entry(struct bpf_object *o, const char *text, const char *where, struct report *r);

/* A file of such lines; blank ones and those that begin with # are skipped. */
int preset_file(struct bpf_object *o, const char *path, struct report *r);

#endif
