// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that were made to do harm, as debug data of programs: strings without an end, and a
 * few bytes that stand for more than there is memory. Names are missing then, not wrong.
 */
#include "harness.h"
#include <elf.h>

#include "base/memory_share.h"
#include "lib_util.h"
#include "names_image.h"
#include "symbol_build.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Takes the 0 off the end of the names of a file's symbols. */
static bool cut_strings(const char *path)
{
	bool done = false;
	size_t size;
	Elf64_Ehdr *eh = symbol_map(path, &size);
	Elf64_Shdr *sh;

	if (!eh)
		return false;
	sh = (Elf64_Shdr *)((char *)eh + eh->e_shoff);
	for (unsigned int i = 0; i < eh->e_shnum; i++)
		if (sh[i].sh_type == SHT_SYMTAB) {
			sh[sh[i].sh_link].sh_size--;
			done = true;
		}
	munmap(eh, size);
	return done;
}

static const char source[] =
	"volatile int v;\n"
	"static __attribute__((noinline, used)) void local(void) { v++; }\n"
	"int main(void) { local(); return 0; }\n";

#define PROGRAM()								\
	({								\
		lib_write(self->dir, "a.c", source);			\
		ASSERT_EQ(0, lib_sh("cd %s && gcc -O1 -o out a.c", self->dir));	\
		ADDRESS("local");			\
	})

TEST_F(symbol, packed_names_without_an_end_are_not_read)
{
	uint64_t local;
	char mini[160];

	NEED("gcc");
	NEED("xz");
	local = PROGRAM();
	DO("objcopy -S --keep-symbol=local out mini");
	snprintf(mini, sizeof(mini), "%s/mini", self->dir);
	ASSERT_TRUE(cut_strings(mini));
	DO("xz mini && strip out && objcopy --add-section .gnu_debugdata=mini.xz out");
	OPEN();
	EXPECT_TRUE(NAMELESS(local));
	EXPECT_EQ(GPROF_MISSING_ELF, gprof_symbolizer_missing(self->s));
}

/* Deflated, and then packed: 1000 times 1000 times. */
TEST_F(symbol, packed_tables_that_are_compressed_once_more_are_not_read)
{
	uint64_t local;

	NEED("gcc");
	NEED("xz");
	local = PROGRAM();
	DO("objcopy -S --keep-symbol=local out mini && "
	   "head -c 1M /dev/zero >zeros && objcopy --add-section .debug_x=zeros mini "
	   "big && objcopy --compress-debug-sections=zlib big mini && xz mini && strip out && "
	   "objcopy --add-section .gnu_debugdata=mini.xz out");
	OPEN();
	EXPECT_TRUE(NAMELESS(local));
	EXPECT_EQ(GPROF_MISSING_PACKED, gprof_symbolizer_missing(self->s));
}

/* libdwfl maps these: where such a file ends with a page, there is nothing behind it. */
TEST_F(symbol, names_without_an_end_in_a_debug_file_are_not_read)
{
	uint64_t local;
	char debug[160];

	NEED("gcc");
	local = PROGRAM();
	DO("objcopy --only-keep-debug out out.debug");
	snprintf(debug, sizeof(debug), "%s/out.debug", self->dir);
	ASSERT_TRUE(cut_strings(debug));
	DO("strip out && objcopy -R .note.gnu.build-id --add-gnu-debuglink=out.debug out");
	OPEN();
	EXPECT_TRUE(NAMELESS(local));
	EXPECT_EQ(GPROF_MISSING_DEBUG, gprof_symbolizer_missing(self->s));
}

/*
 * Code, and what DWARF says of it, by hand. Abbreviations: 1: a unit with functions, 2: a function
 * with a name, 3: a function of many ranges, 4: a unit with lines, 5: a unit of nothing
 */
static const char dwarf_head[] =
	".text\n.globl main\nmain: .rept 64\nnop\n.endr\nend:\n.globl last\n"
	".type last,%function\nlast: nop\n.size last,.-last\n"
	".section .debug_abbrev,\"\",%progbits\nabbrev:\n"
	".byte 1,0x11,1, 0x11,1, 0x12,7, 0,0\n"
	".byte 2,0x2e,0, 0x11,1, 0x12,7, 3,8, 0,0\n"
	".byte 3,0x2e,0, 0x55,0x17, 0,0\n"
	".byte 4,0x11,0, 0x11,1, 0x12,7, 0x10,0x17, 0,0\n"
	".byte 5,0x11,0, 0,0\n";

static const char unit_head[] =
	".section .debug_info,\"\",%progbits\n"
	"unit: .long unit_end - unit - 4\n.short 4\n.long abbrev\n.byte 8\n";

static bool build_dwarf(const char *dir, const char *abbrevs, const char *units)
{
	char text[8192];

	snprintf(text, sizeof(text), "%s%s.byte 0\n%s%s", dwarf_head, abbrevs, unit_head, units);
	lib_write(dir, "d.S", text);
	return !lib_sh("cd %s && gcc -c d.S && ld -e main -o out d.o 2>&1 && objcopy -N main -N end out",
		       dir);
}

/* How many MiB it takes to name what is at @pc, which is all that the program tells of it. */
static long mib_to_name(struct __test_metadata *_metadata, FIXTURE_DATA(symbol) *self, uint64_t pc,
			const char *name)
{
	long before;

	OPEN();
	before = lib_peak_kib(RUSAGE_SELF);
	ASSERT_EQ(1, FRAMES(pc));
	EXPECT_STREQ(name, self->frames[0].name);
	EXPECT_EQ(GPROF_MISSING_DEBUG, gprof_symbolizer_missing(self->s));
	return (lib_peak_kib(RUSAGE_SELF) - before) >> 10;
}

TEST_F(symbol, a_name_that_ends_behind_its_section_is_none)
{
	uint64_t last;

	NEED("gcc");
	ASSERT_TRUE(build_dwarf(self->dir, "",
				".byte 1\n.quad main\n.quad end - main\n"
				".byte 2\n.quad main\n.quad 8\n.asciz \"sound\"\n"
				".byte 2\n.quad main + 8\n.quad 8\n.ascii \"endless\"\nunit_end:\n"));
	last = ADDRESS("last");
	OPEN();
	ASSERT_EQ(1, FRAMES(last - 64));
	EXPECT_STREQ("sound", self->frames[0].name);
	EXPECT_EQ(0, FRAMES(last - 56));
}

/* 5 bytes for each of 30,000 ranges. */
TEST_F(symbol, functions_that_share_a_list_of_ranges_take_little_memory)
{
	uint64_t last;
	double began;

	NEED("gcc");
	ASSERT_TRUE(build_dwarf(self->dir, "",
				".byte 1\n.quad main\n.quad end - main + 1\n"
				".rept 5000\n.byte 3\n.long ranges\n.endr\n.byte 0\nunit_end:\n"
				".section .debug_ranges,\"\",%progbits\nranges:\n.rept 30000\n"
				".quad 0, 1\n.endr\n.quad 0, 0\n"));
	last = ADDRESS("last");
	began = now();
	EXPECT_GT(450, mib_to_name(_metadata, self, last, "last"));
	EXPECT_GT(20, now() - began);
}

TEST_F(symbol, small_units_take_little_memory)
{
	uint64_t last;

	NEED("gcc");
	ASSERT_TRUE(build_dwarf(self->dir, "",
				".byte 1\n.quad main\n.quad end - main + 1\n.byte 0\nunit_end:\n"
				".rept 1000000\n.long 8\n.short 4\n.long abbrev\n.byte 8, 5\n.endr\n"));
	last = ADDRESS("last");
	EXPECT_GT(100, mib_to_name(_metadata, self, last, "last"));
}

/* Each of the units has them of its own once its last one was looked for. */
TEST_F(symbol, units_that_share_abbreviations_take_little_memory)
{
	uint64_t last;

	NEED("gcc");
	ASSERT_TRUE(build_dwarf(self->dir,
				".set i, 1000\n.rept 500000\n.uleb128 i\n.byte 0x11,0,0,0\n"
				".set i, i + 1\n.endr\n",
				".byte 1\n.quad main\n.quad end - main + 1\n.byte 0\nunit_end:\n"
				".rept 20\n.long 10\n.short 4\n.long abbrev\n.byte 8\n"
				".uleb128 500999\n.endr\n"));
	last = ADDRESS("last");
	EXPECT_GT(100, mib_to_name(_metadata, self, last, "last"));
}

/* A byte for each row, or some for each file with a directory that is long. */
TEST_F(symbol, tables_of_lines_take_little_memory)
{
	static const char *const program[][2] = {
		{ "", ".fill 8000000, 1, 0x20\n" },
		{ ".fill 1000000, 1, 0x61\n.byte 0\n", ".byte 0\n" },
	};
	static const char *const files[] = { "", ".rept 2000\n.asciz \"f\"\n.byte 1, 0, 0\n.endr\n" };
	char text[4096];
	uint64_t last;

	NEED("gcc");
	for (size_t i = 0; i < 2; i++) {
		snprintf(text, sizeof(text),
			 ".byte 4\n.quad main\n.quad end - main + 1\n.long lines\nunit_end:\n"
			 ".section .debug_line,\"\",%%progbits\nlines: .long lines_end - lines - 4\n"
			 ".short 4\n.long program - header\nheader: .byte 1, 1, 1, -5, 14, 13\n"
			 ".byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1\n%s.byte 0\n%s.byte 0\n"
			 "program: .byte 0, 9, 2\n.quad main\n%s.byte 0, 1, 1\nlines_end:\n",
			 program[i][0], files[i], program[i][1]);
		ASSERT_TRUE(build_dwarf(self->dir, "", text));
		last = ADDRESS("last");
		EXPECT_GT(100, mib_to_name(_metadata, self, last, "last")) TH_LOG("row %zu", i);
		symbol_close(self);
	}
}

TEST_F(symbol, compressed_debug_data_that_comes_to_much_is_not_unpacked)
{
	uint64_t local;

	NEED("gcc");
	local = PROGRAM();
	DO("head -c 300M /dev/zero >zeros && objcopy "
	   "--add-section .debug_info=zeros out big && rm zeros && "
	   "objcopy --compress-debug-sections=zlib big out && rm big");
	EXPECT_GT(64, mib_to_name(_metadata, self, local, "local"));
}

/* Each sibling that a DIE says to have lies within its children: 2^64 ways through them. */
TEST_F(symbol, debug_data_that_is_a_maze_is_left)
{
	uint64_t last;
	double began;

	NEED("gcc");
	ASSERT_TRUE(build_dwarf(self->dir, ".byte 6,0x39,1, 1,0x13, 0,0\n",
				".byte 1\n.quad main\n.quad end - main + 1\n"
				".set i, 0\n.rept 62\n.byte 6\n.long . + 4 - unit\n.endr\n"
				".zero 70\nunit_end:\n"));
	last = ADDRESS("last");
	OPEN();
	began = now();
	ASSERT_EQ(1, FRAMES(last));
	EXPECT_STREQ("last", self->frames[0].name);
	EXPECT_GT(30, now() - began);
}

/* A million of them, whose ends are looked for one by one, and that are compared. */
TEST_F(symbol, long_names_for_one_address_are_soon_done_with)
{
	const uint32_t nr = 1000000;
	struct stat st;
	Elf64_Sym *sym;
	double began;
	uint32_t i;
	char *file;

	ASSERT_TRUE(names_write(self->out, nr, 60000, ""));
	OPEN();
	ASSERT_EQ(0, fstat(self->fd, &st));
	i = (uint32_t)open(self->out, O_RDWR | O_CLOEXEC);
	file = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, (int)i, 0);
	ASSERT_NE(MAP_FAILED, file);
	close((int)i);
	sym = (Elf64_Sym *)(file + NAMES_TEXT + (size_t)nr * NAMES_STEP);
	for (i = 1; i <= nr; i++) {
		sym[i].st_value = NAMES_TEXT;
		sym[i].st_name = 1 + i % 100;
	}
	munmap(file, st.st_size);
	began = now();
	EXPECT_EQS(0, FRAMES(NAMES_TEXT), GPROF_MISSING_MEMORY, gprof_symbolizer_missing(self->s));
	EXPECT_GT(10, now() - began) TH_LOG("%f s", now() - began);
}

TEST_F(symbol, memory_is_what_the_cgroup_leaves)
{
	char root[160];

	snprintf(root, sizeof(root), "%s/cg", self->dir);
	ASSERT_EQ(0, lib_sh("mkdir -p %s/a/b/c && echo max >%s/a/memory.max && "
			    "echo 1000000 >%s/a/b/memory.max && echo 2000000 >%s/a/b/c/memory.max",
			    root, root, root, root));
	EXPECT_EQ(UINT64_MAX, gprof_memory_limit(root, "/"));
	EXPECT_EQ(UINT64_MAX, gprof_memory_limit(root, "/a"));
	EXPECT_EQ(1000000, gprof_memory_limit(root, "/a/b"));
	EXPECT_EQ(1000000, gprof_memory_limit(root, "/a/b/c"));
	EXPECT_EQ(UINT64_MAX, gprof_memory_limit(root, "/../cg/a/b"));
	EXPECT_EQ(UINT64_MAX, gprof_memory_limit(root, "/none"));
	EXPECT_GE(1000, gprof_memory_share(1000));
}

TEST_HARNESS_MAIN
