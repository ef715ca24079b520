// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the frames of an interpreter of Python are among those of C code, what their code is
 * called, and which line they are at: with frames and memory that are made for it.
 */
#include "harness.h"
#include <linux/gprof.h>
#include <sys/sendfile.h>

#include "record/python_mix.h"
#include "symbol/python_names.h"
#include "lib_util.h"

/* ---- order ---- */

#define F(_n)	(GPROF_PYTHON_FRAME | 1ULL << GPROF_PYTHON_AT_SHIFT | (_n)), GPROF_PYTHON_CHECK
#define E(_n)	(GPROF_PYTHON_FRAME | GPROF_PYTHON_ENTRY | 1ULL << GPROF_PYTHON_AT_SHIFT | (_n)), \
		GPROF_PYTHON_CHECK
#define NEW(_n)	(GPROF_PYTHON_FRAME | GPROF_PYTHON_ENTRY | (_n)), GPROF_PYTHON_CHECK

#define C_CUT	GPROF_STACK_REC_F_USER_CUT
#define P_CUT	GPROF_STACK_REC_F_PYTHON_CUT

/* Places of C code: what is below 16 is the interpreter's call, and 1 its very beginning. */
static enum gprof_python_role role_of(uint64_t frame)
{
	return frame >= 16 ? GPROF_PYTHON_OTHER :
	       frame == 1 ? GPROF_PYTHON_EVAL_BEGIN : GPROF_PYTHON_EVAL;
}

/*
 * The order as text: C frames as numbers, others as letters, by their code; "?": it is not known.
 */
static const char *mixed(uint16_t flags, const uint64_t *user, size_t nr)
{
	static char text[256];
	enum gprof_python_role roles[64];
	uint32_t order[64];
	size_t i, n, at = 0;

	for (i = 0; i < nr; i++)
		roles[i] = user[i] >> 63 ? GPROF_PYTHON_OTHER : role_of(user[i]);
	n = gprof_python_mix(user, nr, flags, roles, order);
	if (!n)
		return "?";
	for (i = 0; i < n; i++) {
		uint64_t frame = user[order[i]];

		at += (size_t)snprintf(text + at, sizeof(text) - at, i ? " " : "");
		if (frame >> 63)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%c",
					       (char)(frame & GPROF_PYTHON_CODE));
		else
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%u",
					       (unsigned int)frame);
	}
	return text;
}

#define EXPECT_ORDER(_text, _flags, ...) do {				\
	const uint64_t _user[] = { __VA_ARGS__ };			\
	EXPECT_STREQ(_text, mixed(_flags, _user, sizeof(_user) / sizeof(*_user)));	\
} while (0)

TEST(each_call_of_the_interpreter_has_its_run)
{
	EXPECT_ORDER("a b 20", 0, 2, F('a'), E('b'), 20);
	EXPECT_ORDER("20 a b 21 22 c 23", 0, 20, F('a'), E('b'), E('c'), 2, 21, 22, 3, 23);
	EXPECT_ORDER("a 20 b c 21", 0, 2, E('a'), F('b'), E('c'), 20, 3, 21);
	/* without any, C code alone */
	EXPECT_ORDER("20 21", 0, 20, 21);
}

TEST(call_that_has_no_frame_yet_or_no_more_has_none)
{
	EXPECT_ORDER("2 20 a 21", 0, 2, E('a'), 20, 3, 21);
	EXPECT_ORDER("1 20 a 21", 0, 1, E('a'), 20, 3, 21);
	EXPECT_ORDER("2 20", 0, 2, 20);
	/* the innermost is in the list already */
	EXPECT_ORDER("a 20 b 21", 0, 1, NEW('a'), E('b'), 20, 3, 21);
	/* and here it may be what was there before */
	EXPECT_ORDER("1 20 b 21", 0, 1, E('a'), E('b'), 20, 3, 21);
	EXPECT_ORDER("1 20 c 21", 0, 1, F('a'), E('b'), E('c'), 20, 3, 21);
}

TEST(what_does_not_come_out_even_is_not_known)
{
	EXPECT_ORDER("?", 0, 20, E('a'), E('b'), 2, 21);
	EXPECT_ORDER("?", 0, 20, E('a'), 2, 21, 3, 22);
	EXPECT_ORDER("?", 0, 2, E('a'), 21, 3, 22, 4, 23);
	EXPECT_ORDER("?", 0, 20, E('a'));
}

TEST(what_is_cut_is_told_from_the_leaf_on)
{
	EXPECT_ORDER("20 a 21 b c", C_CUT, 20, E('a'), E('b'), E('c'), 2, 21);
	EXPECT_ORDER("20 a 21 3", P_CUT, 20, E('a'), 2, 21, 3);
	EXPECT_ORDER("20 a b 21 3", P_CUT, 20, F('a'), F('b'), 2, 21, 3);
	EXPECT_ORDER("a b 21", P_CUT, 2, F('a'), F('b'), 21);
	/* of which the leaf is may be one that has none */
	EXPECT_ORDER("?", C_CUT, 2, E('a'), E('b'), 21);
	EXPECT_ORDER("?", P_CUT, 1, E('a'), 21, 3);
	EXPECT_ORDER("?", P_CUT, 20, E('a'), E('b'), 2, 21);
	EXPECT_ORDER("?", C_CUT, 20, E('a'), 2, 21, 3);
}

/* A reader of what somebody else has written must not be led astray. */
TEST(any_words_are_put_into_some_order)
{
	uint32_t order[40];
	enum gprof_python_role roles[40];
	uint64_t user[40], seed = 1;

	for (unsigned int round = 0; round < 200000; round++) {
		size_t nr = round % 40 + 1, n, j;

		for (unsigned int i = 0; i < nr; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			user[i] = seed >> 60 & 1 ? seed : seed >> 63 << 63 | (seed & 31);
			roles[i] = seed >> 40 & 3 ? GPROF_PYTHON_OTHER : GPROF_PYTHON_EVAL;
		}
		n = gprof_python_mix(user, nr, (uint16_t)(seed >> 20), roles, order);
		ASSERT_GE(nr, n);
		for (j = 0; j < n; j++)
			ASSERT_GT(nr, order[j]);
	}
}

/* ---- lines ---- */

static const unsigned char lines_of_a_function[] = {
	0x80, 0x00, 0xe0, 0x09, 0x0a, 0xd8, 0x09, 0x0a, 0xf1, 0x03, 0x01, 0x0a, 0x0b, 0xe0,
	0x0b, 0x0c, 0xf1, 0x05, 0x02, 0x0a, 0x0d, 0x80, 0x41, 0xf5, 0x06, 0x00, 0x0e, 0x13,
	0x90, 0x31, 0x89, 0x58, 0x8c, 0x58, 0xf0, 0x00, 0x05, 0x05, 0x12, 0xf0, 0x00, 0x05,
	0x05, 0x12, 0x88, 0x01, 0xd8, 0x0b, 0x0c, 0xf0, 0x00, 0x01, 0x09, 0x15, 0xd8, 0x0c,
	0x14, 0xe0, 0x1c, 0x1d, 0xf0, 0x03, 0x02, 0x0d, 0x12, 0xf0, 0x00, 0x01, 0x0d, 0x19,
	0xf0, 0x00, 0x01, 0x0d, 0x19, 0xd8, 0x16, 0x17, 0xf0, 0x03, 0x01, 0x0d, 0x19, 0xf1,
	0x00, 0x01, 0x0d, 0x19, 0xf4, 0x00, 0x01, 0x0d, 0x19, 0xf0, 0x00, 0x01, 0x0d, 0x19,
	0xe0, 0x0c, 0x0d, 0x88, 0x71, 0xf0, 0x03, 0x01, 0x24, 0x12, 0xf0, 0x03, 0x00, 0x09,
	0x0a, 0x88, 0x01, 0xf0, 0x06, 0x70, 0x01, 0x05, 0x11, 0xd8, 0x0f, 0x10, 0x8f, 0x73,
	0x8a, 0x73, 0xd8, 0x0c, 0x0d, 0xd8, 0x0c, 0x0d, 0xf1, 0x05, 0x02, 0x10, 0x0f, 0xf4,
	0x00, 0x02, 0x10, 0x0f, 0xf5, 0x5e, 0x03, 0x00, 0x09, 0x0e, 0x88, 0x61, 0x89, 0x08,
	0x8c, 0x08, 0x88, 0x08, 0x88, 0x08, 0xf8, 0xf5, 0x59, 0x03, 0x00, 0x0c, 0x16, 0xf0,
	0x00, 0x6a, 0x01, 0x05, 0x11, 0xf0, 0x00, 0x6a, 0x01, 0x05, 0x11, 0xf0, 0x00, 0x6a,
	0x01, 0x05, 0x11, 0xf0, 0x54, 0x03, 0x00, 0x10, 0x11, 0x88, 0x08, 0x88, 0x08, 0x88,
	0x08, 0x88, 0x08, 0x88, 0x08, 0xe5, 0x08, 0x0d, 0x88, 0x61, 0x89, 0x08, 0x8c, 0x08,
	0x88, 0x08, 0x88, 0x08, 0xf8, 0xf8, 0xf8, 0xf8, 0xf0, 0x59, 0x03, 0x6a, 0x01, 0x05,
	0x11, 0xf8, 0xf8, 0xf8, 0xf8, 0xf5, 0x58, 0x03, 0x00, 0x09, 0x0e, 0x88, 0x61, 0x89,
	0x08, 0x8c, 0x08, 0x88, 0x08, 0x88, 0x08, 0xf8, 0xf8, 0xf8,
};

/* Of each instruction, as the interpreter itself says it; 0: none. */
static const uint32_t lines_by_instruction[] = {
	1, 3, 4, 3, 3, 5, 3, 3, 3, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 8,
	10, 9, 9, 9, 10, 9, 9, 9, 9, 9, 9, 9, 9, 9, 11, 11, 10, 9, 9, 12, 13, 13, 13, 13, 13,
	13, 13, 13, 13, 13, 13, 13, 14, 15, 13, 13, 13, 13, 13, 13, 13, 124, 124, 124, 124,
	124, 124, 124, 124, 124, 124, 124, 124, 124, 124, 124, 124, 0, 16, 16, 16, 16, 16, 16,
	16, 16, 16, 122, 122, 122, 122, 122, 122, 124, 124, 124, 124, 124, 124, 124, 124, 124,
	124, 124, 124, 124, 124, 124, 124, 0, 0, 0, 0, 16, 0, 0, 0, 0, 124, 124, 124, 124, 124,
	124, 124, 124, 124, 124, 124, 124, 124, 124, 124, 124, 0, 0, 0,
};

#define NR_INSTRUCTIONS	(sizeof(lines_by_instruction) / sizeof(*lines_by_instruction))

static uint32_t line_at(const unsigned char *lines, size_t size, uint64_t instruction)
{
	struct gprof_python_code code = {
		.first_line = 1, .lines = (unsigned char *)lines, .lines_size = size,
	};

	return gprof_python_line(&code, (instruction + 1) << GPROF_PYTHON_AT_SHIFT);
}

TEST(lines_are_those_that_the_interpreter_says)
{
	size_t size = sizeof(lines_of_a_function), i;

	for (i = 0; i < NR_INSTRUCTIONS; i++)
		EXPECT_EQ(lines_by_instruction[i], line_at(lines_of_a_function, size, i))
			TH_LOG("instruction %zu", i);
	EXPECT_EQ(0, line_at(lines_of_a_function, size, NR_INSTRUCTIONS));
	/* before the first one it is at the definition */
	EXPECT_EQ(1, line_at(lines_of_a_function, size, (uint64_t)-1));
	/* all ones: not known */
	EXPECT_EQ(0, line_at(lines_of_a_function, size, 0xfffe));
}

TEST(lines_that_end_anywhere_end_there)
{
	unsigned char *copy;

	for (size_t size = 0; size <= sizeof(lines_of_a_function); size++) {
		copy = malloc(size + 1);
		ASSERT_NE(NULL, copy);
		memcpy(copy, lines_of_a_function, size);
		/* what is read behind it is found by the sanitizer */
		copy = realloc(copy, size ? size : 1);
		for (size_t i = 0; i < NR_INSTRUCTIONS; i += 7)
			line_at(copy, size, i);
		free(copy);
	}
}

/* ---- names ---- */

struct text {
	uint64_t hash, length;
	uint32_t state, unused;
	char chars[64];
};

struct bytes {
	uint64_t size;
	unsigned char data[16];
};

struct object {
	const struct text *file, *name, *qualname;
	const struct bytes *lines;
	uint32_t line, unused;
	uint16_t instrs[4];
};

static const struct gprof_interpreter interpreter = {
	.kernel = {
		.code_line = offsetof(struct object, line),
		.code_filename = offsetof(struct object, file),
		.code_name = offsetof(struct object, name),
		.code_qualname = offsetof(struct object, qualname),
		.string_hash = offsetof(struct text, hash),
	},
	.linetable = offsetof(struct object, lines), .code_size = offsetof(struct object, instrs),
	.bytes_size = offsetof(struct bytes, size), .bytes_data = offsetof(struct bytes, data),
	.string_length = offsetof(struct text, length),
	.string_state = offsetof(struct text, state), .string_ascii = offsetof(struct text, chars),
	.string_other = offsetof(struct text, chars) + 16,
};

#define STATE(_kind, _ascii)	((_kind) << 2 | 1 << 5 | (_ascii) << 6)

static struct text file = { 1, 4, STATE(1, 1), 0, "a.py" };
static struct text name = { 7, 1, STATE(1, 1), 0, "f" };
static struct text qualname = { 2, 3, STATE(1, 1), 0, "C.f" };
static struct bytes lines = { 1, { 0x80 | 11 << 3 } };
static struct object object = {
	.file = &file, .name = &name, .qualname = &qualname, .lines = &lines, .line = 10,
};

static void frame_of(const struct object *o, uint64_t frame[2])
{
	frame[0] = GPROF_PYTHON_FRAME | 1ULL << GPROF_PYTHON_AT_SHIFT | (uintptr_t)o >> 3;
	frame[1] = gprof_python_check(o->name->hash, (uintptr_t)o->file, (uintptr_t)o->qualname,
				      o->line);
}

FIXTURE(names) {
	struct gprof_python_names n;
	uint64_t frame[2];
};

FIXTURE_SETUP(names)
{
	gprof_python_names_init(&self->n);
	frame_of(&object, self->frame);
}

FIXTURE_TEARDOWN(names)
{
	gprof_python_names_free(&self->n);
}

#define LEARN() ASSERT_EQ(0, gprof_python_read(&self->n, 1 << 20, (uint32_t)getpid(), &interpreter,	\
						self->frame, 2))

TEST_F(names, code_is_called_what_it_is)
{
	const struct gprof_python_code *code;

	LEARN();
	code = gprof_python_find(&self->n, self->frame);
	ASSERT_NE(NULL, code);
	EXPECT_STREQS("C.f", code->name, "a.py", code->file);
	EXPECT_EQS(10, code->first_line, 11, gprof_python_line(code, self->frame[0]));
}

TEST_F(names, what_was_known_stays_when_the_process_is_gone)
{
	LEARN();
	ASSERT_EQ(0, gprof_python_read(&self->n, 1 << 20, UINT32_MAX, &interpreter, self->frame, 2))
		;
	EXPECT_NE(NULL, gprof_python_find(&self->n, self->frame));
}

TEST_F(names, other_code_in_the_place_of_what_was_sampled_gives_it_no_name)
{
	struct object was = object;

	object.line++;
	LEARN();
	EXPECT_EQ(NULL, gprof_python_find(&self->n, self->frame));
	object = was;
	object.file = &qualname;
	LEARN();
	EXPECT_EQ(NULL, gprof_python_find(&self->n, self->frame));
	object = was;
	/* it was read for a third time, and no more */
	name.hash++;
	LEARN();
	name.hash--;
	LEARN();
	EXPECT_EQ(NULL, gprof_python_find(&self->n, self->frame));
}

TEST_F(names, names_of_any_characters_are_utf8)
{
	const struct gprof_python_code *code;
	const uint32_t wide[] = { 'a', 0xe9, 0x20ac, 0x1f40d, 0xd800, 0x110000, '\n' };

	qualname.state = STATE(4, 0);
	qualname.length = sizeof(wide) / sizeof(*wide);
	memcpy(qualname.chars + 16, wide, sizeof(wide));
	LEARN();
	code = gprof_python_find(&self->n, self->frame);
	ASSERT_NE(NULL, code);
	EXPECT_STREQ("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x8d\xef\xbf\xbd\xef\xbf\xbd?", code->name);
	qualname = (struct text){ 2, 3, STATE(1, 1), 0, "C.f" };
}

TEST_F(names, what_is_no_string_or_cannot_be_read_is_no_name)
{
	struct object was = object;
	struct text text = qualname;

	qualname.state = STATE(3, 0);
	LEARN();
	EXPECT_EQ(NULL, gprof_python_find(&self->n, self->frame));
	qualname = text;
	object.qualname = (void *)16;
	frame_of(&object, self->frame);
	LEARN();
	EXPECT_EQ(NULL, gprof_python_find(&self->n, self->frame));
	object = was;
	self->frame[0] = GPROF_PYTHON_FRAME | GPROF_PYTHON_CODE;
	LEARN();
	EXPECT_EQ(NULL, gprof_python_find(&self->n, self->frame));
	ASSERT_EQ(0, gprof_python_read(&self->n, 1 << 20, UINT32_MAX, &interpreter, self->frame, 2))
		;
}

TEST_F(names, what_is_too_much_has_no_name)
{
	const uint64_t least = 2 * sizeof(struct gprof_python_code);
	const uint64_t all = least + strlen("C.f") + strlen("a.py") + 2 + lines.size;

	ASSERT_EQ(0, gprof_python_read(&self->n, least - 1, (uint32_t)getpid(), &interpreter,
				       self->frame, 2))
		;
	EXPECT_EQ(0, self->n.nr);
	ASSERT_EQ(0, gprof_python_read(&self->n, all - 1, (uint32_t)getpid(), &interpreter,
				       self->frame, 2))
		;
	EXPECT_EQS(NULL, gprof_python_find(&self->n, self->frame), least, self->n.bytes);
	ASSERT_EQ(0, gprof_python_read(&self->n, all, (uint32_t)getpid(), &interpreter, self->frame,
				       2))
		;
	EXPECT_NE(NULL, gprof_python_find(&self->n, self->frame));
	EXPECT_EQ(all, self->n.bytes);
}

/* ---- files ---- */

TEST(file_without_an_interpreter_has_none)
{
	struct gprof_interpreter out;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	EXPECT_EQ(-ENOENT, gprof_python_read_file(fd, &out));
	close(fd);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	EXPECT_EQ(-ENOEXEC, gprof_python_read_file(fd, &out));
	close(fd);
}

TEST(debians_interpreter_says_where_things_are)
{
	static const char *const paths[] = { "/usr/bin/python3.11", "/usr/bin/python3.13" };
	struct gprof_interpreter out;
	int fd;

	for (unsigned int i = 0; i < 2; i++) {
		fd = open(paths[i], O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		ASSERT_EQ(0, gprof_python_read_file(fd, &out));
		EXPECT_EQ(i ? GPROF_PYTHON_F_OWNER : 0, out.kernel.flags);
		EXPECT_LT(1000, out.eval_size);
		close(fd);
	}
}

/* A file that is cut short, or has any byte changed: an answer, and nothing read beyond. */
TEST(files_that_are_damaged_do_no_harm)
{
	int from = open("/usr/bin/python3.11", O_RDONLY | O_CLOEXEC);
	int to = memfd_create("python", MFD_CLOEXEC);
	struct gprof_interpreter out;
	unsigned char byte;
	uint64_t seed = 1;

	if (from < 0)
		SKIP(return, "there is no python3.11");
	ASSERT_LE(0, to);
	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	ASSERT_EQ(0, gprof_python_read_file(to, &out));
	for (unsigned int i = 0; i < 2000; i++) {
		unsigned char was;
		off_t at;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		/* heads of the file, of segments, and of sections */
		at = i & 1 ? (off_t)(seed >> 32 & 1023) :
			     lseek(to, 0, SEEK_END) - 1 - (off_t)(seed >> 32) % 2048;
		byte = (unsigned char)(seed >> 24);
		ASSERT_EQS(1, pread(to, &was, 1, at), 1, pwrite(to, &byte, 1, at));
		gprof_python_read_file(to, &out);
		ASSERT_EQ(1, pwrite(to, &was, 1, at));
	}
	for (unsigned int i = 0; i < 200; i++) {
		ASSERT_EQ(0, ftruncate(to, (off_t)(i < 100 ? 10 * i : 60000 * (200 - i))));
		gprof_python_read_file(to, &out);
	}
	close(to);
	close(from);
}

TEST_HARNESS_MAIN
