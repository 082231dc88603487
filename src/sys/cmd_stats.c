/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/bpf.h>

#include "base/mem.h"
#include "run/prog.h"
#include "sys/cmd.h"
#include "sys/fd.h"

/* Statistics are on as long as a descriptor of this object is open. */
static void stats_free(struct obj *o)
{
	prog_stats_enable(-1);
	mem_free(o);
}

int cmd_enable_stats(union attr *attr, const struct call *call)
{
	struct obj *o;

	if (attr->enable_stats.type != BPF_STATS_RUN_TIME)
		return -EINVAL;
	o = mem_zalloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	obj_init(o, OBJ_STATS, stats_free);
	prog_stats_enable(1);
	return fd_publish(o, -1, NULL);
}
