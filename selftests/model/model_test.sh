#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# model_test.sh: spin goes through every order of events that ring.pml allows,
# in a bounded size. Each thing that Documentation/design/ring.rst calls necessary is then
# left out, and must be missed. Needs spin and a compiler, no module.
#
# GPROF_MODEL_SIZE=large adds an interrupt between task and NMI: minutes.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null
. "$here/ktap.sh"

model=$here/ring.pml

# explore DIR DEFINES...: errors, as spin counts them, to DIR/errors
explore()
{
	dir=$1
	shift
	command -v spin >/dev/null || skip "no spin: install the package spin"
	mkdir "$dir"
	(
		cd "$dir" || exit 1
		spin -a "$@" "$model" >spin.log 2>&1 || fail "$(cat spin.log)"
		"${CC:-cc}" -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=3000 -o pan pan.c
		./pan -m100000 >pan.log 2>&1 || fail "$(cat pan.log)"
		sed -n 's/.*errors: \([0-9]*\)$/\1/p' pan.log >errors
		# a search that was cut short has shown nothing
		! grep -q 'out of memory\|max search depth too small\|not completed' pan.log ||
			[ "$(cat errors)" -gt 0 ] || fail "$(cat pan.log)"
		grep 'states, stored' pan.log
		grep 'assertion violated\|invalid end state (' pan.log || true
	)
}

holds()
{
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	explore "$tmp/model" "$@"
	[ "$(cat "$tmp/model/errors")" = 0 ]
}

is_found()
{
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	explore "$tmp/model" -DIRQ_SAMPLES=0 "$@"
	[ "$(cat "$tmp/model/errors")" -gt 0 ]
}

stream_is_complete_and_adds_up() { holds -DIRQ_SAMPLES=0; }
stream_with_three_levels_adds_up() { holds -DTASK_SAMPLES=1; }
flight_is_complete_and_adds_up() { holds -DIRQ_SAMPLES=0 -DFLIGHT; }
large_stream_adds_up()
{
	[ "$GPROF_MODEL_SIZE" = large ] || skip "minutes: set GPROF_MODEL_SIZE=large"
	holds
}
large_flight_adds_up()
{
	[ "$GPROF_MODEL_SIZE" = large ] || skip "minutes: set GPROF_MODEL_SIZE=large"
	holds -DFLIGHT -DTASK_SAMPLES=1
}

store_of_head_without_release_is_found() { is_found -DNO_RELEASE; }
load_of_head_without_acquire_is_found() { is_found -DNO_ACQUIRE; }
store_of_tail_without_release_is_found() { is_found -DNO_TAIL_RELEASE; }
inner_producer_that_publishes_is_found() { is_found -DNO_NESTING_CHECK; }
missing_second_look_is_found() { is_found -DNO_SECOND_LOOK; }
reservation_without_compare_is_found() { is_found -DNO_COMPARE; }
inner_producer_that_cuts_is_found() { is_found -DINNER_CUTS; }
room_for_one_too_many_is_found() { is_found -DOFF_BY_ONE; }
missing_write_barrier_in_flight_is_found() { is_found -DFLIGHT -DNO_WRITE_BARRIER; }
missing_read_barrier_in_flight_is_found() { is_found -DFLIGHT -DNO_READ_BARRIER; }
store_of_head_without_release_in_flight_is_found() { is_found -DFLIGHT -DNO_RELEASE; }
missing_second_look_in_flight_is_found() { is_found -DFLIGHT -DNO_SECOND_LOOK; }
inner_producer_that_publishes_in_flight_is_found() { is_found -DFLIGHT -DNO_NESTING_CHECK; }
room_for_one_too_many_in_flight_is_found() { is_found -DFLIGHT -DOFF_BY_ONE; }

ktap_run stream_is_complete_and_adds_up stream_with_three_levels_adds_up \
	flight_is_complete_and_adds_up large_stream_adds_up large_flight_adds_up \
	store_of_head_without_release_is_found load_of_head_without_acquire_is_found \
	store_of_tail_without_release_is_found inner_producer_that_publishes_is_found \
	missing_second_look_is_found reservation_without_compare_is_found \
	inner_producer_that_cuts_is_found room_for_one_too_many_is_found \
	missing_write_barrier_in_flight_is_found missing_read_barrier_in_flight_is_found \
	store_of_head_without_release_in_flight_is_found \
	missing_second_look_in_flight_is_found \
	inner_producer_that_publishes_in_flight_is_found \
	room_for_one_too_many_in_flight_is_found
