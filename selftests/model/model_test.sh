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

need spin "${CC:-cc}"

model=$here/ring.pml

# explore DIR DEFINES...: errors, as spin counts them, to DIR/errors
explore()
{
	dir=$1
	shift
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

# errors DEFINES...: how many
errors()
{
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	explore "$tmp/model" "$@" >&2
	cat "$tmp/model/errors"
}

holds() { [ "$(errors "$@")" = 0 ]; }
is_found() { [ "$(errors -DIRQ_SAMPLES=0 "$@")" -gt 0 ]; }

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

each_thing_that_is_necessary_is_missed()
{
	for left_out in NO_RELEASE NO_ACQUIRE NO_TAIL_RELEASE NO_NESTING_CHECK NO_SECOND_LOOK \
		NO_COMPARE INNER_CUTS OFF_BY_ONE "FLIGHT -DNO_WRITE_BARRIER" \
		"FLIGHT -DNO_READ_BARRIER" "FLIGHT -DNO_RELEASE" "FLIGHT -DNO_SECOND_LOOK" \
		"FLIGHT -DNO_NESTING_CHECK" "FLIGHT -DOFF_BY_ONE"; do
		# shellcheck disable=SC2086	# words
		(is_found -D$left_out) || fail "$left_out is not found"
	done
}

ktap_run stream_is_complete_and_adds_up stream_with_three_levels_adds_up \
	flight_is_complete_and_adds_up large_stream_adds_up large_flight_adds_up \
	each_thing_that_is_necessary_is_missed
