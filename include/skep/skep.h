/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * skep: BPF in user space. The whole engine stands behind one call with the meaning of bpf(2);
 * the rest of this header is convenience above it.
 */
#ifndef SKEP_SKEP_H
#define SKEP_SKEP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SKEP_API __attribute__((visibility("default")))

union bpf_attr;

/*
 * Does what bpf(2) does in Linux 6.12, for the commands that docs/compat.md lists. `attr` may be
 * shorter (its missing tail counts as zero) or longer (bytes beyond what skep knows must be zero,
 * else E2BIG) than this header's union. File descriptors are real: close(2), dup(2) and fork(2)
 * work on them. Returns a result >= 0, or -1 with errno set. Any thread, no locks held.
 */
SKEP_API int skep_bpf(int cmd, union bpf_attr *attr, unsigned size);

/*
 * What PROG_LOAD has no attributes for. `size` is sizeof(struct skep_load_opts); fields that the
 * library does not know must be zero (E2BIG).
 */
struct skep_load_opts {
	size_t size;
	/*
	 * Not 0: loads without verification. Only the program's structure is checked, and that
	 * what it calls is there: a program that is wrong may do anything to the process. For
	 * programs that were verified elsewhere, and for those that the verifier cannot judge yet.
	 */
	int unverified;
};

/* skep_bpf(BPF_PROG_LOAD, attr, size) with options; opts may be NULL. */
SKEP_API int skep_prog_load(union bpf_attr *attr, unsigned size, const struct skep_load_opts *opts);

/*
 * 1 when the verifier accepted the program behind prog_fd, 0 when it was loaded with
 * skep_load_opts.unverified, -1 with errno EBADF or EINVAL.
 */
SKEP_API int skep_prog_verified(int prog_fd);

/*
 * A loaded program, to be run. It stays loaded while there is a handle, whatever happens to the
 * file descriptors. NULL with errno EBADF or EINVAL. Given back with skep_prog_put (NULL allowed).
 */
struct skep_prog;
SKEP_API struct skep_prog *skep_prog_get(int prog_fd);
SKEP_API void skep_prog_put(struct skep_prog *prog);

/*
 * Runs the program with r1 = ctx and returns r0. ctx is what programs of this type expect
 * (<linux/bpf.h>: struct xdp_md, struct __sk_buff, ...); programs that move or measure packets
 * must be run with BPF_PROG_TEST_RUN, which makes a complete context. Any thread; runs of several
 * threads do not wait for each other while there are no more threads than CPUs. May be called in a
 * signal handler, by a thread that has run something before: when that interrupts a run, it takes
 * place on another CPU of skep's. When all of these are held by runs that were interrupted in the
 * same way, it does not take place: 0 is returned and the program's recursion_misses count it.
 */
SKEP_API uint64_t skep_prog_run(struct skep_prog *prog, void *ctx);

/*
 * Maps a part of a map's memory as mmap(2) of its descriptor does in the kernel, ring buffers'
 * doubled data pages included. NULL with errno. Unmapped with munmap(2).
 */
SKEP_API void *skep_map_mmap(int map_fd, uint64_t offset, size_t length, int prot);

/*
 * An eventfd that becomes readable when a ring buffer has a record; it belongs to the map, and is
 * to be polled edge-triggered and not read. -1 with errno EINVAL for other maps.
 */
SKEP_API int skep_map_event_fd(int map_fd);

/* "0.1.0" */
SKEP_API const char *skep_version(void);

#ifdef __cplusplus
}
#endif

#endif
