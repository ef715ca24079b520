#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# pprof_go_test.sh: what we write, Go's pprof and speedscope read, and see the same numbers in.
# Runs on the host; the profiles are recorded in a guest.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need "$here/profile_dump"
set -o pipefail

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
# what was fetched once is not fetched again
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache}
export HOME=$dir PPROF_TMPDIR=$dir GOTOOLCHAIN=local GOFLAGS=-mod=mod

vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")
go=$(command -v go) || go=
[ "$go" ] || { [ -x "$vm/cache/go" ] && go=$("$vm/cache/go")/bin/go; }
profiles="cycles timer forks block waker latency custom"

need_go()
{
	[ -x "$go" ] || skip "there is no go, and no selftests/vm/cache/go to fetch it"
	"$go" version
}

pprof() { "$go" tool pprof -symbolize=none "$@"; }

profiles_are_recorded()
{
	need_go
	[ -x "$vm/run" ] || skip "no selftests/vm in PATH"
	# One CPU and exact time: which functions are seen is no matter of the host then.
	# shellcheck disable=SC2016 # the shell of the guest
	run --arch arm64 --icount --share "$dir" -- sh -ec '
		cd /share
		gprofctl cpu -e cycles:100000 -o cycles.pb.gz -- truth_serial 1000000
		gprofctl cpu -e cycles:100000 -o later.pb.gz -- truth_serial 700000
		gprofctl cpu -e timer -F 1000 -o timer.pb.gz -- truth_threads 10000000
		gprofctl cpu -e cycles:100000 -o nameless.pb.gz -- sh -c \
			"i=0; while [ \$i -lt 3000 ]; do i=\$((i + 1)); done"
		gprofctl cpu --latency -F 1000 -o latency.pb.gz -- truth_threads 10000000
		gprofctl profile -e sched:sched_process_fork -o forks.pb.gz -- sh -c \
			"for i in 1 2 3 4 5 6 7; do /bin/true; done"
		for file in block less; do
			gprofctl block -o $file.pb.gz --waker waker.pb.gz -- sh -c \
				"sleep 0.1; sleep 0.2 | cat"
		done
		custom_self custom.pb.gz'
}

need_profiles()
{
	need_go
	for p in $profiles; do
		[ -s "$dir/$p.pb.gz" ] || skip "no profile was recorded"
	done
}

go_reads_them_without_complaint()
{
	need_profiles
	for p in $profiles; do
		pprof -raw "$dir/$p.pb.gz" >"$dir/$p.raw" 2>"$dir/$p.err"
		cat "$dir/$p.err"
		[ ! -s "$dir/$p.err" ] || fail "$p: pprof complains"
		grep -q '^Samples:' "$dir/$p.raw"
	done
}

# Also of code without names, which a viewer that draws functions must not leave out.
speedscope_sees_the_same_functions()
{
	need_profiles
	for program in node npm; do
		command -v $program >/dev/null || skip "there is no $program"
	done
	viewer=$("$vm/cache/speedscope")
	for p in $profiles nameless; do
		node "$vm/../profiles/speedscope/load.mjs" "$viewer" "$dir/$p.pb.gz" >"$dir/viewer"
		"$here/profile_dump" "$dir/$p.pb.gz" >"$dir/dump"
		total=$(awk '$1 == "total" { print $2 }' "$dir/viewer")
		# it shows one column: that of the default type
		type=$(awk -v n="$total" '$1 == "total" && $4 == n { print $2 }' "$dir/dump" | tail -n 1)
		[ "$type" ] || fail "$p: speedscope says $total, which no column is"
		for file in viewer dump; do
			awk -v t="$type" '$1 == "self" { n = $2; $1 = $2 = "" }
				$1 == "flat" && $2 == t { n = $3; $1 = $2 = $3 = "" }
				$1 == "" { sub(/^ */, ""); sum[$0] += n }
				END { for (name in sum) if (sum[name]) printf "%.0f %s\n", sum[name], name }' \
				"$dir/$file" | sort >"$dir/$file.self"
		done
		[ -s "$dir/dump.self" ]
		diff "$dir/viewer.self" "$dir/dump.self" || fail "$p, $type"
		wc -l <"$dir/dump.self"
	done
	# a shell is stripped: much of what it does is named by file and address
	awk '{ all += $1 } $2 ~ /^\[|\+0x/ { nameless += $1 }
		END { print nameless " of " all " without a name"; exit nameless * 10 <= all }' \
		"$dir/dump.self"
}

go_shows_the_truth_programs()
{
	need_profiles
	pprof -top -nodecount=100000 -nodefraction=0 "$dir/cycles.pb.gz" >"$dir/top"
	cat "$dir/top"
	grep -q '^Type: cycles' "$dir/top"
	# Names; that the shares are right is for truth_test.sh, where time is exact.
	[ "$(grep -c '[A-J]_expect_[0-9_]*$' "$dir/top")" -eq 10 ]
	pprof -top "$dir/timer.pb.gz" >"$dir/top"
	cat "$dir/top"
	grep -q '^Type: cpu' "$dir/top"
	grep -q ' f10$' "$dir/top"
	pprof -top -cum "$dir/forks.pb.gz" >"$dir/top"
	cat "$dir/top"
	grep -q 'of 7 total' "$dir/top"
	grep -q kernel_clone "$dir/top"
}

# What one waits for is looked at first, and a difference of two is one.
go_shows_waits()
{
	need_profiles
	pprof -top -cum "$dir/block.pb.gz" >"$dir/top"
	cat "$dir/top"
	grep -q '^Type: delay' "$dir/top"
	# Two sleeps, and a shell and a cat that wait for them: three at most at a time.
	sed -n 's/^Duration: \([0-9.]*\)\(m\?s\),.*/\1 \2/p
		s/.* of \([0-9.]*\)\(m\?s\) total.*/\1 \2/p' "$dir/top" | awk '
		{ ms[NR] = $1 * ($2 == "s" ? 1000 : 1) }
		END { exit !(NR == 2 && ms[2] >= 600 && ms[2] <= 3 * ms[1]) }'
	pprof -tags "$dir/block.pb.gz" >"$dir/tags"
	cat "$dir/tags"
	for reason in sleep child pipe; do
		grep -q " $reason\$" "$dir/tags"
	done
	pprof -top -sample_index=contentions "$dir/waker.pb.gz" >"$dir/top"
	grep -q '^Type: contentions' "$dir/top"
	pprof -top -diff_base "$dir/less.pb.gz" "$dir/block.pb.gz" 2>&1 | tee "$dir/top"
	grep -q '^Type: delay' "$dir/top"
}

go_shows_latency_on_request()
{
	need_profiles
	pprof -top "$dir/latency.pb.gz" >"$dir/top"
	grep -q '^Type: cpu' "$dir/top"
	pprof -top -sample_index=latency "$dir/latency.pb.gz" >"$dir/top"
	cat "$dir/top"
	grep -q '^Type: latency' "$dir/top"
	# one CPU runs one at a time
	pprof -tags "$dir/latency.pb.gz" | grep -A 1 '^ *parallelism:' | tee "$dir/tags"
	grep -q ' 1\>' "$dir/tags"
}

library_reads_what_go_writes()
{
	need_profiles
	for p in $profiles; do
		pprof -proto -output="$dir/$p.go.pb.gz" "$dir/$p.pb.gz" >/dev/null 2>&1
		"$here/profile_dump" "$dir/$p.pb.gz" | sort >"$dir/before"
		[ -s "$dir/before" ]
		"$here/profile_dump" "$dir/$p.go.pb.gz" | sort >"$dir/after"
		diff "$dir/before" "$dir/after"
	done
}

# table NAME: "flat flat% cum cum% function" of each function that has a name, from a table
table()
{
	awk 'on && NF > 5 && $6 !~ /^\[|^</ && ($1 + 0 || $4 + 0) {
			name = $6; for (i = 7; i <= NF; i++) name = name " " $i
			sub(/ \[[^][]*\]$/, "", name)
			sub(/ \((partial-)?inline\)$/, "", name)
			for (i = 1; i <= 5; i++) sub(/[^-0-9.]+$/, "", $i)
			# the sign of a share is that of its value, says pprof
			sub(/^-/, "", $2); sub(/^-/, "", $5)
			printf "%.0f %.2f %.0f %.2f %s\n", $1, $2, $4, $5, name }
		/ flat%/ { on = 1 }' | sort >"$dir/$1"
	wc -l <"$dir/$1"
	[ -s "$dir/$1" ]
}

# compare FLAG [OPTION]: pprof's -FLAG beside ours
compare()
{
	flag=$1
	shift
	for type in cycles samples; do
		pprof -top -nodecount=1000000 -nodefraction=0 -edgefraction=0 -unit=count \
			-sample_index="$type" "-$flag" "$dir/cycles.pb.gz" "$dir/later.pb.gz" | table go
		gprofctl diff "$dir/cycles.pb.gz" "$dir/later.pb.gz" --type "$type" --json "$@" | jq -r '
			"flat flat% cum cum%", (.data.total as $all | .data.rows[] |
			"\(.flat) \(100 * .flat / $all)% - \(.cum) \(100 * .cum / $all)% \(.name)")' |
			table ours
		diff "$dir/go" "$dir/ours" || fail "-$flag, $type"
	done
	head -n 3 "$dir/ours"
	# as a profile, which pprof reads as if it had made it
	gprofctl diff -o "$dir/diff.pb.gz" "$@" "$dir/cycles.pb.gz" "$dir/later.pb.gz" >/dev/null
	pprof -top -nodecount=1000000 -nodefraction=0 -edgefraction=0 -unit=count \
		-sample_index="$type" "$dir/diff.pb.gz" | table again
	diff "$dir/go" "$dir/again"
}

differences_are_those_of_go()
{
	need_profiles
	compare diff_base
	compare base --subtract
}

# go_table and our_table: "flat cum name" of each function, by the options that follow.
go_table()
{
	pprof -top -nodecount=1000000 -nodefraction=0 -edgefraction=0 -unit="$unit" \
		-sample_index="$type" "$@" "$file" 2>"$dir/err" |
		awk 'on && NF > 5 { name = $6; for (i = 7; i <= NF; i++) name = name " " $i
			sub(/ \((partial-)?inline\)$/, "", name)
			printf "%.0f %.0f %s\n", $1 + 0, $4 + 0, name }
			/ flat%/ { on = 1 }' | sed 's/<unknown>$/[unknown]/' | sort >"$dir/go"
}

our_table()
{
	gprofctl csv "$file" --all-waits --kernel-frames --type "$type" "$@" 2>"$dir/err" |
		jq -rR 'select(input_line_number > 1) |
			capture("^(?<q>\"?)(?<n>.*?)\\k<q>,[^,]*,(user|kernel|inlined),(?<f>[-0-9]+),[^,]*,(?<c>[-0-9]+),") |
			"\(.f) \(.c) \(.n)"' |
		sort >"$dir/ours"
}

# same_tables "OUR OPTIONS" "ITS OPTIONS": for each type of each profile
same_tables()
{
	rows=0
	for p in $profiles; do
		file=$dir/$p.pb.gz
		"$here/profile_dump" "$file" >"$dir/dump"
		while read -r _ type unit _; do
			[ "$unit" != nanoseconds ] || unit=ns
			# shellcheck disable=SC2086 # options are words
			go_table $2
			# shellcheck disable=SC2086
			our_table $1
			diff "$dir/go" "$dir/ours" || fail "$p, $type: $1"
			rows=$((rows + $(wc -l <"$dir/ours")))
		done < <(grep '^total ' "$dir/dump")
	done
	echo "$1: $rows rows"
}

tables_are_those_of_go()
{
	need_profiles
	same_tables "" ""
	[ "$rows" -gt 50 ]
	# what is on the way to code of the kernel, and what never is
	same_tables "--focus ^vfs_|^do_|main" "-focus=^vfs_|^do_|main"
	same_tables "--ignore main|^do_" "-ignore=main|^do_"
	same_tables "--hide ^do_|main" "-hide=^do_|main"
	same_tables "--focus main --ignore ^do_ --hide level" "-focus=main -ignore=^do_ -hide=level"
	same_tables "--focus libc" "-focus=libc"
}

labels_are_those_of_go()
{
	need_profiles
	for comm in truth_threads sh sleep; do
		same_tables "--comm $comm" "-tagfocus=comm=^$comm\$"
		found=$((${found:-0} + rows))
	done
	[ "$found" -gt 0 ]
	# its -tags beside our --by
	for p in $profiles; do
		file=$dir/$p.pb.gz
		# the first type is a count, which no unit makes round
		type=$("$here/profile_dump" "$file" | awk '$1 == "total" { print $2; exit }')
		for key in comm cpu tid; do
			pprof -tags -unit=count -sample_index="$type" "$file" 2>"$dir/err" | awk -v key="$key" '
				/^ *[a-z_.]+: Total/ { on = $1 == key ":"; next }
				on && NF { n = $1; sub(/^[^:]*: */, ""); printf "%.0f %s\n", n, $0 }' |
				sort >"$dir/go"
			gprofctl csv "$file" --all-waits --kernel-frames --type "$type" --by "label=$key" |
				awk -F, 'NR > 1 && $4 && $1 !~ /^\(no / { print $4, $1 }' |
				sed 's/CPU //' | sort >"$dir/ours"
			[ "$key" != comm ] || [ -s "$dir/ours" ] || [ "$p" = custom ]
			diff "$dir/go" "$dir/ours" || fail "$p: $key"
		done
	done
}

# "VALUE NAME" of callers and callees, and where the function stands
calls()
{
	sed -n 's/^ *\([0-9.]*\)[a-z]* *\([0-9.]*\)% |   \(.*\)/\1 \2 \3/p; s/^.*| \([^ ].*\)/= \1/p' |
		sed 's/ \[[^][]*\]$//; s/ (\(partial-\)\?inline)$//' |
		awk '$1 != "=" { printf "%.0f", $1; $1 = $2 = ""; print; next } { print }' |
		grep -v -e '^= callers,' -e ' \[' | sort
}

calls_are_those_of_go()
{
	need_profiles
	for name in main level1 level2 start_thread f10; do
		for p in cycles timer; do
			file=$dir/$p.pb.gz
			pprof -peek "^$name\$" -unit=count -sample_index=samples "$file" 2>"$dir/err" |
				calls >"$dir/go" || [ ! -s "$dir/go" ]
			gprofctl peek "^$name\$" "$file" --all-waits --kernel-frames --type samples 2>"$dir/err" | calls >"$dir/ours" ||
				[ ! -s "$dir/ours" ]
			diff "$dir/go" "$dir/ours" || fail "$p: $name"
			found=$((${found:-0} + $(wc -l <"$dir/ours")))
		done
	done
	echo "$found callers and callees"
	[ "$found" -gt 10 ]
}

# A profile that Go took of a program that is here: with sources, and with instructions.
program_is_made()
{
	need_go
	mkdir -p "$dir/hot"
	cat >"$dir/hot/go.mod" <<-'EOF'
		module hot
		go 1.23
	EOF
	cat >"$dir/hot/main.go" <<-'EOF'
		package main

		import (
			"os"
			"runtime/pprof"
			"time"
		)

		//go:noinline
		func hot(n int) int {
			s := 0
			for i := 0; i < n; i++ {
				s += i*i ^ s<<1
			}
			return s
		}

		//go:noinline
		func around(n int) int {
			return hot(n) +
				hot(n/2)
		}

		func main() {
			f, _ := os.Create(os.Args[1])
			pprof.StartCPUProfile(f)
			for t := time.Now(); time.Since(t) < 2*time.Second; {
				around(100000)
			}
			pprof.StopCPUProfile()
			f.Close()
		}
	EOF
	(cd "$dir/hot" && "$go" build -ldflags "-B 0x0123456789abcdef" -o hot . && ./hot hot.pb.gz)
	[ -s "$dir/hot/hot.pb.gz" ]
}

need_program() { [ -s "$dir/hot/hot.pb.gz" ] || skip "no program was made"; }

# "FLAT CUM LINE" of each line that has a value
lines()
{
	sed 's/ms//g; s/:/ /' | awk 'NF > 2 && $3 + 0 && ($1 + 0 || $2 + 0) && !/flat, cum/ {
		printf "%.0f %.0f %d\n", $1, $2, $3 }' | sort -n
}

lines_are_those_of_go()
{
	need_program
	for name in hot around main; do
		pprof -list "^main\\.$name\$" -unit=ms "$dir/hot/hot.pb.gz" 2>"$dir/err" | lines >"$dir/go"
		gprofctl list "main.$name" "$dir/hot/hot.pb.gz" --json | jq -r '
			.data.functions[].sources[].lines[] |
			"\(.flat / 1000000) \(.cum / 1000000) \(.line)"' | lines >"$dir/ours"
		cat "$dir/ours"
		[ -s "$dir/ours" ]
		diff "$dir/go" "$dir/ours"
	done
}

instructions_add_up_to_the_function()
{
	need_program
	command -v objdump >/dev/null || skip "there is no objdump"
	gprofctl disasm main.hot "$dir/hot/hot.pb.gz" --type samples | tee "$dir/code"
	gprofctl csv "$dir/hot/hot.pb.gz" --type samples | awk -F, '$1 == "main.hot" { print $4, $6 }' >"$dir/csv"
	read -r flat cum <"$dir/csv"
	[ "$flat" -gt 0 ]
	awk -v flat="$flat" -v cum="$cum" '/^ *[.0-9]+ +[.0-9]+ +[0-9a-f]+:/ { f += $1; c += $2; n++ }
		END { print n, f, c; exit !(n > 5 && f == flat && c == cum) }' "$dir/code"
	grep -q '<main.hot>' "$dir/code"
	! grep -q '<main.around>:' "$dir/code"
	# two calls of one function are two instructions
	gprofctl disasm main.around "$dir/hot/hot.pb.gz" --type samples |
		awk '/call.*<main.hot>/ && $2 + 0 { n++ } END { exit n != 2 }'
	# the lines of its source are between them, each as it is, and jumps lead to instructions
	sed -n 's/^ \{24\}//p' "$dir/code" | grep . >"$dir/between"
	[ "$(wc -l <"$dir/between")" -ge 2 ] || fail "$(wc -l <"$dir/between") lines of source"
	sed 's/\t/ /g' "$dir/hot/main.go" >"$dir/source"
	! grep -vxFf "$dir/source" "$dir/between" || fail "lines that are not of the source"
	[ "$(grep -c ': .*-> ' "$dir/code")" -ge 1 ] || fail "no jump is drawn"
	gprofctl disasm main.hot "$dir/hot/hot.pb.gz" --type samples --no-source >"$dir/bare" 2>"$dir/err"
	[ ! -s "$dir/err" ]
	! grep -q '^ \{24\}' "$dir/bare" || fail "--no-source has a source"
	[ "$(awk '$3 ~ /:$/ { print $1, $2, $3 }' "$dir/bare")" = \
	  "$(awk '$3 ~ /:$/ { print $1, $2, $3 }' "$dir/code")" ]
	# without debug information it says so; the build-id is the same
	objcopy --strip-debug "$dir/hot/hot" "$dir/stripped"
	gprofctl disasm main.hot "$dir/hot/hot.pb.gz" --object "$dir/stripped" 2>"$dir/err" >"$dir/bare"
	grep -q 'no debug information, .*: build it with -g' "$dir/err"
	! grep -q '^ \{24\}' "$dir/bare"
	# another program in its place is no source of instructions
	expect 1 gprofctl disasm main.hot "$dir/hot/hot.pb.gz" --object "$(command -v gprofctl)" 2>"$dir/err"
	grep -q 'build-id' "$dir/err"
	expect 1 gprofctl disasm main.hot "$dir/hot/hot.pb.gz" --object "$0"
}

# A call has what was taken in itself besides what was called.
calls_have_their_own_too()
{
	need_program
	command -v objdump >/dev/null || skip "there is no objdump"
	command -v protoc-c >/dev/null || skip "there is no protoc-c"
	at=$(objdump -d "$dir/hot/hot" | awk '/^[0-9a-f]+ <main.around>:/ { on = 1 }
		on && /call|\tbl\t/ { sub(":", "", $1); print $1; on = 0 }')
	read -r offset start <<-EOF
		$(readelf -lW "$dir/hot/hot" | awk '$1 == "LOAD" && / E / && !n++ { print $2, $3 }')
	EOF
	protoc-c --proto_path="$vm/../../userlib/proto" --encode=perftools.profiles.Profile \
		profile.proto >"$dir/call.pb" <<-EOF
			string_table: ["", "samples", "count", "$dir/hot/hot", "main.around", "main.hot"]
			sample_type { type: 1 unit: 2 }
			mapping { id: 1 memory_start: $((start)) memory_limit: $((start + (1 << 30)))
				  file_offset: $((offset)) filename: 3 has_functions: true }
			function { id: 1 name: 4 }
			function { id: 2 name: 5 }
			location { id: 1 mapping_id: 1 address: $((0x$at)) line { function_id: 1 } }
			location { id: 2 mapping_id: 1 address: $((0x$at + 3)) line { function_id: 1 } }
			location { id: 3 mapping_id: 1 address: $((0x$at + 64)) line { function_id: 2 } }
			sample { location_id: 1 value: 3 }
			sample { location_id: [3, 2] value: 4 }
		EOF
	gprofctl disasm main.around "$dir/call.pb" | tee "$dir/code"
	awk -v at="$at:" '$3 == at && $1 == 3 && $2 == 7 { n++ } END { exit n != 1 }' "$dir/code"
}

ktap_run profiles_are_recorded go_reads_them_without_complaint speedscope_sees_the_same_functions \
	go_shows_the_truth_programs go_shows_waits go_shows_latency_on_request \
	library_reads_what_go_writes differences_are_those_of_go tables_are_those_of_go \
	labels_are_those_of_go calls_are_those_of_go program_is_made lines_are_those_of_go \
	instructions_add_up_to_the_function calls_have_their_own_too
