#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# join_go_test.sh: a real Go program's own trace, joined with one of a host in which its
# thread loses its CPU at known times. Runs on the host.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
gprofctl=$here/../bin/gprofctl
need "$gprofctl" "$here/join_kernel"

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")

# recorded VERSION: a goroutine that spins for some seconds, in go.trace, on thread $tid
recorded()
{
	[ -x "$vm/../tracing/trace_go/tools" ] || skip "no selftests/vm in PATH"
	go=$("$vm/../tracing/trace_go/tools" "$1") || skip "Go $1 cannot be fetched here"
	sleep 3 | "$go/spin" "$dir/go.trace" 100 >"$dir/tid"
	tid=$(cat "$dir/tid")
}

# joined STATUS KERNEL GO OPTIONS...: into out, and what it says into err
joined()
{
	joined_want=$1 joined_kernel=$2 joined_go=$3
	shift 3
	joined_got=0
	"$gprofctl" read "$joined_kernel" --join "$joined_go" "$@" >"$dir/out" 2>"$dir/err" ||
		joined_got=$?
	cat "$dir/err"
	head -c 1500 "$dir/out"
	[ "$joined_got" -eq "$joined_want" ] || fail "status $joined_got"
}

# finds VERSION [LOSE]: each interval, to the nanosecond, and no other
finds()
{
	recorded "$1"
	"$here/join_kernel" "$dir/go.trace" "$dir/host.trace" "$tid" 1000000 0 "${2:-0}" |
		sort >"$dir/true"
	joined 0 "$dir/host.trace" "$dir/go.trace" --json
	sed -n 's/^ {"kind": "descheduled", .*"tid": '"$tid"', "begin_ns": \([0-9]*\),.*/\1/p' \
		"$dir/out" | sort >"$dir/found"
	wc -l "$dir/true" "$dir/found"
	[ "$(wc -l <"$dir/true")" -ge 1000 ] || fail "it hardly ran"
	cmp "$dir/true" "$dir/found" || fail "others were found"
	[ "$(grep -c '^ {"kind"' "$dir/out")" -eq "$(wc -l <"$dir/found")" ]
	joined 0 "$dir/host.trace" "$dir/go.trace"
	grep -q ' main.spin$' "$dir/out"
	grep -q '^their threads waited for a CPU' "$dir/out"
	grep -q 'no interrupts; gprofctl trace --irqs' "$dir/err"
	grep -q 'no page faults; gprofctl trace --faults' "$dir/err"
}

each_interval_is_found_of_go_1.23()
{
	finds 1.23
}

each_interval_is_found_of_go_1.26()
{
	finds 1.26
}

# Of those in which the thread may have run meanwhile nothing is told.
none_is_invented_where_events_are_lost()
{
	finds 1.23 3
	grep -q 'events were lost; states of threads then are not known' "$dir/err"
	joined 1 <(cat "$dir/host.trace") "$dir/go.trace"
	grep -q 'cannot be read again' "$dir/err"
}

what_does_not_belong_together_is_refused()
{
	recorded 1.23
	"$here/join_kernel" "$dir/go.trace" "$dir/host.trace" "$tid" 100 0 0 >/dev/null
	"$here/join_kernel" "$dir/go.trace" "$dir/later.trace" "$tid" 100 100000000000 0 >/dev/null
	joined 1 "$dir/later.trace" "$dir/go.trace"
	grep -q 'no time in common' "$dir/err"
	[ ! -s "$dir/out" ]
	joined 1 "$dir/go.trace" "$dir/host.trace"
	grep -q 'is no trace of a host' "$dir/err"
	joined 1 "$dir/host.trace" "$dir/host.trace"
	grep -q 'not one that a Go program wrote' "$dir/err"
	joined 1 "$dir/host.trace" /dev/null
	[ "$(wc -l <"$dir/err")" -eq 1 ]
	joined 1 "$dir/host.trace" "$dir/none"
	[ "$(wc -l <"$dir/err")" -eq 1 ]
	head -c 3000 "$dir/go.trace" >"$dir/cut.trace"
	joined 1 "$dir/host.trace" "$dir/cut.trace"
	joined 2 "$dir/host.trace" "$dir/go.trace" --summary
}

ktap_run each_interval_is_found_of_go_1.23 each_interval_is_found_of_go_1.26 \
	none_is_invented_where_events_are_lost what_does_not_belong_together_is_refused
