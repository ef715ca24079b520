# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# perf.sh: events of the scheduler as perf has recorded them.

# perf_events FILE PROGRAM: those of a file, in awk: $1 is the tid, $2 the time, which ns()
# takes, $3 the event, and field() takes a field of it by its name
perf_events()
{
	perf script -i "$1" --ns -F tid,time,event,trace -G 2>/dev/null | awk '
		function field(name)
		{
			match($0, " " name "=[^ ]+")
			return substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2)
		}
		function ns(text,   part)
		{
			split(text, part, /[.:]/)
			return part[1] * 1e9 + part[2]
		}
		'"$2"
}
