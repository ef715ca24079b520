// SPDX-License-Identifier: GPL-2.0-only
/* interface: what user space talks to */
#include "../main.c"
#include "../dev.c"
#include "../ioctl.c"
#include "../netlink.c"
#include "../netlink_recorder.c"
