#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Delays as perf sees them: of the same run, recorded by both, mean and maximum
# must be the same within 1 %.
#
# perf sched latency knows of sched_wakeup, which "perf sched record" leaves out
# where there is sched_waking; hence perf record.

# Tasks of one name that wait for one CPU, and no others: what perf adds up by
# name, we count as a process.
burn()
{
	local end=$((SECONDS + 3))

	while ((SECONDS < end)); do :; done
}

if [[ ${1-} == load ]]; then
	printf gprof-load >/proc/self/comm
	for _ in 1 2 3 4; do
		burn &
	done
	wait
	exit
fi

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"

record()
{
	command -v perf >/dev/null || skip "no perf"
	perf record -q -a -m 1024 -o "$data/perf" -e sched:sched_switch \
		-e sched:sched_wakeup -e sched:sched_wakeup_new -- \
		"$here/sched_watch" -p taskset -c 0 "$here/${0##*/}" load >"$data/ours"
	perf sched -i "$data/perf" latency -s avg 2>/dev/null | grep gprof-load |
		tee "$data/theirs"
	grep -E '^(delay|missed)' "$data/ours"
	# name:(N) | time | switches | avg: N ms | max: N ms
	awk -F'[|]' '{ gsub(/[a-z: ]/, "", $4); gsub(/ms.*|[a-z: ]/, "", $5)
		print $3 + 0, $4 * 1e6, $5 * 1e6 }' "$data/theirs" >"$data/numbers"
	[[ -s $data/numbers ]] || fail "perf saw no such task"
}

# ours KEY
ours()
{
	awk -v key="$1" '$1 == key { print $2 }' "$data/ours"
}

# near A B: within 1 %
near()
{
	echo "$1 against perf's $2"
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0 && a < b * 1.01 && a > b * 0.99) }'
}

the_run_is_recorded_by_both()
{
	record
	(($(ours delay.count) > 100)) || fail "too short a run"
}

the_mean_delay_is_that_of_perf()
{
	local _count mean _max

	read -r _count mean _max <"$data/numbers"
	near "$(($(ours delay.sum) / $(ours delay.count)))" "$mean"
}

the_largest_delay_is_that_of_perf()
{
	local _count _mean max

	read -r _count _mean max <"$data/numbers"
	near "$(ours delay.largest)" "$max"
}

data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
ktap_run the_run_is_recorded_by_both the_mean_delay_is_that_of_perf \
	the_largest_delay_is_that_of_perf
