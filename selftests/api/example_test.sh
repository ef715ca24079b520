#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# example_test.sh: the examples of the documentation, compiled as they stand there, record
# themselves without privilege.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl "$here/profile_self" "$here/flight_self" "$here/custom_self"

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
	# the rest is the library, which reads the names of its functions once
	awk '$NF == "count_primes" && $2 + 0 > 66 { found = 1 } END { exit !found }' top.txt
}

its_profile_leads_down_to_main()
{
	[ -s self.pb.gz ] || fail "there is no profile"
	gprofctl top self.pb.gz --cum >top.txt
	cat top.txt
	awk '$NF == "main" && $5 + 0 > 66 { found = 1 } END { exit !found }' top.txt
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
	awk '$NF == "accept_clients" && $1 == 30 { c = 1 } $NF == "ask_servers" && $1 == 4 { s = 1 }
	     END { exit !(c && s) }' top.txt
}

ktap_run example_runs_without_privilege its_profile_shows_its_work \
	its_profile_leads_down_to_main one_that_fails_has_its_last_seconds \
	one_counts_what_it_has example_says_what_is_wrong
