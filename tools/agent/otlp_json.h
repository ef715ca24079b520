/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * otlp_json: responses of receivers of OTLP in JSON: some use it for any request.
 */
#ifndef GPROF_TOOLS_AGENT_OTLP_JSON_H
#define GPROF_TOOLS_AGENT_OTLP_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * otlp_json_answer() - read an ExportProfilesServiceResponse
 * @text: JSON, not terminated
 * @size: bytes
 * @rejected: gets how many profiles it refuses
 * @message: gets its words, only printable ASCII, cut where there is no room
 * @room: for them
 *
 * Return: whether it is one, with nothing else in it.
 */
bool otlp_json_answer(const char *text, size_t size, int64_t *rejected, char *message, size_t room);

#endif /* GPROF_TOOLS_AGENT_OTLP_JSON_H */
