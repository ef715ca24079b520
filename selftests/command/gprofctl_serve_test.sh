#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# gprofctl_serve_test.sh: /debug/pprof/ of gprofctl serve, beside what the command writes of the
# same, and what is answered to whoever asks wrongly, or may not ask.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl setpriv "$here/profile_dump" "$here/burner" perl
export LC_ALL=C # for perl, which else says much of it
# shellcheck source-path=SCRIPTDIR source=../helpers/command.sh
. "$here/command.sh"
# shellcheck source-path=SCRIPTDIR source=../helpers/server.sh
. "$here/server.sh"

token=0123456789abcdef0123
shim=$(realpath "$(dirname "$(command -v gprofctl)")/../lib/libgprof-heap.so")
# of the password sesame
# shellcheck disable=SC2016 # it has dollars
hash='$2b$04$abcdefghijklmnopqrstuuinwY/tkBVrn3xrxQI/TgnMHhkvl85RW'
echo $token >token

# raw TEXT: sends it as it is, escapes undone; what comes back
raw()
{
	# shellcheck disable=SC2059 # the text is one
	{
		exec 3<>"/dev/tcp/127.0.0.1/$port"
		printf "$1" >&3
		cat <&3
		exec 3>&-
	} 2>raw.err
}

# get PATH [METHOD [HEADER]]: head to head, page to page
get()
{
	local auth=${3-Authorization: Bearer $token}

	raw "${2-GET} ${1//%/%%} HTTP/1.1\r\nHost: localhost\r\n$auth\r\nConnection: close\r\n\r\n" >answer || {
		cat raw.err
		fail "no answer to $1"
	}
	tr -d '\r' <answer | sed '/^$/q' >top
	sed '1,/^\r$/d' answer >page
	head -n 1 top
}

# no COMMAND...: fails where it does not
no()
{
	if "$@"; then
		fail "it should not: $*"
	fi
}

status() { head -n 1 top | cut -d ' ' -f 2; }

# kinds_of FILE: what a profile tells, and in which units
kinds_of() { "$here/profile_dump" "$1" | awk '$1 == "total" { print $2, $3 }'; }

# said FILE: what a profile tells of how it was recorded, whatever came of it
said()
{
	perl "$here/pprof_shape" <"$1" |
		grep -E '^(type|period|default|comment (gprof|target|kernel|samples:))'
}

# alike QUERY COMMAND...: what is answered is what the command writes, byte for byte, but for
# the time of each
alike()
{
	local query=$1
	shift

	get "/debug/pprof/$query"
	[ "$(status)" = 200 ] || { cat page; fail "no $query"; }
	"$@" -o theirs.pb.gz
	perl "$here/pprof_shape" all <page >ours
	perl "$here/pprof_shape" all <theirs.pb.gz >theirs
	rm theirs.pb.gz
	wc -l ours
	grep -q '^type' ours
	diff ours theirs
}

work()
{
	"$here/burner" 600000 &
	burner=$!
}

unwork()
{
	kill "$burner"
	wait "$burner" 2>/dev/null || true
}

# ticks PID: of the CPU that it has used
ticks() { awk '{ print $14 + $15 + $16 + $17 }' "/proc/$1/stat"; }

profiles_are_what_the_command_writes()
{
	begin --token-file token
	work
	before=$(ticks $burner)
	get "/debug/pprof/profile?seconds=2&pid=$burner&hz=1000"
	echo $(($(ticks $burner) - before)) >ours.ticks
	[ "$(status)" = 200 ] || { cat page; fail "no profile"; }
	grep -qx 'Content-Type: application/octet-stream' top
	grep -qx 'Content-Disposition: attachment; filename="profile"' top
	grep -qx 'X-Content-Type-Options: nosniff' top
	cp page ours.pb.gz
	before=$(ticks $burner)
	gprofctl cpu -p $burner -F 1000 -d 2 -o theirs.pb.gz
	echo $(($(ticks $burner) - before)) >theirs.ticks
	unwork
	for f in ours theirs; do
		perl "$here/pprof_shape" <$f.pb.gz | grep -v '^mapping.*\[' >$f.said
		gprofctl top -n 1000 $f.pb.gz >$f.top
		"$here/profile_dump" $f.pb.gz | awk '$1 == "total" && $2 == "samples" { print $4 }' >$f.n
		awk '$1 == "flat" && $2 == "samples" && $3 { print $4 }' <("$here/profile_dump" $f.pb.gz) |
			sort -u >$f.names
		head -n 6 $f.top
	done
	cat ours.said
	diff ours.said theirs.said
	grep -q '^mapping.*/burner [0-9a-f]\{40\}' ours.said
	# what takes most of the time is the same
	[ "$(awk 'on { print $6; exit } / flat/ { on = 1 }' ours.top)" = \
		"$(awk 'on { print $6; exit } / flat/ { on = 1 }' theirs.top)" ]
	# no more than the time that it had, and on the busiest host a twentieth of two seconds
	for f in ours theirs; do
		paste $f.n $f.ticks | awk '{ print; exit !($1 >= 100 && $1 < 12 * $2) }'
	done
	end
}

every_page_gives_what_it_is_for()
{
	begin --token-file token
	for page in block mutex kernel-allocs kernel-heap; do
		kind=${page#kernel-}
		if ! gprofctl "${kind%s}" -a -d 0.2 -o theirs.pb.gz 2>err; then
			cat err
			get "/debug/pprof/$page?seconds=0.2"
			[ "$(status)" -ge 400 ]
			# with the sentence of the command
			[ "gprofctl: $(cat page)" = "$(head -n 1 err)" ]
			continue
		fi
		get "/debug/pprof/$page?seconds=0.2"
		[ "$(status)" = 200 ] || { cat page; fail "no $page"; }
		grep -qx "Content-Disposition: attachment; filename=\"$page-delta\"" top
		said theirs.pb.gz >theirs
		said page >ours
		grep -q '^comment samples' ours
		diff theirs ours
	done
	for page in task goroutine; do
		get "/debug/pprof/$page?seconds=5"
		grep -qx "Content-Disposition: attachment; filename=\"$page\"" top
		[ "$(kinds_of page)" = "tasks count" ]
		get "/debug/pprof/$page?debug=1"
		grep -q '^task profile: total [1-9]' page
		grep -qx 'Content-Type: text/plain; charset=utf-8' top
	done
	get '/debug/pprof/task?debug=2'
	grep -q '^task 1 \[' page
	get '/debug/pprof/block?debug=1&gc=1'
	grep -q '^block profile: total [0-9]' page || { cat page; fail "no text"; }
	get "/debug/pprof/cmdline?seconds=-1"
	[ "$(tr '\0' ' ' <page)" = "gprofctl serve --listen 0 --token-file token" ]
	get "/debug/pprof/cmdline?pid=1"
	cmp -n "$(stat -c %s page)" page /proc/1/cmdline
	get '/debug/pprof/trace?seconds=0.5&seconds=bad'
	grep -qx 'Content-Disposition: attachment; filename="trace"' top
	gprofctl read page --summary >out
	cat out
	end
}

# Of one that stands still there is no more to tell at one time than at another.
# As in Go, heap is what a program has allocated itself; nobody guesses by what the kernel has.
heap_is_the_programs_own_memory()
{
	begin --token-file token
	get '/debug/pprof/heap?seconds=0.1'
	[ "$(status)" = 501 ]
	grep -q 'no program here has loaded libgprof-heap.so.*LD_PRELOAD' page
	work
	get "/debug/pprof/allocs?seconds=0.1&pid=$burner"
	[ "$(status)" = 501 ]
	grep -q "process $burner has not loaded libgprof-heap.so.*LD_PRELOAD.*probes=1" page
	unwork
	perl -e 'for (;;) { my @a = map { "x" x 100000 } 1 .. 10; select undef, undef, undef, 0.01 }' &
	bare=$!
	LD_PRELOAD=$shim perl \
		-e 'for (;;) { push @a, "x" x 10000; my @b = ("x" x 100000) x 10; select undef, undef, undef, 0.01 }' &
	told=$!
	sleep 1
	for query in 'heap?seconds=2&every=1000' "allocs?seconds=2&every=1000&pid=$told" \
			"heap?seconds=2&every=1000&probes=1&pid=$bare"; do
		get "/debug/pprof/$query"
		[ "$(status)" = 200 ] || { cat page; fail "no $query"; }
		"$here/profile_dump" page | grep -q '^total alloc_space bytes [1-9]' || fail "none in $query"
		gprofctl top -n 1000 page --type alloc_space >top.txt
		cat top.txt
		grep -q perl top.txt || fail "no perl in $query"
		! grep -q '\[kernel\]' top.txt || fail "the kernel is in $query"
	done
	kill $told $bare
	end
}

# A command has the shim; one that cannot have it is served all the same.
a_command_tells_its_heap()
{
	begin --token-file token -- perl \
		-e 'for (;;) { push @a, "x" x 10000; my @b = ("x" x 100000) x 10; select undef, undef, undef, 0.01 }'
	for query in 'heap?seconds=2&every=1000' 'allocs?seconds=2&every=1000'; do
		get "/debug/pprof/$query"
		[ "$(status)" = 200 ] || { cat page; fail "no $query"; }
		gprofctl top -n 1000 page --type alloc_space >top.txt
		cat top.txt
		grep -q perl top.txt || fail "no perl in $query"
	done
	pkill -P "$server" perl
	end_with 143
	begin --token-file token -- "$here/burner" 600000
	get '/debug/pprof/heap?seconds=0.1'
	[ "$(status)" = 501 ]
	grep -q '^gprofctl: /debug/pprof/heap: .*burner is a static program' served
	pkill -P "$server" burner
	end_with 143
}

# Those of a program that publishes them, by its number or where it is the target.
custom_profiles_are_pages()
{
	"$here/custom_self" self.pb.gz 1000 >/dev/null &
	keeps=$!
	until gprofctl custom --list -p $keeps 2>/dev/null | grep -q example.connections; do
		sleep 0.1
	done
	begin --token-file token
	get "/debug/pprof/example.connections?pid=$keeps&seconds=5"
	[ "$(status)" = 200 ] || { cat page; fail "no profile"; }
	grep -qx 'Content-Disposition: attachment; filename="example.connections"' top
	gprofctl custom -p $keeps -o theirs.pb.gz example.connections
	"$here/profile_dump" page >ours
	"$here/profile_dump" theirs.pb.gz >theirs
	grep -q '^total example.connections count [1-9]' ours
	diff ours theirs
	get "/debug/pprof/example.connections?pid=$keeps&debug=1"
	grep -q '^example.connections: total [1-9]' page
	get '/debug/pprof/example.connections'
	[ "$(status)" = 404 ]
	grep -q 'pid=' page
	get "/debug/pprof/example.nothing?pid=$keeps"
	[ "$(status)" = 404 ]
	end
	begin --token-file token -p $keeps
	get /debug/pprof/
	grep -q '<a href="example.connections">now</a>' page
	get /debug/pprof/example.connections
	[ "$(status)" = 200 ]
	end
	kill $keeps
}

what_stands_still_is_told_byte_for_byte()
{
	begin --token-file token
	work
	sleep 0.5
	kill -STOP "$burner"
	until grep -q '^State:.T' "/proc/$burner/status"; do
		sleep 0.1
	done
	set -- -p "$burner"
	for page in task goroutine; do
		alike "$page?pid=$burner" gprofctl task "$@"
		for form in text traceback; do
			get "/debug/pprof/$page?pid=$burner&debug=$((1 + (${#form} > 4)))"
			gprofctl task "$@" --format $form >theirs 2>err
			for f in page theirs; do
				sed -Ei 's/(within|stopped,) [0-9.]+ (ms|s)\b/\1/' $f
			done
			grep -q burn_ns page
			diff page theirs
		done
	done
	with="seconds=0.1&pid=$burner"
	alike "profile?$with" gprofctl cpu "$@" -d 0.1
	alike "profile?$with&hz=500" gprofctl cpu "$@" -d 0.1 -F 500
	alike "profile?$with&event=page-faults&period=3" gprofctl cpu "$@" -d 0.1 -e page-faults:3
	alike "mutex?$with&every=2" gprofctl mutex "$@" -d 0.1 --every 2
	alike "kernel-allocs?$with" gprofctl alloc "$@" -d 0.1 --kernel
	alike "kernel-heap?$with&every=4096" gprofctl heap "$@" -d 0.1 --kernel --every 4096
	alike "wall?$with" gprofctl wall "$@" -d 0.1
	get "/debug/pprof/trace?$with"
	gprofctl trace "$@" -d 0.1 -o theirs.trace
	for f in page theirs.trace; do
		gprofctl read $f --summary --json | sed 's/_ns": [0-9]*/_ns"/g' >$f.said
	done
	diff page.said theirs.trace.said
	kill -CONT "$burner"
	unwork
	end
}

# The page of now, and the one that asks for it again and again, which has no data and no secret.
a_page_of_now()
{
	begin --token-file token
	work
	get "/debug/pprof/view?seconds=1&pid=$burner"
	[ "$(status)" = 200 ] || { cat page; fail "no page"; }
	grep -qx 'Content-Type: text/html; charset=utf-8' top
	no grep -q '^Content-Disposition' top
	grep -qF '<h1 id="title">CPU profile</h1>' page
	grep -q '\["burn_ns","burner",0\]' page
	grep -qF '"keys":["process","cgroup","time","cpu","thread"]' page
	# slices of 100 ms, of which there are ten or one less
	nr=$(sed -n '/^"values":/p' page | sed 's/\],\[/\n/g' | sed -n 3p | tr , '\n' | grep -c '"[0-9]*00000000"\|"0"')
	echo "$nr slices"
	[ "$nr" -ge 8 ] && [ "$nr" -le 11 ]
	sed -n '/^<script>$/,/^<\/script>$/p' page >script
	get "/debug/pprof/view?seconds=0.1&pid=$burner" GET 'X-None: 1'
	[ "$(status)" = 401 ] || fail "it is for anybody"
	get /live GET 'X-None: 1'
	[ "$(status)" = 200 ] && grep -qx 'Content-Type: text/html; charset=utf-8' top
	no grep -q 'id="data"' page
	grep -qF "connect-src 'self'" page
	[ "$(wc -l <script)" -gt 500 ]
	sed -n '/^<script>$/,/^<\/script>$/p' page | cmp - script
	unwork
	end
}

whom_to_record_is_in_the_request()
{
	begin --token-file token
	work
	get "/debug/pprof/task?pid=$burner&debug=2"
	grep -q "(process $burner)" page
	no grep -q '(process 1)' page
	get "/debug/pprof/task?comm=burner&debug=2"
	grep -q "(process $burner)" page
	get "/debug/pprof/profile?seconds=1&cpu=0"
	[ "$(status)" = 200 ]
	if [ -e /sys/fs/cgroup/cgroup.procs ]; then
		mkdir -p /sys/fs/cgroup/serve_test
		echo $burner >/sys/fs/cgroup/serve_test/cgroup.procs
		get "/debug/pprof/task?cgroup=serve_test&debug=2"
		grep -q "(process $burner)" page
		no grep -q '(process 1)' page
	fi
	unwork
	end
}

# What the library's unit test has of requests without the module is not told again.
bad_requests_have_a_status_and_the_commands_sentence()
{
	begin --token-file token
	while read -r query want why; do
		get "/debug/pprof/$query"
		echo "$query: $(status) $(cat page)"
		[ "$(status)" = "$want" ]
		grep -q -- "$why" page
		[ "$(wc -l <page)" -eq 1 ]
		grep -qx 'X-Go-Pprof: 1' top
	done <<-'END'
		profile?event=nothing-like-it 404 nothing-like-it
		profile?event=no/such/ 404 no
		profile?event=sched:sched_switch 404 gprofctl.profile
		profile?event=rfffffffffffffffff 400 a.raw.event
		profile?event=cycles&period=1 400 a.period.of.1.is.out.of.range
		profile?event=page-faults&period=18446744073709551615 400 out.of.range
		profile?pid=4194303 404 no.such.thread
		profile?tid=4194303 404 no.such.thread
		profile?cgroup=no-such-group 404 no-such-group
		profile?cpu=4095 404 no.such.CPU
		profile?cpu=x 400 x
		profile?seconds=301 400 at.most.300
		profile?seconds=1e9 400 1e9
		profile?hz=999999999 400 .
		trace?flight=1 404 flight.recorder
		walls 404 no.such.profile
		wall?seconds=NaN 400 not..NaN
		profile?seconds=0 400 above.0
		profile?period=1x 400 period
		../../etc/passwd 404 no.such
		%2e%2e/%2e%2e/etc/passwd 404 no.such
	END
	for event in nothing-like-it no/such/ r18446744073709551615 breakpoint/len=x/; do
		get "/debug/pprof/profile?event=$event&seconds=0.1"
		run 1 gprofctl cpu -a -e $event -d 0.1 -o theirs.pb.gz
		[ "gprofctl: $(cat page)" = "$(cat err)" ]
	done
	end
}

a_client_that_goes_away_ends_its_recording()
{
	begin --token-file token
	wait_for_recorders 1
	exec 4<>"/dev/tcp/127.0.0.1/$port"
	printf 'GET /debug/pprof/profile?seconds=300 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n' \
		$token >&4
	wait_for_recorders 2
	exec 4>&-
	sleep 1
	run 0 gprofctl info --json
	jq .data.recorders out
	jq -e '.data.recorders | length == 1' out
	end
}

# A process that ends is not waited for, and neither is a server that is to end.
what_ends_is_not_waited_for()
{
	begin --token-file token
	for page in profile block kernel-heap wall trace; do
		work
		get "/debug/pprof/$page?seconds=200&pid=$burner" &
		asker=$!
		until gprofctl info --json | jq -e ".data.recorders | any(.target == $burner and .started)"; do
			sleep 0.1
		done
		unwork
		before=$(date +%s)
		wait $asker
		[ "$(status)" = 200 ] || { cat page; fail "no $page"; }
		[ $(($(date +%s) - before)) -lt 60 ]
	done
	get "/debug/pprof/profile?seconds=200&pid=$burner"
	[ "$(status)" = 404 ]
	get '/debug/pprof/profile?seconds=200' &
	wait_for_recorders 2
	before=$(date +%s)
	end
	[ $(($(date +%s) - before)) -lt 30 ]
}

# record_as USER SECONDS: asks for a profile in the background, and writes answer.USER; the
# socket is of the user that makes it
record_as()
{
	perl -MSocket -e '
		$> = $ARGV[1];
		socket(my $s, PF_INET, SOCK_STREAM, 0) or die;
		connect($s, sockaddr_in($ARGV[0], INADDR_LOOPBACK)) or die;
		syswrite $s, "GET /debug/pprof/profile?seconds=$ARGV[2] HTTP/1.1\r\nHost: localhost\r\n" .
			"Authorization: Bearer $ARGV[3]\r\n\r\n";
		print while <$s>' "$port" "$1" "$2" $token >"answer.$1" &
}

# Of all that are allowed one client has half, rounded up, and others the rest.
as_many_at_once_as_are_allowed()
{
	begin --token-file token --max-recordings 3 --max-seconds 60
	record_as 0 60
	first=$!
	record_as 0 60
	second=$!
	wait_for_recorders 3
	get '/debug/pprof/profile?seconds=1'
	cat page
	[ "$(status)" = 429 ]
	grep -q '^Retry-After: ' top
	grep -qx 'X-Go-Pprof: 1' top
	grep -qx '2 recordings of this client are under way.*' page
	record_as 1000 60
	third=$!
	wait_for_recorders 4
	record_as 1001 1
	wait $!
	cat answer.1001
	grep -q '^HTTP/1.1 503' answer.1001
	grep -q '^3 recordings are under way' answer.1001
	# pages are not recordings
	get /metrics
	[ "$(status)" = 200 ]
	kill $first $second
	wait $first $second || true
	sleep 1
	get '/debug/pprof/profile?seconds=0.2'
	[ "$(status)" = 200 ]
	kill $third
	wait $third || true
	end
}

# Those that are told; which others there are http_tool_test has.
only_the_hosts_names_are_answered()
{
	begin --token-file token --host proxy.example
	while read -r host want; do
		raw "GET /metrics HTTP/1.1\r\nHost: $host\r\nConnection: close\r\n\r\n" >answer
		head -n 1 answer | tee /dev/stderr | grep -q " $want "
	done <<-END
		proxy.example 200
		evil.example 421
	END
	end
}

# labels_for USER: of the recorder of user 1000, as /metrics tells them to a user
labels_for()
{
	perl -MSocket -e '$> = $ARGV[1];
		socket(my $s, PF_INET, SOCK_STREAM, 0) or die;
		connect($s, sockaddr_in($ARGV[0], INADDR_LOOPBACK)) or die;
		syswrite $s, "GET /metrics HTTP/1.0\r\n$ARGV[2]\r\n\r\n";
		print while <$s>' "$port" "$1" "${2-X: y}" >answer
	grep -q '^gprof_sched_switches_total' answer
	grep '^gprof_recorder_started{.*kind="cpu"' answer | sed 's/^[^{]*{//; s/}.*//; s/id="[0-9]*",//' |
		sed 's/pid="[0-9]*"/pid="N"/g'
}

# As over netlink: the owner, root, and who has what the server asks for.
an_owner_is_told_to_whom_netlink_would()
{
	begin --token-file token
	as_user sleep 1000 &
	until its=$(pgrep -u 1000 -x sleep); do
		sleep 0.1
	done
	as_user gprofctl cpu -p "$its" -d 1000 -o /dev/null 2>/dev/null &
	wait_for_recorders 2
	all='kind="cpu",scope="process",pid="N",owner="gprofctl",owner_pid="N",owner_uid="1000"'
	[ "$(labels_for 0)" = "$all" ] || { cat answer; fail "not to root"; }
	[ "$(labels_for 1000)" = "$all" ] || { cat answer; fail "not to the owner"; }
	[ "$(labels_for 1001)" = 'kind="cpu",scope="process"' ] || { cat answer; fail "to others"; }
	[ "$(labels_for 1001 "Authorization: Bearer $token")" = "$all" ] ||
		{ cat answer; fail "not to the token"; }
	kill "$its"
	end
}

a_profile_that_takes_too_much_memory_is_refused()
{
	begin --token-file token --max-memory 1k
	get '/debug/pprof/profile?seconds=100&cpu=0&hz=1000'
	cat page
	[ "$(status)" = 503 ]
	grep -q '^the profile takes more than 1 KiB' page
	[ "$(wc -l <page)" -eq 1 ]
	get /metrics
	[ "$(status)" = 200 ]
	end
}

profiles_are_refused_without_the_token()
{
	begin --token-file token
	for auth in 'X: y' 'Authorization: Bearer x' 'Authorization: Basic eDp5' 'Authorization: Basic ?' \
			"Authorization: Bearer ${token}0"; do
		get '/debug/pprof/task' GET "$auth"
		[ "$(status)" = 401 ]
		grep -q '^WWW-Authenticate: Basic' top
		no grep -q $token page
	done
	get /metrics GET 'X: y'
	[ "$(status)" = 200 ]
	get /debug/pprof/task GET "Authorization: Basic $(printf 'x:%s' $token | base64)"
	[ "$(status)" = 200 ]
	end
}

users_of_a_file_may_ask()
{
	printf 'basic_auth_users:\n  alice: %s\n' "$hash" >web.yml
	begin --web.config.file web.yml
	get /metrics GET 'X: y'
	[ "$(status)" = 401 ]
	get /metrics GET "Authorization: Basic $(printf alice:sesame | base64)"
	[ "$(status)" = 200 ]
	get /debug/pprof/task GET "Authorization: Basic $(printf alice:sesame | base64)"
	[ "$(status)" = 200 ]
	get /debug/pprof/task GET "Authorization: Basic $(printf bob:sesame | base64)"
	[ "$(status)" = 401 ]
	# read again, and as it was where that cannot be
	printf 'basic_auth_users:\n  bob: %s\n' "$hash" >web.yml
	kill -HUP "$server"
	told 'read again'
	get /metrics GET "Authorization: Basic $(printf alice:sesame | base64)"
	[ "$(status)" = 401 ]
	get /metrics GET "Authorization: Basic $(printf bob:sesame | base64)"
	[ "$(status)" = 200 ]
	rm web.yml
	kill -HUP "$server"
	told 'as they were'
	get /metrics GET "Authorization: Basic $(printf bob:sesame | base64)"
	[ "$(status)" = 200 ]
	end
	printf 'basic_auth_users:\n  bob: sesame\n' >web.yml
	refused 1 'web.yml:2: a hash by bcrypt' gprofctl serve --listen 0 --web.config.file web.yml
	no grep -q sesame err
	refused 1 'No such file' gprofctl serve --listen 0 --web.config.file none.yml
	refused 1 'No such file' gprofctl serve --listen 0 --token-file none
}

# A token that vanishes is as good as it was, and a port is one program's.
what_a_server_has_it_keeps()
{
	echo $token >other
	begin --token-file other
	rm other
	kill -HUP "$server"
	told 'as they were'
	get '/debug/pprof/task'
	[ "$(status)" = 200 ]
	refused 1 'another program listens there already' gprofctl serve --listen "$port"
	get '/debug/pprof/task'
	[ "$(status)" = 200 ]
	end
}

# serve_at_socket [COMMAND...]: gprofctl serve, or one like it
serve_at_socket()
{
	[ $# -gt 0 ] || set -- gprofctl serve
	rm -f served
	"$@" --socket s.sock 2>served &
	server=$!
	told 'serving at unix:s.sock'
}

a_socket_is_for_users_that_may_open_it()
{
	serve_at_socket
	[ -S s.sock ]
	[ "$(stat -c %a s.sock)" = 600 ]
	no grep -q 'http://' served
	ask_socket '/debug/pprof/task?debug=1'
	grep -q '^task profile: total [1-9]' page
	refused 1 'another program' gprofctl serve --socket s.sock
	end
	[ ! -e s.sock ]
	# what has taken its place meanwhile is another's
	serve_at_socket
	rm s.sock
	: >s.sock
	end
	[ -f s.sock ]
	refused 1 . gprofctl serve --socket s.sock
	[ -f s.sock ]
	refused 2 'socket-mode' gprofctl serve --socket-mode 660
	refused 2 'permissions' gprofctl serve --socket t --socket-mode 8
}

# ask_socket PATH: as get, of the server at the socket; perl is what there is to talk to it
ask_socket()
{
	perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, sockaddr_un("s.sock")) or die;
		syswrite $s, "GET $ARGV[0] HTTP/1.0\r\nHost: localhost\r\n\r\n";
		print while <$s>' "$1" >answer
	tr -d '\r' <answer | sed '/^$/q' >top
	sed '1,/^\r$/d' answer >page
}

a_server_without_privilege_shows_what_is_its_own()
{
	work
	setpriv --reuid 1000 --regid 1000 --clear-groups "$here/burner" 600000 &
	its=$!
	until [ "$(stat -c %u "/proc/$its")" = 1000 ]; do
		sleep 0.1
	done
	rm -f s.sock
	serve_at_socket setpriv --reuid 1000 --regid 1000 --clear-groups -- gprofctl serve -p $its
	ask_socket '/debug/pprof/task?debug=2'
	grep -q "(process $its)" page
	ask_socket '/debug/pprof/profile?seconds=0.3'
	perl "$here/pprof_shape" <page | grep -qx "comment target: process $its"
	for page in profile block mutex trace task wall; do
		command="cpu -d 0.1"
		[ $page = profile ] || command="$page -d 0.1"
		[ $page != task ] || command=task
		for whom in pid=$burner cpu=0; do
			ask_socket "/debug/pprof/$page?$whom&seconds=0.1"
			echo "$page $whom: $(status) $(cat page)"
			[ "$(status)" = 403 ]
			[ "$(wc -l <page)" -eq 1 ]
			[ "$whom" != cpu=0 ] || continue
			# shellcheck disable=SC2086 # words
			as_user gprofctl $command -p "$burner" -o x 2>err && fail "it should not"
			[ "gprofctl: $(cat page)" = "$(tail -n 1 err)" ] || { cat err; fail "another sentence"; }
		done
	done
	kill $its
	wait $its || true
	unwork
	# it ends with its target
	end_with 0
}

the_last_seconds_are_there_when_asked_for()
{
	begin --token-file token --flight=5
	sleep 1
	for i in 1 2; do
		get '/debug/pprof/trace?flight=1'
		[ "$(status)" = 200 ] || { cat page; fail "no trace"; }
		gprofctl read page --summary --json >out
		jq -e .data.lost_events out
	done
	get '/debug/pprof/trace?flight=1&pid=1'
	[ "$(status)" = 400 ]
	end
}

it_keeps_no_more_privilege_than_it_needs()
{
	begin --token-file token
	grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs)' "/proc/$server/status"
	for task in "/proc/$server/task"/*; do
		eff=$((0x$(awk '/^CapEff/ { print $2 }' "$task/status")))
		[ $((eff & ~((1 << 38) | (1 << 19) | (1 << 40) | (1 << 2) | (1 << 34) | (1 << 14)))) -eq 0 ]
		grep -q '^NoNewPrivs:.1' "$task/status"
	done
	end
}

# Where time is a count of instructions, a hundred a second; elsewhere as fast as it goes.
scrapes_do_not_disturb_recordings()
{
	begin --token-file token --max-recordings 24
	work
	for i in $(seq 12); do
		(
			raw "GET /debug/pprof/profile?seconds=3&hz=99&pid=$burner HTTP/1.0\r\nAuthorization: Bearer $token\r\n\r\n" \
				>"answer.$i"
		) &
		eval "client_$i=$!"
	done
	perl -MSocket -MTime::HiRes=time,sleep -e '
		my $next = time;
		for (1 .. 300) {
			socket(my $s, PF_INET, SOCK_STREAM, 0) or die;
			connect($s, sockaddr_in($ARGV[0], INADDR_LOOPBACK)) or die;
			syswrite $s, "GET /metrics HTTP/1.0\r\n\r\n";
			my ($all, $x) = ("");
			$all .= $x while sysread $s, $x, 65536;
			$all =~ /^HTTP\/1.. 200/ && $all =~ /gprof_sched_switches_total/ or die "$_: $all";
			$next += 0.01;
			my $early = $next - time;
			sleep($early) if $early > 0;
		}
		printf "300 scrapes, the last %.0f ms late\n", (time - $next) * 1000;' "$port"
	for i in $(seq 12); do
		eval "wait \$client_$i"
		head -n 1 "answer.$i" | grep -q ' 200 ' || { head -n 20 "answer.$i"; fail "recording $i"; }
		sed '1,/^\r$/d' "answer.$i" >page
		gprofctl top -v page | grep -o 'samples: produced=.*' >said
		[ "$i" -gt 1 ] || cat said
		grep -q ' lost=0 ' said || { cat said; fail "something is lost"; }
		n=$(sed -n 's/.*produced=\([0-9]*\) .*/\1/p' said)
		[ "$n" -gt 0 ]
	done
	unwork
	end
}

# What the server needs for a profile, beside what the command needs for the same.
a_profile_costs_no_more_than_the_commands()
{
	[ -n "${GPROF_EXACT-}" ] || skip "time is no count of instructions here"
	begin --token-file token
	work
	get "/debug/pprof/profile?seconds=1&hz=1000&pid=$burner"
	before=$(ticks "$server")
	get "/debug/pprof/profile?seconds=20&hz=1000&pid=$burner"
	ours=$(($(ticks "$server") - before))
	us=$BASHPID
	before=$(ticks "$us")
	gprofctl cpu -p $burner -F 1000 -d 20 -o theirs.pb.gz
	theirs=$(($(ticks "$us") - before))
	unwork
	end
	echo "the server takes $ours ticks, the command $theirs"
	[ "$theirs" -ge 20 ] && [ "$ours" -le $((theirs * 105 / 100)) ]
}

memory_stays_flat()
{
	requests=${GPROF_REQUESTS-1000}
	begin --token-file token
	for i in $(seq 50); do
		get '/debug/pprof/cmdline'
	done >/dev/null
	get '/debug/pprof/profile?seconds=0.1'
	before=$(awk '/^VmRSS/ { print $2 }' "/proc/$server/status")
	perl -MSocket -e '
		for (1 .. $ARGV[2]) {
			socket(my $s, PF_INET, SOCK_STREAM, 0) or die;
			connect($s, sockaddr_in($ARGV[0], INADDR_LOOPBACK)) or die;
			syswrite $s, "GET " . ($_ % 4 ? "/metrics" : "/debug/pprof/cmdline") .
				" HTTP/1.0\r\nAuthorization: Bearer $ARGV[1]\r\n\r\n";
			1 while sysread $s, my $x, 65536;
		}' "$port" $token "$requests"
	after=$(awk '/^VmRSS/ { print $2 }' "/proc/$server/status")
	echo "$before kB before, $after kB after $requests requests"
	[ "$after" -lt $((before + 4096)) ]
	end
}

nothing_is_left_open()
{
	run 0 gprofctl info --json
	jq -e '.data.recorders == []' out
}

# What is about how much, and not about what, where time is a count of instructions.
[ -z "${GPROF_EXACT-}" ] || ktap_run scrapes_do_not_disturb_recordings \
	a_profile_costs_no_more_than_the_commands memory_stays_flat nothing_is_left_open

ktap_run profiles_are_what_the_command_writes every_page_gives_what_it_is_for \
	heap_is_the_programs_own_memory a_command_tells_its_heap custom_profiles_are_pages \
	what_stands_still_is_told_byte_for_byte a_page_of_now whom_to_record_is_in_the_request \
	bad_requests_have_a_status_and_the_commands_sentence \
	a_client_that_goes_away_ends_its_recording what_ends_is_not_waited_for \
	as_many_at_once_as_are_allowed only_the_hosts_names_are_answered \
	an_owner_is_told_to_whom_netlink_would a_profile_that_takes_too_much_memory_is_refused \
	profiles_are_refused_without_the_token users_of_a_file_may_ask \
	what_a_server_has_it_keeps a_socket_is_for_users_that_may_open_it \
	a_server_without_privilege_shows_what_is_its_own the_last_seconds_are_there_when_asked_for \
	it_keeps_no_more_privilege_than_it_needs scrapes_do_not_disturb_recordings \
	a_profile_costs_no_more_than_the_commands memory_stays_flat nothing_is_left_open
