/* SPDX-License-Identifier: BSD-2-Clause */
/* Where redirected packets went: there are no devices, so targets are only counted. */
#ifndef SKEP_TOOL_REDIRECTS_H
#define SKEP_TOOL_REDIRECTS_H

#include <stdint.h>

#include "base/vec.h"
#include "helper/packet.h"
#include "skep/json.h"

struct bpf_object;

enum { REDIRECTS_MAX = 256 }; /* targets that are told apart; the others count as `more` */

struct redirect {
	struct packet_redirect to;
	uint64_t packets;
};

struct redirects {
	VEC(struct redirect) list;
	uint64_t more;	 /* packets */
	uint64_t clones; /* packets that bpf_clone_redirect sent besides */
};

/* Counts one packet. verdict_redirects: the program's verdict was to redirect it. 0 or -ENOMEM. */
int redirects_add(struct redirects *r, const struct packet_redirect *to, bool verdict_redirects);
void redirects_free(struct redirects *r);

/* Nothing is printed when there were none. Maps are named as in the object. */
void redirects_print_text(const struct redirects *r, struct bpf_object *o);
void redirects_print_json(const struct redirects *r, struct bpf_object *o, struct json *j);

#endif
