# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# ktap.sh: KTAP output for tests in shell. A test is a function named as a fact:
#
#	. "$(dirname "$0")/ktap.sh"
#	file_is_there() { [ -e "$file" ]; }
#	ktap_run file_is_there ...
#
# It fails by a status other than 0; its output becomes diagnostics. Each runs in
# a shell of its own, under "set -e". "skip REASON" leaves it out. A script whose last
# words are "-t TEST" runs that test alone.

ktap_only=''
for ktap_word; do
	[ "${ktap_before-}" != -t ] || ktap_only=$ktap_word
	ktap_before=$ktap_word
done

skip()
{
	echo "$*" >"$ktap_dir/skip"
	exit 4
}

# need PROGRAM...: leaves the whole script out where one of them is not there
need()
{
	for ktap_program; do
		command -v "$ktap_program" >/dev/null && continue
		echo "TAP version 13"
		echo "1..0 # SKIP there is no ${ktap_program##*/}"
		exit 4
	done
}

# wait_for_recorders N: until so many are open, or the test has failed
wait_for_recorders()
{
	ktap_tries=0
	until [ "$(cat /sys/module/gprof/refcnt)" -ge "$1" ]; do
		ktap_tries=$((ktap_tries + 1))
		[ $ktap_tries -lt 600 ] || fail "$1 recorders were not opened within a minute"
		sleep 0.1
	done
}

# let_users_in: the device is root's alone as it comes; until shut_users_out, which
# belongs into the script's trap
let_users_in()
{
	[ -e /dev/gprof ] || return 0
	ktap_mode=$(stat -c %a /dev/gprof)
	chmod 666 /dev/gprof
}

shut_users_out() { [ -z "${ktap_mode-}" ] || chmod "$ktap_mode" /dev/gprof; }

# fail REASON: for use within a test
fail()
{
	echo "$*"
	exit 1
}

# expect STATUS COMMAND...: fails unless the command ends with that status
expect()
{
	ktap_want=$1
	shift
	ktap_got=0
	"$@" || ktap_got=$?
	[ "$ktap_got" -eq "$ktap_want" ] || fail "status $ktap_got, not $ktap_want: $*"
}

# Where a test ends that says nothing itself; other shells than bash cannot tell.
ktap_tell_where()
{
	[ -n "${BASH_VERSION-}" ] || return 0
	# shellcheck disable=SC3041	# of bash alone
	set -E
	# the first line of a command: a script within it would hide what was said before
	# shellcheck disable=SC2154,SC3047	# likewise
	trap 'echo "line $LINENO: status $?: ${BASH_COMMAND%%$'"'\\n'"'*}" >&2' ERR
}

ktap_run()
{
	if [ "$ktap_only" ]; then
		case " $* " in
		*" $ktap_only "*) set -- "$ktap_only" ;;
		*)
			echo "$0 has no test $ktap_only" >&2
			exit 1
			;;
		esac
	fi
	ktap_dir=$(mktemp -d) || exit 1
	echo "TAP version 13"
	echo "1..$#"
	ktap_n=0
	ktap_failed=0
	# A test that fails ends itself, not the script.
	set +e
	for ktap_test; do
		ktap_n=$((ktap_n + 1))
		rm -f "$ktap_dir/skip"
		(
			set -e
			ktap_tell_where
			"$ktap_test"
		) >"$ktap_dir/log" 2>&1 </dev/null
		ktap_status=$?
		# a last line without an end too
		awk '{ print "# " $0 }' "$ktap_dir/log"
		if [ "$ktap_status" -eq 0 ]; then
			echo "ok $ktap_n $ktap_test"
		elif [ "$ktap_status" -eq 4 ] && [ -s "$ktap_dir/skip" ]; then
			echo "ok $ktap_n $ktap_test # SKIP $(cat "$ktap_dir/skip")"
		else
			echo "not ok $ktap_n $ktap_test"
			ktap_failed=1
		fi
	done
	rm -rf "$ktap_dir"
	exit $ktap_failed
}
