#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# schedstat_test.sh: gprofctl schedstat and gprofctl serve, with numbers that are
# known, and what they say when something is wrong.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl setpriv
# shellcheck source-path=SCRIPTDIR source=../helpers/command.sh
. "$here/command.sh"
# shellcheck source-path=SCRIPTDIR source=../helpers/server.sh
. "$here/server.sh"

feature()
{
	gprofctl info --json | jq -e ".data.features[] | select(.name == \"$1\").available" >/dev/null
}

# ---- schedstat ----

forks_of_a_command_are_counted_exactly()
{
	run 0 gprofctl schedstat --json -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done'
	[ "$(jq .data.total_task out)" -eq 10 ]
	[ "$(jq .data.num_task out)" -eq 0 ]
}

switches_are_those_of_the_kernel()
{
	# shellcheck disable=SC2016 # perl expands them
	run 0 gprofctl schedstat --json -- perl -e '
		select undef, undef, undef, 0.001 for 1 .. 200;
		open my $f, "<", "/proc/self/status";
		/ctxt_switches:\s+(\d+)/ and $n += $1 while <$f>;
		open my $out, ">", "switches";
		print $out $n;'
	kernel=$(cat switches)
	ours=$(jq .data.total_switches out)
	echo "the kernel has $kernel switches, gprof $ours"
	[ "$kernel" -ge 200 ]
	# what came before the command began, and its end, where RT waits for locks
	[ "$ours" -ge $((kernel - 10)) ]
	[ "$ours" -le $((kernel + 10)) ]
}

a_histogram_has_every_delay()
{
	run 0 gprofctl schedstat --json -- sh -c 'for i in 1 2 3 4 5; do /bin/true; done'
	jq -e '.data | .delay_ns.count + .missed >= .total_task_exec and
		.delay_ns.count <= .total_task_exec and
		.delay_ns.count == (.delay_ns.buckets | map(.count) | add) and
		.delay_ns.p50 <= .delay_ns.p99 and .delay_ns.p99 <= .delay_ns.largest and
		.delay_ns.largest <= .delay_ns.sum' out
}

system_calls_are_counted_when_asked_for()
{
	feature sched_sys_calls || skip "this kernel has no tracepoints of system calls"
	run 0 gprofctl schedstat --syscalls --metric total_sys_calls -- \
		dd if=/dev/zero of=/dev/null bs=1 count=10000 status=none
	[ "$(cat out)" -ge 20000 ]
	[ "$(cat out)" -le 21000 ]
}

page_faults_are_counted_when_asked_for()
{
	feature sched_faults || skip "this kernel has no probes of page faults"
	run 0 gprofctl schedstat --faults --metric total_faults -- /bin/true
	[ "$(cat out)" -ge 20 ]
}

what_is_not_counted_is_refused_before_the_command_runs()
{
	refused 2 --syscalls gprofctl schedstat --metric total_sys_calls -- touch ran
	[ ! -e ran ] || fail "the command ran"
}

every_interval_has_a_line_and_no_total_goes_back()
{
	run 0 gprofctl schedstat --stall -i 0.5 -d 2.2 --json
	[ "$(wc -l <out)" -ge 3 ]
	jq -se '[.[].data | [.total_task_exec, .total_task_sched, .total_switches, .delay_ns.count,
			.stall_ns, .time_ns, .total_task]] as $r |
		all(range(1; $r | length); . as $i |
			all(range(0; 7); $r[$i][.] >= $r[$i - 1][.]))' out
}

samples_follow_the_rate()
{
	run 0 gprofctl schedstat --rate 0 --json -d 1
	[ "$(jq .data.num_samples out)" -eq 0 ]
	perf bench sched pipe -l 1000000 >/dev/null 2>&1 &
	bench=$!
	sleep 1
	run 0 gprofctl schedstat --rate 20 --json -d 3
	kill $bench || true
	[ "$(jq .data.num_samples out)" -ge 10 ]
	[ "$(jq .data.num_samples out)" -le 70 ]
	jq -e '.data | [.sched_delay_ns[:.num_samples][] | select(. > 0)] | length > 0' out
}

a_process_a_thread_and_a_cgroup_are_counted()
{
	sleep 100 &
	pid=$!
	run 0 gprofctl schedstat -p $pid -d 0.5 --json
	[ "$(jq .data.num_task out)" -eq 1 ]
	run 0 gprofctl schedstat -t $pid -d 0.5 --json
	[ "$(jq .data.num_task out)" -eq 1 ]
	if [ -e /sys/fs/cgroup/cgroup.procs ]; then
		group=/sys/fs/cgroup/schedstat_test.$$
		mkdir $group
		echo $pid >$group/cgroup.procs
		got=0
		gprofctl schedstat -G $group -d 0.5 --metric num_task >out || got=$?
		echo $pid >/sys/fs/cgroup/cgroup.procs
		rmdir $group
		[ $got -eq 0 ]
		[ "$(cat out)" -eq 1 ]
	fi
	kill $pid
}

# watch COMMAND...: in the background, until its first line is there; sets watch
watch()
{
	: >out
	# sh has its background ignore SIGINT
	env --default-signal=INT "$@" >out 2>err &
	watch=$!
	watch_tries=0
	until [ -s out ]; do
		watch_tries=$((watch_tries + 1))
		[ $watch_tries -lt 600 ] || fail "nothing was said within a minute: $(cat err)"
		sleep 0.1
	done
}

it_ends_with_its_process()
{
	sleep 1000 &
	task=$!
	watch gprofctl schedstat -p $task -i 1 --json
	kill $task
	wait $watch || fail "status $?"
	[ "$(tail -n 1 out | jq .data.num_task)" -eq 0 ]
}

an_interrupt_ends_it_with_a_last_reading()
{
	watch gprofctl schedstat -i 3 --json
	kill -INT $watch
	wait $watch || fail "status $?"
	[ "$(wc -l <out)" -ge 2 ]
}

commands_status_is_passed_on()
{
	run 7 gprofctl schedstat --metric total_task -- sh -c 'exit 7'
	run 127 gprofctl schedstat -- /nonexistent
}

own_command_needs_no_privilege_and_the_host_does()
{
	run 0 as_user gprofctl schedstat --json -- sh -c '/bin/true; /bin/true'
	[ "$(jq .data.total_task out)" -le 2 ]
	[ "$(jq .data.total_switches out)" -gt 0 ]
	refused 1 CAP_PERFMON as_user gprofctl schedstat -d 1
	refused 1 CAP_PERFMON as_user gprofctl schedstat -p 1 -d 1
}

nonsense_is_told()
{
	refused 2 total_switches gprofctl schedstat --metric total_swiches
	refused 2 --rate gprofctl schedstat --rate 100001
	refused 2 -i gprofctl schedstat -i 0
	refused 2 exclude gprofctl schedstat --json --openmetrics
	refused 1 "single CPUs" gprofctl schedstat -C 0 -d 1
	refused 1 "no such" gprofctl schedstat -p 4000000 -d 1
	refused 1 /sys/fs/cgroup gprofctl schedstat -G /nonexistent -d 1
}

a_full_disk_is_told()
{
	got=0
	gprofctl schedstat -d 0.2 >/dev/full 2>err || got=$?
	cat err
	[ $got -eq 1 ]
	grep -q 'No space left' err
}

metrics_are_listed()
{
	run 0 gprofctl schedstat --metric help
	for name in total_task_exec num_task_exec total_task_sched num_task_sched total_task \
		num_task total_faults num_faults total_sys_calls num_sys_calls max_procs num_procs \
		total_thread_starts num_threads sched_delay_ns num_samples sample_hz; do
		grep -q "^$name " out || fail "no $name"
	done
	[ "$(grep -c '(unstable)$' out)" -ge 2 ]
	! grep -v '^total_thread_starts\|^num_threads\|^missed\|^faults_missed' out | grep -q unstable
}

# ---- serve ----

# get PATH [ACCEPT [METHOD]]: head to head, page to page
get()
{
	# shellcheck disable=SC2016 # bash expands them
	bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1"
		printf "%s %s HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\nConnection: close\r\n\r\n" \
			"$4" "$2" "$3" >&3
		cat <&3' - "$port" "$1" "${2-*/*}" "${3-GET}" >answer
	tr -d '\r' <answer | sed '/^$/q' >top
	sed '1,/^\r$/d' answer >page
	head -n 1 top
}

metrics_are_served_in_the_format_that_is_asked_for()
{
	begin
	get /metrics 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5'
	grep -qx 'Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8' top
	[ "$(tail -n 1 page)" = "# EOF" ]
	grep -Eq '^gprof_sched_switches_total\{scope="system"\} [1-9]' page
	get /metrics text/plain
	grep -qx 'Content-Type: text/plain; version=0.0.4; charset=utf-8' top
	! grep -q EOF page
	get /schedstat
	grep -qx 'Content-Type: application/json' top
	jq -e '.data.total_switches > 0' page
	get /
	grep -q '<a href="/metrics">' page
	end
}

what_became_of_samples_is_served()
{
	begin
	"$here/burner" 120000 &
	burner=$!
	gprofctl cpu -F 1000 -p $burner -o x.pb.gz 2>err &
	cpu=$!
	wait_for_recorders 2
	sleep 2
	get /metrics text/plain
	run 0 gprofctl info --json
	kill $burner
	wait $cpu
	grep '^gprof_recorder_' page
	for what in produced read lost overwritten; do
		eval "$what=$(sed -n "s/^gprof_recorder_${what}_samples_total{.*kind=\"cpu\".*} //p" page)"
	done
	# shellcheck disable=SC2154 # by eval
	[ "$produced" -gt 0 ] && [ "$produced" -eq $((read + lost + overwritten)) ]
	jq -e '.data.recorders | map(.kind) | sort == ["cpu", "sched"]' out
	get /metrics text/plain
	! grep -q 'kind="cpu"' page
	end
}

a_server_ends_with_its_command()
{
	rm -f stop
	begin -- sh -c 'until [ -e stop ]; do sleep 0.2; done; exit 7'
	get /metrics text/plain
	: >stop
	grep -Eq '^gprof_sched_num_task\{scope="process",pid="[0-9]+"\} [12]$' page
	end_with 7
}

a_port_in_use_is_told_and_the_command_does_not_run()
{
	begin
	refused 1 "another program" gprofctl serve --listen "$port" -- touch ran
	[ ! -e ran ] || fail "the command ran"
	end
	refused 2 "no such address" gprofctl serve --listen nowhere.invalid:80
	refused 1 permission as_user gprofctl serve --listen 80
}

nothing_is_left_open()
{
	run 0 gprofctl info --json
	jq -e '.data.recorders == []' out
}

ktap_run forks_of_a_command_are_counted_exactly switches_are_those_of_the_kernel \
	a_histogram_has_every_delay system_calls_are_counted_when_asked_for \
	page_faults_are_counted_when_asked_for \
	what_is_not_counted_is_refused_before_the_command_runs \
	every_interval_has_a_line_and_no_total_goes_back samples_follow_the_rate \
	a_process_a_thread_and_a_cgroup_are_counted it_ends_with_its_process \
	an_interrupt_ends_it_with_a_last_reading commands_status_is_passed_on \
	own_command_needs_no_privilege_and_the_host_does nonsense_is_told a_full_disk_is_told \
	metrics_are_listed metrics_are_served_in_the_format_that_is_asked_for \
	what_became_of_samples_is_served a_server_ends_with_its_command \
	a_port_in_use_is_told_and_the_command_does_not_run nothing_is_left_open
