#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# kunit_test.sh: the module's own tests in the kernel, where it has KUnit. Their module is
# $GPROF_KUNIT_KO, or gprof_kunit.ko beside gprof.ko (module_test.sh), or modprobe finds it.
# Each of their cases is one here, with what the kernel said about it. Kernels from 6.1 on may
# have it off unless they were booted with kunit.enable=1.

ko=${GPROF_KUNIT_KO:-$(dirname "${GPROF_KO:-${GPROF_MODULES:-.}/gprof.ko}")/gprof_kunit.ko}

leave_out()
{
	echo "TAP version 13"
	echo "1..0 # SKIP $*"
	exit 4
}

if [ -e "$ko" ]; then
	load="insmod $ko"
elif modinfo -n gprof_kunit >/dev/null 2>&1; then
	load="modprobe gprof_kunit"
else
	leave_out "there is no gprof_kunit.ko: the kernel has no KUnit (CONFIG_KUNIT), or it was not built"
fi

mark="kunit_test.sh $$ begins"
echo "$mark" >/dev/kmsg
$load || {
	echo "Bail out! $load failed"
	exit 1
}
rmmod gprof_kunit
dmesg | sed "1,/$mark/d; s/^\[[^]]*\] //" >"${TMPDIR:-/tmp}/kunit.$$"
trap 'rm -f "${TMPDIR:-/tmp}/kunit.$$"' EXIT
! grep -q '^kunit: disabled' "${TMPDIR:-/tmp}/kunit.$$" ||
	leave_out "KUnit is off: boot with kunit.enable=1"

# What comes before a result is of that case; a suite's own result is less indented, and so is
# how many suites there are.
awk '
	function result(how, name)
	{
		n++
		if (how == "not ok")
			failed++
		lines[n] = said how " " n " gprof_kunit." name
		said = ""
	}
	/^ +(KTAP|TAP|1\.\.|# Subtest)/ {
		if (sub(/.*1\.\./, ""))
			planned += $0
		next
	}
	!planned { next }
	/^    ok [0-9]+ /	{ result("ok", $3 == "-" ? $4 : $3); next }
	/^    not ok [0-9]+ /	{ result("not ok", $4 == "-" ? $5 : $4); next }
	/^ +#/			{ said = said "#" substr($0, index($0, "#") + 1) "\n" }
	END {
		if (!planned || n != planned) {
			print "Bail out! the kernel told of " n + 0 " cases of " planned + 0
			exit 1
		}
		print "TAP version 13"
		print "1.." planned
		for (i = 1; i <= n; i++)
			print lines[i]
		exit failed > 0
	}' "${TMPDIR:-/tmp}/kunit.$$"
