#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# gprofctl_custom_test.sh: the profiles that a program keeps of its own are read by name, by
# its user and by root alone, whatever lies where they should.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl setpriv "$here/custom_self"

name=example.connections
dir=$(mktemp -d) || exit 1
chmod 777 "$dir"
cd "$dir" || exit 1
pid=
own=/tmp/gprof-1000

# user UID COMMAND...: as that user, who has no session
user()
{
	user_id=$1
	shift
	env -u XDG_RUNTIME_DIR setpriv --reuid "$user_id" --regid "$user_id" --clear-groups "$@"
}

end()
{
	[ -z "$pid" ] || kill "$pid" 2>/dev/null
	shut_users_out
	rm -rf "$dir" "$own" /tmp/gprof-1001
}
trap end EXIT
let_users_in
rm -rf "$own" /tmp/gprof-1001

# begin: a program of user 1000 that stays; sets pid
begin()
{
	: >out
	chmod 666 out
	# not user(): the shell would have a number of its own for it
	env -u XDG_RUNTIME_DIR setpriv --reuid 1000 --regid 1000 --clear-groups \
		"$here/custom_self" "$dir/self.pb.gz" 1000 >out 2>err &
	pid=$!
	tries=0
	until grep -q connections= out; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || fail "the program has not begun: $(cat err)"
		sleep 0.1
	done
}
begin

it_is_listed()
{
	user 1000 gprofctl custom --list >list
	cat list
	[ "$(cat list)" = "$(printf '%s\t34\t%s' "$pid" "$name")" ]
	gprofctl custom --list -p "$pid" >list
	grep -q "	34	$name" list
}

# read_as UID FILE: and look into it
read_as()
{
	rm -f "$2"
	user "$1" gprofctl custom -p "$pid" "$name" -o "$2" 2>err || fail "$(cat err)"
	[ "$(cat err)" = "gprofctl: $2: 1 KiB; gprofctl view $2, or gprofctl top $2" ] ||
		fail "it says: $(cat err)"
	gprofctl top -n 1000 "$2" >top.txt
	cat top.txt
	# 30 of clients, 4 of servers
	awk '$6 == "accept_clients" && $1 == 30 { c = 1 } $6 == "ask_servers" && $1 == 4 { s = 1 }
	     END { exit !(c && s) }' top.txt
}

its_user_reads_it() { read_as 1000 user.pb.gz; }

root_reads_it() { read_as 0 root.pb.gz; }

it_is_what_the_program_itself_writes()
{
	user 1000 gprofctl custom -p "$pid" "$name" -o "$dir/now.pb.gz"
	for file in self now; do
		gprofctl top -n 1000 $file.pb.gz >$file.txt
		cat $file.txt
		sed '1,/flat%/d' $file.txt >$file.rows
	done
	[ -s now.rows ]
	cmp self.rows now.rows
}

another_user_is_refused()
{
	expect 1 user 1001 gprofctl custom -p "$pid" "$name" -o "$dir/other.pb.gz" 2>err
	cat err
	grep -q "another user's" err
	[ ! -e other.pb.gz ]
	expect 1 user 1001 gprofctl custom --list -p "$pid" 2>err
	grep -q "another user's" err
	# and sees nothing of what is there
	! user 1001 ls "$own" 2>err
	user 1001 gprofctl custom --list >list 2>err
	[ ! -s list ]
}

what_is_not_there_has_a_sentence()
{
	expect 1 gprofctl custom -p "$pid" no.such 2>err
	cat err
	grep -q "publishes no profile" err
	expect 1 gprofctl custom -p 4000000 "$name" 2>err
	grep -q "no process 4000000" err
	expect 2 gprofctl custom -p "$pid" 2>err
	expect 2 gprofctl custom --list "$name" 2>err
	[ ! -e custom.pb.gz ]
}

# Under the names are other things than files and directories of the user's.
what_others_put_there_is_not_opened()
{
	mv "$own/$pid/$name" "$own/$pid/aside"
	ln -s aside "$own/$pid/$name"
	expect 1 user 1000 gprofctl custom -p "$pid" "$name" -o "$dir/bad.pb.gz" 2>err
	rm "$own/$pid/$name"
	mkfifo -m 600 "$own/$pid/$name"
	chown 1000 "$own/$pid/$name"
	expect 1 user 1000 timeout 60 gprofctl custom -p "$pid" "$name" -o "$dir/bad.pb.gz" 2>err
	rm "$own/$pid/$name"
	mv "$own/$pid/aside" "$own/$pid/$name"
	chmod 755 "$own"
	expect 1 user 1000 gprofctl custom -p "$pid" "$name" -o "$dir/bad.pb.gz" 2>err
	grep -q "that of user" err
	chmod 700 "$own"
	read_as 1000 again.pb.gz
}

# A directory that somebody else has made is not used.
no_user_publishes_in_anothers_directory()
{
	mkdir -m 777 /tmp/gprof-1001
	expect 1 user 1001 "$here/custom_self" "$dir/never.pb.gz" 2>err
	cat err
	grep -q "not a directory of this user alone" err
	rmdir /tmp/gprof-1001
	ln -s "$dir" /tmp/gprof-1001
	expect 1 user 1001 "$here/custom_self" "$dir/never.pb.gz" 2>err
	rm /tmp/gprof-1001
}

a_session_has_a_directory_of_its_own()
{
	mkdir -m 700 session
	chown 1001:1001 session
	XDG_RUNTIME_DIR=$dir/session setpriv --reuid 1001 --regid 1001 --clear-groups \
		"$here/custom_self" "$dir/session/self.pb.gz" >out
	grep -q connections=34 out
	[ -d session/gprof ]
	[ ! -e /tmp/gprof-1001 ]
	# nothing is left of a program that ended by itself
	[ -z "$(ls session/gprof)" ]
}

what_a_dead_program_has_left_is_removed()
{
	[ -e "$own/$pid/$name" ]
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null || true
	[ -e "$own/$pid/$name" ]
	expect 1 gprofctl custom -p "$pid" "$name" 2>err
	cat err
	user 1000 gprofctl custom --list >list 2>err
	cat list
	[ ! -s list ]
	[ ! -e "$own/$pid" ]
}

ktap_run it_is_listed its_user_reads_it root_reads_it it_is_what_the_program_itself_writes \
	another_user_is_refused what_is_not_there_has_a_sentence \
	what_others_put_there_is_not_opened no_user_publishes_in_anothers_directory \
	a_session_has_a_directory_of_its_own what_a_dead_program_has_left_is_removed
