#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# trace_guest_test.sh [RUN-OPTION...]: traces that gprofctl records in a guest are taken by
# Go's readers, event by event as by ours, and shown by go tool trace; and one beside that
# of a Go program, whose CPU somebody takes at known times, is joined with it. Runs on the
# host, and boots the guest once.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
gprofctl=$here/../bin/gprofctl
need "$here/trace_dump" "$gprofctl" curl

vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
mkdir -m 777 "$dir/share"
options=("$@")

guest_records()
{
	[ -x "$vm/run" ] || skip "no selftests/vm in PATH"
	for version in 1.23 1.26; do
		go=$("$vm/../tracing/trace_go/tools" "$version") || continue
		cp "$go/spin" "$dir/share/spin-$version"
	done
	cat >"$dir/share/record" <<-'END'
		held= loops=20
		# recording PID: until it waits for signals, as it does when it records
		recording()
		{
			until grep -Eq '^(7|73) ' /proc/$1/syscall; do sleep 0.1; done
		}
		# traced NAME OPTIONS...: the host, while some wake each other and others fork;
		# with $held, while nobody reads the rings, which hold less than that
		traced()
		{
			name=$1
			shift
			gprofctl trace -v -a -o "/share/$name.trace" "$@" 2>"/share/$name.err" &
			pid=$!
			recording $pid
			if [ "$held" ]; then
				sleep 1
				kill -STOP $pid
			fi
			perf bench sched messaging -g 1 -l "$loops"
			i=0
			while [ $i -lt 50 ]; do /bin/true; i=$((i + 1)); done
			[ -z "$held" ] || kill -CONT $pid
			kill -INT $pid
			wait $pid || exit 1
			while [ "$(cat /sys/module/gprof/refcnt)" != 0 ]; do sleep 0.1; done
		}
		traced one --generation 60
		traced twenty --generation 100ms
		traced groups --syscalls --irqs --faults --reclaim --freq --throttle
		traced stacks --stacks=blocked,waker,fork,syscalls,faults,reclaim --syscalls \
			--faults --reclaim --cpu-samples 200 --generation 500ms
		held=1 loops=400
		traced lost --buffer 4096 --generation 200ms
		held= loops=20
		! grep ' lost=0 ' /share/lost.err || exit 1
		traced go22 --go-version 1.22 --irqs --syscalls
		traced go25 --go-version 1.25 --irqs --syscalls --generation 200ms
		traced go26 --go-version 1.26 --syscalls --generation 200ms --index
		gprofctl trace -o /share/pipe.trace -- perf bench sched pipe -l 2000
		gprofctl trace -o /share/exec.trace -- \
			sh -c 'i=0; while [ $i -lt 100 ]; do sh -c "exec /bin/true"; i=$((i + 1)); done'
		gprofctl trace -p 1 -d 1 -o /share/nothing.trace
		# Time in system calls, as the kernel has counted it, and a wait of a known time.
		gprofctl trace --syscalls -o /share/calls.trace -- sh -c \
			'dd if=/dev/zero of=/dev/null bs=16M count=300 2>/dev/null; times' \
			>/share/calls.times
		# Of a child: a sleep is no wait for others, to Go neither.
		gprofctl trace --syscalls -o /share/waits.trace -- sh -c 'sleep 3; :'
		for mode in tasks wrong deep children stranger; do
			gprofctl trace --annotations --syscalls -o "/share/notes-$mode.trace" -- \
				annotate_truth $mode 65 || exit 1
		done
		gprofctl flight -a --trigger 'off-cpu>20ms/500ms' --trigger 'delay>1ms/500ms' \
			--trigger 'syscall>1ms/500ms' --trigger 'softirq>1ns/500ms' \
			--trigger 'irq>1ns/500ms' --trigger 'blocked>1us/500ms' --trigger signal \
			--trigger tracepoint:sched:sched_process_fork/500ms --keep 12 \
			--stacks --at-end --min-age 60s -o /share/flight 2>/share/flight.err &
		pid=$!
		# It records, for it has fired; and is too busy to be seen waiting.
		until [ -s /share/flight.err ]; do sleep 0.1; done
		perf bench sched messaging -g 1 -l 20
		sh -c 'kill $$' || :
		# One snapshot has all that fires while it is made, however slow that is.
		tries=0
		until [ "$(find /share/flight -name '*.trace' | wc -l)" -ge 3 ] || [ $tries -ge 30 ]; do
			sleep 1
			sh -c 'kill $$' || :
			tries=$((tries + 1))
		done
		kill -INT $pid
		wait $pid || exit 1
		mv /share/flight/*-end.trace /share/flight.trace
		# joined VERSION: a Go program traces itself, and the host is traced, while
		# another takes its CPU 1,200 times
		joined()
		{
			join=/share/join-$1
			mkfifo /tmp/stop
			gprofctl trace -v -a --irqs --syscalls --faults --buffer 16777216 \
				-o $join.host 2>$join.err &
			pid=$!
			recording $pid
			/share/spin-$1 /tmp/go 100 $join.seen </tmp/stop >$join.tid &
			spinner=$!
			exec 3>/tmp/stop
			until [ -s $join.tid ]; do sleep 0.1; done
			hog 1200 200 1000 >$join.turns &
			echo $! >$join.hog
			wait $! || exit 1
			exec 3>&-
			wait $spinner || exit 1
			kill -INT $pid
			wait $pid || exit 1
			mv /tmp/go $join.go
			rm /tmp/stop
		}
		for version in 1.23 1.26; do
			[ ! -e /share/spin-$version ] || joined $version
		done
		traced off &
		other=$!
		sleep 0.5
		for i in 1 2 3; do
			echo 0 >/sys/devices/system/cpu/cpu1/online
			echo 1 >/sys/devices/system/cpu/cpu1/online
		done
		wait $other
	END
	"$vm/run" --timeout 420 --share "$dir/share" "${options[@]}" -- sh /share/record
	tail -n 1 "$dir"/share/*.err
	[ "$(find "$dir/share" -maxdepth 1 -name '*.trace' | wc -l)" -eq 20 ]
	[ "$(snapshots | wc -l)" -ge 3 ] || fail "there are too few snapshots of triggers"
}

# The names of those that triggers have left, while recording went on
snapshots() { (cd "$dir/share" && find flight -name '*.trace' | sed 's/\.trace$//' | sort); }

# takes VERSION TRACE...: Go's reader gives the events that ours does
takes()
{
	go=$("$vm/../tracing/trace_go/tools" "$1") || skip "Go $1 cannot be fetched here"
	version=$1
	shift
	for name; do
		trace=$dir/share/$name.trace
		[ -s "$trace" ] || fail "there is no $name"
		"$go/dump" "$trace" >"$dir/go" || fail "$name: Go $version refuses it"
		"$here/trace_dump" "$trace" >"$dir/ours" || fail "$name: we refuse it"
		# Go before 1.25 has no sync event at the start of a trace; a later one has it
		# for those traces too, at another time than we, which moves what follows at once.
		if [ "$version" = 1.23 ]; then
			sed -i '1{/^Sync /d}' "$dir/ours"
		elif [ "$(head -c 7 "$trace" | tail -c 2)" -lt 25 ]; then
			for events in go ours; do
				grep -v '^Sync ' "$dir/$events" | cut -d ' ' -f 1,3- >"$dir/cut"
				mv "$dir/cut" "$dir/$events"
			done
		fi
		cmp "$dir/go" "$dir/ours" || {
			diff "$dir/go" "$dir/ours" | head -n 10
			fail "$name: the events differ"
		}
		echo "$name: $(wc -l <"$dir/go") events, $(stat -c %s "$trace") bytes"
	done
}

notes='notes-tasks notes-wrong notes-deep notes-children notes-stranger'

go_1.23_takes_them()
{
	# shellcheck disable=SC2086	# words
	takes 1.23 one twenty groups stacks lost go22 pipe exec nothing off flight $notes
	# shellcheck disable=SC2046	# words
	takes 1.23 $(snapshots)
}

go_1.26_takes_them()
{
	# shellcheck disable=SC2086	# words
	takes 1.26 one twenty groups stacks lost go22 go25 go26 pipe exec nothing off flight $notes
	# shellcheck disable=SC2046	# words
	takes 1.26 $(snapshots)
}

# viewer old|new: go tool trace of Go 1.23, or of the newest Go; $dump of that, how it
# prints events itself, and the traces that it takes besides
viewer()
{
	if [ "$1" = old ]; then
		goroot=$("$vm/cache/go") || skip "Go 1.23 cannot be fetched here"
		dump=$("$vm/../tracing/trace_go/tools" 1.23)/dump
		viewer=$(find "$goroot/" -path '*/pkg/tool/*/trace' | head -n 1)
		parsed=-d=1 formats=
	else
		younger=$("$vm/cache/go-tools") || skip "no younger Go can be fetched here"
		dump=$younger/dump
		viewer=$younger/trace
		parsed=-d=parsed formats='go25 go26'
	fi
	[ -x "$viewer" ] || skip "there is no go tool trace"
}

# prints old|new: each event as Go's reader prints it, and what it says of each sync
prints()
{
	viewer "$1"
	# shellcheck disable=SC2046,SC2086	# words
	for name in one twenty groups stacks lost go22 $formats pipe exec off flight calls waits \
			$notes $(snapshots); do
		"$dump" -s "$dir/share/$name.trace" >"$dir/printed" || fail "$name: is not printed"
		"$viewer" $parsed "$dir/share/$name.trace" >"$dir/parsed" 2>"$dir/err" || {
			head -n 5 "$dir/err"
			fail "$name: $parsed of the $1 Go ends so"
		}
		[ "$(wc -l <"$dir/printed")" -gt 10 ]
		# Go 1.23 has what is of one time in another order each time.
		[ "$1" = old ] || cmp "$dir/printed" "$dir/parsed"
		[ "$(wc -l <"$dir/printed")" -eq "$(wc -l <"$dir/parsed")" ]
		for kind in sync syscall sched net; do
			"$viewer" -pprof=$kind "$dir/share/$name.trace" >"$dir/profile" ||
				fail "$name: -pprof=$kind of the $1 Go ends so"
			[ -s "$dir/profile" ]
		done
	done
}

go_1.23_prints_them()
{
	prints old
}

the_newest_go_prints_them() { prints new; }

# total KIND TRACE: ns in all, of go tool trace -pprof=KIND
total()
{
	"$viewer" "-pprof=$1" "$dir/share/$2.trace" >"$dir/profile"
	"$younger/pprof" -top -unit=ns -sample_index=delay "$dir/profile" 2>/dev/null |
		sed -n 's/^Showing nodes accounting for .* of \([0-9.e+]*\)ns total$/\1/p'
}

# The time on the CPU in system calls is what the kernel has counted for the shell and dd; of
# the wait for a child it is known. Go before 1.24 has no sums: it passes over ends without a stack.
go_sums_up_calls_and_waits()
{
	younger=$("$vm/cache/go-tools") || skip "no younger Go can be fetched here"
	viewer new
	got=$(total syscall calls)
	waited=$(total sync waits)
	counted=$(awk '{ split($2, t, "[ms]"); ns += t[1] * 60e9 + t[2] * 1e9 }
		END { printf "%.0f", ns }' "$dir/share/calls.times")
	echo "$got ns in system calls, $counted counted; $waited ns of a wait of 3 s"
	awk -v got="$got" -v counted="$counted" -v waited="$waited" 'BEGIN {
		exit !(counted > 1e9 && got > 0.99 * counted && got < 1.01 * counted &&
		       waited > 0.99 * 3e9 && waited < 1.01 * 3e9) }'
}

# pages old|new TRACE...: go tool trace shows its pages
pages()
{
	viewer "$1"
	shift
	for name; do
		"$viewer" -http=127.0.0.1:0 "$dir/share/$name.trace" >"$dir/viewer" 2>&1 &
		pid=$!
		tries=0 url=''
		until [ "$url" ]; do
			tries=$((tries + 1))
			if [ $tries -ge 300 ] || ! kill -0 $pid; then
				cat "$dir/viewer"
				fail "$name: go tool trace does not come up"
			fi
			sleep 0.1
			url=$(grep -o 'http://127[^ /]*' "$dir/viewer" | head -n 1)
		done
		for page in '' trace goroutines userregions usertasks mmu \
				'mmu?mode=plot&flags=stw|background|assist|sweep|perproc' \
				'mmu?mode=details&window=1000000&flags=assist|sweep' \
				'sched?raw=1' 'syscall?raw=1' 'block?raw=1' 'io?raw=1' \
				'jsontrace?start=0'; do
			got=$(curl -s -o "$dir/page" -w '%{http_code}' "$url/$page")
			if [ "$got" != 200 ] || [ ! -s "$dir/page" ]; then
				kill $pid
				tail -n 5 "$dir/viewer"
				fail "$name: /$page answers $got"
			fi
		done
		grep -q 'perf\|sched-messaging' <(curl -s "$url/goroutines") || {
			kill $pid
			fail "$name: no task has its name"
		}
		kill $pid
		wait $pid || true
	done
}

go_1.23_shows_them()
{
	pages old one twenty groups stacks
}

the_newest_go_shows_them() { pages new one twenty groups stacks go22 go25 go26 flight; }

# lines PATTERN: lines of what protoc has decoded
lines() { grep -c "$1" "$dir/decoded" || true; }

# Every field has a name in Perfetto's own schema, and a value of its type. Only a stack
# sample, 135, is newer than some. $GPROF_PERFETTO has another schema, laid out likewise.
protoc_decodes_what_is_written_for_perfetto()
{
	perfetto=${GPROF_PERFETTO-$("$vm/cache/perfetto")} ||
		skip "protoc, or Perfetto's schema, cannot be fetched here"
	for name in groups stacks; do
		"$gprofctl" read "$dir/share/$name.trace" --format perfetto -o "$dir/perfetto"
		LD_LIBRARY_PATH=$perfetto/lib "$perfetto/usr/bin/protoc" -I "$perfetto" \
			--decode=perfetto.protos.Trace protos/perfetto/trace/trace.proto \
			<"$dir/perfetto" | sed '/^  135 {$/,/^  }$/d' >"$dir/decoded"
		! grep -E '^ *[0-9]+[: ]' "$dir/decoded" | head -n 5 | grep . || fail "$name: unknown fields"
		rm -rf "$dir/csv"
		"$gprofctl" read "$dir/share/$name.trace" --format csv -o "$dir/csv"
		told=$(($(wc -l <"$dir/csv/switches.csv") - 1))
		echo "$name: $(wc -l <"$dir/decoded") lines, $(lines 'sched_switch {') switches of $told," \
			"$(lines 'sched_waking {') wakings, $(lines 'type: TYPE_SLICE_BEGIN') calls," \
			"$(lines ' stack_sample {') stacks"
		# Where events are lost, one to and from who is not known may be written more.
		lost=$(lines ' next_comm: "\[not known\]"')
		[ "$(lines 'sched_switch {')" -ge "$told" ]
		[ "$(lines 'sched_switch {')" -le $((told + 2 * lost)) ]
		[ "$(lines 'sched_waking {')" -gt 0 ]
		[ "$(lines 'type: TYPE_SLICE_BEGIN')" -gt 0 ]
		[ "$(lines ' prev_comm: "sched-messaging"')" -gt 0 ]
		[ "$(lines ' callstack_iid: ')" -eq "$(lines ' stack_sample {')" ]
	done
}

# told VERSION: by line what a join of those traces has to agree with, in ns of
# CLOCK_MONOTONIC, and it: "found" and its begin and end, of the join; "ran", of the goroutine
# by its own trace, and "said", for what a log says when it was by the trace; "saw", when the
# goroutine looked at the clock, and "log", before and after a log; "turn" of the hog; "call",
# when that looked at the clock by the trace of the host, and "read", when the goroutine did,
# or its runtime for its own trace, where that takes a system call
told()
{
	join=$dir/share/join-$1
	"$gprofctl" read "$join.host" --join "$join.go" --json >"$dir/joined"
	python3 "$here/schema_check" "$here/schema" "$dir/joined"
	"$here/trace_dump" -o "$join.go" >"$dir/go"
	sed -n 's/^Log \([0-9]*\) .* "clock" "\([0-9]*\)" .*/said \2 \1/p' "$dir/go"
	goroutine=$(sed -n 's/^Log .* g=\([0-9]*\) .* "clock" .*/\1/p' "$dir/go" | head -n 1)
	sed -n "s/^{\"kind\": \"descheduled\", \"goroutine\": $goroutine, \"tid\": $(cat "$join.tid"), \"begin_ns\": \([0-9]*\), \"end_ns\": \([0-9]*\)}.*/found \1 \2/p" \
		"$dir/joined"
	sed -n "s/^StateTransition \([0-9]*\) .* Goroutine($goroutine) \([A-Z][A-Za-z]*\)->\([A-Z][A-Za-z]*\) .*/\1 \2 \3/p" "$dir/go" |
		awk '$2 == $3 { next }
			$3 == "Running" { since = $1 }
			$2 == "Running" { print "ran", since, $1; since = 0 }
			END { if (since) print "ran", since, 2 ^ 62 }'
	awk '$2 + 0 > end { end = $2 } END { print "end", end, end }' "$dir/go"
	# of the thread, until it has a CPU again
	"$here/trace_dump" -o "$join.host" |
		sed -n "s/^StateTransition \([0-9]*\) .* Goroutine($(cat "$join.tid")) \([A-Z][A-Za-z]*\)->\([A-Z][A-Za-z]*\) .*/\1 \2 \3/p" |
		awk '$2 == $3 { next }
			$2 == "Running" && $3 == "Waiting" { since = $1 }
			$3 == "Running" && since { print "slept", since, $1; since = 0 }'
	"$gprofctl" read "$join.host" | sed -n \
		's/.* G=\([0-9]*\) Region\([BE]\)[a-z]* Time=\([0-9]*\) .*Type="clock_gettime".*/\1 \2 \3/p' |
		awk -v hog="$(cat "$join.hog")" -v goroutine="$(cat "$join.tid")" '
			$2 == "B" { since[$1] = $3; next }
			$1 == hog { print "call", since[$1], $3 }
			$1 == goroutine { print "read", since[$1], $3 }'
	sed 's/^/turn /' "$join.turns"
	cat "$join.seen"
}

# Each turn of the hog while the goroutine ran is in an interval of the join, and in none does
# the goroutine look at the clock. As clocks do not differ by more than what they were read
# beside: that of the host from the hog's, that of the goroutine's trace from its own. Times of
# traces are in units of 64 ns, rounded down.
joins()
{
	[ -s "$dir/share/join-$1.go" ] || skip "Go $1 cannot be fetched here"
	grep -q ' lost=0 ' "$dir/share/join-$1.err" || fail "events were lost"
	told "$1" >"$dir/told"
	awk '
		# the last of those whose begin is not after a time; 0: none is
		function last(what, time,   low, high, mid) {
			low = 0
			high = nr[what]
			while (low < high) {
				mid = int((low + high + 1) / 2)
				if (from[what, mid] <= time)
					low = mid
				else
					high = mid - 1
			}
			return low
		}
		# that a time is in; 0: it is in none
		function in_one(what, time,   i) {
			i = last(what, time)
			return i && time < to[what, i] + 64 ? i : 0
		}
		function wrong(what, i, why) {
			if (shown++ < 5)
				print what, from[what, i], to[what, i] ": " why
		}
		function apart(what, ns) {
			if (!(what in least) || ns < least[what])
				least[what] = ns
		}
		{ n = ++nr[$1]; from[$1, n] = $2; to[$1, n] = $3 }
		$1 == "said" { time[$2] = $3 }
		END {
			for (i = 1; i <= nr["turn"]; i++) {
				# Nobody tells of what is behind the end of the other trace.
				if (to["turn", i] > to["end", 1])
					continue
				c = in_one("call", from["turn", i])
				if (c)
					apart("host", to["call", c] - from["call", c])
				else
					wrong("turn", i, "did not look at the clock then")
				f = in_one("found", from["turn", i])
				# A thread may sleep with its goroutine, in the runtime or a fault.
				s = in_one("slept", from["turn", i])
				if (!in_one("ran", from["turn", i]) || s) {
					asleep++
					slept += s && in_one("ran", from["turn", i])
					if (f)
						wrong("turn", i, "found, while the goroutine did not run")
				} else if (!f || to["turn", i] > to["found", f] + 64) {
					r = in_one("ran", from["turn", i])
					wrong("turn", i, "not found, in " from["ran", r] " to " to["ran", r] \
						" but " from["found", f] " to " to["found", f])
				} else {
					# Two, where a guest stands still and the sleep is over at once.
					running += !turns[f]++
				}
			}
			for (i = 1; i <= nr["found"]; i++) {
				if (from["saw", last("saw", to["found", i])] > from["found", i] + 64)
					wrong("found", i, "the goroutine was there")
				others += !turns[i]
			}
			for (i = 1; i <= nr["log"]; i++) {
				if (time[from["log", i]] + 64 < from["log", i] ||
				    time[from["log", i]] > to["log", i])
					wrong("log", i, "is at " time[from["log", i]] " by the trace")
				apart("goroutine", to["log", i] - from["log", i])
				c = in_one("read", time[from["log", i]])
				if (c)
					apart("goroutine", to["read", c] - from["read", c])
			}
			print running + 0, "times of the hog, and", others + 0, "of others;", asleep + 0,
				"while the goroutine did not run,", slept + 0, "of these in it"
			print "clocks of traces agree within", least["host"], "and", least["goroutine"], "ns"
			exit shown || running < 1000 || !nr["log"] || least["host"] > 10000 ||
				least["goroutine"] > 10000
		}' "$dir/told"
	grep -q '"contradictions": 0,' "$dir/joined"
	# It touched 100 pages, and there were ticks.
	grep '"function": "main.spin"' "$dir/joined" >"$dir/spin"
	cat "$dir/spin"
	[ "$(sed -n 's/.*"faults": \([0-9]*\),.*/\1/p' "$dir/spin")" -ge 100 ]
	grep -q '"interrupted": {"count": [1-9]' "$dir/spin"
}

each_turn_of_a_hog_is_found_of_go_1.23()
{
	joins 1.23
}

each_turn_of_a_hog_is_found_of_go_1.26()
{
	joins 1.26
}

ktap_run guest_records go_1.23_takes_them go_1.26_takes_them go_1.23_prints_them \
	the_newest_go_prints_them go_sums_up_calls_and_waits go_1.23_shows_them \
	the_newest_go_shows_them protoc_decodes_what_is_written_for_perfetto \
	each_turn_of_a_hog_is_found_of_go_1.23 each_turn_of_a_hog_is_found_of_go_1.26
