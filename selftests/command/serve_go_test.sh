#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# serve_go_test.sh: Go's own pprof and trace ask gprofctl serve, with a password, and over TLS.
# On the host it takes them out of a Go toolchain and runs itself in a guest, where they are
# in /share.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"

if [ ! "${GPROF_KERNEL-}" ]; then
	need openssl
	vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")
	[ -x "$vm/cache/go" ] || {
		echo "1..0 # SKIP no selftests/vm in PATH"
		exit 4
	}
	go=$("$vm/cache/go") || exit 1
	share=$(mktemp -d) || exit 1
	trap 'rm -rf "$share"' EXIT
	for tool in pprof trace; do
		find -L "$go/pkg/tool" -name $tool -type f -exec cp {} "$share" \;
	done
	openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=localhost \
		-keyout "$share/server.key" -out "$share/server.crt" 2>/dev/null
	openssl req -newkey rsa:2048 -nodes -subj /CN=expired -keyout "$share/old.key" \
		-out "$share/old.csr" 2>/dev/null
	openssl x509 -req -in "$share/old.csr" -signkey "$share/old.key" -days -1 \
		-out "$share/old.crt" 2>/dev/null
	"$vm/run" --arch amd64 --mem 2048 --timeout 600 --share "$share" -- serve_go_test.sh
	exit
fi

need gprofctl "$here/burner" /share/pprof /share/trace
# shellcheck source-path=SCRIPTDIR source=../helpers/command.sh
. "$here/command.sh"
# shellcheck source-path=SCRIPTDIR source=../helpers/server.sh
. "$here/server.sh"
export PPROF_TMPDIR=$PWD HOME=$PWD

# of the password sesame
# shellcheck disable=SC2016 # it has dollars
hash='$2b$04$abcdefghijklmnopqrstuuinwY/tkBVrn3xrxQI/TgnMHhkvl85RW'

pprof()
{
	/share/pprof -symbolize=none "$@" 2>err || { cat err; return 1; }
}

users()
{
	printf 'basic_auth_users:\n  alice: %s\n' "$hash" >web.yml
}

tls()
{
	printf 'tls_server_config:\n  cert_file: %s.crt\n  key_file: %s.key\n' "$1" "$1" >>web.yml
}

go_takes_profiles_with_a_password()
{
	users
	begin --web.config.file web.yml
	"$here/burner" 600000 &
	burner=$!
	pprof -top "http://alice:sesame@$at/debug/pprof/profile?seconds=2&pid=$burner" >top
	cat top
	grep -q '^Type: cpu' top
	# without seconds= it is for pprof to say for how long
	pprof -top -seconds 1 "http://alice:sesame@$at/debug/pprof/profile" >top
	grep -q '^Type: cpu' top
	for page in block mutex; do
		pprof -top -seconds 1 "http://alice:sesame@$at/debug/pprof/$page" >top
		grep -q '^Type: delay' top || { cat top err; fail "$page"; }
	done
	pprof -top "http://alice:sesame@$at/debug/pprof/goroutine" >top
	grep -q '^Type: tasks' top
	kill "$burner"
	wait "$burner" || true
	end
}

go_shows_the_sentence_of_what_is_wrong()
{
	users
	begin --web.config.file web.yml
	if pprof -top "http://alice:sesame@$at/debug/pprof/profile?event=nothing-like-it" >out; then
		fail "it should not"
	fi
	grep -q 'nothing-like-it: no such event' err
	if pprof -top "http://alice:guess@$at/debug/pprof/profile?seconds=1" >out; then
		fail "it should not"
	fi
	grep -q 'a user and a password are wanted here' err
	end
}

go_opens_the_trace()
{
	users
	begin --web.config.file web.yml --flight
	for query in seconds=1 flight=1; do
		# pprof keeps what it cannot read; the server's own client is a few lines
		exec 3<>"/dev/tcp/${at%:*}/${at#*:}"
		printf 'GET /debug/pprof/trace?%s HTTP/1.0\r\nAuthorization: Basic %s\r\n\r\n' $query \
			"$(printf alice:sesame | base64)" >&3
		cat <&3 >answer
		exec 3>&-
		sed '1,/^\r$/d' answer >x.trace
		/share/trace -pprof=sched x.trace >sched.pb.gz 2>err || { cat err; fail "$query"; }
		[ -s sched.pb.gz ]
	done
	end
}

it_is_encrypted()
{
	users
	cp /share/server.* /share/old.* .
	tls server
	begin --web.config.file web.yml
	grep -q 'serving at https://' served
	pprof -top "https+insecure://alice:sesame@$at/debug/pprof/goroutine" >top
	grep -q '^Type: tasks' top
	if pprof -top "https://alice:sesame@$at/debug/pprof/goroutine" >top; then
		fail "nobody vouches for the certificate"
	fi
	if pprof -top "http://alice:sesame@$at/debug/pprof/goroutine" >top; then
		fail "it should be encrypted"
	fi
	# garbage for a handshake
	exec 3<>"/dev/tcp/${at%:*}/${at#*:}"
	head -c 4096 /dev/urandom >&3 || true
	exec 3>&-
	# a new certificate, while a recording goes on
	pprof -top "https+insecure://alice:sesame@$at/debug/pprof/profile?seconds=4" >top &
	sleep 1
	cp old.crt server.crt
	cp old.key server.key
	kill -HUP "$server"
	wait $!
	grep -q '^Type: cpu' top
	grep -q 'server.crt: the certificate has expired; clients will refuse it' served
	grep -q 'read again' served
	pprof -top "https+insecure://alice:sesame@$at/debug/pprof/goroutine" >top
	# a key of another
	cp /share/server.key server.key
	kill -HUP "$server"
	i=0
	until grep -q 'it is not the key of the certificate' served; do
		i=$((i + 1))
		[ $i -lt 100 ]
		sleep 0.1
	done
	pprof -top "https+insecure://alice:sesame@$at/debug/pprof/goroutine" >top
	end
	refused 1 'not the key' gprofctl serve --listen 0 --web.config.file web.yml
	rm server.key
	refused 1 'No such file' gprofctl serve --listen 0 --web.config.file web.yml
}

nothing_is_left_open()
{
	run 0 gprofctl info --json
	jq -e '.recorders == []' out
}

ktap_run go_takes_profiles_with_a_password go_shows_the_sentence_of_what_is_wrong \
	go_opens_the_trace it_is_encrypted nothing_is_left_open
