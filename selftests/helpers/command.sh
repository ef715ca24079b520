# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# command.sh: for tests of gprofctl, behind ktap.sh: a place to work in, and what a
# command said, ended with and left.
#
# Gone to is an empty directory in which another user works too; it is removed at the
# end, after clean_up, which a script may have.

clean_up() { :; }

command_dir=$(mktemp -d) || exit 1
trap 'clean_up; shut_users_out; rm -rf "$command_dir"' EXIT
let_users_in
chmod 755 "$command_dir"
mkdir -m 777 "$command_dir/work"
cd "$command_dir/work" || exit 1

as_user() { setpriv --reuid 1000 --regid 1000 --clear-groups "$@"; }

# run STATUS COMMAND...: stdout to out, stderr to err
run()
{
	run_want=$1
	shift
	run_got=0
	"$@" >out 2>err || run_got=$?
	head -c 2000 out
	echo
	cat err
	[ "$run_got" -eq "$run_want" ] || fail "status $run_got, not $run_want: $*"
}

# wait_for_recording PID: until it waits for signals, in poll(), as it does when it records
wait_for_recording()
{
	wait_tries=0
	until grep -Eq '^(7|73) ' "/proc/$1/syscall"; do
		wait_tries=$((wait_tries + 1))
		[ $wait_tries -lt 600 ] || fail "nothing is recorded within a minute"
		sleep 0.1
	done
}

# count KEY: from the last line of a recording
count() { tail -n 1 err | tr ' ' '\n' | sed -n "s/^$1=//p"; }

# What a recording writes where it is not told otherwise, and what tests tell it to.
recordings="cpu.pb.gz profile.pb.gz block.pb.gz mutex.pb.gz x.pb.gz trace.out x.trace"

# refused STATUS WORD COMMAND...: one sentence with the word, and no file
refused()
{
	refused_status=$1
	refused_word=$2
	shift 2
	# shellcheck disable=SC2086	# names
	rm -f $recordings
	run "$refused_status" "$@"
	[ "$(wc -l <err)" -eq 1 ] || fail "not one line"
	[ ! -s out ] || fail "something on stdout"
	grep -q '^gprofctl: ' err
	grep -qiF -- "$refused_word" err || fail "nothing about $refused_word"
	for file in $recordings; do
		[ ! -e "$file" ] || fail "$file was left"
	done
}
