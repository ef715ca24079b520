#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# secure_guest.sh MODE: in a guest whose kernel asks who has signed modules, what becomes
# of ours, and what the doctor says. secure_test boots it, with in /share the module as it
# was built, signed by a key that the firmware may have (known.ko), and by another.

# shellcheck disable=SC1091 # there
. /share/ktap.sh

kernel=$(uname -r)
dir=/lib/modules/$kernel/updates
mkdir -p "$dir" /var/lib/dkms
mount -t securityfs security /sys/kernel/security
: >"/lib/modules/$kernel/modules.order"
: >"/lib/modules/$kernel/modules.builtin"

# put FILE [SUFFIX]: as installed
put()
{
	rm -f "$dir"/*
	cp "/share/$1" "$dir/gprof.ko${2-}"
	depmod
}

refused()
{
	modprobe gprof 2>err && fail "the kernel takes it"
	cat err
	grep -q 'Key was rejected by service\|Required key not available\|Operation not permitted' err
	[ ! -e /dev/gprof ]
}

# doctor STATUS TEXT...: it ends so, and says each of them
doctor()
{
	doctor_want=$1
	shift
	doctor_got=0
	gprofctl doctor >doctor.txt || doctor_got=$?
	cat doctor.txt
	[ "$doctor_got" -eq "$doctor_want" ] || fail "status $doctor_got"
	for doctor_text; do
		grep -qF -- "$doctor_text" doctor.txt || fail "nothing of: $doctor_text"
	done
}

unsigned_is_refused_and_the_doctor_says_why()
{
	put unsigned.ko
	refused
	doctor 1 'takes only modules that are signed' \
		'modinfo finds no signature in' 'and the kernel takes signed modules alone' \
		'dkms install --force -m gprof' 'scripts/sign-file sha256'
}

what_was_changed_since_is_refused()
{
	put known.ko
	# one byte, within the module
	printf X | dd of="$dir/gprof.ko" bs=1 seek=4096 conv=notrunc 2>/dev/null
	refused
}

without_efi_no_key_can_be_enrolled()
{
	cp /share/known.der /var/lib/dkms/mok.pub
	put known.ko
	refused
	doctor 1 'is signed by "The owner of this host"' 'does not start by EFI, can enroll none'
}

another_key_is_refused_and_the_doctor_says_how_to_enroll_it()
{
	cp /share/other.der /var/lib/dkms/mok.pub
	put other.ko
	refused
	doctor 1 'is signed by "DKMS module signing key"' \
		'the kernel does not know the key "DKMS module signing key"' \
		'mokutil --import /var/lib/dkms/mok.pub' 'Enroll MOK'
}

# Of the same name as one that is enrolled.
a_name_is_no_key()
{
	cp /share/twin.der /var/lib/dkms/mok.pub
	put twin.ko
	refused
	doctor 1 'the kernel does not know the key "The owner of this host"' 'mokutil --import'
}

# Of the compressions that modprobe knows the guest's userland has this one.
a_compressed_file_is_looked_into()
{
	cp /share/known.der /var/lib/dkms/mok.pub
	put unsigned.ko
	zstd -q --rm "$dir/gprof.ko"
	depmod
	doctor 1 'no signature in' 'gprof.ko.zst'
	put known.ko
	zstd -q --rm "$dir/gprof.ko"
	depmod
	doctor 1 'gprof.ko.zst is signed by "The owner of this host"' 'the kernel knows the key'
	expect 1 env PATH=/gprof/bin:/nowhere gprofctl doctor >doctor.txt
	grep 'gprof.ko.zst is signed by "The owner of this host"' doctor.txt
	: >"$dir/gprof.ko.zst"
	doctor 1 'gprof.ko.zst cannot be read'
}

a_damaged_signature_is_none()
{
	put damaged.ko
	doctor 1 'modinfo finds no signature in'
}

# shellcheck disable=SC2016 # of the other shell
an_enrolled_key_lets_it_in()
{
	cp /share/known.der /var/lib/dkms/mok.pub
	put known.ko
	doctor 1 'the module is installed, and not loaded' 'as root: modprobe gprof'
	modprobe gprof
	doctor 0 'is signed by "The owner of this host"' \
		'the kernel knows the key "The owner of this host"' \
		'has found the loaded module signed by a key that it knows'
	gprofctl cpu -o cpu.pb.gz -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
	gprofctl top -n 1000 cpu.pb.gz | grep -q dash
}

# The certificate need not be here: then it goes by the name.
without_its_certificate_a_key_is_looked_up_by_name()
{
	rm -f /var/lib/dkms/mok.pub
	doctor 0 'the kernel knows the key "The owner of this host"' 'going by its name'
}

# Only what a user may not see is left open.
to_a_user_it_says_what_it_can()
{
	status=0
	setpriv --reuid 1000 --regid 1000 --clear-groups gprofctl doctor >doctor.txt || status=$?
	cat doctor.txt
	[ "$status" -eq 1 ]	# may not open the device
	grep -q 'is signed by "The owner of this host"' doctor.txt
	grep -q 'may not be seen by this user' doctor.txt
}

lockdown_for_integrity_takes_a_signed_module_and_allows_the_kernel()
{
	doctor 0 'by its lockdown' 'locked down for integrity, which allows profiles'
	gprofctl cpu --kernel -o kernel.pb.gz -- dd if=/dev/zero of=/dev/null bs=4k count=40000
	gprofctl top -n 1000 kernel.pb.gz | tee top.txt
	grep -q '\[kernel\]\|vmlinux\|clear_user\|rep_' top.txt
}

lockdown_for_confidentiality_leaves_the_kernel_out()
{
	doctor 0 'by its lockdown' 'its own frames cannot be recorded'
	expect 1 gprofctl cpu --kernel -o kernel.pb.gz -- true 2>err
	cat err
	# shellcheck disable=SC2016 # of the other shell
	gprofctl cpu -o user.pb.gz -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
	gprofctl top -n 1000 user.pb.gz | grep -q dash
}

# As where nothing has mounted what tells.
that_lockdown_is_not_known_is_told()
{
	umount /sys/kernel/security
	doctor 1 'whether the kernel is locked down is not known' 'mount -t securityfs'
	mount -t securityfs security /sys/kernel/security
}

load_known()
{
	cp /share/known.der /var/lib/dkms/mok.pub
	put known.ko
	modprobe gprof
}

case $1 in
enforced)
	ktap_run unsigned_is_refused_and_the_doctor_says_why without_efi_no_key_can_be_enrolled \
		that_lockdown_is_not_known_is_told
	;;
enrolled)
	ktap_run unsigned_is_refused_and_the_doctor_says_why what_was_changed_since_is_refused \
		another_key_is_refused_and_the_doctor_says_how_to_enroll_it a_name_is_no_key \
		a_compressed_file_is_looked_into a_damaged_signature_is_none \
		an_enrolled_key_lets_it_in without_its_certificate_a_key_is_looked_up_by_name \
		to_a_user_it_says_what_it_can
	;;
integrity)
	ktap_run unsigned_is_refused_and_the_doctor_says_why load_known \
		lockdown_for_integrity_takes_a_signed_module_and_allows_the_kernel
	;;
confidentiality)
	ktap_run unsigned_is_refused_and_the_doctor_says_why load_known \
		lockdown_for_confidentiality_leaves_the_kernel_out
	;;
esac
