#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# names_test.sh: functions have the names of the file that was mapped, whatever its path means to
# who looks: in other mount namespaces, on overlayfs before and after files were copied up,
# replaced, deleted, where /proc is hidden. And samples are labelled with whose they are.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl unshare "$here/profile_dump"

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
	"$burn_in/prog" 300000 &
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
	kill "$pid" 2>/dev/null || true
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
	unshare -m sh in_container 300000 &
	pid=$!
	until [ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" = "$dir/same/prog 300000 " ]; do
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

# labels KEY: lines "COUNT FUNCTION LABEL" of x.pb.gz
labels()
{
	"$here/profile_dump" x.pb.gz label "$1" |
		awk '$1 == "label" && $2 == "samples" && $4 ~ /^(spin|burn_ns)$/ { print $3, $4, $5 }' >labelled
	cat labelled
}

# of LABEL: how many of the samples in the burner have it
of() { awk -v label="$1" '$3 == label { n += $1 } END { print n + 0 }' labelled; }

samples_say_their_cgroup()
{
	[ -e /sys/fs/cgroup/cgroup.procs ] || skip "no cgroup v2 here"
	one=/names_test.$$.one two=/names_test.$$.two pids=
	for group in "$one" "$two"; do
		mkdir "/sys/fs/cgroup$group"
		sh -c 'echo $$ >"$1"; exec "$2" 300000' sh "/sys/fs/cgroup$group/cgroup.procs" "$burner" &
		pids="$pids $!"
	done
	sleep 0.5
	record -a -d 2
	# shellcheck disable=SC2086 # two
	kill $pids
	wait
	rmdir "/sys/fs/cgroup$one" "/sys/fs/cgroup$two"
	labels cgroup
	[ "$(of "$one")" -gt 0 ] || fail "none of $one"
	[ "$(of "$two")" -gt 0 ] || fail "none of $two"
	[ "$(of -)" = 0 ] || fail "samples without their cgroup"
}

# Root reads it whatever programs may do with their memory.
samples_say_the_service_that_publishes_itself()
{
	sysctl -q vm.unprivileged_userfaultfd=1 2>/dev/null || true
	"$here/service" shop 300000 &
	shop=$!
	"$here/service" till 300000 &
	till=$!
	sleep 0.5
	record -a -d 2
	kill "$shop" "$till"
	wait
	labels service.name
	[ "$(of shop)" -gt 0 ] || fail "none of the shop"
	[ "$(of till)" -gt 0 ] || fail "none of the till"
	[ "$(of -)" = 0 ] || fail "samples without their service"
}

# hidden COMMAND...: /proc shows nobody but root the processes of others
hidden()
{
	mount -o remount,hidepid=2 /proc || skip "no hidepid here"
	status=0
	"$@" || status=$?
	mount -o remount,hidepid=0 /proc
	return $status
}

# record_as_user CAPS OPTIONS...: as record, by who has no other privilege
record_as_user()
{
	caps=$1
	shift
	let_users_in
	chmod 755 .
	mkdir -p home
	chown 1000 home
	status=0
	setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps "$caps" --ambient-caps "$caps" \
		gprofctl cpu -F 500 -o home/x.pb.gz "$@" 2>said || status=$?
	cat said
	shut_users_out
	mv home/x.pb.gz .
	gprofctl top x.pb.gz -n 100000 >names
	head -n 30 names
	return $status
}

# The same file lies there for all.
make_plain()
{
	make_same
	cp "$burner" same/new
	mv same/new same/prog
	chmod 755 same
}

root_has_all_names_where_proc_is_hidden()
{
	make_plain
	burn same
	hidden record -p "$pid" -d 1
	end_burn
	named
}

own_processes_have_names_where_proc_is_hidden()
{
	make_plain
	hidden record_as_user -all -- "$dir/same/prog" 1000
	named
}

# Their paths lead to them still, where no other file lies there.
others_have_the_names_of_their_paths_where_proc_is_hidden()
{
	make_plain
	burn same
	hidden record_as_user -all,+perfmon -a -d 1
	end_burn
	named
}

what_nothing_leads_to_where_proc_is_hidden_has_no_names_and_says_so()
{
	contain
	chmod 755 same
	hidden record_as_user -all,+perfmon -a -d 1
	end_burn
	! grep -qw -e "$other_name" -e "$burner_name" names || fail "another file's names"
	grep -q '\[prog: its process is hidden\]' names
	[ "$(grep -c hidepid names)" = 1 ]
}

# In memory: each turn maps them anew.
cp "$here/swap_a.so" "$here/swap_b.so" "$dir" || exit 1
plugin_a=$dir/swap_a.so
plugin_b=$dir/swap_b.so

# burnt: lines "NS NAME" of what lies in the place of the plugins
burnt()
{
	"$here/profile_dump" x.pb.gz cum |
		awk '$1 == "cum" && $2 == "cpu" && $4 ~ /^([ab]_burns|\[swap_|\[unknown)/ { print $3, $4 }' >burnt
	cat burnt
}

# share NAME FROM TO: of the time burnt, so many percent
share()
{
	share=$(awk -v name="$1" '{ all += $1 } $2 == name { n += $1 }
		END { print all ? int(100 * n / all) : 0 }' burnt)
	if [ "$share" -lt "$2" ] || [ "$share" -gt "$3" ]; then
		fail "$1: $share instead of $2 to $3%"
	fi
}

# Neither its address nor the size of all code tells that the second one is another.
plugin_in_the_place_of_another_has_its_own_names()
{
	for tables in '' --no-unwind-tables; do
		# shellcheck disable=SC2086 # or none
		record $tables -- "$here/swapper" 1000 1 "$plugin_a" "$plugin_b"
		burnt
		share a_burns 47 53
		share b_burns 47 53
	done
}

# Of the first one, only what is left of its time is seen.
plugin_that_comes_while_a_process_is_recorded_has_its_own_names()
{
	"$here/swapper" 3000 1 "$plugin_a" "$plugin_b" &
	record -p $! -d 8
	wait
	burnt
	awk '{ ns[$2] += $1 } END { exit !(ns["a_burns"] && ns["b_burns"] / 3e9 > 0.85 && ns["b_burns"] / 3e9 < 1.03) }' burnt
}

# Samples are left without a name where nobody could look in time, but none has a wrong one.
# Each long enough for its mappings to be read on a loaded machine too.
plugins_that_take_turns_in_one_place_have_their_own_names()
{
	record -- "$here/swapper" 120 10 "$plugin_a" "$plugin_a" "$plugin_b"
	burnt
	share a_burns 35 70
	share b_burns 15 37
	record --no-unwind-tables -- "$here/swapper" 120 10 "$plugin_b" "$plugin_b" "$plugin_a"
	burnt
	share b_burns 35 70
	share a_burns 15 37
}

ktap_run process_of_another_mount_namespace_has_its_own_names \
	host_wide_processes_of_other_namespaces_have_their_own_names \
	command_that_enters_a_namespace_has_its_own_names program_on_an_overlay_has_names \
	program_that_was_copied_up_has_names command_that_was_copied_up_has_names \
	command_that_was_copied_up_and_ended_has_names \
	program_that_is_copied_up_while_it_runs_has_names \
	program_whose_copy_was_written_to_has_no_wrong_names samples_say_their_cgroup \
	samples_say_the_service_that_publishes_itself root_has_all_names_where_proc_is_hidden \
	own_processes_have_names_where_proc_is_hidden \
	others_have_the_names_of_their_paths_where_proc_is_hidden \
	what_nothing_leads_to_where_proc_is_hidden_has_no_names_and_says_so \
	plugin_in_the_place_of_another_has_its_own_names \
	plugin_that_comes_while_a_process_is_recorded_has_its_own_names \
	plugins_that_take_turns_in_one_place_have_their_own_names
