/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SKEP_RUN_FAULT_H
#define SKEP_RUN_FAULT_H

/*
 * Makes loads and stores of images that may fault (PROBE_MEM) go on instead of ending the process:
 * handlers of SIGSEGV and SIGBUS, in front of those that the application has. What is not a fault
 * of an image goes to the application's handler as if ours were not there.
 *
 * To be called before an image with code->n_faults runs; only the first call does anything. An
 * application that installs handlers of its own later must call what it found, as always with
 * these signals. 0 or -errno; any thread.
 */
int fault_init(void);

#endif
