/* SPDX-License-Identifier: BSD-2-Clause */
/* References that are given back after a grace period: programs run inside RCU read sections. */
#include <pthread.h>
#include <urcu-bp.h>

#include "base/mem.h"
#include "map/impl.h"

struct defer {
	struct rcu_head head;
	struct obj *obj;
};

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void fork_prepare(void)
{
	urcu_bp_call_rcu_before_fork();
}

static void fork_parent(void)
{
	urcu_bp_call_rcu_after_fork_parent();
}

static void fork_child(void)
{
	urcu_bp_call_rcu_after_fork_child();
}

static void fork_handlers(void)
{
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}

struct defer *defer_new(void)
{
	pthread_once(&fork_once, fork_handlers);
	return mem_zalloc(1, sizeof(struct defer));
}

static void defer_run(struct rcu_head *head)
{
	struct defer *d = obj_of(head, struct defer, head);

	obj_put(d->obj);
	mem_free(d);
}

void defer_put(struct defer *d, struct obj *o)
{
	d->obj = o;
	urcu_bp_call_rcu(&d->head, defer_run);
}

void defer_free(struct defer *d)
{
	mem_free(d);
}
