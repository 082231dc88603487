/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <string.h>

#include "base/vec.h"
#include "sys/cmd.h"
#include "sys/fd.h"
#include "sys/pin.h"

enum { FLAG_PATH_FD = 1 << 14 };
static const char ROOT[] = "/sys/fs/bpf/";

struct pin {
	char *path;
	struct obj *obj;
};

static struct {
	pthread_mutex_t lock;
	VEC(struct pin) pins;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool pin_covers(const char *path)
{
	size_t n = sizeof(ROOT) - 2;

	return !strncmp(path, ROOT, n) && (!path[n] || path[n] == '/');
}

static struct pin *pin_find(const char *path)
{
	for (size_t i = 0; i < table.pins.n; i++) {
		if (!strcmp(table.pins.at[i].path, path))
			return &table.pins.at[i];
	}
	return NULL;
}

/* A path that bpffs would take for a new object: below the root, no dot in its last name. */
static int path_check(const char *path)
{
	const char *last = strrchr(path, '/');

	if (!pin_covers(path))
		return -EPERM;
	if (!last || !last[1] || strlen(path) < sizeof(ROOT))
		return -EEXIST;
	return strchr(last, '.') ? -EPERM : 0;
}

/* Under the lock. Takes over o's reference on success. */
static int pin_add(const char *path, struct obj *o)
{
	struct pin pin = { mem_strdup(path), o };

	if (!pin.path)
		return -ENOMEM;
	if (pin_find(path) || vec_push(&table.pins, pin)) {
		int err = pin_find(path) ? -EEXIST : -ENOMEM;

		mem_free(pin.path);
		return err;
	}
	fd_pinned(o, 1);
	return 0;
}

int pin_remove(const char *path)
{
	struct pin *pin, gone = { 0 };

	pthread_mutex_lock(&table.lock);
	pin = pin_find(path);
	if (pin) {
		gone = *pin;
		*pin = table.pins.at[--table.pins.n];
	}
	pthread_mutex_unlock(&table.lock);
	if (!gone.obj)
		return -ENOENT;
	fd_pinned(gone.obj, -1);
	obj_put(gone.obj);
	mem_free(gone.path);
	return 0;
}

static int pin_attr_check(const struct attr_obj *a, uint32_t flags)
{
	if (a->file_flags & ~(flags | FLAG_PATH_FD))
		return -EINVAL;
	if (!(a->file_flags & FLAG_PATH_FD) && a->path_fd)
		return -EINVAL;
	return 0;
}

static int path_read(const struct attr_obj *a, char path[PATH_MAX])
{
	int n = user_string(path, a->pathname, PATH_MAX);

	if (n < 0)
		return n == -E2BIG ? -ENAMETOOLONG : n;
	return n ? 0 : -ENOENT;
}

static bool pinnable(const struct obj *o)
{
	return o->kind == OBJ_MAP || o->kind == OBJ_PROG || o->kind == OBJ_LINK;
}

int cmd_obj_pin(union attr *attr, const struct call *call)
{
	char path[PATH_MAX];
	struct obj *o = NULL;
	int err = pin_attr_check(&attr->obj, 0);

	if (err || fd_get((int)attr->obj.bpf_fd, 0, &o))
		return -EINVAL;
	err = pinnable(o) ? path_read(&attr->obj, path) : -EINVAL;
	if (!err)
		err = path_check(path);
	if (!err) {
		pthread_mutex_lock(&table.lock);
		err = pin_add(path, o);
		pthread_mutex_unlock(&table.lock);
	}
	if (err)
		obj_put(o);
	return err;
}

int cmd_obj_get(union attr *attr, const struct call *call)
{
	char path[PATH_MAX];
	struct obj *o = NULL;
	struct pin *pin;
	int err = pin_attr_check(&attr->obj, BPF_F_RDONLY | BPF_F_WRONLY);
	int mode = flags_mode(attr->obj.file_flags);

	if (err || mode < 0 || attr->obj.bpf_fd)
		return -EINVAL;
	err = path_read(&attr->obj, path);
	if (err)
		return err;
	pthread_mutex_lock(&table.lock);
	pin = pin_find(path);
	if (pin)
		o = obj_get(pin->obj);
	pthread_mutex_unlock(&table.lock);
	if (!o)
		return pin_covers(path) ? -ENOENT : -EACCES;
	err = o->kind == OBJ_LINK && mode != O_RDWR
		  ? -EINVAL
		  : fd_open(o, o->kind == OBJ_MAP ? mode : O_RDWR);
	obj_put(o);
	return err;
}
