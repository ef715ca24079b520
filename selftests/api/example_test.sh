#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# example_test.sh: the examples of the documentation, compiled as they stand there, record
# themselves without privilege.
# On the host it configures a project for CTest and runs itself in a guest, where that and
# the host's ctest are in /share; in a guest without them the example for CTest is left out.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"

if [ ! "${GPROF_KERNEL-}" ]; then
	need cmake ctest run "$here/ctest.cmake"
	share=$(mktemp -d) || exit 1
	trap 'rm -rf "$share"' EXIT
	mkdir "$share/source" "$share/lib"
	cp "$here/ctest.cmake" "$share/source"
	cat >"$share/source/CMakeLists.txt" <<-'END'
		cmake_minimum_required(VERSION 3.13)
		project(example NONE)
		enable_testing()
		include(ctest.cmake)
		add_test(NAME primes COMMAND /gprof/selftests/flags_self 2000000)
		add_test(NAME fails COMMAND bash -c "/gprof/selftests/flags_self 1000000; exit 3")
		add_test(NAME flags COMMAND /gprof/selftests/flags_self -cpuprofile flags.pb.gz 1000000)
		add_test(NAME plain COMMAND true)
		gprof_tests(cpu primes fails)
	END
	cmake -S "$share/source" -B "$share/build" >"$share/log" 2>&1 || { cat "$share/log"; exit 1; }
	cp "$(command -v ctest)" "$share"
	ldd "$(command -v ctest)" | awk '/\// { print $(NF - 1) }' | xargs -I '{}' cp -L '{}' "$share/lib"
	chmod -R a+rwX "$share"
	run --arch amd64 --timeout 300 --share "$share" -- example_test.sh
	exit
fi

need gprofctl "$here/profile_self" "$here/flight_self" "$here/raw_flight_self" "$here/address_self" "$here/custom_self" "$here/flags_self" \
	"$here/serve_self" "$here/truth_threads" "$here/truth_heap"

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

# mostly_primes: the first share of a row of top.txt is the function's own
mostly_primes()
{
	awk '/ count_primes( |$)/ && match($0, /[0-9.]+%/) && substr($0, RSTART) + 0 > 50 { found = 1 }
		END { exit !found }' top.txt
}

its_profile_shows_its_work()
{
	[ -s self.pb.gz ] || fail "there is no profile"
	gprofctl top -n 1000 self.pb.gz >top.txt
	cat top.txt
	# the rest is the library, which reads the names of its functions once, and starts and
	# stops, which takes longer on a busy host
	mostly_primes
}

its_profile_leads_down_to_main()
{
	[ -s self.pb.gz ] || fail "there is no profile"
	gprofctl top self.pb.gz --json | jq -e '.data.rows[] | select(.name == "main").cum_percent > 50'
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
	grep -Eq '^too slow after [0-9]+ requests; the last [0-9]+ ms are in last.trace$' out
	# a hundred, or fewer where the host itself made one wait
	requests=$(awk '{ print $4 }' out)
	gprofctl read last.trace --pprof block -o block.pb.gz
	gprofctl read last.trace --summary --json >summary
	# off the CPU with each, but for those whose time was over before it slept
	[ "$(jq .data.lost_events summary)" -eq 0 ]
	[ "$(gprofctl read last.trace | grep -c 'Running->Waiting')" -gt $((requests * 9 / 10)) ]
}

# Of a recorder that was stopped the counts are exact: what is read is what was kept.
one_that_is_linked_with_the_core_alone_has_them_too()
{
	setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs \
		"$here/raw_flight_self" last.raw >out
	cat out
	field() { sed -n "s/.* $1=\([0-9]*\).*/\1/p" out; }
	[ "$(wc -c <last.raw)" = "$(awk '{ print $2 }' out)" ]
	[ "$(field produced)" -eq $(($(field held) + $(field lost) + $(field overwritten))) ]
	# two switches a request
	[ "$(field held)" -gt 180 ]
	gprofctl read --core last.raw | tee core
	awk -v p="$(field produced)" -v l="$(field lost)" -v o="$(field overwritten)" \
		'$2 == "trace" && $4 == p && $5 == l && $6 == o { found = 1 } END { exit !found }' core
	gprofctl read last.raw -o last.trace
	gprofctl read last.trace >events
	[ "$(grep -c 'Running->Waiting' events)" -gt 90 ]
	gprofctl read last.raw | cmp - events
	# a count more than there is, and half of it
	cp last.raw other
	printf '\377' | dd of=other bs=1 seek=$(($(wc -c <other) - 17)) conv=notrunc 2>err
	! gprofctl read other -o x 2>err || return 1
	grep 'do not add up' err
	head -c $(($(wc -c <last.raw) / 2)) last.raw >half
	! gprofctl read half -o x 2>err || return 1
	grep 'cut short' err
	[ ! -e x ]
	# what opens traces by name says what it is
	! gprofctl wall last.raw 2>err || return 1
	grep 'is a raw flight snapshot; gprofctl read' err
}

its_profile_of_addresses_is_named_later()
{
	setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs \
		"$here/address_self" self.pb >out
	cat out
	field() { sed -n "s/.* $1=\([0-9]*\).*/\1/p" out; }
	[ "$(field produced)" -eq $(($(field read) + $(field lost))) ]
	[ "$(field lost)" -eq 0 ]
	profile_dump self.pb >dump
	cat dump
	# a second at 100 Hz: 10 ms each, more where one came late; and no function yet
	grep -qx "total samples count $(field read)" dump
	cpu=$(sed -n 's/^total cpu nanoseconds \([0-9]*\)0000000$/\1/p' dump)
	[ "$(field read)" -ge 30 ] && [ "$cpu" -ge "$(field read)" ]
	[ "$cpu" -ge 95 ] && [ "$cpu" -le 120 ]
	[ "$(awk '$1 == "flat" && $2 == "cpu" { sum += $3 } END { print sum / 10000000 }' dump)" -eq "$cpu" ]
	! grep count_primes dump || return 1
	gprofctl symbolize self.pb -o named.pb.gz
	gprofctl top named.pb.gz --json >top.json
	jq -e '.data.rows[] | select(.name == "count_primes").flat_percent > 90' top.json
	jq -e '.data.rows[] | select(.name == "main").cum_percent > 90' top.json
	gprofctl top -v named.pb.gz | grep -q "produced=$(field read) read=$(field read) lost=0"
}

as_user()
{
	# As since 5.16; the 64 KiB of before are too few for several kinds.
	# shellcheck disable=SC3045 # dash has it
	(ulimit -l 8192 && exec setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs "$@")
}

flags_record_and_are_gone()
{
	as_user "$here/flags_self" -cpuprofile flags.pb.gz --trace=flags.trace \
		-blockprofile %p.block.pb.gz 3000000 >out
	cat out
	# it has read its own argument
	grep -qx '216816 primes' out
	gprofctl top -n 1000 flags.pb.gz >top.txt
	cat top.txt
	mostly_primes
	gprofctl read flags.trace --summary >/dev/null
	ls ./*.block.pb.gz
	gprofctl top -n 1000 ./*.block.pb.gz >/dev/null
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
	gprofctl top -n 1000 preload.pb.gz >top.txt
	cat top.txt
	grep -q ' f10 ' top.txt
	# the sleep, and the shell that waits for it
	gprofctl top --type delay --all-waits --json pb.pb.gz | jq -e '.data.rows[0].cum > 100000000'
}

# Which runs no destructor; of its child that cannot execute it is no end.
a_program_that_ends_by_exit_of_the_kernel_is_written_too()
{
	got=0
	# shellcheck disable=SC2016 # the other shell expands it
	as_user env LD_PRELOAD=libgprof-self.so GPROF=cpu,hz=1000,out=dash.pb.gz dash -c '
		/nonexistent; (exit 3); i=0
		while [ $i -lt 100000 ]; do i=$((i + 1)); done
		exit 7' 2>err || got=$?
	cat err
	[ $got -eq 7 ]
	! grep -q gprof err
	gprofctl top -n 1000 dash.pb.gz >top.txt
	cat top.txt
	grep -q dash top.txt
	# in a thread of its own, in a signal handler
	got=0
	# shellcheck disable=SC2016 # of perl
	as_user env LD_PRELOAD=libgprof-self.so GPROF=cpu,hz=1000,out=perl.pb.gz LC_ALL=C \
		PERL_SIGNALS=unsafe perl -MPOSIX -e '$SIG{ALRM} = sub { POSIX::_exit(9) }; alarm 1; 1 while 1' 2>err || got=$?
	cat err
	[ $got -eq 9 ]
	[ ! -s err ]
	gprofctl top -n 1000 perl.pb.gz | grep -q perl
}

# As in Go, -memprofile is what a program allocates itself.
memory_is_the_programs_own()
{
	# shellcheck disable=SC2154 # of command.sh
	shim=$(realpath "$(dirname "$(command -v gprofctl)")/../lib/libgprof-heap.so")
	as_user env LD_PRELOAD="libgprof-self.so:$shim" "GPROF=heap,every=1;alloc,every=1,out=a.pb.gz" \
		"$here/truth_heap" exact 2>err
	[ ! -s err ] || { cat err; fail "it is not recorded"; }
	gprofctl top heap.pb.gz --type inuse_objects -n 1000 >top.txt
	cat top.txt
	awk '$6 == "site_keeps" && $4 == 70 { found = 1 } END { exit !found }' top.txt
	! grep -q '\[kernel\]\|\[libgprof' top.txt
	gprofctl top a.pb.gz --type alloc_objects -n 1000 >top.txt
	cat top.txt
	awk '$6 == "site_churns" && $4 == 1000 { found = 1 } END { exit !found }' top.txt
	LD_PRELOAD=$shim as_user "$here/flags_self" -memprofile m.pb.gz 1000 >out
	gprofctl top -n 1000 m.pb.gz >top.txt
	grep -q '^Type: inuse_space' top.txt
	got=0
	as_user "$here/flags_self" -memprofile x.pb.gz 1000 >out 2>err || got=$?
	cat err
	[ $got -eq 1 ]
	grep -q 'has not loaded libgprof-heap.so.*LD_PRELOAD' err
	[ ! -e x.pb.gz ]
	LD_PRELOAD=libgprof-self.so GPROF=kernel-heap,every=1 cat /dev/null
	gprofctl top -n 1000 kernel-heap.pb.gz --type alloc_space | grep -q '\[kernel\]'
}

# As a daemon does, and the numbers are the program's then: nothing is written to them. Not of
# files that the library has open for a moment only, when it looks at what has been mapped.
what_a_program_opens_under_our_numbers_is_its_own()
{
	# shellcheck disable=SC2016 # the other shell expands it
	as_user env LD_PRELOAD=libgprof-self.so \
		'GPROF=cpu,hz=1000,out=own.pb.gz;trace,out=own.trace;counters,event=timer' bash -c '
		before=" $(echo /proc/$$/fd/*) "
		sleep 1
		for fd in /proc/$$/fd/*; do
			[ "${before#* $fd }" != "$before" ] || continue
			fd=${fd##*/}
			[ "$fd" -gt 9 ] || continue
			numbers="$numbers $fd"
			eval "exec $fd>&-; exec $fd>own.$fd"
		done
		"$0" 3000000
		sleep 2
		for fd in $numbers; do
			echo "$fd" >&"$fd"
		done
		echo "$numbers"' "$here/flags_self" >out 2>err
	cat out err
	[ "$(find . -name 'own.[0-9]*' | wc -l)" -gt 5 ] || fail "nothing was open"
	for file in own.[0-9]*; do
		[ "$(cat "$file")" = "${file#own.}" ] || { od -c "$file" | head; fail "$file"; }
	done
	[ "$(wc -l <err)" -eq 1 ]
	grep -q '^gprof: .*the program has closed it' err
	[ ! -e own.pb.gz ] && [ ! -e own.trace ]
	[ "$(find . -name 'own.*.new' | wc -l)" -eq 0 ]
	# what lies low is the program's alone
	as_user env LD_PRELOAD=libgprof-self.so GPROF=cpu,out=low.pb.gz bash -c '
		ls /proc/self/fd /proc/$$/fd' >out
	cat out
	awk '$1 ~ /^[0-9]+$/ && $1 > 4 && $1 < 255 { bad = 1 } END { exit bad }' out
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

tests_of_the_kernel_have_a_profile_each()
{
	mkdir -m 777 profiles
	cat >fails <<-END
		#!/bin/bash
		"$here/flags_self" 3000000
		exit 4
	END
	chmod 755 fails
	got=0
	as_user sh "$here/kselftest.sh" profiles "$here/flags_self" ./fails /bin/true >out 2>err || got=$?
	cat out err
	[ $got -eq 4 ]
	[ "$(grep -c primes out)" -eq 2 ]
	[ ! -s err ]
	for test in flags_self fails; do
		gprofctl top -n 1000 profiles/$test.pb.gz >top.txt
		mostly_primes || {
			cat top.txt
			fail "$test"
		}
	done
	gprofctl top -n 1000 profiles/true.pb.gz
}

# Where it is looked for, and with whose libraries: those of whoever has brought it.
ctest()
{
	set -- /share/ctest "$@"
	as_user /share/lib/ld-linux-x86-64.so.2 --library-path /share/lib "$@"
}

tests_of_ctest_have_a_profile_beside_their_log()
{
	[ -x /share/ctest ] || skip "no ctest in /share"
	cd /share/build || fail "no build"
	got=0
	ctest --output-on-failure >out || got=$?
	cat out
	# as without profiles: one has failed
	[ $got -eq 8 ]
	grep -q '75% tests passed, 1 tests failed out of 4' out
	for profile in primes.cpu fails.cpu flags; do
		gprofctl top -n 1000 $profile.pb.gz >top.txt
		mostly_primes || {
			cat top.txt
			fail "$profile"
		}
	done
	[ "$(find . -name '*.pb.gz' | wc -l)" -eq 3 ]
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
	for query in 'profile?seconds=1&hz=500' 'profile?pid=1' 'task?debug=2' \
			'task?comm=a%26b'; do
		LC_ALL=C perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0);
			connect($s, sockaddr_un("self.sock")) or die;
			syswrite $s, "GET /debug/pprof/$ARGV[0] HTTP/1.0\r\nHost: x\r\n\r\n";
			print while <$s>' "$query" >answer
		head -n 1 answer
		sed '1,/^\r$/d' answer >"page.${query%%\?*}.${query##*=}"
	done
	exec 3>&-
	wait $server
	gprofctl top -n 1000 page.profile.500 >top.txt
	cat top.txt
	mostly_primes
	grep -q 'one target alone is recorded' page.profile.1
	grep -q ': serve_self (process ' page.task.2
	grep -q 'an argument is too long' 'page.task.a%26b'
	[ ! -e self.sock ]
	got=0
	as_user "$here/serve_self" "$(printf '%0200d' 0)" </dev/null 2>err || got=$?
	cat err
	[ $got -eq 1 ]
	grep -q 'not serving: File name too long' err
}

ktap_run example_runs_without_privilege its_profile_shows_its_work its_profile_leads_down_to_main \
	one_that_fails_has_its_last_seconds one_that_is_linked_with_the_core_alone_has_them_too \
	its_profile_of_addresses_is_named_later flags_record_and_are_gone flags_of_no_sense_are_told_before_it_works \
	flags_count_without_samples any_program_records_itself \
	a_program_that_ends_by_exit_of_the_kernel_is_written_too memory_is_the_programs_own \
	what_a_program_opens_under_our_numbers_is_its_own a_program_that_cannot_be_recorded_runs \
	tests_of_the_kernel_have_a_profile_each tests_of_ctest_have_a_profile_beside_their_log \
	one_shows_its_own_profiles example_says_what_is_wrong
