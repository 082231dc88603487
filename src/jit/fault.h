/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SKEP_JIT_FAULT_H
#define SKEP_JIT_FAULT_H

struct image;

/* Makes image_resume() know the image, if it has anything that may fault. 0 or -ENOMEM. */
int fault_add(const struct image *i);

/* The image is forgotten; no handler looks at it any more when this returns. */
void fault_remove(const struct image *i);

#endif
