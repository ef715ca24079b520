#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# module_test.sh: the module comes and goes. Needs a machine of its own, and the
# module's file: $GPROF_KO, or gprof.ko below $GPROF_MODULES.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl

ko=${GPROF_KO:-${GPROF_MODULES:-.}/gprof.ko}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"; [ -e /sys/module/gprof ] || insmod "$ko"' EXIT
# a user works here too
chmod 777 "$dir"
cd "$dir" || exit 1

need_module()
{
	[ -e "$ko" ] || skip "no $ko: set GPROF_KO"
	[ -e /sys/module/gprof ] || insmod "$ko"
}

references() { cat /sys/module/gprof/refcnt; }

unload_is_refused_while_a_recorder_is_open()
{
	need_module
	exec 9<>/dev/gprof
	[ "$(references)" -gt 0 ]
	! rmmod gprof || fail "it was unloaded"
	exec 9>&-
	[ "$(references)" -eq 0 ]
}

unload_is_refused_while_something_is_recorded()
{
	need_module
	"$here/burner" 120000 &
	pid=$!
	gprofctl cpu -p $pid -d 5 -o x.pb.gz &
	recorder=$!
	wait_for_recorders 1
	! rmmod gprof || fail "it was unloaded"
	wait $recorder
	kill $pid
}

# Probes of tracepoints stay for some seconds after the last recorder that had them.
unload_does_not_wait_for_what_lingers()
{
	need_module
	gprofctl trace -d 1 -o x.trace -p $$
	rm -f x.trace
	before=$(date +%s%N)
	rmmod gprof
	[ $(($(date +%s%N) - before)) -lt 2500000000 ]
	# each would call what is not there any more
	for i in 1 2 3 4 5 6 7 8 9; do
		(sleep 0.01) || return
	done
	need_module
}

unload_leaves_no_device_and_no_parameter()
{
	need_module
	rmmod gprof
	[ ! -e /dev/gprof ]
	[ ! -e /sys/module/gprof ]
	! grep -q gprof /proc/misc
}

as_user() { setpriv --reuid 1000 --regid 1000 --clear-groups "$@"; }

load_brings_the_device_for_root_alone()
{
	need_module
	[ -c /dev/gprof ]
	[ "$(stat -c %a:%U /dev/gprof)" = 600:root ]
	! as_user sh -c 'exec 9<>/dev/gprof' || fail "a user opened it"
	! as_user gprofctl cpu -d 0.1 -o y.pb.gz -- true 2>err || fail "a user recorded"
	cat err
	grep -q 'chmod a+rw /dev/gprof' err
	grep -q 'udev' err
	[ ! -e y.pb.gz ]
}

a_mode_lets_users_in_and_what_they_may_record_stays_the_same()
{
	need_module
	chmod 666 /dev/gprof
	status=0
	as_user sh -c 'exec 9<>/dev/gprof' || status=1
	as_user gprofctl cpu -a -d 0.1 -o /dev/null 2>err && status=2
	chmod 600 /dev/gprof
	cat err
	grep -q CAP_PERFMON err
	[ $status = 0 ]
}

load_and_unload_in_a_loop_leave_no_memory()
{
	need_module
	for i in 1 2 3 4 5 6 7 8 9 10; do
		gprofctl cpu -F 1000 -o x.pb.gz -- "$here/burner" 50
		rmmod gprof
		insmod "$ko"
		[ $i -ne 3 ] || before=$(awk '/^VmallocUsed:/ { print $2 }' /proc/meminfo)
	done
	after=$(awk '/^VmallocUsed:/ { print $2 }' /proc/meminfo)
	echo "vmalloc: $before KiB after 3, $after KiB after 10"
	[ "$after" -le $((before + 512)) ]
}

command_says_that_the_module_is_missing()
{
	need_module
	rmmod gprof
	rm -f x.pb.gz ran
	got=0
	gprofctl cpu -o x.pb.gz -- touch ran 2>err || got=$?
	cat err
	insmod "$ko"
	[ $got -eq 1 ]
	[ "$(wc -l <err)" -eq 1 ]
	grep -q 'modprobe\|insmod\|not loaded' err
	[ ! -e ran ]
	[ ! -e x.pb.gz ]
}

doctor_says_that_the_module_is_missing()
{
	need_module
	rmmod gprof
	got=0
	gprofctl doctor >out || got=$?
	cat out
	insmod "$ko"
	[ $got -eq 1 ]
	grep -q '^fail.*module' out
}

kernel_log_names_the_module_once()
{
	need_module
	rmmod gprof
	dmesg -C
	insmod "$ko"
	gprofctl cpu -o x.pb.gz -- true
	dmesg
	# nothing is printed while recording
	[ "$(dmesg | wc -l)" -le 2 ]
}

now_ms() { awk '{ print int($1 * 1000) }' /proc/uptime; }

# The hog has CPU 1 for itself for 6 s, and holds up grace periods meanwhile.
unload_ends_with_a_task_of_real_time_and_says_what_it_waits_for()
{
	need_module
	[ "$(nproc)" -gt 1 ] || skip "needs two CPUs"
	limit=$(cat /proc/sys/kernel/sched_rt_runtime_us)
	echo -1 >/proc/sys/kernel/sched_rt_runtime_us
	taskset -p -c 0 $$ >/dev/null
	gprofctl trace -a -d 1 -o x.trace &
	recorder=$!
	wait_for_recorders 1
	(timeout 6 chrt -f 50 taskset -c 1 sh -c 'while :; do :; done' || now_ms >hog_end) &
	hog=$!
	wait $recorder
	dmesg -C
	begun=$(now_ms)
	rmmod gprof
	unloaded=$(now_ms)
	wait $hog
	echo "$limit" >/proc/sys/kernel/sched_rt_runtime_us
	taskset -p -c "0-$(($(nproc --all) - 1))" $$ >/dev/null
	echo "unloaded in $((unloaded - begun)) ms, $((unloaded - $(cat hog_end))) ms after the hog"
	dmesg
	[ $((unloaded - $(cat hog_end))) -le 2000 ]
	[ $((unloaded - begun)) -lt 2000 ] || dmesg | grep -q 'gprof: unloading waits for'
}

ktap_run unload_is_refused_while_a_recorder_is_open unload_is_refused_while_something_is_recorded \
	unload_does_not_wait_for_what_lingers unload_leaves_no_device_and_no_parameter \
	load_brings_the_device_for_root_alone \
	a_mode_lets_users_in_and_what_they_may_record_stays_the_same \
	load_and_unload_in_a_loop_leave_no_memory command_says_that_the_module_is_missing \
	doctor_says_that_the_module_is_missing kernel_log_names_the_module_once \
	unload_ends_with_a_task_of_real_time_and_says_what_it_waits_for
