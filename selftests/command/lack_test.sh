#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# lack_test.sh: what a kernel was built without is told before a command runs, with what
# would bring it, and all else works. For a kernel that has next to nothing (row bare).

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl
# shellcheck source=/dev/null
. "$here/command.sh"

# lacks FEATURE: as gprofctl info has it; or the test is left out
lacks()
{
	gprofctl info >has
	! grep -q "^  $1 *yes" has || skip "this kernel has $1"
	grep "^  $1 *no" has
}

# advised WORD: doctor warns of it, and the line below says what to do
advised()
{
	gprofctl doctor >told
	grep -A 1 "^warn.*$1" told | grep -q '^ *->' || fail "no advice on $1: $(cat told)"
}

doctor_fails_nowhere()
{
	run 0 gprofctl doctor
	! grep -q '^fail' out
}

timers_that_come_with_ticks_are_told()
{
	grep -q '^ *\.resolution: *1 nsecs' /proc/timer_list 2>/dev/null &&
		skip "this kernel has fine timers"
	advised 'no more than 100 samples'
}

# What is missing samples is not missing time.
few_samples_stand_for_all_the_time()
{
	run 0 gprofctl cpu -F 1000 -o x.pb.gz -- "$here/burner" 500
	gprofctl top -n 1000 x.pb.gz | tee top
	# 500 ms, and what it took to get there
	sed -n 's/.*, Total = \([0-9.]*\) ms .*/\1/p' top | awk '{ ok = $1 >= 490 && $1 < 800 } END { exit !ok }'
}

no_cgroups_are_told_and_refused()
{
	lacks cgroup
	advised 'no cgroups'
	! grep -q 'mount -t cgroup2' told
	refused 1 CONFIG_CGROUPS gprofctl cpu -G /sys/fs/cgroup -d 1 -o x.pb.gz
}

page_faults_without_a_probe_are_refused()
{
	lacks sched_faults
	refused 1 CONFIG_KPROBES gprofctl schedstat --faults -- touch ran
	[ ! -e ran ] || fail "the command ran"
}

ends_without_a_probe_are_refused()
{
	[ ! -e /sys/kernel/debug/kprobes ] || skip "this kernel has kprobes"
	refused 1 CONFIG_KPROBES gprofctl heap --kernel -o x.pb.gz -- touch ran
	[ ! -e ran ] || fail "the command ran"
	! grep -q counter err
}

functions_without_a_probe_are_refused()
{
	lacks alloc_probes
	run 1 gprofctl alloc --uprobes -p $$ -d 1 -o x.pb.gz
	grep -q 'CONFIG_UPROBES, CONFIG_MEMCG and CONFIG_MMU_NOTIFIER' err
	[ ! -e x.pb.gz ] || fail "a file was left"
}

# By themselves, or why not: nothing is no answer.
what_programs_allocate_is_told_or_said_why_not()
{
	run 0 gprofctl alloc -v --every 1 -o x.pb.gz -- ls /
	[ "$(count read)" -gt 10 ] || grep -q 'libgprof-heap: .*CONFIG_ADVISE_SYSCALLS' err
}

frames_of_the_kernel_have_names()
{
	run 0 gprofctl cpu --kernel -o x.pb.gz -- \
		dd if=/dev/zero of=/dev/null bs=64k count=20000 status=none
	gprofctl collapsed x.pb.gz | tee stacks | head -n 20
	grep -q 'do_syscall_64.*read' stacks
}

ktap_run doctor_fails_nowhere timers_that_come_with_ticks_are_told \
	few_samples_stand_for_all_the_time no_cgroups_are_told_and_refused \
	page_faults_without_a_probe_are_refused ends_without_a_probe_are_refused \
	functions_without_a_probe_are_refused what_programs_allocate_is_told_or_said_why_not \
	frames_of_the_kernel_have_names
