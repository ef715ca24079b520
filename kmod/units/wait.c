// SPDX-License-Identifier: GPL-2.0-only
/* wait: waits */
#include "../source_block.c"
#include "../wait.c"
#include "../wait_edge.c"
#include "../wait_note.c"
#include "../wait_for.c"
