# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# A copy of the tree in which something is wrong, and what a test says of it. Sourced after
# cache/lib.sh, by who has an associative array took.

host_arch=$(dpkg --print-architecture)
# Of a run without any fault; one with a fault gets some times as much.
longest=600
# A fault may leave something without use.
export WERROR=

# Sets copy: one with everything that is built, so that only what is affected is built anew.
# Dates stay; what the compiler noted about headers names the other place.
make_copy()
{
	work=$(mktemp -d "${TMPDIR:-/tmp}/gprof-faults.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	copy=$work/tree
	mkdir "$copy"
	# Files that another row is building come and go (24).
	rsync -a --exclude=/out --exclude=/.git --exclude=/build/lib-unit --exclude='.tmp_*' \
		"$top/" "$copy/" || (($? == 24))
	mkdir -p "$copy/build"
	find "$copy/build" -name '*.d' -exec sed -i "s|$top/|$copy/|g" {} +
	copy_out=$copy/build/$host_arch
	linux=$("$vm/cache/linux-source")/tools/testing/selftests
}

# parse_test "WHERE [KERNEL [OPTIONS]]: TEST...": sets where, kernel, options[] and the
# words of command[].
parse_test()
{
	local option words rest=${1#*: }

	read -r where kernel words <<<"${1%%: *}"
	kernel=${kernel:-6.1}
	options=()
	for option in ${words//,/ }; do
		case $option in
		timeout=*) ;;
		icount | turns | numa) options+=("--$option") ;;
		append=*) options+=(--append "${option#*=}") ;;
		smp=* | mem=* | suite=*) options+=("--${option%%=*}" "${option#*=}") ;;
		*) return 1 ;;
		esac
	done
	[[ $rest == *run-tests* ]] || rest="run-tests $rest"
	command=()
	set -f
	eval "command=($rest)"
	set +f
	[[ $1 == *': '?* && $where =~ ^(host|amd64|arm64)$ ]]
}

# Of a test on the host the unit tests that it names, or nothing: all is built.
unit_tests()
{
	local word words

	read -ra words <<<"${command[*]}"
	for word in "${words[@]}"; do
		[[ $word == unit/* ]] || continue
		[[ $word != *['*(']* ]] || return 0
		echo "$copy_out/selftests/$word"
	done
}

# build FILES: what the test needs of these files of the copy, which are no other tests of
# units. Its status is looked at, so that it has to pass on each by itself.
build()
{
	local arch=$where targets=() ring=() target

	[[ $where != host ]] || arch=$host_arch
	mapfile -t targets < <(unit_tests)
	if [[ $where == host && ${targets[*]} ]]; then
		build_units || return
	elif [[ $where == host || ! $1 || $1 == *userlib/* || $1 == *tools/* || $1 == *uapi/* ]]; then
		make -s -C "$copy" ARCH="$arch" selftests unit= tool_unit= tsan_unit= || return
	fi
	[[ $where == host ]] ||
		"$copy/selftests/vm/cache/module" "$kernel" "$where" >/dev/null
}

# Of build(), whose variables it uses: these tests and no other.
build_units()
{
	for target in "${targets[@]}"; do
		[[ $target == *_lib_test || $target == *_tool_test ]] || ring+=("$target")
	done
	if ((${#ring[@]})); then
		make -s -f "$copy/selftests/unit/ring.mk" O="$copy_out" \
			KSELFTEST_DIR="$linux" "${ring[@]}" || return
	fi
	((${#ring[@]} < ${#targets[@]})) || return 0
	if [[ ${targets[*]} == *_tool_test* ]]; then
		make -s -C "$copy" ARCH="$arch" tools || return
	else
		make -s -C "$copy" ARCH="$arch" lib || return
	fi
	for target in "${targets[@]}"; do
		[[ " ${ring[*]-} " == *" $target "* ]] ||
			make -s -C "$copy/selftests" ARCH="$arch" O="$copy_out" \
				CFLAGS="${CFLAGS:--O2 -g}" KSELFTEST_DIR="$linux" "$target" || return
	done
}

# run_test LIMIT: in the copy; what it says goes to $work/said. Its own status, or
# 124 when it did not end.
run_test()
{
	local limit=$1 program

	if [[ $where == host ]]; then
		(
			cd "$copy_out/selftests" || exit
			export PATH=$copy/verify:$copy/selftests/vm:$copy_out/selftests:$copy_out/bin:$PATH
			export LD_LIBRARY_PATH=$copy_out/lib
			program=(timeout -k 10 "$limit" "${command[@]}")
			# A program that does not end may have groups of its own, in this session.
			# shellcheck disable=SC2016
			setsid -w sh -c 'echo $$ >"$0" && exec "$@"' "$work/session" \
				"${program[@]}" </dev/null && status=0 || status=$?
			pkill -KILL -s "$(<"$work/session")" || true
			exit "$status"
		)
	else
		timeout -k 60 $((limit + 300)) "$copy/selftests/vm/run" --arch "$where" \
			--kernel "$kernel" --timeout "$limit" --log "$work/console" \
			"${options[@]}" -- "${command[@]}" </dev/null
	fi >"$work/said" 2>"$work/errors"
}

# verdict LIMIT: runs the test; prints pass, or why a test fails, or "cannot ...".
verdict()
{
	local status try

	for try in 1 2 3; do
		status=0
		run_test "$1" || status=$?
		grep -qs 'the emulator executed a breakpoint that is not in memory' \
			"$work/errors" || break
		[[ $try != 3 ]] || status=2
	done
	if ((!status)) && grep -qE '^ok ' "$work/said"; then
		echo pass
	elif ((status == 124 || status == 137)); then
		echo "it does not end"
	elif ((status == 125)) && grep -q '^vm: FAILED' "$work/errors"; then
		sed -n 's/^    //p' "$work/errors" | head -n 2 | tr '\n' ' '
		echo
	elif ((status != 2)) && grep -qE '^ *not ok ' "$work/said"; then
		grep -E '^ *not ok ' "$work/said" | head -n 1 | sed 's/^ *not ok //'
	else
		echo "cannot run: status $status, $(tail -n 1 "$work/errors")"
	fi
}

# believe TEST: sets took[TEST], its seconds without any fault, or why it shows nothing.
believe()
{
	local start=$SECONDS said

	[[ ! ${took["$1"]-} ]] || return 0
	if ! build '' >"$work/build" 2>&1; then
		took["$1"]="its test does not build: $(tail -n 1 "$work/build")"
		return
	fi
	start=$SECONDS
	said=$(verdict "$longest")
	if [[ $said == pass ]]; then
		took["$1"]=$((SECONDS - start))
	else
		took["$1"]="its test fails without it: $said"
	fi
}

