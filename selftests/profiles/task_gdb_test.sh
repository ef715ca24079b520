#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# task_gdb_test.sh [RUN-OPTION...]: the user stacks that `gprofctl task` tells of programs that
# wait are those that gdb finds in the same processes, frame by frame up to the thread's start.
# No table is on disk before. Runs on the host, and boots the guest once.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl

vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir -m 777 "$dir/share"
options=("$@")
names=(bash dash perl python3 sqlite3 sleep cat mawk sed grep jq dd zstd head wc)

guest_asks_both()
{
	[ -x "$vm/run" ] || skip "no selftests/vm in PATH"
	cat >"$dir/share/ask" <<-'END'
		cd /tmp || exit 1
		mkfifo never
		sleep 10000 >never &
		pids=

		# waits NAME COMMAND...
		waits()
		{
			name=$1
			shift
			"$@" <never >/dev/null 2>&1 &
			pids="$pids $name:$!"
		}

		waits bash bash -c 'f() { read -r x; }; f; :'
		waits dash dash -c 'f() { read -r x; }; f; :'
		waits perl perl -e 'sub f { sleep 1000 } f(); 1'
		waits python3 python3 -c 'import threading as t, time
		for _ in range(3): t.Thread(target=time.sleep, args=(1000,)).start()
		time.sleep(1000)'
		waits sqlite3 sqlite3 :memory:
		waits sleep sleep 1000
		waits cat cat
		waits mawk mawk '{ print }'
		waits sed sed p
		waits grep grep x
		waits jq jq .
		waits dd dd
		waits zstd zstd
		waits head head
		waits wc wc
		sleep 4

		for each in $pids; do
			name=${each%:*} pid=${each#*:}
			gprofctl task --user-only --format traceback -p "$pid" \
				>"/share/$name.ours" 2>"/share/$name.err"
			gdb -nx -batch -p "$pid" -ex 'set width 0' -ex 'set backtrace past-main on' \
				-ex 'set backtrace past-entry on' -ex 'thread apply all backtrace' \
				>"/share/$name.gdb" 2>&1
		done
	END
	"$vm/run" --timeout 550 --packages "$vm/../profiles/task_gdb.packages" \
		--share "$dir/share" "${options[@]}" -- sh /share/ask
}

# Of each thread a line: its id, and where its frames are.
threads_of_ours()
{
	awk '
	/^task / { ids[nr++] = $2; next }
	/^    / { stack = stack " " $NF; next }
	/^$/ { for (i = 0; i < nr; i++) print ids[i] stack; nr = 0; stack = "" }
	' "$1" | sort -n
}

threads_of_gdb()
{
	awk '
	function put() { if (id) print id stack; stack = ""; id = "" }
	/^Thread / { put(); id = $0; sub(/.*LWP /, "", id); sub(/[^0-9].*/, "", id); if (id == $0) id = "" }
	/^Thread / && !id { id = $0; sub(/.*process /, "", id); sub(/[^0-9].*/, "", id) }
	/^#/ { stack = stack " " $2 }
	END { put() }
	' "$1" | sort -n
}

# The address of a caller is that of its call, or of where the call returns.
alike()
{
	[ -s "$dir/share/$1.gdb" ] || fail "gdb said nothing"
	threads_of_ours "$dir/share/$1.ours" >"$dir/ours"
	threads_of_gdb "$dir/share/$1.gdb" >"$dir/gdb"
	paste -d '|' "$dir/ours" "$dir/gdb"
	[ -s "$dir/ours" ]
	while IFS='|' read -r ours gdb; do
		read -ra a <<<"$ours"
		read -ra b <<<"$gdb"
		((${#a[@]} > 2 && ${#a[@]} == ${#b[@]} && a[0] == b[0])) || fail "other frames"
		for ((i = 1; i < ${#a[@]}; i++)); do
			((b[i] == a[i] || b[i] == a[i] + 1)) || fail "frame $i: ${a[i]} ${b[i]}"
		done
	done < <(paste -d '|' "$dir/ours" "$dir/gdb")
}

tests=(guest_asks_both)
for name in "${names[@]}"; do
	eval "${name//-/_}_has_the_stacks_of_gdb() { alike $name; }"
	tests+=("${name//-/_}_has_the_stacks_of_gdb")
done

ktap_run "${tests[@]}"
