/* SPDX-License-Identifier: GPL-2.0-only */
/* table_code.h: code whose frames are known to the byte, to be copied to files of its own. */
#ifndef GPROF_TEST_TABLE_CODE_H
#define GPROF_TEST_TABLE_CODE_H

/* Addresses of labels are no matter of the linker's: arm64's takes local ones for each other. */
#define HIDDEN	__attribute__((visibility("hidden")))

/*
 * entry(trips, fp, decoy) calls middle, which calls leaf, which counts trips down. What
 * tells one from the other is the size of their frames; and where the table of "near"
 * looks for the return address of entry, "far" has @decoy.
 */
#ifdef __x86_64__
#define CODE(name, entry_bytes, middle_bytes, place)			\
__asm__(								\
"	.pushsection .text\n"						\
"	.balign	256\n"							\
#name "_begin:\n"							\
"	push	%rbx\n"							\
"	push	%rbp\n"							\
"	sub	$" #entry_bytes ", %rsp\n"				\
"	mov	%rdx, " #place "(%rsp)\n"				\
"	mov	%rsi, %rbp\n"						\
#name "_body:\n"							\
"	call	" #name "_middle\n"					\
#name "_return:\n"							\
"	add	$" #entry_bytes ", %rsp\n"				\
"	pop	%rbp\n"							\
"	pop	%rbx\n"							\
"	ret\n"								\
#name "_middle:\n"							\
"	sub	$" #middle_bytes ", %rsp\n"				\
#name "_middle_body:\n"							\
"	call	" #name "_leaf\n"					\
#name "_middle_return:\n"						\
"	add	$" #middle_bytes ", %rsp\n"				\
"	ret\n"								\
#name "_leaf:\n"							\
"	dec	%rdi\n"							\
"	jnz	" #name "_leaf\n"					\
#name "_leaf_end:\n"							\
"	ret\n"								\
#name "_handler:\n"							\
"	mov	$300000, %edi\n"					\
"	jmp	" #name "_begin\n"					\
#name "_end:\n"								\
"	.popsection\n");						\
extern HIDDEN const char name##_begin[], name##_body[], name##_return[], name##_middle[],	\
	name##_middle_body[], name##_middle_return[], name##_leaf[], name##_leaf_end[],	\
	name##_handler[], name##_end[];
#else
#define CODE(name, entry_bytes, middle_bytes, place)			\
__asm__(								\
"	.pushsection .text\n"						\
"	.balign	256\n"							\
#name "_begin:\n"							\
"	sub	sp, sp, #" #entry_bytes "\n"				\
"	str	x30, [sp, #8]\n"					\
"	str	x29, [sp, #16]\n"					\
"	str	x2, [sp, #" #place "]\n"				\
"	mov	x29, x1\n"						\
#name "_body:\n"							\
"	bl	" #name "_middle\n"					\
#name "_return:\n"							\
"	ldr	x29, [sp, #16]\n"					\
"	ldr	x30, [sp, #8]\n"					\
"	add	sp, sp, #" #entry_bytes "\n"				\
"	ret\n"								\
#name "_middle:\n"							\
"	sub	sp, sp, #" #middle_bytes "\n"				\
"	str	x30, [sp, #8]\n"					\
#name "_middle_body:\n"							\
"	bl	" #name "_leaf\n"					\
#name "_middle_return:\n"						\
"	ldr	x30, [sp, #8]\n"					\
"	add	sp, sp, #" #middle_bytes "\n"				\
"	ret\n"								\
#name "_leaf:\n"							\
"	subs	x0, x0, #1\n"						\
"	b.ne	" #name "_leaf\n"					\
#name "_leaf_end:\n"							\
"	ret\n"								\
#name "_handler:\n"							\
"	mov	x0, #0x50000\n"						\
"	b	" #name "_begin\n"					\
#name "_end:\n"								\
"	.popsection\n");						\
extern HIDDEN const char name##_begin[], name##_body[], name##_return[], name##_middle[],	\
	name##_middle_body[], name##_middle_return[], name##_leaf[], name##_leaf_end[],	\
	name##_handler[], name##_end[];
#endif

/*
 * The same with frame records, the words above which may lead anybody astray who takes a
 * record for all of a frame.
 */
#ifdef __x86_64__
__asm__(
"	.pushsection .text\n"
"	.balign	256\n"
"linked_begin:\n"
"	push	%rbp\n"
"	mov	%rsp, %rbp\n"
"	sub	$16, %rsp\n"
"linked_body:\n"
"	call	linked_middle\n"
"linked_return:\n"
"	leave\n"
"	ret\n"
"	.fill	8, 1, 0xcc\n"
"linked_middle:\n"
"	push	%rbp\n"
"	mov	%rsp, %rbp\n"
"	sub	$32, %rsp\n"
"	mov	%rdx, 8(%rsp)\n"
"linked_middle_body:\n"
"	call	linked_leaf\n"
"linked_middle_return:\n"
"	leave\n"
"	ret\n"
"	.fill	8, 1, 0xcc\n"
"linked_leaf:\n"
"	dec	%rdi\n"
"	jnz	linked_leaf\n"
"linked_leaf_end:\n"
"	ret\n"
"linked_handler:\n"
"	mov	$300000, %edi\n"
"	jmp	linked_begin\n"
"linked_end:\n"
"	.popsection\n");
#else
__asm__(
"	.pushsection .text\n"
"	.balign	256\n"
"linked_begin:\n"
"	stp	x29, x30, [sp, #-64]!\n"
"	mov	x29, sp\n"
"linked_body:\n"
"	bl	linked_middle\n"
"linked_return:\n"
"	ldp	x29, x30, [sp], #64\n"
"	ret\n"
"linked_middle:\n"
"	stp	x29, x30, [sp, #-48]!\n"
"	mov	x29, sp\n"
"	stp	x2, x2, [sp, #16]\n"
"	stp	x2, x2, [sp, #32]\n"
"linked_middle_body:\n"
"	bl	linked_leaf\n"
"linked_middle_return:\n"
"	ldp	x29, x30, [sp], #48\n"
"	ret\n"
"linked_leaf:\n"
"	subs	x0, x0, #1\n"
"	b.ne	linked_leaf\n"
"linked_leaf_end:\n"
"	ret\n"
"linked_handler:\n"
"	mov	x0, #0x50000\n"
"	b	linked_begin\n"
"linked_end:\n"
"	.popsection\n");
#endif
extern HIDDEN const char linked_begin[], linked_body[], linked_return[], linked_middle[],
	linked_middle_body[], linked_middle_return[], linked_leaf[], linked_leaf_end[],
	linked_handler[], linked_end[];

/* The return address of middle is the word below that of far's entry that near's table asks. */
#ifdef __x86_64__
CODE(near, 24, 56, 8)
CODE(far, 88, 8, 40)
#define WORDS_ENTRY(entry)	((entry) / 8 + 3)
#define WORDS_MIDDLE(middle)	((middle) / 8 + 1)
#else
CODE(near, 64, 48, 24)
CODE(far, 128, 16, 40)
#define WORDS_ENTRY(entry)	((entry) / 8)
#define WORDS_MIDDLE(middle)	((middle) / 8)
#endif

struct code {
	const char *begin, *body, *ret, *middle, *middle_body, *middle_ret, *leaf, *leaf_end,
		*end;
	int entry_words, middle_words;
};

#define CODE_OF(name, entry, middle) {					\
	name##_begin, name##_body, name##_return, name##_middle, name##_middle_body,	\
	name##_middle_return, name##_leaf, name##_leaf_end, name##_end,		\
	WORDS_ENTRY(entry), WORDS_MIDDLE(middle)				\
}

#ifdef __x86_64__
static const struct code near_code = CODE_OF(near, 24, 56), far_code = CODE_OF(far, 88, 8);
static const struct code linked_code = CODE_OF(linked, 8, 0);
#else
static const struct code near_code = CODE_OF(near, 64, 48), far_code = CODE_OF(far, 128, 16);
static const struct code linked_code = CODE_OF(linked, 64, 0);
#endif

#endif /* GPROF_TEST_TABLE_CODE_H */
