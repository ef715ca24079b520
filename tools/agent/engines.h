/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engines: the engines that there are, by the option that names one.
 */
#ifndef GPROF_TOOLS_AGENT_ENGINES_H
#define GPROF_TOOLS_AGENT_ENGINES_H

#include "engine.h"

/**
 * engines_open() - open an engine
 * @name: otlp, put, pyroscope or parca
 * @engine: gets it
 * @options: as its function takes them
 *
 * Return: STATUS_OK, or another status after a sentence.
 */
int engines_open(const char *name, struct engine **engine, const struct engine_options *options);

#endif /* GPROF_TOOLS_AGENT_ENGINES_H */
