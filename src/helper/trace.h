/* SPDX-License-Identifier: BSD-2-Clause */
/* Where bpf_trace_printk and bpf_trace_vprintk write. */
#ifndef SKEP_HELPER_TRACE_H
#define SKEP_HELPER_TRACE_H

/* Each call writes one line to fd from now on (default: standard error). The fd stays the
 * caller's. Any thread. */
void trace_set_fd(int fd);

#endif
