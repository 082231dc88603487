/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encoders of x86-64 instructions. Each row of insn.def is one function; its form says which
 * arguments it takes. Widths are 0 (32 bits) or 1 (64 bits). An argument that does not fit its
 * field makes the builder's error, and `ud2` is emitted in its place.
 */
#ifndef SKEP_JIT_X86_64_INSN_H
#define SKEP_JIT_X86_64_INSN_H

#include "jit/target.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

enum x_insn {
#define INSN(name, ...) X_##name,
#include "jit/x86_64/insn.def"
	X_COUNT
};

/* The operands of any form. */
struct x_args {
	unsigned w;				    /* 1: 64 bits, where the row takes a width */
	unsigned reg, rm, base, index, scale, vreg; /* scale: log2 */
	int64_t disp, imm;
};

/* What a form has; FORM(name, fields, immediate). */
#define X_FORMS(FORM)                                                                              \
	FORM(RR, F_RM | F_REG, NONE)		     /* rm, reg */                                 \
	FORM(RRM, F_RM | F_REG | F_REG_FIRST, NONE)  /* reg, rm */                                 \
	FORM(R, F_RM, NONE)			     /* rm */                                      \
	FORM(RC, F_RM, NONE)			     /* rm, cl */                                  \
	FORM(RI8, F_RM, S8)			     /* rm, signed 8 bits */                       \
	FORM(RU8, F_RM, U8)			     /* rm, unsigned 8 bits */                     \
	FORM(RI32, F_RM, S32)			     /* rm, signed 32 bits */                      \
	FORM(AI32, F_ACC, S32)			     /* rax, signed 32 bits */                     \
	FORM(AU8, F_ACC, U8)			     /* al, unsigned 8 bits */                     \
	FORM(RRI8, F_RM | F_REG | F_REG_FIRST, S8)   /* reg, rm, imm */                            \
	FORM(RRI32, F_RM | F_REG | F_REG_FIRST, S32) /* reg, rm, imm */                            \
	FORM(O, F_OPREG, NONE)			     /* rm in the opcode */                        \
	FORM(OI32, F_OPREG, U32)		     /* rm in the opcode, unsigned 32 bits */      \
	FORM(OI64, F_OPREG, I64)		     /* rm in the opcode, 64 bits */               \
	FORM(RM, F_MEM | F_REG | F_REG_FIRST, NONE)  /* reg, [base + disp] */                      \
	FORM(MR, F_MEM | F_REG, NONE)		     /* [base + disp], reg */                      \
	FORM(MI8, F_MEM, S8)			     /* [base + disp], signed 8 bits */            \
	FORM(MI16, F_MEM, S16)			     /* [base + disp], signed 16 bits */           \
	FORM(MI32, F_MEM, S32)			     /* [base + disp], signed 32 bits */           \
	FORM(RMX, F_MEM | F_INDEX | F_REG | F_REG_FIRST,                                           \
	     NONE)				     /* reg, [base + index<<scale + disp] */       \
	FORM(RIP, F_RIP | F_REG | F_REG_FIRST, NONE) /* reg, [rip + disp] */                       \
	FORM(FS, F_FS | F_REG | F_REG_FIRST, NONE)   /* reg, fs:[disp] */                          \
	FORM(FSD, F_FS, NONE)			     /* fs:[disp] */                               \
	FORM(FSI8, F_FS, S8)			     /* fs:[disp], signed 8 bits */                \
	FORM(VEX, F_RM | F_REG | F_VREG | F_REG_FIRST, NONE) /* reg, rm, vreg */                   \
	FORM(Z, 0, NONE)				     /* nothing */

enum {
	F_RM = 1 << 0, /* a register in ModRM.rm */
	F_REG = 1 << 1,
	F_MEM = 1 << 2,
	F_INDEX = 1 << 3,
	F_OPREG = 1 << 4, /* register in the opcode's low bits, named rm */
	F_VREG = 1 << 5,
	F_FS = 1 << 6,
	F_RIP = 1 << 7,
	F_ACC = 1 << 8,	      /* rax, implied */
	F_REG_FIRST = 1 << 9, /* reg is the first operand of the text */
};

enum x_imm { IMM_NONE, IMM_S8, IMM_U8, IMM_S16, IMM_S32, IMM_U32, IMM_I64 };

enum x_form {
#define FORM(name, fields, imm) XF_##name,
	X_FORMS(FORM)
#undef FORM
};

enum {
	XW = 1 << 0,
	XQ = 1 << 1,
	XH = 1 << 2,
	XF2 = 1 << 3,
	XF3 = 1 << 4,
	XLOCK = 1 << 5,
};

struct x_form_row {
	uint16_t fields;
	uint8_t imm; /* enum x_imm */
};

struct x_row {
	const char *name, *text;
	uint8_t form, flags, digit;
	uint32_t opcode;
	uint8_t s1, s2; /* operand sizes in bytes; 0xff: by the width */
};

extern const struct x_form_row x_forms[];
extern const struct x_row x_rows[X_COUNT];

void x_put(struct builder *b, enum x_insn insn, const struct x_args *a);

#define A_RR(n, ...)                                                                               \
	static inline void x_##n(struct builder *b, unsigned w, unsigned rm, unsigned reg)         \
	{                                                                                          \
		x_put(b, X_##n, &(struct x_args){ .w = w, .rm = rm, .reg = reg });                 \
	}
#define A_RRM(n, ...)                                                                              \
	static inline void x_##n(struct builder *b, unsigned w, unsigned reg, unsigned rm)         \
	{                                                                                          \
		x_put(b, X_##n, &(struct x_args){ .w = w, .rm = rm, .reg = reg });                 \
	}
#define A_R(n, ...)                                                                                \
	static inline void x_##n(struct builder *b, unsigned w, unsigned rm)                       \
	{                                                                                          \
		x_put(b, X_##n, &(struct x_args){ .w = w, .rm = rm });                             \
	}
#define A_RI(n, ...)                                                                               \
	static inline void x_##n(struct builder *b, unsigned w, unsigned rm, int64_t imm)          \
	{                                                                                          \
		x_put(b, X_##n, &(struct x_args){ .w = w, .rm = rm, .imm = imm });                 \
	}
#define A_AI(n, ...)                                                                               \
	static inline void x_##n(struct builder *b, unsigned w, int64_t imm)                       \
	{                                                                                          \
		x_put(b, X_##n, &(struct x_args){ .w = w, .imm = imm });                           \
	}
#define A_RRI(n, ...)                                                                              \
	static inline void x_##n(struct builder *b, unsigned w, unsigned reg, unsigned rm,         \
				 int64_t imm)                                                      \
	{                                                                                          \
		x_put(b, X_##n, &(struct x_args){ .w = w, .reg = reg, .rm = rm, .imm = imm });     \
	}
#define A_RM(n, ...)                                                                               \
	static inline void x_##n(struct builder *b, unsigned w, unsigned reg, unsigned base,       \
				 int64_t disp)                                                     \
	{                                                                                          \
		x_put(b, X_##n,                                                                    \
		      &(struct x_args){ .w = w, .reg = reg, .base = base, .disp = disp });         \
	}
#define A_MI(n, ...)                                                                               \
	static inline void x_##n(struct builder *b, unsigned w, unsigned base, int64_t disp,       \
				 int64_t imm)                                                      \
	{                                                                                          \
		x_put(b, X_##n,                                                                    \
		      &(struct x_args){ .w = w, .base = base, .disp = disp, .imm = imm });         \
	}
#define A_RMX(n, ...)                                                                              \
	static inline void x_##n(struct builder *b, unsigned w, unsigned reg, unsigned base,       \
				 unsigned index, unsigned scale, int64_t disp)                     \
	{                                                                                          \
		x_put(b, X_##n,                                                                    \
		      &(struct x_args){ .w = w,                                                    \
					.reg = reg,                                                \
					.base = base,                                              \
					.index = index,                                            \
					.scale = scale,                                            \
					.disp = disp });                                           \
	}
#define A_RD(n, ...)                                                                               \
	static inline void x_##n(struct builder *b, unsigned reg, int64_t disp)                    \
	{                                                                                          \
		x_put(b, X_##n, &(struct x_args){ .reg = reg, .disp = disp });                     \
	}
#define A_FSD(n, ...)                                                                              \
	static inline void x_##n(struct builder *b, int64_t disp)                                  \
	{                                                                                          \
		x_put(b, X_##n, &(struct x_args){ .disp = disp });                                 \
	}
#define A_FSI8(n, ...)                                                                             \
	static inline void x_##n(struct builder *b, int64_t disp, int64_t imm)                     \
	{                                                                                          \
		x_put(b, X_##n, &(struct x_args){ .disp = disp, .imm = imm });                     \
	}
#define A_VEX(n, ...)                                                                              \
	static inline void x_##n(struct builder *b, unsigned w, unsigned reg, unsigned rm,         \
				 unsigned vreg)                                                    \
	{                                                                                          \
		x_put(b, X_##n, &(struct x_args){ .w = w, .reg = reg, .rm = rm, .vreg = vreg });   \
	}
#define A_Z(n, ...)                                                                                \
	static inline void x_##n(struct builder *b)                                                \
	{                                                                                          \
		x_put(b, X_##n, &(struct x_args){ 0 });                                            \
	}
#define A_RC		      A_R
#define A_O		      A_R
#define A_RI8		      A_RI
#define A_RU8		      A_RI
#define A_RI32		      A_RI
#define A_OI32		      A_RI
#define A_OI64		      A_RI
#define A_AI32		      A_AI
#define A_AU8		      A_AI
#define A_RRI8		      A_RRI
#define A_RRI32		      A_RRI
#define A_MR		      A_RM
#define A_MI8		      A_MI
#define A_MI16		      A_MI
#define A_MI32		      A_MI
#define A_RIP		      A_RD
#define A_FS		      A_RD
#define INSN(name, form, ...) A_##form(name)
#include "jit/x86_64/insn.def"

#endif
