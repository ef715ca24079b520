#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# names_perf_test.sh [RUN-OPTION...]: beside perf, which records the same processes at the
# same time, each of the ten functions that take most has the same name, and the same share
# within 1.5 points: sqlite3, python3, and on an overlay after it was copied up, as containers
# have programs, one in C++ and one in Rust. Runs on the host, and boots the guest once.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need gprofctl g++

vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir -m 777 "$dir/share"
options=("$@")
points=1.5

# Functions of unlike weight, with names as C++ has them: templates, namespaces, operators.
cxx_program()
{
	cat >"$dir/load.cc" <<-'END'
		#include <algorithm>
		#include <cstdint>
		#include <string>
		#include <vector>

		#define FN __attribute__((noinline, noclone))

		namespace shop {
		struct item {
			std::string name;
			std::uint64_t price;
			FN bool operator<(const item &o) const { return price < o.price; }
		};

		template <typename T> class mixer {
		public:
			FN T turn(T v, int times)
			{
				for (int i = 0; i < times; i++)
					v = v * 6364136223846793005ULL + 1442695040888963407ULL;
				return v;
			}
			FN T fold(const std::vector<T> &all)
			{
				T sum = 0;
				for (int again = 0; again < 40; again++)
					for (const T &v : all)
						sum = (sum ^ v) * 31;
				return sum;
			}
		};

		namespace {
		template <int N> FN std::uint64_t steps(std::uint64_t v)
		{
			for (int i = 0; i < N * 100; i++)
				v ^= v << 13, v ^= v >> 7, v ^= v << 17;
			return v;
		}
		}

		FN std::uint64_t sort_all(std::vector<item> &items, std::uint64_t seed)
		{
			for (item &i : items)
				i.price = seed = seed * 2862933555777941757ULL + 3037000493ULL;
			std::sort(items.begin(), items.end());
			return items[items.size() / 2].price;
		}
		}

		int main()
		{
			std::vector<shop::item> items(200, shop::item{ "thing", 1 });
			std::vector<std::uint64_t> numbers(300, 5);
			shop::mixer<std::uint64_t> m;
			volatile std::uint64_t v = 1;

			for (;;) {
				v = m.turn(v, 4000);
				numbers[v % 300] = v;
				v = m.fold(numbers) ^ shop::steps<15>(v) ^ shop::steps<40>(v) ^
				    shop::steps<90>(v);
				v = shop::sort_all(items, v);
			}
		}
	END
	# inlined functions are ours alone: perf names what is in the symbol table
	g++ -O2 -static-libstdc++ -static-libgcc -o "$dir/share/cxx" "$dir/load.cc"
}

rust_program()
{
	cat >"$dir/load.rs" <<-'END'
		use std::collections::BTreeMap;
		use std::hint::black_box;

		mod shop {
		    pub trait Price {
		        fn price(&self, times: u32) -> u64;
		    }
		    pub struct Cheap(pub u64);
		    pub struct Dear<T>(pub T);
		    impl Price for Cheap {
		        #[inline(never)]
		        fn price(&self, times: u32) -> u64 {
		            (0..times).fold(self.0, |v, i| super::black_box(v ^ v << 13 ^ i as u64))
		        }
		    }
		    impl<T: Copy + Into<u64>> Price for Dear<T> {
		        #[inline(never)]
		        fn price(&self, times: u32) -> u64 {
		            (0..3 * times).fold(self.0.into(), |v, i| super::black_box(v * 31 + i as u64))
		        }
		    }
		    #[inline(never)]
		    pub fn add_up<F: Fn(u64) -> u64>(f: F, times: u64) -> u64 {
		        (0..times).map(f).fold(0, |a, b| super::black_box(a ^ b))
		    }
		}
		use shop::Price;

		fn main() {
		    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
		    let mut v = 1u64;
		    loop {
		        v = shop::Cheap(v).price(3000) ^ shop::Dear(v as u32).price(2000);
		        v ^= shop::add_up(|x| x.wrapping_mul(0x9e3779b97f4a7c15), 5000);
		        for i in 0..40 {
		            *counts.entry((v >> i) % 500).or_insert(0) += 1;
		        }
		        v ^= counts.values().fold(0, |a, b| black_box(a ^ b));
		    }
		}
	END
	# the older one is what there is where nobody asks for another
	mangling=
	[ "$1" = legacy ] || mangling="-C symbol-mangling-version=$1"
	# shellcheck disable=SC2086 # none or two words
	rustc -O $mangling -o "$dir/share/rust_$1" "$dir/load.rs" 2>&1
}

programs_are_built()
{
	cxx_program
	if command -v rustc >/dev/null; then
		rust_program legacy
		rust_program v0
	else
		echo "# no rustc here: Debian has it in a package of that name"
	fi
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

		# An overlay as containers have it, on which a program was copied up.
		contained()
		{
			mkdir -p /tmp/layers
			mountpoint -q /tmp/layers || mount -t tmpfs layers /tmp/layers
			l=/tmp/layers/$1
			mkdir -p "$l/lower" "$l/upper" "$l/work" "$l/merged"
			cp "/share/$1" "$l/lower/prog"
			mount -t overlay -o "lowerdir=$l/lower,upperdir=$l/upper,workdir=$l/work" \
				overlay "$l/merged"
			chmod 700 "$l/merged/prog"
			[ -e "$l/upper/prog" ] || exit 1
			both "$1" unshare -m "$l/merged/prog"
		}

		both sqlite3 sqlite3 :memory: '.read /share/load.sql'
		both python3 python3 /share/load.py
		for program in cxx rust_legacy rust_v0; do
			[ ! -e /share/$program ] || contained $program
		done
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

# demangled NAME WORDS...: people read those
demangled()
{
	gprofctl top -n 100000 --full-names "$dir/share/$1.pb.gz" >"$dir/$1.plain"
	head -n 20 "$dir/$1.plain"
	shift
	for words; do
		grep -qF "$words" "$dir"/*.plain || fail "nothing is called $words"
	done
}

sqlite3_is_alike() { alike sqlite3; }
python3_is_alike() { alike python3; }

cxx_in_a_container_is_alike()
{
	alike cxx
	demangled cxx 'shop::mixer<unsigned long>::turn' 'shop::item::operator<' \
		'shop::(anonymous namespace)::steps<90>'
}

rust_in_a_container_is_alike()
{
	[ -e "$dir/share/rust_v0" ] || skip "no rustc here"
	alike rust_legacy
	demangled rust_legacy '<load::shop::Cheap as load::shop::Price>::price'
	alike rust_v0
	demangled rust_v0 '<load::shop::Cheap as load::shop::Price>::price'
}

ktap_run programs_are_built guest_records_with_both sqlite3_is_alike python3_is_alike \
	cxx_in_a_container_is_alike rust_in_a_container_is_alike
