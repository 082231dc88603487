/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/outfile.h"

#include <errno.h>
#include <fcntl.h>
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

int outfile_open(const char *path, struct report *r, struct outfile *out, int *fd)
{
	struct outfile o = { .path = path };
	struct stat st;
	mode_t mask;
	int err = outfile_check(path, r);

	*out = o;
	if (err)
		return err;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return open_direct(path, r, fd);
	if (asprintf(&o.temp, "%s.XXXXXX", path) < 0)
		return outfile_failed(path, -ENOMEM, r);
	*fd = mkostemp(o.temp, O_CLOEXEC);
	if (*fd < 0) {
		free(o.temp);
		return outfile_failed(path, -errno, r);
	}
	mask = umask(0);
	umask(mask);
	fchmod(*fd, 0666 & ~mask);
	*out = o;
	return 0;
}

int outfile_commit(struct outfile *o, struct report *r)
{
	if (o->temp && rename(o->temp, o->path))
		return outfile_failed(o->path, -errno, r);
	free(o->temp);
	o->temp = NULL;
	return 0;
}

void outfile_discard(struct outfile *o)
{
	if (o->temp)
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
	if (close(fd) && !err)
		err = outfile_failed(path, -errno, r);
	if (!err)
		err = outfile_commit(&o, r);
	outfile_discard(&o);
	return err;
}
