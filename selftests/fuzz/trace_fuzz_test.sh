#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# trace_fuzz_test.sh: the trace reader takes any bytes. Runs on the host.
#
#	trace_fuzz_test.sh [SECONDS]
#
# Builds the reader with clang's sanitizers and its fuzzer (fuzz/trace_fuzz.c), and
# lets it run from Go's own traces for SECONDS (60). With $FUZZ_DIR set, inputs that
# found something new are kept in $FUZZ_DIR/corpus, to go on from the next time, and
# those that break the reader in $FUZZ_DIR/found.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"

seconds=${1:-60}
vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")
lib=$vm/../../userlib
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
dir=${FUZZ_DIR:-$tmp}
mkdir -p "$dir/corpus" "$dir/found"

fuzzer_builds()
{
	[ -d "$lib/src" ] || skip "no selftests/vm in PATH"
	command -v clang || skip "there is no clang"
	clang -std=gnu11 -g -O2 -fno-omit-frame-pointer -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-I"$lib/include" -I"$lib/src" "$vm/../fuzz/trace_fuzz.c" "$lib/src/trace.c" \
		"$lib"/src/trace_{dictionary,frontier,generation,ids,input,memory,names}.c \
		"$lib"/src/trace_{state,wire}.c "$lib"/src/trace_order*.c \
		"$lib"/src/{error,opts,table}.c -o "$tmp/trace_fuzz"
}

gos_traces_are_the_seeds()
{
	[ -x "$tmp/trace_fuzz" ] || skip "there is no fuzzer"
	go=$("$vm/../tracing/trace_go/tools" 1.23) || skip "Go 1.23 cannot be fetched here"
	cp "$go"/corpus/*.trace "$dir/corpus"
}

our_writers_traces_are_seeds_too()
{
	[ -x "$here/unit/trace_write_lib_test" ] || skip "there is no test of the writer"
	mkdir "$tmp/own"
	for writer in write stack; do
		GPROF_TRACES=$tmp/own "$here/unit/trace_${writer}_lib_test" >"$tmp/writer" || {
			cat "$tmp/writer"
			fail "the writer's test fails"
		}
	done
	# the fuzzer looks at the first 4096 bytes
	nr=0
	for trace in "$tmp"/own/*; do
		cp "$trace" "$dir/corpus/own-${trace##*/}"
		nr=$((nr + 1))
	done
	[ $nr -gt 3 ]
}

no_input_breaks_the_reader()
{
	[ -x "$tmp/trace_fuzz" ] || skip "there is no fuzzer"
	"$tmp/trace_fuzz" -max_total_time="$seconds" -max_len=4096 -timeout=20 \
		-rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$dir/found/" \
		"$dir/corpus" 2>"$tmp/log" || {
		grep -v -e NEW -e REDUCE "$tmp/log" | tail -n 40
		for found in "$dir"/found/*; do
			base64 "$found"
		done
		fail "such an input breaks it"
	}
	grep -E 'stat::(number_of_executed_units|average_exec_per_sec)' "$tmp/log"
	[ "$(awk '/number_of_executed_units/ { print $2 }' "$tmp/log")" -gt 1000 ]
}

ktap_run fuzzer_builds gos_traces_are_the_seeds \
	our_writers_traces_are_seeds_too no_input_breaks_the_reader
