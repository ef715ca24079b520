#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# execs_test.sh [EXECS]: who records for long needs no more memory than who records for a
# moment: 36,000 programs that are executed, an hour of one that does so 10 times a second,
# in one process, and some thousand in processes of their own.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl "$here/profile_dump" "$here/again"

execs=${1:-36000}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# watch COMMAND...: records it; lines "KIB" of who records, now and then, in rss
watch()
{
	: >rss
	gprofctl cpu -F 2999 -o x.pb.gz -- "$@" 2>err &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		awk '/^RssAnon:/ { print $2 }' /proc/$pid/status >>rss 2>/dev/null || :
		sleep 1
	done
	wait $pid || { cat err; fail "it was not recorded"; }
	cat err
	# what it made of it at the end does not count
	sed -i '$d' rss
	awk '{ v[NR] = $1 } END { for (i = 1; i <= 10; i++) printf "%d ", v[int(NR * i / 10)]; print "KiB" }' rss
}

# flat KIB: no more than that at any time of the second half beyond the most of the first
flat()
{
	awk -v more="$1" '{ v[NR] = $1 }
		END {
			for (i = 1; i <= NR; i++)
				if (i <= NR / 2)
					a = v[i] > a ? v[i] : a
				else
					b = v[i] > b ? v[i] : b
			printf "%d KiB in the first half, %d in the second\n", a, b
			exit NR < 8 || b > a + more
		}' rss
}

executed_programs_are_forgotten()
{
	watch "$here/again" "$execs"
	flat 4096
	grep -q 'lost=0 ' err
	# they are in the profile, all of them
	samples=$(sed -n 's/^.*produced=\([0-9]*\) .*$/\1/p' err)
	"$here/profile_dump" x.pb.gz >dump
	[ "$(awk '$1 == "total" && $2 == "samples" { print $4 }' dump)" = "$samples" ] || {
		head -n 20 dump
		fail "not $samples samples"
	}
	gprofctl top -n 20 x.pb.gz >table
	cat table
	grep -qw burn_ns table
}

# What a profile says of each process stays: a sample, its labels, some hundred bytes.
children_are_forgotten_but_for_their_samples()
{
	watch "$here/again" $((execs / 6)) children
	[ "$(tail -n 1 rss)" -lt 65536 ] || fail "that is too much"
}

ktap_run executed_programs_are_forgotten children_are_forgotten_but_for_their_samples
