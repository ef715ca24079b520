#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# annotate_test.sh: what programs say of themselves is in their traces, and as long as it
# was. With GPROF_EXACT, where time is a count of instructions, to 1 %.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl jq setpriv "$here/annotate_truth" "$here/annotate_cost"
# shellcheck source-path=SCRIPTDIR source=../helpers/command.sh
. "$here/command.sh"

exact=${GPROF_EXACT-}

# traced MODE N OPTIONS...: annotate_truth into x.trace; what it says into truth, and
# regions.json of the trace
traced()
{
	traced_mode=$1 traced_n=$2
	shift 2
	run 0 gprofctl trace --annotations -o x.trace "$@" -- \
		"$here/annotate_truth" "$traced_mode" "$traced_n"
	mv out truth
	cp err recorded
	run 0 gprofctl read x.trace --regions --json
	jq -e .data out >regions.json
	cp recorded err
}

# of TABLE TYPE KEY
of() { jq --arg type "$2" ".$1[] | select(.type == \$type) | .$3" regions.json; }

# near GOT WANT: to 1 % where time is exact; else to 20 % and 5 ms, for guests stand still
near()
{
	if [ "$exact" ]; then
		awk -v got="$1" -v want="$2" 'BEGIN { d = got - want; d = d < 0 ? -d : d
			exit !(d <= want / 100) }' || fail "$1, not $2"
	else
		awk -v got="$1" -v want="$2" 'BEGIN { d = got - want; d = d < 0 ? -d : d
			exit !(d <= want / 5 + 5000000) }' || fail "$1, not $2"
	fi
}

# The parts of each are all of it.
adds_up()
{
	jq -e 'all(.regions[]; .cpu_ns + .runnable_ns + .blocked_ns + .syscall_ns == .total_ns)' \
		regions.json
}

regions_last_as_long_as_they_did()
{
	traced parts 20
	while read -r name times ns cpu; do
		[ "$(of regions "$name" count)" -eq "$times" ]
		near "$(of regions "$name" total_ns)" "$ns"
		[ "$name" = sleep ] || near "$(of regions "$name" cpu_ns)" "$cpu"
	done <truth
	[ "$(wc -l <truth)" -eq 4 ]
	adds_up
	# who sleeps does not run, and who shares a CPU waits for it
	sleeps=$(sed -n 's/^sleep [0-9]* \([0-9]*\) .*/\1/p' truth)
	near "$(of regions sleep blocked_ns)" "$sleeps"
	awk '/^shared/ { print $3 - $4 }' truth >waited
	near "$(of regions shared runnable_ns)" "$(cat waited)"
	[ "$(jq .repaired regions.json)" -eq 0 ]
	[ "$(jq .lost_events regions.json)" -eq 0 ]
	run 0 gprofctl read x.trace --regions
	grep -q '^ *20 .* shared$' out
	! grep -q 'syscall' out
	# the wait of the longest of them is nearly all of it
	run 0 gprofctl why x.trace --region sleep
	grep -q '^region sleep: the longest took' out
	grep -q ' sleeps for .* ms, from ' out
	run 1 gprofctl why x.trace --region slept
	grep -q 'no whole region "slept"' err
}

tasks_cross_threads()
{
	traced tasks 30
	[ "$(of tasks one count)" -eq 30 ]
	[ "$(of tasks all count)" -eq 1 ]
	[ "$(of tasks all unended)" -eq 0 ]
	[ "$(of regions 'work at it' count)" -eq 30 ]
	[ "$(jq .logs regions.json)" -eq 30 ]
	# the last waits for all before it
	awk -v one="$(of tasks one max_ns)" -v work="$(of regions 'work at it' total_ns)" \
		'BEGIN { exit !(one > work / 2) }'
	gprofctl read x.trace --json | jq -c '.data[]' >events
	jq -s -e '[.[] | select(.kind == "TaskBegin" and .name == "one") | .task] |
		unique | length == 30' events
	jq -s -e '([.[] | select(.kind == "TaskBegin" and .name == "all") | .task][0]) as $all |
		[.[] | select(.kind == "TaskBegin" and .name == "one" and .parent == $all)] |
		length == 30' events
}

what_does_not_fit_is_put_right_and_told()
{
	traced wrong 1
	[ "$(of regions 'never begun' unbegun)" -eq 1 ]
	[ "$(of regions 'of two threads' unbegun)" -eq 1 ]
	[ "$(of regions 'of two threads' unended)" -eq 1 ]
	[ "$(of regions outer count)" -eq 1 ]
	[ "$(of regions inner count)" -eq 1 ]
	[ "$(jq .repaired regions.json)" -eq 4 ]
	[ "$(jq '[.tasks[].unbegun] | add' regions.json)" -eq 1 ]
	run 0 gprofctl read x.trace --regions
	grep -q '4 regions ended without a begin' err
	run 0 gprofctl read x.trace
	grep 'gprof: annotations' out | grep -q 'outer.* ends before one that began later'
	traced deep 64
	[ "$(jq '[.regions[].count] | add' regions.json)" -eq 64 ]
	[ "$(jq .repaired regions.json)" -eq 0 ]
	traced deep 65
	[ "$(jq '[.regions[].count] | add' regions.json)" -eq 65 ]
	# one too deep, and the ends of those that ended early
	[ "$(jq .repaired regions.json)" -eq 65 ]
}

children_have_regions_of_their_own()
{
	traced children 1
	[ "$(of regions 'around a fork' count)" -eq 1 ]
	[ "$(of regions 'around a fork' unbegun)" -eq 1 ]
	[ "$(of regions 'of a child' count)" -eq 1 ]
	[ "$(of regions 'until exec' count)" -eq 1 ]
	[ "$(of regions 'until exec' unended)" -eq 0 ]
	awk -v ns="$(of regions 'until exec' total_ns)" 'BEGIN { exit !(ns < 90e6) }'
}

calls_and_regions_are_told_apart()
{
	traced stranger 1 --syscalls --faults
	[ "$(of regions read count)" -eq 1 ]
	[ "$(jq '[.regions[] | select(.type == "nanosleep" or .type == "clock_nanosleep")] |
		length' regions.json)" -eq 0 ]
	# of our own making: 3 logs, and one was called as a page fault is
	[ "$(jq .logs regions.json)" -eq 3 ]
	[ "$(of regions '' count)" -eq 1 ]
	[ "$(jq .repaired regions.json)" -eq 0 ]
	gprofctl read x.trace --json | jq -c '.data[]' >events
	jq -s -e '[.[] | select(.kind == "Log" and (.category | length) == 128 and
		(.message | length) == 512)] | length == 1' events
	# what a terminal would obey is not printed
	run 0 gprofctl read x.trace
	! grep -q "$(printf '\033')" out
	run 0 gprofctl read x.trace --summary
	run 0 gprofctl read x.trace --pprof syscall -o s.pb.gz
	! gunzip <s.pb.gz | grep -q gprof.annotation
}

losses_are_told_and_leave_room_for_others()
{
	rm -f stopped
	gprofctl trace -v --annotations --buffer 32k -o x.trace -- \
		sh -c "$here/annotate_truth flood 200000 &
			i=0
			until [ -e stopped ]; do i=\$((i + 1)); [ \$i -lt 1200 ] || exit 1; sleep 0.1; done
			sleep 1; kill -CONT \$PPID; wait" 2>err &
	pid=$!
	tries=0
	until pgrep -x annotate_truth; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || fail "it does not start"
		sleep 0.1
	done
	kill -STOP $pid
	: >stopped
	wait $pid || fail "status $?"
	tail -n 1 err
	[ "$(count lost)" -gt 0 ]
	[ "$(count produced)" -eq "$(($(count read) + $(count lost)))" ]
	run 0 gprofctl read x.trace --regions --json
	[ "$(jq .data.logs out)" -gt 0 ]
	[ "$(jq .data.lost_events out)" -gt 0 ]
	run 0 gprofctl read x.trace --regions
	grep -q 'events were lost' err
	rm x.trace
}

a_program_that_is_not_asked_writes_nothing()
{
	run 0 gprofctl trace -o x.trace -- "$here/annotate_truth" parts 1
	run 0 gprofctl read x.trace --regions
	grep -q 'was recorded without --annotations' err
	[ ! -s out ]
	run 2 gprofctl read x.trace --regions --summary
}

users_see_their_own()
{
	rm -f x.trace
	run 0 as_user gprofctl trace --annotations -o x.trace -- "$here/annotate_truth" tasks 5
	run 0 gprofctl read x.trace --regions --json
	jq -e '[.data.tasks[] | select(.type == "one") | .count] == [5]' out
	# one of root's beside it is no business of theirs
	"$here/annotate_truth" wait 30 &
	other=$!
	run 1 as_user gprofctl trace --annotations -p $other -d 1 -o y.trace
	"$here/annotate_truth" wait 3 &
	rm x.trace
	run 0 gprofctl trace --annotations -p $other -d 1 -o x.trace
	run 0 gprofctl read x.trace --regions --json
	kill $other
	wait
	# it began before
	jq -e '.data.regions[] | select(.type == "now and then") | .count > 5' out
}

# Ten instructions and no system call, of each of the five.
costs_little()
{
	awk '{ n++; if ($2 > 10 || $3) wrong = 1 } END { exit n != 5 || wrong }' out ||
		fail "$(cat out)"
}

no_program_pays_without_a_trace()
{
	run 0 "$here/annotate_cost"
	cat out
	costs_little
	# while somebody does, it is told
	run 0 gprofctl trace --annotations -o x.trace -- "$here/annotate_cost"
	tail -n 1 err
	run 0 gprofctl read x.trace --regions --json
	jq -e .data out >regions.json
	[ "$(of regions region count)" -eq 1 ]
	run 0 gprofctl trace -o x.trace -- "$here/annotate_cost"
	costs_little
}

without_a_device_it_runs()
{
	chmod 600 /dev/gprof
	run 0 as_user "$here/annotate_truth" tasks 3
	mv out truth
	run 0 as_user "$here/annotate_cost"
	let_users_in
	grep -q '^work at it 3 ' truth
	costs_little
}

ktap_run regions_last_as_long_as_they_did tasks_cross_threads \
	what_does_not_fit_is_put_right_and_told children_have_regions_of_their_own \
	calls_and_regions_are_told_apart losses_are_told_and_leave_room_for_others \
	a_program_that_is_not_asked_writes_nothing users_see_their_own no_program_pays_without_a_trace \
	without_a_device_it_runs
