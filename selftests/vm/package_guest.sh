#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# package_guest.sh install|upgrade|again|debian: in a guest with a bare Debian (cache/debian-root), what becomes of the
# packages in /share, and of what is recorded meanwhile. Each test goes on where the one
# before it ended. package_guest_test brings it there.

# shellcheck disable=SC1091 # there
. /share/ktap.sh

export DEBIAN_FRONTEND=noninteractive
kernel=$(uname -r)
headers=linux-headers-$kernel

apt()
{
	# Packages that are given as files were not signed by anybody.
	apt-get -q -y -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root "$@" >/tmp/apt 2>&1 || {
		cat /tmp/apt
		return 1
	}
	cat /tmp/apt
}

# said WORDS: the last run of apt
said() { grep -qF -- "$1" /tmp/apt || fail "apt did not say: $1"; }

# state PACKAGE: as dpkg has it
state() { dpkg-query -W -f '${db:Status-Status} ${Version}' "$1" 2>/dev/null || echo none; }

loaded_version() { cat /sys/module/gprof/version; }

no_package_is_half_installed() { [ -z "$(dpkg --audit)" ] || fail "$(dpkg --audit)"; }

# Sets recording to a process that records until stop.
record()
{
	gprofctl cpu -v -o "$1" -d 3600 -p $$ >/tmp/recording 2>&1 &
	recording=$!
	record_tries=0
	until [ "$(cat /sys/module/gprof/refcnt)" -gt 0 ]; do
		record_tries=$((record_tries + 1))
		[ $record_tries -lt 600 ] || fail "nothing is recorded: $(cat /tmp/recording)"
		sleep 0.1
	done
}

# What was recorded over all that happened is whole.
stop()
{
	kill -INT "$recording"
	wait "$recording" || fail "the recording failed: $(cat /tmp/recording)"
	grep 'produced=' /tmp/recording
	gprofctl top -n 1000 "$1" >/dev/null
}

# shellcheck disable=SC2016 # of the other shell
works()
{
	gprofctl cpu -o /tmp/cpu.pb.gz -- \
		sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
	gprofctl top -n 1000 /tmp/cpu.pb.gz >/tmp/top
	grep -Eq 'dash|sh' /tmp/top || fail "$(cat /tmp/top)"
}

nothing_of_it_is_there_before()
{
	[ ! -e /dev/gprof ]
	! command -v gcc
	[ ! -e "/lib/modules/$kernel/build" ]
	[ "$(state dkms)" = none ]
}

two_packages_are_enough_for_a_profile()
{
	before=$(cut -d. -f1 /proc/uptime)
	apt install /share/gprof-dkms_1.deb /share/gprofctl.deb
	echo "installed after $(($(cut -d. -f1 /proc/uptime) - before)) s of the guest"
	no_package_is_half_installed
	[ -c /dev/gprof ] || fail "the module is not loaded"
	works
	cat /tmp/top
}

# By DKMS's key, which no firmware knows yet.
the_module_is_signed()
{
	[ "$(modinfo -F signer gprof)" = 'DKMS module signing key' ]
	[ "$(loaded_version)" = 1 ]
}

tables() { find /var/cache/gprof/unwind -type f | wc -l; }

# All that runs has its unwind table, also what a package brings later.
tables_of_what_runs_are_made()
{
	gprofctl prepare >/tmp/prepare 2>&1
	cat /tmp/prepare
	grep -q ': 0 made in' /tmp/prepare || fail "not all that runs had a table"
	before=$(tables)
	cp /bin/sleep /usr/bin/later
	printf '\0' >>/usr/bin/later
	later 600 &
	dpkg-trigger --by-package=dpkg /usr/bin
	dpkg --triggers-only --pending
	kill $!
	rm /usr/bin/later
	[ "$(tables)" = $((before + 1)) ] || fail "$before tables before, $(tables) now"
}

a_group_is_there_for_the_device()
{
	grep '^gprof:' /etc/group
	grep -q 'GROUP="gprof"' /lib/udev/rules.d/70-gprof.rules
	grep -qx gprof /usr/lib/modules-load.d/gprof.conf
}

# history STATUS WORDS: so ends gprofctl history of no store, and it says that
history()
{
	expect "$1" gprofctl history --list --store /nowhere 2>/tmp/err
	grep -qF -- "$2" /tmp/err || fail "$(cat /tmp/err)"
}

# Files move from the package that had them.
the_services_have_a_package_and_are_not_enabled()
{
	history 1 'apt-get install gprof-agent'
	[ ! -e /lib/systemd/system/gprofctl-serve.service ]
	apt install --allow-downgrades /share/gprofctl_0.deb
	[ -e /lib/systemd/system/gprofctl-serve.service ]
	dpkg --unpack /share/gprof-agent.deb /share/gprofctl.deb
	apt --fix-broken install
	no_package_is_half_installed
	for unit in serve push; do
		dpkg -S /lib/systemd/system/gprofctl-$unit.service | grep -q '^gprof-agent: '
		grep "^ExecStart=/usr/bin/gprof-agent $unit " /lib/systemd/system/gprofctl-$unit.service
	done
	[ ! -e /etc/systemd/system/multi-user.target.wants/gprofctl-serve.service ]
	history 1 'the store /nowhere'
	apt purge gprof-agent
	no_package_is_half_installed
	history 1 'apt-get install gprof-agent'
}

an_upgrade_leaves_a_recording_alone()
{
	record /tmp/upgrade.pb.gz
	apt install /share/gprof-dkms_2.deb
	said 'in use and stays loaded'
	no_package_is_half_installed
	[ "$(loaded_version)" = 1 ]
	[ "$(modinfo -F version gprof)" = 2 ]
	stop /tmp/upgrade.pb.gz
	# as apt has said
	modprobe -r gprof
	modprobe gprof
	[ "$(loaded_version)" = 2 ]
	works
}

an_upgrade_that_cannot_be_built_ends_well_and_says_so()
{
	apt install /share/gprof-dkms_3.deb
	said 'could not be built'
	said make.log
	no_package_is_half_installed
	[ "$(state gprof-dkms)" = 'installed 3' ]
	grep -q 'error' /var/lib/dkms/gprof/3/build/make.log
	# That of before works on.
	works
}

a_removal_leaves_a_recording_alone()
{
	record /tmp/removal.pb.gz
	apt remove gprof-dkms
	said 'in use and stays loaded'
	no_package_is_half_installed
	stop /tmp/removal.pb.gz
	rmmod gprof
	[ ! -e /dev/gprof ]
	[ -z "$(find /lib/modules /usr/src /var/lib/dkms -name '*gprof*')" ] ||
		fail "$(find /lib/modules /usr/src /var/lib/dkms -name '*gprof*')"
}

nothing_of_it_is_there_after_a_purge()
{
	apt purge gprof-dkms gprofctl
	no_package_is_half_installed
	# Debian has a gprof too, in binutils, and a libgprofng, of which apt and dpkg keep files of their own.
	find / -xdev \( -path /repo -o -path /share -o -path /tmp -o -path /gprof-vm -o -path /proc \
		-o -path /sys -o -path /gprof -o -name 'libgprofng0[:_]*' \) -prune \
		-o -name '*gprof*' -print 2>/dev/null | while read -r left; do
		dpkg -S "$left" >/dev/null 2>&1 || echo "$left"
	done >/tmp/left
	[ ! -s /tmp/left ] || fail "left: $(cat /tmp/left)"
}

without_headers_it_says_what_to_install()
{
	apt purge "linux-headers-$kernel" linux-headers-amd64
	apt install --no-install-recommends /share/gprof-dkms_1.deb /share/gprofctl.deb
	said "apt install $headers"
	no_package_is_half_installed
	[ ! -e /dev/gprof ]
	expect 1 gprofctl doctor >/tmp/doctor
	grep -q "apt-get install linux-headers" /tmp/doctor
}

with_the_headers_comes_the_module()
{
	apt install --no-install-recommends "$headers"
	no_package_is_half_installed
	modprobe gprof
	works
}

# Nobody uses it now: what is installed is what is loaded.
an_upgrade_replaces_an_unused_module()
{
	apt install /share/gprof-dkms_2.deb
	said 'was replaced in the running kernel'
	[ "$(loaded_version)" = 2 ]
	works
}

an_upgrade_that_is_broken_off_leaves_the_module()
{
	apt install /share/gprof-dkms_4.deb && fail "version 4 was installed"
	no_package_is_half_installed
	[ "$(state gprof-dkms)" = 'installed 2' ]
	[ "$(modinfo -F version gprof)" = 2 ]
}

# As after a removal that lost its power.
what_is_half_gone_is_installed_again()
{
	rm -rf /usr/src/gprof-2
	find /lib/modules -name 'gprof.ko*' -delete
	apt install --reinstall /share/gprof-dkms_2.deb
	no_package_is_half_installed
	modinfo gprof >/dev/null
	works
}

# Where the package was installed before the system started.
module_is_loaded()
{
	modprobe gprof
	[ "$(loaded_version)" = 1 ]
	works
}

# What Debian runs of a package after each change of what it depends on.
autopkgtest_finds_nothing()
{
	apt install --no-install-recommends autopkgtest
	[ "$(state gprof-dkms)" = none ]
	# It is apt that reads what it is given here, and who else should?
	echo 'APT::Sandbox::User "root";' >/etc/apt/apt.conf.d/99root
	autopkgtest -B /share/gprof-dkms.deb /share/gprofctl.deb /share/source -- null >/tmp/tests 2>&1 || {
		cat /tmp/tests
		return 1
	}
	# Each is told when it ends, and in the summary.
	sed -n '/@ summary$/,$p' /tmp/tests | grep -E '^(dkms|smoke) ' >/tmp/summary
	cat /tmp/summary
	[ "$(grep -c ' PASS$' /tmp/summary)" = 2 ] || fail "$(cat /tmp/tests)"
}

case $1 in
debian)
	ktap_run nothing_of_it_is_there_before autopkgtest_finds_nothing
	;;
install)
	ktap_run nothing_of_it_is_there_before two_packages_are_enough_for_a_profile \
		the_module_is_signed tables_of_what_runs_are_made a_group_is_there_for_the_device \
		the_services_have_a_package_and_are_not_enabled a_removal_leaves_a_recording_alone \
		nothing_of_it_is_there_after_a_purge
	;;
upgrade)
	ktap_run module_is_loaded an_upgrade_leaves_a_recording_alone \
		an_upgrade_that_cannot_be_built_ends_well_and_says_so \
		a_removal_leaves_a_recording_alone nothing_of_it_is_there_after_a_purge \
		without_headers_it_says_what_to_install with_the_headers_comes_the_module
	;;
again)
	ktap_run module_is_loaded an_upgrade_replaces_an_unused_module \
		an_upgrade_that_is_broken_off_leaves_the_module what_is_half_gone_is_installed_again
	;;
esac
