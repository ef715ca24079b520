// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unwind tables of arm64 where instructions tell what the call frame information does not.
 */
#include "harness.h"

#include "lib_util.h"
#include "unwind/a64_insn.h"
#include "unwind_image.h"

#define LONG_TEXT	(8U << 20)

FIXTURE(unwind) {
	struct image im;
	struct gprof_unwind_blob blob;
};

FIXTURE_SETUP(unwind)
{
}

FIXTURE_TEARDOWN(unwind)
{
	gprof_unwind_blob_free(&self->blob);
}

/* The table of @code, of which the CFI says this. */
#define COMPILE(...) do {							\
	image_begin(&self->im, EM_AARCH64);					\
	image_code(&self->im, 0x100, code, sizeof(code) / 4);			\
	image_cie(&self->im);							\
	image_fde(&self->im, 0x100, sizeof(code), __VA_ARGS__);			\
	ASSERT_EQ(0, image_compile(&self->im, &self->blob));			\
} while (0)

TEST_F(unwind, text_of_arm64_without_cfi_is_told_by_its_instructions)
{
	static const uint32_t clone[] = { 0xf100001f, 0x54000040, 0x5400000b, 0xd65f03c0 };
	static const uint32_t svc[] = { 0xd4000001 }, sigreturn[] = { 0xd2801168, 0xd4000001 };
	static const uint32_t plt[] = {
		0xa9bf7bf0, 0x90000010, 0xf947fe11, 0x913fe210, 0xd61f0220, 0xd503201f,
		0xd503201f, 0xd503201f,
		0x90000010, 0xf9400211, 0x91000210, 0xd61f0220,
		0xd503245f, 0x90000010, 0xf9400211, 0x91000210, 0xd61f0220, 0xd503201f,
	};

	image_begin(&self->im, EM_AARCH64);
	/* of which nothing is known */
	memset(self->im.bytes + IMAGE_TEXT, 0x02, IMAGE_CFI - IMAGE_TEXT);
	image_code(&self->im, 0x10c, svc, 1);
	image_code(&self->im, 0x110, clone, 4);
	image_code(&self->im, 0x200, sigreturn, 2);
	image_code(&self->im, 0x1400, plt, sizeof(plt) / 4);
	/* of a static program, two kinds of slots without what would bind them */
	image_code(&self->im, 0x1448 + 0x18, plt + 8, 4 + 6);
	image_set_entry(&self->im, 0x1500);
	image_cie(&self->im);
	image_fde(&self->im, 0x100, 0x10, PROGRAM(0x0e, 16));
	image_fde(&self->im, 0x120, 0x10, PROGRAM(0x0e, 24));
	ASSERT_EQ(0, image_compile(&self->im, &self->blob));
	EXPECT_RULES(EM_AARCH64, "110 11c: sp+2 lr; 130 1fc: none; 1ff 204: signal; 208: none; "
			     "1400: sp+0 lr; 1404 141c: sp+2 ra@-1; 1420 1444: sp+0 lr; "
			     "1448 145c: none; 1460 1484: sp+0 lr; 1488: none; 1500: end");
}

/* As the vDSO's: a sample in them is the caller's too. */
TEST_F(unwind, leaves_of_arm64_without_cfi_return_to_x30)
{
	static const uint32_t code[] = {
		0xd65f03c0,	/* 1fc: ret */
		/* a leaf that asks the kernel, with two ends and a part that lies apart */
		0x71003c1f,	/* 200: cmp w0, #15 */
		0x540000a8,	/* 204: b.hi 218 */
		0x8b2463e4,	/* 208: add x4, sp, x4 */
		0xa940a86b,	/* 20c: ldp x11, x10, [x3, #8] */
		0xd53be042,	/* 210: mrs x2, cntvct_el0 */
		0xd65f03c0,	/* 214: ret */
		0xd2800e28,	/* 218: mov x8, #113 */
		0xd4000001,	/* 21c: svc #0 */
		0xd65f03c0,	/* 220: ret */
		0,		/* 224 */
		/* one with a frame, and what it branches to behind its end */
		0xa9bf7bfd,	/* 228: stp x29, x30, [sp, #-16]! */
		0xb4000080,	/* 22c: cbz x0, 23c */
		0xa8c17bfd,	/* 230: ldp x29, x30, [sp], #16 */
		0xd65f03c0,	/* 234: ret */
		0xd503201f,	/* 238: nop */
		0x91000400,	/* 23c: add x0, x0, #1 */
		0x17fffffc,	/* 240: b 230 */
		/* a leaf that goes on elsewhere, one that calls, one that loses x30, a child */
		0x91000400,	/* 244: add x0, x0, #1 */
		0x14000400,	/* 248: b 1248 */
		0x94000400,	/* 24c: bl */
		0xd65f03c0,	/* 250: ret */
		0xf940001e,	/* 254: ldr x30, [x0] */
		0xd65f03c0,	/* 258: ret */
		0xd2801b88,	/* 25c: mov x8, #220 */
		0xd4000001,	/* 260: svc #0 */
		0xd65f03c0,	/* 264: ret */
		0x91000400,	/* 268: add x0, x0, #1 */
	};
	static const struct { uint32_t from, to; const char *rule; } want[] = {
		{ 0x1fc, 0x1fc, "none" }, { 0x200, 0x220, "sp+0 lr" }, { 0x224, 0x240, "none" },
		{ 0x244, 0x248, "sp+0 lr" }, { 0x24c, 0x268, "none" },
	};

	image_begin(&self->im, EM_AARCH64);
	memset(self->im.bytes + IMAGE_TEXT, 0x02, IMAGE_CFI - IMAGE_TEXT);
	image_code(&self->im, 0x1fc, code, sizeof(code) / 4);
	image_cie(&self->im);
	image_fde(&self->im, 0x100, 0x10, PROGRAM(0x0e, 16));
	image_fde(&self->im, 0x26c, 0x10, PROGRAM(0x0e, 24));
	ASSERT_EQ(0, image_compile(&self->im, &self->blob));
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		for (uint32_t at = want[i].from; at <= want[i].to; at += 4)
			EXPECT_RULE(EM_AARCH64, at, want[i].rule);
}

/* As glibc says it of _dl_runtime_resolve: entered with two words, told behind the pad. */
TEST_F(unwind, lazy_binding_of_arm64_is_entered_with_two_words_and_left_without)
{
	static const uint32_t code[] = {
		0xd503201f,	/* 100: nop */
		0xa9b327e8,	/* 104: stp x8, x9, [sp, #-208]! */
		0x97fff736,	/* 108: bl */
		0xa8cd27e8,	/* 10c: ldp x8, x9, [sp], #208 */
		0xa8c17bf1,	/* 110: ldp x17, x30, [sp], #16 */
		0xd61f0200,	/* 114: br x16 */
	};

	/* x30 at CFA + 8; 208 bytes; none; -16 */
	COMPILE(PROGRAM(0x41, 0x11, 30, 0x7f, 0x41, 0x0e, 0xd0, 1, 0x42, 0x0e, 0, 0x41, 0x13, 2));
	EXPECT_RULES(EM_AARCH64, "100 104: sp+2 ra@-1; 108: sp+28 ra@-1; 110: sp+2 ra@-1; "
			     "114: sp+0 lr");
}

/* Behind glibc's _start of a program that is not position independent. */
TEST_F(unwind, what_was_called_behind_the_start_of_arm64_has_a_caller)
{
	static const uint32_t code[] = {
		0xd503201f,	/* 100: nop */
		0xd280001e,	/* 104: mov x30, #0 */
		0x94000100,	/* 108: bl */
		0x97ffff04,	/* 10c: bl abort */
		0xd503201f,	/* 110: nop */
		0x17ffff7e,	/* 114: b main */
	};

	COMPILE(PROGRAM(0x41, 0x07, 30));
	EXPECT_RULES(EM_AARCH64, "100 10c: end; 110 114: sp+0 lr");
}

/* glibc's CFI says there where it goes, not where it was called. */
TEST_F(unwind, longjmp_of_arm64_has_no_frame_in_what_it_was_given)
{
	image_begin(&self->im, EM_AARCH64);
	image_cie(&self->im);
	/* CFA = x0, x29 and x30 above it; then those are restored */
	image_fde(&self->im, 0x100, 0x20,
		  PROGRAM(0x41, 0x0c, 0, 0, 0x11, 29, 0x76, 0x11, 30, 0x75, 0x42, 0xdd, 0xde));
	ASSERT_EQ(0, image_compile(&self->im, &self->blob));
	EXPECT_RULES(EM_AARCH64, "100: sp+0 lr; 104 10c: unknown");
}

/* As LLVM 14 has it: all is told behind the prologue, and nothing of the epilogue. */
TEST_F(unwind, prologues_and_epilogues_of_llvm_are_followed)
{
	static const uint32_t code[] = {
		0xd10703ff,	/* 100: sub sp, sp, #448 */
		0xa9197bfd,	/* 104: stp x29, x30, [sp, #400] */
		0x910643fd,	/* 108: add x29, sp, #400 */
		0xa91a57fc,	/* 10c: stp x28, x21, [sp, #416] */
		0xa91b4ff4,	/* 110: stp x20, x19, [sp, #432] */
		0x2a0003f3,	/* 114: mov w19, w0 */
		0x94000100,	/* 118: bl */
		0xa95a57fc,	/* 11c: ldp x28, x21, [sp, #416] */
		0xa9597bfd,	/* 120: ldp x29, x30, [sp, #400] */
		0x0b140100,	/* 124: add w0, w8, w20 */
		0xa95b4ff4,	/* 128: ldp x20, x19, [sp, #432] */
		0x910703ff,	/* 12c: add sp, sp, #448 */
		0xd65f03c0,	/* 130: ret */
		0x94000100,	/* 134: bl */
	};

	COMPILE(PROGRAM(0x45, 0x0c, 29, 48, 0x9e, 5, 0x9d, 6));
	EXPECT_RULES(EM_AARCH64, "100: sp+0 lr; 104: sp+56 lr; 108: sp+56 fp@-6 ra@-5; "
			     "10c 120: fp+6 fp@-6 ra@-5; 124 12c: sp+56 lr; 130: sp+0 lr; "
			     "134: fp+6 fp@-6 ra@-5");
	EXPECT_EQ(0, table_check(self->blob.data, self->blob.size));
}

TEST_F(unwind, prologues_of_llvm_that_align_the_stack_are_followed)
{
	static const uint32_t code[] = {
		0xa9be7bfd,	/* 100: stp x29, x30, [sp, #-32]! */
		0xd10183e9,	/* 104: sub x9, sp, #96 */
		0xa9014ff4,	/* 108: stp x20, x19, [sp, #16] */
		0x910003fd,	/* 10c: mov x29, sp */
		0x927ae53f,	/* 110: and sp, x9, #0xffffffffffffffc0 */
		0x2a0003f3,	/* 114: mov w19, w0 */
		0xd65f03c0,	/* 118: ret */
	};

	COMPILE(PROGRAM(0x45, 0x0c, 29, 32, 0x9e, 3, 0x9d, 4));
	EXPECT_RULES(EM_AARCH64, "100: sp+0 lr; 104 10c: sp+4 fp@-4 ra@-3; "
			     "110 114: fp+4 fp@-4 ra@-3");
}

/* What was jumped to from before the prologue has no frame, returning or jumping on. */
TEST_F(unwind, blocks_of_llvm_that_never_had_a_frame_have_none)
{
	static const uint32_t code[] = {
		0x34000120,	/* 100: cbz w0, 124 */
		0x7100041f,	/* 104: cmp w0, #1 */
		0x54000121,	/* 108: b.ne 12c */
		0xa9bf7bfd,	/* 10c: stp x29, x30, [sp, #-16]! */
		0x910003fd,	/* 110: mov x29, sp */
		0x94000100,	/* 114: bl */
		0x52800020,	/* 118: mov w0, #1 */
		0xa8c17bfd,	/* 11c: ldp x29, x30, [sp], #16 */
		0xd65f03c0,	/* 120: ret */
		0x52800060,	/* 124: mov w0, #3 */
		0xd65f03c0,	/* 128: ret */
		0x2a0003e8,	/* 12c: mov w8, w0 */
		0x17fffe00,	/* 130: b, to another function */
	};

	COMPILE(PROGRAM(0x45, 0x0c, 29, 16, 0x9e, 1, 0x9d, 2));
	EXPECT_RULES(EM_AARCH64, "10c: sp+0 lr; 110: sp+2 fp@-2 ra@-1; 11c: fp+2 fp@-2 ra@-1; "
			     "120 124 128 12c 130: sp+0 lr");
}

/* A loop touches a large frame page by page: where sp is in it nobody can say, but x29 can. */
TEST_F(unwind, prologues_that_move_sp_in_a_loop_are_followed_by_x29)
{
	static const uint32_t code[] = {
		0xa9be7bfd,	/* 100: stp x29, x30, [sp, #-32]! */
		0x910003fd,	/* 104: mov x29, sp */
		0xd1404fe9,	/* 108: sub x9, sp, #19 pages */
		0xd14007ff,	/* 10c: sub sp, sp, #1 page */
		0xeb2963ff,	/* 110: cmp sp, x9 */
		0xf90003ff,	/* 114: str xzr, [sp] */
		0x54ffffa1,	/* 118: b.ne 10c */
		0x94000100,	/* 11c: bl */
	};

	image_begin(&self->im, EM_AARCH64);
	image_code(&self->im, 0x100, code, sizeof(code) / 4);
	/* and one that does it first: nothing is known but what the table says */
	image_code(&self->im, 0x200, code + 2, 5);
	image_cie(&self->im);
	image_fde(&self->im, 0x100, sizeof(code), PROGRAM(0x47, 0x0c, 29, 32, 0x9e, 3, 0x9d, 4));
	image_fde(&self->im, 0x200, 0x20, PROGRAM(0x45, 0x0e, 0x80, 0x20));
	ASSERT_EQ(0, image_compile(&self->im, &self->blob));
	EXPECT_RULES(EM_AARCH64, "104: sp+4 fp@-4 ra@-3; 108 118: fp+4 fp@-4 ra@-3; "
			     "210: sp+0 lr; 214: sp+512 lr");
}

/* GCC tells each change, and jumps with its frame to what is seldom run. */
TEST_F(unwind, tables_that_are_right_stay_as_they_are)
{
	static const uint32_t code[] = {
		0xa9be7bfd,	/* 100: stp x29, x30, [sp, #-32]! */
		0x910003fd,	/* 104: mov x29, sp */
		0x34000040,	/* 108: cbz w0, 110 */
		0x17fffffd,	/* 10c: b 100 */
		0x2a0003e8,	/* 110: mov w8, w0 */
		0x17fffe00,	/* 114: b, to another part */
		0xa8c27bfd,	/* 118: ldp x29, x30, [sp], #32 */
		0xd65f03c0,	/* 11c: ret */
	};
	struct gprof_unwind_table *t;

	COMPILE(PROGRAM(0x41, 0x0e, 32, 0x9e, 3, 0x9d, 4, 0x46, 0x0e, 0, 0xdd, 0xde));
	t = self->blob.data;
	EXPECT_EQ(4, t->rows);
	EXPECT_RULES(EM_AARCH64, "110 114: sp+4 fp@-4 ra@-3");
}

/* Each of so many functions, 4 bytes apart, goes on to the end of a text of 8 MiB. */
static unsigned char *overlapping(size_t nr)
{
	unsigned char *file = calloc(1, IMAGE_SIZE + LONG_TEXT);
	struct image *im = calloc(1, sizeof(*im));
	Elf64_Phdr *ph;

	if (!im || !file)
		return NULL;
	image_begin(im, EM_AARCH64);
	image_cie(im);
	for (uint32_t i = 0; i < nr; i++)
		image_fde(im, IMAGE_SIZE - IMAGE_TEXT + 4 * i, LONG_TEXT - 4 * i,
			  PROGRAM(0x0e, (unsigned char)(16 + i % 2 * 16)));
	memcpy(file, im->bytes, IMAGE_SIZE);
	ph = (Elf64_Phdr *)(file + sizeof(Elf64_Ehdr));
	ph[1] = ph[2];
	ph[2] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = IMAGE_SIZE,
		.p_vaddr = IMAGE_ADDR + IMAGE_SIZE, .p_filesz = LONG_TEXT, .p_memsz = LONG_TEXT,
	};
	free(im);
	return file;
}

TEST_F(unwind, a_text_is_gone_through_once_whatever_overlaps)
{
	const size_t nr[] = { 1, 200 };
	uint64_t took[] = { UINT64_MAX, UINT64_MAX };

	for (size_t turn = 0; turn < 3; turn++) {
		for (size_t i = 0; i < 2; i++) {
			unsigned char *file = overlapping(nr[i]);
			uint64_t begin = lib_cpu_ns();

			ASSERT_NE(NULL, file);
			gprof_unwind_blob_free(&self->blob);
			ASSERT_EQ(0, gprof_unwind_compile_memory(file, IMAGE_SIZE + LONG_TEXT, 0,
								 &self->blob));
			begin = lib_cpu_ns() - begin;
			took[i] = begin < took[i] ? begin : took[i];
			free(file);
		}
	}
	TH_LOG("%llu and %llu us", (unsigned long long)took[0] / 1000,
	       (unsigned long long)took[1] / 1000);
	EXPECT_LT(took[1], took[0] * 10);
	EXPECT_RULE(EM_AARCH64, IMAGE_SIZE - IMAGE_TEXT, "sp+2 lr");
	EXPECT_RULE(EM_AARCH64, IMAGE_SIZE - IMAGE_TEXT + 4, "sp+4 lr");
	EXPECT_RULE(EM_AARCH64, IMAGE_SIZE - IMAGE_TEXT + LONG_TEXT - 4, "sp+4 lr");
	EXPECT_EQ(0, table_check(self->blob.data, self->blob.size));
}

/* As the assembler has them; the ends of each range, and what changes nothing that matters. */
TEST(each_form_of_an_instruction_is_told)
{
#define NO	GPROF_A64_SP
#define NONE	.reg = { NO, NO }
#define FRAME	.step = 8, .reg = { 29, 30 }
	static const struct {
		uint32_t word;
		const char *text;
		struct gprof_a64_insn in;
	} rows[] = {
		{ 0xa9bf7bfd, "stp x29, x30, [sp, #-16]!", { GPROF_A64_STORE, .before = -16, FRAME } },
		{ 0xa9a07bfd, "stp x29, x30, [sp, #-512]!", { GPROF_A64_STORE, .before = -512, FRAME } },
		{ 0xa91ffbfd, "stp x29, x30, [sp, #504]", { GPROF_A64_STORE, .imm = 504, FRAME } },
		{ 0xa8c17bfd, "ldp x29, x30, [sp], #16", { GPROF_A64_LOAD, .after = 16, FRAME } },
		{ 0xa8dffbfd, "ldp x29, x30, [sp], #504", { GPROF_A64_LOAD, .after = 504, FRAME } },
		{ 0xa97fd3f3, "ldp x19, x20, [sp, #-8]", { GPROF_A64_LOAD, .imm = -8, .step = 8, .reg = { 19, 20 } } },
		{ 0xa8027bfd, "stnp x29, x30, [sp, #32]", { GPROF_A64_STORE, .imm = 32, FRAME } },
		{ 0x6dbc27e8, "stp d8, d9, [sp, #-64]!", { GPROF_A64_STORE, .before = -64, .step = 8, NONE } },
		{ 0xad4107e0, "ldp q0, q1, [sp, #32]", { GPROF_A64_LOAD, .imm = 32, .step = 16, NONE } },
		{ 0x2cc107e0, "ldp s0, s1, [sp], #8", { GPROF_A64_LOAD, .after = 8, .step = 4, NONE } },
		{ 0x290107e0, "stp w0, w1, [sp, #8]", { GPROF_A64_NOTHING, NONE } },
		{ 0x29bf07e0, "stp w0, w1, [sp, #-8]!", { GPROF_A64_ANYTHING, NONE } },
		{ 0x2940781d, "ldp w29, w30, [x0]", { GPROF_A64_ANYTHING, NONE } },
		{ 0x68c107e0, "ldpsw x0, x1, [sp], #8", { GPROF_A64_ANYTHING, NONE } },
		{ 0xa940781d, "ldp x29, x30, [x0]", { GPROF_A64_ANYTHING, NONE } },
		{ 0xa8c10440, "ldp x0, x1, [x2], #16", { GPROF_A64_NOTHING, NONE } },
		{ 0xa901781d, "stp x29, x30, [x0, #16]", { GPROF_A64_NOTHING, NONE } },
		{ 0xf81f0ffe, "str x30, [sp, #-16]!", { GPROF_A64_STORE, .before = -16, .reg = { 30, NO } } },
		{ 0xf93ffffe, "str x30, [sp, #32760]", { GPROF_A64_STORE, .imm = 32760, .reg = { 30, NO } } },
		{ 0xf84107fe, "ldr x30, [sp], #16", { GPROF_A64_LOAD, .after = 16, .reg = { 30, NO } } },
		{ 0xf94007fe, "ldr x30, [sp, #8]", { GPROF_A64_LOAD, .imm = 8, .reg = { 30, NO } } },
		{ 0xf85f83fd, "ldur x29, [sp, #-8]", { GPROF_A64_LOAD, .imm = -8, .reg = { 29, NO } } },
		{ 0xf940001e, "ldr x30, [x0]", { GPROF_A64_ANYTHING, NONE } },
		{ 0xf9400ff3, "ldr x19, [sp, #24]", { GPROF_A64_LOAD, .imm = 24, .reg = { 19, NO } } },
		{ 0xb81f0fe0, "str w0, [sp, #-16]!", { GPROF_A64_STORE, .before = -16, NONE } },
		{ 0xb94003fe, "ldr w30, [sp]", { GPROF_A64_ANYTHING, NONE } },
		{ 0x394003fe, "ldrb w30, [sp]", { GPROF_A64_ANYTHING, NONE } },
		{ 0xfd000be8, "str d8, [sp, #16]", { GPROF_A64_STORE, .imm = 16, NONE } },
		{ 0x3c9e0fe8, "str q8, [sp, #-32]!", { GPROF_A64_STORE, .before = -32, NONE } },
		{ 0x3ccff7e8, "ldr q8, [sp], #255", { GPROF_A64_LOAD, .after = 255, NONE } },
		{ 0x7d0007e8, "str h8, [sp, #2]", { GPROF_A64_STORE, .imm = 2, NONE } },
		{ 0xf8606bfe, "ldr x30, [sp, x0]", { GPROF_A64_ANYTHING, NONE } },
		{ 0xf8616be0, "ldr x0, [sp, x1]", { GPROF_A64_NOTHING, NONE } },
		{ 0xf8408c1e, "ldr x30, [x0, #8]!", { GPROF_A64_ANYTHING, NONE } },
		{ 0x4c9f73e0, "st1 {v0.16b}, [sp], #16", { GPROF_A64_ANYTHING, NONE } },
		{ 0x4c9f7000, "st1 {v0.16b}, [x0], #16", { GPROF_A64_NOTHING, NONE } },
		{ 0xc85f7c1e, "ldxr x30, [x0]", { GPROF_A64_ANYTHING, NONE } },
		{ 0xc85f7fc0, "ldxr x0, [x30]", { GPROF_A64_NOTHING, NONE } },
		{ 0x5800001e, "ldr x30, .", { GPROF_A64_ANYTHING, NONE } },
		{ 0x14000002, "b . + 8", { GPROF_A64_JUMP, .imm = 8, NONE } },
		{ 0x16000000, "b . - 0x8000000", { GPROF_A64_JUMP, .imm = -134217728, NONE } },
		{ 0x15ffffff, "b . + 0x7fffffc", { GPROF_A64_JUMP, .imm = 134217724, NONE } },
		{ 0x94000002, "bl . + 8", { GPROF_A64_CALL, NONE } },
		{ 0xd63f0120, "blr x9", { GPROF_A64_CALL, NONE } },
		{ 0xd73f092a, "blraa x9, x10", { GPROF_A64_CALL, NONE } },
		{ 0xd61f0200, "br x16", { GPROF_A64_LEAVE, NONE } },
		{ 0xd65f03c0, "ret", { GPROF_A64_LEAVE, NONE } },
		{ 0xd65f0120, "ret x9", { GPROF_A64_LEAVE, NONE } },
		{ 0xd65f0bff, "retaa", { GPROF_A64_LEAVE, NONE } },
		{ 0xd71f0a11, "braa x16, x17", { GPROF_A64_LEAVE, NONE } },
		{ 0xb47fffe0, "cbz x0, . + 0xffffc", { GPROF_A64_BRANCH, .imm = 1048572, NONE } },
		{ 0x35800000, "cbnz w0, . - 0x100000", { GPROF_A64_BRANCH, .imm = -1048576, NONE } },
		{ 0xb5ffffe0, "cbnz x0, . - 4", { GPROF_A64_BRANCH, .imm = -4, NONE } },
		{ 0x361bffe0, "tbz w0, #3, . + 0x7ffc", { GPROF_A64_BRANCH, .imm = 32764, NONE } },
		{ 0x37fc0000, "tbnz w0, #31, . - 0x8000", { GPROF_A64_BRANCH, .imm = -32768, NONE } },
		{ 0xb6f80040, "tbz x0, #63, . + 8", { GPROF_A64_BRANCH, .imm = 8, NONE } },
		{ 0xb707ffe0, "tbnz x0, #32, . - 4", { GPROF_A64_BRANCH, .imm = -4, NONE } },
		{ 0x540003e0, "b.eq . + 0x7c", { GPROF_A64_BRANCH, .imm = 124, NONE } },
		{ 0x54800001, "b.ne . - 0x100000", { GPROF_A64_BRANCH, .imm = -1048576, NONE } },
		{ 0xd503201f, "nop", { GPROF_A64_NOTHING, NONE } },
		{ 0xd503233f, "paciasp", { GPROF_A64_NOTHING, NONE } },
		{ 0xd50323bf, "autiasp", { GPROF_A64_NOTHING, NONE } },
		{ 0xd503245f, "bti c", { GPROF_A64_NOTHING, NONE } },
		{ 0xd503203f, "yield", { GPROF_A64_NOTHING, NONE } },
		{ 0xd53be042, "mrs x2, cntvct_el0", { GPROF_A64_NOTHING, NONE } },
		{ 0xd53be05e, "mrs x30, cntvct_el0", { GPROF_A64_ANYTHING, NONE } },
		{ 0xd4000001, "svc #0", { GPROF_A64_ANYTHING, NONE } },
		{ 0xd4200020, "brk #1", { GPROF_A64_ANYTHING, NONE } },
		{ 0xd5033bbf, "dmb ish", { GPROF_A64_NOTHING, NONE } },
		{ 0x910043ff, "add sp, sp, #16", { GPROF_A64_ADD_SP, .imm = 16, NONE } },
		{ 0x913fffff, "add sp, sp, #4095", { GPROF_A64_ADD_SP, .imm = 4095, NONE } },
		{ 0xd13fffff, "sub sp, sp, #4095", { GPROF_A64_ADD_SP, .imm = -4095, NONE } },
		{ 0xd14007ff, "sub sp, sp, #1, lsl #12", { GPROF_A64_ADD_SP, .imm = -4096, NONE } },
		{ 0x917fffff, "add sp, sp, #4095, lsl #12", { GPROF_A64_ADD_SP, .imm = 16773120, NONE } },
		{ 0xd1400bff, "sub sp, sp, #2, lsl #12", { GPROF_A64_ADD_SP, .imm = -8192, NONE } },
		{ 0x910043fd, "add x29, sp, #16", { GPROF_A64_SET_FP, .imm = 16, NONE } },
		{ 0x910003fd, "mov x29, sp", { GPROF_A64_SET_FP, NONE } },
		{ 0x914007fd, "add x29, sp, #1, lsl #12", { GPROF_A64_SET_FP, .imm = 4096, NONE } },
		{ 0xd10083fd, "sub x29, sp, #32", { GPROF_A64_SET_FP, .imm = -32, NONE } },
		{ 0x910003bf, "mov sp, x29", { GPROF_A64_SET_SP, NONE } },
		{ 0xd10043bf, "sub sp, x29, #16", { GPROF_A64_SET_SP, .imm = -16, NONE } },
		{ 0xd14007bf, "sub sp, x29, #1, lsl #12", { GPROF_A64_SET_SP, .imm = -4096, NONE } },
		{ 0x9100013f, "mov sp, x9", { GPROF_A64_MOVE_SP, NONE } },
		{ 0x910043e9, "add x9, sp, #16", { GPROF_A64_NOTHING, NONE } },
		{ 0x9100041d, "add x29, x0, #1", { GPROF_A64_ANYTHING, NONE } },
		{ 0x910013de, "add x30, x30, #4", { GPROF_A64_ANYTHING, NONE } },
		{ 0x1100041d, "add w29, w0, #1", { GPROF_A64_ANYTHING, NONE } },
		{ 0xb10043fd, "adds x29, sp, #16", { GPROF_A64_ANYTHING, NONE } },
		{ 0xf100041f, "subs xzr, x0, #1", { GPROF_A64_NOTHING, NONE } },
		{ 0xeb2963ff, "cmp sp, x9", { GPROF_A64_NOTHING, NONE } },
		{ 0x927ced3f, "and sp, x9, #0xfffffffffffffff0", { GPROF_A64_MOVE_SP, NONE } },
		{ 0xf240001f, "ands xzr, x0, #1", { GPROF_A64_NOTHING, NONE } },
		{ 0xb24003fd, "orr x29, xzr, #1", { GPROF_A64_ANYTHING, NONE } },
		{ 0xd280001e, "mov x30, #0", { GPROF_A64_ANYTHING, NONE } },
		{ 0xaa0903fd, "mov x29, x9", { GPROF_A64_ANYTHING, NONE } },
		{ 0xaa1d03e9, "mov x9, x29", { GPROF_A64_NOTHING, NONE } },
		{ 0xcb2963ff, "sub sp, sp, x9", { GPROF_A64_MOVE_SP, NONE } },
		{ 0x8b296bff, "add sp, sp, x9, lsl #2", { GPROF_A64_MOVE_SP, NONE } },
		{ 0x8b020020, "add x0, x1, x2", { GPROF_A64_NOTHING, NONE } },
		{ 0xeb020020, "subs x0, x1, x2", { GPROF_A64_NOTHING, NONE } },
		{ 0x1000001e, "adr x30, .", { GPROF_A64_ANYTHING, NONE } },
		{ 0x90000000, "adrp x0, .", { GPROF_A64_NOTHING, NONE } },
		{ 0x9b01081e, "madd x30, x0, x1, x2", { GPROF_A64_ANYTHING, NONE } },
		{ 0x1e62283e, "fadd d30, d1, d2", { GPROF_A64_NOTHING, NONE } },
		{ 0x9e66001e, "fmov x30, d0", { GPROF_A64_NOTHING, NONE } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct gprof_a64_insn in = gprof_a64_decode(rows[i].word);

		EXPECT_EQ(rows[i].in.does, in.does) TH_LOG("%s", rows[i].text);
		if (in.does == GPROF_A64_NOTHING || in.does == GPROF_A64_ANYTHING)
			continue;
		EXPECT_EQ(rows[i].in.imm, in.imm) TH_LOG("%s", rows[i].text);
		EXPECT_EQ(rows[i].in.before, in.before) TH_LOG("%s", rows[i].text);
		EXPECT_EQ(rows[i].in.after, in.after) TH_LOG("%s", rows[i].text);
		EXPECT_EQ(rows[i].in.step, in.step) TH_LOG("%s", rows[i].text);
		EXPECT_EQ(rows[i].in.reg[0], in.reg[0]) TH_LOG("%s", rows[i].text);
		EXPECT_EQ(rows[i].in.reg[1], in.reg[1]) TH_LOG("%s", rows[i].text);
	}
}

TEST_HARNESS_MAIN
