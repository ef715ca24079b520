#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# python_names_test.sh: with --python, stacks have what an interpreter of Python runs, in the
# right order among C code, and as often as it says itself; and no name of code that was
# gone when it was looked for.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl python3

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

python3 -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 13)))' || {
	echo "TAP version 13"
	echo "1..0 # SKIP this python3 is none of those that --python knows"
	exit 4
}

# record SECONDS PROGRAM: what the program says goes to said, its stacks to stacks
record()
{
	echo "def spin_a(n):$spin" >work.py
	echo "def spin_b(n):$spin" >>work.py
	cat >>work.py
	gprofctl cpu --python -F 500 -o x.pb.gz -- python3 work.py "$1" >said 2>err || {
		cat err
		return 1
	}
	cat err said
	gprofctl top -v x.pb.gz -n 5 | grep ^Comment
	gprofctl collapsed x.pb.gz >stacks
}

# The same work in each function that has it, and nothing is called but by the interpreter.
spin='
    x = 0
    while n:
        x = (x * 31 + n) & 0xffff
        n -= 1
    return x
'

# share NAME REGEX: percent of the samples of work() whose functions of Python are these
share()
{
	awk -v want="$1" -v names="$2" '
	{
		value = $NF
		sub(/ [0-9]+$/, "")
		nr = split($0, frames, ";")
		chain = ""
		for (i = 1; i <= nr; i++)
			if (frames[i] ~ "^(" names "|\\[python: unknown\\])$")
				chain = chain (chain ? ";" : "") frames[i]
		if (chain !~ /(^|;)work(;|$)/)
			next
		all += value
		if (chain == want)
			here += value
	}
	END { printf "%.1f\n", all ? 100 * here / all : 0 }' stacks
}

# near PERCENT WANTED POINTS WHAT
near()
{
	echo "$4: $1 % of the samples, $2 % of the time"
	awk -v a="$1" -v b="$2" -v points="$3" \
		'BEGIN { exit !(a - b <= points && b - a <= points) }' ||
		fail "$4 has $1 %, not $2 %"
}

calls='import sys, time
now = time.thread_time
spent = [0, 0, 0]
def leaf(n):
    return spin_a(n)
class Sorter:
    def key(self, n):
        return spin_b(n)
    def sort(self, n):
        return sorted([n, n, n], key=self.key)
def counter(n):
    for i in range(2):
        yield spin_a(n)
def summer(n):
    return sum(counter(n))
def work(n):
    t = now()
    leaf(n)
    u = now()
    summer(n)
    v = now()
    Sorter().sort(n)
    w = now()
    spent[0] += u - t
    spent[1] += v - u
    spent[2] += w - v
end = time.thread_time() + float(sys.argv[1])
while now() < end:
    work(20000)
print(*[100 * s / sum(spent) for s in spent])
'
functions='<module>|work|leaf|spin_a|spin_b|Sorter.key|Sorter.sort|counter|summer'

functions_are_in_their_order_and_have_their_share()
{
	record 8 <<-END
	$calls
	END
	read -r leaf summer sort <said
	near "$(share '<module>;work;leaf;spin_a' "$functions")" "$leaf" 3 leaf
	near "$(share '<module>;work;summer;counter;spin_a' "$functions")" "$summer" 3 summer
	near "$(share '<module>;work;Sorter.sort;Sorter.key;spin_b' "$functions")" "$sort" 3 sort
}

c_code_stands_where_it_was_called()
{
	record 5 <<-END
	$calls
	END
	# sorted() is C code, and calls key(); sum() likewise what runs the generator, which is
	# made by a call without any.
	! grep -E 'Sorter\.sort;Sorter\.key|summer;counter;spin_a' stacks ||
		fail "no C code between what C code has called"
	# the interpreter calls these by itself
	! grep -E '(work;[^;]*;leaf|leaf;[^;]*;spin_a|Sorter.key;[^;]*;spin_b)(;| )' stacks ||
		fail "something between what the interpreter has called"
	grep -qE 'Sorter\.sort;.*list_sort|Sorter\.sort;[^ ]*Sorter\.key' stacks
	# what interprets is not told beside what it interprets
	awk '/;work;.*_PyEval_EvalFrameDefault/ { n += $NF } /;work;/ { all += $NF }
	     END { exit !(all && n / all < 0.01) }' stacks || fail "the interpreter itself"
}

lines_are_those_of_the_source()
{
	record 5 <<-END
	$calls
	END
	gprofctl list spin_a x.pb.gz --source "$dir" >listed
	cat listed
	# of its loop, lines 3 to 5; nearly all of the time
	awk 'BEGIN { ns["s"] = 1e9; ns["ms"] = 1e6; ns["us"] = 1e3 }
	     $2 in ns && $5 ~ /^[0-9]+$/ {
		all += $1 * ns[$2]
		if ($5 >= 3 && $5 <= 5)
			in_loop += $1 * ns[$2]
	     }
	     END { exit !(all && in_loop / all > 0.9) }' listed || fail "other lines"
}

# Code is made in the place of other code, all the time.
code_that_was_gone_has_no_name_of_what_came_in_its_place()
{
	record 8 <<-END
	import sys, time
	text = """
	def name(n):$spin
	name(%d)
	"""
	def work(name, n):
	    exec(text.replace("name", name) % n, {})
	spent = [0, 0]
	end = time.thread_time() + float(sys.argv[1])
	while time.thread_time() < end:
	    t = time.thread_time()
	    work("once", 3000)
	    u = time.thread_time()
	    work("much", 9000)
	    spent[0] += u - t
	    spent[1] += time.thread_time() - u
	print(*[100 * s / sum(spent) for s in spent])
	END
	read -r once much <said
	names='<module>|work|once|much'
	unknown=$(share '<module>;work;[python: unknown];[python: unknown]' "$names")
	once_share=$(share '<module>;work;<module>;once' "$names")
	much_share=$(share '<module>;work;<module>;much' "$names")
	echo "once $once_share % of $once %, much $much_share % of $much %, unknown $unknown %"
	# none has more than it took
	awk -v a="$once_share" -v b="$once" -v c="$much_share" -v d="$much" \
		'BEGIN { exit !(a < b + 3 && c < d + 3) }' || fail "a name that is another's"
}

threads_have_their_own_frames()
{
	record 6 <<-END
	import sys, time, _thread
	done = []
	def work():
	    while time.process_time() < end:
	        spin_a(10000)
	    done.append(1)
	def other():
	    while time.process_time() < end:
	        spin_b(10000)
	    done.append(1)
	end = time.process_time() + float(sys.argv[1])
	_thread.start_new_thread(other, ())
	work()
	while len(done) < 2:
	    time.sleep(0.01)
	END
	! grep -E '(work;.*spin_b|other;.*spin_a)' stacks || fail "another thread's frames"
	grep -q 'work;spin_a' stacks || fail "not of the first thread"
	grep -q 'other;spin_b' stacks || fail "not of the second"
}

deep_recursion_is_cut_and_says_so()
{
	record 4 <<-END
	import sys, time
	sys.setrecursionlimit(5000)
	def deep(n):
	    return deep(n - 1) if n else spin_a(20000)
	def work():
	    deep(1000)
	end = time.thread_time() + float(sys.argv[1])
	while time.thread_time() < end:
	    work()
	END
	grep -q 'deep;deep;deep;spin_a' stacks || fail "no stack that ends in what was called"
	! grep -q 'work;spin_a' stacks || fail "frames were left out amid others"
}

without_it_there_are_none()
{
	{
		echo "def spin_a(n):$spin"
		echo "def spin_b(n):$spin"
		echo "$calls"
	} >work.py
	gprofctl cpu -F 500 -o y.pb.gz -- python3 work.py 2
	gprofctl collapsed y.pb.gz >stacks
	! grep -E 'Sorter|spin_a|python: ' stacks || fail "frames that nobody asked for"
	status=0
	gprofctl cpu --python --no-unwind-tables -- true || status=$?
	[ $status -eq 2 ] || fail "status $status"
}

# One that says of itself that it is the next version, of which nothing is known.
another_version_is_named_with_what_works_there()
{
	python3 - <<-'END'
	import struct
	d = bytearray(open("/proc/self/exe", "rb").read())
	table, = struct.unpack_from("<Q", d, 40)
	nr, = struct.unpack_from("<H", d, 60)
	parts = [struct.unpack_from("<IIQQQQIIQQ", d, table + 64 * i) for i in range(nr)]
	symbols = next(p for p in parts if p[1] == 11)
	names = parts[symbols[6]][4]
	for at in range(symbols[4], symbols[4] + symbols[5], 24):
	    name, _, _, part, value, _ = struct.unpack_from("<IBBHQQ", d, at)
	    if d[names + name:names + name + 11] == b"Py_Version\0":
	        d[value - parts[part][3] + parts[part][4] + 2] += 1
	open("python-next", "wb").write(d)
	END
	chmod +x python-next
	next=$(python3 -c 'import sys; print("3.%d" % (sys.version_info[1] + 1))')
	gprofctl cpu --python -o x.pb.gz -- ./python-next -c 'for i in range(10000000): pass' 2>err
	cat err
	grep -q "Python $next is not supported.*python3 -X perf" err
	gprofctl cpu -o x.pb.gz -- ./python-next -c 'for i in range(1000000): pass' 2>err
	! grep -q 'not supported' err || fail "nobody asked"
}

# It is looked at once, before its mappings are read.
what_sleeps_is_named_with_its_lines()
{
	cat >sleeper.py <<-'END'
	import time
	def waits(n):
	    if n:
	        return waits(n - 1)
	    time.sleep(1000)
	waits(2)
	END
	python3 sleeper.py &
	pid=$!
	sleep 3
	gprofctl task --python --user-only --format traceback -p $pid >out
	kill $pid
	cat out
	[ "$(sed -n 's/^    \(waits\|<module>\)  \(.*\)  0$/\1 \2/p' out | tr '\n' ' ')" = \
		"waits $PWD/sleeper.py:5 waits $PWD/sleeper.py:4 waits $PWD/sleeper.py:4 <module> $PWD/sleeper.py:6 " ]
}

ktap_run what_sleeps_is_named_with_its_lines functions_are_in_their_order_and_have_their_share \
	c_code_stands_where_it_was_called lines_are_those_of_the_source \
	code_that_was_gone_has_no_name_of_what_came_in_its_place threads_have_their_own_frames \
	deep_recursion_is_cut_and_says_so without_it_there_are_none \
	another_version_is_named_with_what_works_there
