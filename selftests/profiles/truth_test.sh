#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# truth_test.sh EVENT [exact]: profiles the truth programs three times each and holds the profiles
# to the truth. "exact" is for machines whose time is a count of instructions.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl "$here/truth_check"

event=${1:-timer}
exact=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

if [ "$exact" ]; then
	# 20000 samples, so that one more or less is no percent of any function
	serial=750000 threads=4000000 points=0.3 most=98 options="-e $event:10000"
else
	# many rounds: each function gets its part of what the machine does besides
	serial="200000 200" threads=220000000 points=1.5 most=90
	case $event in
	timer) options="-e timer -F 2000" ;;
	*) options="-e $event:500000" ;;
	esac
fi

# perf lowers the rate where handlers are slow, as emulated ones are, and the truth is
# about what was asked for.
if [ "$event" != timer ] && [ "$(id -u)" -eq 0 ]; then
	# once there is no limit in percent the rate cannot be changed
	echo 99 >/proc/sys/kernel/perf_cpu_time_max_percent
	echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
	echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
fi

# The machine has the event, as perf sees it, or all of this is left out.
need_event()
{
	[ "$event" = timer ] && return
	perf stat -x , -e "$event:u" true 2>&1 | grep -q '^[0-9]' && return
	skip "perf has no $event here"
}

# record PROGRAM RUN: a profile, and what the program says itself. Where the
# machine gave a function far more or less than the others (a busy host does that
# to a guest), it is not the profile's fault: once more then.
record()
{
	case $1 in
	serial) arguments=$serial ;;
	threads) arguments=$threads ;;
	esac
	for try in 1 2 3 4; do
		# shellcheck disable=SC2086 # words
		gprofctl cpu -v $options --user-only -o "$dir/$1$2.pb.gz" -- "$here/truth_$1" \
			$arguments >"$dir/$1$2.txt" 2>"$dir/$1$2.log" || {
			cat "$dir/$1$2.log"
			fail "gprofctl failed"
		}
		"$here/truth_check" "$1" quiet "$(awk "BEGIN { print $points / 2 }")" \
			"$dir/$1$2.txt" && break
		echo "$1, run $2, try $try: the machine was disturbed"
	done
}

every_run_is_recorded_without_loss()
{
	need_event
	for run in 1 2 3; do
		record serial $run
		record threads $run
	done
	cat "$dir"/*.log
	[ "$(cat "$dir"/*.log | grep -c '^produced=.* lost=0 overwritten=0 ')" -eq 6 ]
}

need_profiles()
{
	need_event
	[ -s "$dir/threads3.pb.gz" ] || fail "there are no profiles"
}

# of_each FACT [ARGS]: it holds of both programs, in all of their profiles
of_each()
{
	need_profiles
	for program in serial threads; do
		echo "$program:"
		"$here/truth_check" $program "$@" "$dir"/$program?.pb.gz
	done
}

shares_are_the_truth() { of_each shares $points; }
stacks_are_complete() { of_each stacks; }
there_is_little_else() { of_each most $most; }

runs_agree()
{
	need_profiles
	[ "$exact" ] || skip "runs agree to the sample only where time is a count of instructions"
	of_each agree 1
}

shares_are_what_the_programs_measured()
{
	need_profiles
	for program in serial threads; do
		for run in 1 2 3; do
			"$here/truth_check" $program measured $points "$dir/$program$run.txt" \
				"$dir/$program$run.pb.gz"
		done
	done
}

ranks_are_right()
{
	need_profiles
	"$here/truth_check" serial ranks "$dir"/serial?.pb.gz
}

ktap_run every_run_is_recorded_without_loss shares_are_the_truth \
	shares_are_what_the_programs_measured ranks_are_right stacks_are_complete runs_agree \
	there_is_little_else
