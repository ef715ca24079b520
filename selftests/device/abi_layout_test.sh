#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# abi_layout_test.sh [--update]: the interface to the module is the one that is
# committed in abi_layout.txt: every struct's size and offsets, every number. A change
# may be meant; then --update writes the table anew, and Documentation/abi.rst says
# what the change may be.

here=$(cd "$(dirname "$0")" && pwd)
ktap=$here/ktap.sh
[ -e "$ktap" ] || ktap=$here/../helpers/ktap.sh	# where it is written, for --update
# shellcheck source=/dev/null # its ktap_run does not return
. "$ktap"
need pahole "${CC:-cc}"

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
table=$here/abi_layout.txt
uapi=$(dirname "$(command -v run 2>/dev/null || echo .)")/../../uapi
[ -e "$uapi/linux/gprof.h" ] || uapi=$here/../uapi
[ -e "$uapi/linux/gprof.h" ] || uapi=$here/../../uapi

# compile HEADER [FLAG]...
compile()
{
	"${CC:-cc}" -isystem "$uapi" -x c -include "linux/$1" "${@:2}" /dev/null
}

# layout HEADER [FLAG]: structs with offsets and sizes, enumerators, and macros
layout()
{
	# Of its own accord the compiler describes no struct that nobody uses.
	compile "$@" -g -gdwarf-4 -fno-eliminate-unused-debug-types -c -o "$dir/$1.o"
	echo "# linux/$1"
	pahole --show_private_classes "$dir/$1.o" | awk '
		/^(struct|union|enum) / { ours = $2 ~ /^gprof_/ }
		ours && NF && !/cacheline [0-9]|cacheline:|forced alignments:/ { print }
		/^};/ { ours = 0 }' | sed 's/[[:space:]][[:space:]]*/ /g'
	compile "$@" -E -P | tr -d '\n' | grep -o 'enum [a-z_ ]*{[^}]*}' |
		grep GPROF_ | tr ' ' '\n' || true
	compile "$@" -E -dM | grep -E '^#define (__)?GPROF_' | LC_ALL=C sort
}

all()
{
	echo "# SPDX-License-Identifier: GPL-2.0-only"
	layout gprof.h
	layout gprof_netlink.h
}

if [ "${1-}" = --update ]; then
	all >"$table"
	exit
fi

the_interface_is_the_committed_one()
{
	all >"$dir/now"
	[ "$(wc -l <"$dir/now")" -gt 300 ] || fail "the table is too short to be one"
	diff -u "$table" "$dir/now" ||
		fail "the interface has changed: if that was meant, abi_layout_test.sh --update"
}

# The same for programs of 32 bits, who need no translation.
it_is_the_same_for_32_bits()
{
	echo 'int main;' | "${CC:-cc}" -m32 -x c - -o /dev/null -c 2>/dev/null ||
		skip "the compiler makes no programs of 32 bits"
	layout gprof.h >"$dir/long"
	layout gprof.h -m32 -idirafter "/usr/include/$("${CC:-cc}" -print-multiarch)" >"$dir/short"
	diff -u "$dir/long" "$dir/short"
}

ktap_run the_interface_is_the_committed_one it_is_the_same_for_32_bits
