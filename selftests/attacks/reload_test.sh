#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# reload_test.sh: the module is loaded and unloaded in a loop, while others open it,
# record, and are killed. Needs a machine of its own, and the module's file: $GPROF_KO,
# or gprof.ko below $GPROF_MODULES.
#
# GPROF_RELOADS says how often (30).

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null
. "$here/ktap.sh"

ko=${GPROF_KO:-${GPROF_MODULES:-.}/gprof.ko}
times=${GPROF_RELOADS:-30}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"; [ -e /sys/module/gprof ] || insmod "$ko"' EXIT
cd "$dir" || exit 1

need_module()
{
	[ -e "$ko" ] || skip "no $ko: set GPROF_KO"
	[ -e /sys/module/gprof ] || insmod "$ko"
}

# unload: until it works, since what was killed lets go a moment later
unload()
{
	tries=0
	until rmmod gprof 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || fail "it cannot be unloaded: $(cat /sys/module/gprof/refcnt)"
		sleep 0.05
	done
	! grep gprof /sys/devices/system/cpu/hotplug/states || fail "CPUs that come still call it"
}

# Opens and closes without end; a module that is not there is no error.
open_without_end()
{
	while [ ! -e stop ]; do
		(exec 9</dev/gprof) 2>/dev/null || true
	done
}

module_comes_and_goes_while_others_open_it()
{
	need_module
	rm -f stop
	open_without_end &
	one=$!
	open_without_end &
	two=$!
	n=0
	refused=0
	while [ $n -lt "$times" ]; do
		if rmmod gprof 2>/dev/null; then
			[ ! -e /dev/gprof ] || fail "/dev/gprof is there without its module"
			insmod "$ko"
			n=$((n + 1))
		else
			refused=$((refused + 1))
			[ $refused -lt 100000 ] || fail "it was never unloaded"
		fi
	done
	: >stop
	wait $one $two
	echo "$times times, refused $refused times"
	[ "$(cat /sys/module/gprof/refcnt)" -eq 0 ]
}

module_goes_as_soon_as_its_recorders_are_killed()
{
	need_module
	n=0
	while [ $n -lt 10 ]; do
		"$here/burner" 20000 &
		burner=$!
		gprofctl cpu -p $burner -o x.pb.gz >/dev/null 2>&1 &
		one=$!
		gprofctl cpu -a -o y.pb.gz >/dev/null 2>&1 &
		two=$!
		wait_for_recorders 2
		sleep 0.5
		! rmmod gprof 2>/dev/null || fail "it was unloaded under a recorder"
		kill -9 $one $two
		unload
		kill $burner
		wait $one $two $burner || true
		insmod "$ko"
		n=$((n + 1))
	done
}

# CPUs that come find no callback of a module that has gone, and to those that go no
# thread is sent, which PREEMPT_RT would warn of.
module_comes_and_goes_while_cpus_do()
{
	need_module
	cpu=/sys/devices/system/cpu/cpu1/online
	[ -w $cpu ] || skip "CPU 1 cannot be taken offline"
	rm -f stop
	(
		while [ ! -e stop ]; do
			echo 0 >$cpu
			echo 1 >$cpu
		done
	) &
	switcher=$!
	n=0
	while [ $n -lt 10 ]; do
		# Each program's mappings are read on the CPU that sampled it.
		# shellcheck disable=SC2016 # it is sh that expands
		gprofctl cpu -F 1000 -o x.pb.gz -- sh -c 'for i in $(seq 60); do
			/bin/true & /bin/true; done; wait' >/dev/null 2>&1
		unload
		insmod "$ko"
		n=$((n + 1))
	done
	: >stop
	wait $switcher
	[ "$(cat $cpu)" = 1 ]
}

ktap_run module_comes_and_goes_while_others_open_it \
	module_goes_as_soon_as_its_recorders_are_killed module_comes_and_goes_while_cpus_do
