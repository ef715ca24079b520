#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# interface_test.sh: the public headers, and what is promised of them. Runs on the
# host, without the module.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"

vm=$(dirname "$(command -v run 2>/dev/null || echo "$here/../vm/run")")
top=$(cd "$vm/../.." && pwd)
include=$top/userlib/include
lib=${GPROF_LIB:-$here/../lib}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

need gcc g++

headers() { (cd "$include" && echo gprof/*.h); }

# The code that stands indented by a tab in a header's first comment.
examples_of_header()
{
	awk '/^ \*\// { exit } /^ \*\t/ { sub(/^ \*\t/, ""); print; next } / \*$/ { print "" }' "$1"
}

# The code between .Bd -literal and .Ed in a manual's examples.
examples_of_manual()
{
	awk '/^\.Sh/ { in_examples = $2 == "EXAMPLES" }
	     in_examples && /^\.Bd -literal/ { code = 1; next }
	     /^\.Ed/ { code = 0 }
	     code { gsub(/\\e/, "\\"); print }' "$1"
}

# run_example NAME: the code from stdin, as the body of a program that has what it
# takes for granted; it may fail where there is no module, but only with a sentence.
run_example()
{
	code=$(cat)
	[ -n "$(tr -d '[:space:]' <<<"$code")" ] || return 0
	{
		for header in $(headers); do
			echo "#include <$header>"
		done
		cat <<-'END'
			#include <err.h>
			#include <fcntl.h>
			#include <inttypes.h>
			#include <poll.h>
			#include <stdio.h>

			static int fd;
			static struct gprof_trace *trace;

			static void work(void)
			{
			}

			static void example(void)
			{
		END
		echo "$code"
		cat <<-'END'
			}

			int main(void)
			{
				static const char empty[16] = "go 1.23 trace";

				/* Not every example needs them. */
				(void)work;
				fd = open("/dev/null", O_RDWR);
				trace = gprof_trace_new_memory(empty, sizeof(empty), NULL);
				example();
				gprof_trace_free(trace);
				return 0;
			}
		END
	} >"$tmp/example.c"
	gcc -std=gnu11 -Wall -Wextra -Werror -g -I"$include" "$tmp/example.c" -L"$lib" -lgprof \
		-o "$tmp/example" || fail "the example of $1 does not compile"
	got=0
	LD_LIBRARY_PATH=$lib "$tmp/example" >"$tmp/out" 2>"$tmp/err" || got=$?
	sed "s|^|$1: |" "$tmp/out" "$tmp/err"
	[ $got -lt 2 ] || fail "the example of $1 ends with status $got"
	[ $got -eq 0 ] || [ -s "$tmp/err" ] || fail "the example of $1 fails without a sentence"
	echo "$1" >>"$tmp/examples"
}

every_example_compiles_and_runs_without_the_module()
{
	: >"$tmp/examples"
	for header in $(headers); do
		examples_of_header "$include/$header" | run_example "$header"
	done
	for manual in "$top"/Documentation/man/*.3; do
		examples_of_manual "$manual" | run_example "${manual##*/}"
	done
	# those of profile_builder, recorder, sched_stats, trace and utilization
	[ "$(wc -l <"$tmp/examples")" -ge 9 ] || fail "the examples were not found"
}

headers_are_pedantic_c_and_cxx()
{
	for header in $(headers); do
		echo "#include <$header>"
		echo "#include <$header>"
	done >"$tmp/all.c"
	cp "$tmp/all.c" "$tmp/all.cc"
	gcc -std=c11 -pedantic -Wall -Wextra -Werror -I"$include" -fsyntax-only "$tmp/all.c"
	for std in 11 17 20; do
		g++ -std=c++$std -pedantic -Wall -Wextra -Werror -I"$include" -fsyntax-only \
			"$tmp/all.cc"
	done
	# each by itself
	for header in $(headers); do
		echo "#include <$header>" | gcc -std=c11 -Wall -Werror -I"$include" -xc - \
			-fsyntax-only
	done
}

# A program that uses each struct that may grow, and says what came of it.
write_user()
{
	cat <<-'END'
		#include <errno.h>
		#include <gprof/profile.h>
		#include <gprof/recorder.h>
		#include <gprof/sched_stats.h>
		#include <gprof/trace.h>
		#include <gprof/utilization.h>
		#include <stdio.h>
		#include <string.h>

		/* Behind each struct lies what no library may read or write. */
		#define GUARDED(type, name) \
			struct { type v; unsigned char guard[64]; } name; \
			memset(&name, 0, sizeof(name)); \
			memset(name.guard, 0xa5, sizeof(name.guard)); \
			name.v.sz = sizeof(name.v)

		#define CHECK(x) do { if (!(x)) { printf("not so: %s\n", #x); bad = 1; } } while (0)

		static int whole(const unsigned char *guard)
		{
			int i;

			for (i = 0; i < 64; i++)
				if (guard[i] != 0xa5)
					return 0;
			return 1;
		}

		int main(void)
		{
			char header[16] = "go 1.23 trace";
			int bad = 0;

			GUARDED(struct gprof_trace_opts, o);
			GUARDED(struct gprof_trace_stats, st);
			GUARDED(struct gprof_profile_opts, po);
			GUARDED(struct gprof_utilization_opts, uo);
			GUARDED(struct gprof_cpu_config, cpu);
			GUARDED(struct gprof_tracepoint_config, profile);
			GUARDED(struct gprof_recorder_config, any);
			GUARDED(struct gprof_sched_config, sched);

			struct gprof_trace *t = gprof_trace_new_memory(header, sizeof(header), &o.v);
			CHECK(t && !gprof_trace_stats(t, &st.v));
			CHECK(st.v.version == 23 && whole(st.guard));
			gprof_trace_free(t);
			struct gprof_utilization *u = gprof_utilization_new_opts(&uo.v);
			CHECK(u);
			gprof_utilization_free(u);
			errno = 0;
			CHECK(!gprof_profile_read_opts(-1, &po.v) && errno == EBADF);

			/* Without the module all are taken as far as to the device, or to a wrong value. */
			cpu.v.target.type = (enum gprof_target_type)99;
			CHECK(!gprof_cpu_recorder_new(&cpu.v));
			CHECK(strstr(gprof_error(), "target"));
			CHECK(!gprof_recorder_new(&any.v));
			CHECK(strstr(gprof_error(), "kinds"));
			profile.v.event = "nocolon";
			CHECK(!gprof_tracepoint_recorder_new(&profile.v));
			CHECK(!strstr(gprof_error(), "sz is"));
			sched.v.flags = 1U << 30;
			CHECK(!gprof_sched_stats_new(&sched.v));
			CHECK(strstr(gprof_error(), "flags"));
			return bad;
		}
	END
}

a_cxx_program_uses_it()
{
	write_user >"$tmp/use.cc"
	g++ -std=c++11 -Wall -Wextra -Werror -I"$include" "$tmp/use.cc" -L"$lib" -lgprof -o "$tmp/use"
	LD_LIBRARY_PATH=$lib "$tmp/use"
}

# build_library DIR: the library of the sources there; says where it is
build_library()
{
	make -s -j2 -C "$1" CFLAGS=-O0 lib >"$tmp/log" 2>&1 ||
		{ cat "$tmp/log" >&2; fail "the library does not build"; }
	echo "$1"/build/*/lib
}

a_member_can_be_appended_to_every_struct_with_a_size()
{
	# all that make lib needs
	mkdir -p "$tmp/new/Documentation"
	cp -r "$top/Makefile" "$top/userlib" "$top/uapi" "$tmp/new"
	cp -r "$top/Documentation/man" "$tmp/new/Documentation"
	# each struct that begins with its size gets a member more
	for header in "$tmp"/new/userlib/include/gprof/*.h; do
		awk '/^struct gprof_[a-z_]* \{$/ { first = NR + 1; sized = 0 }
		     NR == first && /^\tsize_t sz;$/ { sized = 1; grown++ }
		     /^};$/ && sized { print "\tuint64_t appended[4];"; sized = 0 }
		     { print }
		     END { print "// grown: " grown + 0 >"/dev/stderr" }' "$header" \
			>"$tmp/h" 2>>"$tmp/grown.txt"
		cp "$tmp/h" "$header"
	done
	awk '{ n += $3 } END { print n " structs"; exit n < 9 }' "$tmp/grown.txt"
	grown=$(build_library "$tmp/new")
	write_user >"$tmp/user.c"
	# the program as it was, and as it will be, with libraries as they were and will be
	gcc -Wall -Werror -Wno-declaration-after-statement -I"$include" "$tmp/user.c" -L"$lib" \
		-lgprof -o "$tmp/old_user"
	gcc -Wall -Werror -I"$tmp/new/userlib/include" "$tmp/user.c" -L"$grown" -lgprof \
		-o "$tmp/new_user"
	for user in old new; do
		for dir in "$lib" "$grown"; do
			echo "$user program, ${dir#"$tmp/"}"
			LD_LIBRARY_PATH=$dir "$tmp/${user}_user"
		done
	done
}

# A program that was linked with libgprof when that had all of it finds the rest by it, also where
# it has a path of its own to that alone. For its linker nothing is in the library but names.
a_program_linked_before_the_core_was_apart_runs()
{
	mkdir "$tmp/before"
	{
		echo "LIBGPROF_0.1 { global:"
		grep -ho '\bgprof_[a-z0-9_]*;' "$top"/userlib/libgprof*.map
		echo "};"
	} >"$tmp/before/map"
	sed -n 's/^\(gprof_[a-z0-9_]*\);$/void \1(void) { }/p' "$tmp/before/map" |
		gcc -w -fno-builtin -shared -fPIC -Wl,-soname,libgprof.so.0.1 \
			-Wl,--version-script="$tmp/before/map" -x c - -o "$tmp/before/libgprof.so"
	write_user >"$tmp/before/user.c"
	gcc -Wall -Werror -Wno-declaration-after-statement -I"$include" "$tmp/before/user.c" \
		-L"$tmp/before" -lgprof -Wl,-rpath,"$(realpath "$lib")" -o "$tmp/before/user"
	readelf -d "$tmp/before/user" >"$tmp/before/needs"
	grep 'NEEDED.*libgprof\.so' "$tmp/before/needs"
	! grep 'libgprof-core' "$tmp/before/needs" || fail "it is linked with the core"
	env -u LD_LIBRARY_PATH LD_BIND_NOW=1 "$tmp/before/user"
}

# Programs link it for what it does not have.
the_core_is_small_and_needs_libnl_alone()
{
	rooms=$(sed -n 's/^core_rooms := //p' "$top/userlib/Makefile")
	# shellcheck disable=SC2086 # words
	lines=$(cd "$top/userlib/src" && find $rooms -name '*.[ch]' -exec cat {} + | wc -l)
	needed=$(readelf -d "$lib/libgprof-core.so" |
		sed -n 's/.*(NEEDED).*\[\(.*\)\.so\..*/\1/p' | grep -v ^ld-linux | LC_ALL=C sort | xargs)
	echo "$rooms: $lines lines, linked with $needed"
	[ "$lines" -gt 1000 ]
	[ "$lines" -le 12000 ]
	[ "$needed" = 'libc libnl-3 libnl-genl-3' ]
	# and a program that keeps its last seconds, or profiles itself, needs nothing else
	for example in raw_flight_self address_self; do
		gcc -Wall -Werror -I"$include" "$top/Documentation/example/$example.c" -L"$lib" \
			-lgprof-core -o "$tmp/$example"
		needed=$(readelf -d "$tmp/$example" | sed -n 's/.*(NEEDED).*\[\(.*\)\.so\..*/\1/p' |
			grep -v ^ld-linux | LC_ALL=C sort | xargs)
		echo "$example is linked with $needed"
		[ "$needed" = 'libc libgprof-core' ]
	done
}

# A node of the symbol map, a header and a manual for each function.
every_function_is_declared_and_described()
{
	sed -n 's/^\t\t\(gprof_[a-z0-9_]*\);$/\1/p' "$top"/userlib/libgprof*.map >"$tmp/map"
	[ "$(wc -l <"$tmp/map")" -gt 50 ]
	while read -r function; do
		grep -qw "$function" "$include"/gprof/*.h || fail "no header has $function"
		grep -qw "$function" "$top"/Documentation/man/*.3 || fail "no manual has $function"
	done <"$tmp/map"
	cat "$include"/gprof/*.h | grep -o 'GPROF_API.*' | wc -l
}

man_finds_every_function()
{
	[ -d "$tmp/new/build" ] || skip "the library was not built"
	make -s -C "$tmp/new/userlib" O="$(echo "$tmp"/new/build/*)" DESTDIR="$tmp/root" \
		prefix=/usr install-man
	man=$tmp/root/usr/share/man/man3
	while read -r function; do
		page=$man/$function.3
		[ -f "$page" ] || fail "there is no manual page $function"
		! target=$(sed -n 's/^\.so man3\///p' "$page" | grep .) || page=$man/$target
		grep -q "^\.\(F[no]\|Va\) $function\( \|\$\)" "$page" || fail "$page does not show $function"
	done <"$tmp/map"
	[ "$(find "$man" -name 'gprof_*' | wc -l)" -ge "$(wc -l <"$tmp/map")" ]
	! command -v man >/dev/null || man -M "$tmp/root/usr/share/man" -w gprof_recorder_start
}

# shellcheck disable=SC2046 # words
every_header_speaks_of_threads_and_fork()
{
	for header in $(headers); do
		grep -qi 'threads' "$include/$header" || fail "$header says nothing of threads"
		grep -q 'ork[.:]\| fork' "$include/$header" || fail "$header says nothing of fork"
	done
}

ktap_run every_example_compiles_and_runs_without_the_module headers_are_pedantic_c_and_cxx \
	a_cxx_program_uses_it a_member_can_be_appended_to_every_struct_with_a_size \
	a_program_linked_before_the_core_was_apart_runs the_core_is_small_and_needs_libnl_alone \
	every_function_is_declared_and_described man_finds_every_function \
	every_header_speaks_of_threads_and_fork
