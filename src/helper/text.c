/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers on strings and numbers, and copying from addresses that may be bad. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>

#include "base/reach.h"
#include "helper/impl.h"

int safe_copy(void *to, uint64_t from, size_t n)
{
	if (!reach_read(to, from, n))
		return 0;
	memset(to, 0, n);
	return -EFAULT;
}

/* Page by page: what follows the string may not be mapped. */
long safe_copy_str(char *to, uint64_t from, size_t n)
{
	size_t done = 0;

	while (done < n) {
		size_t step = 4096 - ((from + done) & 4095);
		const char *nul;

		step = step < n - done ? step : n - done;
		if (reach_read(to + done, from + done, step))
			return -EFAULT;
		nul = memchr(to + done, 0, step);
		if (nul)
			return nul - to + 1;
		done += step;
	}
	if (n)
		to[n - 1] = 0;
	return (long)n;
}

static uint64_t probe_str(uint64_t to, uint64_t n, uint64_t from)
{
	long ret = safe_copy_str(ptr_of(to), from, (uint32_t)n);

	if (ret < 0)
		memset(ptr_of(to), 0, (uint32_t)n);
	return (uint64_t)ret;
}

/* The old ones, which do not say whose memory it is. */
HELPER_FN(probe_read, r1, r2, r3, r4, r5)
{
	return helper_err(safe_copy(ptr_of(r1), r3, (uint32_t)r2));
}

HELPER_FN(probe_read_str, r1, r2, r3, r4, r5)
{
	return probe_str(r1, r2, r3);
}

HELPER_FN(probe_read_kernel, r1, r2, r3, r4, r5)
{
	return helper_err(safe_copy(ptr_of(r1), r3, (uint32_t)r2));
}

HELPER_FN(probe_read_user, r1, r2, r3, r4, r5)
{
	return helper_err(safe_copy(ptr_of(r1), r3, (uint32_t)r2));
}

HELPER_FN(copy_from_user, r1, r2, r3, r4, r5)
{
	return helper_err(safe_copy(ptr_of(r1), r3, (uint32_t)r2));
}

HELPER_FN(probe_read_kernel_str, r1, r2, r3, r4, r5)
{
	return probe_str(r1, r2, r3);
}

HELPER_FN(probe_read_user_str, r1, r2, r3, r4, r5)
{
	return probe_str(r1, r2, r3);
}

HELPER_FN(strncmp, r1, r2, r3, r4, r5)
{
	int c = strncmp(ptr_of(r1), ptr_of(r3), (uint32_t)r2);

	return helper_err((c > 0) - (c < 0));
}

/* A number in text, as a program hands it over: not NUL-terminated. */
struct number {
	uint64_t value;
	bool negative;
};

static unsigned radix_of(const char *s, unsigned base)
{
	if (base)
		return base;
	if (s[0] != '0')
		return 10;
	return tolower((unsigned char)s[1]) == 'x' && isxdigit((unsigned char)s[2]) ? 16 : 8;
}

static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : UINT_MAX;
}

/* Digits at s; how many there are, or -ERANGE. */
static int digits_read(const char *s, unsigned base, uint64_t *value)
{
	bool over = false;
	int n = 0;

	for (*value = 0; digit_of(s[n]) < base; n++) {
		over |= __builtin_mul_overflow(*value, base, value);
		over |= __builtin_add_overflow(*value, digit_of(s[n]), value);
	}
	return over ? -ERANGE : n;
}

/* At most 63 characters behind blanks and sign count. Characters used, or -EINVAL or -ERANGE. */
static int number_read(const char *buf, size_t n, uint64_t flags, struct number *out)
{
	unsigned base = flags & 31;
	char s[64] = { 0 };
	size_t at = 0, skip;
	int got;

	if (!n || flags & ~31ull || (base != 0 && base != 8 && base != 10 && base != 16))
		return -EINVAL;
	while (at < n && isspace((unsigned char)buf[at]))
		at++;
	out->negative = at < n && buf[at] == '-';
	at += out->negative;
	if (at == n)
		return -EINVAL;
	memcpy(s, buf + at, n - at < 63 ? n - at : 63);
	base = radix_of(s, base);
	skip = base == 16 && s[0] == '0' && tolower((unsigned char)s[1]) == 'x' ? 2 : 0;
	got = digits_read(s + skip, base, &out->value);
	return got > 0 ? (int)(at + skip) + got : got ? got : -EINVAL;
}

HELPER_FN(strtol, r1, r2, r3, r4, r5)
{
	int64_t *out = ptr_of(r4);
	struct number v;
	int used;

	*out = 0;
	used = number_read(ptr_of(r1), r2, r3, &v);
	if (used < 0)
		return helper_err(used);
	if (v.negative ? (int64_t)-v.value > 0 : (int64_t)v.value < 0)
		return helper_err(-ERANGE);
	*out = (int64_t)(v.negative ? -v.value : v.value);
	return (uint64_t)used;
}

HELPER_FN(strtoul, r1, r2, r3, r4, r5)
{
	uint64_t *out = ptr_of(r4);
	struct number v;
	int used;

	*out = 0;
	used = number_read(ptr_of(r1), r2, r3, &v);
	if (used < 0)
		return helper_err(used);
	if (v.negative)
		return helper_err(-EINVAL);
	*out = v.value;
	return (uint64_t)used;
}
