/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packet captures in and out (pcap and, for input, pcapng; by libpcap). Messages go into a report
 * and name the file.
 */
#ifndef SKEP_TOOL_CAPTURE_H
#define SKEP_TOOL_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>

#include "skep/outfile.h"

/* libpcap's own header and <linux/bpf.h> exclude each other. */
struct pcap;
struct pcap_dumper;
struct report;

/* A packet's record without its bytes. */
struct capture_head {
	struct timeval time; /* tv_usec: nanoseconds */
	uint32_t n, wire;    /* bytes captured; bytes that it had on the wire */
};

struct capture {
	const char *path;
	struct pcap *pcap;
	uint64_t size;	  /* bytes of the file, 0: unknown */
	uint64_t packets; /* read so far */
};

/* Opens a capture of Ethernet frames. 0 or -errno. */
int capture_open(const char *path, struct report *r, struct capture *out);
void capture_close(struct capture *c);

/* The next packet, valid until the next call. 1, 0 at the end, or -errno when the file is damaged
 * here. */
int capture_next(struct capture *c, struct report *r, struct capture_head *head,
		 const uint8_t **bytes);

/* Part of the file that has been read, 0 to 1. */
double capture_part(const struct capture *c);

/* A capture that is written: it appears with capture_commit, or not at all (outfile.h). */
struct capture_out {
	struct outfile file;
	struct pcap *dead;
	struct pcap_dumper *dumper;
};

int capture_create(const char *path, struct report *r, struct capture_out *out);
int capture_write(struct capture_out *o, struct report *r, const struct capture_head *head,
		  const uint8_t *bytes);
int capture_commit(struct capture_out *o, struct report *r);
void capture_discard(struct capture_out *o); /* also after capture_commit; harmless when zeroed */

#endif
