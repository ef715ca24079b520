// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * python_object.c: the code of an interpreter of Python: which of it interprets.
 */
#include "python_object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALL_BYTES	5	/* on amd64; 4 elsewhere */

struct gprof_python_object *gprof_python_object_new(int fd, const char *path, uint32_t *other)
{
	struct gprof_python_object *python = NULL;
	struct gprof_interpreter found;
	int err = gprof_python_is_named(path) ? gprof_python_read_file(fd, &found) : -ENOENT;

	if (err == -EOPNOTSUPP)
		*other = found.version;
	if (!err)
		python = calloc(1, sizeof(*python));
	if (python) {
		python->interpreter = found;
		gprof_map64_init(&python->calls);
	}
	return python;
}

void gprof_python_object_free(struct gprof_python_object *python)
{
	if (python)
		gprof_map64_free(&python->calls);
	free(python);
}

bool gprof_python_in_eval(const struct gprof_python_object *python, uint64_t vaddr, uint64_t from)
{
	const struct gprof_interpreter *i = &python->interpreter;

	return vaddr >= i->eval && vaddr - i->eval < (from ? from : i->eval_size);
}

/* Where the call before an address leads to, if it is a direct one; else 0. */
static uint64_t call_target(uint64_t vaddr, const unsigned char *bytes)
{
#if defined(__x86_64__)
	int32_t rel;

	memcpy(&rel, bytes + 1, sizeof(rel));
	return bytes[0] == 0xe8 ? vaddr + (uint64_t)(int64_t)rel : 0;
#elif defined(__aarch64__)
	uint32_t insn;

	memcpy(&insn, bytes + 1, sizeof(insn));
	if (insn >> 26 != 0x25)		/* bl */
		return 0;
	return vaddr - 4 + (uint64_t)((int64_t)((uint64_t)insn << 38) >> 36);
#else
	(void)vaddr;
	(void)bytes;
	return 0;
#endif
}

bool gprof_python_called_eval(struct gprof_python_object *python, int fd, uint64_t vaddr,
			      uint64_t offset)
{
	uint32_t known = gprof_map64_get(&python->calls, vaddr);
	unsigned char bytes[CALL_BYTES];

	if (known != GPROF_NONE)
		return known;
	known = offset >= CALL_BYTES &&
		pread(fd, bytes, CALL_BYTES, (off_t)(offset - CALL_BYTES)) == CALL_BYTES &&
		call_target(vaddr, bytes) == python->interpreter.eval;
	/* Without memory it is looked at again. */
	gprof_map64_put(&python->calls, vaddr, known);
	return known;
}
