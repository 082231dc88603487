/* SPDX-License-Identifier: BSD-2-Clause */
/* PROG_ARRAY: targets of tail calls. */
#include "map/obj_array.h"
#include "map/types.h"

const struct map_ops prog_array_ops = {
	.slots = true,
	.check = obj_array_check,
	.create = obj_array_create,
	.destroy = obj_array_destroy,
	.erase = obj_array_erase,
	.user_lookup = obj_array_user_lookup,
	.user_update = op_einval_update,
	.next_key = index_next_key,
	.update_obj = obj_array_update,
};
