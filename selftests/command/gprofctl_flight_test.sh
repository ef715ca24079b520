#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# gprofctl_flight_test.sh: snapshots of what was last, while recording goes on, whatever
# becomes of their directory.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl jq setpriv
# shellcheck source-path=SCRIPTDIR source=../helpers/command.sh
. "$here/command.sh"

line='^produced=[0-9]+ held=[0-9]+ lost=[0-9]+ overwritten=[0-9]+ snapshots=[0-9]+ failed=[0-9]+ removed=[0-9]+ fired=[0-9]+ suppressed=[0-9]+$'
stamp='[0-9]{8}T[0-9]{6}\.[0-9]{3}Z'

# fresh: what other tests have left is gone
fresh()
{
	umount D 2>/dev/null || :
	rm -rf D E hooked hook.pid
}

# takes_off OPTIONS...: a flight recorder, whose process is $pid
takes_off()
{
	gprofctl flight -v "$@" 2>err &
	pid=$!
	wait_for_recording "$pid"
}

# lands: it ends, and its counts add up
lands()
{
	kill -INT "$pid"
	lands_got=0
	wait "$pid" || lands_got=$?
	cat err
	[ $lands_got -eq "${1-0}" ] || fail "status $lands_got"
	tail -n 1 err | grep -Eq "$line" || fail "the last line is another"
	[ "$(count produced)" -eq "$(($(count held) + $(count lost) + $(count overwritten)))" ]
}

# told N WHAT: wait until it has said so N times
told()
{
	told_tries=0
	until [ "$(grep -c -- "$2" err)" -ge "$1" ]; do
		told_tries=$((told_tries + 1))
		[ $told_tries -lt 600 ] || fail "it does not say: $2"
		sleep 0.1
	done
}

# ask N: for the N-th snapshot
ask()
{
	kill -USR1 "$pid"
	told "$1" "^gprofctl: request: the last "
}

# snapshot N: the N-th of the directory, by name
snapshot() { find D -name '*.trace' | sort | sed -n "$1p"; }

# happens NAME: a program of that name runs
happens()
{
	cp /bin/true "./$1"
	"./$1"
}

# knows FILE NAME: has it a task that was called so?
knows() { gprofctl read "$1" | grep -qF " Label=\"$2\" "; }

a_signal_writes_what_was_last()
{
	fresh
	began=$(date +%s)
	takes_off -a -o D
	happens first
	ask 1
	happens second
	ask 2
	lands
	[ "$(count snapshots)" -eq 2 ]
	find D -name '*.trace' -printf '%f\n' | grep -Evq "^$stamp-request(-[0-9]+)?\.trace$" &&
		fail "a file with another name"
	[ "$(find D -type f | wc -l)" -eq 2 ] || fail "not two files"
	knows "$(snapshot 1)" first || fail "the first is not in the first"
	knows "$(snapshot 1)" second && fail "the second is in the first"
	knows "$(snapshot 2)" first || fail "the first is not in the second"
	knows "$(snapshot 2)" second || fail "the second is not in the second"
	# with the time of day
	wall=$(gprofctl read "$(snapshot 1)" --json | sed -n '2s/.*"wall_sec": \([0-9]*\).*/\1/p')
	[ "$wall" -ge "$began" ] && [ "$wall" -le "$(date +%s)" ]
}

# What it held in the end is what was produced and neither lost nor overwritten.
memory_decides_how_far_it_goes_back()
{
	fresh
	takes_off -a -o D --min-age 1h --max-bytes 64k --at-end
	for _ in $(seq 600); do
		/bin/true
	done
	lands
	[ "$(count overwritten)" -gt 0 ] || fail "nothing was overwritten"
	[ "$(count snapshots)" -eq 1 ]
	grep -q 'not 60 min: a larger --max-bytes' err || fail "it does not say that it is less"
	[ "$(stat -c %a "$(snapshot 1)")" = 600 ] || fail "others can read what it tells"
	run 0 gprofctl read "$(snapshot 1)" --summary
	[ "$(gprofctl read "$(snapshot 1)" --summary --json | jq .data.lost_events)" -eq 0 ]
}

# A storm is not kept out: it is told of whom it is, on whose CPUs it was.
whose_events_fill_the_memory_is_told()
{
	fresh
	takes_off -a -o D --min-age 1h --max-bytes 64k
	seq 600 | as_user xargs -P 4 -n 1 /bin/true
	ask 1
	lands
	share=$(sed -n 's/^gprofctl: request: the buffers reach back [^:]*: \([0-9]*\)\.[0-9] % of their events are of tasks of uid 1000$/\1/p' err)
	[ "${share:-0}" -ge 30 ] || fail "it says '${share-}' % of uid 1000"
	fresh
	takes_off -a -o D --min-age 1h
	ask 1
	lands
	grep -q 'the buffers reach back' err && fail "it reaches back to the start, and says less"
	:
}

age_decides_how_far_it_goes_back()
{
	fresh
	takes_off -a -o D --min-age 1s --at-end
	happens early
	sleep 3.5
	happens late
	lands
	knows "$(snapshot 1)" late || fail "what was last is missing"
	knows "$(snapshot 1)" early && fail "it goes back further than was asked for"
	:
}

a_failed_command_leaves_one()
{
	fresh
	run 0 gprofctl flight -v --at-end=failed -o D -- true
	[ "$(count snapshots)" -eq 0 ]
	[ -z "$(snapshot 1)" ] || fail "a snapshot of a command that did not fail"
	run 3 gprofctl flight -v --at-end=failed -o D -- sh -c '/bin/true; exit 3'
	[ "$(count snapshots)" -eq 1 ]
	snapshot 1 | grep -Eq "^D/$stamp-failed\.trace$"
	knows "$(snapshot 1)" true || fail "what the command did is missing"
}

stacks_have_names()
{
	fresh
	run 0 gprofctl flight --stacks --at-end -o D -- sh -c '/bin/true; /bin/true'
	gprofctl read "$(snapshot 1)" --pprof block -o x.pb.gz
	gprofctl top -n 1000 --kernel-frames x.pb.gz >out
	grep -q 'wait4\|waitpid' out || fail "no task waited for a child"
	gprofctl top -n 1000 x.pb.gz >out
	grep -q 'waiting: child' out || fail "the reason of a wait is not that of its stack"
}

the_newest_are_kept()
{
	fresh
	takes_off -a -o D --keep 2
	: >D/0.trace
	for n in 1 2 3 4; do
		ask "$n"
		snapshot 1 >oldest
	done
	lands
	[ "$(count snapshots)" -eq 4 ]
	[ "$(count removed)" -eq 2 ]
	[ "$(find D -name '*-request*.trace' | wc -l)" -eq 2 ] || fail "not two are left"
	[ -e D/0.trace ] || fail "a file of somebody else was removed"
}

a_directory_that_fails_is_no_reason_to_end()
{
	fresh
	mkdir D
	mount -t tmpfs -o size=4k none D
	takes_off -a -o D
	for _ in $(seq 300); do
		/bin/true
	done
	kill -USR1 "$pid"
	told 1 'No space left on device'
	told 1 'recording goes on'
	[ "$(find D -type f | wc -l)" -eq 0 ] || fail "a part of it was left"
	mount -o remount,size=1m D
	ask 1
	mount -o remount,ro D
	kill -USR1 "$pid"
	told 1 'Read-only file system'
	umount D
	rmdir D
	ask 2
	lands 1
	[ "$(count snapshots)" -eq 2 ]
	[ "$(count failed)" -eq 2 ]
	[ "$(find D -name '*.trace' | wc -l)" -eq 1 ]
}

# What a user may not write either is no reason to die.
a_limit_of_sizes_is_no_reason_to_end()
{
	fresh
	(ulimit -f 2 && exec gprofctl flight -v -a -o D 2>err) &
	pid=$!
	wait_for_recording "$pid"
	for _ in $(seq 300); do
		/bin/true
	done
	kill -USR1 "$pid"
	told 1 'File too large'
	told 1 'recording goes on'
	[ "$(find D -type f | wc -l)" -eq 0 ] || fail "a part of it was left"
	lands 1
	[ "$(count failed)" -eq 1 ]
}

two_share_a_directory()
{
	fresh
	mkdir D
	: >D/.snapshot-99999999-0123abcd.tmp
	gprofctl flight -a -o D 2>err.other &
	other=$!
	takes_off -a -o D
	[ ! -e D/.snapshot-99999999-0123abcd.tmp ] || fail "what a killed one left is there"
	wait_for_recording "$other"
	ask 1
	kill -INT "$other"
	wait "$other"
	ask 2
	lands
	[ "$(find D -name '*.trace' | wc -l)" -eq 2 ]
}

# Who is killed is gone, and so is what it recorded with.
a_killed_flight_leaves_nothing()
{
	fresh
	takes_off -a -o D
	kill -KILL "$pid"
	wait "$pid" || :
	[ "$(cat /sys/module/gprof/refcnt)" -eq 0 ] || fail "a recorder is left"
	[ -z "$(snapshot 1)" ]
}

a_hook_gets_the_file()
{
	fresh
	# shellcheck disable=SC2016	# the hook's shell
	run 0 gprofctl flight --at-end -o D --exec 'echo "$1" >>hooked' -- true
	[ "$(cat hooked)" = "$(snapshot 1)" ] || fail "it got another file"
	run 0 gprofctl flight --at-end -o D --exec 'exit 5' -- true
	grep -q 'exec ended with status 5' err
	grep -q 'exec failed 1 times' err
}

a_hook_that_hangs_holds_up_no_snapshot()
{
	fresh
	# shellcheck disable=SC2016	# the hook's shell
	takes_off -a -o D --exec 'echo $$ >hook.pid; exec sleep 1000'
	ask 1
	tries=0
	until [ -s hook.pid ]; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || fail "it is not run"
		sleep 0.1
	done
	ask 2
	told 1 'still runs for the one before'
	kill "$(cat hook.pid)"
	told 1 'was killed by signal 15'
	lands
	grep -q 'exec failed 2 times' err
}

# Whoever does not want to wait for it at the end says so again.
a_hook_that_hangs_is_not_waited_for_in_any_case()
{
	fresh
	# shellcheck disable=SC2016	# the hook's shell
	takes_off -a -o D --at-end --exec 'echo $$ >hook.pid; exec sleep 1000'
	kill -INT "$pid"
	told 1 '^gprofctl: end: the last '
	until [ -s hook.pid ]; do
		sleep 0.1
	done
	sleep 1.5
	kill -INT "$pid"
	got=0
	wait "$pid" || got=$?
	[ $got -eq 130 ] || fail "status $got"
	! kill -0 "$(cat hook.pid)" || fail "it runs on"
	[ "$(find D -name '*.trace' | wc -l)" -eq 1 ]
}

# It has a minute, and so has the recorder that ends meanwhile.
a_hook_that_hangs_is_killed_at_the_end()
{
	[ -n "${GPROF_EXACT-}" ] || skip "it takes a minute where time is no count of instructions"
	fresh
	began=$(date +%s)
	# shellcheck disable=SC2016	# the hook's shell
	run 0 gprofctl flight --at-end -o D --exec 'echo $$ >hook.pid; exec sleep 1000' -- true
	took=$(($(date +%s) - began))
	[ "$took" -ge 60 ] || fail "it took $took s"
	[ "$took" -lt 80 ] || fail "it took $took s"
	grep -q 'has not ended within 60 s, and is killed' err
	grep -q 'exec failed 1 times' err
	! kill -0 "$(cat hook.pid)" || fail "it runs on"
}

a_user_records_what_is_theirs()
{
	fresh
	run 0 as_user gprofctl flight -v --at-end -o D -- sh -c '/bin/true'
	[ "$(count snapshots)" -eq 1 ]
	knows "$(snapshot 1)" true
	run 1 as_user gprofctl flight -v -a -o E
	grep -q CAP_PERFMON err
}

# logs FILE WHAT: how many logs it has
logs() { gprofctl read "$1" | grep -c "Log .*$2" || :; }

# The file has what fired, marked, and what was after it.
a_trigger_writes_what_fired()
{
	fresh
	cp /bin/true ./later
	run 0 gprofctl flight -v --trigger 'off-cpu>300ms/1ns' --trigger 'delay>1h' --after 1s -o D -- \
		sh -c 'sleep 0.4; ./later; sleep 2'
	[ "$(count fired)" -eq "$(grep -Ec '^gprofctl: off-cpu: (sh|sleep) ' err)" ]
	grep -Eq "off-cpu: sleep \(process [0-9]+, thread [0-9]+\) was off the CPU for [3-9][0-9.]+ ms( so far)?, CPU" err
	[ "$(count snapshots)" -ge 1 ]
	snapshot 1 | grep -Eq "^D/$stamp-off-cpu\.trace$"
	[ "$(logs "$(snapshot 1)" 'trigger off-cpu')" -ge 1 ] || fail "it is not marked"
	[ "$(logs "$(snapshot 1)" 'trigger delay')" -eq 0 ] || fail "what did not fire is marked"
	knows "$(snapshot 1)" later || fail "what came after it is missing"
}

# Within a second, though it sleeps on and on, and nobody of the target runs.
what_goes_on_is_seen()
{
	fresh
	sleep 1000 &
	sleeper=$!
	takes_off -p $sleeper --trigger 'off-cpu>1h' --trigger 'syscall>1h' --trigger 'off-cpu>200ms' -o D
	kill -STOP $sleeper
	kill -CONT $sleeper
	told 1 '^gprofctl: off-cpu: sleep .* so far, CPU'
	told 1 '^gprofctl: off-cpu: the last '
	kill $sleeper
	lands_got=0
	wait "$pid" || lands_got=$?
	[ $lands_got -eq 0 ]
	[ "$(logs "$(snapshot 1)" 'trigger off-cpu.* and on')" -eq 1 ] || fail "it is not marked"
}

# Of a host that is idle: a shell's child sleeps, and all threads of the kernel and of gprofctl do.
off_cpu_is_for_what_hangs()
{
	fresh
	sleep 1000 &
	sleeper=$!
	takes_off -a --trigger 'off-cpu>1500ms/1ns' -o D
	kill -STOP $sleeper
	kill -CONT $sleeper
	sleep 4
	kill $sleeper
	lands
	cat err
	grep -q "^gprofctl: off-cpu: sleep (process $sleeper, " err
	! grep -Eq '^gprofctl: off-cpu: (gprofctl \(|kworker|kswapd|kthreadd|rcu|gprof/|ksoftirqd)' err ||
		fail "it fires for what sleeps all the time"
	[ "$(grep -c 'gprofctl why D/.*, or gprofctl timeline D/' err)" -eq 1 ]
}

each_trigger_says_of_whom()
{
	fresh
	run 139 gprofctl flight -v --trigger signal:SIGSEGV --trigger signal:TERM \
		--trigger 'syscall:clock_nanosleep>100ms/1ms' -o D -- \
		sh -c 'sleep 0.2; sleep 0.2; kill -SEGV $$'
	grep -Eq '^gprofctl: signal:SEGV: sh \(process ([0-9]+), thread \1\) was ended by signal SIGSEGV, CPU' err
	[ "$(grep -c '^gprofctl: syscall:clock_nanosleep: sleep ' err)" -eq 2 ]
	grep -q 'was in the system call clock_nanosleep for ' err
	[ "$(count fired)" -eq 3 ]
	[ "$(count suppressed)" -eq 0 ]
	run 0 gprofctl flight -v --trigger tracepoint:sched:sched_process_fork/1h -o D -- \
		sh -c '/bin/true; /bin/true; /bin/true'
	grep -q ' came to sched:sched_process_fork, CPU' err
	[ "$(count fired)" -eq 1 ]
	[ "$(count suppressed)" -ge 1 ]
	run 143 gprofctl flight -v --trigger 'tracepoint:syscalls:sys_enter_kill/1ms if sig==0 || sig==15' \
		-o D -- sh -c 'kill -0 $$; kill -WINCH $$; sleep 0.1; kill $$'
	[ "$(grep -c ' came to syscalls:sys_enter_kill, CPU' err)" -eq 2 ]
	[ "$(count fired)" -eq 2 ]
	[ "$(count suppressed)" -eq 0 ]
}

a_request_is_served()
{
	fresh
	refused 1 'no flight recorder' gprofctl snapshot
	refused 2 '"all"' gprofctl snapshot all
	takes_off -a -o D
	as_user gprofctl snapshot 2>err.other && fail "a stranger may ask"
	grep -q 'no flight recorder that you may see' err.other
	gprofctl snapshot 1 2>err.other && fail "another was asked"
	grep -q 'process 1 has no flight recorder' err.other
	gprofctl snapshot
	told 1 '^gprofctl: request: gprofctl (process'
	told 1 '^gprofctl: request: the last '
	gprofctl snapshot "$pid"
	told 2 '^gprofctl: request: the last '
	lands
	[ "$(find D -name '*-request*.trace' | wc -l)" -eq 2 ]
}

# Each is told, or counted; whoever is told of is in a snapshot.
thousands_of_trigger_events_hold_up_no_snapshot()
{
	fresh
	run 0 gprofctl flight -v --trigger 'syscall>1ns/1ms' -o D --keep 3 -- \
		dd if=/dev/zero of=/dev/null bs=1 count=100000 status=none
	[ "$(count fired)" -ge 16 ] || fail "it hardly fired"
	[ "$(count fired)" -eq "$(grep -c '^gprofctl: syscall: .* (process ' err)" ] || fail "not all are told"
	[ "$(($(count fired) + $(count suppressed)))" -ge 200000 ] || fail "not all are counted"
	[ "$(count snapshots)" -ge 1 ]
	[ "$(count failed)" -eq 0 ]
	[ "$(logs "$(snapshot 1)" 'trigger syscall')" -ge 1 ] || fail "none is marked"
}

# To take and to tell a firing makes the next one: it writes snapshots nevertheless, and ends.
its_own_trigger_events_hold_up_no_snapshot()
{
	fresh
	gprofctl flight -v -a --trigger 'tracepoint:raw_syscalls:sys_enter/1ns' --keep 3 -o D 2>err &
	pid=$!
	told 1 '^gprofctl: tracepoint-raw-syscalls-sys-enter: the last '
	lands
	[ "$(count snapshots)" -ge 1 ]
	[ "$(count failed)" -eq 0 ]
}

# The rings have gone round before the snapshot was due.
what_fired_may_be_overwritten()
{
	fresh
	takes_off -a --syscalls --max-bytes 64k --trigger signal:SEGV --after 3s -o D
	sh -c 'kill -SEGV $$' || :
	dd if=/dev/zero of=/dev/null bs=1 count=20000
	told 1 '^gprofctl: signal-segv: its trigger event is older, and is not in it'
	lands
	[ "$(logs "$(snapshot 1)" 'trigger signal')" -eq 0 ]
}

a_target_that_ends_ends_it()
{
	fresh
	sleep 1000 &
	sleeper=$!
	takes_off -p $sleeper --trigger 'off-cpu>1h' --trigger signal --at-end -o D
	kill $sleeper
	got=0
	wait "$pid" || got=$?
	cat err
	[ $got -eq 0 ] || fail "status $got"
	grep -q '^gprofctl: signal: sleep .* was ended by signal SIGTERM' err
	[ "$(find D -name '*-end.trace' | wc -l)" -eq 1 ]
	[ "$(find D -name '*-signal.trace' | wc -l)" -eq 1 ]
}

# has_come_to FIELD N: so far has the first thread of $dumper come; waits count from its first
# nanosleep() on, for a recorder that begins waits too
has_come_to()
{
	case $1 in
	waits)
		waits=$(awk '$1 == "voluntary_ctxt_switches:" { print $2 }' /proc/"$dumper"/status)
		case $(cat /proc/"$dumper"/wchan) in
		*nanosleep*) first=${first:-$waits} ;;
		esac
		[ "$first" ] && [ $((waits - first)) -ge "$2" ] ;;
	ticks) [ "$(awk '{ print $14 }' /proc/"$dumper"/task/"$dumper"/stat)" -ge "$2" ] ;;
	esac
}

# dumps FIELD N PROGRAM [ARG]: it is aborted when it has come to N; its core dump is ./core. A
# program that has ended by itself before that is begun again.
dumps()
{
	field=$1
	until=$2
	shift 2
	for _ in 1 2 3 4 5; do
		first=
		rm -f core
		# shellcheck disable=SC3045	# dash has it
		(ulimit -c unlimited && exec "$@" >/dev/null) &
		dumper=$!
		until has_come_to "$field" "$until" || grep -q '^State:.Z' /proc/$dumper/status; do
			sleep 0.01
		done
		kill -ABRT $dumper
		wait $dumper || :
		[ ! -s core ] || return 0
	done
	fail "there is no core dump"
}

# What a program's recorders held at its end is in its core dump.
a_core_dump_has_what_was_held()
{
	case $(uname -r) in
	5.10.*) skip "this kernel cannot dump buffers" ;;
	esac
	fresh
	echo core >/proc/sys/kernel/core_pattern
	echo 0 >/proc/sys/kernel/core_uses_pid
	dumps waits 30 "$here/flight_self" x.trace
	run 0 gprofctl read --core core
	grep -Eq '^ +[0-9]+ trace .* in flight$' out
	run 0 gprofctl read --core core -o held.trace
	[ "$(gprofctl read held.trace | grep -c 'Running->Waiting')" -gt 20 ]
	[ "$(gprofctl read held.trace --summary --json | jq .data.lost_events)" -eq 0 ]
	gprofctl read --core core >out
	id=$(awk '$2 == "trace" { print $1 }' out)
	run 0 gprofctl read --core="$id" core -o again.trace
	cmp held.trace again.trace
	# the time of day of its conversion is not its own
	[ "$(gprofctl read held.trace --json | grep -c wall_sec)" -eq 0 ]
	refused 1 'no recorder 999999' gprofctl read --core=999999 core -o x
	refused 2 'excludes' gprofctl read --core core --summary
	# cut short, and other files
	head -c $(($(stat -c %s core) / 3)) core >short
	got=0
	gprofctl read --core short -o x 2>err.short || got=$?
	cat err.short
	[ $got -eq 1 ] || fail "what is cut short gives a trace"
	[ "$(echo x*)" = 'x*' ] || fail "what is cut short leaves a file"
	refused 1 'is a program or a library' gprofctl read --core /bin/true
	refused 1 'must be a regular file' gprofctl read --core /dev/null
	dumps ticks 30 "$here/profile_self" x.pb.gz
	run 0 gprofctl read --core core -o held.pb.gz
	run 0 gprofctl top -n 1000 held.pb.gz
	grep -q count_primes out || fail "the profile has not what it did"
	dumps waits 0 sleep 10
	refused 1 'no recorder' gprofctl read --core core
	rm -f core short held.*
}

# Under full load: all that was held is there. In GPROF_EXACT the load has half of the only
# CPU, and the snapshot is on disk within four seconds, in memory for a generation of the rings
# and for what the writer keeps of one; elsewhere the kernel may go round meanwhile, which is
# told with how much it was, and the memory is that of the rings once more.
a_large_snapshot_has_all_of_it()
{
	command -v perf >/dev/null || skip "there is no perf, whose benchmark is the load"
	fresh
	bytes=8
	[ -z "${GPROF_EXACT-}" ] || bytes=64
	takes_off -a --syscalls --min-age 1h --max-bytes ${bytes}M -o D
	perf bench syscall basic -l 2000000000 >/dev/null 2>&1 &
	load=$!
	# A call is two events of 8 bytes each, and far less than 2 us.
	tries=0
	until [ "$(awk '{ print $14 + $15 }' /proc/$load/stat)" -ge 800 ]; do
		sleep 0.5
		tries=$((tries + 1))
		[ $tries -lt 600 ] || fail "it does not get to 8 s of CPU time"
	done
	most=0
	began=$(date +%s%3N)
	kill -USR1 "$pid"
	until grep -q '^gprofctl: request: the last ' err; do
		now=$(awk '$1 == "RssAnon:" { print $2 }' "/proc/$pid/status")
		[ "$now" -le "$most" ] || most=$now
		sleep 0.5	# who looks takes from the writer's CPU
		[ $(($(date +%s%3N) - began)) -lt 300000 ] || fail "there is no snapshot"
	done
	kill $load
	took=$(($(stat -c %.3Y "$(snapshot 1)" | tr -d .) - began))
	lands
	echo "# $took ms, $most KiB of memory beside rings of $bytes MiB"
	[ "$(count overwritten)" -gt 0 ] || fail "the rings were not full"
	[ "$(count lost)" -eq 0 ] || fail "recording stopped"
	missing=$(sed -n 's/^gprofctl: request: \([0-9]*\) events of that are missing,.*/\1/p' err)
	[ -z "${GPROF_EXACT-}" ] || [ ! "$missing" ] || fail "a part was overwritten"
	lost=$(gprofctl read "$(snapshot 1)" --summary --json | jq .data.lost_events)
	[ "$lost" -le "${missing:-0}" ] || fail "the snapshot lacks $lost events"
	limit=$((bytes * 1024 * 5 / 4 + 12288))
	[ -z "${GPROF_EXACT-}" ] || limit=$((bytes * 1024 / 8 + 14336))
	[ "$most" -lt $limit ] || fail "it took $most KiB of memory"
	# A call is four events of Go's: a region, and a state of the goroutine.
	[ -z "${GPROF_EXACT-}" ] || [ $took -le 6300 ] || fail "it took $took ms"
}

triggers_without_sense_are_refused()
{
	fresh
	refused 2 'no ":x"' gprofctl flight -a -o D --trigger 'delay:x>5ms'
	refused 2 '"0"' gprofctl flight -a -o D --trigger 'delay>5ms/0'
	refused 2 'does not last' gprofctl flight -a -o D --trigger 'signal>5ms'
	refused 2 'which tracepoint' gprofctl flight -a -o D --trigger tracepoint
	refused 2 'and nothing else' gprofctl flight -a -o D --trigger 'tracepoint:sched:sched_switch x'
	refused 2 'no filter behind the if' \
		gprofctl flight -a -o D --trigger 'tracepoint:sched:sched_switch if '
	refused 2 'delay has no filter' gprofctl flight -a -o D --trigger 'delay>5ms if pid > 1'
	refused 1 'the tracepoint has no such field' \
		gprofctl flight -a -o D --trigger 'tracepoint:sched:sched_switch if prev_pit > 1'
	refused 2 'a number' gprofctl flight -a -o D --trigger 'irq:eth0>1ms'
	refused 2 'no number -1' gprofctl flight -a -o D --trigger 'syscall:-1>1ms'
	refused 2 'no number -1' gprofctl flight -a -o D --trigger signal:-1
	refused 2 '--after' gprofctl flight -a -o D --after 1s
	refused 1 'no system call called "red"' gprofctl flight -a -o D --trigger 'syscall:red>1ms'
	refused 1 'tracepoint:no:such: this kernel has none such' \
		gprofctl flight -a -o D --trigger tracepoint:no:such
	refused 1 'tracepoint:syscalls:sys_enter_read: it cannot be evaluated on this kernel' \
		gprofctl flight -a -o D --trigger tracepoint:syscalls:sys_enter_read
	set --
	for n in 1 2 3 4 5 6 7 8 9; do
		set -- "$@" --trigger "delay>${n}s"
	done
	refused 2 'at most 8' gprofctl flight -a -o D "$@"
	run 1 as_user gprofctl flight -o D --trigger 'syscall>1ms' -- true
	grep -q 'CAP_PERFMON' err
}

what_makes_no_sense_is_refused()
{
	fresh
	: >file
	refused 1 'directory' gprofctl flight -a -o file
	refused 1 'No such file' gprofctl flight -a -o none/D
	refused 2 '"0"' gprofctl flight -a -o D --keep 0
	refused 2 '"much"' gprofctl flight -a -o D --total much
	refused 2 '"now"' gprofctl flight -a -o D --at-end=now
	refused 2 'command' gprofctl flight -a -o D --at-end=failed
	refused 1 '32 KiB' gprofctl flight -a -o D --max-bytes 1k
}

ktap_run a_signal_writes_what_was_last memory_decides_how_far_it_goes_back \
	whose_events_fill_the_memory_is_told age_decides_how_far_it_goes_back \
	a_failed_command_leaves_one stacks_have_names the_newest_are_kept \
	a_directory_that_fails_is_no_reason_to_end a_limit_of_sizes_is_no_reason_to_end \
	two_share_a_directory a_killed_flight_leaves_nothing a_hook_gets_the_file \
	a_hook_that_hangs_holds_up_no_snapshot a_hook_that_hangs_is_not_waited_for_in_any_case \
	a_user_records_what_is_theirs a_trigger_writes_what_fired what_goes_on_is_seen \
	off_cpu_is_for_what_hangs \
	each_trigger_says_of_whom a_request_is_served \
	thousands_of_trigger_events_hold_up_no_snapshot its_own_trigger_events_hold_up_no_snapshot \
	what_fired_may_be_overwritten a_target_that_ends_ends_it a_core_dump_has_what_was_held \
	triggers_without_sense_are_refused what_makes_no_sense_is_refused \
	a_large_snapshot_has_all_of_it a_hook_that_hangs_is_killed_at_the_end
