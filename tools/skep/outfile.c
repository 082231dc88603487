/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/report.h"

int outfile_failed(const char *path, int err, struct report *r)
{
	return report_fail(r, err, "%s: cannot be written: %s", path, strerror(-err));
}

int outfile_check(const char *path, struct report *r)
{
	if (strcmp(path, "-") != 0)
		return 0;
	return report_fail(r, -EINVAL,
			   "-: output goes to files; say /dev/stdout, or ./- for a file");
}

static int open_direct(const char *path, struct report *r, int *fd)
{
	*fd = open(path, O_WRONLY | O_CLOEXEC);
	return *fd < 0 ? outfile_failed(path, -errno, r) : 0;
}

int outfile_spares(const char *path, const char *input, struct report *r)
{
	struct stat out, in;

	if (!input || stat(path, &out) || stat(input, &in) || !S_ISREG(out.st_mode) ||
	    out.st_dev != in.st_dev || out.st_ino != in.st_ino)
		return 0;
	return report_fail(r, -EINVAL, "%s: is the input as well; name another file to write",
			   path);
}

/* A file without a name on the file system of `path`, -1 where there is no such thing. */
static int open_nameless(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;

	free(copy);
	return fd;
}

/* A file under a name that nobody has, with the access rights that open(2) would give it. */
static int open_named(char *temp)
{
	int fd = mkostemp(temp, O_CLOEXEC);
	mode_t mask = umask(0);

	umask(mask);
	if (fd >= 0)
		fchmod(fd, 0666 & ~mask);
	return fd;
}

int outfile_open(const char *path, struct report *r, struct outfile *out, int *fd)
{
	struct outfile o = { .path = path, .fd = -1 };
	struct stat st;
	int err = outfile_check(path, r);

	*out = o;
	if (err)
		return err;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return open_direct(path, r, fd);
	if (asprintf(&o.temp, "%s.XXXXXX", path) < 0)
		return outfile_failed(path, -ENOMEM, r);
	o.fd = *fd = open_nameless(path);
	if (*fd < 0)
		*fd = open_named(o.temp);
	if (*fd < 0) {
		free(o.temp);
		return outfile_failed(path, -errno, r);
	}
	*out = o;
	return 0;
}

/* Gives the file without a name a free one; mkostemp finds it, link(2) cannot take one that is. */
static int name_it(struct outfile *o)
{
	char from[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	int fd = mkostemp(o->temp, O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	snprintf(from, sizeof(from), "/proc/self/fd/%d", o->fd);
	o->fd = -1;
	if (unlink(o->temp) || linkat(AT_FDCWD, from, AT_FDCWD, o->temp, AT_SYMLINK_FOLLOW))
		return -errno;
	return 0;
}

int outfile_commit(struct outfile *o, struct report *r)
{
	int err = o->fd >= 0 ? name_it(o) : 0;

	if (!err && o->temp && rename(o->temp, o->path))
		err = -errno;
	if (err)
		return outfile_failed(o->path, err, r);
	free(o->temp);
	o->temp = NULL;
	return 0;
}

void outfile_discard(struct outfile *o)
{
	if (o->temp && o->fd < 0)
		unlink(o->temp);
	free(o->temp);
	o->temp = NULL;
}

int outfile_write(const char *path, const void *at, size_t n, struct report *r)
{
	struct outfile o;
	int fd, err = outfile_open(path, r, &o, &fd);

	if (err)
		return err;
	for (size_t done = 0; done < n && !err;) {
		ssize_t got = write(fd, (const char *)at + done, n - done);

		if (got < 0 && errno != EINTR)
			err = outfile_failed(path, -errno, r);
		done += got > 0 ? (size_t)got : 0;
	}
	if (!err)
		err = outfile_commit(&o, r);
	outfile_discard(&o);
	close(fd);
	return err;
}
