#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# first_sample_test.sh: stacks of programs that were never recorded before are complete from
# the first sample on: a command's, those of programs that run already, and the host's.
#
# No table is on disk, nor in the kernel, where each recording begins. An emulated or busy
# machine may not make all of them in the time that a start waits; then that is told, and the
# next recording begins with those that were made.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl perl python3 unshare
# A cache of its own, which it may empty.
[ "${FIRST_SAMPLE-}" ] || FIRST_SAMPLE=1 exec unshare -m sh -c 'mount -t tmpfs none /var/cache && exec "$@"' cold "$0"
# shellcheck source-path=SCRIPTDIR source=../helpers/command.sh
. "$here/command.sh"

work=()
of_perl() { work=(perl -e "\$h{\$_ % 1000} = sprintf('%d', \$_) for 1..$1"); }

of_bash() { work=(bash -c "for ((i = 0; i < $1; i++)); do x=\$((i * i)); y=\${x#1}; done"); }

of_python() { work=(python3 -c "d = {i % 1000: str(i) for i in range($1)}"); }

# complete LEAST OPTION...: of the stacks of a cold recording at least so many per cent are
# complete, and none is cut for want of a table
complete()
{
	least=$1
	shift
	rm -rf /var/cache/gprof
	for ((tries = 0; ; tries++)); do
		run 0 gprofctl cpu -v -F 999 -o x.pb.gz "$@"
		grep -E '[1-9][0-9]* of [0-9]+ files have no unwind table yet' err || break
		((tries < 5)) || fail "the tables are not there after six recordings"
	done
	[ "$(count read)" -gt 300 ]
	! grep 'cut: .*no unwind table' err
	awk -v least="$least" '/user stacks are complete/ { ok = $3 >= least; print } END { exit !ok }' err
}

commands_are_complete()
{
	of_perl 1000000
	complete 99 -- "${work[@]}"
	of_bash 30000
	complete 99 -- "${work[@]}"
	of_python 2000000
	complete 99 -- "${work[@]}"
}

running_programs_are_complete()
{
	for program in perl bash python; do
		of_$program 1000000000
		"${work[@]}" &
		pid=$!
		sleep 1
		complete 99 -d 1 -p $pid
		kill $pid
		wait $pid || true
	done
}

hosts_are_complete()
{
	for program in perl bash python; do
		of_$program 1000000000
		"${work[@]}" &
	done
	sleep 1
	complete 97 -d 2 -a
	mapfile -t pids < <(jobs -p)
	kill "${pids[@]}"
}

# Each is another process, and most have ended before a thread could read their mappings.
children_are_complete()
{
	complete 96 -- bash -c 'for ((i = 0; i < 60; i++)); do bash -c :; done'
}

# Files that come up long after the start: their tables are on disk, and the reader is told at
# once that they are wanted. By itself it looks ten times a second.
later_programs_are_complete()
{
	rm -rf /var/cache/gprof
	of_perl 300000
	run 0 gprofctl cpu -v -o x.pb.gz -- "${work[@]}"
	for ((again = 0; again < 5; again++)); do
		run 0 gprofctl cpu -v -F 999 -o x.pb.gz -- bash -c 'sleep 1; "$@"; exit' bash "${work[@]}"
		[ "$(count read)" -gt 300 ]
		(grep -o 'no unwind table [0-9]*' err || echo 'no unwind table 0') >>cuts
	done
	awk '{ n += $NF; print } END { exit n > 20 || NR != 5 }' cuts
}

# A sleeping task has its stack once, and no table comes later. To a user the kernel does not open
# the files that a process has mapped.
sleepers_are_complete()
{
	mkfifo never
	sleepers_of
	sleepers_of setpriv --reuid 1000 --regid 1000 --clear-groups
}

# sleepers_of [COMMAND...]: of the user as which that runs programs
sleepers_of()
{
	"$@" perl -e 'sub f { sleep 1000 } f(); 1' &
	pids=($!)
	"$@" python3 -c 'import time; time.sleep(1000)' &
	pids+=($!)
	"$@" bash -c 'f() { read -r x; }; f; :' <>never &
	pids+=($!)
	sleep 1
	for pid in "${pids[@]}"; do
		rm -rf /var/cache/gprof
		run 0 "$@" gprofctl task --user-only --format traceback -p "$pid"
		cat out
		# its functions, up to that which the kernel began
		[ "$(grep -c '^    ' out)" -gt 4 ]
		! grep -F '[cut' out
	done
	kill "${pids[@]}"
}

# What root has prepared serves a user's recording, which compiles nothing, and so keeps nothing.
roots_tables_serve_users()
{
	mkdir -m 777 mine
	mine=$PWD/mine
	for program in perl bash python; do
		rm -rf /var/cache/gprof
		of_$program 1000000000
		"${work[@]}" &
		pid=$!
		sleep 1
		run 0 gprofctl prepare
		grep -E 'tables of [0-9]{2,} files, .* in /var/cache/gprof/unwind: [1-9][0-9]* made' err
		kill $pid
		wait $pid || true
		case $program in
		bash) of_bash 30000 ;;
		*) "of_$program" 2000000 ;;
		esac
		run 0 as_user env XDG_CACHE_HOME="$mine" gprofctl cpu -v -F 999 -o x.pb.gz -- "${work[@]}"
		awk '/user stacks are complete/ { ok = $3 >= 99.5; print } END { exit !ok }' err
		! grep 'no unwind table' err
		find "$mine" -name '*.unwind' | tee kept
		[ ! -s kept ]
	done
	# and without them it does
	rm -rf /var/cache/gprof
	run 0 as_user env XDG_CACHE_HOME="$mine" gprofctl cpu -v -F 999 -o x.pb.gz -- "${work[@]}"
	[ "$(find "$mine" -name '*.unwind' | wc -l)" -gt 2 ]
}

# Nobody reads it before it is over.
flights_are_complete()
{
	perl -e 'sub f { select(undef, undef, undef, 0.01) } f() while 1' &
	sleep 1
	rm -rf /var/cache/gprof
	run 0 gprofctl flight --stacks --user-only -p $! -o flights -d 2 --at-end
	kill $!
	gprofctl read --stacks flights/*.trace >events
	[ "$(grep -c 'Perl_pp_sselect @' events)" -gt 50 ]
	[ "$(grep -c '_start @' events)" -ge "$(grep -c 'Perl_pp_sselect @' events)" ]
	! grep -F '[cut' events
}

ktap_run roots_tables_serve_users sleepers_are_complete flights_are_complete commands_are_complete \
	running_programs_are_complete hosts_are_complete children_are_complete \
	later_programs_are_complete
