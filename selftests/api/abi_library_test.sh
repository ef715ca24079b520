#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# abi_library_test.sh [--update]: a program that was linked with the library as it was
# published last runs with this one. That library's interface is in abi_library.xml,
# which --update writes anew; only a new version may break it. Runs on the host.

here=$(cd "$(dirname "$0")" && pwd)
ktap=$here/ktap.sh
[ -e "$ktap" ] || ktap=$here/../helpers/ktap.sh	# where it is written, for --update
# shellcheck source=/dev/null # its ktap_run does not return
. "$ktap"

vm=$(dirname "$(command -v run 2>/dev/null || echo "$here/../vm/run")")
top=$(cd "$vm/../.." && pwd)
lib=${GPROF_LIB:-$here/../lib}
include=$top/userlib/include
dump=$top/selftests/api/abi_library.xml
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# dump_of LIBRARY [HEADERS]: sources by their names, wherever they were compiled
dump_of()
{
	abidw --headers-dir "${2:-$include}" --drop-private-types --drop-undefined-syms \
		--no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed \
		--type-id-style hash "$1" | sed "s| path='[^']*/| path='|"
}

if [ "${1-}" = --update ]; then
	lib=$top/build/$(dpkg --print-architecture)/lib
	dump_of "$lib/libgprof.so" >"$tmp/dump" && cat "$tmp/dump" >"$dump"
	exit
fi

need abidw abidiff

need_machine()
{
	grep -q "architecture='elf-amd-x86_64'" "$dump"
	[ "$(uname -m)" = x86_64 ] || skip "the dump is of amd64"
}

# Structs that begin with their size may have members appended; all others may not.
suppressions()
{
	cat "${1:-$include}"/gprof/*.h | awk '
		/^struct gprof_[a-z_]* \{$/ { name = $2; first = NR + 1 }
		NR == first && /^\tsize_t sz;$/ {
			print "[suppress_type]"
			print "  name = " name
			print "  has_data_member_inserted_at = end"
			print ""
		}'
}

# compare LIBRARY [HEADERS]: as the last one, and what is new is no harm
compare()
{
	suppressions "${2-}" >"$tmp/suppressions"
	dump_of "$1" "${2-}" >"$tmp/new.xml"
	abidiff --no-added-syms --suppressions "$tmp/suppressions" "$dump" "$tmp/new.xml"
}

# Every node of the map, the soname and version.h.
names_and_numbers_are_those_of_the_promise()
{
	version=$(sed -n 's/^#define GPROF_VERSION\t.*"\(.*\)"/\1/p' "$include/gprof/version.h")
	major=${version%%.*}
	minor=${version#*.}
	minor=${minor%%.*}
	soname=$(readelf -d "$lib/libgprof.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
	echo "$version is $soname"
	want=libgprof.so.$major
	[ "$major" != 0 ] || want=libgprof.so.0.$minor
	[ "$soname" = "$want" ]
	[ -e "$lib/$soname" ]
	readelf -V "$lib/libgprof.so" | grep -q "Name: LIBGPROF_$major\\.$minor\$"
	# all that is exported, and nothing else, has a node
	readelf --dyn-syms -W "$lib/libgprof.so" |
		awk '$7 != "UND" && $5 == "GLOBAL" && $4 == "FUNC" { print $8 }' >"$tmp/symbols"
	[ "$(wc -l <"$tmp/symbols")" -gt 50 ]
	! grep -v '^gprof_[a-z_]*@@LIBGPROF_[0-9.]*$' "$tmp/symbols"
}

the_interface_is_the_last_one()
{
	need_machine
	! grep "path='[^']*/" "$dump" || fail "the dump says where the library was compiled"
	compare "$(readlink -f "$lib/libgprof.so")"
}

# changed SED HEADER [FILE]: the library, had it been changed like that; says where
changed()
{
	rm -rf "$tmp/other"
	mkdir "$tmp/other"
	cp -r "$top/userlib" "$top/uapi" "$tmp/other"
	sed -i "$1" "$tmp/other/userlib/include/gprof/$2"
	! cmp -s "$tmp/other/userlib/include/gprof/$2" "$include/gprof/$2" || return 1
	make -s -j2 -C "$tmp/other/userlib" O="$tmp/other/build" CFLAGS='-O0 -g' WERROR= \
		"$tmp/other/build/lib/libgprof.so" >"$tmp/log" 2>&1 || { cat "$tmp/log"; return 1; }
	readlink -f "$tmp/other/build/lib/libgprof.so"
}

# What is compared sees what it is there for: a closed struct that grew, and one that may.
a_change_is_seen_where_it_breaks_programs()
{
	need_machine
	other=$(changed 's/^\tuint64_t address;$/&\n\tuint64_t appended;/; s/^\tuint64_t memory_max;$/&\n\tuint64_t appended;/' profile.h) ||
		{ echo "$other"; fail "the changed library does not build"; }
	! compare "$other" "$tmp/other/userlib/include" >"$tmp/diff" || fail "a closed struct grew unseen"
	cat "$tmp/diff"
	grep -q "gprof_frame" "$tmp/diff"
	! grep -q "struct gprof_profile_opts" "$tmp/diff" || fail "a struct with a size may grow"
}

ktap_run names_and_numbers_are_those_of_the_promise the_interface_is_the_last_one \
	a_change_is_seen_where_it_breaks_programs
