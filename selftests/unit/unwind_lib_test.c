// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unwind tables: each call frame instruction by hand, what is done where there are none, and
 * files that are not what they say.
 */

#include "harness.h"

#include "base/cancel.h"
#include "lib_util.h"
#include "symbol_build.h"
#include "unwind/rows.h"
#include "unwind_image.h"

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

/* A program for 0x40 bytes of text at 0x100; what holds at its first and second instruction. */
struct one {
	const char *rule0;
	const char *rule1;
	size_t len;
	unsigned char program[24];
};

#define ONE(rule0, rule1, ...) \
	{ rule0, rule1, sizeof((unsigned char[]){ __VA_ARGS__ }), { __VA_ARGS__ } }

static void try_each(struct __test_metadata *_metadata, FIXTURE_DATA(unwind) *self,
		     uint16_t machine, const struct one *table, size_t nr)
{
	uint32_t step = machine == EM_AARCH64 ? 4 : 1;

	for (size_t i = 0; i < nr; i++) {
		const struct one *o = &table[i];

		image_begin(&self->im, machine);
		image_cie(&self->im);
		image_fde(&self->im, 0x100, 0x40, o->program, o->len);
		ASSERT_EQ(0, image_compile(&self->im, &self->blob));
		EXPECT_EQ(0, table_check(self->blob.data, self->blob.size));
		EXPECT_RULE(machine, 0x100, o->rule0);
		EXPECT_RULE(machine, 0x100 + step, o->rule1) {
			TH_LOG("program %zu", i);
		}
		EXPECT_RULE(machine, 0x13f, o->rule1);
		EXPECT_RULE(machine, 0xff, "none");
		EXPECT_RULE(machine, 0x140, "none");
		gprof_unwind_blob_free(&self->blob);
	}
}

TEST_F(unwind, each_instruction_of_cfi_does_what_dwarf_says)
{
	static const struct one table[] = {
		/* def_cfa_offset, offset: push %rbp; def_cfa_register: mov %rsp, %rbp */
		ONE("sp+1", "sp+2 fp@-2", 0x41, 0x0e, 16, 0x86, 2),
		ONE("sp+1", "fp+2 fp@-2", 0x41, 0x0e, 16, 0x86, 2, 0x0d, 6),
		ONE("sp+1", "fp+2", 0x02, 1, 0x0c, 6, 16),
		ONE("sp+1", "sp+3", 0x03, 1, 0, 0x0e, 24),
		ONE("sp+1", "sp+4", 0x04, 1, 0, 0, 0, 0x0e, 32),
		ONE("sp+1", "sp+3 rbx@-3", 0x41, 0x0e, 24, 0x83, 3),
		/* def_cfa_sf, def_cfa_offset_sf: factored by -8 */
		ONE("sp+1", "fp+2", 0x41, 0x12, 6, 0x7e),
		ONE("sp+1", "sp+3", 0x41, 0x13, 0x7d),
		/* offset_extended, offset_extended_sf, GNU_negative_offset_extended */
		ONE("sp+1", "sp+1 fp@-3", 0x41, 0x05, 6, 3),
		ONE("sp+1", "sp+1 fp@3", 0x41, 0x11, 6, 0x7d),
		ONE("sp+1", "sp+1 fp@3", 0x41, 0x2f, 6, 3),
		/* restore, restore_extended: as the CIE has it */
		ONE("sp+1 fp@-2", "sp+1", 0x86, 2, 0x41, 0xc6),
		ONE("sp+1 fp@-2", "sp+1", 0x86, 2, 0x41, 0x06, 6),
		ONE("unknown", "sp+1", 0x90, 2, 0x41, 0xd0),
		ONE("unknown", "sp+1", 0x90, 2, 0x41, 0x06, 16),
		/* same_value; undefined, of the frame pointer and of the return address */
		ONE("sp+1 fp@-2", "sp+1", 0x86, 2, 0x41, 0x08, 6),
		ONE("sp+1", "sp+1 fp?", 0x41, 0x07, 6),
		ONE("sp+1", "end", 0x41, 0x07, 16),
		/* register: pop %rdi of vfork */
		ONE("sp+1", "sp5+0 ra=reg", 0x41, 0x0e, 0, 0x09, 16, 5),
		/* remember_state, restore_state */
		ONE("sp+2 fp@-2", "sp+2 fp@-2",
		    0x0e, 16, 0x86, 2, 0x0a, 0x0e, 32, 0xc6, 0x0b, 0x41, 0x0a, 0x0b),
		ONE("sp+2", "sp+1", 0x0a, 0x0e, 16, 0x41, 0x0b),
		/* val_offset, val_offset_sf, val_expression: not where it is, but what */
		ONE("sp+1", "sp+1 fp?", 0x41, 0x14, 6, 2),
		ONE("sp+1", "sp+1 fp?", 0x41, 0x15, 6, 2),
		ONE("sp+1", "sp+1 fp?", 0x41, 0x16, 6, 2, 0x76, 0),
		/* what changes nothing here: nop, args_size, other registers */
		ONE("sp+1", "sp+2", 0x00, 0x2e, 0x10, 0x8c, 4, 0x41, 0x0e, 16),
		/* def_cfa_expression: realigned stacks, other stacks, linkage tables, and others */
		ONE("sp+1", "dereffp-1+0 fp@fp+0", 0x41, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0),
		ONE("sp+1", "derefsp+10+1", 0x41, 0x0f, 6, 0x77, 0xd0, 0, 0x06, 0x23, 8),
		ONE("plt+11", "plt+11", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33,
		    0x24, 0x22),
		ONE("sp+1", "unknown", 0x41, 0x0f, 2, 0x77, 8),
		ONE("sp+1", "unknown", 0x41, 0x0f, 3, 0x70, 8, 0x06),
		/* other registers; what is no multiple of 8, or too far */
		ONE("sp+1", "reg10+0", 0x41, 0x0c, 10, 0),
		ONE("sp+1", "reg3+2", 0x41, 0x0c, 3, 16),
		ONE("sp+1", "unknown", 0x41, 0x0c, 17, 16),
		ONE("sp+1", "unknown", 0x41, 0x0e, 12),
		ONE("sp+1", "sp+32767", 0x41, 0x0e, 0xf8, 0xff, 0x0f),
		ONE("sp+1", "unknown", 0x41, 0x0e, 0x80, 0x80, 0x10),
		ONE("sp+1", "sp+1 fp?", 0x41, 0x11, 6, 0x81, 0x80, 0x02),
		/* the return address elsewhere */
		ONE("sp+1", "unknown", 0x41, 0x90, 2),
	};

	try_each(_metadata, self, EM_X86_64, table, sizeof(table) / sizeof(*table));
}

TEST_F(unwind, instructions_that_make_no_sense_leave_nothing_known)
{
	static const struct one table[] = {
		ONE("unknown", "unknown", 0x41, 0x0b),			/* nothing remembered */
		ONE("unknown", "unknown", 0x41, 0x3f),			/* no instruction */
		ONE("unknown", "unknown", 0x41, 0x0e),			/* cut */
		ONE("unknown", "unknown", 0x41, 0x0f, 9, 0x77),		/* longer than it is */
		ONE("unknown", "unknown", 0x04, 0, 0),
		ONE("unknown", "unknown", 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
		    0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a),	/* too deep */
	};

	try_each(_metadata, self, EM_X86_64, table, sizeof(table) / sizeof(*table));
}

TEST_F(unwind, instructions_of_arm64_say_where_the_link_register_is)
{
	static const struct one table[] = {
		ONE("sp+0 lr", "sp+4 fp@-4 ra@-3", 0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3),
		ONE("sp+0 lr", "fp+4 fp@-4 ra@-3", 0x41, 0x0c, 29, 32, 0x9d, 4, 0x9e, 3),
		ONE("sp+0 lr", "sp+2 lr", 0x2d, 0x41, 0x0e, 16, 0x2c),
		ONE("sp+0 lr", "sp9+0 ra=reg", 0x41, 0x09, 30, 9),
		ONE("sp+0 lr", "sp+0 lr", 0x41, 0x09, 30, 30),
		ONE("sp+0 lr", "unknown", 0x41, 0x09, 30, 17),
		ONE("sp+0 lr", "end", 0x41, 0x07, 30),
		ONE("sp+0 lr", "reg12+1 lr", 0x41, 0x0c, 12, 8),
		/* glibc's _dl_runtime_resolve: two words were pushed before it */
		ONE("sp+2 ra@-1", "sp+28 fp@-28 ra@-1", 0x11, 30, 0x7f, 0x41, 0x0e, 0xd0, 1,
		    0x11, 29, 26),
	};

	try_each(_metadata, self, EM_AARCH64, table, sizeof(table) / sizeof(*table));
}

TEST_F(unwind, a_place_that_is_set_is_where_the_next_row_begins)
{
	int32_t where;
	size_t at;

	image_begin(&self->im, EM_X86_64);
	image_cie(&self->im);
	at = self->im.cfi + 8 + 9 + 1;
	where = (int32_t)(IMAGE_TEXT + 0x120 - (IMAGE_CFI + at));
	image_fde(&self->im, 0x100, 0x40, PROGRAM(0x01, 0, 0, 0, 0, 0x0e, 16));
	memcpy(self->im.bytes + IMAGE_CFI + at, &where, 4);
	ASSERT_EQ(0, image_compile(&self->im, &self->blob));
	EXPECT_RULES(EM_X86_64, "11f: sp+1; 120: sp+2");
	gprof_unwind_blob_free(&self->blob);
	/* not before the function, nor before the last one */
	where -= 0x21;
	memcpy(self->im.bytes + IMAGE_CFI + at, &where, 4);
	ASSERT_EQ(0, image_compile(&self->im, &self->blob));
	EXPECT_RULE(EM_X86_64, 0x120, "unknown");
}

TEST_F(unwind, a_frame_of_a_signal_is_one)
{
	image_begin(&self->im, EM_X86_64);
	image_cie_of(&self->im, "zRS", PROGRAM(0x0c, 7, 8, 0x90, 1));
	image_fde(&self->im, 0x100, 0x10, PROGRAM(0x0f, 4, 0x77, 0xa0, 1, 0x06));
	ASSERT_EQ(0, image_compile(&self->im, &self->blob));
	EXPECT_RULE(EM_X86_64, 0x108, "signal");
}

TEST_F(unwind, of_functions_that_overlap_the_one_that_begins_last_is_right)
{
	image_begin(&self->im, EM_X86_64);
	image_cie(&self->im);
	image_fde(&self->im, 0x140, 0x10, PROGRAM(0x0e, 32));
	image_fde(&self->im, 0x100, 0x100, PROGRAM(0x0e, 16, 0x02, 0x60, 0x0e, 24, 0x02, 0x10, 0x0e,
						   40, 0x02, 0x30, 0x0e, 48));
	image_fde(&self->im, 0x180, 0x10, PROGRAM(0x00));
	ASSERT_EQ(0, image_compile(&self->im, &self->blob));
	EXPECT_EQ(0, table_check(self->blob.data, self->blob.size));
	EXPECT_RULES(EM_X86_64, "13f: sp+2; 140: sp+4; 180: sp+1; 190: none");
}

TEST_F(unwind, text_that_is_not_loaded_as_such_has_no_rows)
{
	image_begin(&self->im, EM_X86_64);
	image_cie(&self->im);
	image_fde(&self->im, (uint32_t)(IMAGE_CFI - IMAGE_TEXT), 0x10, PROGRAM(0x00));
	image_fde(&self->im, (uint32_t)-0x200, 0x10, PROGRAM(0x00));
	EXPECT_EQ(-ENODATA, image_compile(&self->im, &self->blob));
	/* one that reaches over the end is cut there */
	image_fde(&self->im, (uint32_t)(IMAGE_CFI - IMAGE_TEXT - 0x10), 0x1000, PROGRAM(0x0e, 16));
	ASSERT_EQ(0, image_compile(&self->im, &self->blob));
	EXPECT_RULE(EM_X86_64, IMAGE_CFI - IMAGE_TEXT - 1, "sp+2");
	EXPECT_EQ(NULL, table_find(self->blob.data, IMAGE_CFI));
}

TEST_F(unwind, text_without_cfi_is_told_by_its_instructions)
{
	/* syscall; test %rax, %rax; jl; je; ret */
	static const unsigned char clone[] = { 0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, 5, 0x74, 1, 0xc3 };
	static const unsigned char nops[] = { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x90 };
	static const unsigned char sigreturn[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	/* pushq; jmp *; nopl: then jmp *; pushq; jmp */
	static const unsigned char plt[] = {
		0xff, 0x35, 1, 0, 0, 0, 0xff, 0x25, 1, 0, 0, 0, 0x0f, 0x1f, 0x40, 0,
		0xff, 0x25, 1, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 1, 0, 0, 0,
	};
	/* jmp *, and behind a landing pad: of static programs, and of those with IBT */
	static const unsigned char jump[] = {
		0xff, 0x25, 1, 0, 0, 0, 0x66, 0x90,
		0xff, 0x25, 1, 0, 0, 0, 0x66, 0x90,
		0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 1, 0, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0,
	};
	/* sub $8, %rsp; call *%rax; add $8, %rsp; ret */
	static const unsigned char init[] = {
		0x48, 0x83, 0xec, 8, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0xc3,
	};
	/* endbr64; cmpb; jne; push %rbp; mov %rsp, %rbp; pop %rbp; ret; nop; ret */
	static const unsigned char dtors[] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0x80, 0x3d, 1, 0, 0, 0, 0, 0x75, 7, 0x55,
		0x48, 0x89, 0xe5, 0x5d, 0xc3, 0x90, 0xc3,
	};
	/* as they, but another word is on the stack; but one way out is a jump */
	static const unsigned char no_dtors[] = {
		0x80, 0x3d, 1, 0, 0, 0, 0, 0x75, 10, 0x55, 0x53, 0xe8, 0, 0, 0, 0, 0x5b, 0x5d,
		0xc3, 0xc3,
	}, no_init[] = {
		0x48, 0x83, 0xec, 8, 0x74, 6, 0x48, 0x83, 0xc4, 8, 0xeb, 7, 0xff, 0xd0,
		0x48, 0x83, 0xc4, 8, 0xc3,
	};
	unsigned char *text = self->im.bytes + IMAGE_TEXT;

	image_begin(&self->im, EM_X86_64);
	memset(text, 0xf4, IMAGE_CFI - IMAGE_TEXT);
	memcpy(text + 0x110, clone, sizeof(clone));
	memcpy(text + 0x130 - sizeof(nops), nops, sizeof(nops));
	memcpy(text + 0x201, sigreturn, sizeof(sigreturn));
	/* mov $15, %eax; syscall */
	memcpy(text + 0x1241, "\xb8\x0f\0\0\0\x0f\x05", 7);
	memcpy(text + 0x1400, plt, sizeof(plt));
	memcpy(text + 0x1480, jump, sizeof(jump));
	memcpy(text + 0x1601, init, sizeof(init));
	memcpy(text + 0x1620, dtors, sizeof(dtors));
	/* without its end, and with a jump beyond it */
	memcpy(text + 0x1680, init, sizeof(init) - 1);
	memcpy(text + 0x1700, dtors, sizeof(dtors));
	text[0x170c] = 0x77;
	memcpy(text + 0x1740, no_dtors, sizeof(no_dtors));
	memcpy(text + 0x1760, no_init, sizeof(no_init));
	/* what is jumped to does not return */
	memcpy(text + 0x1780, dtors, sizeof(dtors));
	text[0x1794] = 0x55;
	/* something else is between */
	memcpy(text + 0x17a0, dtors, sizeof(dtors));
	text[0x17b3] = 0x53;
	/* without a landing pad */
	memcpy(text + 0x17c0, dtors + 4, sizeof(dtors) - 4);
	image_set_entry(&self->im, 0x1500);
	image_cie(&self->im);
	image_fde(&self->im, 0x100, 0x10, PROGRAM(0x0e, 16));
	image_fde(&self->im, 0x110 + sizeof(clone), 0x130 - 0x110 - sizeof(clone) - sizeof(nops),
		  PROGRAM(0x0e, 24));
	image_fde(&self->im, 0x130, 0x10, PROGRAM(0x0e, 32));
	ASSERT_EQ(0, image_compile(&self->im, &self->blob));
	EXPECT_RULES(EM_X86_64, "110 119: sp+2; 12f: sp+3; 140 1ff: none; 200 209: signal; "
			     "20a 123f: none; 1240 1247: signal; 1248 13ff: none; 1405: sp+2; 1406: sp+3; 1410: plt+11; 1420: none; "
			     "1480 149f: sp+1; 14a0: none; 1500: end; 15ff 1600: none; "
			     "1604: sp+1; 1605 160a: sp+2; 160b: sp+1; 160c: none; "
			     "1620 162d: sp+1; 162e 1631: sp+2 fp@-2; 1632 1634: sp+1; "
			     "1635 1684 170e 1750 176a 1790 17b0: none; "
			     "17c0 17c9: sp+1; 17ca 17cd: sp+2 fp@-2; 17ce 17d0: sp+1; 17d1: none");
}

/*
 * What Go's linker says of functions; S and F: steps of the stack pointer and functions, before
 * which the table is in subsections of its own. Labels are looked at: of a row of %s what it has.
 */
static const char go_macros[] =
	".section .note.go.buildid,\"a\"\n.long 0\n"
	".section .gopclntab,\"a\"\n"
	"table: .long 0xfffffff1\n.byte 0, 0, quantum, 8\n.quad all, 0, 0\n"
	".quad names - table, 0, 0, steps - table, functions - table\n"
	".subsection 1\nnames:\n.subsection 2\nsteps: .byte 0\n.subsection 3\nfunctions:\n"
	".set nr, 0\n.text\n.globl main\n.skip 16\ncode: .skip 48\n"
	".macro go label, name, flags\n"
	".set nr, nr + 1\n.section .gopclntab\n"
	".subsection 1\n\\label\\()_n: .asciz \"\\name\"\n"
	".subsection 3\n.long \\label - code, \\label\\()_f - functions\n"
	".subsection 4\n\\label\\()_f: .long \\label - code, \\label\\()_n - names, 0, 0\n"
	".long \\label\\()_s - steps, 0, 0, 0, 0, 0\n.byte 0, \\flags, 0, 0\n"
	".subsection 2\n\\label\\()_s:\n.text\n\\label:\n.endm\n"
	/* The stack grows by half of @change less 1 from @from to @to, or is less if that is odd. */
	".macro step change, from, to\n.section .gopclntab\n.subsection 2\n"
	".uleb128 \\change\n.uleb128 (\\to - \\from) / quantum\n.text\n.endm\n"
	".macro last label\n.section .gopclntab\n.subsection 2\n.byte 0\n.text\n.endm\n";

static const char go_x86[] =
	"go goexit runtime.goexit 1\nnop\ncall goexit1\nnop\nexit_:\nstep 2 goexit exit_\nlast\n"
	"go goexit1 runtime.goexit1 0\nret\nexit1_:\nstep 2 goexit1 exit1_\nlast\n"
	/* as compiled, with what grows the stack behind its return */
	"go main main.main 0\njbe 1f\npush %rbp\nmain1: mov %rsp, %rbp\nsub $16, %rsp\n"
	"main2: add $16, %rsp\nmain3: pop %rbp\nmain4: ret\n1: call morestack\nmain5:\n"
	"step 2 main main1\nstep 16 main1 main2\nstep 32 main2 main3\nstep 31 main3 main4\n"
	"step 15 main4 main5\nlast\n"
	/* as Go 1.20 did */
	"go old main.old 0\nnop\nsub $24, %rsp\nold1: mov %rbp, 16(%rsp)\nold2: lea 16(%rsp), %rbp\n"
	"old3: add $24, %rsp\nold4: ret\nold5:\n"
	"step 2 old old1\nstep 48 old1 old4\nstep 47 old4 old5\nlast\n"
	"go system runtime.systemstack.abi0 2\npush %rbp\nsystem1: mov %rsp, %rbp\n"
	"system2: mov 0x38(%rdx), %rsp\ncall *%rdi\nsystem3: mov 0x38(%rax), %rsp\n"
	"mov 0x68(%rax), %rbp\npop %rbp\nsystem4: ret\nsystem5:\n"
	"step 2 system system1\nstep 16 system1 system4\nstep 15 system4 system5\nlast\n"
	/* takes another frame pointer along */
	"go taken runtime.taken 2\npush %rbp\ntaken1: mov %rsp, %rbp\ntaken2: mov 0x38(%rdx), %rsp\n"
	"taken3: mov 0x68(%rdx), %rbp\ncall *%rdi\nret\ntaken5:\n"
	"step 2 taken taken1\nstep 16 taken1 taken5\nlast\n"
	"go mcall runtime.mcall 2\npush %rbp\nmcall1: mov %rsp, %rbp\nmcall2: mov 0x38(%r14), %rsp\n"
	"mcall3: call *%r12\npop %rbp\nmcall4: ret\nmcall5:\n"
	"step 2 mcall mcall1\nstep 16 mcall1 mcall4\nstep 15 mcall4 mcall5\nlast\n"
	"go morestack runtime.morestack 2\nmov (%rsp), %rax\nmov 0x38(%rbx), %rsp\n"
	"morestack1: call *%rax\nmorestack2:\nstep 2 morestack morestack2\nlast\n"
	"go sigtramp runtime.sigtramp 1\nsub $8, %rsp\nsigtramp1: ret\nsigtramp2:\n"
	"step 2 sigtramp sigtramp1\nstep 16 sigtramp1 sigtramp2\nlast\n"
	"go sigreturn runtime.sigreturn__sigaction 0\nmov $15, %rax\nsyscall\nsigreturn1:\n"
	"step 2 sigreturn sigreturn1\nlast\n"
	"go preempt runtime.asyncPreempt 0\npushf\npreempt1:\nstep 2 preempt preempt1\nlast\n"
	/* a step that leads out of it */
	"go out main.out 0\nret\nout1: nop\nout2:\nstep 2 out out1\nstep 16 main out2\nlast\n"
	"go vfork main.vfork 0\npop %r12\nvfork1: jmp *%r12\nvfork2:\n"
	"step 2 vfork vfork1\nstep 15 vfork1 vfork2\nlast\n"
	".set all, nr\n.section .gopclntab\n.subsection 3\n.long vfork2 - code\n";

/**
 * struct go_row - what holds at a label
 * @label: label
 * @before: bytes before it
 * @rule: rule
 */
struct go_row {
	const char *label;
	int before;
	const char *rule;
};

static void try_go(struct __test_metadata *_metadata, FIXTURE_DATA(unwind) *self,
		   const char *gcc, uint16_t machine, const char *source,
		   const struct go_row *rows, size_t nr)
{
	const char *dir = lib_tmpdir();
	char text[16384];
	int fd;

	ASSERT_NE(NULL, dir);
	snprintf(text, sizeof(text), ".set quantum, %d\n%s%s", machine == EM_X86_64 ? 1 : 4,
		 go_macros, source);
	ASSERT_TRUE(lib_write(dir, "go.S", text));
	ASSERT_EQ(0, lib_sh("cd %s && %s -nostdlib -static -no-pie -Wl,-e,main,-z,noseparate-code "
			    "-o out go.S 2>&1", dir, gcc));
	snprintf(text, sizeof(text), "%s/out", dir);
	fd = open(text, O_RDONLY);
	ASSERT_EQ(0, gprof_unwind_compile(fd, 0, &self->blob));
	close(fd);
	for (size_t i = 0; i < nr; i++) {
		uint64_t at = symbol_address(dir, "out", rows[i].label) - IMAGE_ADDR;
		const struct gprof_unwind_rule *r;

		r = table_find(self->blob.data, at - (uint64_t)rows[i].before);
		ASSERT_NE(NULL, r);
		EXPECT_STREQ(rows[i].rule, rule_text(*r, machine)) {
			TH_LOG("%s - %d", rows[i].label, rows[i].before);
		}
	}
	lib_sh("rm -rf %s", dir);
}

TEST_F(unwind, functions_of_go_have_rows_by_its_own_table)
{
	static const struct go_row rows[] = {
		{ "goexit", 0, "end" }, { "goexit1", 0, "sp+1" },
		{ "main1", 1, "sp+1" }, { "main1", 0, "sp+2 fp@-2" }, { "main2", 2, "sp+2 fp@-2" },
		/* a fault there is looked up one byte before */
		{ "main2", 1, "sp+4 fp@-2" }, { "main2", 0, "sp+4 fp@-2" },
		{ "main3", 0, "sp+2 fp@-2" }, { "main4", 0, "sp+1" }, { "main5", 1, "sp+1" },
		{ "old1", 2, "sp+1" }, { "old1", 0, "sp+4" }, { "old2", 0, "sp+4 fp@-2" },
		{ "old3", 0, "sp+4 fp@-2" }, { "old4", 0, "sp+1" },
		{ "system1", 0, "sp+2 fp@-2" }, { "system2", 0, "stack+2 fp@-2" },
		{ "system3", 1, "stack+2 fp@-2" }, { "system3", 0, "stack+2 fp@-2" },
		{ "system4", 0, "sp+1" },
		{ "taken2", 0, "stack+2 fp@-2" }, { "taken3", 0, "end" }, { "taken5", 1, "end" },
		{ "mcall2", 0, "stack+2 fp@-2" }, { "mcall3", 0, "end" }, { "mcall5", 1, "end" },
		{ "morestack", 0, "sp+1" }, { "morestack1", 0, "end" },
		{ "sigtramp", 0, "sp+1" }, { "sigtramp1", 0, "sp+2" },
		{ "sigreturn", 0, "signal" }, { "sigreturn1", 1, "signal" },
		{ "preempt", 0, "end" }, { "out", 0, "sp+1" }, { "out1", 0, "none" },
		{ "vfork", 0, "sp+1" }, { "vfork1", 0, "unknown" },
	};

	NEED("gcc");
	try_go(_metadata, self, "gcc", EM_X86_64, go_x86, rows, sizeof(rows) / sizeof(*rows));
}

static const char go_a64[] =
	"go goexit runtime.goexit 1\nmov x0, x0\nbl goexit1\nexit_:\nstep 2 goexit exit_\nlast\n"
	"go goexit1 runtime.goexit1 0\nret\nexit1_:\nstep 2 goexit1 exit1_\nlast\n"
	"go main main.main 0\nb.ls 1f\nstr x30, [sp, #-64]!\nmain1: stur x29, [sp, #-8]\n"
	"main2: sub x29, sp, #8\nldp x29, x30, [sp, #-8]\nadd sp, sp, #64\nmain3: ret\n"
	"1: bl morestack\nmain4:\n"
	"step 2 main main1\nstep 128 main1 main3\nstep 127 main3 main4\nlast\n"
	"go large main.large 0\nsub x20, sp, #512\nstp x29, x30, [x20, #-8]\nmov sp, x20\n"
	"large1: sub x29, sp, #8\nret\nlarge2:\nstep 2 large large1\nstep 1024 large1 large2\nlast\n"
	/* not as any compiler does */
	"go odd main.odd 0\nsub sp, sp, #16\nodd1: ret\nodd2:\n"
	"step 2 odd odd1\nstep 32 odd1 odd2\nlast\n"
	"go vdso runtime.nanotime1 2\nstr x30, [sp, #-16]!\nvdso1: stur x29, [sp, #-8]\n"
	"sub x29, sp, #8\nvdso2: mov sp, x1\nblr x2\nvdso3: mov sp, x20\nadd sp, sp, #16\n"
	"vdso4: ret\nvdso5:\nstep 2 vdso vdso1\nstep 32 vdso1 vdso4\nstep 31 vdso4 vdso5\nlast\n"
	"go system runtime.systemstack.abi0 2\nstr x30, [sp, #-16]!\nsystem1: stur x29, [sp, #-8]\n"
	"sub x29, sp, #8\nsystem2: mov sp, x3\nsystem3: ldr x29, [x28, #104]\nblr x3\nsystem4:\n"
	"step 2 system system1\nstep 32 system1 system4\nlast\n"
	"go mcall runtime.mcall 2\nbl goexit1\nmcall1: mov sp, x0\nmcall2: blr x4\nmcall3:\n"
	"step 2 mcall mcall3\nlast\n"
	"go panic runtime.sigpanic 0\nnop\nstr x30, [sp, #-96]!\npanic1: stur x29, [sp, #-8]\n"
	"panic2: nop\npanic3:\nstep 2 panic panic1\nstep 192 panic1 panic3\nlast\n"
	"go morestack runtime.morestack 2\nret\nmorestack1:\nstep 2 morestack morestack1\nlast\n"
	".set all, nr\n.section .gopclntab\n.subsection 3\n.long morestack1 - code\n";

TEST_F(unwind, functions_of_go_on_arm64_have_theirs)
{
	static const struct go_row rows[] = {
		{ "goexit", 0, "end" }, { "main", 0, "sp+0 lr" },
		{ "main1", 0, "sp+8 ra@-8" }, { "main2", 0, "sp+8 fp@-9 ra@-8" },
		{ "main3", 0, "sp+0 lr" }, { "main4", 4, "sp+0 lr" },
		{ "large1", 4, "sp+0 lr" }, { "large1", 0, "sp+64 fp@-65 ra@-64" },
		{ "odd", 0, "sp+0 lr" }, { "odd1", 0, "none" },
		{ "vdso2", 0, "stack+3 fp@-3 ra@-2" }, { "vdso3", 0, "stack+3 fp@-3 ra@-2" },
		{ "vdso4", 0, "sp+0 lr" },
		{ "system2", 0, "stack+3 fp@-3 ra@-2" }, { "system3", 0, "end" },
		{ "mcall", 0, "sp+0 lr" }, { "mcall1", 0, "unknown" }, { "mcall2", 0, "end" },
		/* what a fault has pushed lies above it */
		{ "panic", 0, "sp+2 lr" }, { "panic1", 0, "sp+14 ra@-14" },
		{ "panic2", 0, "sp+14 fp@-15 ra@-14" },
	};
	const char *gcc = "aarch64-linux-gnu-gcc";

#ifdef __aarch64__
	gcc = "gcc";
#endif
	if (!lib_have(gcc))
		SKIP(return, "there is no %s", gcc);
	try_go(_metadata, self, gcc, EM_AARCH64, go_a64, rows, sizeof(rows) / sizeof(*rows));
}

/* As a relocation, or the runtime, would say it. */
TEST_F(unwind, a_table_of_go_that_is_not_for_the_code_gives_no_rows)
{
	static const struct go_row none[] = { { "vfork", 0, "none" }, { "goexit", 0, "none" } };
	char source[sizeof(go_x86)], *call;

	NEED("gcc");
	memcpy(source, go_x86, sizeof(source));
	call = strstr(source, "call goexit1");
	ASSERT_NE(NULL, call);
	memcpy(call, "call main   ", 12);
	try_go(_metadata, self, "gcc", EM_X86_64, source, none, 2);
}

/* What is before the first row has one that says nothing, and is counted. */
TEST(text_begins_with_a_row)
{
	struct gprof_unwind_rule sp = { .kind = GPROF_UNWIND_CFA_SP, .cfa = 1 };
	struct gprof_unwind_rule none = { .kind = GPROF_UNWIND_CFA_NONE };
	struct gprof_budget budget = { .max = 1 << 20 };
	struct gprof_unwind_blob blob;
	struct gprof_rows rows;

	ASSERT_ZEROS(gprof_rows_init(&rows, &budget), gprof_rows_add(&rows, 16, sp),
		     gprof_rows_add(&rows, 512, none),
		     gprof_rows_pack(&rows, EM_X86_64, 0, 600, &blob),
		     table_check(blob.data, blob.size));
	EXPECT_EQ(GPROF_UNWIND_CFA_NONE, table_find(blob.data, 0)->kind);
	EXPECT_EQ(GPROF_UNWIND_CFA_NONE, table_find(blob.data, 15)->kind);
	EXPECT_EQ(GPROF_UNWIND_CFA_SP, table_find(blob.data, 16)->kind);
	EXPECT_EQ(GPROF_UNWIND_CFA_SP, table_find(blob.data, 511)->kind);
	gprof_unwind_blob_free(&blob);
	gprof_rows_free(&rows);
}

TEST_F(unwind, the_vdso_has_a_table)
{
	const struct gprof_unwind_table *t;

	ASSERT_EQ(0, gprof_unwind_compile_vdso(&self->blob));
	ASSERT_EQ(0, table_check(self->blob.data, self->blob.size));
	t = self->blob.data;
	EXPECT_LT(4, t->rows);
}

/* A file of @size bytes of CFI, one entry after the other as @fill makes them. */
static unsigned char *big_file(size_t size, void (*fill)(unsigned char *p, size_t size))
{
	struct image *im = calloc(1, sizeof(*im));
	unsigned char *file = calloc(1, IMAGE_CFI + size);
	Elf64_Phdr *ph;

	if (!im || !file)
		return NULL;
	image_begin(im, EM_X86_64);
	memcpy(file, im->bytes, IMAGE_CFI + 12);
	ph = (Elf64_Phdr *)(file + sizeof(Elf64_Ehdr));
	ph[2].p_filesz = size;
	fill(file + IMAGE_CFI + 12, size - 12);
	free(im);
	return file;
}

static void put_entry(unsigned char *p, size_t at, uint32_t len, uint32_t id)
{
	memcpy(p + at, &len, 4);
	memcpy(p + at + 4, &id, 4);
}

/* Half of it CIEs, half FDEs of the first, second, third ... */
static void many_cies(unsigned char *p, size_t size)
{
	static const unsigned char cie[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8 };
	size_t at, n = size / 2 / 32;

	for (at = 0; at < n * 32; at += 32) {
		put_entry(p, at, 28, 0);
		memcpy(p + at + 8, cie, sizeof(cie));
	}
	for (; at + 32 <= size; at += 32) {
		size_t of = (at / 32 * 7919 % n) * 32;
		int32_t where = (int32_t)(IMAGE_TEXT - (IMAGE_CFI + 12 + at + 8) + at % 0x1f00);

		put_entry(p, at, 28, (uint32_t)(at + 4 - of));
		memcpy(p + at + 8, &where, 4);
		p[at + 12] = 0xff;
	}
}

/* FDEs for all of the text, each with a row for each byte of its program. */
static void all_overlap(unsigned char *p, size_t size)
{
	static const unsigned char cie[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8 };

	put_entry(p, 0, 28, 0);
	memcpy(p + 8, cie, sizeof(cie));
	for (size_t at = 32; at + 256 <= size; at += 256) {
		int32_t where = (int32_t)(IMAGE_TEXT - (IMAGE_CFI + 12 + at + 8));

		put_entry(p, at, 252, (uint32_t)(at + 4));
		memcpy(p + at + 8, &where, 4);
		p[at + 13] = 0x20;
		for (size_t i = 17; i < 254; i += 3) {
			p[at + i] = 0x41;
			p[at + i + 1] = 0x0e;
			p[at + i + 2] = (unsigned char)(i & 0x78);
		}
	}
}

/* Four times the bytes take four times the time, not sixteen times. */
TEST_F(unwind, time_is_linear_whatever_the_bytes)
{
	static void (*const fills[])(unsigned char *, size_t) = { many_cies, all_overlap };
	const size_t size = 2 << 20;

	for (size_t i = 0; i < 2; i++) {
		uint64_t took[2] = { UINT64_MAX, UINT64_MAX };

		for (size_t turn = 0; turn < 3; turn++) {
			for (size_t j = 0; j < 2; j++) {
				unsigned char *file = big_file(size << 2 * j, fills[i]);
				uint64_t begin = lib_cpu_ns();

				ASSERT_NE(NULL, file);
				ASSERT_EQ(0, gprof_unwind_compile_memory(file,
						IMAGE_CFI + (size << 2 * j), 0, &self->blob));
				begin = lib_cpu_ns() - begin;
				took[j] = begin < took[j] ? begin : took[j];
				gprof_unwind_blob_free(&self->blob);
				free(file);
			}
		}
		TH_LOG("%zu: %llu and %llu us", i, (unsigned long long)took[0] / 1000,
		       (unsigned long long)took[1] / 1000);
		/* what is over in milliseconds depends on what the caches hold */
		EXPECT_LT(took[1], took[0] * 10 + 20000000);
		/* and 8 MiB of it no second */
		EXPECT_GT(1000000000, took[1]);
	}
}

TEST_F(unwind, memory_is_taken_within_the_limit)
{
	unsigned char *file = big_file(8 << 20, many_cies);

	ASSERT_NE(NULL, file);
	EXPECT_EQ(-ENOMEM, gprof_unwind_compile_memory(file, IMAGE_CFI + (8 << 20), 4 << 20,
						       &self->blob));
	EXPECT_EQ(NULL, self->blob.data);
	free(file);
}

static const char frames[] =
	"int g(int *);\n"
	"int f(int n) { int b[n]; return g(b) + n; }\n"
	"int h(int n) { int b[9]; return g(b) + f(n); }\n";

static bool has_gone(void *ctx)
{
	return true;
}

/* The same text: by section, by segment alone, by .debug_frame, and that packed. */
TEST_F(unwind, wherever_the_frames_are_told_the_table_is_the_same)
{
	static const char *const ways[][2] = {
		{ "", "" },
		/* the header of the file no longer leads to its sections */
		{ "", "dd if=/dev/zero of=f.so bs=1 seek=40 count=8 conv=notrunc 2>/dev/null && "
		      "dd if=/dev/zero of=f.so bs=1 seek=60 count=4 conv=notrunc 2>/dev/null" },
		{ "-fno-asynchronous-unwind-tables -fno-unwind-tables -g", "" },
		{ "-fno-asynchronous-unwind-tables -fno-unwind-tables -g -gz=zlib -Wl,--compress-debug-sections=zlib", "" },
	};
	const char *dir = lib_tmpdir();
	struct gprof_unwind_table *t, first = { 0 };
	struct gprof_cancel gone = { .poll = has_gone };
	const char *path = lib_text("%s/f.so", dir);
	int fd;

	if (!lib_have("gcc"))
		SKIP(return, "no compiler");
	ASSERT_TRUE(lib_write(dir, "f.c", frames));
	for (size_t i = 0; i < 4; i++) {
		gprof_unwind_blob_free(&self->blob);
		ASSERT_EQ(0, lib_sh("cd %s && gcc -O2 -fomit-frame-pointer -fPIC -shared -nostdlib "
				    "-Wl,-z,now,-z,noseparate-code,--build-id=none,--no-ld-generated-unwind-info "
				    "%s -o f.so f.c && true %s %s", dir, ways[i][0],
				    ways[i][1][0] ? "&&" : "", ways[i][1]));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		ASSERT_LE(0, fd);
		gprof_cancel_begin(&gone);
		EXPECT_EQ(-ECONNABORTED, gprof_unwind_compile(fd, 0, &self->blob));
		gprof_cancel_end();
		ASSERT_EQ(0, gprof_unwind_compile(fd, 0, &self->blob)) {
			TH_LOG("way %zu", i);
		}
		close(fd);
		t = self->blob.data;
		/* the text begins elsewhere in its granule, with or without a row before it */
		t->rows -= !table_find(t, t->start)->kind;
		if (!i)
			first = *t;
		EXPECT_LT(8, t->rows);
		EXPECT_EQ(first.rows, t->rows) {
			TH_LOG("way %zu", i);
		}
		EXPECT_EQ(first.rules, t->rules);
	}
	/* Go's .debug_frame leaves out where a function has its frame. */
	gprof_unwind_blob_free(&self->blob);
	ASSERT_EQ(0, lib_sh("cd %s && echo id >id && "
			    "objcopy --add-section .note.go.buildid=id f.so go.so", dir));
	fd = open(lib_text("%s/go.so", dir), O_RDONLY | O_CLOEXEC);
	EXPECT_EQ(0, gprof_unwind_compile(fd, 0, &self->blob));
	close(fd);
	t = self->blob.data;
	EXPECT_GT(first.rows, t->rows);
	lib_sh("rm -rf %s", dir);
}

TEST_HARNESS_MAIN
