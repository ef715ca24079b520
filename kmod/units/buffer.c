// SPDX-License-Identifier: GPL-2.0-only
/* buffer: memory that others read, and what all share */
#include "../buffer_pages.c"
#include "../buffer.c"
#include "../dictionary.c"
#include "../memlock.c"
#include "../layout.c"
#include "../event_queue.c"
#include "../errand.c"
#include "../callers.c"
