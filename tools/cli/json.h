/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results for programs: one envelope for all commands, {"version", "command", "data", "losses"}.
 * Documentation/schema/ has a schema for each command.
 */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "options.h"

#define JSON_VERSION	1
#define JSON_DEPTH_MAX	16

/**
 * struct json - a document that is being written
 * @f: where to
 * @one_line: the document is a line
 * @depth: of objects and arrays that are open
 * @array: of each depth: it is an array
 * @some: likewise: it has a member already
 * @losses: "data" has ended
 */
struct json {
	FILE *f;
	bool one_line;
	unsigned int depth;
	bool array[JSON_DEPTH_MAX + 1];
	bool some[JSON_DEPTH_MAX + 1];
	bool losses;
};

/* For struct option_table; its ctx is a bool. */
#define JSON_TABLE	"For programs"
extern const struct option_row json_options[];

/* json_open() - begin the envelope, and "data", an object or else an array */
void json_open(struct json *j, FILE *f, const char *command);
void json_open_array(struct json *j, FILE *f, const char *command);
/* json_loss() - when "data" is whole: a sentence on what is missing in it; @file: or NULL */
void json_loss(struct json *j, const char *file, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* json_lost_events() - likewise that @nr events of a trace were lost, if any */
void json_lost_events(struct json *j, const char *file, uint64_t nr);
/* json_close() - end the envelope, and its line */
void json_close(struct json *j);

/* A member of what was opened last. @key: NULL in an array; it is written as it is. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);
void json_string(struct json *j, const char *key, const char *s);
/* json_bytes() - a string that may hold zeros; one stands behind it */
void json_bytes(struct json *j, const char *key, const char *s, size_t length);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_s64(struct json *j, const char *key, int64_t value);
/* json_ns() - a time; the key is @what and "_ns" */
void json_ns(struct json *j, const char *what, int64_t value);
/* json_double() - in @digits, or fewer that are read as the same; null if it is not finite */
void json_double(struct json *j, const char *key, double value, int digits);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

#define JSON_EXACT	17	/* digits of any number */

#endif /* TOOLS_JSON_H */
