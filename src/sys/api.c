/* SPDX-License-Identifier: BSD-2-Clause */
/* The convenience above skep_bpf(). */
#include <errno.h>

#include "map/map.h"
#include "run/packet_run.h"
#include "skep/skep.h"
#include "sys/fd.h"

/* The object behind fd with a reference; NULL with errno. */
static struct obj *api_get(int fd, enum obj_kind kind)
{
	struct obj *o = NULL;
	int err = fd_get(fd, kind, &o);

	if (err)
		errno = -err;
	return o;
}

int skep_prog_verified(int prog_fd)
{
	struct obj *o = api_get(prog_fd, OBJ_PROG);
	int verified = o ? prog_of(o)->verified : -1;

	obj_put(o);
	return verified;
}

/* A handle is the program itself; the type is only a name outside. */
struct skep_prog *skep_prog_get(int prog_fd)
{
	struct obj *o = api_get(prog_fd, OBJ_PROG);

	return o ? (struct skep_prog *)prog_of(o) : NULL;
}

void skep_prog_put(struct skep_prog *prog)
{
	if (prog)
		obj_put(&((struct prog *)prog)->obj);
}

uint64_t skep_prog_run(struct skep_prog *prog, void *ctx)
{
	return packet_run_uapi((struct prog *)prog, ctx);
}

void *skep_map_mmap(int map_fd, uint64_t offset, size_t length, int prot)
{
	struct obj *o = api_get(map_fd, OBJ_MAP);
	void *at = NULL;
	int err;

	if (!o)
		return NULL;
	err = map_mmap(map_of(o), offset, length, prot, &at);
	obj_put(o);
	if (!err)
		return at;
	errno = -err;
	return NULL;
}

int skep_map_event_fd(int map_fd)
{
	struct obj *o = api_get(map_fd, OBJ_MAP);
	int fd = o ? map_of(o)->wake_fd : -1;

	if (o && fd < 0)
		errno = EINVAL;
	obj_put(o);
	return fd;
}

const char *skep_version(void)
{
	return SKEP_VERSION;
}
