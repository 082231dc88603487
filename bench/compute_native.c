/* SPDX-License-Identifier: BSD-2-Clause */
/* programs.h as native code, by the build's C compiler with -O2 and without its vectoriser. */
#include "programs.h"

#define PROGRAM(name)                                                                              \
	u32 native_##name(u8 *d);                                                                  \
	u32 native_##name(u8 *d)                                                                   \
	{                                                                                          \
		u64 v = bench_##name(d);                                                           \
                                                                                                   \
		return (u32)(v ^ v >> 32);                                                         \
	}
BENCHES(PROGRAM)
