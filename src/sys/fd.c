/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <urcu-bp.h>

#include "base/vec.h"
#include "map/map.h"
#include "run/slot.h"

/* Locks lie far behind any content: one shared byte that readable descriptors lock, then a byte
 * for each write-only descriptor, which can only take an exclusive lock. */
enum { KINDS = OBJ_STATS + 1 };
static const off_t LOCK_AT = 1ll << 60;

struct row {
	dev_t dev;
	ino_t ino;
	int fd;	     /* the registry's description */
	bool own_fd; /* to be closed with the row */
	bool left;   /* what is to do when the last client left has been done */
	uint32_t pins;
	struct obj *obj, *also;
	struct row *next; /* in the list of the dead */
};

/* Rows by inode; open addressing, never more than half full. Read under rcu_read_lock. A row that
 * went leaves `grave` in its slot, so that chains of probes stay whole. */
struct table {
	size_t mask, used; /* slots that are not NULL */
	struct row *slot[];
};

static struct row grave;

static struct {
	pthread_mutex_t lock;
	struct table *table;
	VEC(struct row *) rows[KINDS]; /* by ascending id */
	uint32_t last_id[KINDS];
	size_t n, reap_at;
	bool modes; /* some descriptor is only for reading, or only for writing */
} reg = { .lock = PTHREAD_MUTEX_INITIALIZER, .reap_at = 64 };

static size_t hash(dev_t dev, ino_t ino)
{
	uint64_t x = (uint64_t)ino * 0x9e3779b97f4a7c15ull + (uint64_t)dev;

	return (size_t)(x ^ x >> 32);
}

static struct row *table_find(const struct table *t, dev_t dev, ino_t ino)
{
	struct row *r;

	if (!t)
		return NULL;
	for (size_t i = hash(dev, ino) & t->mask; (r = rcu_dereference(t->slot[i]));
	     i = (i + 1) & t->mask) {
		if (r->ino == ino && r->dev == dev)
			return r;
	}
	return NULL;
}

static void table_put(struct table *t, struct row *r)
{
	size_t i = hash(r->dev, r->ino) & t->mask;

	while (t->slot[i])
		i = (i + 1) & t->mask;
	t->used++;
	rcu_assign_pointer(t->slot[i], r);
}

static void table_drop(struct table *t, struct row *r)
{
	size_t i = hash(r->dev, r->ino) & t->mask;

	while (t->slot[i] != r)
		i = (i + 1) & t->mask;
	rcu_assign_pointer(t->slot[i], &grave);
}

/* Makes room for one more row: a table of all rows, twice as large as they need. */
static int table_grow(void)
{
	struct table *old = reg.table, *t;
	size_t cap = 64;

	if (old && 2 * (old->used + 1) <= old->mask + 1)
		return 0;
	while (cap < 4 * (reg.n + 1))
		cap *= 2;
	t = mem_zalloc(1, sizeof(*t) + cap * sizeof(t->slot[0]));
	if (!t)
		return -ENOMEM;
	t->mask = cap - 1;
	for (unsigned k = 0; k < KINDS; k++) {
		for (size_t i = 0; i < reg.rows[k].n; i++)
			table_put(t, reg.rows[k].at[i]);
	}
	rcu_assign_pointer(reg.table, t);
	synchronize_rcu();
	mem_free(old);
	return 0;
}

/* Index of the first row with an id above `after`. */
static size_t rows_above(enum obj_kind kind, uint32_t after)
{
	size_t lo = 0, hi = reg.rows[kind].n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (reg.rows[kind].at[mid]->obj->id > after)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static struct row *row_by_id(enum obj_kind kind, uint32_t id)
{
	size_t i = id ? rows_above(kind, id - 1) : reg.rows[kind].n;
	struct row *r = i < reg.rows[kind].n ? reg.rows[kind].at[i] : NULL;

	return r && r->obj->id == id ? r : NULL;
}

static bool row_has_client(const struct row *r)
{
	struct flock any = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_AT };

	return r->pins || fcntl(r->fd, F_OFD_GETLK, &any) || any.l_type != F_UNLCK;
}

/* A PROG_ARRAY loses its programs with its last client, since they may hold the array in turn. */
static void map_left(struct map *m)
{
	if (m->desc.type == BPF_MAP_TYPE_PROG_ARRAY)
		map_drop_refs(m);
}

static bool row_is_dead(struct row *r)
{
	if (row_has_client(r))
		return false;
	if (!r->left && r->obj->kind == OBJ_MAP)
		map_left(map_of(r->obj));
	r->left = true;
	return __atomic_load_n(&r->obj->refs, __ATOMIC_ACQUIRE) == 1;
}

static void row_free(struct row *r)
{
	if (r->own_fd)
		close(r->fd);
	obj_put(r->obj);
	obj_put(r->also);
	mem_free(r);
}

/* Takes the dead rows of one kind out of the registry and puts them before `dead`. */
static struct row *rows_bury(unsigned kind, struct row *dead)
{
	size_t kept = 0;

	for (size_t i = 0; i < reg.rows[kind].n; i++) {
		struct row *r = reg.rows[kind].at[i];

		if (!row_is_dead(r)) {
			reg.rows[kind].at[kept++] = r;
			continue;
		}
		table_drop(reg.table, r);
		r->next = dead;
		dead = r;
		reg.n--;
	}
	reg.rows[kind].n = kept;
	return dead;
}

/* One round: rows whose object nobody but the registry holds. What these held may be free in the
 * next round. Returns whether any went. */
static bool reap_round(void)
{
	struct row *dead = NULL, *next;
	bool any;

	pthread_mutex_lock(&reg.lock);
	for (unsigned k = 0; k < KINDS; k++)
		dead = rows_bury(k, dead);
	reg.reap_at = 2 * reg.n + 64;
	pthread_mutex_unlock(&reg.lock);
	any = dead != NULL;
	if (any)
		synchronize_rcu();
	for (; dead; dead = next) {
		next = dead->next;
		row_free(dead);
	}
	return any;
}

void fd_reap(void)
{
	while (reap_round())
		;
}

static void fork_lock(void)
{
	pthread_mutex_lock(&reg.lock);
}

static void fork_unlock(void)
{
	pthread_mutex_unlock(&reg.lock);
}

/* Handlers before fork run in the reverse order: this lock comes first, since who holds it may wait
 * for a grace period; run/slot.c's, which keep grace periods from ending, come last. */
static void fork_setup(void)
{
	slot_init();
	pthread_atfork(fork_lock, fork_unlock, fork_unlock);
}

static const char *kind_name(enum obj_kind kind)
{
	static const char *const names[KINDS] = {
		[OBJ_MAP] = "bpf-map",	 [OBJ_PROG] = "bpf-prog", [OBJ_BTF] = "btf",
		[OBJ_LINK] = "bpf-link", [OBJ_PERF] = "bpf-perf", [OBJ_STATS] = "bpf-stats"
	};

	return names[kind];
}

static int row_new(struct obj *o, int memfd, struct obj *also, struct row **out)
{
	struct row *r = mem_zalloc(1, sizeof(*r));
	struct stat st;

	if (!r)
		return -ENOMEM;
	r->own_fd = memfd < 0;
	r->fd = r->own_fd ? memfd_create(kind_name(o->kind), MFD_CLOEXEC) : memfd;
	if (r->fd < 0 || fstat(r->fd, &st)) {
		int err = -errno;

		mem_free(r);
		return err;
	}
	r->dev = st.st_dev;
	r->ino = st.st_ino;
	r->also = also;
	*out = r;
	return 0;
}

/* Under the lock. The id is known to readers before the row is. */
static int row_insert(struct row *r, struct obj *o)
{
	int err = table_grow();

	if (!err)
		err = vec_reserve(&reg.rows[o->kind], 1);
	if (err)
		return err;
	r->obj = obj_get(o);
	o->id = ++reg.last_id[o->kind];
	if (o->kind == OBJ_MAP)
		map_of(o)->desc.id = o->id;
	reg.rows[o->kind].at[reg.rows[o->kind].n++] = r;
	table_put(reg.table, r);
	reg.n++;
	return 0;
}

int fd_register(struct obj *o, int memfd, struct obj *also)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct row *r = NULL;
	int err = row_new(o, memfd, also, &r);

	if (err)
		return err;
	pthread_once(&once, fork_setup);
	if (__atomic_load_n(&reg.n, __ATOMIC_RELAXED) >= reg.reap_at)
		fd_reap();
	pthread_mutex_lock(&reg.lock);
	err = row_insert(r, o);
	pthread_mutex_unlock(&reg.lock);
	if (err) {
		if (r->own_fd)
			close(r->fd);
		mem_free(r);
	}
	return err;
}

/* A new description of the inode behind fd, with its lock taken. */
static int client_open(int fd, int mode, uint32_t serial)
{
	struct flock lock = { .l_type = mode == O_WRONLY ? F_WRLCK : F_RDLCK,
			      .l_whence = SEEK_SET,
			      .l_start = LOCK_AT + (mode == O_WRONLY ? 1 + (off_t)serial : 0),
			      .l_len = 1 };
	char path[40];
	int client;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (mode != O_RDWR)
		__atomic_store_n(&reg.modes, true, __ATOMIC_RELAXED);
	client = open(path, mode | O_CLOEXEC);
	if (client < 0)
		return -errno;
	if (fcntl(client, F_OFD_SETLK, &lock)) {
		int err = -errno;

		close(client);
		return err;
	}
	return client;
}

int fd_open(struct obj *o, int mode)
{
	static uint32_t serial;
	struct row *r;
	int fd = -ENOENT;

	pthread_mutex_lock(&reg.lock);
	r = row_by_id(o->kind, o->id);
	if (r) {
		fd = client_open(r->fd, mode, serial++);
		r->left = false;
	}
	pthread_mutex_unlock(&reg.lock);
	return fd;
}

int fd_new(struct obj *o)
{
	return fd_open(o, O_RDWR);
}

int fd_publish(struct obj *o, int memfd, struct obj *also)
{
	int fd = fd_register(o, memfd, also);

	if (fd)
		obj_put(also);
	else
		fd = fd_new(o);
	obj_put(o);
	return fd;
}

int fd_get(int fd, enum obj_kind kind, struct obj **out)
{
	struct stat st;
	struct row *r;

	if (fstat(fd, &st))
		return -EBADF;
	rcu_read_lock();
	r = table_find(rcu_dereference(reg.table), st.st_dev, st.st_ino);
	if (r && (!kind || r->obj->kind == kind))
		*out = obj_get(r->obj);
	else
		r = NULL;
	rcu_read_unlock();
	return r ? 0 : -EINVAL;
}

struct obj *fd_obj(int fd, enum obj_kind kind)
{
	struct obj *o = NULL;

	return fd_get(fd, kind, &o) ? NULL : o;
}

int fd_get_for(int fd, enum obj_kind kind, bool read, bool write, struct obj **out)
{
	int err = fd_get(fd, kind, out), mode;

	if (err || !__atomic_load_n(&reg.modes, __ATOMIC_RELAXED))
		return err;
	mode = fcntl(fd, F_GETFL) & O_ACCMODE;
	if ((!read || mode != O_WRONLY) && (!write || mode != O_RDONLY))
		return 0;
	obj_put(*out);
	*out = NULL;
	return -EPERM;
}

struct obj *fd_by_id(enum obj_kind kind, uint32_t id)
{
	struct obj *o = NULL;
	struct row *r;

	fd_reap();
	pthread_mutex_lock(&reg.lock);
	r = row_by_id(kind, id);
	if (r)
		o = obj_get(r->obj);
	pthread_mutex_unlock(&reg.lock);
	return o;
}

uint32_t fd_next_id(enum obj_kind kind, uint32_t after)
{
	uint32_t id = 0;
	size_t i;

	fd_reap();
	pthread_mutex_lock(&reg.lock);
	i = rows_above(kind, after);
	if (i < reg.rows[kind].n)
		id = reg.rows[kind].at[i]->obj->id;
	pthread_mutex_unlock(&reg.lock);
	return id;
}

void fd_pinned(struct obj *o, int by)
{
	struct row *r;

	pthread_mutex_lock(&reg.lock);
	r = row_by_id(o->kind, o->id);
	if (r)
		r->pins += (uint32_t)by;
	pthread_mutex_unlock(&reg.lock);
}
