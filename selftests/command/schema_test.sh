#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# schema_test.sh [RUN-OPTION...]: what each command writes with --json is of its schema, whatever
# names there are, and has the numbers of its table. Runs on the host, and boots the guest once.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl jq python3 objdump

vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir -m 777 "$dir/share"
cd "$dir" || exit 1
options=("$@")
export XDG_CACHE_HOME=$dir/cache
check() { python3 "$here/schema_check" "$here/schema" "$@"; }

# made FILE LOSS NAME...: a profile with a loss, or "", of functions of these names, whose bytes
# may be %XX; "?" has none
made()
{
	python3 - "$@" <<-'END'
		import sys, urllib.parse

		def number(n):
		    return bytes([n & 127 | 128]) + number(n >> 7) if n > 127 else bytes([n])

		def part(field, text):
		    return number(field << 3 | 2) + number(len(text)) + text

		def numbers(*pairs):
		    return b"".join(number(field << 3) + number(n) for field, n in pairs)

		file, loss, *names = sys.argv[1:]
		texts = ["", "samples", "count", "cpu", "nanoseconds"] + names
		out = part(1, numbers((1, 1), (2, 2))) + part(1, numbers((1, 3), (2, 4)))
		if "?" in names:  # code without a name
		    texts += ["/nonexistent/program", "0123456789abcdef"]
		    out += part(3, numbers((1, 1), (2, 4096), (3, 8192), (5, len(texts) - 2), (6, len(texts) - 1)))
		for i, name in enumerate(names, 1):
		    out += part(2, numbers((1, i), (2, i), (2, i * 1000)))
		    out += part(4, numbers((1, i), (2, 1), (3, 4096 + i)) if name == "?" else
		                numbers((1, i)) + part(4, numbers((1, i))))
		    out += part(5, numbers((1, i), (2, i + 4)))
		texts += [loss][:bool(loss)]
		out += b"".join(part(6, urllib.parse.unquote_to_bytes(text)) for text in texts)
		out += numbers((13, len(texts) - 1)) if loss else b""
		open(file, "wb").write(out)
	END
}

guest_writes()
{
	[ -x "$vm/run" ] || skip "no selftests/vm in PATH"
	cat >share/write <<-'END'
		cd /share || exit 1
		# both NAME COMMAND ARGUMENTS: for programs and for people, with the messages for these
		both()
		{
			name=$1 command=$2
			shift 2
			# shellcheck disable=SC2086 # words
			gprofctl $command --json "$@" >"$name.json" 2>"$name.err"
			# shellcheck disable=SC2086
			gprofctl $command "$@" >"$name.txt" 2>&1
		}
		gprofctl cpu -p $$ -d 4 -o x.pb.gz &
		sleep 1
		both info info
		both doctor doctor
		both forks stat -o /dev/stdout -e sched:sched_process_fork -e timer -- \
			sh -c '/bin/true; /bin/true'
		both sched 'schedstat --syscalls --stall' -- sh -c '/bin/true; /bin/true; :'
		gprofctl schedstat --json -i 0.2 -d 0.7 >stream.json
		gprofctl schedstat --json --metric delay_ns -d 0.2 >metric.json
		cp /bin/sleep '/tmp/a"\	<b>'
		'/tmp/a"\	<b>' 1000 &
		pid=$!
		sleep 0.5
		gprofctl task -p $pid --json >task.json
		gprofctl task -p $pid --format traceback >task.txt
		kill $pid
		both leaks 'heap --leaks' --buffer 4M -o x.pb.gz -- truth_heap exact
		for kind in heap alloc; do
			gprofctl $kind --json --every 1 --buffer 4M -o x.pb.gz -- truth_heap exact >$kind.json
			gprofctl $kind --format text --every 1 --buffer 4M -o x.pb.gz -- truth_heap exact >$kind.txt
		done
		# what the program says is no part of it
		sed -i '/^site_/d' leaks.json heap.json alloc.json
		custom_self self.pb.gz 1000 >custom.out &
		pid=$!
		until grep -q connections= custom.out; do sleep 0.1; done
		both custom 'custom --list'
		kill $pid
		gprofctl cpu -F 997 -o cpu.pb.gz -- burner 500
		gprofctl trace --annotations --stacks --syscalls -o host.trace -- annotate_truth tasks 5
		gprofctl trace --annotations --stacks --syscalls -o parts.trace -- annotate_truth parts 3
		# its reader stands still
		gprofctl trace --annotations --buffer 4096 -o lost.trace -- annotate_truth flood 200000 &
		pid=$!
		sleep 0.3
		kill -STOP $pid
		sleep 1
		kill -CONT $pid
		wait $pid
		raw_flight_self last.raw >raw.out
		gprofctl push --store store -e cpu:199 --interval 1s >pushed 2>&1 &
		pid=$!
		sleep 5
		kill $pid
		wait $pid
		both history 'history --store store --list'
		gprofctl latency --follow --json -a -d 2.5 >follow.json
		exit 0
	END
	"$vm/run" --timeout 300 --share "$dir/share" "${options[@]}" -- sh /share/write
}

# "NAME ; ARGUMENTS ; VALUE ; UNIT ; TABLE": jq's of the document, in so many of what awk finds in
# the table and the messages. Without arguments the guest has written both.
rows()
{
	cat <<'EOF'
top ; top profile --type samples ; .data.rows[0].flat ; 1 ; / function_/ { print $1; exit }
cum ; top profile --type samples --cum ; .data.rows[0].cum ; 1 ; / function_/ { print $4; exit }
by ; top profile --type samples --by process ; .data.rows[0].flat_percent ; 1 ; / program_/ { print $2; exit }
ratio ; top --ratio profile/other --type samples ; .data.rows[0].divisor ; 1 ; / function_/ { print $(NF - 1); exit }
diff ; diff profile other --type samples -n 1 ; [.data.rows[].share.change_percent | fabs] | max ; 1 ; / function_/ { sub(/^[-+]/, "", $3); print $3; exit }
rate ; diff profile other --type samples ; .data | 100 * (.new.total - .old.total) / .old.total ; 1 ; / the total$/ { print $3; exit }
compare ; compare profile other --type samples ; .data.rows[0].change_percent ; 1 ; / the total$/ { print $3; exit }
peek ; peek function_1 profile --type samples ; .data.functions[0].callers[0].value ; 1 ; /  function_/ { print $1; exit }
list ; list function_1 profile --type samples ; .data.functions[0].sources[0].lines[] | select(.line == 2).cum ; 1 ; $3 == 2 { print $2 }
source ; list function_1 profile ; .data.functions[0].sources[0].lines[] | select(.line == 3).text | utf8bytelength ; 1 ; $3 == 3 { print length(substr($0, 32)) }
disasm ; disasm main share/cpu.pb.gz --type samples --object burner --no-source ; [.data.files[].blocks[].instructions[].cum] | max ; 1 ; /of total:/ || / <.*>:$/ { next } $2 > most { most = $2 } END { print most }
events ; read trace ; .data | length ; 1 ; END { print NR }
stacks ; read share/parts.trace --stacks ; [.data[] | .stack, select(.transition_stack != .stack).transition_stack | select(.) | length] | add ; 1 ; / @ 0x/ { n++ } END { print n }
summary ; read trace --summary ; .data.events ; 1 ; /^Events:/ { print $2 }
parts ; read share/parts.trace --regions ; .data.regions[0].total_ns ; 1e6 ; / region$/ { getline; print $2 }
tasks ; read share/host.trace --regions ; .data.tasks | length ; 1 ; / task$/ { on = 1; next } on { n++ } END { print n }
wall ; wall trace ; .data.threads[0].tid ; 1 ; NR == 2 { print $(NF - 1) }
lost ; wall share/lost.trace ; .losses[0].text | split(" ")[0] | tonumber ; 1 ; /events are missing/ { print $3 }
why ; why trace ; .data.steps[0] | .end_ns - .begin_ns ; 1e6 ; $2 == "ms" { print $1; exit }
region ; why share/parts.trace --region sleep ; .data.region.begin_ns ; 1e9 ; /^region/ { print $(NF - 6) }
calls ; syscalls share/parts.trace --threads ; .data.syscalls | 100 * .[0].total_ns / (map(.total_ns) | add) ; 1 ; NR == 2 { print $3 }
latency ; latency trace --threads ; .data.threads[0].switches ; 1 ; NR == 2 { print $3 }
lateness ; latency share/lost.trace ; .losses | length ; 1 ; /events are missing/ { n++ } END { print n }
waits ; why share/lost.trace ; .losses | length ; 1 ; /events are missing/ { n++ } END { print n }
logs ; read share/lost.trace --regions ; .losses | length ; 1 ; /events were lost/ { n++ } END { print n }
gaps ; read share/lost.trace --summary ; .data.lost_events ; 1 ; /^Lost:/ { print $2 }
less ; diff profile other --subtract --type samples ; .data.rows[0].flat ; 1 ; / function_/ { print $1; exit }
core ; read --core share/last.raw ; .data.recorders[0].produced ; 1 ; NR == 2 { print $4 }
mmu ; mmu trace --window 10ms --worst 2 ; .data.mmu[0].mmu ; 0.01 ; $2 == "ms" { print $3; exit }
perprocess ; mmu trace --window 10ms --worst 1 --flags perprocess ; .data.worst[0].process ; 1 ; / process [0-9]/ { print $NF; exit }
pertask ; mmu trace --window 10ms --worst 1 --flags pertask ; .data.worst[0].task ; 1 ; / task [0-9]/ { print $NF; exit }
doctors ; doctor ; .data.checks | length ; 1 ; /^(ok|warn|fail) / { n++ } END { print n }
prepare ; prepare burner ; .data.there + .data.made ; 1 ; /tables of/ { print $4 }
broken ; prepare burner broken ; .data.failures | length ; 1 ; /broken:/ { n++ } END { print n }
symbolize ; symbolize nameless -o named.pb --no-debuginfod ; .data.unnamed ; 1 ; /named .* of/ { print $5 } /no location/ { print 0 }
lossy ; top lossy ; .losses | length ; 1 ; /^Comment: lost/ { n++ } END { print n }
info ; ; .data.kernel.cpus ; 1 ; /^kernel:/ { print $4 }
doctor ; ; .data.checks | length ; 1 ; /^(ok|warn|fail) / { n++ } END { print n }
forks ; ; .data.events[0].count ; 1 ; /fork/ { print $1 }
sched ; ; .data.total_task ; 1 ; /^created/ { print $3 }
task ; ; .data.tasks[0].stack | length ; 1 ; /^    / { n++ } END { print n }
leaks ; ; .data.total.inuse_objects ; 1 ; /^never freed:/ { print $6 }
heap ; ; .data.total.inuse_bytes ; 1 ; /^heap profile:/ { print $4 }
alloc ; ; .data.places | length ; 1 ; /^[0-9]+: [0-9]+ \[/ { n++ } END { print n }
history ; ; .data.items | length ; 1 ; END { print NR - 1 }
custom ; ; .data.profiles[0].count ; 1 ; { print $2; exit }
EOF
}

# Keys that no row has: of traces of Go, of which trace_go_test.sh and trace_guest_test.sh are;
# ratios of a PMU; and what a difference has not of the table of top.
unused()
{
	printf '%s\n' diff.heaviest_sample diff.heaviest_sample_percent mmu.processor
	printf 'read.%s\n' args begin_ns blocked blocked_in_faults category checked contradictions \
		descheduled end_ns experiment faults functions interrupted intervals kernel_delay message \
		ns parent reclaimed_bytes running_ns runtime_delay swept_bytes tid untold_ns
	printf 'wall.%s_ns\n' chan gc network runtime select sync syscall
	printf 'stat.%s\n' branch_misses_per_branch cache_misses_per_reference cycles_per_ns \
		instructions_per_cycle
}

schemas_say_what_each_key_is() { check; }

documents_are_of_their_schemas_and_have_the_numbers_of_the_tables()
{
	[ -s share/follow.json ] || skip "the guest has written nothing"
	"$here/views_load" profile 300 20
	"$here/views_load" other 400 20
	"$here/trace_load" trace 5000 10 2 >/dev/null
	made lossy 'lost 7 samples: the "ring" was full' main
	made nameless '' main '?'
	printf '%s\n' 'int main(void)' '{' 'puts("a\\b <ü>");' >source.c
	cp "$here/burner" burner
	head -c 3000 burner >broken
	bad=0 nr=0
	while IFS=';' read -r name arguments value unit table; do
		name=${name// /}
		if [ "${arguments// /}" ]; then
			read -ra words <<<"$arguments"
			# this host lacks the module, and the profile a file
			gprofctl "${words[@]}" --json >"$name.json" 2>err || case $name in
			doctors | symbolize) ;;
			*) fail "$name: $(cat err)" ;;
			esac
			gprofctl "${words[@]}" >"$name.txt" 2>&1 || :
		else
			cp "share/$name.json" "share/$name.txt" .
		fi
		nr=$((nr + 1))
		ours=$(jq "$value" "$name.json")
		theirs=$(awk "$table" "$name.txt" | tr -d ,%)
		awk -v a="$ours" -v b="$theirs" -v unit="$unit" 'BEGIN {
			d = a / unit - b; exit a == "" || b == "" || a == "null" || (d < 0 ? -d : d) > 0.0051 }' || {
			echo "$name: $ours, not $theirs of $unit: $(head -n 3 err)"
			bad=$((bad + 1))
		}
	done < <(rows)
	cp share/stream.json share/metric.json share/follow.json .
	check --unused ./*.json >keys || fail "$(cat keys)"
	echo "$nr rows, $bad bad"
	diff <(unused | sort) keys || fail "other keys than these are in no document"
	[ "$(wc -l <stream.json)" -eq "$(jq -s length stream.json)" ]
	[ "$(wc -l <stream.json)" -ge 3 ]
	[ $nr -ge 45 ] && [ $bad = 0 ]
}

names_of_any_bytes_are_JSON()
{
	long=$(printf 'aé%.0s' {1..5000})
	names=("$long" '%D7%A9%E2%80%AE%D7%9D' 'a"b\c' '%01%1b[31m%7f' '%ff%c3%28%ed%a0%80' '<&>;%0a%0d')
	made named 'lost 7 samples: a "b\c' "${names[@]}"
	for line in "top named" "diff named named" "compare named named" "peek . named" "list . named"; do
		# shellcheck disable=SC2086 # words
		gprofctl $line --json >"named-${line%% *}.json" 2>err || fail "$line: $(cat err)"
	done
	check named-*.json
	for of in named-*.json; do
		jq -e --arg long "$long" '[.data | (.rows, .functions)[]?] | map(.name // .function) |
			index($long) and index("a\"b\\c") and index("<&>;\n\r") and
			index("\u0001\u001b[31m\u007f")' "$of" || fail "$of: $(jq -c . "$of" | cut -c -3000)"
	done
	jq -e '.losses[0].text == "lost 7 samples: a \"b\\c" and .losses[0].file == "named"' named-top.json
	[ ! -s share/task.json ] || jq -e '.data.tasks[0].comm == "a\"\\\t<b>"' share/task.json
}

ktap_run schemas_say_what_each_key_is guest_writes names_of_any_bytes_are_JSON \
	documents_are_of_their_schemas_and_have_the_numbers_of_the_tables
