// SPDX-License-Identifier: GPL-2.0-only
/* lock: waits for locks; what programs say of themselves */
#include "../source_mutex.c"
#include "../wait_lock.c"
#include "../annotate.c"
