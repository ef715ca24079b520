#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage_test.sh: what is typed wrongly, and what gprofctl says to it.  Runs on the host.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# Lines "STATUS WORD[;WORD]... | COMMAND LINE": the answer has all the words, among them
# the one that is wrong, on stderr alone, in at most two lines of 80 columns. Behind a second
# bar are words, each of which stands for the @ of a line of its own.
# $P is a profile, $T text, $N a name that is not there, $D a directory; in $A is gprofctl alone,
# in $B gprof-agent too, and in $X a gprof-agent that cannot be run.
options()
{
	awk -F ' [|] ' '
		NF < 3 { print; next }
		{
			n = split($3, words, "; ")
			for (i = 1; i <= n; i++) {
				line = $1 " | " $2
				gsub("@", words[i], line)
				print line
			}
		}' <<'EOF'
2 subcommand;--help | gprofctl
2 "@" | gprofctl '@' | nonsense; --verison; -x
2 "@";top | gprofctl '@' | tpo; to p
2 "cpuu";cpu | gprofctl cpuu -a
2 "flme";flame | gprofctl flme x
2 "@";view | gprofctl '@' | report; web
2 "annotate";disasm | gprofctl annotate main
2 "script";collapsed | gprofctl script
2 "@";mutex | gprofctl '@' -a | lock; locks
2 "sched";latency | gprofctl sched
2 "@";syscalls | gprofctl '@' | strace; syscall
2 "@";heap | gprofctl '@' | mem; leaks
2 "version";--version | gprofctl version
2 "pprof";view | gprofctl pprof $P
2 "list-events";info | gprofctl list-events
2 "callgraph";peek | gprofctl callgraph $P
2 "source";list | gprofctl source main
2 "timelin";timeline | gprofctl timelin x
2 -http;view opens | gprofctl view -http=:8080 $P
2 -http;view opens | gprofctl top -http :8080 $P
2 -heap;--help | gprofctl top -heap $P
2 -cum;--cum | gprofctl top -cum $P
2 -cumulative;--cum | gprofctl top -cumulative $P
2 -diff_base;diff OLD NEW | gprofctl top -diff_base=$P $P
2 --base;diff OLD NEW | gprofctl diff --base $P $P
2 --sort;--cum | gprofctl top $P --sort cum
2 -focus;--focus | gprofctl top -focus=main $P
2 -ignor;--ignore | gprofctl top -ignor=main $P
2 --stdio;top writes | gprofctl top --stdio $P
2 --json;top --json | gprofctl @ | collapsed $P --json; csv $P --json
2 --inverted;view | gprofctl flame $P --inverted
2 --call-graph;always | gprofctl cpu --call-graph dwarf -a
2 -g;always | gprofctl @ | cpu -g -a; cpu -ag
2 -Z | gprofctl cpu -aZ
2 "@";process | gprofctl top $P --by '@' | pid; proces
2 "@";thread | gprofctl top $P --by '@' | tid; threads
2 "dso";module | gprofctl top $P --by dso
2 main;function comes first;@ main | gprofctl @ $P main | peek; list; disasm
2 --nonsense | gprofctl cpu --nonsense -- true
2 --frequncy;--frequency | gprofctl cpu --frequncy 10 -- true
2 --pids;--pid | gprofctl cpu --pids 1
2 -Z;--help | gprofctl cpu -Z
2 -e;EVENT | gprofctl cpu -e
2 -o;FILE | gprofctl cpu -o
2 -d;TIME | gprofctl cpu -a -d
2 -p;PID | gprofctl cpu -p
2 --all | gprofctl cpu --all=3
2 --kernel | gprofctl cpu --kernel=yes
2 nothing;-p PID | gprofctl @ | cpu; latency
2 nothing | gprofctl @ | cpu -d 1; task; trace
2 "@";process | gprofctl cpu -p '@' | x; 0; -1; 1,2; 99999999999; 1k
2 "";process | gprofctl cpu -p ''
2 "t1";thread | gprofctl cpu -t t1
2 -p;-t | gprofctl cpu -p 1 -t 1
2 -a;-p | gprofctl cpu -a -p 1
2 -G;-C | gprofctl cpu -G /x -C 0
2 "x";500ms | gprofctl cpu -a -d x
2 "0";above 0 | gprofctl cpu -a -d 0
2 "@" | gprofctl cpu -a -d '@' | -5; 5m; 5 s; 1e99; 5sec; 5mn
2 "0"; -F | gprofctl cpu -a -F 0
2 "@";-F | gprofctl cpu -a -F '@' | fast; -1; 1.5
2 "@";--precise | gprofctl cpu -a --precise '@' | 4; x
2 "@";--buffer | gprofctl cpu -a --buffer '@' | 0; 4X
2 "@";cycles | gprofctl cpu -a -e '@' | cycle; cylces
2 "cache-mises";cache-misses | gprofctl cpu -a -e cache-mises
2 "instruction";instructions | gprofctl cpu -a -e instruction
2 "branch-mises";branch-misses | gprofctl cpu -a -e branch-mises
2 "page-fault";page-faults | gprofctl cpu -a -e page-fault
2 "timr";timer | gprofctl cpu -a -e timr
2 "cpu-clok";cpu-clock | gprofctl cpu -a -e cpu-clok
2 cycles:0;cycles:1M | gprofctl cpu -a -e cycles:0
2 cycles:many | gprofctl cpu -a -e cycles:many
2 cycles:1x | gprofctl cpu -a -e cycles:1x
2 cycles:-5 | gprofctl cpu -a -e cycles:-5
2 cycles:99999999999999999999 | gprofctl cpu -a -e cycles:99999999999999999999
2 cycles:k;--focus kernel | gprofctl cpu -a -e cycles:k
2 cycles:pppp;:ppp | gprofctl cpu -a -e cycles:pppp
2 cycles:G;:G | gprofctl cpu -a -e cycles:G
2 cycles:;cycles:1M | gprofctl cpu -a -e cycles:
2 ":5";event | gprofctl cpu -a -e :5
2 "";event | gprofctl cpu -a -e ''
2 sched:sched_switch;gprofctl profile | gprofctl cpu -a -e sched:sched_switch
2 timer:5;-F | gprofctl cpu -a -e timer:5
2 cycles;twice | gprofctl cpu -a -e cycles -o a -e cycles -o b
2 x.pb | gprofctl cpu -e timer -o x.pb -e r11 -o x.pb -- true
2 cycles;twice | gprofctl cpu -a -e cycles -o a -e cpu-cycles -o b
2 instructions;-o | gprofctl cpu -a -e cycles -o a -e instructions
2 a.pb;before | gprofctl cpu -a -o a.pb -e cycles -e instructions
2 b;one event | gprofctl cpu -a -e cycles -o a -o b
2 --user-only;--kernel | gprofctl @ | cpu -a --user-only --kernel; cpu -a --kernel -e cycles:u
2 --idle;--latency | gprofctl cpu -a --idle --latency
2 --user-only;--idle | gprofctl cpu -a --idle --user-only
2 page-faults;page-faults:N | gprofctl cpu -a -e page-faults -F 100
2 context-switches | gprofctl cpu -a -e cs -F 100
2 gprofctl cpu;-e CATEGORY:NAME | gprofctl profile -a
2 gprofctl cpu | gprofctl profile -- ls
2 "@" | gprofctl profile -a -e '@' | sched:; :x; a:b:c; a/b/
2 "" | gprofctl profile -a -e ''
2 a:b;twice | gprofctl profile -a -e a:b -o x -e a:b -o y
2 pid != 1;before every -e | gprofctl profile -a --filter 'pid != 1' -e a:b
2 a:b;&& | gprofctl profile -a -e a:b --filter x --filter y
2 "@";--every | gprofctl profile -a -e a:b --every '@' | 0; x
2 "0";--rate | gprofctl profile -a -e a:b --rate 0
2 --evry;--every | gprofctl profile -a -e a:b --evry 3
2 "@";--every | gprofctl block -a --every '@' | 0; often
2 --rate;--help | gprofctl block -a --rate 5
2 "0";--every | gprofctl mutex -a --every 0
2 "x";--buffer | gprofctl mutex -a --buffer x
2 "0" | gprofctl alloc -a --every 0
2 "lots" | gprofctl heap -a --every lots
2 "xml" | gprofctl heap -a --format xml
2 -e | gprofctl record -a
1 cqu;there are | gprofctl record -a -e cqu
2 cpu | gprofctl record -a -e cpu:0
2 block | gprofctl record -a -e block:x
2 cpu;twice | gprofctl record -a -e cpu -e cpu
2 "xml" | gprofctl task -a --format xml
2 no command | gprofctl @ | task -a -- true; task -p 1 true
2 --leaks;a command | gprofctl heap --leaks -a -- true
2 -n;--leaks | gprofctl @ | heap -n 3 -- true; heap --leaks --json -n 3 -- true
2 -n;above 0 | gprofctl heap --leaks -n 0 -- true
2 --uprobes;-p | gprofctl heap --uprobes -a -- true
2 one moment;-d | gprofctl task -a -d 1
2 "1.2" | gprofctl trace -a --go-version 1.2
2 "@" | gprofctl trace -a --generation '@' | x; 0
2 "everything" | gprofctl trace -a --stacks=everything
2 "x" | gprofctl trace -a --min-duration x
2 -o | gprofctl flight -a
2 "x" | gprofctl flight -a -o d --min-age x
2 "0" | gprofctl flight -a -o d --max-bytes 0
2 delay | gprofctl flight -a -o d --trigger delay
2 "dellay";delay | gprofctl flight -a -o d --trigger 'dellay>5ms'
2 delay;"x" | gprofctl flight -a -o d --trigger 'delay>x'
2 "x" | gprofctl flight -a -o d --keep x
2 "@" | gprofctl schedstat --hz '@' | x; 100001
2 "x";--rate | gprofctl schedstat --rate x
2 "x" | gprofctl schedstat -i x
2 "nonsense" | gprofctl schedstat --metric nonsense
2 "@" | gprofctl serve --listen '@' | x; 99999
2 "x" | gprofctl serve --max-seconds x
2 "a:80" | gprofctl serve --host a:80
2 "x" | gprofctl serve --socket /tmp/s --socket-mode x
2 "0" | gprofctl serve --max-recordings 0
2 "0" | gprofctl serve --max-memory 0
2 one profile | gprofctl @ | top; top a b; flame -o x.svg; view; collapsed; csv
2 "@";-n | gprofctl top $P -n '@' | 0; ten; -3; 1e9
2 time;samples, cpu | gprofctl top $P --type time
2 "@" | gprofctl top $P --by '@' | user; label=
2 "(";regular | gprofctl top $P --focus '('
2 "[";regular | gprofctl top $P --ignore '['
2 "*a**(";regular | gprofctl top $P --hide '*a**('
2 "";regular | gprofctl top $P --focus ''
2 --focus;a|b | gprofctl top $P --focus a --focus b
2 "@";--pid | gprofctl top $P --pid '@' | x; 0; 1:2
2 "1,,2" | gprofctl top $P --pid 1,,2
2 "";--comm | gprofctl top $P --comm ''
2 "@";--label | gprofctl top $P --label '@' | cpu; =3; cpu=
2 --comm | gprofctl top $P --comm
2 --foccus;--focus | gprofctl top $P --foccus x
2 --ratio | gprofctl @ | top --ratio $P/$P --by cpu; top --ratio $P/$P $P
2 two profiles | gprofctl @ | diff $P; diff $P $P $P
2 stdin | gprofctl @ | diff - -; view - -
2 --subtract | gprofctl diff $P $P --subtract -o x.svg
2 output | gprofctl flame $P
2 one profile;two | gprofctl view a b c
1 $N | gprofctl @ | view $P $N -o x.html; top $N; flame $N -o x.svg; view $N -o x.html; peek main $N
1 $N | gprofctl @ | list main $N; collapsed $N; csv $N; diff $N $P; diff $P $N; read $N; mmu $N
1 $N | gprofctl @ | serve --web.config.file $N; latency $N; timeline $N -o x.html
2 function and a profile | gprofctl @ | peek main; list main; disasm main
2 "0";-n | gprofctl peek main $P -n 0
2 "x";-n | gprofctl list main $P -n x
1 "nosuch" | gprofctl disasm nosuch $P
2 "@" | gprofctl mmu $T --window '@' | 0ms; soon
2 "2" | gprofctl mmu $T --quantiles 2
2 "x" | gprofctl mmu $T --worst x
2 lots | gprofctl mmu $T --flags lots
2 "pertask,perprocess";one of | gprofctl mmu $T --flags pertask,perprocess
2 perprocess | gprofctl mmu $T --flags perproces
2 "xml" | gprofctl read $T --format xml
2 "x" | gprofctl read $T --pprof x
1 $T;profile | gprofctl @ | top $T; view $T -o x.html; csv $T; diff $P $T
1 "@" | gprofctl peek '@' $P | nosuch; a[
1 "nosuch" | gprofctl list nosuch $P
1 /nonexistent/x | gprofctl @ | flame $P -o /nonexistent/x; view $P -o /nonexistent/x
1 /nonexistent/x | gprofctl @ | collapsed $P -o /nonexistent/x; diff $P $P -o /nonexistent/x
2 "";name of a profile | gprofctl @ | top ''; flame '' -o x.svg; diff $P ''
2 "";to write | gprofctl @ | flame $P -o ''; collapsed $P -o ''
2 "";samples, cpu | gprofctl top $P --type ''
2 wall;samples, cpu | gprofctl view $P --type wall -o x.html
2 heap;samples, cpu | gprofctl diff $P $P --type heap
2 "3";samples, cpu | gprofctl csv $P --type 3
2 "";name of a function | gprofctl @ | peek '' $P; list '' $P; disasm '' $P
2 --help;no argument | gprofctl top --help=x
2 "nonsense";--help | gprofctl help nonsense
2 "tpo";top | gprofctl --help tpo
2 "";--help | gprofctl ''
2 "--";--help | gprofctl -- top
2 "x";--store | gprofctl history x
2 --store;push | gprofctl history
2 --nonsense;history --help | gprofctl history --nonsense
2 "x";whole host | gprofctl push x
2 "http://h:1";--otlp | gprofctl push http://h:1
2 --url;push --help | gprofctl push --url x
2 --to;push --help | gprofctl push --to x
2 --pyroscope;--otlp URL | gprofctl push --pyroscope http://h:1
2 --parca;--otlp URL | gprofctl push --parca=http://h:1
2 --put;--otlp URL;store | gprofctl push --put http://h:1/{id}
2 twice;one engine | gprofctl push --otlp http://h:1 --otlp http://h:2
1 nonsense;gprofctl info | gprofctl stat -e nonsense -- true
2 -e;event | gprofctl stat -e '' -a
2 -I;stat --help | gprofctl stat -I x -a
2 -r;stat --help | gprofctl stat -r x -- true
2 "@";ADDR:PORT | gprofctl serve --listen '@' | :x; localhost:0x50
2 1.2.3.4.5:80 | gprofctl serve --listen 1.2.3.4.5:80
1 /nonexistent/dir/s | gprofctl serve --socket /nonexistent/dir/s
2 "-1";--max-seconds | gprofctl serve --max-seconds -1
2 "1Q";--max-memory | gprofctl serve --max-memory 1Q
2 --allow;serve --help | gprofctl serve --allow x
2 --socket;PATH | gprofctl serve --socket
2 "-5ms";--window | gprofctl mmu $T --window -5ms
2 "0.5,,1";--quantiles | gprofctl mmu $T --quantiles 0.5,,1
2 "-1";--worst | gprofctl mmu $T --worst -1
2 "STW";stw | gprofctl mmu $T --flags STW
2 --util;mmu --help | gprofctl mmu $T --util
2 one trace | gprofctl mmu $T extra
1 $T;trace | gprofctl @ | mmu $T --window 5; latency $T; timeline $T -o x.html; wall $T; syscalls $T
2 --by;latency --help | gprofctl latency $T --by x
2 "extra";-- | gprofctl latency $T extra
1 gprofctl: | gprofctl latency --follow -p 4194304
1 $N/gprofctl-;No such file | env TMPDIR=$N gprofctl wall -- true
2 -a;$T;-- | gprofctl latency -a $T
2 -p;$T;-- | gprofctl wall $T -p 1
2 -o;HTML | gprofctl timeline -o
2 "x";--from | gprofctl timeline $T --from x -o x.html
2 "-1";--to | gprofctl timeline $T --to -1 -o x.html
2 "extra";-- | gprofctl timeline $T extra -o x.html
2 --nonsense;wall --help | gprofctl wall $T --nonsense
2 --format;-o | gprofctl @ | read $T --format csv; read $T --pprof cpu --format csv
2 --join;GO.TRACE | gprofctl read $T --join
2 --source;DIR | gprofctl list main $P --source
2 --source;one profile | gprofctl view $P $P --source -o x.html
2 --sep;csv --help | gprofctl csv $P --sep ';'
2 "extra";doctor | gprofctl doctor extra
2 "extra";info | gprofctl info extra
2 --json;no argument | gprofctl info --json=3
2 --json;--list | gprofctl @ | custom --json -p 1 x; history --json --store $D
2 --json;stdout | gprofctl @ | symbolize $P --json -o -; heap --json -o - -- true
2 --json;--format text | gprofctl @ | task -a --json --format text; heap --json --format text -- true
2 --json;-o | gprofctl @ | wall $T --json -o x; why $T --json -o x; read $T --core --json -o x
2 --json;--openmetrics | gprofctl schedstat --json --openmetrics
2 --cum;no argument | gprofctl top $P --cum=yes
2 "extra";processes | gprofctl snapshot extra
2 -p PID;--list | gprofctl custom
2 --metric;NAME | gprofctl schedstat --metric
2 --tid;--pid | gprofctl top $P --tid 3
2 "tgid";process | gprofctl flame $P -o x.svg --by tgid
2 --width;flame --help | gprofctl flame $P -o x.svg --width 800
2 "pid";KEY=VALUE | gprofctl view $P --label pid
2 --ago;a time | gprofctl compare $P $P --ago now
2 --ago;store | gprofctl compare $P $P --ago 1h
2 --from;before --to | gprofctl @ | compare $D --ago 1h --from now; view --store $D --from now
1 $D;no cpu profile | gprofctl @ | compare $D --ago 1h; view --store $D
2 a time such as;"x" | gprofctl @ | compare $D $D --from x; view --store $D --to x
2 --store | gprofctl @ | view --store $D $P; view --from -1h $P
1 directory;compare;view --store | gprofctl top $D
2 --normalise;diff --help | gprofctl diff $P $P --normalise
2 "x";-n | gprofctl diff $P $P -n x
2 "";delay | gprofctl flight -a -o d --trigger ''
1 $D;directory | gprofctl @ | top $D; view $P -o $D
1 serve;in the package gprof-agent;apt-get install gprof-agent | env PATH=$D $A/gprofctl serve
1 history;in the package gprof-agent | env PATH=$D $A/gprofctl history --help
1 push;gprof-agent;Permission denied | env PATH=$X $A/gprofctl push
2 "x";whole host | env PATH=$D:$B $A/gprofctl push x
2 "x";whole host | env PATH=$D $B/gprofctl push x
2 gprofctl history --help | env PATH=$D:$B $A/gprofctl history --nonsense
2 gprof-agent: ;gprof-agent history --help | gprof-agent history --nonsense
2 "nonsense";serve, push and history | gprof-agent nonsense
EOF
}

wrong_options_are_named()
{
	cd "$dir" || return 1
	export P=$dir/p.pb T=$dir/text N=$dir/none D=$dir/directory
	export A=$dir/alone X=$dir/no B
	B=$(dirname "$(command -v gprofctl)")
	mkdir "$D" "$A" "$X"
	cp "$B/gprofctl" "$A"
	: >"$X/gprof-agent"
	# values of two types, one sample of a function "main"
	printf '\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x07\x0a\x01\x01\x12\x02\x01\x05' >"$P"
	printf '\x22\x06\x08\x01\x22\x02\x08\x01\x2a\x04\x08\x01\x10\x05' >>"$P"
	printf '\x32\x00\x32\x07samples\x32\x05count\x32\x03cpu\x32\x0bnanoseconds\x32\x04main' >>"$P"
	echo "this is text" >"$T"
	bad=0 rows=0
	gprofctl top "$P" | grep -q ' main$'
	while IFS= read -r row; do
		line=${row#* | } want=${row%% | *}
		status=${want%% *} words=${want#* }
		got=0
		(eval "timeout 20 $line") >out 2>err </dev/null || got=$?
		rows=$((rows + 1))
		why=
		[ "$got" -eq "$status" ] || why="status $got"
		[ ! -s out ] || why="$why, it writes to stdout"
		[ "$(fold -w 80 err | wc -l)" -le 2 ] || why="$why, more than two lines"
		IFS=';' read -ra list <<<"$words"
		for word in "${list[@]}"; do
			word=${word# }
			word=${word//\$P/$P} word=${word//\$T/$T} word=${word//\$N/$N} word=${word//\$D/$D}
			# the place of the test's own files is as long as it likes
			grep -qF -- "$word" err || why="$why, no $word"
		done
		if [ "$why" ]; then
			echo "$line: ${why#, }: $(cat err)"
			bad=$((bad + 1))
		fi
	done < <(options)
	echo "$rows rows, $bad bad"
	[ $rows -ge 320 ] && [ $bad -eq 0 ]
}

# tables: each view that writes lines, of the profile $1
tables()
{
	gprofctl top "$1"
	gprofctl top "$1" --by module
	gprofctl top "$1" --cum -n 5
	gprofctl diff "$1" "$1"
	gprofctl compare "$1" "$1" -n 5
	gprofctl peek . "$1"
}

# many_names FILE NAME: a sample of a function that is called so, in a file called so
many_names()
{
	name=$2 length=$(printf %s "$2" | LC_ALL=C wc -c)
	{
		printf '\x0a\x04\x08\x01\x10\x02\x12\x06\x0a\x01\x01\x12\x01\x05\x1a\x06\x08\x01\x18\x20\x28\x03'
		printf '\x22\x08\x08\x01\x10\x01\x22\x02\x08\x01\x2a\x06\x08\x01\x10\x03\x20\x03'
		printf '\x32\x00\x32\x07samples\x32\x05count\x32'
		# the length as protobuf has it
		if [ "$length" -lt 128 ]; then
			# shellcheck disable=SC2059 # digits
			printf "\\x$(printf %x "$length")"
		else
			# shellcheck disable=SC2059 # digits
			printf "\\x$(printf %x $((length % 128 + 128)))\\x$(printf %x $((length / 128)))"
		fi
		printf %s "$name"
	} >"$1"
}

# in_terminal COLUMNS COMMAND...: what it writes to a terminal as wide as that.  Only bash
# passes functions on, and script starts what $SHELL says, if that is set at all.
in_terminal()
{
	columns=$1
	shift
	PAGER=${PAGER-cat} SHELL=$BASH timeout 60 script -qec "stty cols $columns rows 24; $*" \
		/dev/null </dev/null | tr -d '\r'
}

tables_fit_their_terminal()
{
	command -v script >/dev/null || skip "there is no script(1)"
	many_names "$dir/long.pb" "$(printf 'a_%.0s' $(seq 120))"
	export -f tables
	for columns in 40 80 100 300; do
		in_terminal "$columns" "bash -c 'tables $dir/long.pb'" |
			sed "s/$(printf '\033')\\[[0-9]*m//g" >"$dir/out"
		[ "$(grep -c 'a_a' "$dir/out")" -ge 4 ]
		# numbers alone take 61 columns
		most=$((columns < 80 ? 80 : columns))
		wide=$(awk -v most=$most 'length > most' "$dir/out")
		[ -z "$wide" ] || fail "$columns columns: $wide"
	done
	# the function's name fits and is whole, and its file's is cut
	many_names "$dir/short.pb" "$(printf 'a_%.0s' $(seq 20))"
	in_terminal 110 "bash -c 'tables $dir/short.pb'" |
		sed "s/$(printf '\033')\\[[0-9]*m//g" >"$dir/out"
	grep -q " $(printf 'a_%.0s' $(seq 20)) \[a_a.*[.][.][.].*a_\]" "$dir/out"
	wide=$(awk 'length > 110' "$dir/out")
	[ -z "$wide" ] || fail "110 columns: $wide"
	# names are shown as far as there is room
	in_terminal 300 "gprofctl top $dir/long.pb --full-names" | grep -q "$(printf 'a_%.0s' $(seq 120))"
	in_terminal 40 "gprofctl top --help" >"$dir/out"
	[ -z "$(awk 'length > 80' "$dir/out")" ]
}

# Colours and the like are nobody's surprise: without a terminal, and in one without them.
plain_terminals_get_plain_text()
{
	command -v script >/dev/null || skip "there is no script(1)"
	many_names "$dir/plain.pb" main
	tables "$dir/plain.pb" >"$dir/pipe"
	export -f tables
	for how in TERM=dumb NO_COLOR=1 TERM= "NO_COLOR=1 LC_ALL=C" "NO_COLOR=1 LC_ALL=POSIX" \
		"NO_COLOR=1 LC_ALL=xx_YY.ISO-8859-1" "NO_COLOR=1 LANG="; do
		in_terminal 300 "env $how bash -c 'tables $dir/plain.pb 2>/dev/null' 2>/dev/null" >"$dir/out" || fail "$how"
		! LC_ALL=C grep -q "$(printf '\033')" "$dir/out" || fail "$how: escapes"
		diff "$dir/pipe" "$dir/out" || fail "$how"
		# shellcheck disable=SC2086 # words
		env $how bash -c "tables $dir/plain.pb" </dev/null >"$dir/out" 2>/dev/null
		diff "$dir/pipe" "$dir/out" || fail "$how, in a pipe"
	done
}

terminals_get_colours_and_a_pager()
{
	command -v script >/dev/null || skip "there is no script(1)"
	many_names "$dir/plain.pb" main
	export TERM=xterm
	in_terminal 100 "gprofctl top $dir/plain.pb" >"$dir/out"
	grep -q "$(printf '\033\\[31m100.00%%\033\\[m')" "$dir/out" || fail "no colours"
	PAGER='sed s/^/paged:/' in_terminal 100 "gprofctl top $dir/plain.pb; echo status \$?" >"$dir/paged"
	diff <(sed '$s/^paged:status/status/' "$dir/paged" | sed -n 's/^paged://p') "$dir/out"
	# The pager ends first, one that is not there costs nothing, and a pipe has none.
	[ "$(tail -n 1 "$dir/paged")" = "status 0" ]
	PAGER=/no/such/pager in_terminal 100 "gprofctl top $dir/plain.pb" 2>/dev/null >"$dir/none"
	grep -q "$(printf '\033\\[31m100.00%%')" "$dir/none" || fail "without its pager nothing is shown"
	PAGER='sed s/^/paged:/' gprofctl top "$dir/plain.pb" >"$dir/none"
	! grep -q paged: "$dir/none"
	PAGER='head -n 1' in_terminal 100 "gprofctl top $dir/plain.pb" >"$dir/none"
	[ "$(wc -l <"$dir/none")" -eq 1 ]
}

# A name may be any bytes: what is written is text, and no terminal obeys it.
names_of_all_bytes_are_text()
{
	# shellcheck disable=SC2059 # digits
	many_names "$dir/bytes.pb" "$(for ((i = 1; i < 256; i++)); do printf "\\x$(printf %x "$i")"; done)z"
	for view in "top --full-names" "top --by module" "csv" collapsed "collapsed --by module" \
		"flame -o -" "view -o -" "diff --full-names" "peek z$" "diff -o -" "top --focus z$"; do
		# shellcheck disable=SC2086 # words
		set -- $view
		command=$1
		shift
		case $command in
		peek) set -- "$@" "$dir/bytes.pb" ;;
		diff) set -- "$dir/bytes.pb" "$dir/bytes.pb" "$@" ;;
		*) set -- "$dir/bytes.pb" "$@" ;;
		esac
		gprofctl "$command" "$@" >"$dir/out" || fail "$view: status $?"
		[ "$view" != "diff -o -" ] || { gzip -dc "$dir/out" | grep -qa samples; continue; }
		[ -s "$dir/out" ] || fail "$view: nothing"
		iconv -f UTF-8 -t UTF-8 "$dir/out" >/dev/null || fail "$view: no UTF-8"
		! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$dir/out" || fail "$view: controls"
	done
}

# Help is no wider than a terminal of 80 columns, and tells of all that is understood.
help_is_no_wider_than_a_terminal()
{
	gprofctl --help >"$dir/help"
	sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$dir/help" >"$dir/subcommands"
	while read -r sub; do
		gprofctl "$sub" --help >"$dir/one" </dev/null
		# two examples, a blank line, and how it is called
		sed -n '/^$/q; /^  [^ ]/p' "$dir/one" | grep -Eq . || fail "$sub: no example first"
		sed -n '/^$/{ n; p; q }' "$dir/one" | grep -q "^Usage: gprofctl $sub " || fail "$sub"
		cat "$dir/one" >>"$dir/help"
	done <"$dir/subcommands"
	gprof-agent --help >>"$dir/help"
	# words are apart, in the column too where the first line begins
	gprof-agent serve --help | grep -q -- '| -G CGROUP |'
	wide=$(awk 'length > 80' "$dir/help")
	[ -z "$wide" ] || fail "$wide"
	[ "$(wc -l <"$dir/help")" -gt 500 ]
}

# Both begin with the commands that answer questions, each a subcommand that there is.
help_and_manual_answer_the_same_questions()
{
	page=$here/../../../Documentation/man/gprofctl.1
	[ -e "$page" ] || skip "the sources are not here"
	gprofctl --help | sed -n '/^To find:/,/^$/s/^  //p' >"$dir/help"
	[ "$(wc -l <"$dir/help")" -ge 14 ] || fail "$(cat "$dir/help")"
	sed -n '/^.Sh EXAMPLES/,/^.Ed/{ /^\./d; s/\\-/-/g; s/\\(aq/'"'"'/g; p }' "$page" >"$dir/page"
	diff "$dir/help" "$dir/page" || fail "help and manual page differ"
	gprofctl --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p' >"$dir/subcommands"
	sed 's/.* gprofctl \([a-z]*\).*/\1/' "$dir/help" | while read -r sub; do
		grep -qx "$sub" "$dir/subcommands" || fail "there is no $sub"
	done
}

# Shells complete the same subcommands and options that the help tells of.
shells_know_the_subcommands()
{
	completion=$here/../../../tools/cli/completion
	[ -d "$completion" ] || skip "the sources are not here"
	tried=0
	if command -v zsh >/dev/null; then
		zsh -fc "autoload -U compinit; compinit -D; . $completion/_gprofctl; _gprofctl_words" >"$dir/zsh"
		grep -qx 'view:.*' "$dir/zsh"
		zsh -fc ". $completion/_gprofctl; _gprofctl_options top" >"$dir/zsh"
		grep -q -- '--focus' "$dir/zsh"
		tried=1
	fi
	if command -v fish >/dev/null; then
		fish -c "source $completion/gprofctl.fish; complete -C 'gprofctl vi'" >"$dir/fish"
		grep -q '^view' "$dir/fish"
		fish -c "source $completion/gprofctl.fish; complete -C 'gprofctl top --fo'" >"$dir/fish"
		grep -q -- '^--focus' "$dir/fish"
		tried=1
	fi
	bash -c "source $completion/gprofctl.bash; COMP_WORDS=(gprofctl top --fo) COMP_CWORD=2; _gprofctl; printf '%s\n' \"\${COMPREPLY[@]}\"" \
		>"$dir/bash"
	grep -qx -- --focus "$dir/bash"
	many_names "$dir/types.pb" main
	bash -c "source $completion/gprofctl.bash; COMP_WORDS=(gprofctl top $dir/types.pb --type '') COMP_CWORD=4; _gprofctl; printf '%s\n' \"\${COMPREPLY[@]}\"" \
		>"$dir/bash"
	grep -qx samples "$dir/bash"
	# a profile of somebody who calls his type so
	# shellcheck disable=SC2016 # it is text
	LC_ALL=C sed 's/samples/$(>inj)/' "$dir/types.pb" >"$dir/foreign.pb"
	(cd "$dir" && bash -c "source $completion/gprofctl.bash; COMP_WORDS=(gprofctl top foreign.pb --type '') COMP_CWORD=4; _gprofctl; printf '%s\n' \"\${COMPREPLY[@]}\"") \
		>"$dir/bash"
	cat "$dir/bash"
	if command -v zsh >/dev/null; then
		for file in types foreign; do
			(cd "$dir" && zsh -fc ". $completion/_gprofctl; words=(gprofctl top $file.pb --type ''); _gprofctl_types") \
				>"$dir/zsh" || :
			cat "$dir/zsh"
			[ $file = foreign ] || grep -qx samples "$dir/zsh"
		done
		# what is typed is completed by these, and by no file
		zsh -fc "compadd() { print -rl -- \"\$@\"; }; . $completion/_gprofctl
			words=(gprofctl top $dir/types.pb --type ''); CURRENT=5; _gprofctl" >"$dir/zsh"
		grep -qx samples "$dir/zsh"
	fi
	if command -v fish >/dev/null; then
		for file in types foreign; do
			(cd "$dir" && fish -c "source $completion/gprofctl.fish; complete -C 'gprofctl top $file.pb --type '") \
				>"$dir/fish"
			cat "$dir/fish"
			[ $file = foreign ] || grep -qx samples "$dir/fish"
			! grep -q inj "$dir/fish" || fail "fish: $(cat "$dir/fish")"
		done
	fi
	[ ! -e "$dir/inj" ] || fail "what a profile calls its type was executed"
	[ $tried = 1 ] || echo "neither zsh nor fish is here"
}

help_has_no_option_that_is_refused()
{
	gprofctl cpu --help | grep -q -- '--duration TIME'
	gprofctl task --help | tee "$dir/task"
	grep -q -- '--all ' "$dir/task"
	! grep -q -- --duration "$dir/task"
}

# Files of each kind, each as its kind is called.
files_of_each_kind()
{
	"$here/views_load" profile 300 20 && gzip -dc profile >plain-profile
	"$here/trace_load" trace 5000 10 2 >/dev/null
	gprofctl read trace --format perfetto -o perfetto 2>/dev/null
	gzip -c trace >packed
	printf 'PERFILE2%0100d' 0 >perf
	cp "$(command -v gprofctl)" program
	# an ELF file of type ET_CORE, with nothing in it
	{
		head -c 16 program
		printf '\x04'
		tail -c +18 program | head -c 15
		head -c 400 /dev/zero
	} >core
	gprofctl view profile -o page && gprofctl flame profile -o picture
	gprofctl collapsed profile >text
	printf 'gprofraw%0400d' 0 >raw
	: >empty
	mkdir directory
}

# "KIND | WHAT IT IS | WHAT OPENS IT | and those of profile, trace and core that do"
kinds()
{
	cat <<'EOF'
profile | a profile | gprofctl view, top, flame, peek, list, disasm, diff, collapsed and csv | profile
plain-profile | a profile | gprofctl view, top, flame, peek, list, disasm, diff, collapsed and csv | profile
trace | a trace of a host | gprofctl timeline, wall, latency, read and mmu | trace
perfetto | a trace for Perfetto | ui.perfetto.dev |
perf | a recording of perf | perf report |
core | a core dump | gprofctl read --core |
raw | a raw flight snapshot | gprofctl read FILE -o OUTPUT |
program | a program or a library | gprofctl cpu |
packed | compressed | gzip -d |
page | a page | a browser |
picture | a page | a browser |
text | text | profiles and traces |
empty | empty | when it ends |
directory | a directory | gprofctl compare, view --store and history |
EOF
}

# What opens profiles, traces and core dumps; @ is the file.
openers()
{
	cat <<'EOF'
profile | gprofctl view @ -o out.html
profile | gprofctl top @
profile | gprofctl flame @ -o out.svg
profile | gprofctl peek function_1 @
profile | gprofctl list function_1 @
profile | gprofctl disasm function_1 @
profile | gprofctl diff @ @
profile | gprofctl compare @ @
profile | gprofctl collapsed @
profile | gprofctl csv @
trace | gprofctl timeline @ -o out.html
trace | gprofctl wall @
trace | gprofctl why @
trace | gprofctl latency @
trace | gprofctl read @
trace | gprofctl read @ --summary
trace | gprofctl read @ --regions
trace | gprofctl read @ --format perfetto -o out.perfetto
trace | gprofctl read @ --pprof wall -o out.pb.gz
trace | gprofctl read @ --join @
trace | gprofctl mmu @
core | gprofctl read --core @
EOF
}

# Each subcommand with a file of each kind: it opens it, or says what it is and what does.
files_of_the_wrong_kind_are_named()
{
	rm -rf "$dir/kinds"
	mkdir "$dir/kinds" && cd "$dir/kinds" || return 1
	files_of_each_kind
	pairs=0 bad=0
	while IFS='|' read -r kind what opens group; do
		kind=${kind% } what=${what# } opens=${opens# } group=${group# }
		what=${what% } opens=${opens% }
		while IFS='|' read -r wants line; do
			wants=${wants% } line=${line//@/$kind} got=0
			# of what is packed it is told what is wrong with it as a profile
			[ "$wants $kind" != "profile packed" ] || continue
			# which may be a store
			[[ $kind != directory || $line != *compare* ]] || continue
			eval "timeout 20 $line" >out 2>err </dev/null || got=$?
			pairs=$((pairs + 1)) why=
			if [ "$kind" = raw ] && [[ $line == *read* ]] && [[ $line != *--format* ]] &&
				[[ $line != *wall* ]] && [[ $line != *--join* ]]; then
				grep -q 'raw snapshot has format' err || why="not read"
			elif [ "$wants" = "$kind" ] && [ "$kind" = core ]; then
				grep -q 'no recorder' err || why="not read"
			elif [ "$wants" = "$group" ]; then
				# these need more than there is
				case $line in
				*list* | *disasm* | *--join*) ! grep -q 'open it$' err || why="not read" ;;
				*) [ $got = 0 ] || why="status $got" ;;
				esac
			else
				[ $got = 1 ] || why="status $got"
				grep -q "^gprofctl: $kind is $what" err || why="$why not $what"
				grep -qF -- "$opens" err || why="$why not $opens"
				[ "$(wc -l <err)" = 1 ] && [ ! -s out ] || why="$why more than a line"
			fi
			[ -z "$why" ] || bad=$((bad + 1))
			[ -z "$why" ] || echo "$line: $why: $(cat err)"
		done < <(openers)
	done < <(kinds)
	echo "$pairs pairs, $bad bad"
	[ $pairs -ge 250 ] && [ $bad = 0 ]
	# what is damaged, and what comes through a pipe, is told as before
	head -c 1000 profile >damaged
	! gprofctl top damaged 2>err || return 1
	grep -q 'gzip data end too early' err
	! (gprofctl wall - <profile) 2>err || return 1
	grep -q -- '^gprofctl: - is a profile; gprofctl view' err
	! (head -c 1000000 profile | gprofctl wall -) 2>err || return 1
	grep -q 'it is compressed' err
}

ktap_run wrong_options_are_named tables_fit_their_terminal plain_terminals_get_plain_text \
	terminals_get_colours_and_a_pager \
	names_of_all_bytes_are_text help_is_no_wider_than_a_terminal shells_know_the_subcommands \
	help_and_manual_answer_the_same_questions help_has_no_option_that_is_refused \
	files_of_the_wrong_kind_are_named
