#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# readme_test.sh: README is short, its pictures are there, and the commands that it shows
# under "Use" do what it says, run in their order as they stand.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
readme=$here/README.rst

dir=$(mktemp -d) || exit 1
server=''
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT

# command WORD: the first command of README that begins so
command_with()
{
	sed -n '/^Use$/,/^Limits$/s/^    //p' "$readme" | grep -m1 "^$1 " ||
		fail "README has no command $1"
}

# does WORD: runs it; its output is in $dir/out
does()
{
	line=$(command_with "$1")
	echo "$line"
	(cd "$dir" && PATH=$dir/bin:$PATH sh -c "$line") >"$dir/out" 2>&1 || {
		cat "$dir/out"
		fail "it ended with a status"
	}
	tail -n 5 "$dir/out"
}

readme_is_short()
{
	[ "$(wc -l <"$readme")" -le 90 ] || fail "$(wc -l <"$readme") lines"
	[ "$(wc -w <"$readme")" -le 700 ] || fail "$(wc -w <"$readme") words"
}

every_command_is_run_here()
{
	[ "$(sed -n '/^Use$/,/^Limits$/s/^    gprofctl \([a-z]*\) .*/\1/p' "$readme" | sort | xargs)" = \
		'block cpu flight heap timeline top trace view why' ]
}

cpu_profiles_a_command()
{
	does 'gprofctl cpu'
	# What it printed is the command's own output, whole.
	[ "$(grep -c '^INSERT' "$dir/out")" = 200000 ]
	[ -s "$dir/cpu.pb.gz" ]
}

top_names_its_functions()
{
	does 'gprofctl top'
	grep -q sqlite3 "$dir/out"
}

view_writes_a_page()
{
	does 'gprofctl view'
	grep -q '</html>' "$dir/cpu.html"
}

block_finds_a_process_and_its_waits()
{
	(cd "$dir" && exec ./server 40) &
	server=$!
	does 'gprofctl block'
	gprofctl collapsed --all-waits "$dir/block.pb.gz" | grep -q select ||
		fail "the server's sleep is not there"
}

heap_finds_what_was_not_freed()
{
	does 'gprofctl heap'
	grep -Eq 'never freed|not freed|in use' "$dir/out"
}

trace_has_the_server()
{
	[ -e /gprof/selftests/trace_wait ] || skip 'there is no program that waits'
	does 'gprofctl trace'
	gprofctl read "$dir/trace.out" --summary | grep -q server
}

timeline_draws_it()
{
	does 'gprofctl timeline'
	grep -q '</html>' "$dir/trace.html"
}

# Some thread waited, and the lines below divide the wait among threads.
why_tells_a_chain()
{
	does 'gprofctl why'
	head -n 1 "$dir/out" | grep -Eq '^[0-9]+ .* wait.* for .*, from [0-9.]+ to [0-9.]+ s$'
	awk 'NR == 1 {
		for (i = 1; i < NF; i++)
			if ($i == "from")
				wait = ($(i + 3) - $(i + 1)) * 1000
		next
	}
	/^In sum:/ { in_sum = 1; next }
	/^One behind/ { exit }
	in_sum && $2 == "ms" { sum += $1 }
	!in_sum && $2 == "ms" { sum += $1 }
	END { exit !(sum > 0 && sum < wait + 1) }' "$dir/out"
}

flight_keeps_the_seconds_before_a_delay()
{
	# Two that want one CPU for longer than that.
	for _ in 1 2 3; do
		timeout 60 sh -c 'while :; do :; done' &
	done
	does 'gprofctl flight'
	kill %2 %3 %4 2>/dev/null || true
	set -- "$dir"/dir/*delay.trace
	gprofctl read "$1" --summary >/dev/null
}

need gprofctl sqlite3 perl pgrep
mkdir "$dir/bin"
# The guest has pgrep alone.
# shellcheck disable=SC2016 # the other shell expands it
printf '#!/bin/sh\nexec pgrep -x "$1"\n' >"$dir/bin/pidof"
cat >"$dir/server" <<'END'
#!/usr/bin/perl
# sleeps and allocates, four seconds or as many as it is told
my ($end, @kept) = time + ($ARGV[0] // 4);
while (time < $end) {
	select undef, undef, undef, 0.01;
	push @kept, "x" x 10000;
	@kept = () if @kept > 2000;
}
END
chmod +x "$dir/server" "$dir/bin/pidof"
sqlite3 "$dir/shop.db" 'create table t(a, b);
	with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
	insert into t select i, i * i from n;'

ktap_run readme_is_short every_command_is_run_here cpu_profiles_a_command top_names_its_functions \
	view_writes_a_page block_finds_a_process_and_its_waits heap_finds_what_was_not_freed \
	trace_has_the_server timeline_draws_it why_tells_a_chain \
	flight_keeps_the_seconds_before_a_delay
