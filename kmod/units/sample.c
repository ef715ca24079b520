// SPDX-License-Identifier: GPL-2.0-only
/* sample: what a sample is */
#include "../own_stack.c"
#include "../capture.c"
#include "../sampler.c"
#include "../naming.c"
#include "../running.c"
