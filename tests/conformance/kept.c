/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C ABI's promise about registers, checked: each callee-saved register holds a number of its
 * own while the function runs.
 */
#include "kept.h"

/* kept_raw(fn, args, bad): *bad becomes 1 when a register changed. */
uint64_t kept_raw(helper_fn fn, const uint64_t *args, uint32_t *bad);

#if defined(__x86_64__)
#define EACH(x)                                                                                    \
	x(rbx, 0x1101) x(rbp, 0x1102) x(r12, 0x1103) x(r13, 0x1104) x(r14, 0x1105) x(r15, 0x1106)
#define SET(reg, v)  "	movq	$" #v ", %" #reg "\n"
#define TEST(reg, v) "	cmpq	$" #v ", %" #reg "\n	jne	1f\n"
__asm__(
    ".text\n"
    ".type kept_raw, @function\n"
    "kept_raw:\n"
    "	pushq	%rbx\n	pushq	%rbp\n	pushq	%r12\n"
    "	pushq	%r13\n	pushq	%r14\n	pushq	%r15\n"
    "	pushq	%rdx\n"
    "	movq	%rdi, %rax\n	movq	%rsi, %r10\n"
    "	movq	(%r10), %rdi\n	movq	8(%r10), %rsi\n	movq	16(%r10), %rdx\n"
    "	movq	24(%r10), %rcx\n	movq	32(%r10), %r8\n" EACH(
	SET) "	call	*%rax\n" EACH(TEST) "	jmp	2f\n"
					    "1:	movq	(%rsp), %rdx\n	movl	$1, (%rdx)\n"
					    "2:	popq	%rdx\n"
					    "	popq	%r15\n	popq	%r14\n	popq	%r13\n"
					    "	popq	%r12\n	popq	%rbp\n	popq	%rbx\n"
					    "	ret\n"
					    ".size kept_raw, . - kept_raw\n");
#elif defined(__aarch64__)
#define EACH(x) x(19) x(20) x(21) x(22) x(23) x(24) x(25) x(26) x(27) x(28)
#define SET(n)	"	mov	x" #n ", #0x1100 + " #n "\n"
#define TEST(n) "	mov	x9, #0x1100 + " #n "\n	cmp	x" #n ", x9\n	b.ne	1f\n"
__asm__(".text\n"
	".type kept_raw, %function\n"
	"kept_raw:\n"
	"	stp	x29, x30, [sp, #-112]!\n"
	"	mov	x29, sp\n"
	"	stp	x19, x20, [sp, #16]\n	stp	x21, x22, [sp, #32]\n"
	"	stp	x23, x24, [sp, #48]\n	stp	x25, x26, [sp, #64]\n"
	"	stp	x27, x28, [sp, #80]\n	str	x2, [sp, #96]\n"
	"	mov	x9, x0\n	mov	x10, x1\n"
	"	ldp	x1, x2, [x10]\n	ldp	x3, x4, [x10, #16]\n	ldr	x5, [x10, "
	"#32]\n" EACH(SET) "	blr	x9\n" EACH(
	    TEST) "	mov	x9, sp\n	cmp	x9, x29\n	b.ne	1f\n"
		  "	b	2f\n"
		  "1:	ldr	x2, [x29, #96]\n	mov	w9, #1\n	str	w9, [x2]\n"
		  "2:	mov	sp, x29\n"
		  "	ldp	x19, x20, [sp, #16]\n	ldp	x21, x22, [sp, #32]\n"
		  "	ldp	x23, x24, [sp, #48]\n	ldp	x25, x26, [sp, #64]\n"
		  "	ldp	x27, x28, [sp, #80]\n"
		  "	ldp	x29, x30, [sp], #112\n"
		  "	ret\n"
		  ".size kept_raw, . - kept_raw\n");
#else
uint64_t kept_raw(helper_fn fn, const uint64_t *a, uint32_t *bad)
{
	return helper_call(fn, a[0], a[1], a[2], a[3], a[4]);
}
#endif

uint64_t kept_call(helper_fn fn, const uint64_t args[5], bool *kept)
{
	uint32_t bad = 0;
	const uint64_t r0 = kept_raw(fn, args, &bad);

	*kept = !bad;
	return r0;
}
