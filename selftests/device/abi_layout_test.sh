#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# abi_layout_test.sh [--update]: the interface to the module is the one that is
# committed in abi_layout.txt: every struct's size and offsets, every number. A program that
# was linked with the library as it was published last, abi_library.txt, runs with this one.
# A change may be meant; then --update writes the tables anew, and Documentation/abi.rst says
# what the change may be. Runs on the host.

here=$(cd "$(dirname "$0")" && pwd)
ktap=$here/ktap.sh
[ -e "$ktap" ] || ktap=$here/../helpers/ktap.sh	# where it is written, for --update
# shellcheck source=/dev/null # its ktap_run does not return
. "$ktap"
need pahole "${CC:-cc}"

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
table=$here/abi_layout.txt
published=$here/abi_library.txt
top=$(dirname "$(command -v run 2>/dev/null || echo .)")/../..
[ -e "$top/uapi/linux/gprof.h" ] || top=$here/..
[ -e "$top/uapi/linux/gprof.h" ] || top=$here/../..
uapi=$top/uapi
include=$top/userlib/include
lib=${GPROF_LIB:-$here/../lib}

# compile HEADER [FLAG]...
compile() { "${CC:-cc}" -isystem "$uapi" -x c -include "$1" "${@:2}" /dev/null; }

# structs HEADER [FLAG]...: of ours, with offsets and sizes
structs()
{
	# Of its own accord the compiler describes no struct that nobody uses.
	compile "$@" -g -gdwarf-4 -fno-eliminate-unused-debug-types -c -o "$dir/o"
	pahole --show_private_classes "$dir/o" | awk '
		/^(struct|union|enum) / { ours = $2 ~ /^gprof_/ }
		ours && NF && !/cacheline [0-9]|cacheline:|forced alignments:/ { print }
		/^};/ { ours = 0 }' | sed 's/[[:space:]][[:space:]]*/ /g'
}

# joined: lines "NAME: ITEM" of one name behind each other become "NAME: ITEM; ITEM"
joined()
{
	awk -F ': ' '
		$1 != last { printf "%s%s:", last == "" ? "" : "\n", last = $1; by = " " }
		{ printf "%s%s", by, substr($0, length($1) + 3); by = "; " }
		END { print "" }'
}

# spread TABLE: the other way round
spread()
{
	awk -F ': ' '!/^#/ {
		n = split(substr($0, length($1) + 3), item, "; ")
		for (i = 1; i <= n; i++)
			print $1 ": " item[i]
	}' "$1"
}

# numbers: of "NAME VALUE", those that begin alike behind each other
numbers() { LC_ALL=C sort | sed -E 's/^(__)?(GPROF_[A-Z0-9]+)/\1\2: &/'; }

# layout HEADER [FLAG]...: structs, enumerators, and macros
layout()
{
	structs "$@" | awk '
		/^(struct|union|enum) / { name = $2; next }
		/^};/ { next }
		{
			gsub(/__attribute__\(\(__aligned__/, "aligned")
			gsub(/\)\)|[;}]|\/\* | \*\/|^ +/, "")
			print name ": " $0
		}'
	compile "$@" -E -P | tr -d '\n' | grep -o 'enum [a-z_ ]*{[^}]*}' | grep GPROF_ |
		sed -E 's/[^{]*[{] *([^ ,]*)/\1: \1/; s/,? *[}]//; s/, */; /g'
	compile "$@" -E -dM | sed -nE 's/^#define ((__)?GPROF_)/\1/p' | numbers
}

all()
{
	echo "# SPDX-License-Identifier: GPL-2.0-only"
	{ layout linux/gprof.h; layout linux/gprof_netlink.h; } | joined
}

# library INCLUDE: what a program has of the library: the members of structs, functions as they
# are declared, numbers. Structs that begin with their size may have members appended; all others
# may not, and have an item "size".
library()
{
	echo "# SPDX-License-Identifier: GPL-2.0-only"
	(cd "$1" && printf '#include <%s>\n' gprof/*.h) >"$dir/all.h"
	{
		structs "$dir/all.h" -I "$1" -aux-info "$dir/functions" | awk '
			$1 ~ /^(struct|union|enum)$/ && /\{$/ && name == "" {
				name = $2
				first = ""
				next
			}
			/^\}/ { name = ""; next }
			/size: / {
				sub(/,.*/, "")
				sub(/.*size:/, "size")
				if (first ~ /^ ?size_t sz;/)
					next
			}
			# nothing is said of the room between members, and how these are counted
			/\/\* (XXX|sum members|padding|last cacheline|member types|paddings|holes)/ { next }
			{
				if (first == "")
					first = $0
				gsub(/;|\/\* | \*\/|^ |,$/, "")
				print name ": " $0
			}'
		sed -n 's,^/\* [^ ]*:NC \*/ extern \(.*gprof_.*\);$,\1,p' "$dir/functions" |
			LC_ALL=C sort | sed 's/.*[ *]\(gprof_[a-z]*\)[a-z0-9_]* (.*/\1_*: &/'
		cat "$1"/gprof/*.h | sed -nE 's,[[:space:]]+, ,g; s, /\*.*,,;
			/GPROF_VERSION/d; s/^#define (GPROF_[A-Z0-9_]+ [^ ].*)/\1/p' | numbers
	} | LC_ALL=C sort -s -t: -k1,1 | joined
}

if [ "${1-}" = --update ]; then
	all >"$table"
	library "$include" >"$here/../api/abi_library.txt"
	exit
fi

the_interface_is_the_committed_one()
{
	all >"$dir/now"
	spread "$table" >"$dir/was"
	spread "$dir/now" >"$dir/is"
	[ "$(wc -l <"$dir/is")" -gt 300 ] || fail "the table is too short to be one"
	diff "$dir/was" "$dir/is" ||
		fail "the interface has changed: if that was meant, abi_layout_test.sh --update"
}

# The same for programs of 32 bits, who need no translation.
it_is_the_same_for_32_bits()
{
	echo 'int main;' | "${CC:-cc}" -m32 -x c - -o /dev/null -c 2>/dev/null ||
		skip "the compiler makes no programs of 32 bits"
	layout linux/gprof.h >"$dir/long"
	[ "$(wc -l <"$dir/long")" -gt 300 ]
	layout linux/gprof.h -m32 -idirafter "/usr/include/$("${CC:-cc}" -print-multiarch)" >"$dir/short"
	diff -u "$dir/long" "$dir/short"
}

# A kernel tree has none.
need_library() { [ -e "$include/gprof" ] || skip "the library is not here"; }

# Every node of the map, the soname and version.h.
names_and_numbers_are_those_of_the_promise()
{
	need_library
	version=$(sed -n 's/^#define GPROF_VERSION\t.*"\(.*\)"/\1/p' "$include/gprof/version.h")
	major=${version%%.*}
	minor=${version#*.}
	minor=${minor%%.*}
	abi=$major
	[ "$major" != 0 ] || abi=0.$minor
	for name in libgprof libgprof-core; do
		soname=$(readelf -d "$lib/$name.so.$version" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
		echo "$version is $soname"
		[ "$soname" = "$name.so.$abi" ]
		[ -e "$lib/$soname" ]
		readelf -V "$lib/$soname" | grep -q "Name: LIBGPROF_$major\\.$minor\$"
		readelf --dyn-syms -W "$lib/$soname" |
			awk '$7 != "UND" && $5 == "GLOBAL" && $4 == "FUNC" { print $8 }' >"$dir/$name"
	done
	# all that is exported, and nothing else, has a node; in one of them it is for the other library
	sed -i "/@@LIBGPROF_PRIVATE_$version\$/d" "$dir/libgprof-core"
	cat "$dir/libgprof" "$dir/libgprof-core" >"$dir/symbols"
	[ "$(wc -l <"$dir/symbols")" -gt 50 ]
	! grep -v '^gprof_[a-z_]*@@LIBGPROF_[0-9.]*$' "$dir/symbols"
	# and all that was published is exported
	spread "$published" >"$dir/was"
	sed -n 's/^gprof_[a-z]*_\*: [^(]*[ *]\(gprof_[a-z0-9_]*\) (.*/\1/p' "$dir/was" >"$dir/names"
	[ "$(wc -l <"$dir/names")" -gt 50 ]
	while read -r name; do
		grep -q "^$name@" "$dir/symbols" || fail "$name() is not there any more"
	done <"$dir/names"
}

# compare INCLUDE: says what breaks programs
compare()
{
	library "$1" >"$dir/now"
	spread "$published" >"$dir/was"
	spread "$dir/now" >"$dir/is"
	[ "$(wc -l <"$dir/is")" -gt 300 ] || fail "the table is too short to be one"
	awk 'NR == FNR {
			if ($2 == "size")
				closed[$1] = 1
			was[$0] = 1
			next
		}
		!($0 in was) && $1 in closed { print "+ " $0; bad = 1 }
		{ delete was[$0] }
		END {
			for (line in was)
				print "- " line
			exit bad || length(was)
		}' "$dir/was" "$dir/is"
}

what_was_linked_with_the_library_runs()
{
	need_library
	compare "$include" ||
		fail "programs break: with a new version alone, and abi_layout_test.sh --update"
}

# breaks SED HEADER: programs do when the header is changed like that, and stdin says where
breaks()
{
	rm -rf "$dir/other"
	cp -r "$include" "$dir/other"
	sed -i "$1" "$dir/other/gprof/$2"
	! cmp -s "$dir/other/gprof/$2" "$include/gprof/$2" || fail "$2 is as it was"
	! compare "$dir/other" >"$dir/diff" || fail "unseen: $1"
	diff - "$dir/diff"
}

# Structs that may grow do.
a_change_is_seen_where_it_breaks_programs()
{
	need_library
	cp -r "$include" "$dir/grown"
	sed -i 's/^\tuint64_t memory_max;$/&\n\tuint64_t appended;/' "$dir/grown/gprof/profile.h"
	! cmp -s "$dir/grown/gprof/profile.h" "$include/gprof/profile.h"
	compare "$dir/grown"
	breaks 's/^\tbool inlined;$/&\n\tuint64_t appended;/' profile.h <<-'END'
		+ gprof_frame: uint64_t appended 48 8
		+ gprof_frame: size 56
		- gprof_frame: size 48
	END
	breaks 's/gprof_core_open(int fd)/gprof_core_open(long fd)/' core.h \
		<<<'- gprof_core_*: struct gprof_core *gprof_core_open (int)'
	breaks 's/^#define GPROF_UTIL_SWEEP.*/#define GPROF_UTIL_SWEEP (1U << 7)/' utilization.h \
		<<<'- GPROF_UTIL: GPROF_UTIL_SWEEP (1U << 3)'
}

ktap_run the_interface_is_the_committed_one it_is_the_same_for_32_bits \
	names_and_numbers_are_those_of_the_promise what_was_linked_with_the_library_runs \
	a_change_is_seen_where_it_breaks_programs
