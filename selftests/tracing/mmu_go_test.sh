#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# mmu_go_test.sh: utilization and its curves are what Go's own code says they are.
# Runs on the host. Functions are compared by a hash of all their changes, numbers
# within 1e-9. "Go as it is" and "Go corrected": see mmu_go/tools. Curves of functions made at
# random are utilization_curve_lib_test's.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

selftests=$(dirname "$(command -v run 2>/dev/null || echo ./vm/run)")/..
all_flags=({0..31})
# Without the background workers, whom Go counts once more at each start, and without
# assists, which it counts for ever where a trace begins within one.
other_flags=()
for f in "${all_flags[@]}"; do ((f & (2 | 4))) || other_flags+=("$f"); done

need_go()
{
	[ -x "$selftests/tracing/mmu_go/tools" ] || skip "there is no selftests/tracing/mmu_go in reach of PATH"
	tools=$("$selftests/tracing/mmu_go/tools")
	corpus=$("$selftests/tracing/trace_go/tools" 1.23)/corpus
}

# same GO OURS: the same lines, numbers at their end within 1e-9.
same()
{
	awk -v other="$2" '
		function failed(why) { print why; print "Go:   " line; print "ours: " theirs; exit 1 }
		{
			line = $0
			if ((getline theirs < other) != 1) failed("we say less")
			if (line == theirs) next
			if ($1 != "mmu" && $1 != "quantile" && $1 != "worst") failed("different")
			n = split(theirs, w)
			for (i = 1; i < NF; i++) if ($i != w[i]) failed("different")
			d = $NF - w[n]
			if (d < 0) d = -d
			if (n != NF || d > 1e-9) failed("different by " d)
		}
		END { if ((getline theirs < other) > 0 && line != "") { print "we say more"; exit 1 }
			print NR " lines agree" }' "$1"
}

# agree TRACE: with Go as it is, as far as that is right, and with Go corrected.
agree()
{
	"$tools/mmu_go" trace "$1" "${other_flags[@]}" | grep -v '^quantile' >"$dir/go"
	"$here/mmu_dump" trace "$1" "${other_flags[@]}" | grep -v '^quantile' >"$dir/ours"
	[ -s "$dir/go" ] || fail "$1: Go says nothing"
	same "$dir/go" "$dir/ours" || fail "$1, Go as it is"
	"$tools/mmu_go_corrected" trace "$1" "${all_flags[@]}" >"$dir/go"
	"$here/mmu_dump" trace "$1" "${all_flags[@]}" >"$dir/ours"
	same "$dir/go" "$dir/ours" || fail "$1, Go corrected"
}

traces_of_Gos_corpus_agree()
{
	need_go
	n=0
	for trace in "$corpus"/*.trace; do
		grep -q FAILURE "${trace%.trace}.expect" && continue
		echo "${trace##*/}"
		agree "$trace"
		n=$((n + 1))
	done
	[ "$n" -ge 18 ] || fail "only $n valid traces in the corpus"
}

invalid_traces_are_refused()
{
	need_go
	n=0
	for trace in "$corpus"/*.trace; do
		grep -q FAILURE "${trace%.trace}.expect" || continue
		expect 1 "$here/mmu_dump" trace "$trace" 7
		expect 1 gprofctl mmu "$trace"
		n=$((n + 1))
	done
	[ "$n" -ge 2 ] || fail "only $n invalid traces in the corpus"
}

# garbage NAME PROCS...: a trace in $dir/NAME, made once.
garbage()
{
	name=$1
	shift
	[ -s "$dir/$name" ] || "$tools/garbage" "$dir/$name" 0.3 "$@"
}

fresh_traces_agree()
{
	need_go
	for procs in 1 2 3 4; do
		garbage "$procs" "$procs"
		echo "$procs processors, $(wc -c <"$dir/$procs") bytes"
		agree "$dir/$procs"
	done
}

processors_may_come_and_go()
{
	need_go
	garbage changing 4 1 8 2 4
	agree "$dir/changing"
	"$here/mmu_dump" trace "$dir/changing" 16 | grep -c ^function >"$dir/n"
	[ "$(cat "$dir/n")" -gt 8 ] || fail "$(cat "$dir/n") functions: a processor that comes back gets another"
}

a_trace_of_the_kernel_agrees()
{
	need_go
	"$here/mmu_dump" kernel >"$dir/kernel"
	agree "$dir/kernel"
}

# A trace that begins within a collection: assists are found late.
late_assists_are_given_back()
{
	need_go
	for try in {1..40}; do
		"$tools/garbage" "$dir/late" 0.1 2
		"$tools/mmu_go" trace "$dir/late" 4 >"$dir/go"
		"$here/mmu_dump" trace "$dir/late" 4 >"$dir/ours"
		same "$dir/go" "$dir/ours" >"$dir/same" || break
	done
	echo "trace $try: Go as it is"
	cat "$dir/same"
	same "$dir/go" "$dir/ours" && fail "no trace of 40 begins within assists of others"
	[ "$(awk '/^function/ { print $4 }' "$dir/ours")" -gt 10 ] || fail "taken for ever"
	agree "$dir/late"
}

gprofctl_prints_Gos_numbers()
{
	need_go
	garbage 4 4
	"$tools/mmu_go_corrected" trace "$dir/4" 7 >"$dir/go"
	gprofctl mmu --json --window 10ms --window 20ms --quantiles 0.01,0.05 --worst 1 \
		"$dir/4" >"$dir/json"
	cat "$dir/json"
	awk '$2 == 10000000 || $2 == 20000000' "$dir/go" |
		awk '$1 == "mmu" || $1 == "worst" || ($3 >= .01 && $3 <= .05)' >"$dir/few"
	tr -d '{},:[]"' <"$dir/json" | awk '
		/util/ && / q / { print "quantile", $2, $4, $6 }
		/time_ns/ { print "worst", $2, $6 }
		/window_ns/ && / mmu / { print "mmu", $2, $4 }' >"$dir/ours"
	sort -k2n -k1 "$dir/few" | awk '{ $3 = $1 == "quantile" ? $3 + 0 : $3 } 1' >"$dir/a"
	sort -k2n -k1 "$dir/ours" | awk '{ $3 = $1 == "quantile" ? $3 + 0 : $3 } 1' >"$dir/b"
	[ "$(wc -l <"$dir/a")" -eq 8 ] || fail "Go says $(wc -l <"$dir/a") numbers, not 8"
	same "$dir/a" "$dir/b"
	expect 1 gprofctl mmu --flags perprocess "$dir/4" 2>"$dir/err"
	grep -q 'is no trace of gprof' "$dir/err"
	gprofctl mmu --flags alltasks "$dir/4" >"$dir/out" 2>"$dir/err"
	grep -q 'lost to: waits for a CPU (--flags alltasks)' "$dir/out"
	[ ! -s "$dir/err" ]
}

ktap_run traces_of_Gos_corpus_agree invalid_traces_are_refused fresh_traces_agree \
	processors_may_come_and_go a_trace_of_the_kernel_agrees late_assists_are_given_back \
	gprofctl_prints_Gos_numbers
