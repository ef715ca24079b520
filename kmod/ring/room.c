// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring: memory that the module writes and a program maps: rings of records, the stacks that
 * records name by an id, the allocations that are live.
 *
 * Documentation/design/ring.rst says why a ring neither blocks nor tears.
 *
 * Contexts: buffer.c, dictionary.c, object_table.c and annotate.c any, NMI included; the rest
 * system calls. May include: user and the rooms below.
 */
#include "percpu_buffers.c"
#include "annotate.c"
#include "object_table.c"
#include "buffer_pages.c"
#include "buffer.c"
#include "dictionary.c"
