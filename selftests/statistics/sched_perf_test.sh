#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Delays as perf records the scheduler's events: of the same run, recorded by both,
# as many waits, and mean and maximum the same within 1 %.
#
# What "perf sched latency" makes of the events has fewer: it takes a task that was
# preempted in the kernel (state R+) for one that sleeps.

# Tasks that wait for one CPU.
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

# Waits, their mean and the longest, ns, of what sched_watch has started, and of their children. A
# wait ends with a switch, and begins with a wakeup or a switch from a task that still runs.
waits()
{
	# shellcheck disable=SC2016 # of awk
	perf script -i "$data/perf" --ns -F tid,time,event,trace -G 2>/dev/null | awk '
		function field(name)
		{
			match($0, " " name "=[^ ]+")
			return substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2)
		}
		function ns(text,   part)
		{
			split(text, part, /[.:]/)
			return part[1] * 1e9 + part[2]
		}
		$3 ~ /sched_wakeup/ {
			pid = field("pid")
			if ($3 ~ /_new/ && (field("comm") == "sched_watch" || $1 in member))
				member[pid]
			if (!(pid in since))
				since[pid] = ns($2)
		}
		$3 ~ /sched_switch/ {
			pid = field("next_pid")
			if (pid in member && pid in since) {
				wait = ns($2) - since[pid]
				n++
				sum += wait
				if (wait > max)
					max = wait
			}
			delete since[pid]
			if (field("prev_state") ~ /^R/)
				since[field("prev_pid")] = ns($2)
		}
		END { printf "%d %.0f %.0f\n", n, n ? sum / n : 0, max }'
}

record()
{
	command -v perf >/dev/null || skip "no perf"
	perf record -q -a -m 1024 -o "$data/perf" -e sched:sched_switch \
		-e sched:sched_wakeup -e sched:sched_wakeup_new -- \
		"$here/sched_watch" -p taskset -c 0 "$here/${0##*/}" load >"$data/ours"
	waits >"$data/numbers"
	echo "perf: $(cat "$data/numbers")"
	grep -E '^(delay|missed)' "$data/ours"
}

# ours KEY
ours() { awk -v key="$1" '$1 == key { print $2 }' "$data/ours"; }

# near A B: within 1 %
near()
{
	echo "$1 against perf's $2"
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0 && a < b * 1.01 && a > b * 0.99) }'
}

waits_their_mean_and_the_largest_are_those_of_perf()
{
	local count mean max ours

	record
	read -r count mean max <"$data/numbers"
	(($(ours delay.count) > 100)) || fail "too short a run"
	ours=$(($(ours delay.count) + $(ours missed)))
	echo "$ours of $count"
	# What the command waited for before START is not ours.
	((ours <= count && ours >= count - 3)) || fail "not the same waits"
	near "$(($(ours delay.sum) / $(ours delay.count)))" "$mean"
	near "$(ours delay.largest)" "$max"
}

data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
ktap_run waits_their_mean_and_the_largest_are_those_of_perf
