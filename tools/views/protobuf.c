// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of protocol buffers, written by the numbers of their fields.
 */
#include "protobuf.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"
#include "cli/text.h"

enum wire { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

#define VARINT_MAX	10

static inline unsigned char *room_for(struct message *m, size_t len)
{
	/* xgrow() doubles, so that this ends after a few rounds. */
	while (m->room - m->nr < len)
		m->p = xgrow(m->p, m->room, &m->room, 1);
	return m->p + m->nr;
}

static inline void put_bytes(struct message *m, const void *bytes, size_t len)
{
	unsigned char *to = room_for(m, len);

	if (len)
		memcpy(to, bytes, len);
	m->nr += len;
}

static inline void put_varint(struct message *m, uint64_t value)
{
	unsigned char *to = room_for(m, VARINT_MAX), *end = to;

	for (; value >= 0x80; value >>= 7)
		*end++ = (unsigned char)(value | 0x80);
	*end++ = (unsigned char)value;
	m->nr += (size_t)(end - to);
}

static inline void put_tag(struct message *m, unsigned int field, enum wire wire)
{
	put_varint(m, (uint64_t)field << 3 | wire);
}

void message_number(struct message *m, unsigned int field, uint64_t value)
{
	put_tag(m, field, WIRE_NUMBER);
	put_varint(m, value);
}

static bool is_plain(const char *text)
{
	while (*text >= ' ' && *text <= '~')
		text++;
	return !*text;
}

/* A name of a thread is any bytes, or the first of a longer one's; a text has to be UTF-8. */
void message_text(struct message *m, unsigned int field, const char *text)
{
	char *safe = is_plain(text) ? NULL : text_safe(text);
	const char *put = safe ? safe : text;
	size_t len = strlen(put);

	put_tag(m, field, WIRE_BYTES);
	put_varint(m, len);
	put_bytes(m, put, len);
	free(safe);
}

void message_in(struct message *m, unsigned int field, const struct message *other)
{
	put_tag(m, field, WIRE_BYTES);
	put_varint(m, other->nr);
	put_bytes(m, other->p, other->nr);
}

void message_free(struct message *m)
{
	free(m->p);
	*m = (struct message){ 0 };
}
