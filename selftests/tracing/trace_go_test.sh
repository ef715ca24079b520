#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# trace_go_test.sh: the events of our trace reader are those of Go's, one by one:
# kind, time, thread, proc, goroutine, resource, states, names and stacks. Runs on
# the host. What surrounds Go's reader is built by trace_go/tools.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need "$here/trace_dump" "$here/trace_damage"

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")

# go_tools VERSION: sets $go to what surrounds the reader of that version
go_tools()
{
	[ -x "$vm/../tracing/trace_go/tools" ] || skip "no selftests/vm in PATH"
	go=$("$vm/../tracing/trace_go/tools" "$1") || skip "Go $1 cannot be fetched here"
}

# Go before 1.25 has no sync event at the start of a trace.
ours()
{
	if [ "$go_has_sync" ]; then
		"$here/trace_dump" "$@"
	else
		"$here/trace_dump" "$@" | sed '1{/^Sync /d}'
		return "${PIPESTATUS[0]}"
	fi
}

# same FILE: both take it, and give the same events
same()
{
	"$go/dump" "$1" >"$dir/go" || fail "$1: Go refuses it"
	ours "$1" >"$dir/ours" || fail "$1: we refuse it"
	cmp "$dir/go" "$dir/ours" || {
		diff "$dir/go" "$dir/ours" | head -n 10
		fail "$1: the events differ"
	}
	echo "${1##*/}: $(wc -l <"$dir/go") events"
}

events_of_gos_own_traces_are_gos()
{
	go_tools 1.23
	n=0
	for trace in "$go"/corpus/*.trace; do
		grep -q SUCCESS "${trace%.trace}.expect" || continue
		same "$trace"
		n=$((n + 1))
	done
	[ "$n" -ge 18 ]
}

what_go_refuses_is_refused_after_the_same_events()
{
	go_tools 1.23
	n=0
	for trace in "$go"/corpus/*.trace; do
		grep -q FAILURE "${trace%.trace}.expect" || continue
		expect 1 "$go/dump" "$trace" >"$dir/go"
		expect 1 ours "$trace" >"$dir/ours" 2>"$dir/err"
		cat "${trace%.trace}.expect" "$dir/err"
		diff "$dir/go" "$dir/ours"
		grep -q '^refused: byte [0-9]*: ' "$dir/err"
		n=$((n + 1))
	done
	[ "$n" -ge 2 ]
}

damaged_traces_are_taken_or_refused_as_by_go()
{
	go_tools 1.23
	taken=0 refused=0 seed=0
	for trace in "$go"/corpus/go122-[c-f]*.trace "$go"/corpus/go122-[s-t]*.trace; do
		for _ in 1 2 3 4 5 6 7 8; do
			seed=$((seed + 1))
			"$here/trace_damage" "$seed" "$trace" "$dir/damaged"
			ret=0
			ours "$dir/damaged" >"$dir/ours" 2>"$dir/err" || ret=$?
			# Go 1.23 does not look at what follows a frequency, and takes 0 for one.
			if grep -q -e 'batch of clocks' -e 'frequency is 0' "$dir/err"; then
				continue
			fi
			go_ret=0
			"$go/dump" "$dir/damaged" >"$dir/go" 2>"$dir/go_err" || go_ret=$?
			if [ "$ret" -eq 0 ] && [ "$go_ret" -eq 0 ]; then
				cmp "$dir/go" "$dir/ours" || fail "$seed, $trace: the events differ"
				taken=$((taken + 1))
			elif [ "$ret" -eq 1 ] && [ "$go_ret" -ne 0 ]; then
				refused=$((refused + 1))
			else
				cat "$dir/err" "$dir/go_err"
				fail "$seed, $trace: Go says $go_ret, we $ret"
			fi
		done
	done
	echo "$taken taken, $refused refused"
	[ "$taken" -gt 10 ] && [ "$refused" -gt 40 ]
}

events_of_a_fresh_trace_are_gos()
{
	go_tools 1.23
	"$go/load" "$dir/fresh.trace" 0.2
	same "$dir/fresh.trace"
	grep -q StackSample "$dir/ours" || echo "(no CPU sample came in time)"
	for kind in Metric Label RangeBegin RangeEnd TaskBegin TaskEnd RegionBegin RegionEnd Log; do
		grep -q "^$kind " "$dir/ours" || fail "the trace has no $kind"
	done
}

generations_follow_on_each_other()
{
	go_tools 1.23
	"$go/load" "$dir/long.trace" 2.3 quiet
	same "$dir/long.trace"
	# one at the end of each, and there is one a second
	[ "$(grep -c '^Sync' "$dir/ours")" -ge 2 ]
	"$here/trace_dump" - <"$dir/long.trace" >"$dir/file"
	# shellcheck disable=SC2002	# a pipe is what is wanted
	cat "$dir/long.trace" | "$here/trace_dump" - >"$dir/pipe"
	cmp "$dir/file" "$dir/pipe"
}

newest_format_is_read_alike()
{
	go_tools 1.26
	go_has_sync=1
	"$go/load" "$dir/new.trace" 1.3
	[ "$(head -c 7 "$dir/new.trace")" = "go 1.26" ]
	same "$dir/new.trace"
	[ "$(grep -c '^Sync' "$dir/ours")" -ge 2 ]
}

gprofctl_shows_and_counts_them()
{
	go_tools 1.23
	gprofctl=$here/../bin/gprofctl
	[ -x "$gprofctl" ] || skip "there is no gprofctl beside the tests"
	trace=$go/corpus/go122-annotations-stress.trace
	"$here/trace_dump" "$trace" >"$dir/ours"
	nr=$(wc -l <"$dir/ours")
	"$gprofctl" read "$trace" >"$dir/lines"
	[ "$(wc -l <"$dir/lines")" -eq "$nr" ]
	"$gprofctl" read "$trace" --json >"$dir/json"
	[ "$(grep -c '^{"kind": "[A-Za-z]*", "time_ns": [0-9]*, .*}[],]' "$dir/json")" -eq "$nr" ]
	"$gprofctl" read "$trace" --json --stacks >"$dir/stacks"
	"$gprofctl" read - --summary --json <"$trace" >"$dir/summary"
	cat "$dir/summary"
	python3 "$here/schema_check" "$here/schema" "$dir/json" "$dir/stacks" "$dir/summary"
	grep -q "\"events\": $nr," "$dir/summary"
	for kind in RegionBegin TaskEnd Log StateTransition; do
		grep -q "\"$kind\": $(grep -c "^$kind " "$dir/ours")[,}]" "$dir/summary"
	done
	"$gprofctl" read "$trace" --summary | grep -q "^Events: *$nr in "

	# what is wrong is told after what is right
	expect 1 "$gprofctl" read "$go/corpus/go122-create-syscall-with-p.trace" >"$dir/lines" 2>"$dir/err"
	cat "$dir/err"
	[ "$(wc -l <"$dir/lines")" -eq 10 ]
	grep -q 'byte 47: GoSyscallEnd on thread 0: the thread has no proc' "$dir/err"
	expect 1 "$gprofctl" read "$0" 2>"$dir/err"
	grep -q "$0 is text; gprofctl opens profiles and traces alone" "$dir/err"
	expect 1 "$gprofctl" read "$dir/none" 2>"$dir/err"
	grep -q 'No such file' "$dir/err"
	expect 2 "$gprofctl" read
}

ktap_run events_of_gos_own_traces_are_gos what_go_refuses_is_refused_after_the_same_events \
	damaged_traces_are_taken_or_refused_as_by_go events_of_a_fresh_trace_are_gos \
	generations_follow_on_each_other newest_format_is_read_alike \
	gprofctl_shows_and_counts_them
