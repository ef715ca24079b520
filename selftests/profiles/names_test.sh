#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# names_test.sh: functions have the names of the file that was mapped, whatever its
# path means to who looks: in other mount namespaces, on overlayfs before and after
# files were copied up, replaced, deleted.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl unshare

dir=$(mktemp -d) || exit 1
trap 'umount "$dir/merged" "$dir/same" "$dir/layers" 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# Two programs, and a function of each that no other has.
burner=$here/burner
burner_name=burn_ns
other=$here/truth_serial
other_name=level1

# record OPTIONS...: to x.pb.gz, and the functions to names
record()
{
	gprofctl cpu -F 500 -o x.pb.gz "$@" || return
	gprofctl top x.pb.gz -n 100000 >names
	head -n 30 names
}

# named: the burner is, and above all has no other's names
named()
{
	! grep -qw "$other_name" names || fail "another file's names"
	grep -qw "$burner_name" names || fail "no name"
}

# burn DIRECTORY [COMMAND...]: has DIRECTORY/prog burn, after COMMAND, as $pid
burn()
{
	burn_in=$1
	shift
	"$burn_in/prog" 30000 &
	pid=$!
	# it must be that program by then, not this shell still
	until [ "$(readlink "/proc/$pid/exe")" != "$(readlink /proc/self/exe)" ] &&
	      grep -q prog "/proc/$pid/cmdline"; do
		sleep 0.1
	done
	[ $# -eq 0 ] || "$@"
}

end_burn()
{
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null || true
}

# Another tmpfs over one directory: paths and inode numbers are the same, files not.
cat >in_container <<-END
	mount -t tmpfs container "$dir/same" &&
	cp "$burner" "$dir/same/prog" &&
	stat -c %i "$dir/same/prog" >"$dir/inode" &&
	exec "$dir/same/prog" "\$1"
END

make_same()
{
	mkdir -p same
	umount same 2>/dev/null || true
	rm -f inode
	mount -t tmpfs host same
	cp "$other" same/prog
}

same_inodes()
{
	[ "$(stat -c %i same/prog)" = "$(cat inode)" ] || fail "the inode numbers differ"
}

contain()
{
	make_same
	unshare -m sh in_container 30000 &
	pid=$!
	until [ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" = "$dir/same/prog 30000 " ]; do
		sleep 0.1
	done
	same_inodes
}

process_of_another_mount_namespace_has_its_own_names()
{
	contain
	record -p "$pid" -d 1
	end_burn
	named
}

host_wide_processes_of_other_namespaces_have_their_own_names()
{
	contain
	record -a -d 1
	end_burn
	named
}

command_that_enters_a_namespace_has_its_own_names()
{
	make_same
	record -- unshare -m sh in_container 1000
	same_inodes
	named
}

# An overlay as containers have it: both layers on one file system.
make_overlay()
{
	umount merged 2>/dev/null || true
	umount layers 2>/dev/null || true
	mkdir -p merged layers
	mount -t tmpfs layers layers
	mkdir layers/lower layers/upper layers/work
	cp "$burner" layers/lower/prog
	mount -t overlay -o lowerdir=layers/lower,upperdir=layers/upper,workdir=layers/work \
		overlay merged
}

program_on_an_overlay_has_names()
{
	make_overlay
	burn merged
	record -p "$pid" -d 1
	end_burn
	named
}

# An overlay whose program was copied up by a command: it keeps the inode number of the
# file below, while what is mapped is the copy.
make_copied()
{
	make_overlay
	"$@"
	[ -e layers/upper/prog ] || fail "it was not copied up"
}

program_that_was_copied_up_has_names()
{
	make_copied chmod 700 merged/prog
	burn merged
	record -p "$pid" -d 1
	end_burn
	named
}

host_wide_program_that_was_copied_up_has_names()
{
	make_copied chmod 700 merged/prog
	burn merged
	record -a -d 1
	end_burn
	named
}

program_that_a_link_copied_up_has_names()
{
	make_copied ln merged/prog merged/link
	burn merged
	record -p "$pid" -d 1
	end_burn
	named
}

command_that_was_copied_up_has_names()
{
	make_copied chmod 700 merged/prog
	record -- merged/prog 1000
	named
}

# It has ended before anybody looks: the build-id alone says that its path leads to it.
command_that_was_copied_up_and_ended_has_names()
{
	make_copied chmod 700 merged/prog
	for _ in 1 2 3; do
		record -- merged/prog 40
		! grep -qw "$other_name" names || fail "another file's names"
		! grep -qw "$burner_name" names || return 0
	done
	fail "no name"
}

program_that_is_copied_up_while_it_runs_has_names()
{
	make_overlay
	burn merged chmod 700 merged/prog
	[ -e layers/upper/prog ] || fail "it was not copied up"
	record -p "$pid" -d 1
	end_burn
	named
}

# The copy is another file since: its names would be wrong.
write_copy()
{
	chmod 700 merged/prog
	cat "$other" >layers/upper/prog
}

program_whose_copy_was_written_to_has_no_wrong_names()
{
	make_overlay
	burn merged write_copy
	record -p "$pid" -d 1
	end_burn
	! grep -qw "$other_name" names
}

program_that_was_replaced_has_names()
{
	make_same
	cp "$burner" same/new
	mv same/new same/prog
	burn same mv same/prog same/old
	cp "$other" same/prog
	record -p "$pid" -d 1
	end_burn
	named
}

program_that_was_deleted_has_names()
{
	make_same
	cp "$burner" same/new
	mv same/new same/prog
	burn same rm same/prog
	record -p "$pid" -d 1
	end_burn
	named
}

program_that_is_called_deleted_has_names()
{
	make_same
	cp "$burner" 'same/x (deleted)'
	cp "$other" same/x
	record -- 'same/x (deleted)' 1000
	named
}

ktap_run process_of_another_mount_namespace_has_its_own_names \
	host_wide_processes_of_other_namespaces_have_their_own_names \
	command_that_enters_a_namespace_has_its_own_names \
	program_on_an_overlay_has_names \
	program_that_was_copied_up_has_names \
	host_wide_program_that_was_copied_up_has_names \
	program_that_a_link_copied_up_has_names \
	command_that_was_copied_up_has_names \
	command_that_was_copied_up_and_ended_has_names \
	program_that_is_copied_up_while_it_runs_has_names \
	program_whose_copy_was_written_to_has_no_wrong_names \
	program_that_was_replaced_has_names \
	program_that_was_deleted_has_names \
	program_that_is_called_deleted_has_names
