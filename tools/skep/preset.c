/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/preset.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "skep/command.h"
#include "skep/maps.h"
#include "skep/value.h"

struct names {
	const char *at[256];
	size_t n;
};

static const char *name_at(const void *ctx, size_t i)
{
	return ((const struct names *)ctx)->at[i];
}

static void add_name(struct names *names, const char *name)
{
	if (names->n < sizeof(names->at) / sizeof(names->at[0]))
		names->at[names->n++] = name;
}

/* "a, b, c", cut to the buffer. */
static void list_names(const struct names *names, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = 0;
	for (size_t i = 0; i < names->n && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? ", " : "", names->at[i]);
}

static int not_found(const struct names *names, const char *where, const char *kind,
		     const char *name, struct report *r)
{
	const char *guess = suggest(name, names->n, name_at, names);
	char all[512];

	if (guess)
		return report_fail(r, -ENOENT, "%s: no %s '%s'; did you mean '%s'?", where, kind,
				   name, guess);
	if (!names->n)
		return report_fail(r, -ENOENT, "%s: no %s '%s'; the object has none", where, kind,
				   name);
	list_names(names, all, sizeof(all));
	return report_fail(r, -ENOENT, "%s: no %s '%s'; the object has: %s", where, kind, name,
			   all);
}

/* Writes the variable of one section if it is there. 1: done, 0: not here, or -errno. */
static int set_in_section(struct bpf_map *m, const struct btf *btf, const char *name,
			  const char *value, struct names *names, struct report *r)
{
	const struct btf_type *section = btf__type_by_id(btf, bpf_map__btf_value_type_id(m));
	const struct btf_var_secinfo *v;
	size_t size;
	char *mem = (char *)bpf_map__initial_value(m, &size);

	if (!section || !btf_is_datasec(section) || !mem)
		return 0;
	v = btf_var_secinfos(section);
	for (uint32_t i = 0; i < btf_vlen(section); i++, v++) {
		const struct btf_type *var = btf__type_by_id(btf, v->type);
		const char *own = btf__name_by_offset(btf, var->name_off);

		add_name(names, own);
		if (strcmp(own, name) != 0 || v->offset + v->size > size)
			continue;
		return value_parse(&(struct value_type){ btf, var->type, v->size }, value, name, r,
				   mem + v->offset)
			   ?: 1;
	}
	return 0;
}

int preset_variable(struct bpf_object *o, const char *text, struct report *r)
{
	const struct btf *btf = bpf_object__btf(o);
	const char *eq = strchr(text, '=');
	struct names names = { .n = 0 };
	struct bpf_map *m;
	char name[128];
	int got;

	if (!eq || eq == text)
		return report_fail(r, -EINVAL, "--set '%s': expected VARIABLE=VALUE", text);
	snprintf(name, sizeof(name), "%.*s", (int)(eq - text), text);
	if (!btf)
		return report_fail(r, -ENOENT, "--set %s: the object has no BTF to find it by",
				   name);
	bpf_object__for_each_map(m, o)
	{
		if (!bpf_map__is_internal(m))
			continue;
		got = set_in_section(m, btf, name, eq + 1, &names, r);
		if (got)
			return got < 0 ? got : 0;
	}
	return not_found(&names, "--set", "variable", name, r);
}

static struct bpf_map *find_map(struct bpf_object *o, const char *name, const char *where,
				struct report *r)
{
	struct names names = { .n = 0 };
	struct bpf_map *m;

	bpf_object__for_each_map(m, o)
	{
		if (strcmp(bpf_map__name(m), name) == 0)
			return m;
		add_name(&names, bpf_map__name(m));
	}
	not_found(&names, where, "map", name, r);
	return NULL;
}

/* The value, once for each slot in per-CPU maps. */
static void *spread(const struct map_view *v, const void *value)
{
	char *all = mem_zalloc(v->slots, v->slot_size);

	for (unsigned i = 0; all && i < v->slots; i++)
		memcpy(all + i * (size_t)v->slot_size, value, v->value.size);
	return all;
}

static int write_entry(const struct map_view *v, const char *key_text, const char *value_text,
		       const char *where, struct report *r)
{
	void *key = mem_zalloc(1, v->key.size + 1), *value = mem_zalloc(1, v->value.size + 1);
	void *all = NULL;
	int err = key && value ? 0 : -ENOMEM;

	if (!err)
		err = value_parse(&v->key, key_text, where, r, key);
	if (!err)
		err = value_parse(&v->value, value_text, where, r, value);
	if (!err) {
		all = spread(v, value);
		err = !all ? -ENOMEM : bpf_map_update_elem(v->fd, key, all, BPF_ANY);
		if (err)
			report_fail(r, err, "%s: map '%s' takes no such entry: %s", where, v->name,
				    strerror(-err));
	}
	mem_free(key);
	mem_free(value);
	mem_free(all);
	return err;
}

int preset_entry(struct bpf_object *o, const char *text, const char *where, struct report *r)
{
	char name[128], key[1024], value[4096], rest;
	struct map_view v;
	struct bpf_map *m;

	if (sscanf(text, "%127s %1023s %4095s %c", name, key, value, &rest) != 3)
		return report_fail(r, -EINVAL, "%s: '%s': expected MAP KEY VALUE", where, text);
	m = find_map(o, name, where, r);
	if (!m)
		return -ENOENT;
	map_view(m, bpf_object__btf(o), &v);
	if (!v.plain)
		return report_fail(r, -EINVAL,
				   "%s: map '%s' (%s) holds no values that can be given", where,
				   name, v.type_name);
	return write_entry(&v, key, value, where, r);
}

int preset_file(struct bpf_object *o, const char *path, struct report *r)
{
	FILE *f = fopen(path, "re");
	char *line = NULL, where[4200];
	size_t cap = 0;
	int err = 0;

	if (!f)
		return report_fail(r, -errno, "%s: %s", path, strerror(errno));
	for (unsigned n = 1; !err && getline(&line, &cap, f) >= 0; n++) {
		line[strcspn(line, "\r\n")] = 0;
		if (line[strspn(line, " \t")] == 0 || line[strspn(line, " \t")] == '#')
			continue;
		snprintf(where, sizeof(where), "%s:%u", path, n);
		err = preset_entry(o, line, where, r);
	}
	if (!err && ferror(f))
		err = report_fail(r, -EIO, "%s: %s", path, strerror(errno));
	free(line);
	fclose(f);
	return err;
}
