/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages of protocol buffers, written by the numbers of their fields.
 */
#ifndef TOOLS_VIEWS_PROTOBUF_H
#define TOOLS_VIEWS_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

/** struct message - bytes of a message; all zeroes is an empty one */
struct message {
	unsigned char *p;
	size_t nr;
	size_t room;
};

/*
 * message_number() - add a field of a whole number, or an enum
 * message_text() - of a text, without its 0; invalid UTF-8 in it becomes "?"
 * message_in() - of another message, which stays as it is
 */
void message_number(struct message *m, unsigned int field, uint64_t value);
void message_text(struct message *m, unsigned int field, const char *text);
void message_in(struct message *m, unsigned int field, const struct message *other);

/* message_free() - free its bytes; it is empty then */
void message_free(struct message *m);

#endif /* TOOLS_VIEWS_PROTOBUF_H */
