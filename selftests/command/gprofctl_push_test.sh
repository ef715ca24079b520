#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# gprofctl_push_test.sh: profiles of the host all the time, in a store, and what history makes of
# them. What becomes of a store on bad disks: unit/store_tool_test.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl bash date
# shellcheck source-path=SCRIPTDIR source=../helpers/command.sh
. "$here/command.sh"

group=/sys/fs/cgroup/shop.service
port=9748

# fresh: what other tests have left is gone
fresh()
{
	rm -rf S ./*.pb.gz ./*.trace out err pushed
}

# begins ARGS...: a pusher, whose process is $pid
begins()
{
	gprofctl push "$@" 2>pushed &
	pid=$!
	# a test that fails leaves none behind
	trap 'kill -KILL "$pid" 2>/dev/null' EXIT
	begins_tries=0
	# it has the store when it records
	until [ -e "/proc/$pid/task" ] && cat "/proc/$pid"/task/*/comm 2>/dev/null | grep -qx gprof-drain; do
		begins_tries=$((begins_tries + 1))
		[ $begins_tries -lt 600 ] || {
			cat pushed
			fail "nothing is recorded within a minute"
		}
		sleep 0.1
	done
}

# ends: it ends well, and what became of all samples adds up
ends()
{
	kill -INT "$pid"
	ends_got=0
	wait "$pid" || ends_got=$?
	trap - EXIT
	cat pushed
	[ $ends_got -eq 0 ] || fail "status $ends_got"
	of produced
	[ $(($(of produced) + $(of waited))) -eq $(($(of stored) + $(of sent) + $(of waiting) +
		$(of refused) + $(of dropped))) ] || fail "it does not add up"
}

# of KEY: from the last line of a pusher
of() { tail -n 1 pushed | tr ' ' '\n' | sed -n "s/^$1=//p"; }

# burn SECONDS: in a group that is a unit's by its name
burn()
{
	mkdir -p "$group"
	# shellcheck disable=SC2016 # the other shell expands them
	sh -c 'echo $$ >"$0/cgroup.procs"; exec timeout "$1" sh -c "while :; do :; done"' \
		"$group" "$1" || :
}

profiles_are_kept_and_adjoin()
{
	fresh
	# it is there before, and as long as it is recorded
	burn 60 &
	burner=$!
	begins --store S -e cpu:199 -e block:1 --interval 1s
	kept_tries=0
	until [ "$(find S -name '*_cpu_*' | wc -l)" -ge 2 ]; do
		kept_tries=$((kept_tries + 1))
		[ $kept_tries -lt 300 ] || fail "nothing is kept"
		sleep 0.2
	done
	ends
	kill "$burner" || :
	[ "$(of waiting)" -eq 0 ] || fail "something waits for nobody"
	[ "$(of dropped)" -eq 0 ]
	run 0 gprofctl history --store S --list
	grep -q ' cpu .* kept ' out
	grep -q ' block .* kept ' out
	[ "$(grep -c ' cpu ' out)" -ge 2 ] || fail "no more than one interval"
	# each begins where the one before ended: the names have it in nanoseconds
	find S -name '*_cpu_*' ! -name '*.rollup.pb.gz' | sed 's|.*/||' | sort | tr _ ' ' | awk '
		NR > 1 && ($1 - end > 5000000 || end - $1 > 5000000) { print "apart", $1 - end; bad = 1 }
		{ end = $1 + $2 } END { exit bad }'
	# 0700 and 0600
	find S -type d ! -perm 0700 | grep . && fail "directories for others"
	find S -type f ! -perm 0600 | grep . && fail "files for others"
	:
}

history_is_of_a_span_and_of_a_service()
{
	[ -e S ] || skip "nothing was recorded"
	run 0 gprofctl history --store S -o all.pb.gz
	grep -q ' profiles, ' err
	run 0 gprofctl top -n 1000 --by service all.pb.gz
	[ -e "$group/cgroup.procs" ] || skip "no cgroup v2 here"
	run 0 gprofctl history --store S --service shop -o shop.pb.gz
	run 0 gprofctl top -n 1000 shop.pb.gz
	run 1 gprofctl history --store S --service nobody -o n.pb.gz
	[ ! -e n.pb.gz ] || fail "a profile of nobody"
	run 1 gprofctl history --store S --from -2d --to -1d
	grep -q 'has no cpu profile of that time; it has some from' err
	# the two are compared, and so are recordings; all of them are a page
	run 0 gprofctl compare S -- S --per share
	grep -q 'S: [0-9]* recordings from ' out
	run 0 gprofctl view --store S -o page.html
	grep -q '"time"' page.html
	run 0 gprofctl diff all.pb.gz shop.pb.gz
	run 2 gprofctl history --store S --from yesterday
	run 2 gprofctl history
	run 1 gprofctl history --store nowhere
}

# That a rollup is what its profiles are in sum: unit/rollup_tool_test.
ten_minutes_that_are_over_are_one_profile()
{
	fresh
	now=$(date +%s)
	over=$((now / 600 * 600 + 600))
	date -s "@$((over - 6))"
	burn 60 &
	burner=$!
	begins --store S -e cpu:199 --interval 1s
	rolled_tries=0
	until find S -name '*_cpu_*.rollup.pb.gz' 2>/dev/null | grep .; do
		rolled_tries=$((rolled_tries + 1))
		[ $rolled_tries -lt 300 ] || fail "there is no rollup"
		sleep 0.2
	done
	ends
	date -s "@$now"
	kill "$burner" || :
	[ "$(find S -name '*.rollup.pb.gz' | wc -l)" -eq 1 ] || fail "there is more than one"
	# what it has may go: those that began until then
	find S -name '*_cpu_*_k0.0_*' | while read -r file; do
		begin=$(basename "$file")
		[ "$(expr "$begin" : '0*\([0-9]*\)_')" -ge "${over}000000000" ] || rm "$file"
	done
	run 0 gprofctl history --store S --from 0 --to 4000000000 --list
	grep -q ' cpu .* sum ' out || fail "the list does not have it"
	run 0 gprofctl history --store S --from 0 --to 4000000000 -o rolled.pb.gz
}

window_is_recorded_when_it_is_time()
{
	fresh
	now=$(date +%s)
	# it begins in the first second of the hour, and ends when the pusher does
	date -s "@$((now / 3600 * 3600 + 3598))"
	begins --store S --interval 1s --windows 1/1:3599s/h
	sleep 8
	ends
	date -s "@$now"
	run 0 gprofctl history --store S --from 0 --to 4000000000 --list
	grep -q ' trace ' out || fail "no trace"
	run 0 gprofctl history --store S --from 0 --to 4000000000 --type trace -o w.trace
	run 0 gprofctl read w.trace --summary
	grep -q 'wall clock was set' pushed && fail "it was not set meanwhile"
	:
}

clock_that_is_set_is_said_once()
{
	fresh
	begins --store S --interval 1s -e cpu:199
	sleep 4
	now=$(date +%s)
	date -s "@$((now + 86400))"
	sleep 8
	date -s "@$((now + 12))"
	sleep 4
	ends
	[ "$(grep -c 'wall clock was set' pushed)" -eq 1 ] || fail "not said, or not once"
	[ "$(of dropped)" -eq 0 ]
	[ "$(find S -name '*_cpu_*' | wc -l)" -ge 3 ] || fail "profiles are gone"
}

# page: the metrics
page()
{
	bash -c "exec 3<>/dev/tcp/127.0.0.1/$port
		printf 'GET /metrics HTTP/1.0\r\nHost: localhost\r\nAccept: text/plain\r\n\r\n' >&3
		cat <&3" | sed '1,/^\r$/d'
}

metrics_say_what_it_does()
{
	fresh
	begins --store S --interval 1s -e cpu:199 -e block:10 --budget 50% --metrics $port
	metrics_tries=0
	until page >out && grep -q '^gprof_push_intervals_total [1-9]' out; do
		metrics_tries=$((metrics_tries + 1))
		[ $metrics_tries -lt 60 ] || fail "nothing is recorded"
		sleep 1
	done
	cat out
	grep -q '^gprof_push_produced_samples_total [1-9]' out
	grep -q '^gprof_push_rate{kind="cpu"} 199$' out
	grep -q '^gprof_push_budget_seconds 0.5' out
	grep -q '^gprof_push_store_bytes [1-9]' out
	grep -q '^gprof_push_gap_seconds_total 0' out
	ends
}

budget_halves_the_rates()
{
	fresh
	begins --store S --interval 1s -e cpu:999 --budget 0.001% --metrics $port
	budget_tries=0
	until page >out && grep -q '^gprof_push_budget_level [1-9]' out; do
		budget_tries=$((budget_tries + 1))
		[ $budget_tries -lt 60 ] || fail "nothing is done for the budget"
		sleep 1
	done
	grep '^gprof_push' out
	grep -q '^gprof_push_rate{kind="cpu"} 999$' out && fail "rates are what they were"
	ends
	[ "$(of dropped)" -eq 0 ]
}

# Each thread has capabilities of its own, those above all that talk to strangers.
no_thread_keeps_more_privilege_than_it_needs()
{
	fresh
	begins --store S --interval 1s --otlp http://127.0.0.1:9 --metrics $port --windows 1/1:1s/h
	# as it is recording before it serves
	caps_tries=0
	until page >out; do
		caps_tries=$((caps_tries + 1))
		[ $caps_tries -lt 60 ] || fail "no metrics"
		sleep 1
	done
	# perfmon, ptrace, checkpoint_restore, dac_read_search, syslog, ipc_lock
	for task in "/proc/$pid/task"/*; do
		# threads of a window end
		cat "$task/comm" "$task/status" >seen 2>/dev/null || continue
		head -n 1 seen
		grep -E '^(Cap(Prm|Eff|Bnd)|NoNewPrivs)' seen
		eff=$((0x$(awk '/^CapEff/ { print $2 }' seen)))
		[ $((eff & ~((1 << 38) | (1 << 19) | (1 << 40) | (1 << 2) | (1 << 34) | (1 << 14)))) -eq 0 ] ||
			fail "capabilities of $(head -n 1 seen)"
		grep -q '^NoNewPrivs:.1' seen || fail "privileges of $(head -n 1 seen)"
	done
	ends
}

# A busy host in a store that is small: what there is until then is kept.
window_ends_when_its_trace_is_large()
{
	fresh
	now=$(date +%s)
	date -s "@$((now / 3600 * 3600 + 3598))"
	begins --store S --keep 1M --interval 10s --windows 1/1:3599s/h --metrics $port
	large_tries=0
	until page >out && grep -q '^gprof_push_windows_total 1' out; do
		large_tries=$((large_tries + 1))
		[ $large_tries -lt 300 ] || fail "it does not end"
		# shellcheck disable=SC2034 # it is to fork
		for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done
	done
	grep '^gprof_push_windows' out
	grep -q '^gprof_push_windows_cut_total 1' out || fail "it is not cut"
	grep -q '^gprof_push_windows_failed_total 0' out || fail "it failed"
	ends
	date -s "@$now"
	grep -q 'ended when its trace had' pushed
	run 0 gprofctl history --store S --from 0 --to 4000000000 --type trace -o w.trace
	run 0 gprofctl read w.trace --summary
}

# What a rate changes for is what was sampled, not what is in use.
heap_outlives_a_level_of_the_budget()
{
	fresh
	begins --store S --interval 1s -e cpu:999 -e heap:4096 --budget 0.001% --metrics $port
	# what is in use: a file in memory, of which the kernel has pages
	mkdir -p M
	mount -t tmpfs tmpfs M
	head -c 20M /dev/zero >M/file
	heap_tries=0
	until page >out && grep -q '^gprof_push_budget_level [1-9]' out; do
		heap_tries=$((heap_tries + 1))
		[ $heap_tries -lt 60 ] || fail "nothing is done for the budget"
		sleep 1
	done
	sleep 4
	grep -q '^gprof_push_rate{kind="heap"} 4096$' out || fail "its rate changes"
	ends
	umount M
	run 0 gprofctl history --store S --type heap -o h.pb.gz
	run 0 gprofctl top -n 1000 --type inuse_space h.pb.gz
	gprofctl top -n 1000 --type inuse_space h.pb.gz | head -n 20
}

# Short-lived programs all the time: what is known of them is forgotten.
memory_does_not_grow()
{
	fresh
	begins --store S --interval 1s -e cpu:99 -e block:10 -e mutex
	many="${GPROF_PUSH_PROCESSES:-1500}"
	i=0
	: >memory
	while [ $i -lt "$many" ]; do
		j=0
		while [ $j -lt $((many / 10)) ]; do
			/bin/true
			j=$((j + 1))
		done
		i=$((i + j))
		echo "$i $(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status")" >>memory
	done
	cat memory
	sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status" >peak
	cat peak
	ends
	[ "$(cat peak)" -lt 40960 ] || fail "more than 40 MiB"
}

ktap_run profiles_are_kept_and_adjoin history_is_of_a_span_and_of_a_service \
	ten_minutes_that_are_over_are_one_profile window_is_recorded_when_it_is_time \
	clock_that_is_set_is_said_once metrics_say_what_it_does budget_halves_the_rates \
	no_thread_keeps_more_privilege_than_it_needs window_ends_when_its_trace_is_large \
	heap_outlives_a_level_of_the_budget memory_does_not_grow
