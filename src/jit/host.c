/* SPDX-License-Identifier: BSD-2-Clause */
#include "jit/host.h"

#include <stddef.h>
#include <ucontext.h>

#include "base/percpu.h"
#include "jit/target.h"

static __thread uint64_t tail_count __attribute__((tls_model("initial-exec")));

int64_t host_percpu_tp(void)
{
	return (char *)&percpu_self - (char *)__builtin_thread_pointer();
}

int64_t host_cpu_tp(void)
{
	return (char *)&percpu_cpu - (char *)__builtin_thread_pointer();
}

int64_t host_tail_tp(void)
{
	return (char *)&tail_count - (char *)__builtin_thread_pointer();
}

bool host_shows_anew(void)
{
#if defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

void host_sync(const void *p, uint64_t n)
{
	__builtin___clear_cache((char *)p, (char *)p + n);
}

#if defined(__x86_64__)
#include <cpuid.h>

const struct target *host_target(void)
{
	return &target_x86_64;
}

bool host_has(const struct host_cpuid *at)
{
	unsigned r[4] = { 0 };

	return __get_cpuid_count(at->leaf, 0, &r[0], &r[1], &r[2], &r[3]) &&
	       (r[at->reg] >> at->bit & 1);
}

uint64_t host_hwcap(unsigned word)
{
	return 0;
}

uintptr_t host_pc(const void *context)
{
	return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

void host_resume(void *context, uintptr_t pc, unsigned reg)
{
	static const int gregs[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
				       REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
				       REG_R12, REG_R13, REG_R14, REG_R15 };
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	r[REG_RIP] = (greg_t)pc;
	if (reg < 16)
		r[gregs[reg]] = 0;
}

#elif defined(__aarch64__)
#include <sys/auxv.h>

const struct target *host_target(void)
{
	return &target_arm64;
}

bool host_has(const struct host_cpuid *at)
{
	return false;
}

uint64_t host_hwcap(unsigned word)
{
	return getauxval(word ? AT_HWCAP2 : AT_HWCAP);
}

uintptr_t host_pc(const void *context)
{
	return ((const ucontext_t *)context)->uc_mcontext.pc;
}

void host_resume(void *context, uintptr_t pc, unsigned reg)
{
	mcontext_t *m = &((ucontext_t *)context)->uc_mcontext;

	m->pc = pc;
	if (reg < 31)
		m->regs[reg] = 0;
}

#else

const struct target *host_target(void)
{
	return NULL;
}

bool host_has(const struct host_cpuid *at)
{
	return false;
}

uint64_t host_hwcap(unsigned word)
{
	return 0;
}

uintptr_t host_pc(const void *context)
{
	return 0;
}

void host_resume(void *context, uintptr_t pc, unsigned reg)
{
}

#endif
