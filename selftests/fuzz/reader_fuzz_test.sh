#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# reader_fuzz_test.sh: what reads files and messages of others takes any bytes: traces,
# profiles, maps and dumps of generated code, programs, their unwind tables, answers of
# netlink, core dumps, requests over HTTP. Runs on the host.
#
#	reader_fuzz_test.sh [SECONDS [READER...]]
#
# Builds the library with clang's sanitizers and its fuzzer, and lets each reader run for SECONDS
# (12), or FUZZ_RUNS times where that is set, from the inputs in fuzz/corpus and seeds that are made
# here. With $FUZZ_DIR set, inputs that found something new are kept in $FUZZ_DIR/READER, to go on
# from the next time, and those that break a reader in $FUZZ_DIR/found.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need clang make

seconds=${1:-12}
shift
readers=${*:-trace pprof perf_map jitdump elf unwind netlink core query}
vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")
lib=$vm/../../userlib
fuzz=$vm/../fuzz
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
dir=${FUZZ_DIR:-$tmp/corpus}
mkdir -p "$dir/found"

flags="-g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=all"
packages="libprotobuf-c zlib libdeflate libisal libdw libelf libnl-genl-3.0"

fuzzers_build()
{
	[ -d "$lib/src" ] || skip "no selftests/vm in PATH"
	make -s -j2 -C "$lib" O="$tmp" CC=clang WERROR= \
		CFLAGS="$flags -fsanitize=fuzzer-no-link,address,undefined" \
		"$tmp/lib/libgprof.a" >"$tmp/log" 2>&1 || { tail -n 20 "$tmp/log"; fail "no library"; }
	for reader in $readers; do
		# shellcheck disable=SC2046,SC2086 # words
		clang -std=gnu11 $flags -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I"$lib/include" \
			-I"$lib/src" -isystem "$tmp/gen" -I"$lib/../uapi" $(pkg-config --cflags $packages) \
			-fsanitize=fuzzer,address,undefined "$fuzz/${reader}_fuzz.c" \
			"$tmp/lib/libgprof.a" $(pkg-config --libs $packages) -liberty -pthread \
			-o "$tmp/${reader}_fuzz"
	done
}

# Programs of this machine's compiler, small enough to be changed byte by byte.
elf_seeds()
{
	cat >"$tmp/seed.c" <<-'END'
		static inline __attribute__((always_inline)) int inner(int x)
		{
			return x * 3;
		}

		int outer(int x)
		{
			return inner(x) + 1;
		}
	END
	for how in "-g -c" "-c" "-g -gz -c" "-g -gdwarf-4 -c" \
		"-g -shared -fPIC -nostdlib -Wl,-z,noseparate-code"; do
		# shellcheck disable=SC2086 # words
		clang -O1 $how "$tmp/seed.c" -o "$1/seed$(cksum <<<"$how" | cut -d ' ' -f 1)" || return
	done
}

# The same programs, and what of them is text and call frame instructions: one byte before
# them says which it is.
unwind_seeds()
{
	elf_seeds "$1" || return
	for seed in "$1"/seed*; do
		printf '\0' | cat - "$seed" >"$1/file-${seed##*/}"
		objcopy -O binary -j .eh_frame "$seed" "$tmp/eh_frame" || return
		objcopy -O binary -j .text "$seed" "$tmp/text" || return
		for machine in '\1' '\2'; do
			# shellcheck disable=SC2059 # an escape
			printf "$machine" | cat - "$tmp/eh_frame" "$tmp/text" \
				>"$1/cfi${machine#?}-${seed##*/}"
		done
		rm "$seed"
	done
}

# Go's own, and those of our writers; the fuzzer looks at the first 4096 bytes.
trace_seeds()
{
	if go=$("$vm/../tracing/trace_go/tools" 1.23); then
		cp "$go"/corpus/*.trace "$1"
	else
		echo "# no traces of Go's: Go 1.23 cannot be fetched here"
	fi
	mkdir "$tmp/own"
	for writer in write stack; do
		GPROF_TRACES=$tmp/own "$here/unit/trace_${writer}_lib_test" >"$tmp/writer" || {
			cat "$tmp/writer"
			return 1
		}
	done
	nr=0
	for trace in "$tmp"/own/*; do
		cp "$trace" "$1/own-${trace##*/}"
		nr=$((nr + 1))
	done
	[ $nr -gt 3 ]
}

# fuzz READER: for $seconds, or $FUZZ_RUNS times
fuzz()
{
	[ -x "$tmp/$1_fuzz" ] || fail "there is no fuzzer"
	mkdir -p "$dir/$1"
	case $1 in elf | unwind | trace) "$1_seeds" "$dir/$1" || fail "it has no seeds" ;; esac
	known=
	[ ! -d "$fuzz/corpus/$1" ] || known=$fuzz/corpus/$1
	len=2048
	case $1 in netlink | trace) len=4096 ;; esac
	case $1 in elf | unwind) len=16384 ;; esac
	until=-max_total_time=$seconds
	[ ! "${FUZZ_RUNS-}" ] || until=-runs=$FUZZ_RUNS
	# libelf forgets what it unpacked of a section that turns out to be damaged
	leaks=1
	[ "$1" != elf ] || leaks=0
	# shellcheck disable=SC2086 # none or one
	ASAN_OPTIONS=detect_leaks=$leaks:allocator_may_return_null=1:max_allocation_size_mb=256 \
	"$tmp/$1_fuzz" "$until" -max_len=$len -timeout=20 \
		-rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$dir/found/$1-" \
		"$dir/$1" $known 2>"$tmp/log" || {
		grep -v -e NEW -e REDUCE "$tmp/log" | tail -n 40
		for found in "$dir/found/$1"-*; do
			base64 "$found"
		done
		fail "such an input breaks it"
	}
	grep -E 'stat::(number_of_executed_units|average_exec_per_sec|peak_rss)' "$tmp/log"
	[ "$(awk '/number_of_executed_units/ { print $2 }' "$tmp/log")" -gt 1000 ]
}

tests=
for reader in $readers; do
	eval "no_input_breaks_${reader}() { fuzz $reader; }"
	tests="$tests no_input_breaks_$reader"
done
# shellcheck disable=SC2086 # words
ktap_run fuzzers_build $tests
