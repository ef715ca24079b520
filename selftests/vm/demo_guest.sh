#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# demo_guest.sh: what the demo does in its guest. Debian's docutils makes HTML and TeX of the
# pages in /share/pages, two at a time; a profile and a trace of that go to /share.

set -euo pipefail

# How many kinds of recorders have begun?
started() { gprofctl info | awk '/, started, by / && !seen[$2]++ { n++ } END { print n + 0 }'; }

for page in /share/pages/*.rst; do
	printf '%s\n' "/usr/bin/rst2html5 $page ${page%.rst}.html" "/usr/bin/rst2latex $page ${page%.rst}.tex"
done >/tmp/jobs
# A package compiles its modules when it is installed; this one was only unpacked. The first
# recording of a file compiles its unwind table, without which its stacks are cut.
export PYTHONPYCACHEPREFIX=/tmp/pycache
for writer in html5 latex; do
	echo text >/tmp/text
	gprofctl cpu --python -o /dev/null -- python3 /usr/bin/rst2$writer /tmp/text /dev/null >/dev/null 2>&1
done

# Waits until both record it from its first instruction on.
bash -c 'kill -STOP $$; exec xargs -a /tmp/jobs -P 2 -n 3 python3' 2>/share/docutils.log &
work=$!
gprofctl trace --syscalls --stacks=blocked --generation 10 --buffer 16M -o /tmp/trace.out -p $work 2>/share/trace.log &
trace=$!
gprofctl cpu -v -F 250 --python -o /tmp/cpu.pb.gz -p $work 2>/share/cpu.log &
cpu=$!
for ((tries = 0; $(started) < 2; tries++)); do
	((tries < 600)) || {
		echo "the recorders did not start within some minutes" >&2
		exit 1
	}
	sleep 0.2
done
kill -CONT $work
wait $work
wait $trace
wait $cpu
cp /tmp/trace.out /tmp/cpu.pb.gz /share/
