/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/report.h"

enum { SNAPLEN_MAX = 262144 };

/* libpcap's message is about the file's content: turned into what to do. */
static int open_failed(const char *path, const char *why, struct report *r)
{
	if (strstr(why, "unknown file format"))
		return report_fail(r, -EINVAL, "%s: not a capture; expected pcap or pcapng", path);
	if (strstr(why, "truncated dump file"))
		return report_fail(r, -EINVAL, "%s: %s", path,
				   strstr(why, "only got 0")
				       ? "empty file; expected pcap or pcapng"
				       : "cut off within the file header; capture it again");
	return report_fail(r, -EINVAL, "%s: damaged capture: %s", path, why);
}

static int check_link_type(struct capture *c, struct report *r)
{
	int type = pcap_datalink(c->pcap);
	const char *name = pcap_datalink_val_to_name(type);

	if (type == DLT_EN10MB)
		return 0;
	return report_fail(r, -EINVAL,
			   "%s: link type %s (%d); packet programs take Ethernet (EN10MB): "
			   "capture on an Ethernet interface or convert the file",
			   c->path, name ? name : "unknown", type);
}

static int open_file(const char *path, struct report *r, FILE **out, uint64_t *size)
{
	struct stat st;
	bool from_stdin = strcmp(path, "-") == 0;
	FILE *f = from_stdin ? fdopen(dup(STDIN_FILENO), "rb") : fopen(path, "rbe");

	if (!f)
		return report_fail(r, -errno, "%s: %s", path, strerror(errno));
	if (fstat(fileno(f), &st) || S_ISDIR(st.st_mode)) {
		fclose(f);
		return report_fail(r, -EISDIR, "%s: is a directory; expected a capture", path);
	}
	*size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	*out = f;
	return 0;
}

int capture_open(const char *path, struct report *r, struct capture *out)
{
	struct capture c = { .path = path };
	char why[PCAP_ERRBUF_SIZE] = "";
	FILE *f = NULL;
	int err = open_file(path, r, &f, &c.size);

	if (err)
		return err;
	c.pcap = pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_NANO, why);
	if (!c.pcap) {
		fclose(f);
		return open_failed(path, why, r);
	}
	err = check_link_type(&c, r);
	if (err)
		capture_close(&c);
	else
		*out = c;
	return err;
}

void capture_close(struct capture *c)
{
	if (c->pcap)
		pcap_close(c->pcap);
	c->pcap = NULL;
}

int capture_next(struct capture *c, struct report *r, struct capture_head *head,
		 const uint8_t **bytes)
{
	struct pcap_pkthdr *h;
	unsigned long long read = c->packets;
	int got = pcap_next_ex(c->pcap, &h, bytes);

	if (got == PCAP_ERROR_BREAK)
		return 0;
	if (got == 1) {
		*head = (struct capture_head){ h->ts, h->caplen, h->len };
		c->packets++;
		return 1;
	}
	if (strstr(pcap_geterr(c->pcap), "truncated"))
		return report_fail(r, -EINVAL,
				   "%s: cut off within packet %llu; the %llu before it are whole: "
				   "capture it again, or cut it there",
				   c->path, read + 1, read);
	return report_fail(r, -EINVAL, "%s: damaged at packet %llu: %s", c->path, read + 1,
			   pcap_geterr(c->pcap));
}

double capture_part(const struct capture *c)
{
	long at = ftell(pcap_file(c->pcap));

	return c->size && at > 0 ? (double)at / (double)c->size : 0;
}

int capture_create(const char *path, struct report *r, struct capture_out *out)
{
	struct capture_out o = { 0 };
	int fd = -1, err = outfile_open(path, r, &o.file, &fd);
	FILE *f;

	if (err)
		return err;
	f = fdopen(fd, "wb");
	if (!f)
		close(fd);
	o.dead = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, SNAPLEN_MAX,
						      PCAP_TSTAMP_PRECISION_NANO);
	if (f && o.dead)
		o.dumper = pcap_dump_fopen(o.dead, f);
	if (!o.dumper) {
		if (f)
			fclose(f);
		capture_discard(&o);
		return outfile_failed(path, -ENOMEM, r);
	}
	*out = o;
	return 0;
}

int capture_write(struct capture_out *o, struct report *r, const struct capture_head *head,
		  const uint8_t *bytes)
{
	struct pcap_pkthdr h = { head->time, head->n, head->wire };

	errno = 0;
	pcap_dump((u_char *)o->dumper, &h, bytes);
	if (ferror(pcap_dump_file(o->dumper)))
		return outfile_failed(o->file.path, errno ? -errno : -EIO, r);
	return 0;
}

int capture_commit(struct capture_out *o, struct report *r)
{
	errno = 0;
	if (pcap_dump_flush(o->dumper))
		return outfile_failed(o->file.path, errno ? -errno : -EIO, r);
	return outfile_commit(&o->file, r);
}

void capture_discard(struct capture_out *o)
{
	if (o->dumper)
		pcap_dump_close(o->dumper);
	if (o->dead)
		pcap_close(o->dead);
	outfile_discard(&o->file);
	*o = (struct capture_out){ 0 };
}
