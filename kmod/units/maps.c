// SPDX-License-Identifier: GPL-2.0-only
/* maps: what processes have mapped */
#include "../mapping.c"
#include "../mapping_record.c"
#include "../build_id.c"
