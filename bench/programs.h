/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compute programs: one C source, compiled as BPF (compute.bpf.c) and natively by the C
 * compiler (compute_native.c). Each works on `d`, SIZE bytes that may be read and written, and
 * returns a number that depends on all its work. None needs a map or a helper, so the same
 * instructions run in skep and in the kernel.
 *
 * BENCH(name, body, what): body is a block that sees `d` and ends with a return.
 */
#ifndef SKEP_BENCH_PROGRAMS_H
#define SKEP_BENCH_PROGRAMS_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;
typedef int s32;

enum { SIZE = 1024 };

#define INLINE	 static inline __attribute__((always_inline))
#define NOUNROLL _Pragma("clang loop unroll(disable)")
#ifndef __clang__
#undef NOUNROLL
#define NOUNROLL
#endif

INLINE u32 rol32(u32 x, u32 n)
{
	return x << n | x >> (32 - n);
}

INLINE u64 rol64(u64 x, u32 n)
{
	return x << n | x >> (64 - n);
}

INLINE u32 get32(const u8 *d, u32 at)
{
	return *(const u32 *)(d + (at & (SIZE - 4)));
}

INLINE u64 get64(const u8 *d, u32 at)
{
	return *(const u64 *)(d + (at & (SIZE - 8)));
}

/* FNV-1a, a byte at a time. */
INLINE u64 bench_fnv1a(u8 *d)
{
	u64 h = 0xcbf29ce484222325ull;

	NOUNROLL for (u32 i = 0; i < 512; i++) h = (h ^ d[i]) * 0x100000001b3ull;
	return h;
}

/* Jenkins' one-at-a-time hash. */
INLINE u64 bench_jenkins(u8 *d)
{
	u32 h = 0;

	NOUNROLL for (u32 i = 0; i < 512; i++)
	{
		h += d[i];
		h += h << 10;
		h ^= h >> 6;
	}
	h += h << 3;
	h ^= h >> 11;
	return h + (h << 15);
}

/* A 64-bit hash in the manner of xxHash: wide loads, multiplications, rotations. */
INLINE u64 bench_xxh64(u8 *d)
{
	u64 a = 0x60ea27eeadc0b5d6ull, b = 0xc2b2ae3d27d4eb4full, c = 0, e = 0x61c8864e7a143579ull;

	NOUNROLL for (u32 i = 0; i < SIZE; i += 32)
	{
		a = rol64(a + get64(d, i) * 0xc2b2ae3d27d4eb4full, 31) * 0x9e3779b185ebca87ull;
		b = rol64(b + get64(d, i + 8) * 0xc2b2ae3d27d4eb4full, 31) * 0x9e3779b185ebca87ull;
		c = rol64(c + get64(d, i + 16) * 0xc2b2ae3d27d4eb4full, 31) * 0x9e3779b185ebca87ull;
		e = rol64(e + get64(d, i + 24) * 0xc2b2ae3d27d4eb4full, 31) * 0x9e3779b185ebca87ull;
	}
	return rol64(a, 1) + rol64(b, 7) + rol64(c, 12) + rol64(e, 18);
}

/* SipHash-2-4. */
#define SIPROUND                                                                                   \
	do {                                                                                       \
		v0 += v1, v1 = rol64(v1, 13), v1 ^= v0, v0 = rol64(v0, 32);                        \
		v2 += v3, v3 = rol64(v3, 16), v3 ^= v2;                                            \
		v0 += v3, v3 = rol64(v3, 21), v3 ^= v0;                                            \
		v2 += v1, v1 = rol64(v1, 17), v1 ^= v2, v2 = rol64(v2, 32);                        \
	} while (0)
INLINE u64 bench_siphash(u8 *d)
{
	u64 v0 = 0x736f6d6570736575ull, v1 = 0x646f72616e646f6dull;
	u64 v2 = 0x6c7967656e657261ull, v3 = 0x7465646279746573ull;

	NOUNROLL for (u32 i = 0; i < SIZE; i += 8)
	{
		u64 m = get64(d, i);

		v3 ^= m;
		SIPROUND;
		SIPROUND;
		v0 ^= m;
	}
	v2 ^= 0xff;
	SIPROUND;
	SIPROUND;
	SIPROUND;
	SIPROUND;
	return v0 ^ v1 ^ v2 ^ v3;
}

/* CRC-32, a bit at a time. */
INLINE u64 bench_crc32_bits(u8 *d)
{
	u32 crc = ~0u;

	NOUNROLL for (u32 i = 0; i < 64; i++)
	{
		crc ^= d[i];
		NOUNROLL for (u32 k = 0; k < 8; k++) crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
	}
	return ~crc;
}

/* CRC-32, a nibble at a time, with a table in registers' reach on the stack. */
INLINE u64 bench_crc32_nibble(u8 *d)
{
	u32 table[16], crc = ~0u;

	NOUNROLL for (u32 i = 0; i < 16; i++)
	{
		u32 c = i;

		for (u32 k = 0; k < 4; k++)
			c = c >> 1 ^ (0xedb88320u & -(c & 1));
		table[i] = c;
	}
	NOUNROLL for (u32 i = 0; i < 256; i++)
	{
		crc ^= d[i];
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

/* The Internet checksum over 16-bit words. */
INLINE u64 bench_inet_csum(u8 *d)
{
	u64 sum = 0;

	NOUNROLL for (u32 i = 0; i < SIZE; i += 2) sum += *(const u16 *)(d + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (u16)~sum;
}

/* Adler-32 with its modulo by a constant at each byte. */
INLINE u64 bench_adler32(u8 *d)
{
	u32 a = 1, b = 0;

	NOUNROLL for (u32 i = 0; i < 256; i++)
	{
		a = (a + d[i]) % 65521;
		b = (b + a) % 65521;
	}
	return (u64)b << 16 | a;
}

/* Nanoseconds to days, hours, minutes, seconds: divisions by constants. */
INLINE u64 bench_div_const(u8 *d)
{
	u64 sum = 0;

	NOUNROLL for (u32 i = 0; i < 512; i += 8)
	{
		u64 ns = get64(d, i), s = ns / 1000000000, us = ns % 1000000000 / 1000;

		sum += s / 86400 * 3 + s % 86400 / 3600 * 5 + s % 3600 / 60 * 7 + s % 60 + us;
	}
	return sum;
}

/* Divisions by values that are not known. */
INLINE u64 bench_div_var(u8 *d)
{
	u64 sum = 0;

	NOUNROLL for (u32 i = 0; i < 256; i += 8)
	{
		u64 x = get64(d, i);
		u32 y = get32(d, i + 256) | 1;

		sum += x / y + (u32)x % y;
	}
	return sum;
}

/* Population count, leading zeros and parity without instructions for them. */
INLINE u64 bench_bits(u8 *d)
{
	u64 sum = 0;

	NOUNROLL for (u32 i = 0; i < SIZE; i += 8)
	{
		u64 x = get64(d, i), y = x;

		x -= x >> 1 & 0x5555555555555555ull;
		x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
		x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
		sum += x * 0x0101010101010101ull >> 56;
		y ^= y >> 32, y ^= y >> 16, y ^= y >> 8, y ^= y >> 4;
		sum += 0x6996 >> (y & 15) & 1;
	}
	return sum;
}

/* Odd-even transposition sort of 24 numbers on the stack, without branches on the data. */
INLINE u64 bench_sort(u8 *d)
{
	u32 v[24];
	u64 sum = 0;

	NOUNROLL for (u32 i = 0; i < 24; i++) v[i] = get32(d, i * 4);
	NOUNROLL for (u32 round = 0; round < 24; round++)
	{
		NOUNROLL for (u32 i = round & 1; i + 1 < 24; i += 2)
		{
			s64 a = v[i], b = v[i + 1], less = (a - b) & (a - b) >> 63;

			v[i] = (u32)(b + less);
			v[i + 1] = (u32)(a - less);
		}
	}
	NOUNROLL for (u32 i = 0; i < 24; i++) sum = sum * 31 + v[i];
	return sum;
}

/* Binary search in a table of 128 steps, 64 times. */
INLINE u64 bench_search(u8 *d)
{
	u64 sum = 0;

	NOUNROLL for (u32 i = 0; i < 64; i++)
	{
		u32 key = (get32(d, i * 4) & 0xffff) * 3, low = 0;

		NOUNROLL for (u32 step = 64; step; step >>= 1)
		{
			u32 at = low + step;

			if (at * at * 12 <= key)
				low = at;
		}
		sum += low;
	}
	return sum;
}

/* A parser: type-length-value records with fields in network order, byte-wise as for packed
 * structures. */
INLINE u64 bench_tlv(u8 *d)
{
	u64 copy[18], sum = 0;
	u32 at = 0;

	NOUNROLL for (u32 i = 0; i < 18; i++) copy[i] = get64(d, i * 8);
	NOUNROLL for (u32 i = 0; i < 64; i++)
	{
		const u8 *p = (const u8 *)copy + (at & 127);
		u32 type = p[0] & 3, len = (p[1] & 15) + 2;
		u32 v = (u32)p[2] << 24 | (u32)p[3] << 16 | (u32)p[4] << 8 | p[5];

		if (type == 0)
			sum += v;
		else if (type == 1)
			sum ^= (u64)v << 16;
		else if (type == 2)
			sum -= v & 0xffff;
		at += len;
	}
	return sum;
}

/* Decimal numbers out of text. */
INLINE u64 bench_atoi(u8 *d)
{
	u64 sum = 0;
	u32 n = 0;

	NOUNROLL for (u32 i = 0; i < 512; i++)
	{
		u32 c = d[i] & 15;

		if (c < 10) {
			n = n * 10 + c;
		} else {
			sum += n;
			n = 0;
		}
	}
	return sum + n;
}

/* ChaCha20's block function: register pressure, rotations. */
#define QUARTER(a, b, c, e)                                                                        \
	do {                                                                                       \
		a += b, e = rol32(e ^ a, 16), c += e, b = rol32(b ^ c, 12);                        \
		a += b, e = rol32(e ^ a, 8), c += e, b = rol32(b ^ c, 7);                          \
	} while (0)
INLINE u64 bench_chacha(u8 *d)
{
	u32 x0 = 0x61707865, x1 = 0x3320646e, x2 = 0x79622d32, x3 = 0x6b206574;
	u32 x4 = get32(d, 0), x5 = get32(d, 4), x6 = get32(d, 8), x7 = get32(d, 12);
	u32 x8 = get32(d, 16), x9 = get32(d, 20), xa = get32(d, 24), xb = get32(d, 28);
	u32 xc = get32(d, 32), xd = get32(d, 36), xe = get32(d, 40), xf = get32(d, 44);

	NOUNROLL for (u32 i = 0; i < 10; i++)
	{
		QUARTER(x0, x4, x8, xc);
		QUARTER(x1, x5, x9, xd);
		QUARTER(x2, x6, xa, xe);
		QUARTER(x3, x7, xb, xf);
		QUARTER(x0, x5, xa, xf);
		QUARTER(x1, x6, xb, xc);
		QUARTER(x2, x7, x8, xd);
		QUARTER(x3, x4, x9, xe);
	}
	return (u64)(x0 ^ x5 ^ xa ^ xf) << 32 |
	       (u32)(x1 + x6 + xb + xc + x2 + x7 + x8 + xd + x3 + x4 + x9 + xe);
}

/* SHA-1's compression function over four blocks, its schedule on the stack. */
INLINE u64 bench_sha1(u8 *d)
{
	u32 h0 = 0x67452301, h1 = 0xefcdab89, h2 = 0x98badcfe, h3 = 0x10325476, h4 = 0xc3d2e1f0;
	u32 w[16];

	NOUNROLL for (u32 block = 0; block < 4; block++)
	{
		u32 a = h0, b = h1, c = h2, e = h3, f = h4;

		NOUNROLL for (u32 i = 0; i < 80; i++)
		{
			u32 k, g, x;

			if (i < 16)
				x = __builtin_bswap32(get32(d, block * 64 + i * 4));
			else
				x = rol32(w[(i + 13) & 15] ^ w[(i + 8) & 15] ^ w[(i + 2) & 15] ^
					      w[i & 15],
					  1);
			w[i & 15] = x;
			if (i < 20)
				g = (b & c) | (~b & e), k = 0x5a827999;
			else if (i < 40)
				g = b ^ c ^ e, k = 0x6ed9eba1;
			else if (i < 60)
				g = (b & c) | (b & e) | (c & e), k = 0x8f1bbcdc;
			else
				g = b ^ c ^ e, k = 0xca62c1d6;
			x += rol32(a, 5) + g + f + k;
			f = e, e = c, c = rol32(b, 30), b = a, a = x;
		}
		h0 += a, h1 += b, h2 += c, h3 += e, h4 += f;
	}
	return (u64)(h0 ^ h1 ^ h2) << 32 | (h3 ^ h4);
}

/* An 8 by 8 matrix product of bytes. */
INLINE u64 bench_matrix(u8 *d)
{
	u64 sum = 0;

	NOUNROLL for (u32 i = 0; i < 8; i++)
	{
		NOUNROLL for (u32 j = 0; j < 8; j++)
		{
			u32 dot = 0;

			for (u32 k = 0; k < 8; k++)
				dot += (u32)d[i * 8 + k] * d[64 + k * 8 + j];
			sum = sum * 5 + dot;
		}
	}
	return sum;
}

/* xorshift and LCG streams mixed. */
INLINE u64 bench_prng(u8 *d)
{
	u64 x = get64(d, 0) | 1, y = get64(d, 8);

	NOUNROLL for (u32 i = 0; i < 200; i++)
	{
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		y = y * 6364136223846793005ull + 1442695040888963407ull;
		x += rol64(y, (u32)(y >> 59) & 63 ? 27 : 31);
	}
	return x ^ y;
}

/* A function that the compiler may not inline, called 256 times. */
static __attribute__((noinline)) u64 mix_call(u64 a, u64 b)
{
	a ^= b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2);
	return a ^ a >> 29;
}

INLINE u64 bench_calls(u8 *d)
{
	u64 h = 0;

	NOUNROLL for (u32 i = 0; i < 256; i++) h = mix_call(h, d[i]);
	return h;
}

/* Rewrites headers in place: stores of packed fields, byte order. */
INLINE u64 bench_rewrite(u8 *d)
{
	u64 sum = 0;

	NOUNROLL for (u32 i = 0; i < 512; i += 16)
	{
		u8 *p = d + i;
		u32 src = __builtin_bswap32(*(u32 *)(p + 4));

		*(u32 *)(p + 4) = __builtin_bswap32(src + 1);
		*(u16 *)(p + 8) = __builtin_bswap16((u16)(src >> 8));
		p[10] = p[3];
		p[3] = (u8)src;
		sum += src;
	}
	return sum;
}

/* clang-format off */
#define BENCHES(X) \
	X(fnv1a) \
	X(jenkins) \
	X(xxh64) \
	X(siphash) \
	X(crc32_bits) \
	X(crc32_nibble) \
	X(inet_csum) \
	X(adler32) \
	X(div_const) \
	X(div_var) \
	X(bits) \
	X(sort) \
	X(search) \
	X(tlv) \
	X(atoi) \
	X(chacha) \
	X(sha1) \
	X(matrix) \
	X(prng) \
	X(calls) \
	X(rewrite)
/* clang-format on */

#endif
