#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# gprofctl_heap_test.sh: what programs allocate themselves is told to the byte, and nothing
# that was freed is told as in use, whatever they do.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl setpriv
# shellcheck source-path=SCRIPTDIR source=../helpers/command.sh
. "$here/command.sh"

truth=$here/truth_heap
odd=$here/truth_heap_odd
shim=$(realpath "$(dirname "$(command -v gprofctl)")/../lib/libgprof-heap.so")

# record ARGUMENTS...: as text; what the program says is in truth, with the text of the profile
# in out
record()
{
	rm -f x.pb.gz
	run 0 gprofctl heap -v --format text --buffer 4M -o x.pb.gz "$@"
	[ -s x.pb.gz ]
	[ "$(count lost)" -eq 0 ]
	sed '/^heap profile:/,$d' out >truth
}

# of SITE: "OBJECTS BYTES OBJECTS_LEFT BYTES_LEFT" of the stacks that begin there
of()
{
	awk -v site="$1" '
		/^[0-9]+: [0-9]+ \[/ {
			gsub(/[^0-9 ]/, " ")
			v[1] = $3; v[2] = $4; v[3] = $1; v[4] = $2
			leaf = 1
			next
		}
		/^#/ && leaf {
			leaf = 0
			if ($3 == site)
				for (i = 1; i <= 4; i++)
					sum[i] += v[i]
		}
		END { print sum[1] + 0, sum[2] + 0, sum[3] + 0, sum[4] + 0 }' out
}

# is_true: what was told of each place is what the program says
is_true()
{
	[ -s truth ]
	while read -r site rest; do
		told=$(of "$site")
		[ "$told" = "$rest" ] || fail "$site: $told, but it is $rest"
	done <truth
}

each_byte_is_told_by_where_it_was_allocated()
{
	record --every 1 -- "$truth" exact
	is_true
	# in the first line, what there is of all of it
	awk '/^heap profile:/ { gsub(/[^0-9 ]/, " "); for (i = 1; i <= 4; i++) head[i] = $i }
		/^[0-9]+: [0-9]+ \[/ { gsub(/[^0-9 ]/, " "); for (i = 1; i <= 4; i++) sum[i] += $i }
		END { for (i = 1; i <= 4; i++) if (!sum[i] || head[i] != sum[i]) exit 1 }' out ||
		fail "the first line is not the sum of the rest"
	run 0 gprofctl top -n 1000 x.pb.gz
	grep -q '^Type: inuse_space' out
	run 0 gprofctl alloc --every 1 -o x.pb.gz -- "$truth" exact
	run 0 gprofctl top -n 1000 x.pb.gz
	grep -q '^Type: alloc_space' out
	grep -q site_churns out
}

# is_at TYPE SITE LEAST [MOST]: what a profile has of it
is_at()
{
	run 0 gprofctl top --json --type "$1" -n 1000 x.pb.gz
	is=$(sed -n 's/.*"name": "'"$2"'".*"cum": \(-\?[0-9]*\),.*/\1/p' out)
	if [ "$is" -lt "$3" ] || [ "$is" -gt "${4:-$3}" ]; then
		fail "$1 of $2: $is"
	fi
}

# Of three rises the second is the most; it lasts from 0.9 s to 2.7 s after the program's begin.
memory_over_time_has_its_peak_and_growth()
{
	record --every 1 --grown-since 1900ms --svg x.svg -- "$truth" phases
	is_true
	is_at peak_objects site_rises 1000
	is_at peak_space site_rises 3000000
	is_at peak_space site_keeps 200000
	is_at peak_space site_keeps_more 0
	is_at grown_space site_keeps_more 200000
	is_at grown_objects site_rises -1000
	is_at grown_space site_keeps 0
	is_at temporary_objects site_rises 0
	is_at temporary_objects site_churns 1400 1500
	run 0 gprofctl top -n 1000 x.pb.gz
	grep -q '^Type: grown_space' out
}

the_peak_is_said_and_drawn()
{
	run 0 gprofctl heap --every 1 --buffer 4M --svg x.svg -o x.pb.gz -- "$truth" phases
	peak=$(sed -n 's/.*most memory in use: \([0-9.]*\) MiB in \([0-9]*\) objects, \([0-9.]* m\?s\) after.*/\1 \2 \3/p' err)
	# 3,200,000 bytes
	echo "$peak" | awk '{ ms = $4 == "s" ? 1000 * $3 : $3
			      exit !($1 == 3.05 && $2 == 1200 && ms > 850 && ms < 5000) }' ||
		fail "peak: $peak"
	# the picture has so many steps as there is time, and the peak between two lower rises
	sed -n 's|.*class="hit".*<title>.*: \([0-9.]*\) \([KM]\?i\?B\)</title>.*|\1 \2|p' x.svg >steps
	nr=$(wc -l <steps)
	if [ "$nr" -lt 256 ] || [ "$nr" -gt 512 ]; then
		fail "$nr steps"
	fi
	awk '{ v = $1 * ($2 == "MiB" ? 1048576 : $2 == "KiB" ? 1024 : 1)
	       rise += v > 900000 && !high
	       high = v > 900000
	       if (high && v > top[rise])
			top[rise] = v }
	     END { print rise, top[1], top[2], top[3]
		   exit !(rise == 3 && top[1] > 1390000 && top[1] < 1410000 && \
			  top[2] > 3190000 && top[2] < 3210000 && top[3] > 1290000 && \
			  top[3] < 1310000) }' steps >tops || fail "rises: $(cat tops)"
	refused 2 'a time after the start' gprofctl heap --grown-since 0 -- true
	run 0 gprofctl heap --every 1 --grown-since 100s -o x.pb.gz -- "$truth" exact
	grep -q 'ended before 100 s had passed' err
	is_at grown_space site_keeps 0
}

what_is_never_freed_is_told_at_the_end()
{
	run 0 gprofctl heap --leaks --buffer 4M -o x.pb.gz -- "$truth" exact
	# as many, and as many bytes, as valgrind finds of these
	grep -A 1 '^68\.4 KiB in 70 objects$' out | grep -q site_keeps
	grep -A 1 '^96\.8 KiB in 1 object$' out | grep -q site_grows
	grep -A 1 '^44\.0 KiB in 1 object$' out | grep -q site_maps
	! grep -A 1 'objects\?$' out | grep -q site_churns
	# a child of fork() that ends by _exit() has no leaks; the command's own are all that there is
	run 0 gprofctl heap --leaks --buffer 4M -o x.pb.gz -- "$truth" children 20
	! grep -q site_keeps out || fail "a child's memory is a leak"
	run 0 gprofctl heap --leaks --buffer 4M -o x.pb.gz -- "$truth" exact
	# the most first, and their sum
	awk 'function bytes(n, unit) { return n * (unit == "MiB" ? 1048576 : unit == "KiB" ? 1024 : 1) }
		/^never freed:/ { head = bytes($3, $4) }
		/^[0-9].* objects?$/ { if (sum && bytes($1, $2) > last) exit 1; sum += last = bytes($1, $2) }
		END { exit !sum || sum < 0.99 * head || sum > 1.01 * head }' out ||
		fail "not the most first, or another sum"
	run 0 gprofctl heap --leaks -n 1 --buffer 4M -o x.pb.gz -- "$truth" exact
	[ "$(grep -c '^[0-9].* objects\?$' out)" -eq 1 ]
	grep -Eq '^[0-9]+ more, with .* objects; -n N shows N$' out
	refused 2 'exclude each other' gprofctl heap --leaks --format text -o x.pb.gz -- true
	refused 2 'stdout' gprofctl heap --leaks -o - -- true
}

# As heap and alloc have it, and beside other kinds.
record_loads_the_shim_too()
{
	run 0 gprofctl record -e user-heap:1 -o x.pb.gz -e user-alloc:1 -o y.pb.gz -e cpu -o z.pb.gz \
		-- "$truth" exact
	run 0 gprofctl top x.pb.gz --type inuse_objects -n 1000
	awk '$6 == "site_keeps" && $4 == 70 { found = 1 } END { exit !found }' out
	run 0 gprofctl top y.pb.gz --type alloc_objects -n 1000
	awk '$6 == "site_churns" && $4 == 1000 { found = 1 } END { exit !found }' out
	refused 1 'static program' gprofctl record -e user-heap -o x.pb.gz -- "$here/burner" 1
}

# What few programs do: each is as right as it is of others.
odd_programs_are_told_of()
{
	for mode in sizes vforks clones shared spawns cancels namespace; do
		record --every 1 -- "$odd" $mode
		is_true
	done
}

# It says so once, is not harmed, and is told of again when it can be.
a_program_without_descriptors_is_not_told_of()
{
	record --every 1 -- "$odd" no_file
	is_true
	[ "$(grep -c 'cannot be opened (too many files are open)' err)" -eq 1 ]
	record --every 1 -- "$odd" no_device
	is_true
	[ "$(grep -c 'cannot be opened (it is not there' err)" -eq 1 ]
}

# Each has what it asked for, and each is told of all.
two_recorders_want_different_rates()
{
	run 0 gprofctl heap --every 1M -o y.pb.gz -- \
		gprofctl heap --every 1 --format text --buffer 4M -o x.pb.gz -- "$truth" exact
	sed '/^heap profile:/,$d' out >truth
	is_true
}

a_mapping_goes_in_parts_moves_and_fails_to()
{
	record --every 1 -- "$truth" remaps
	is_true
	# as many parts as there may be
	record --every 1 -- "$truth" pieces 30000
	is_true
}

# with LIBRARY COMMAND...: with that library, behind our own
with()
{
	LD_PRELOAD=$(find /usr/lib/*/ -maxdepth 1 -name "$1" | head -n 1)
	[ -n "$LD_PRELOAD" ] || skip "no $1 here"
	export LD_PRELOAD
	shift
	"$@"
	unset LD_PRELOAD
}

other_allocators_are_followed()
{
	for library in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
		# their operators of C++ do not come to malloc()
		for mode in exact operators others; do
			with $library record --every 1 -- "$truth" $mode
			is_true
		done
	done
	# where there is none of these the C library's free() serves
	record --every 1 -- "$truth" others
	is_true
}

# Its functions call each other by their names, and are not told of twice.
another_library_of_c_is_followed()
{
	musl=$here/truth_heap_musl
	[ -x "$musl" ] || skip "no program of musl was built"
	loader=$(LC_ALL=C grep -ao '/lib/ld-musl-[a-z0-9_]*\.so\.1' "$musl" | head -n 1)
	[ -e "$loader" ] || cp "$musl.loader" "$loader" || skip "no $loader here"
	for mode in exact forks signals closes remaps; do
		record --every 1 -- "$musl" $mode
		is_true
	done
	record --every 64K -- "$musl" large 128
	within 1 "$(of site_large | cut -d ' ' -f 2)" $((112 * 1048576))
}

an_allocator_that_maps_does_not_wait_for_the_loader()
{
	# each large one asks the kernel
	export MALLOC_CONF=narenas:1,tcache:false,dirty_decay_ms:0,muzzy_decay_ms:0
	with libjemalloc.so.2 run 0 gprofctl heap -o x.pb.gz -- timeout 60 "$truth" loads
	unset MALLOC_CONF
	grep -q '^loads' out
}

a_program_that_drops_rights_is_told_of()
{
	record --every 1 -- "$truth" drops
	is_true
	[ "$(of site_gives | cut -d ' ' -f 1,2)" = "2 10000" ] || fail "$(of site_gives)"
	! grep -q 'cannot be opened' err
}

# The set of a program that has little memory is small.
what_there_is_no_room_for_is_counted()
{
	run 0 gprofctl heap --every 1 --slots 1000000 --format text --buffer 64M -o x.pb.gz -- \
		prlimit --as=25165824 "$truth" many 150000
	left=$(of many | cut -d ' ' -f 3)
	[ "$(of many | cut -d ' ' -f 1)" -eq 150000 ]
	[ "$left" -ge 50000 ] || fail "$left in use"
	[ "$left" -lt 150000 ]
	full=$(sed -n 's/.*: \([0-9]\+\) samples are not among the live ones.*/\1/p' err)
	[ $((left + full)) -ge 150000 ] || fail "$left in use, $full left out"
	# and what is freed of the rest is so wherever it has its place
	run 0 gprofctl heap --every 1 --slots 1000000 --format text --buffer 64M -o x.pb.gz -- \
		prlimit --as=25165824 "$truth" many 150000 1
	[ "$(of many)" = "150000 2400000 0 0" ] || fail "$(of many)"
}

a_child_frees_its_own()
{
	record --every 1 -- "$truth" forks
	is_true
}

memory_is_of_the_program_that_has_it()
{
	record --every 1 -- "$truth" executes
	# from before the exec, and from behind it
	[ "$(of site_keeps)" = "200 200000 70 70000" ] || fail "$(of site_keeps)"
	[ "$(of site_gives)" = "12 60000 1 5000" ] || fail "$(of site_gives)"
	run 0 gprofctl heap --leaks --buffer 4M -o x.pb.gz -- "$truth" executes
	# what it had before is gone, and no leak of the program that it is now
	grep -A 2 '^4\.88 KiB in 1 object$' out | grep -q exact
	! grep -q executes out || fail "what it had before the exec is a leak"
}

# Their places in the table are others' then: here 17 000 objects of 170 children have 3584.
what_ended_processes_had_is_not_in_use()
{
	run 0 gprofctl heap --every 1 --slots 2000 --format text --buffer 8M -o x.pb.gz -- \
		"$truth" children 170
	sed '/^heap profile:/,$d' out >truth
	is_true
	[ "$(of site_keeps | cut -d ' ' -f 3,4)" = "0 0" ] || fail "$(of site_keeps)"
	! grep -q 'there were too many at once' err
}

# Of a process with more than 4096 mappings it is not asked when it ends.
objects_without_an_end_are_left_out_and_counted()
{
	run 0 gprofctl heap --every 1 --format text --buffer 4M -o x.pb.gz -- "$truth" children 3 5000
	[ "$(of site_keeps | cut -d ' ' -f 3,4)" = "0 0" ] || fail "$(of site_keeps)"
	left_out=$(sed -n 's/.*: \([0-9]*\) samples are not among the live ones.*/\1/p' err)
	[ "$left_out" -ge 300 ] || fail "$left_out"
}

handlers_allocate()
{
	record --every 1 -- "$truth" signals
	is_true
}

a_program_that_closes_all_files_is_told_of_further_on()
{
	record --every 1 -- "$truth" closes
	is_true
}

a_child_without_the_shim_is_left_out()
{
	record --every 1 -- "$truth" no_preload
	is_true
	[ "$(of site_churns)" = "0 0 0 0" ]
}

what_is_freed_twice_ends_the_program_as_ever()
{
	run 134 gprofctl heap --every 1 --format text -o x.pb.gz -- "$truth" twice
	[ "$(of site_keeps)" = "1 1000 0 0" ]
}

a_full_table_says_so_and_is_right_of_what_it_has()
{
	run 0 gprofctl heap --every 1 --slots 1000 --format text --buffer 16M -o x.pb.gz -- \
		"$truth" many 20000
	grep -q 'there were too many at once' err || fail "nothing about a full table"
	told=$(of many)
	[ "${told%% *}" -eq 20000 ]
	left=$(echo "$told" | cut -d ' ' -f 3)
	[ "$left" -ge 1000 ]
	[ "$left" -lt 4000 ]
}

a_million_samples_are_live()
{
	run 0 gprofctl heap --every 1 --slots 1048576 --format text --buffer 64M -o x.pb.gz -- \
		"$truth" many 1048576
	! grep -q 'too many' err
	told=$(of many)
	[ "$told" = "1048576 16777216 1048576 16777216" ] || fail "$told"
}

# within PERCENT NUMBER TRUTH
within()
{
	awk -v p="$1" -v n="$2" -v t="$3" 'BEGIN { exit !(n > t * (1 - p / 100) && n < t * (1 + p / 100)) }' ||
		fail "$2, but it is $3"
}

# One of 64 KiB. In a row they are wrong by less than a sample at each end, and what rounding adds
sampled_bytes_stand_for_all()
{
	record --every 64K -- "$truth" large 1024
	within 1 "$(of site_large | cut -d ' ' -f 2)" $((896 * 1048576))
	within 1 "$(of site_small | cut -d ' ' -f 2)" $((128 * 1048576))
	within 1 "$(of site_large | cut -d ' ' -f 1)" $((896 * 1048576 / 3000))
	within 1 "$(of site_small | cut -d ' ' -f 1)" $((128 * 1048576 / 40))
	[ "$(of site_large | cut -d ' ' -f 3)" -eq 0 ]
}

a_user_records_its_own()
{
	rm -f x.pb.gz
	as_user "$(command -v gprofctl)" heap --every 1 --format text --buffer 256K -o x.pb.gz -- \
		"$truth" signals >out 2>err || { cat err; fail "status $?"; }
	[ "$(of site_gives)" = "100 500000 0 0" ]
}

# What programs tell is asked of nobody else: no function of the kernel is probed for it.
no_other_program_is_slowed()
{
	list=/sys/kernel/debug/kprobes/list
	[ -r $list ] || mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null || :
	[ -r $list ] || skip "no list of probes here"
	before=$(wc -l <$list)
	run 0 gprofctl heap -o x.pb.gz -- sh -c "wc -l <$list"
	[ "$(cat out)" -eq "$before" ]
	run 0 gprofctl heap --kernel -o x.pb.gz -- sh -c "wc -l <$list"
	[ "$(cat out)" -gt "$before" ]
}

# probed PROGRAM MODE: what it allocates from a time on when it runs already, by probes or as $how
# says
probed()
{
	rm -f x.pb.gz gate
	mkfifo gate
	env ${library:+LD_PRELOAD="$library"} "$here/$1" later "$2" <gate >said &
	program=$!
	exec 9>gate
	# it reads what it waits for, and has all its libraries
	until [ "$(readlink "/proc/$program/exe")" = "$here/$1" ] &&
	      grep -Eq '^(0|63) 0x0 ' "/proc/$program/syscall"; do
		sleep 0.1
	done
	gprofctl heap -v "${how:---uprobes}" --every 1 --format text --buffer 4M -o x.pb.gz -p $program \
		>out 2>err &
	recorder=$!
	wait_for_recording $recorder
	echo >&9
	exec 9>&-
	wait $program || fail "the program ended with $?"
	wait $recorder || { cat err; fail "status $?"; }
	[ "${how-}" ] || grep -q 'enters the kernel twice' err || fail "not a word about what it costs"
	[ "$(count lost)" -eq 0 ]
	# mappings are not probed
	grep -v '^site_map' said >truth
}

a_program_that_runs_is_probed_on_request()
{
	library=
	for mode in exact forks signals; do
		probed truth_heap $mode
		is_true
	done
	[ "$(of site_maps)" = "0 0 0 0" ]
	probed truth_heap_odd sizes
	is_true
}

# By one of both.
a_program_with_the_shim_is_probed_all_the_same()
{
	library=$shim
	probed truth_heap exact
	is_true
	# of which the shim would tell
	[ "$(of site_maps)" = "0 0 0 0" ] || fail "it is told of as well"
}

a_program_with_the_shim_is_told_of_when_a_recorder_comes()
{
	library=$shim how=--user
	probed truth_heap idles
	is_true
}

a_static_program_is_probed_likewise()
{
	library=
	for mode in exact forks; do
		probed truth_heap_static $mode
		is_true
	done
}

a_program_that_is_executed_is_probed_where_it_maps_the_same()
{
	library=
	probed truth_heap executes
	[ "$(of site_keeps)" = "200 200000 70 70000" ] || fail "$(of site_keeps)"
	[ "$(of site_gives)" = "12 60000 1 5000" ] || fail "$(of site_gives)"
}

another_allocator_is_probed_instead()
{
	for name in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
		library=$(find /usr/lib/*/ -maxdepth 1 -name $name | head -n 1)
		[ -n "$library" ] || skip "no $name here"
		probed truth_heap exact
		is_true
	done
}

probes_are_refused_where_they_cannot_be()
{
	refused 2 'runs already' gprofctl heap --uprobes -o x.pb.gz -- true
	refused 2 'runs already' gprofctl alloc --uprobes -o x.pb.gz -a -d 1
	refused 2 'exclude each other' gprofctl heap --uprobes --kernel -o x.pb.gz -p 1 -d 1
	sleep 60 &
	run 1 as_user "$(command -v gprofctl)" alloc --uprobes -o x.pb.gz -p $! -d 1
	kill $!
	grep -qi "another user's\|CAP_PERFMON" err
	setpriv --reuid 1000 --regid 1000 --clear-groups sleep 60 &
	sleeper=$!
	sleep 1
	run 1 as_user "$(command -v gprofctl)" alloc --uprobes -o x.pb.gz -p $sleeper -d 1
	kill $sleeper
	grep -q 'CAP_PERFMON' err
	[ ! -e x.pb.gz ]
}

programs_that_the_shim_cannot_enter_are_refused()
{
	cp "$(command -v id)" set_id
	chown 1001 set_id
	chmod 4755 set_id
	refused 1 'set-user-ID' gprofctl heap -o x.pb.gz -- ./set_id
	cp "$(command -v id)" set_group
	chgrp 1001 set_group
	chmod 2755 set_group
	refused 1 'set-group-ID' gprofctl heap -o x.pb.gz -- ./set_group
	cp "$(command -v id)" capable
	setcap cap_net_raw+ep capable || skip "no file can have capabilities here"
	refused 1 'capabilities' as_user "$(command -v gprofctl)" heap -o x.pb.gz -- ./capable
	cp "$truth" other
	printf '\367\0' | dd of=other bs=1 seek=18 conv=notrunc
	refused 1 'another architecture' gprofctl heap -o x.pb.gz -- ./other
	refused 1 'static program' gprofctl heap -o x.pb.gz -- "$here/burner" 1
	refused 2 'exclude each other' gprofctl heap --user --kernel -o x.pb.gz -- true
	refused 2 'wants a number from 1' gprofctl heap --slots 9999999 -o x.pb.gz -- true
	refused 2 'pprof or text' gprofctl heap --format json -o x.pb.gz -- true
}

ktap_run each_byte_is_told_by_where_it_was_allocated \
	memory_over_time_has_its_peak_and_growth the_peak_is_said_and_drawn what_is_never_freed_is_told_at_the_end \
	record_loads_the_shim_too odd_programs_are_told_of a_program_without_descriptors_is_not_told_of \
	two_recorders_want_different_rates a_child_frees_its_own \
	memory_is_of_the_program_that_has_it handlers_allocate \
	a_program_that_closes_all_files_is_told_of_further_on a_child_without_the_shim_is_left_out \
	what_is_freed_twice_ends_the_program_as_ever a_mapping_goes_in_parts_moves_and_fails_to \
	a_program_that_drops_rights_is_told_of what_ended_processes_had_is_not_in_use \
	objects_without_an_end_are_left_out_and_counted other_allocators_are_followed \
	another_library_of_c_is_followed an_allocator_that_maps_does_not_wait_for_the_loader \
	what_there_is_no_room_for_is_counted a_full_table_says_so_and_is_right_of_what_it_has \
	a_user_records_its_own no_other_program_is_slowed \
	programs_that_the_shim_cannot_enter_are_refused a_program_that_runs_is_probed_on_request \
	a_program_with_the_shim_is_probed_all_the_same \
	a_program_with_the_shim_is_told_of_when_a_recorder_comes a_static_program_is_probed_likewise \
	a_program_that_is_executed_is_probed_where_it_maps_the_same \
	another_allocator_is_probed_instead probes_are_refused_where_they_cannot_be \
	sampled_bytes_stand_for_all a_million_samples_are_live
