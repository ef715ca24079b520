#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# names_perf_test.sh [RUN-OPTION...]: beside perf, which records the same processes at the
# same time, each of the ten functions that take most has the same name, and the same share
# within 1.5 points: sqlite3 and python3. Runs on the host, and boots the guest once. Names of C++
# and Rust are symbol_lib_test's, programs on an overlay names_test.sh's.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl

vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir -m 777 "$dir/share"
options=("$@")
points=1.5

programs_are_built()
{
	# the same all the time: the two do not begin at one instant
	cat >"$dir/one.sql" <<-'END'
		DELETE FROM t;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
		INSERT INTO t SELECT i * 7919 % 300, hex(i * 104729) FROM n;
		SELECT sum(length(x.b)), max(y.b) FROM t x JOIN t y ON x.a = y.a + 1 WHERE x.b LIKE '%3A%';
		SELECT count(*) FROM (SELECT b FROM t ORDER BY b DESC);
	END
	{
		echo "CREATE TABLE t(a INTEGER, b TEXT);"
		for ((i = 0; i < 100; i++)); do cat "$dir/one.sql"; done >"$dir/share/many.sql"
		for ((i = 0; i < 2000; i++)); do echo ".read /share/many.sql"; done
	} >"$dir/share/load.sql"
	cat >"$dir/share/load.py" <<-'END'
		def fib(n):
		    return n if n < 2 else fib(n - 1) + fib(n - 2)

		while True:
		    fib(16)
		    words = {}
		    for i in range(3000):
		        words[str(i * 7919 % 1000)] = i
		    sorted(words, key=lambda w: words[w])
		    " ".join(words).split("7")
	END
}

guest_records_with_both()
{
	[ -x "$vm/run" ] || skip "no selftests/vm in PATH"
	cat >"$dir/share/record" <<-'END'
		# perf lowers the rate where handlers are slow, as emulated ones are
		echo 99 >/proc/sys/kernel/perf_cpu_time_max_percent
		echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
		echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent

		# both NAME COMMAND...
		both()
		{
			name=$1
			shift
			"$@" >/dev/null 2>"/share/$name.said" &
			pid=$!
			sleep 2
			perf record -q -e cpu-clock:u -F 1999 -p $pid -o /tmp/data -- sleep 15 &
			gprofctl cpu --user-only -F 1999 -p $pid -d 15 -o "/share/$name.pb.gz" \
				2>"/share/$name.err"
			wait $!
			cat "/share/$name.said"
			kill $pid
			wait $pid
			perf script -i /tmp/data --no-demangle -F ip,sym 2>/dev/null >"/share/$name.perf"
		}

		both sqlite3 sqlite3 :memory: '.read /share/load.sql'
		both python3 python3 /share/load.py
	END
	"$vm/run" --timeout 400 --packages "$vm/../profiles/names_perf.packages" \
		--share "$dir/share" "${options[@]}" -- sh /share/record
	tail -n 1 "$dir"/share/*.err
}

# alike NAME: the ten first of perf's are as many points of ours
alike()
{
	[ -s "$dir/share/$1.perf" ] || fail "perf recorded nothing"
	# what perf counts too: samples, whatever CPU time they stand for
	gprofctl top --type samples -n 100000 --full-names --no-demangle "$dir/share/$1.pb.gz" >"$dir/$1.top"
	# lines "SAMPLES SYMBOL"
	sed -n 's/^ *[0-9a-f]\+ //p' "$dir/share/$1.perf" | sort | uniq -c | sort -rn |
		awk -v points=$points '
		# ours: FLAT FLAT% SUM% CUM CUM% FUNCTION [FILE]
		FNR == NR {
			if ($2 ~ /%$/ && NF >= 6) {
				name = $0
				sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +/, "", name)
				sub(/ +$/, "", name)
				sub(/ \[[^][]*\]$/, "", name)
				ours[name] = $2 + 0
			}
			next
		}
		{
			n[++lines] = $1
			total += $1
			$1 = ""
			sub(/^ /, "")
			name_of[lines] = $0
		}
		END {
			for (i = 1; i <= lines; i++) {
				if (name_of[i] == "[unknown]")
					continue
				if (++seen > 10)
					break
				share = n[i] * 100 / total
				off = ours[name_of[i]] - share
				off = off < 0 ? -off : off
				printf "%6.2f %6.2f %5.2f %s\n", share, ours[name_of[i]], off, name_of[i]
				bad += off > points || !(name_of[i] in ours)
			}
			printf "%d samples of perf\n", total
			exit bad || seen < 4 || total < 5000
		}' "$dir/$1.top" -
}

sqlite3_is_alike() { alike sqlite3; }
python3_is_alike() { alike python3; }

ktap_run programs_are_built guest_records_with_both sqlite3_is_alike python3_is_alike
