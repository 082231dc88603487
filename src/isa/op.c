/* SPDX-License-Identifier: BSD-2-Clause */
#include "isa/op.h"

const struct op_row op_rows[OP_COUNT] = {
#define OP(id, form, text, props, doc) [OP_##id] = { #id, text, doc, FORM_##form, props },
#include "isa/ops.def"
};
