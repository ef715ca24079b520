# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# server.sh: for tests of gprofctl serve, behind command.sh.

# told PATTERN: waits until a server has said it, at most 10 s
told()
{
	told_tries=0
	until grep -qs "$1" served; do
		told_tries=$((told_tries + 1))
		if [ $told_tries -gt 100 ]; then
			cat served || true
			fail "the server does not say: $1"
		fi
		sleep 0.1
	done
}

# begin ARGS...: starts a server on a free port of the loopback, and sets server, its process,
# at, where it answers, HOST:PORT, and port
begin()
{
	# what the one before said is not to be taken for what this one says
	rm -f served
	gprofctl serve --listen 0 "$@" 2>served &
	server=$!
	# a test that fails leaves none behind
	trap 'kill -KILL "$server" 2>/dev/null' EXIT
	told '^gprofctl: serving at https\{0,1\}://127\.0\.0\.1:[0-9]*/$'
	at=$(sed -n 's|^gprofctl: serving at https\{0,1\}://\(.*\)/$|\1|p' served)
	# shellcheck disable=SC2034 # some scripts ask by it
	port=${at#*:}
}

# end: asks the server to end, and sees that it does so well
end()
{
	kill -TERM "$server"
	end_with 0
}

# end_with STATUS: sees with what a server ends
end_with()
{
	end_got=0
	wait "$server" || end_got=$?
	trap - EXIT
	[ $end_got -eq "$1" ] || fail "the server ended with $end_got"
}
