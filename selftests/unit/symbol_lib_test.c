// SPDX-License-Identifier: GPL-2.0-only
/* Names, lines and unwind tables of programs that are compiled here. */
#include "harness.h"
#include <dlfcn.h>
#include <elf.h>
#include <libelf.h>

#include "symbol/demangle.h"
#include "symbol/elf_strings.h"
#include "symbol/function_offset.h"
#include "lib_util.h"
#include "names_image.h"
#include "symbol_build.h"

TEST(symbols_of_cxx_and_rust_have_the_names_that_people_use)
{
	static const struct { const char *symbol, *name; } table[] = {
		{ "_ZNSt6vectorIiSaIiEE9push_backEOi",
		  "std::vector<int, std::allocator<int> >::push_back" },
		{ "_ZN2ns3fooIiEET_S1_", "ns::foo<int>" }, { "_ZN2ns3fooEv.cold", "ns::foo.cold" },
		{ "_ZN2ns3fooEi.constprop.0.isra.1", "ns::foo.constprop.0.isra.1" },
		{ "_ZN2ns3fooEv@plt", "ns::foo@plt" },
		{ "_ZN4shop12_GLOBAL__N_15stepsILi90EEEmm", "shop::(anonymous namespace)::steps<90>" },
		{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()" },
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
		{ "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
		  "<Test + 'static as foo::Bar<Test>>::bar" },
		{ "_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function" },
		{ "_RNvMNtCs1234_7mycrate3fooNtB2_3Bar3baz", NULL }, { "main", NULL }, { "", NULL },
		{ "_", NULL }, { "_Z", NULL }, { "_ZN", NULL }, { "_R", NULL }, { "_Zebra", NULL },
		{ "_Rust", NULL },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		char *name = gprof_demangle(table[i].symbol);

		if (table[i].name)
			EXPECT_STREQ(table[i].name, name ? name : "(none)");
		free(name);
	}
}

/* As those of expression templates: ns::foo<1, 1, 1...>(), with a symbol of 3 KiB. */
TEST(long_symbols_have_names)
{
	static const char *const itself[] = { "_RB_", "_RNvB_", "_RIB_" };
	static const size_t bytes[] = { 1000, 1039, 3000 };
	static char symbol[16 << 10];

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		char *name;

		strcpy(symbol, "_ZN2ns3fooI");
		while (strlen(symbol) < bytes[i])
			strcat(symbol, "Li1E");
		strcat(symbol, "EEvv");
		name = gprof_demangle(symbol);
		ASSERT_NE(NULL, name) TH_LOG("%zu bytes", bytes[i]);
		EXPECT_EQ(0, strncmp(name, "ns::foo<1, 1, ", 14));
		free(name);
	}
	/* Pointers to pointers, 15,000 deep: to the end of the stack, were it a common one. */
	strcpy(symbol, "_Z1f");
	memset(symbol + 4, 'P', 15000);
	strcpy(symbol + 15004, "i");
	free(gprof_demangle(symbol));
	/* and of Rust, a name that refers to itself, long enough for a thread of its own */
	for (size_t i = 0; i < sizeof(itself) / sizeof(itself[0]); i++) {
		strcpy(symbol, itself[i]);
		memset(symbol + strlen(itself[i]), 'a', 1100);
		symbol[strlen(itself[i]) + 1100] = '\0';
		EXPECT_EQ(NULL, gprof_demangle(symbol));
	}
}

/* 300 bytes that stand for 2^34 arguments, and depths that no stack has. */
TEST(symbols_made_to_do_harm_have_no_names)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char *const begin[] = { "_ZN", "_Z1f", "_RNv" };
	static const char piece[] = "IPN";
	char *deep = calloc(1, 1 << 20), *name;
	char bomb[1024] = "_Z1fISt4pairIiiE";
	size_t len = strlen(bomb), i;

	ASSERT_NE(NULL, deep);
	/* pairs of the pair before, S1_ being the first */
	for (i = 1; i < 35; i++) {
		len += (size_t)sprintf(bomb + len, "S0_IS%c_S%c_E", digits[i], digits[i]);
		if (i == 3) {
			strcpy(bomb + len, "EvT_");
			name = gprof_demangle(bomb);
			ASSERT_NE(NULL, name);
			EXPECT_LT(200, strlen(name));
			free(name);
		}
	}
	strcpy(bomb + len, "EvT_");
	EXPECT_EQ(NULL, gprof_demangle(bomb));
	for (i = 0; i < 3; i++) {
		strcpy(deep, begin[i]);
		memset(deep + strlen(deep), piece[i], 10000);
		EXPECT_EQ(NULL, gprof_demangle(deep));
		memset(deep + strlen(begin[i]), piece[i], (1 << 20) - 10);
		EXPECT_EQ(NULL, gprof_demangle(deep));
	}
	free(deep);
}

static const char source[] =
	"volatile int v;\n"						/* 1 */
	"static inline __attribute__((always_inline)) void inner(void)\n"
	"{\n"
	"	__asm__ volatile(\"in_inner: nop\");\n"			/* 4 */
	"}\n"
	"static inline __attribute__((always_inline)) void middle(void)\n"
	"{\n"
	"	v++;\n"
	"	{ int a = v; inner(); v = a; }\n"			/* 9 */
	"}\n"
	"__attribute__((noinline)) void outer(void)\n"			/* 11 */
	"{\n"
	"	middle();\n"						/* 13 */
	"	__asm__ volatile(\"in_outer: nop\");\n"			/* 14 */
	"}\n"
	"static __attribute__((noinline, used)) void local(void) { v++; }\n"
	"__attribute__((alias(\"outer\"))) void __outer_alias(void);\n"
	"int puts(const char *);\n"
	"int main(void) { outer(); puts(\"x\"); return 0; }\n";

/* Compile DIR/NAME.c (or .S) to DIR/NAME. */
static bool build(const char *dir, const char *compiler, const char *flags, const char *name)
{
	return !lib_sh("cd %s && %s %s -o out %s 2>&1", dir, compiler, flags, name);
}

#define BUILD(compiler, flags, name) \
	ASSERT_TRUE(build(self->dir, compiler, flags, name) && symbol_open(self))

#define MAKE(flags)	ASSERT_TRUE(build(self->dir, "gcc", flags, "a.c"))

/* An address of the program that is made so. */
#define MADE(flags, symbol) ({								\
	NEED_SOURCE();									\
	MAKE(flags);									\
	ADDRESS(symbol);								\
})

#define NEED_SOURCE() do {								\
	NEED("gcc");									\
	lib_write(self->dir, "a.c", source);						\
} while (0)

/* One function is there, of this name. */
#define EXPECT_ONE(_name, _pc) do {							\
	ASSERT_EQ(1, FRAMES(_pc));							\
	EXPECT_STREQ(_name, self->frames[0].name);					\
} while (0)

static void check_inlined(struct __test_metadata *_metadata, FIXTURE_DATA(symbol) *self)
{
	uint64_t pc = ADDRESS("in_inner");

	ASSERT_NE(0, pc);
	ASSERT_EQ(3, FRAMES(pc));
	EXPECT_TRUE(self->inlines);
	EXPECT_STREQ("inner", self->frames[0].name);
	EXPECT_EQS(4, self->frames[0].line, 2, self->frames[0].start_line);
	EXPECT_STREQ("middle", self->frames[1].name);
	EXPECT_EQ(9, self->frames[1].line);
	EXPECT_STREQ("outer", self->frames[2].name);
	EXPECT_EQS(13, self->frames[2].line, 11, self->frames[2].start_line);
	EXPECT_SAYS(self->frames[2].file, "/a.c");
	EXPECT_ONE("outer", ADDRESS("in_outer"));
	EXPECT_EQ(14, self->frames[0].line);
	EXPECT_ONE("local", ADDRESS("local"));
}

TEST_F(symbol, inlined_functions_of_programs_of_each_kind)
{
	static const struct {
		const char *compiler, *flags;
		const char *proof;	/* a command that succeeds where it is of this kind */
	} kinds[] = {
		{ "gcc", "-O1 -g -fPIE -pie", "true" }, { "gcc", "-O1 -g -no-pie -fno-pie", "true" },
		{ "gcc", "-O1 -g -static", "true" }, { "gcc", "-O1 -gdwarf-4 -fPIC -shared", "true" },
		{ "gcc", "-O1 -g -gz=zlib", "true" },
		{ "clang", "-O1 -g", "! readelf -S out | grep -q debug_aranges" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		NEED(kinds[i].compiler);
		lib_write(self->dir, "a.c", source);
		BUILD(kinds[i].compiler, kinds[i].flags, "a.c");
		DO("%s", kinds[i].proof);
		check_inlined(_metadata, self);
		symbol_close(self);
	}
}

TEST_F(symbol, the_linkers_name_of_a_function_counts)
{
	NEED_SOURCE();
	MAKE("-O1 -g");
	/* As foo.cold or foo.constprop.0, of which DWARF says foo. */
	ASSERT_EQ(0, lib_sh("objcopy --redefine-sym outer=outer.cold %s/out", self->dir));
	OPEN();
	ASSERT_EQ(3, FRAMES(ADDRESS("in_inner")));
	EXPECT_STREQS("inner", self->frames[0].name, "outer.cold", self->frames[2].name);
}

TEST_F(symbol, without_dwarf_there_is_the_function_alone)
{
	uint64_t pc;

	NEED_SOURCE();
	BUILD("gcc", "-O1 -g0", "a.c");
	pc = ADDRESS("outer");
	ASSERT_EQ(1, FRAMES(pc));
	EXPECT_FALSE(self->inlines);
	/* Not its alias with the underscores. */
	EXPECT_STREQ("outer", self->frames[0].name);
	EXPECT_EQS(NULL, self->frames[0].file, 0, FRAMES(0x10));
}

TEST_F(symbol, a_function_without_a_size_ends_at_the_next)
{
	uint64_t sized;

	NEED("gcc");
	lib_write(self->dir, "a.S",
		  ".text\n.globl start\nstart: nop\n nop\n"
		  ".globl sized\n.type sized,%function\nsized: nop\n nop\n.size sized,.-sized\n"
		  "after: nop\n nop\n");
	BUILD("gcc", "-shared -nostdlib", "a.S");
	sized = ADDRESS("sized");
	EXPECT_ONE("start", sized - 1);
	EXPECT_ONE("sized", sized);
	ASSERT_EQ(0, lib_sh("objcopy -N after %s/out", self->dir));
	symbol_close(self);
	OPEN();
	/* Behind a function with a size there is nothing, not what came before it. */
	EXPECT_EQ(0, FRAMES(sized + 2));
}

TEST_F(symbol, versions_are_no_part_of_a_name)
{
	NEED("gcc");
	lib_write(self->dir, "a.c",
		  "__attribute__((noinline)) void now(void) { __asm__ volatile(\"\"); }\n"
		  "__asm__(\".symver now,name@@V2\");\n");
	lib_write(self->dir, "v.map", "V2 { global: name; local: *; };\n");
	BUILD("gcc", "-O1 -fPIC -shared -Wl,--version-script=v.map", "a.c");
	ASSERT_EQ(1, FRAMES(ADDRESS("name@@V2")));
	EXPECT_EQ(NULL, strchr(self->frames[0].name, '@'));
}

TEST_F(symbol, a_stripped_library_has_its_dynamic_symbols)
{
	uint64_t outer, local;
	char place[32];

	outer = MADE("-O1 -g0 -fPIC -shared", "outer");
	local = ADDRESS("local");
	ASSERT_EQ(0, lib_sh("strip %s/out", self->dir));
	OPEN();
	EXPECT_ONE("outer", outer);
	/* No name is better than a wrong one: its neighbour ends before it. */
	snprintf(place, sizeof(place), "+0x%llx", (unsigned long long)local);
	for (uint64_t at = local; at < local + 2; at++) {
		EXPECT_ONE(place, at);
	}
	ASSERT_EQ(0, lib_sh("objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr %s/out 2>/dev/null",
			    self->dir));
	OPEN();
	EXPECT_EQ(0, FRAMES(local));
}

/* Takes the sections away, and @less bytes off the table of dynamic strings. */
static bool leave_segments(const char *path, unsigned int less)
{
	bool done = false;
	size_t size;
	Elf64_Ehdr *eh = symbol_map(path, &size);
	Elf64_Phdr *ph;
	Elf64_Dyn *d;

	if (!eh)
		return false;
	eh->e_shoff = 0;
	eh->e_shnum = 0;
	eh->e_shstrndx = 0;
	ph = (void *)((char *)eh + eh->e_phoff);
	while (ph->p_type != PT_DYNAMIC)
		ph++;
	for (d = (void *)((char *)eh + ph->p_offset); d->d_tag != DT_NULL; d++) {
		if (d->d_tag != DT_STRSZ)
			continue;
		d->d_un.d_val -= less;
		done = true;
	}
	munmap(eh, size);
	return done;
}

/* No symbol comes of these: libdw would read on behind the table when it looks for one. */
TEST_F(symbol, dynamic_strings_without_an_end_are_not_read)
{
	Elf *elf;

	NEED_SOURCE();
	MAKE("-O1 -g0 -fPIC -shared");
	elf_version(EV_CURRENT);
	for (unsigned int less = 0; less < 2; less++) {
		ASSERT_TRUE(leave_segments(self->out, less));
		self->fd = open(self->out, O_RDONLY | O_CLOEXEC);
		elf = elf_begin(self->fd, ELF_C_READ, NULL);
		ASSERT_NE(NULL, elf);
		EXPECT_EQ(!less, gprof_elf_strings_end(elf));
		elf_end(elf);
		close(self->fd);
	}
	self->fd = -1;
}

TEST_F(symbol, a_separate_debug_file_is_found_by_build_id)
{
	char debug[256], id[128] = "";
	uint64_t inner;
	FILE *f;

	NEED("gcc");
	if (access("/usr/lib", W_OK))
		SKIP(return, "cannot write to /usr/lib/debug");
	lib_write(self->dir, "a.c", source);
	/* A source of its own makes a build-id of its own. */
	ASSERT_EQ(0, lib_sh("echo 'int pid_%d;' >>%s/a.c", getpid(), self->dir));
	MAKE("-O1 -g -Wl,--build-id=sha1");
	inner = ADDRESS("in_inner");
	snprintf(debug, sizeof(debug), "readelf -n %s/out | awk '/Build ID/ { print $3 }'", self->dir);
	f = popen(debug, "r");
	ASSERT_NE(NULL, fgets(id, sizeof(id), f));
	pclose(f);
	id[strcspn(id, "\n")] = '\0';
	snprintf(debug, sizeof(debug), "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	DO("mkdir -p $(dirname %s) && objcopy --only-keep-debug out %s && "
	   "strip out", debug, debug);
	if (symbol_open(self)) {
		EXPECT_EQ(3, FRAMES(inner));
		EXPECT_STREQS("inner", self->frames[0].name, "outer", self->frames[2].name);
	}
	lib_sh("rm -f %s; rmdir $(dirname %s) 2>/dev/null", debug, debug);
	EXPECT_NE(NULL, self->s);
}

/* KiB of a mapping that are in memory, -1: nothing of that name is mapped. */
static long mapped_kib(const char *name)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	bool there = false;
	long sum = -1, kib;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (strchr(line, '-') && strtoul(line, NULL, 16))
			there = strstr(line, name);
		else if (there && sscanf(line, "Rss: %ld", &kib) == 1)
			sum = (sum < 0 ? 0 : sum) + kib;
	}
	if (f)
		fclose(f);
	return sum;
}

TEST_F(symbol, a_debug_file_that_was_unpacked_is_not_in_memory_twice)
{
	char debug[256], id[48];
	uint64_t inner, outer;

	NEED("gcc");
	if (access("/usr/lib", W_OK))
		SKIP(return, "cannot write to /usr/lib/debug");
	lib_write(self->dir, "a.c", source);
	/* 20,000 names of a hash each: a MiB that does not shrink well */
	DO("seq 20000 | awk '{ srand($1); printf \"int a\"; "
	   "for (i = 0; i < 60; i++) printf \"%%c\", 97 + int(rand() * 26); "
	   "print $1 \";\" }' >>a.c");
	snprintf(id, sizeof(id), "%032d%08d", 7, getpid());
	snprintf(debug, sizeof(debug), "/usr/lib/debug/.build-id/00/%s.debug", id + 2);
	DO("gcc -O1 -g -gz=zlib -Wl,--build-id=0x%s -o out a.c", id);
	inner = ADDRESS("in_inner");
	outer = ADDRESS("in_outer");
	DO("mkdir -p $(dirname %s) && objcopy --only-keep-debug out %s && "
	   "strip out && test $(stat -c %%s %s) -gt 1000000", debug, debug, debug);
	self->fd = open(self->out, O_RDONLY | O_CLOEXEC);
	/* A process that sees files as we do. */
	self->s = gprof_symbolizer_open(self->fd, self->out, (uint32_t)getpid());
	if (self->s)
		EXPECT_EQ(3, FRAMES(inner));
	EXPECT_STREQ("inner", self->frames[0].name);
	EXPECT_EQ(-1, mapped_kib("memfd:gprof debug"));
	EXPECT_LE(0, mapped_kib(id + 2));
	/* A fourth: around each page that is looked at the kernel maps fifteen others. */
	EXPECT_GT(500, mapped_kib(id + 2)) TH_LOG("%ld KiB", mapped_kib(id + 2));
	/* What is read later is there. */
	if (self->s)
		EXPECT_ONE("outer", outer);
	lib_sh("rm -f %s; rmdir $(dirname %s) 2>/dev/null", debug, debug);
	EXPECT_NE(NULL, self->s);
}

TEST_F(symbol, a_compressed_symbol_table_is_read)
{
	uint64_t local;

	NEED("xz");
	local = MADE("-O1 -g0", "local");
	ASSERT_EQ(0, lib_sh("cd %s && objcopy -S --keep-symbol=local out mini && xz mini && "
			    "strip out && objcopy --add-section .gnu_debugdata=mini.xz out",
			    self->dir));
	OPEN();
	EXPECT_ONE("local", local);
}

TEST_F(symbol, linkage_stubs_are_called_by_what_they_lead_to)
{
	uint64_t plt;

	NEED_SOURCE();
	BUILD("gcc", "-O1 -fcf-protection=none -Wl,-z,lazy", "a.c");
	plt = symbol_said("objdump -d %s/out | awk '/<puts@plt>:/ { print $1 }'", self->dir);
	ASSERT_NE(0, plt);
	EXPECT_ONE("puts@plt", plt);
	EXPECT_ONE("puts@plt", plt + 15);
}

TEST_F(symbol, what_is_no_program_is_refused)
{
	static const char *const bad[] = { "", "\177ELF", "#!/bin/sh\n", "!<arch>\n" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int fd = lib_memfd(bad[i], strlen(bad[i]));

		EXPECT_EQ(NULL, gprof_symbolizer_open(fd, NULL, 0));
		close(fd);
	}
	EXPECT_EQ(NULL, gprof_symbolizer_open(-1, NULL, 0));
}

/* Somebody may have put a pipe where a program was: nobody would ever write to it. */
TEST_F(symbol, a_function_of_what_is_no_regular_file_is_not_looked_for)
{
	struct gprof_error e = { 0 };
	const char *path = lib_text("%s/pipe", self->dir);
	uint64_t offset;

	ASSERT_EQ(0, mkfifo(path, 0600));
	EXPECT_EQ(-EINVAL, gprof_function_offset(path, "main", &offset, &e));
	EXPECT_SAYS(e.text, "no regular file");
	EXPECT_EQ(-EINVAL, gprof_function_offset("/dev/zero", "main", &offset, &e));
	EXPECT_EQ(-EINVAL, gprof_function_offset(self->dir, "main", &offset, &e));
	EXPECT_EQ(-ENOENT, gprof_function_offset("/nonexistent", "main", &offset, &e));
}

TEST_F(symbol, a_file_that_shrinks_meanwhile_makes_no_harm)
{
	uint64_t pc;

	NEED_SOURCE();
	BUILD("gcc", "-O1 -g", "a.c");
	pc = ADDRESS("in_inner");
	ASSERT_EQ(0, truncate(self->out, 100));
	EXPECT_EQ(0, FRAMES(pc));
}

TEST_F(symbol, a_large_file_that_shrinks_meanwhile_makes_no_harm)
{
	uint64_t pc;

	pc = MADE("-O1 -g", "in_inner");
	ASSERT_EQ(0, truncate(self->out, 100 << 20));
	OPEN();
	ASSERT_EQ(0, truncate(self->out, 100));
	EXPECT_EQ(0, FRAMES(pc));
}

/* Without a build-id there is the name, and the checksum, that the program says. */
static int link_debug_file(const char *dir, const char *flags, const char *where)
{
	lib_write(dir, "a.c", source);
	if (!build(dir, "gcc", flags, "a.c"))
		return -1;
	return lib_sh("cd %s && mkdir -p .debug && objcopy --only-keep-debug out out.debug && "
		      "strip out && objcopy --add-gnu-debuglink=out.debug out && "
		      "if [ %s != out.debug ]; then mv out.debug %s; fi", dir, where, where);
}

/* Programs close what lies low, and count on what they open next. */
static int open_below(int end)
{
	int n = 0, fd;

	for (fd = 0; fd < end; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

TEST_F(symbol, a_separate_debug_file_is_found_by_its_link)
{
	static const char *const where[] = { "out.debug", ".debug/out.debug" };
	int low = open_below(512), all = open_below(1024);
	uint64_t inner;

	NEED("gcc");
	for (size_t i = 0; i < 2; i++) {
		lib_write(self->dir, "a.c", source);
		MAKE("-O1 -g -Wl,--build-id=none");
		inner = ADDRESS("in_inner");
		ASSERT_EQ(0, link_debug_file(self->dir, "-O1 -g -Wl,--build-id=none", where[i]));
		OPEN();
		EXPECT_EQ(3, FRAMES(inner));
		EXPECT_STREQ("outer", self->frames[2].name);
		EXPECT_EQ(low + 1, open_below(512));
		symbol_close(self);
		EXPECT_EQ(all, open_below(1024));
	}
	/* It has a byte more: it is of another build. */
	ASSERT_EQ(0, lib_sh("printf x >>%s/.debug/out.debug", self->dir));
	OPEN();
	EXPECT_TRUE(NAMELESS(inner));
}

/* elfutils has the debug file, and would close it by number. */
TEST_F(symbol, what_has_the_number_of_a_debug_file_is_not_closed)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), fd, taken = 0;

	NEED("gcc");
	if (LIB_MEMORY(1) == INT64_MAX)
		SKIP(return, "memory is lost then, which AddressSanitizer would tell");
	ASSERT_EQ(0, link_debug_file(self->dir, "-O1 -g", "out.debug"));
	OPEN();
	FRAMES(0);
	for (fd = 512; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			taken += dup2(null, fd) == fd;
	EXPECT_EQ(2, taken);
	gprof_symbolizer_close(self->s);
	self->s = NULL;
	for (fd = 512; fd < 1024; fd++)
		taken -= fcntl(fd, F_GETFD) >= 0;
	EXPECT_EQ(0, taken);
	closefrom(512);
	close(null);
}

/* dwz(1) takes what two debug files have in common out of them. */
static int share_debug_data(const char *dir, const char *shared, const char *debug)
{
	return lib_sh("cd %s && printf '%%s\\n' 'struct common_one { int first_member, second_member; };' "
		      "'struct common_two { struct common_one third_member[3]; long fourth; };' "
		      "'struct common_two variable_of_both;' >>a.c && for i in 1 2; do "
		      "gcc -O1 -g -Wl,--build-id=0x%08x00000${i}00 -Dlocal=local_$i -o out$i a.c && "
		      "objcopy --only-keep-debug out$i out$i.debug || exit 1; done && "
		      "mkdir -p $(dirname %s) && dwz -m shared -M %s out1.debug out2.debug && "
		      "strip out1 && mv out1 out && mkdir -p $(dirname %s) && cp out1.debug %s",
		      dir, getpid(), shared, shared, debug, debug);
}

TEST_F(symbol, what_debug_files_share_is_had_from_where_they_say_or_not_at_all)
{
	char shared[128], debug[128], id[16];
	int low = open_below(512), all = open_below(1024);
	uint64_t inner;
	size_t nr, i;

	NEED("gcc");
	NEED("dwz");
	if (access("/usr/lib", W_OK))
		SKIP(return, "cannot write to /usr/lib/debug");
	lib_write(self->dir, "a.c", source);
	snprintf(shared, sizeof(shared), "/usr/lib/debug/.dwz/gprof-test-%d", getpid());
	snprintf(id, sizeof(id), "%08x", getpid());
	snprintf(debug, sizeof(debug), "/usr/lib/debug/.build-id/%.2s/%s00000100.debug", id, id + 2);
	ASSERT_EQ(0, share_debug_data(self->dir, shared, debug));
	inner = symbol_address(self->dir, "out2", "in_inner");	/* as the other one has it */
	ASSERT_NE(0, inner);
	OPEN();
	nr = FRAMES(inner);
	EXPECT_EQ(3, nr);
	/* It is the file that is not there: nobody knows how they are called. */
	for (i = 0; i + 1 < nr; i++)
		EXPECT_STREQ("[unnamed]", self->frames[i].name);
	symbol_close(self);
	ASSERT_EQ(0, lib_sh("cp %s/shared %s", self->dir, shared));
	if (symbol_open(self)) {
		EXPECT_EQ(3, FRAMES(inner));
		EXPECT_STREQS("inner", self->frames[0].name, "middle", self->frames[1].name,
			      "outer", self->frames[2].name);
		EXPECT_EQ(low + 1, open_below(512));
		/* the file and its debug file; what it shares is mapped */
		EXPECT_EQ(all + 3, open_below(1024));
	}
	lib_sh("rm -f %s %s; rmdir /usr/lib/debug/.dwz $(dirname %s) 2>/dev/null", shared, debug, debug);
	EXPECT_NE(NULL, self->s);
}

TEST_F(symbol, a_debug_file_that_shrinks_meanwhile_makes_no_harm)
{
	uint64_t inner;

	inner = MADE("-O1 -g -Wl,--build-id=none", "in_inner");
	ASSERT_EQ(0, link_debug_file(self->dir, "-O1 -g -Wl,--build-id=none", "out.debug"));
	ASSERT_EQ(0, lib_sh("chmod g+w %s/out.debug", self->dir));
	OPEN();
	EXPECT_EQ(3, FRAMES(inner));
	ASSERT_EQ(0, lib_sh("truncate -s 10 %s/out.debug", self->dir));
	EXPECT_EQ(2, FRAMES(inner + 1));
}

/*
 * Two functions, as Go's linker describes them; %s: what may be wrong, and what comes before
 * them in .text where they are linked with C, so that the table says where they begin.
 */
static char go_name[8192] = "main.first";
static const char *go_before = "", *go_text = "0";

static const char go_source[] =
	".text\n.globl main\n%s\nfirst: nop\nnop\nsecond: nop\nnop\nmain: nop\nret\n"
	".section .gopclntab,\"a\",@progbits\n"
	"table: .long 0xfffffff1\n.byte 0,0,1,8\n.quad %s\n.quad 0\n"
	".quad %s\n"	/* the code; 0: left to the reader */
	".quad names - table\n.quad 0\n.quad 0\n.quad 0\n.quad functions - table\n"
	"names: .ascii \"x\"\n.asciz \"%s\"\nn2: .asciz \"main.(*T).second\"\n"
	"functions: .long first - first\n.long f1 - functions\n"
	".long second - first\n.long %s\n.long main - first\n"
	"f1: .long 0\n.long 1\n"
	"f2: .long 0\n.long n2 - names\n";

static bool build_go(const char *dir, const char *nr, const char *second)
{
	char text[16384];

	snprintf(text, sizeof(text), go_source, go_before, nr, go_text, go_name, second);
	lib_write(dir, "go.S", text);
	return !lib_sh("cd %s && gcc -nostdlib -static -Wl,-e,main -o out go.S 2>&1", dir);
}

/* Stripped, with the addresses that its functions have. */
#define GO_PROGRAM() do {								\
	NEED("gcc");									\
	ASSERT_TRUE(build_go(self->dir, "2", "f2 - functions"));			\
	first = ADDRESS("first");				\
	second = ADDRESS("second");				\
	ASSERT_EQ(0, lib_sh("strip %s/out", self->dir));				\
	OPEN();										\
} while (0)

TEST_F(symbol, a_stripped_go_program_has_the_names_of_its_own_table)
{
	uint64_t first, second;

	GO_PROGRAM();
	EXPECT_ONE("main.first", first + 1);
	EXPECT_ONE("main.(*T).second", second);
	EXPECT_EQ(0, FRAMES(second + 2));
}

TEST_F(symbol, a_go_program_with_c_before_it_has_its_names)
{
	uint64_t first, second;

	go_before = "c: nop\nnop\nnop\nnop";
	go_text = "first";
	GO_PROGRAM();
	EXPECT_EQ(0, FRAMES(first - 1));
	EXPECT_ONE("main.first", first);
	EXPECT_ONE("main.(*T).second", second);
	ASSERT_EQ(1, FRAMES(second + 1));
	EXPECT_EQ(0, FRAMES(second + 2));
}

TEST_F(symbol, a_go_table_that_leads_out_of_itself_gives_no_names)
{
	static const char *const nr[] = { "0x2000000000000002", "0x1fffffffffffffff", "9", "2", "2" };
	static const char *const second[] = { "0", "0", "0", "0xfffffff0", "0x7fffffff" };
	uint64_t at;

	NEED("gcc");
	for (size_t i = 0; i < 5; i++) {
		ASSERT_TRUE(build_go(self->dir, nr[i], second[i]));
		at = ADDRESS("second");
		ASSERT_EQ(0, lib_sh("strip %s/out", self->dir));
		OPEN();
		EXPECT_EQ(0, FRAMES(at));
		symbol_close(self);
	}
}

/* Any number of functions may have it, and its end is looked for in each. */
TEST_F(symbol, a_go_name_that_is_nobodys_is_none)
{
	uint64_t first, second;

	memset(go_name, 'x', 5000);
	GO_PROGRAM();
	EXPECT_EQS(0, FRAMES(first), 1, FRAMES(second));
}

TEST_F(symbol, a_small_table_within_a_stripped_program_has_its_names)
{
	uint64_t local;

	NEED("xz");
	local = MADE("-O1", "local");
	DO("objcopy --only-keep-debug out mini && xz mini && strip out && "
	   "objcopy --add-section .gnu_debugdata=mini.xz out");
	OPEN();
	EXPECT_ONE("local", local);
	EXPECT_EQ(GPROF_MISSING_NOT, gprof_symbolizer_missing(self->s));
}

static uint64_t bytes_mapped(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return (uint64_t)pages * 4096;
}

TEST_F(symbol, a_small_table_that_there_is_no_memory_for_is_not_called_damaged)
{
	struct rlimit before, little;
	uint64_t local;

	NEED("gcc");
	NEED("xz");
	if (LIB_MEMORY(1) == INT64_MAX)
		SKIP(return, "AddressSanitizer takes all addresses");
	lib_write(self->dir, "a.c", source);
	MAKE("-O1");
	local = ADDRESS("local");
	DO("objcopy --only-keep-debug out mini && head -c 40M /dev/zero >zeros && "
	   "objcopy --add-section .zeros=zeros mini && xz mini && strip out && "
	   "objcopy --add-section .gnu_debugdata=mini.xz out");
	OPEN();
	ASSERT_EQ(0, getrlimit(RLIMIT_AS, &before));
	little = before;
	little.rlim_cur = bytes_mapped() + (16 << 20);
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &little));
	EXPECT_TRUE(NAMELESS(local));
	setrlimit(RLIMIT_AS, &before);
	EXPECT_EQ(GPROF_MISSING_MEMORY, gprof_symbolizer_missing(self->s));
	OPEN();
	EXPECT_EQS(1, FRAMES(local), GPROF_MISSING_NOT, gprof_symbolizer_missing(self->s));
}

static bool no_lzma;

void *dlopen(const char *file, int mode)
{
	void *(*next)(const char *file, int mode);

	if (no_lzma && file && strstr(file, "lzma"))
		return NULL;
	*(void **)&next = dlsym(RTLD_NEXT, "dlopen");
	return next(file, mode);
}

/* A libdw that was built without it has to do with what else there is, and so have we. */
TEST_F(symbol, a_small_table_that_nothing_unpacks_takes_no_other_names)
{
	uint64_t outer;

	NEED("xz");
	outer = MADE("-O1 -rdynamic", "main");
	ASSERT_NE(0, outer);
	DO("objcopy --only-keep-debug out mini && xz mini && strip out && "
	   "objcopy --add-section .gnu_debugdata=mini.xz out");
	OPEN();
	no_lzma = true;
	EXPECT_EQ(1, FRAMES(outer));
	no_lzma = false;
	EXPECT_STREQ("main", self->frames[0].name);
	EXPECT_EQ(GPROF_MISSING_NOT, gprof_symbolizer_missing(self->s));
}

TEST_F(symbol, a_small_table_that_unpacks_to_much_is_not_unpacked)
{
	uint64_t local;
	long before;

	NEED("xz");
	local = MADE("-O1", "local");
	DO("head -c 300M /dev/zero | xz -0 >mini.xz && strip out && "
	   "objcopy --add-section .gnu_debugdata=mini.xz out");
	before = lib_peak_kib(RUSAGE_SELF);
	OPEN();
	EXPECT_TRUE(NAMELESS(local));
	EXPECT_EQ(GPROF_MISSING_PACKED, gprof_symbolizer_missing(self->s));
	EXPECT_GT(64 << 10, lib_peak_kib(RUSAGE_SELF) - before);
}

/* Of which versions are taken off, so that each would be a copy. */
TEST_F(symbol, names_that_share_one_long_text_take_little_memory)
{
	static const struct {
		uint32_t nr;
		size_t len;
		enum gprof_missing why;
		size_t frames;
	} table[] = {
		{ 1000, 1 << 20, GPROF_MISSING_NOT, 0 }, { 2000, 60000, GPROF_MISSING_MEMORY, 0 },
		{ 100, 60000, GPROF_MISSING_NOT, 1 },
	};
	long before;

	for (size_t i = 0; i < 3; i++) {
		ASSERT_TRUE(names_write(self->out, table[i].nr, table[i].len, "@V"));
		before = lib_peak_kib(RUSAGE_SELF);
		OPEN();
		EXPECT_EQ(table[i].frames, FRAMES(NAMES_TEXT + NAMES_STEP));
		EXPECT_EQ(table[i].why, gprof_symbolizer_missing(self->s));
		EXPECT_GT(100 << 10, lib_peak_kib(RUSAGE_SELF) - before) TH_LOG("row %zu", i);
		symbol_close(self);
	}
}

/* Functions whose unwind tables are known, since they are written by hand. */
static const char amd64_source[] =
	".text\n"
	".macro fn name\n.globl \\name\n.type \\name,@function\n\\name:\n.endm\n"
	"fn leaf\n .cfi_startproc\nleaf_in: nop\n ret\n .cfi_endproc\n"
	"fn framed\n .cfi_startproc\n push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset 6,-16\n"
	"framed_pushed: mov %rsp,%rbp\n .cfi_def_cfa_register 6\nframed_in: nop\n pop %rbp\n"
	" .cfi_def_cfa 7,8\nframed_out: ret\n .cfi_endproc\n"
	"fn frameless\n .cfi_startproc\n sub $8,%rsp\n .cfi_def_cfa_offset 16\n"
	"frameless_in: nop\n sub $16,%rsp\n .cfi_def_cfa_offset 32\nframeless_deep: nop\n"
	" add $24,%rsp\n .cfi_def_cfa_offset 8\n ret\n .cfi_endproc\n"
	"fn tableless\n nop\n ret\n";

/* Whether the caller of the symbol's instruction is where it would be without a frame. */
struct caller {
	const char *symbol;
	bool pushed, missing;
};

#define EXPECT_CALLERS(rows) do {							\
	for (size_t _i = 0; _i < sizeof(rows) / sizeof((rows)[0]); _i++) {		\
		EXPECT_EQ((rows)[_i].missing, CALLER((rows)[_i].symbol, (rows)[_i].pushed)) \
			TH_LOG("%s %d", (rows)[_i].symbol, (rows)[_i].pushed);		\
	}										\
} while (0)

#define CALLER(symbol, pushed) \
	gprof_symbolizer_caller(self->s, ADDRESS(symbol), pushed)

TEST_F(symbol, amd64_guesses_are_right_where_the_table_says_so)
{
	static const struct caller rows[] = {
		{ "leaf", false, true }, { "leaf_in", false, true }, { "leaf_in", true, false },
		{ "framed", false, true }, { "framed", true, false },
		{ "framed_pushed", false, false }, { "framed_pushed", true, true },
		{ "framed_in", false, false }, { "framed_in", true, false },
		{ "framed_out", false, true }, { "frameless_in", false, false },
		{ "frameless_in", true, true }, { "frameless_deep", false, false },
		{ "frameless_deep", true, false }, { "tableless", false, false },
	};
	const char *cc = lib_sh("gcc -dumpmachine | grep -q x86_64") ? "x86_64-linux-gnu-gcc" : "gcc";

	NEED(cc);
	lib_write(self->dir, "a.S", amd64_source);
	BUILD(cc, "-shared -nostdlib", "a.S");
	EXPECT_CALLERS(rows);
	EXPECT_FALSE(gprof_symbolizer_caller(self->s, 0, false));
	/* Asked again, the answer is the same. */
	EXPECT_TRUE(CALLER("leaf", false));
	EXPECT_FALSE(CALLER("tableless", false));
}

TEST_F(symbol, amd64_linkage_stubs_are_understood)
{
	uint64_t plt;

	if (lib_sh("gcc -dumpmachine 2>&1 | grep -q x86_64"))
		SKIP(return, "no gcc for amd64");
	lib_write(self->dir, "a.c", source);
	BUILD("gcc", "-O1 -fcf-protection=none -Wl,-z,lazy", "a.c");
	plt = symbol_said("objdump -d %s/out | awk '/<puts@plt>:/ { print $1 }'", self->dir);
	ASSERT_NE(0, plt);
	/* jmp, push, jmp: behind the push the return address is one word higher. */
	EXPECT_TRUE(gprof_symbolizer_caller(self->s, plt, false));
	EXPECT_FALSE(gprof_symbolizer_caller(self->s, plt, true));
	EXPECT_TRUE(gprof_symbolizer_caller(self->s, plt + 6, false));
	EXPECT_FALSE(gprof_symbolizer_caller(self->s, plt + 11, false));
	EXPECT_TRUE(gprof_symbolizer_caller(self->s, plt + 11, true));
}

static const char arm64_source[] =
	".text\n"
	".macro fn name\n.globl \\name\n.type \\name,%function\n\\name:\n.endm\n"
	"fn leaf\n .cfi_startproc\nleaf_in: nop\n ret\n .cfi_endproc\n"
	"fn framed\n .cfi_startproc\n stp x29,x30,[sp,#-16]!\n .cfi_def_cfa_offset 16\n"
	" .cfi_offset 29,-16\n .cfi_offset 30,-8\nframed_in: nop\n ldp x29,x30,[sp],#16\n"
	" .cfi_restore 30\n .cfi_restore 29\n .cfi_def_cfa_offset 0\nframed_out: ret\n .cfi_endproc\n"
	"fn spills\n .cfi_startproc\n sub sp,sp,#32\n .cfi_def_cfa_offset 32\nspills_in: nop\n"
	" add sp,sp,#32\n .cfi_def_cfa_offset 0\n ret\n .cfi_endproc\n"
	"fn signs\n .cfi_startproc\n hint 25\n .cfi_negate_ra_state\nsigns_in: nop\n hint 29\n"
	" .cfi_negate_ra_state\n ret\n .cfi_endproc\n"
	"fn first\n .cfi_startproc\n .cfi_undefined 30\nfirst_in: nop\n .cfi_endproc\n"
	"fn tableless\n nop\n ret\n";

TEST_F(symbol, arm64_guesses_are_right_where_the_table_says_so)
{
	static const struct caller rows[] = {
		{ "leaf", false, true }, { "leaf_in", false, true }, { "framed", false, true },
		{ "framed_in", false, false }, { "framed_out", false, true },
		{ "spills_in", false, true }, { "signs_in", false, true },
		{ "first_in", false, false }, { "tableless", false, false },
	};
	const char *cc = lib_sh("gcc -dumpmachine 2>&1 | grep -q aarch64") ? "aarch64-linux-gnu-gcc"
									   : "gcc";

	NEED(cc);
	lib_write(self->dir, "a.S", arm64_source);
	BUILD(cc, "-shared -nostdlib", "a.S");
	EXPECT_CALLERS(rows);
}

TEST_HARNESS_MAIN
