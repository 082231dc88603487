/* SPDX-License-Identifier: BSD-2-Clause */
/* printf as the kernel's helpers allow it, and the trace log. */
#include <stdio.h>
#include <unistd.h>

#include "helper/impl.h"
#include "helper/trace.h"
#include "isa/format.h"

enum { ARGS_MAX = 12, LINE_MAX_ = 1024, STR_MAX = 512 };

static int ip_text(char *to, size_t size, const char *kind, const uint8_t *ip)
{
	const char *sep = kind[0] == 'I' ? ":" : "";
	int n = 0;

	if (kind[1] == '4')
		return snprintf(to, size, kind[0] == 'I' ? "%u.%u.%u.%u" : "%03u.%03u.%03u.%03u",
				ip[0], ip[1], ip[2], ip[3]);
	for (unsigned i = 0; i < 16; i += 2)
		n += snprintf(to + n, size - (size_t)n, "%s%02x%02x", i ? sep : "", ip[i],
			      ip[i + 1]);
	return n;
}

/* The text of an argument that is an address. */
static void ptr_text(char *to, size_t size, const struct conversion *s, uint64_t arg)
{
	uint8_t ip[16];

	if (s->ptr[1]) {
		safe_copy(ip, arg, s->ptr[1] == '4' ? 4 : 16);
		ip_text(to, size, s->ptr, ip);
	} else if (s->ptr[0] && strchr("sSB", s->ptr[0])) {
		snprintf(to, size, "0x%llx", (unsigned long long)arg);
	} else {
		snprintf(to, size, "%016llx", (unsigned long long)arg);
	}
}

static int conversion_print(char *to, size_t size, const struct conversion *s, uint64_t arg)
{
	char f[24], text[STR_MAX] = "";

	snprintf(f, sizeof(f), "%%%.*s%s", (int)s->n_flags, s->flags,
		 s->conv == 's' || s->conv == 'p' ? "s"
		 : s->conv == 'c'		  ? "c"
						  : "ll");
	if (s->conv == 'c')
		return snprintf(to, size, f, (int)(char)arg);
	if (s->conv == 's' || s->conv == 'p') {
		if (s->conv == 'p')
			ptr_text(text, sizeof(text), s, arg);
		else if (safe_copy_str(text, arg, sizeof(text)) < 0)
			text[0] = 0;
		return snprintf(to, size, f, text);
	}
	strncat(f, &s->conv, 1);
	if (s->wide)
		return snprintf(to, size, f, (long long)arg);
	return snprintf(to, size, f,
			strchr("di", s->conv) ? (long long)(int32_t)arg : (long long)(uint32_t)arg);
}

/* Where to go on writing when n characters are there. */
static char *rest(char *to, size_t size, int n)
{
	return (size_t)n < size ? to + n : NULL;
}

static size_t rest_size(size_t size, int n)
{
	return (size_t)n < size ? size - (size_t)n : 0;
}

int format_args(char *to, size_t size, const char *fmt, const uint64_t *args, unsigned n_args)
{
	unsigned used = 0;
	int n = 0;

	for (const char *p = fmt; *p; p++) {
		struct conversion s = { 0 };

		if (!format_plain(*p))
			return -EINVAL;
		if (*p == '%' && p[1] != '%') {
			p = used < n_args ? conversion_parse(p + 1, &s) : NULL;
			if (!p)
				return -EINVAL;
			n += conversion_print(rest(to, size, n), rest_size(size, n), &s,
					      args[used++]);
			continue;
		}
		p += *p == '%';
		n += snprintf(rest(to, size, n), rest_size(size, n), "%c", *p);
	}
	if (size && !fmt[0])
		to[0] = 0;
	return n;
}

static int trace_fd = STDERR_FILENO;

void trace_set_fd(int fd)
{
	__atomic_store_n(&trace_fd, fd, __ATOMIC_RELAXED);
}

/* One line; its length as the program is told. */
static int trace_line(const char *fmt, uint32_t n_fmt, const uint64_t *args, unsigned n_args)
{
	char line[LINE_MAX_ + 1];
	int n, len;

	if (!memchr(fmt, 0, n_fmt))
		return -EINVAL;
	n = format_args(line, LINE_MAX_, fmt, args, n_args);
	if (n < 0)
		return n;
	len = n < LINE_MAX_ ? n : LINE_MAX_ - 1;
	if (!len || line[len - 1] != '\n')
		line[len++] = '\n';
	if (write(__atomic_load_n(&trace_fd, __ATOMIC_RELAXED), line, (size_t)len) < 0)
		return n; /* a log that cannot be written is no error of the program */
	return n;
}

HELPER_FN(trace_printk, r1, r2, r3, r4, r5)
{
	const uint64_t args[3] = { r3, r4, r5 };

	return helper_err(trace_line(ptr_of(r1), (uint32_t)r2, args, 3));
}

static bool args_ok(uint64_t args, uint32_t n)
{
	return n % 8 == 0 && n <= ARGS_MAX * 8 && (!n || args);
}

HELPER_FN(trace_vprintk, r1, r2, r3, r4, r5)
{
	uint32_t n = (uint32_t)r4;

	if (!args_ok(r3, n))
		return helper_err(-EINVAL);
	return helper_err(trace_line(ptr_of(r1), (uint32_t)r2, ptr_of(r3), n / 8));
}

HELPER_FN(snprintf, r1, r2, r3, r4, r5)
{
	uint32_t n = (uint32_t)r5;
	int len;

	if (!args_ok(r4, n))
		return helper_err(-EINVAL);
	len = format_args(ptr_of(r1), (uint32_t)r2, ptr_of(r3), ptr_of(r4), n / 8);
	return helper_err(len < 0 ? len : len + 1);
}

/* There is no type information of a kernel. */
HELPER_FN(snprintf_btf, r1, r2, r3, r4, r5)
{
	return helper_err(-EINVAL);
}
