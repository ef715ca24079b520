#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# example_test.sh: the examples of the documentation, compiled as they stand there, record
# themselves without privilege.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl "$here/profile_self" "$here/flight_self" "$here/custom_self" "$here/flags_self" \
	"$here/serve_self" "$here/truth_threads"

dir=$(mktemp -d) || exit 1
trap 'shut_users_out; rm -rf "$dir"' EXIT
let_users_in
chmod 777 "$dir"
cd "$dir" || exit 1

example_runs_without_privilege()
{
	setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs \
		"$here/profile_self" self.pb.gz >out
	cat out
	grep -Eq 'produced=[1-9]' out
	grep -Eq 'lost=0' out
}

its_profile_shows_its_work()
{
	[ -s self.pb.gz ] || fail "there is no profile"
	gprofctl top self.pb.gz >top.txt
	cat top.txt
	# the rest is the library, which reads the names of its functions once, and starts and
	# stops, which takes longer on a busy host
	awk '$6 == "count_primes" && $2 + 0 > 50 { found = 1 } END { exit !found }' top.txt
}

its_profile_leads_down_to_main()
{
	[ -s self.pb.gz ] || fail "there is no profile"
	gprofctl top self.pb.gz --cum >top.txt
	cat top.txt
	awk '$6 == "main" && $5 + 0 > 50 { found = 1 } END { exit !found }' top.txt
}

example_says_what_is_wrong()
{
	got=0
	"$here/profile_self" /nonexistent/x 2>err || got=$?
	cat err
	[ $got -eq 1 ]
	[ "$(wc -l <err)" -eq 1 ]
}

one_that_fails_has_its_last_seconds()
{
	setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs \
		"$here/flight_self" last.trace >out
	cat out
	grep -Eq '^too slow; the last [0-9]+ ms are in last.trace$' out
	gprofctl read last.trace --pprof block -o block.pb.gz
	gprofctl read last.trace --summary --json >summary
	# it was off the CPU a hundred times, and once for too long
	[ "$(jq .lost_events summary)" -eq 0 ]
	[ "$(gprofctl read last.trace | grep -c 'Running->Waiting')" -gt 100 ]
}

one_counts_what_it_has()
{
	setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs \
		"$here/custom_self" have.pb.gz >out
	grep -qx connections=34 out
	gprofctl top have.pb.gz >top.txt
	cat top.txt
	awk '$6 == "accept_clients" && $1 == 30 { c = 1 } $6 == "ask_servers" && $1 == 4 { s = 1 }
	     END { exit !(c && s) }' top.txt
}

as_user()
{
	setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs "$@"
}

flags_record_and_are_gone()
{
	as_user "$here/flags_self" -cpuprofile flags.pb.gz --trace=flags.trace \
		-blockprofile %p.block.pb.gz 2000000 >out
	cat out
	# it has read its own argument
	grep -qx '148933 primes' out
	gprofctl top flags.pb.gz >top.txt
	cat top.txt
	awk '$6 == "count_primes" && $2 + 0 > 50 { found = 1 } END { exit !found }' top.txt
	gprofctl read flags.trace --summary >/dev/null
	ls ./*.block.pb.gz
	gprofctl top ./*.block.pb.gz >/dev/null
}

flags_of_no_sense_are_told_before_it_works()
{
	got=0
	as_user "$here/flags_self" -cpuprofile x.pb.gz -cpuprofileevent nothing-like-it >out 2>err ||
		got=$?
	cat err
	[ $got -eq 1 ]
	grep -q 'nothing-like-it: no such event' err
	[ ! -s out ] && [ ! -e x.pb.gz ]
}

# Its time on a CPU is no more than what passed, and a page it has touched for sure.
flags_count_without_samples()
{
	as_user "$here/flags_self" -counters timer,page-faults 2000000 >out 2>err
	cat err
	[ "$(wc -l <err)" -eq 2 ]
	awk '$2 == "timer" && $1 > 10000000 && $1 < 60e9 { t = 1 } $2 == "page-faults" && $1 > 0 { p = 1 }
	     END { exit !(t && p) }' err
	as_user env LD_PRELOAD=libgprof-self.so 'GPROF=counters,event=page-faults\,timer,out=counts' \
		cat /dev/null 2>err
	[ ! -s err ] || { cat err; fail "it is not counted"; }
	cat counts
	[ "$(cut -d ' ' -f 2 counts | tr '\n' ' ')" = 'page-faults timer ' ]
	got=0
	as_user "$here/flags_self" -counters timer,nothing-like-it >out 2>err || got=$?
	[ $got -eq 1 ]
	grep -q 'nothing-like-it' err
	[ ! -s out ]
}

any_program_records_itself()
{
	# what a shell starts is recorded with it, into one file; one that ends by exit()
	# shellcheck disable=SC2016 # the other shell expands it
	as_user env LD_PRELOAD=libgprof-self.so "GPROF=cpu,hz=1000,out=preload.pb.gz;block,out=pb.pb.gz" \
		bash -c '"$0" 3000000; echo "has ${GPROF-none}"; sleep 0.3; exit 7' "$here/truth_threads" \
		>out 2>err || got=$?
	cat out err
	[ "$got" -eq 7 ]
	grep -qx 'has none' out
	[ ! -s err ]
	gprofctl top preload.pb.gz >top.txt
	cat top.txt
	grep -q ' f10 ' top.txt
	gprofctl top --type delay --cum pb.pb.gz >top.txt
	# the sleep, and who waits for it
	awk '$5 ~ /s$/ { found = 1 } { print } END { exit !found }' top.txt
}

a_program_that_cannot_be_recorded_runs()
{
	as_user env LD_PRELOAD=libgprof-self.so GPROF=cpu,event=nothing-like-it,out=n.pb.gz echo hello \
		>out 2>err
	cat err
	grep -qx hello out
	grep -q '^gprof: not recording: nothing-like-it: no such event' err
	[ ! -e n.pb.gz ]
	# and one that dies leaves nothing, and an older file
	echo old >old.pb.gz
	chmod 666 old.pb.gz
	# shellcheck disable=SC2016 # the other shell expands it
	as_user env LD_PRELOAD=libgprof-self.so GPROF=cpu,out=old.pb.gz sh -c 'kill -KILL $$' || true
	grep -qx old old.pb.gz
	[ "$(find . -name '*.new' | wc -l)" -eq 0 ]
}

one_shows_its_own_profiles()
{
	mkfifo in
	as_user "$here/serve_self" self.sock <in &
	server=$!
	exec 3>in
	tries=0
	until [ -S self.sock ]; do
		tries=$((tries + 1))
		[ $tries -lt 100 ]
		sleep 0.1
	done
	[ "$(stat -c %a self.sock)" = 600 ]
	for query in 'profile?seconds=1&hz=500' 'profile?pid=1' 'task?debug=2'; do
		LC_ALL=C perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0);
			connect($s, sockaddr_un("self.sock")) or die;
			syswrite $s, "GET /debug/pprof/$ARGV[0] HTTP/1.0\r\nHost: x\r\n\r\n";
			print while <$s>' "$query" >answer
		head -n 1 answer
		sed '1,/^\r$/d' answer >"page.${query%%\?*}.${query##*=}"
	done
	exec 3>&-
	wait $server
	gprofctl top page.profile.500 >top.txt
	cat top.txt
	awk '$6 == "count_primes" && $2 + 0 > 50 { found = 1 } END { exit !found }' top.txt
	grep -q 'one target alone is recorded' page.profile.1
	grep -q ': serve_self (process ' page.task.2
	[ ! -e self.sock ]
}

ktap_run example_runs_without_privilege its_profile_shows_its_work \
	its_profile_leads_down_to_main one_that_fails_has_its_last_seconds \
	one_counts_what_it_has flags_record_and_are_gone \
	flags_of_no_sense_are_told_before_it_works flags_count_without_samples \
	any_program_records_itself a_program_that_cannot_be_recorded_runs one_shows_its_own_profiles example_says_what_is_wrong
