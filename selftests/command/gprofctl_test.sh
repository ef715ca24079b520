#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# gprofctl_test.sh: the command, and above all what it says when something is
# wrong: one sentence, a status other than 0, and no file.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl jq setpriv
# shellcheck source-path=SCRIPTDIR source=../helpers/command.sh
. "$here/command.sh"

clean_up() { umount "$command_dir/full" 2>/dev/null; }

burner=$here/burner
line='^produced=[0-9]+ read=[0-9]+ lost=[0-9]+ overwritten=[0-9]+ throttled=[0-9]+ nmi=[0-9]+ irq=[0-9]+ task=[0-9]+$'

has_cycles() { perf stat -x , -e cycles:u true 2>&1 | grep -q '^[0-9]'; }

# ---- recording ----

recording_ends_with_its_counts()
{
	run 0 gprofctl cpu -v -o x.pb.gz -- "$burner" 300
	tail -n 1 err | grep -Eq "$line"
	[ "$(count produced)" -gt 0 ]
	[ "$(count produced)" -eq "$(($(count read) + $(count lost) + $(count overwritten)))" ]
	[ "$(count produced)" -eq "$(($(count nmi) + $(count irq) + $(count task)))" ]
}

file_has_what_was_read()
{
	run 0 gprofctl cpu -v -F 1000 -o x.pb.gz -- "$burner" 300
	read=$(count read)
	run 0 gprofctl top x.pb.gz --type samples
	grep -q "Total = $read\$" out
}

output_is_named_after_the_recording_by_default()
{
	rm -f cpu.pb.gz profile.pb.gz block.pb.gz mutex.pb.gz alloc.pb.gz heap.pb.gz
	run 0 gprofctl cpu -- true
	[ -s cpu.pb.gz ]
	run 0 gprofctl profile -e sched:sched_process_fork -- true
	[ -s profile.pb.gz ]
	run 0 gprofctl block -- true
	[ -s block.pb.gz ]
	run 0 gprofctl mutex -- true
	[ -s mutex.pb.gz ]
	run 0 gprofctl alloc --kernel -- true
	[ -s alloc.pb.gz ]
	run 0 gprofctl heap --kernel -- true
	[ -s heap.pb.gz ]
}

output_goes_to_stdout_when_asked_to()
{
	gprofctl cpu -o - -- "$burner" 100 >stdout
	gprofctl top - <stdout
}

commands_output_is_left_alone()
{
	run 0 gprofctl cpu -o x.pb.gz -- sh -c 'echo to stdout; echo to stderr >&2'
	[ "$(cat out)" = "to stdout" ]
	[ "$(head -n 1 err)" = "to stderr" ]
}

commands_status_is_passed_on()
{
	run 7 gprofctl cpu -o x.pb.gz -- sh -c 'exit 7'
	run 0 gprofctl cpu -o x.pb.gz -- true
	run 143 gprofctl cpu -o x.pb.gz -- sh -c 'kill -TERM $$'
}

commands_that_cannot_be_executed_are_126_and_127()
{
	refused 127 /nonexistent gprofctl cpu -o x.pb.gz -- /nonexistent
	refused 126 /etc/passwd gprofctl cpu -o x.pb.gz -- /etc/passwd
}

recording_without_a_sample_is_a_profile()
{
	run 0 gprofctl cpu -F 1 -o x.pb.gz -- true
	run 0 gprofctl top x.pb.gz
}

duration_ends_the_recording_not_the_process()
{
	"$burner" 120000 &
	pid=$!
	begun=$(date +%s)
	run 0 gprofctl cpu -v -p $pid -d 1 -o x.pb.gz
	took=$(($(date +%s) - begun))
	kill -0 $pid || fail "the process is gone"
	kill $pid
	[ "$(count produced)" -gt 0 ]
	[ $took -ge 1 ]
	[ $took -le 60 ] || fail "took $took s"
}

# recorded: the names of the processes in a profile
recorded() { gprofctl collapsed x.pb.gz --by process | sed 's/ ([0-9]*);.*//' | sort -u; }

command_beside_a_target_is_the_clock()
{
	cp "$burner" ./clock
	"$burner" 120000 &
	pid=$!
	run 7 gprofctl cpu -v -F 1000 -p $pid -o x.pb.gz -- sh -c './clock 1000; exit 7'
	[ "$(count produced)" -gt 100 ] || fail "$(count produced) samples"
	[ "$(recorded)" = "${burner##*/}" ] || fail "not the process alone: $(recorded)"
	run 143 gprofctl cpu -v -F 1000 -a -o x.pb.gz -- sh -c './clock 1000; kill -TERM $$'
	recorded | grep -q '^clock$' || fail "the command is not in the host: $(recorded)"
	recorded | grep -q "^${burner##*/}$"
	run 127 gprofctl cpu -v -a -o y.pb.gz -- /nonexistent
	[ ! -e y.pb.gz ]
	kill -0 $pid || fail "the process is gone"
	kill $pid
}

first_end_of_clock_target_and_duration_counts()
{
	"$burner" 120000 &
	pid=$!
	begun=$(date +%s)
	run 3 gprofctl cpu -v -F 1000 -p $pid -d 0.5 -o x.pb.gz -- sh -c 'sleep 4; exit 3'
	[ $(($(date +%s) - begun)) -ge 4 ] || fail "it did not wait for the command"
	[ "$(count produced)" -lt 2000 ] || fail "$(count produced) samples: -d did not end it"
	run 4 gprofctl cpu -v -F 1000 -p $pid -d 60 -o x.pb.gz -- sh -c 'sleep 0.5; exit 4'
	[ $(($(date +%s) - begun)) -lt 60 ] || fail "the command's end did not end it"
	kill $pid
	"$burner" 1000 &
	run 0 gprofctl cpu -v -p $! -o x.pb.gz -- sh -c 'sleep 4; [ -s x.pb.gz ]'
}

command_is_a_clock_for_all_that_record()
{
	for what in block mutex alloc heap 'profile -e sched:sched_switch' stat \
		'record -e block -e cpu' trace 'flight --at-end -o snapshots' schedstat wall \
		latency 'timeline -o x.html'; do
		# shellcheck disable=SC2086,SC2016	# words; of the command's shell
		run 9 gprofctl $what -a -- sh -c 'sleep 0.3; echo "$LD_PRELOAD" >preloaded; exit 9'
		[ "$(cat preloaded)" = "" ] || fail "the command has $(cat preloaded)"
	done
	run 0 gprofctl top heap.pb.gz --type alloc_space
	grep -q 'alloc_pages\|kmem_cache_alloc\|kmalloc' out || fail "not what the kernel allocates"
	# shellcheck disable=SC2016	# of the command's shell
	run 0 gprofctl heap --user -a -- sh -c 'echo "$LD_PRELOAD"'
	[ "$(cat out)" = "" ]
}

recording_ends_with_its_process()
{
	"$burner" 15000 &
	run 0 gprofctl cpu -v -p $! -d 60 -o x.pb.gz
	[ "$(count produced)" -gt 0 ]
}

interrupt_ends_the_recording_with_a_profile()
{
	"$burner" 120000 &
	pid=$!
	# a shell ignores SIGINT for what it runs in the background
	run 0 timeout --foreground --preserve-status -s INT 8 gprofctl cpu -v -p $pid -o x.pb.gz
	kill $pid
	[ "$(count produced)" -gt 0 ]
	run 0 gprofctl top x.pb.gz
}

children_are_recorded_too()
{
	run 0 gprofctl cpu -v -F 1000 -o x.pb.gz -- sh -c "$burner 200; $burner 200"
	[ "$(count produced)" -gt 50 ]
	run 0 gprofctl top x.pb.gz
	grep -q burn_ns out
}

# "TIME SAMPLES" of each slice
slices() { gprofctl csv x.pb.gz --type samples --by label=time | awk -F, '$1 ~ /^[0-9]+$/ { print $1, $6 }' | sort -n; }

# A busy part, a quiet one, a busy one: what was read is in slices of the busy ones, as it was.
samples_tell_their_slice_and_their_parent()
{
	run 0 gprofctl cpu -v -F 1000 --slices 100ms -o x.pb.gz -- sh -c "$burner 500; sleep 1; $burner 500"
	[ "$(count produced)" -eq "$(($(count read) + $(count lost) + $(count overwritten)))" ]
	slices | tee slices
	awk -v read="$(count read)" '{ sum += $2; bad += $1 % 100000000 }
		NR > 1 && $1 - last > 700000000 { quiet++ }
		{ last = $1 }
		END { exit sum != read || bad || quiet != 1 || NR < 8 || last > 20000000000 }' slices
	gprofctl csv x.pb.gz --by process | sed -n 's/^sh (\([0-9]*\)),.*/\1/p' | tee shell
	[ -s shell ]
	# both of them are children of the shell, which is one of gprofctl
	[ "$(gprofctl csv x.pb.gz --by process --label ppid="$(cat shell)" | grep -c "^${burner##*/} (")" = 2 ]
	run 0 gprofctl cpu -F 1000 -o x.pb.gz -- "$burner" 200
	[ -z "$(slices)" ]
	# view asks for them, unless it is told how long they are
	run 0 gprofctl view -o page -F 1000 -o x.pb.gz -- "$burner" 200
	[ "$(slices | wc -l)" -ge 10 ]
	grep -q '"keys":\["process","cgroup","time",' page
	run 0 gprofctl view -o page cpu -F 1000 --slices 10s -o x.pb.gz -- "$burner" 200
	[ "$(slices | cut -d ' ' -f 1)" = 0 ]
	run 2 gprofctl cpu --slices 100us -- true
	grep -q 'a time of 1ms at least' err
}

# Whichever of its threads takes most.
processes_are_called_as_their_first_thread()
{
	run 0 gprofctl cpu -F 999 -o x.pb.gz -- "$here/truth_waits" 100
	run 0 gprofctl top --by comm x.pb.gz
	grep -q ' spin$' out
	run 0 gprofctl top -n 1000 --by process x.pb.gz
	grep -q ' truth_waits ([0-9]*)$' out
	! grep -q ' spin (' out
	# those of the kernel are called so too
	run 0 gprofctl block --kernel -a -d 1 -o x.pb.gz
	run 0 gprofctl top --by process -n 1000 x.pb.gz
	grep -q ' rcu_[a-z]* ([0-9]*)$' out
}

one_thread_is_recorded()
{
	"$burner" 120000 &
	pid=$!
	run 0 gprofctl cpu -v -t $pid -d 1 -o x.pb.gz
	kill $pid
	[ "$(count produced)" -gt 0 ]
}

whole_host_and_single_cpus_are_recorded()
{
	"$burner" 120000 &
	pid=$!
	run 0 gprofctl cpu -v -a -d 1 -o x.pb.gz
	[ "$(count produced)" -gt 0 ]
	run 0 gprofctl top x.pb.gz
	grep -q burn_ns out
	taskset -cp 0 $pid
	run 0 gprofctl cpu -v -C 0 -d 1 -o x.pb.gz
	kill $pid
	[ "$(count produced)" -gt 0 ]
	run 0 gprofctl top x.pb.gz
	grep -q burn_ns out
}

cgroup_is_recorded()
{
	[ -e /sys/fs/cgroup/cgroup.procs ] || skip "no cgroup v2 here"
	group=/sys/fs/cgroup/gprofctl_test.$$
	mkdir $group
	"$burner" 120000 &
	pid=$!
	echo $pid >$group/cgroup.procs
	run 0 gprofctl cpu -v -G $group -d 1 -o x.pb.gz
	kill $pid
	wait $pid || true
	rmdir $group
	[ "$(count produced)" -gt 0 ]
}

several_events_have_an_output_each()
{
	has_cycles || skip "perf has no cycles here"
	run 0 gprofctl cpu -e timer -o x.pb.gz -e cycles:1M -o y.pb.gz -- "$burner" 300
	run 0 gprofctl top x.pb.gz
	grep -q '^Type: cpu' out
	run 0 gprofctl top y.pb.gz
	grep -q '^Type: cycles' out
}

tracepoint_hits_are_counted_exactly()
{
	run 0 gprofctl profile -v -e sched:sched_process_fork -o x.pb.gz -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done'
	[ "$(count produced)" -eq 10 ]
	[ "$(count task)" -eq 10 ]
	run 0 gprofctl top -n 1000 x.pb.gz
	grep -q 'Total = 10$' out
	grep -q kernel_clone out
}

several_tracepoints_have_an_output_each()
{
	run 0 gprofctl profile -v -e sched:sched_process_fork -o x.pb.gz \
		-e sched:sched_process_exec -o y.pb.gz -e page-faults -o z.pb.gz -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done'
	grep -q '^event=sched:sched_process_fork produced=10 ' err
	# with that of sh itself
	grep -q '^event=sched:sched_process_exec produced=11 ' err
	run 0 gprofctl top z.pb.gz
	grep -q 'Total = [0-9.]\{3,\}\( k\)\?$' out
	refused 2 'wants an -o of its own' gprofctl profile -e sched:sched_switch -o x.pb.gz \
		-e sched:sched_waking -- true
	refused 1 'neither a tracepoint' gprofctl profile -e nonsense -- true
}

filter_is_for_the_event_before_it()
{
	run 0 gprofctl profile -v -e sched:sched_process_exec --filter "filename ~ '*/true'" \
		-o x.pb.gz -e sched:sched_process_fork -o y.pb.gz -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done'
	# but for that of sh itself
	grep -q '^event=sched:sched_process_exec produced=10 ' err
	grep -q '^event=sched:sched_process_fork produced=10 ' err
	refused 1 'at character 10, "and 1"' gprofctl profile -e sched:sched_process_exec \
		--filter 'pid != 1 and 1' -o x.pb.gz -- true
}

# no_probe_is_left: of the command's
no_probe_is_left()
{
	! grep gprof/ /sys/kernel/tracing/kprobe_events /sys/kernel/tracing/uprobe_events
}

probes_of_kernel_and_program_count_each_call()
{
	run 0 gprofctl profile -v --probe do_exit -o x.pb.gz \
		--probe "$burner:burn_ns" -o y.pb.gz --probe "$burner:burn_ns%return" -o z.pb.gz \
		--probe "$burner:burn_ns+0" --filter 'COMM == "nobody"' -o w.pb.gz -- \
		sh -c "$burner 10; $burner 10; $burner 10"
	# with that of sh itself
	grep -q '^event=kprobe:do_exit produced=4 ' err
	grep -q ':burn_ns produced=3 ' err
	grep -q ':burn_ns%return produced=3 ' err
	grep -q ':burn_ns+0 produced=0 ' err
	no_probe_is_left
	run 0 gprofctl top -n 1000 y.pb.gz
	grep -q 'burn_ns' out
}

probe_that_cannot_be_is_refused()
{
	refused 1 'no such function' gprofctl profile --probe no_such_function -o x.pb.gz -- true
	refused 1 'no function nonsense' gprofctl profile --probe "$burner:nonsense" -o x.pb.gz -- true
	refused 1 /nonexistent gprofctl profile --probe /nonexistent:main -o x.pb.gz -- true
	refused 1 'neither a program' gprofctl profile --probe /etc/passwd:main -o x.pb.gz -- true
	refused 1 'is written' gprofctl profile --probe 'do_exit+x' -o x.pb.gz -- true
	refused 1 'is written' gprofctl profile --probe 'do_exit%later' -o x.pb.gz -- true
	# the first of them has been made by then
	refused 1 'no such function' gprofctl profile --probe do_exit -o x.pb.gz \
		--probe no_such_function -o y.pb.gz -- true
	no_probe_is_left
}

# One that is killed leaves its probe behind, which the next removes.
probe_of_the_dead_is_removed()
{
	gprofctl profile --probe do_exit -a -d 100 -o x.pb.gz &
	pid=$!
	until grep gprof/ /sys/kernel/tracing/kprobe_events; do
		kill -0 $pid || fail "it has ended"
		sleep 0.1
	done
	kill -KILL $pid
	wait $pid || :
	grep -q gprof/ /sys/kernel/tracing/kprobe_events
	run 0 gprofctl profile --probe do_exit -o y.pb.gz -- true
	no_probe_is_left
}

# ---- counting ----

ten_forks='for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done'

# counted EVENT: from JSON
counted() { sed -n "s/.*\"event\": \"$1\".*\"count\": \([0-9]*\).*/\1/p" x.json; }

stat_counts_each_event_of_a_command_and_its_children()
{
	run 0 gprofctl stat --json -o x.json -e sched:sched_process_fork -e page-faults \
		-e context-switches -e timer -- sh -c "$ten_forks"
	cat x.json
	[ "$(counted sched:sched_process_fork)" -eq 10 ]
	# each program that is executed has some, and waits for, or is waited for, once
	[ "$(counted page-faults)" -gt 100 ]
	[ "$(counted context-switches)" -ge 10 ]
	[ "$(counted timer)" -gt 1000000 ]
}

software_events_are_sampled_each_time()
{
	run 0 gprofctl cpu -v -e page-faults -o x.pb.gz -- sh -c "$ten_forks"
	[ "$(count produced)" -gt 100 ]
	run 0 gprofctl top x.pb.gz
	grep -q "Total = $(gprofctl top x.pb.gz --type samples | sed -n 's/.*Total = //p')\$" out
	grep -q '^Type: page-faults' out
}

stat_counts_a_cgroup_alone()
{
	grep -q '^perf_event.*1$' /proc/cgroups || skip "perf counts no cgroups here"
	cgroup=/sys/fs/cgroup/gprofctl_stat.$$
	mkdir -p /sys/fs/cgroup
	[ -e /sys/fs/cgroup/cgroup.procs ] || mount -t cgroup2 none /sys/fs/cgroup
	# as wherever an init has been at work
	echo +pids >/sys/fs/cgroup/cgroup.subtree_control
	mkdir "$cgroup"
	[ -e "$cgroup/cgroup.procs" ] || skip "no cgroup v2 here"
	# others fork too, before and meanwhile
	sh -c "echo \$\$ >$cgroup/cgroup.procs; sleep 1; $ten_forks; sleep 3; true" &
	inside=$!
	(sleep 1; eval "$ten_forks") &
	outside=$!
	run 0 gprofctl stat --json -o x.json -G "$cgroup" -d 4 -e sched:sched_process_fork -e timer
	wait $inside $outside
	rmdir "$cgroup"
	cat x.json
	# 10, and the last sleep
	[ "$(counted sched:sched_process_fork)" -ge 10 ]
	[ "$(counted sched:sched_process_fork)" -le 13 ]
	[ "$(counted timer)" -gt 0 ]
}

stat_tells_ratios()
{
	has_cycles || skip "perf has no cycles here"
	perf stat -x , -e instructions:u true 2>&1 | grep -q '^[0-9]' ||
		skip "perf has no instructions here"
	run 0 gprofctl stat --json -o x.json -e cycles -e instructions -- "$burner" 200
	cat x.json
	ipc=$(sed -n 's/.*"instructions_per_cycle": \([0-9.]*\).*/\1/p' x.json)
	awk -v r="$ipc" -v i="$(counted instructions)" -v c="$(counted cycles)" \
		'BEGIN { exit !(r > 0.99 * i / c && r < 1.01 * i / c) }'
}

# More events than any PMU of a guest has counters: 4 to 8, and one for cycles alone.
events_that_take_turns_are_told()
{
	has_cycles || skip "perf has no cycles here"
	set --
	for event in 1 2 3 4 5 6 7 9 a b c d e f; do
		set -- "$@" -e "r$event"
	done
	run 0 gprofctl stat --json -o alone.json -e cycles -e timer -- "$burner" 400
	run 0 gprofctl stat --json -o x.json -e cycles -e timer "$@" -- "$burner" 1600
	cat alone.json x.json
	jq -e '.data.events[0] | .time_running_ns >= 0.995 * .time_enabled_ns' alone.json ||
		fail "one event alone takes turns"
	jq -e '[.data.events[] | select(.event != "timer") | .time_running_ns / .time_enabled_ns]
		| length == 15 and add > 3 and add < 10' x.json || fail "the shares make no sense"
	jq -e '.data.events[2:] | all(.time_running_ns < 0.99 * .time_enabled_ns)' x.json ||
		fail "one of these has never given way"
	jq -e '.data.events[] | select(.event == "cycles") | .scaled - .count * .time_enabled_ns / .time_running_ns
		| fabs <= 1' x.json || fail "cycles are not scaled by their share"
	# perf's rotation stops the counters for a while, the longer the slower the host is
	perf stat -x , -o perf.csv -e "$(echo cycles "$@" | sed 's/ -e /,/g')" -- "$burner" 1600
	cat perf.csv
	theirs=$(awk -F , '$3 ~ /^cycles/ { print $1 / ($4 * 100 / $5) }' perf.csv)
	jq -e --argjson theirs "$theirs" '.data.events[0] | .scaled / .time_enabled_ns / $theirs
		| . > 0.6 and . < 1.67' x.json || fail "scaled, cycles a second are not perf's $theirs"
	set --
	for event in 1 2 3 4 5 6 7 9 a b c d e f; do
		set -- "$@" -e "r$event:1000000" -o "r$event.pb.gz"
	done
	run 0 gprofctl cpu -e cycles -o x.pb.gz "$@" -- "$burner" 1600
	told=$(grep -c 'this event was counted [0-9.]* % of the time' err)
	[ "$told" -ge 12 ] || fail "$told events are said to have taken turns"
	run 0 gprofctl top x.pb.gz
	grep -q '^Comment: multiplexed: the counter ran [0-9.]* % of the time' out ||
		fail "the profile does not say it"
	rm -f r*.pb.gz alone.json perf.csv
}

stat_ends_as_the_command_does_and_beside_its_output()
{
	run 7 gprofctl stat -- sh -c 'echo it; exit 7'
	[ "$(cat out)" = it ]
	grep -q ' timer ' err
	grep -q ' passed$' err
}

stat_without_events_says_what_cannot_be_counted()
{
	has_cycles && skip "everything can be counted here"
	run 0 gprofctl stat -- true
	grep -q 'not counted  cycles.*no such hardware counter' err
	refused 1 'cycles: ' gprofctl stat -e cycles -- true
}

stat_of_the_kernel_alone_needs_the_privilege()
{
	run 0 as_user gprofctl stat -e timer -e page-faults -- "$burner" 100
	grep -q 'page-faults (user)' err
	refused 1 CAP_PERFMON as_user gprofctl stat -e context-switches -- true
	refused 1 CAP_PERFMON as_user gprofctl stat -a -d 1
	refused 1 no\ such\ event gprofctl stat -e nonsense -- true
	refused 1 nearest gprofctl stat -e sched:sched_process_frok -- true
	refused 2 twice gprofctl stat -e timer -e timer -- true
}

kernel_is_left_out_when_asked_to()
{
	run 0 gprofctl cpu -F 1000 -o x.pb.gz -- dd if=/dev/zero of=/dev/null bs=1M count=2000
	run 0 gprofctl top x.pb.gz -n 1000
	grep -q ksys_read out
	run 0 gprofctl cpu -F 1000 --user-only -o x.pb.gz -- \
		dd if=/dev/zero of=/dev/null bs=1M count=2000
	run 0 gprofctl top x.pb.gz -n 1000
	! grep -q ksys_read out
}

# ---- events that are not there ----

event_that_the_machine_lacks_is_refused_with_the_alternative()
{
	has_cycles && skip "the machine has cycles"
	refused 1 cycles gprofctl cpu -e cycles -o x.pb.gz -- touch ran
	grep -q -- '-e timer' err
	[ ! -e ran ] || fail "the command was run"
}

missing_event_among_others_refuses_all()
{
	refused 1 nonsense gprofctl cpu -e timer -o x.pb.gz -e nonsense -o cpu.pb.gz -- touch ran
	[ ! -e ran ] || fail "the command was run"
}

info_says_the_same_as_perf()
{
	run 0 gprofctl info --json
	if has_cycles; then want=true; else want=false; fi
	[ "$(jq '.data.events[] | select(.name == "cycles").available' out)" = $want ]
	[ "$(jq '.data.events[] | select(.name == "timer").available' out)" = true ]
	# whoever is not available says why
	[ "$(jq '[.data.events[] | select(.available | not) | select(.reason == "")] | length' out)" -eq 0 ]
	run 0 gprofctl info
}

events_that_are_not_there_are_refused()
{
	refused 1 1000000000 gprofctl cpu -F 1000000000 -o x.pb.gz -- true
	refused 1 nonsense gprofctl cpu -e nonsense -o x.pb.gz -- true
	refused 1 nonsense gprofctl cpu -e nonsense/cycles/ -o x.pb.gz -- true
	refused 1 sched:nonsense gprofctl profile -e sched:nonsense -o x.pb.gz -- true
}

# ---- targets that are not there ----

targets_that_are_not_there_are_refused()
{
	refused 1 'no such' gprofctl cpu -p 4194300 -o x.pb.gz
	refused 1 'no such' gprofctl cpu -t 4194300 -o x.pb.gz
	refused 1 CPU gprofctl cpu -C 999 -d 1 -o x.pb.gz
	refused 1 cgroup gprofctl cpu -G /tmp -d 1 -o x.pb.gz
}

# ---- privilege ----

user_records_their_own_command()
{
	run 0 as_user gprofctl cpu -v -F 1000 -o user.pb.gz -- "$burner" 1500
	[ "$(count produced)" -gt 20 ]
	run 0 gprofctl top -n 1000 user.pb.gz
	grep -q burn_ns out
}

user_is_refused_what_is_not_theirs()
{
	refused 1 '' as_user gprofctl cpu -p 1 -d 1 -o x.pb.gz
	grep -qi 'root\|CAP_PERFMON\|privilege' err
	refused 1 CAP_PERFMON as_user gprofctl cpu --kernel -o x.pb.gz -- true
	refused 1 CAP_PERFMON as_user gprofctl cpu -a -d 1 -o x.pb.gz
	refused 1 '' as_user gprofctl profile -e sched:sched_switch -o x.pb.gz -- true
}

debuginfod_without_a_server_is_refused()
{
	refused 1 DEBUGINFOD_URLS env -u DEBUGINFOD_URLS gprofctl cpu --debuginfod -- true
}

# ---- outputs that cannot be ----

outputs_that_cannot_be_are_refused_before_the_command_runs()
{
	refused 1 /nonexistent/x gprofctl cpu -o /nonexistent/x -- touch ran
	refused 1 "$command_dir" gprofctl cpu -o "$command_dir" -- touch ran
	[ ! -e ran ] || fail "the command was run"
}

full_disk_at_the_end_is_told()
{
	mkdir -p "$command_dir/full"
	mount -t tmpfs -o size=4k none "$command_dir/full"
	echo >"$command_dir/full/takes the only page"
	run 1 gprofctl cpu -v -F 1000 -o "$command_dir/full/x.pb.gz" -- "$burner" 300
	grep -q 'No space left on device' err
	grep -q "$command_dir/full/x.pb.gz" err
	[ ! -s "$command_dir/full/x.pb.gz" ] || fail "half a profile was left"
	tail -n 1 err | grep -Eq "$line"
}

recording_says_where_it_is_and_keeps_what_was_there()
{
	rm -f x.pb.gz x.pb.gz~
	run 0 gprofctl cpu -F 1000 -o x.pb.gz -- "$burner" 200
	grep -q '^gprofctl: x.pb.gz: [0-9]* samples, [0-9]* KiB; gprofctl view x.pb.gz' err
	[ ! -e x.pb.gz~ ]
	[ "$(wc -l <err)" = 1 ] || fail "all is well, and it says more"
	cp x.pb.gz first
	run 0 gprofctl cpu -v -F 1000 -o x.pb.gz -- "$burner" 200
	cmp first x.pb.gz~
	grep -q 'is now x.pb.gz~' err
	run 0 gprofctl top x.pb.gz
	# what fails leaves both as they are
	cp x.pb.gz second
	got=0
	gprofctl cpu -v -o x.pb.gz -- /nonexistent || got=$?
	[ $got -eq 127 ]
	cmp second x.pb.gz
	cmp first x.pb.gz~
}

names_of_perf_are_understood()
{
	run 0 gprofctl cpu -e cpu-clock -F 1000 -o x.pb.gz -- "$burner" 100
	run 0 gprofctl top x.pb.gz
	grep -q '^Type: cpu' out
	run 0 gprofctl cpu -e faults:1 -o x.pb.gz -- true
	run 0 gprofctl cpu -e task-clock:u -F 1000 -o x.pb.gz -- "$burner" 100
	run 0 gprofctl top x.pb.gz --by module -n 100
	! grep -q ' kernel$' out
	has_cycles || return 0
	run 0 gprofctl cpu -e cpu-cycles:u -F 1000 -o x.pb.gz -- "$burner" 100
	grep -q 'cycles: -F 1000 is taken as cycles:2400000' err
	run 0 gprofctl top x.pb.gz
	grep -q '^Type: cycles' out
}

# ---- usage ----

version_is_told()
{
	run 0 gprofctl --version
	grep -Eq '^gprofctl [0-9]+\.[0-9]+\.[0-9]+$' out
}

doctor_finds_nothing_that_fails()
{
	run 0 gprofctl doctor
	! grep -q '^fail' out
}

waits_are_told_with_their_wakers()
{
	run 0 gprofctl block -v -o x.pb.gz --waker y.pb.gz -- sh -c 'sleep 0.1; sleep 0.2'
	[ "$(grep -c '^event=block' err)" -eq 2 ]
	run 0 gprofctl top x.pb.gz
	grep -q '^Type: delay' out
	# each sleep, and the shell that waits for it
	sed -n 's/.*Total = \([0-9.]*\) \(m\?s\) .*/\1 \2/p' out |
		awk '{ ms = $1 * ($2 == "s" ? 1000 : 1); n++ }
			END { print ms " ms"; exit n != 1 || ms < 600 || ms > 5000 }'
	run 0 gprofctl top -n 1000 y.pb.gz --type contentions --all-waits
	grep -q 'hrtimer' out
	run 0 gprofctl block -v --user-only -o x.pb.gz -- sleep 0.1
	run 0 gprofctl top -n 1000 x.pb.gz
	! grep -q schedule out
	run 0 gprofctl block -v -o x.pb.gz -- sleep 0.1
	grep -q 'user stacks are complete' err
	run 0 gprofctl block -v --no-unwind-tables -o x.pb.gz -- sleep 0.1
	! grep -q 'user stacks are complete' err
}

# In place of a file; the status of the command is passed on.
a_target_is_recorded_and_shown_in_one_step()
{
	rm -f cpu.pb.gz block.pb.gz
	# shellcheck disable=SC2016 # the command expands it
	run 3 gprofctl top --cum -- sh -c 'i=0; while [ $i -lt 99999 ]; do i=$((i + 1)); done; exit 3'
	grep -q '^Type: cpu' out
	cp out first
	run 0 gprofctl top --cum cpu.pb.gz
	cmp out first
	run 0 gprofctl top -n 1000 block --user-only -o y.pb.gz -- sleep 0.1
	grep -q '^Type: delay' out
	! grep -q schedule out
	! grep -q '\[unknown\]' out
	[ ! -e block.pb.gz ]
	run 0 gprofctl read --summary -- sleep 0.01
	[ -s trace.out ]
	# neither a command nor a recording
	cp cpu.pb.gz ./-x.pb.gz
	run 0 gprofctl top --cum -- -x.pb.gz
	grep -q '^Type: cpu' out
	[ ! -s err ]
	run 0 gprofctl top --cum --pid 1 cpu.pb.gz
	grep -q 'no sample has pid 1' err
	run 127 gprofctl top -- /no/such/program
	[ "$(wc -l <err)" = 1 ]
	# Ctrl-C ends the recording alone
	run 0 env --default-signal=INT timeout --preserve-status -s INT 2 gprofctl top -d 60 -a
	grep -q '^Type: cpu' out
}

tasks_are_told_with_their_losses()
{
	run 0 gprofctl task -v -a --format text
	grep -q '^# samples: produced=' out
	grep -q '^task profile: total ' out
	[ "$(count produced)" -gt 0 ]
	[ "$(count produced)" -eq "$(($(count read) + $(count lost) + $(count overwritten)))" ]
	run 0 gprofctl task -v -p $$ -o x.pb.gz
	grep -q 'x.pb.gz: .* KiB; gprofctl view x.pb.gz' err
	[ "$(count produced)" -gt 0 ]
	run 0 gprofctl top x.pb.gz
}

status_is_passed_on_where_children_are_ignored()
{
	run 3 sh -c "trap '' CHLD; exec gprofctl stat -- sh -c 'exit 3'"
}

several_kinds_of_one_run_have_a_file_each()
{
	rm -f cpu.pb.gz block.pb.gz mutex.pb.gz
	run 0 gprofctl record -v -e cpu:1000 -e block -e mutex -e block-waker:2 -o y.pb.gz -- \
		sh -c "sleep 0.1; $burner 300"
	cp err kinds.err
	[ "$(grep -c '^event=' kinds.err)" -eq 4 ]
	run 0 gprofctl top -n 1000 cpu.pb.gz
	grep -q '^Type: cpu' out
	grep -q burn_ns out
	run 0 gprofctl top -n 1000 block.pb.gz --all-waits --kernel-frames
	grep -q '^Type: delay' out
	# the sleep, and the shell that waits for it
	grep -q 'hrtimer_nanosleep\|nanosleep' out
	run 0 gprofctl top mutex.pb.gz
	grep -q '^Type: delay' out
	run 0 gprofctl top y.pb.gz --type contentions
	sed -n 's/^event=block-waker \(.*\)/\1/p' kinds.err | grep -Eq "$line"
	while read -r event produced read lost over rest; do
		[ "${produced#*=}" -eq $((${read#*=} + ${lost#*=} + ${over#*=})) ]
		[ "$event" = event=mutex ] || [ "${produced#*=}" -gt 0 ]
	done <<-END
		$(grep '^event=' kinds.err)
	END
}

# total TYPE: of x.pb.gz
total() { gprofctl top x.pb.gz --type "$1" --json | jq .data.total; }

a_task_that_runs_alone_has_its_time_as_latency_too()
{
	run 0 gprofctl cpu --latency -F 1000 -o x.pb.gz -- "$burner" 300
	run 0 gprofctl top x.pb.gz
	grep -q '^Type: cpu' out
	run 0 gprofctl top x.pb.gz --type latency
	grep -q '^Type: latency' out
	[ "$(total cpu)" ]
	[ "$(total cpu)" = "$(total latency)" ]
	run 0 gprofctl profile --latency -e page-faults -o x.pb.gz -- "$burner" 10
	[ "$(total events)" ]
	[ "$(total events)" = "$(total latency)" ]
	run 0 gprofctl record --latency -e cpu:1000 -o x.pb.gz -e block -- "$burner" 100
	[ "$(total cpu)" = "$(total latency)" ]
	# of a command 999 a second, as cpu has it
	run 0 gprofctl record -v -e cpu -o x.pb.gz -- "$burner" 200
	[ "$(count produced)" -ge 120 ] || fail "$(count produced) samples of 200 ms"
}

memory_of_the_kernel_is_told_by_where_it_is_asked_for()
{
	run 0 gprofctl heap -v --kernel --every 1 --buffer 4M -o x.pb.gz -- \
		sh -c "sleep 0.1; $burner 100"
	run 0 gprofctl top -n 1000 x.pb.gz --type alloc_space
	grep -q '^Type: alloc_space' out
	# what a program begins with
	grep -q 'load_elf_binary\|do_anonymous_page\|vma_alloc_folio\|alloc_pages' out
	run 0 gprofctl top x.pb.gz
	grep -q '^Type: inuse_space' out
	run 0 gprofctl record -v -e heap:4096 -o x.pb.gz -e alloc:4096 -o y.pb.gz -a -d 0.3
	[ "$(grep -c '^event=' err)" -eq 2 ]
	run 0 gprofctl top y.pb.gz
	grep -q '^Type: alloc_space' out
	refused 2 'wants bytes' gprofctl heap --kernel --every 0 -- true
}

kinds_that_make_no_sense_are_refused()
{
	refused 2 'wants a kind' gprofctl record -- true
	refused 2 'before every -e' gprofctl record -o x.pb.gz -e block -- true
	refused 2 'kind of profile' gprofctl record -e cpu/cycles/ -- true
	refused 2 'share the output' gprofctl record -e block -o x.pb.gz -e mutex -o x.pb.gz -- true
	refused 2 'excludes --waiter' gprofctl mutex --kernel-locks --waiter x.pb.gz -- true
	refused 2 'locks of the kernel' gprofctl mutex --lock-owner -o x.pb.gz -- true
	refused 1 'there are cpu, block' gprofctl record -e clock -- true
	[ ! -e clock.pb.gz ]
}

ktap_run recording_ends_with_its_counts file_has_what_was_read \
	output_is_named_after_the_recording_by_default output_goes_to_stdout_when_asked_to \
	commands_output_is_left_alone commands_status_is_passed_on \
	commands_that_cannot_be_executed_are_126_and_127 recording_without_a_sample_is_a_profile \
	duration_ends_the_recording_not_the_process recording_ends_with_its_process \
	command_beside_a_target_is_the_clock first_end_of_clock_target_and_duration_counts \
	command_is_a_clock_for_all_that_record interrupt_ends_the_recording_with_a_profile \
	children_are_recorded_too samples_tell_their_slice_and_their_parent processes_are_called_as_their_first_thread \
	one_thread_is_recorded whole_host_and_single_cpus_are_recorded cgroup_is_recorded \
	several_events_have_an_output_each tracepoint_hits_are_counted_exactly \
	several_tracepoints_have_an_output_each filter_is_for_the_event_before_it \
	probes_of_kernel_and_program_count_each_call probe_that_cannot_be_is_refused \
	probe_of_the_dead_is_removed waits_are_told_with_their_wakers \
	a_target_is_recorded_and_shown_in_one_step tasks_are_told_with_their_losses \
	status_is_passed_on_where_children_are_ignored several_kinds_of_one_run_have_a_file_each \
	memory_of_the_kernel_is_told_by_where_it_is_asked_for \
	a_task_that_runs_alone_has_its_time_as_latency_too kinds_that_make_no_sense_are_refused \
	kernel_is_left_out_when_asked_to stat_counts_each_event_of_a_command_and_its_children \
	software_events_are_sampled_each_time stat_counts_a_cgroup_alone stat_tells_ratios \
	events_that_take_turns_are_told stat_ends_as_the_command_does_and_beside_its_output \
	stat_without_events_says_what_cannot_be_counted \
	stat_of_the_kernel_alone_needs_the_privilege \
	event_that_the_machine_lacks_is_refused_with_the_alternative \
	missing_event_among_others_refuses_all info_says_the_same_as_perf \
	events_that_are_not_there_are_refused targets_that_are_not_there_are_refused \
	user_records_their_own_command user_is_refused_what_is_not_theirs \
	debuginfod_without_a_server_is_refused \
	outputs_that_cannot_be_are_refused_before_the_command_runs full_disk_at_the_end_is_told \
	recording_says_where_it_is_and_keeps_what_was_there names_of_perf_are_understood \
	version_is_told doctor_finds_nothing_that_fails
