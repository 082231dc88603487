/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known only of the machine that runs this: host.c and image.c are the only files of jit/
 * that depend on it. Everything that makes code works the same everywhere.
 */
#ifndef SKEP_JIT_HOST_H
#define SKEP_JIT_HOST_H

#include <stdbool.h>
#include <stdint.h>

struct target;

/* The back end for this machine; NULL: there is none. */
const struct target *host_target(void);

/* Distance of percpu_self from the thread pointer, the same in every thread. */
int64_t host_percpu_tp(void);

/* ... of percpu_cpu. */
int64_t host_cpu_tp(void);

/* ... and of the count of tail calls, 8 bytes that generated code keeps. */
int64_t host_tail_tp(void);

enum host_reg { HOST_eax, HOST_ebx, HOST_ecx, HOST_edx };

struct host_cpuid {
	uint32_t leaf;
	uint8_t reg, bit; /* enum host_reg */
};

/* A bit of x86's cpuid; false on other machines. */
bool host_has(const struct host_cpuid *at);

/* Word 0 or 1 of arm64's capabilities (AT_HWCAP, AT_HWCAP2); 0 on other machines. */
uint64_t host_hwcap(unsigned word);

/* Program counter of a signal's ucontext_t. */
uintptr_t host_pc(const void *context);

/* Goes on at pc, with native register `reg` zero (0xff: none). */
void host_resume(void *context, uintptr_t pc, unsigned reg);

/* Whether what was written to a mapped file must be mapped again to be run: emulators of arm64 keep
 * what they have translated until the mapping changes. */
bool host_shows_anew(void);

/* The instruction side sees what was written to [p, p + n). */
void host_sync(const void *p, uint64_t n);

#endif
