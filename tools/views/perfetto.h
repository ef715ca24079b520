/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace of the host for Perfetto.
 */
#ifndef TOOLS_VIEWS_PERFETTO_H
#define TOOLS_VIEWS_PERFETTO_H

/* perfetto_write() - write a trace of the host as Perfetto's protobuf; the exit status */
int perfetto_write(const char *file, const char *output);

#endif /* TOOLS_VIEWS_PERFETTO_H */
