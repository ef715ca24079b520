#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# gprofctl_flight_test.sh: snapshots of what was last, while recording goes on, whatever
# becomes of their directory.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl jq setpriv
# shellcheck source-path=SCRIPTDIR source=command.sh
. "$here/command.sh"

line='^produced=[0-9]+ held=[0-9]+ lost=[0-9]+ overwritten=[0-9]+ snapshots=[0-9]+ failed=[0-9]+ removed=[0-9]+$'
stamp='[0-9]{8}T[0-9]{6}\.[0-9]{3}Z'

# fresh: what other tests have left is gone
fresh()
{
	umount D 2>/dev/null || :
	rm -rf D E hooked hang hook.pid
}

# takes_off OPTIONS...: a flight recorder, whose process is $pid
takes_off()
{
	gprofctl flight "$@" 2>err &
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
	told "$1" "^gprofctl: signal: the last "
}

# snapshot N: the N-th of the directory, by name
snapshot()
{
	find D -name '*.trace' | sort | sed -n "$1p"
}

# happens NAME: a program of that name runs
happens()
{
	cp /bin/true "./$1"
	"./$1"
}

# knows FILE NAME: has it a task that was called so?
knows()
{
	gprofctl read "$1" | grep -qF " Label=\"$2\" "
}

a_signal_writes_what_was_last()
{
	fresh
	takes_off -a -o D
	happens first
	ask 1
	happens second
	ask 2
	lands
	[ "$(count snapshots)" -eq 2 ]
	find D -name '*.trace' -printf '%f\n' | grep -Evq "^$stamp-signal(-[0-9]+)?\.trace$" &&
		fail "a file with another name"
	[ "$(find D -type f | wc -l)" -eq 2 ] || fail "not two files"
	knows "$(snapshot 1)" first || fail "the first is not in the first"
	knows "$(snapshot 1)" second && fail "the second is in the first"
	knows "$(snapshot 2)" first || fail "the first is not in the second"
	knows "$(snapshot 2)" second || fail "the second is not in the second"
}

# What it held in the end is what was produced and neither lost nor overwritten.
memory_decides_how_far_it_goes_back()
{
	fresh
	takes_off -a -o D --max-bytes 128k --at-end
	for _ in $(seq 150); do
		/bin/true
	done
	lands
	[ "$(count overwritten)" -gt 0 ] || fail "nothing was overwritten"
	[ "$(count snapshots)" -eq 1 ]
	grep -q 'not 10 s: a larger --max-bytes' err || fail "it does not say that it is less"
	run 0 gprofctl read "$(snapshot 1)" --summary
	[ "$(gprofctl read "$(snapshot 1)" --summary --json | jq .lost_events)" -eq 0 ]
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
	run 0 gprofctl flight --at-end=failed -o D -- true
	[ "$(count snapshots)" -eq 0 ]
	[ -z "$(snapshot 1)" ] || fail "a snapshot of a command that did not fail"
	run 3 gprofctl flight --at-end=failed -o D -- sh -c '/bin/true; exit 3'
	[ "$(count snapshots)" -eq 1 ]
	snapshot 1 | grep -Eq "^D/$stamp-failed\.trace$"
	knows "$(snapshot 1)" true || fail "what the command did is missing"
}

stacks_have_names()
{
	fresh
	run 0 gprofctl flight --stacks --at-end -o D -- sh -c '/bin/true; /bin/true'
	gprofctl read "$(snapshot 1)" --pprof block -o x.pb.gz
	gprofctl top x.pb.gz >out
	grep -q 'wait4\|waitpid' out || fail "nobody waited for a child"
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
	[ "$(find D -name '*-signal*.trace' | wc -l)" -eq 2 ] || fail "not two are left"
	[ -e D/0.trace ] || fail "a file of somebody else was removed"
}

a_directory_that_fails_is_no_reason_to_end()
{
	fresh
	mkdir D
	mount -t tmpfs -o size=4k none D
	takes_off -a -o D
	for _ in $(seq 20); do
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

two_share_a_directory()
{
	fresh
	mkdir D
	: >D/.snapshot-99999999.tmp
	gprofctl flight -a -o D 2>err.other &
	other=$!
	takes_off -a -o D
	[ ! -e D/.snapshot-99999999.tmp ] || fail "what a killed one left is there"
	wait_for_recording "$other"
	ask 1
	kill -INT "$other"
	wait "$other"
	ask 2
	lands
	[ "$(find D -name '*.trace' | wc -l)" -eq 2 ]
}

# Who is killed is gone, and so is what it recorded with.
who_is_killed_leaves_nothing()
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

a_hook_that_hangs_is_in_nobodys_way()
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

a_user_records_what_is_theirs()
{
	fresh
	run 0 as_user gprofctl flight --at-end -o D -- sh -c '/bin/true'
	[ "$(count snapshots)" -eq 1 ]
	knows "$(snapshot 1)" true
	run 1 as_user gprofctl flight -a -o E
	grep -q CAP_PERFMON err
}

what_makes_no_sense_is_refused()
{
	fresh
	: >file
	refused 2 '-o DIR' gprofctl flight -a
	refused 1 'directory' gprofctl flight -a -o file
	refused 1 'No such file' gprofctl flight -a -o none/D
	refused 2 '"0"' gprofctl flight -a -o D --keep 0
	refused 2 '"soon"' gprofctl flight -a -o D --min-age soon
	refused 2 '"much"' gprofctl flight -a -o D --total much
	refused 2 '"now"' gprofctl flight -a -o D --at-end=now
	refused 2 'command' gprofctl flight -a -o D --at-end=failed
	refused 1 '32 KiB' gprofctl flight -a -o D --max-bytes 1k
}

ktap_run a_signal_writes_what_was_last memory_decides_how_far_it_goes_back \
	age_decides_how_far_it_goes_back a_failed_command_leaves_one stacks_have_names \
	the_newest_are_kept a_directory_that_fails_is_no_reason_to_end two_share_a_directory \
	who_is_killed_leaves_nothing a_hook_gets_the_file a_hook_that_hangs_is_in_nobodys_way \
	a_user_records_what_is_theirs \
	what_makes_no_sense_is_refused
