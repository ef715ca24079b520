#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# serve_go_test.sh: who asks gprofctl serve: pprof and trace of two versions of Go, curl, with a
# password, and over TLS; and its indexes in a browser, with pictures to look at in OUT (default:
# out/check of the sources). On the host it takes the tools out of Go toolchains, runs itself in a
# guest, where they are in /share, and then shows Chromium the pages that the guest has left there.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"

# ---- on the host ----

if [ ! "${GPROF_KERNEL-}" ]; then
	need openssl
	vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")
	[ -x "$vm/cache/go" ] || {
		echo "1..0 # SKIP no selftests/vm in PATH"
		exit 4
	}
	browser=$(command -v chromium || command -v chromium-browser) || browser=
	out=${OUT:-$vm/../../out/check}
	share=$(mktemp -d) || exit 1
	trap 'rm -rf "$share"' EXIT
fi

guest_passes()
{
	go=$("$vm/cache/go")
	younger=$("$vm/cache/go-tools")
	for tool in pprof trace; do
		find -L "$go/pkg/tool" -name $tool -type f -exec cp {} "$share/$tool-old" \;
		cp "$younger/$tool" "$share/$tool-new"
	done
	openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=localhost \
		-keyout "$share/server.key" -out "$share/server.crt" 2>/dev/null
	openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout "$share/old.key" \
		-out "$share/old.csr" 2>/dev/null
	openssl x509 -req -in "$share/old.csr" -signkey "$share/old.key" -days -1 \
		-out "$share/old.crt" 2>/dev/null
	"$vm/run" --arch amd64 --mem 2048 --timeout 800 --share "$share" -- serve_go_test.sh
}

# chromium OPTIONS...: without a window, and without asking anybody for anything
chromium()
{
	rm -rf "$share/user"
	timeout 100 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--allow-file-access-from-files --hide-scrollbars --user-data-dir="$share/user" "$@" \
		2>"$share/browser.err"
}

need_pages()
{
	[ "$browser" ] || skip "there is no chromium"
	[ -s "$share/index.html" ] || fail "the guest has left no pages"
	mkdir -p "$out" 2>/dev/null && [ -w "$out" ] || out=$share
}

# A window of Chromium is wider than a phone; a frame need not be.
indexes_fit_a_phone()
{
	need_pages
	for page in index root; do
		cat >"$share/phone.html" <<-END
			<!DOCTYPE html><iframe src="$page.html" style="width:360px;height:740px;border:0"></iframe>
			<script>addEventListener('load', () => {
				const d = document.querySelector('iframe').contentDocument.documentElement;
				document.title = 'is ' + d.scrollWidth + ' wide of ' + d.clientWidth;
			});</script>
		END
		chromium --dump-dom "file://$share/phone.html" >"$share/dom"
		sed -n 's/.*<title>\(is .*\)<\/title>.*/\1/p' "$share/dom" | tee "$share/told"
		awk '$2 > 300 && $2 <= $5 { ok = 1 } END { exit !ok }' "$share/told"
		chromium --window-size=500,760 --screenshot="$out/serve-$page-phone.png" \
			"file://$share/phone.html"
		chromium --window-size=1000,760 --force-dark-mode --screenshot="$out/serve-$page-dark.png" \
			"file://$share/$page.html"
		for picture in phone dark; do
			[ "$(wc -c <"$out/serve-$page-$picture.png")" -gt 8000 ]
			echo "$out/serve-$page-$picture.png"
		done
	done
}

[ "${GPROF_KERNEL-}" ] || ktap_run guest_passes indexes_fit_a_phone

# ---- in the guest ----

shim=$(realpath "$(dirname "$(command -v gprofctl)")/../lib/libgprof-heap.so")
need gprofctl curl "$here/burner" "$shim" /share/pprof-old /share/pprof-new
# shellcheck source-path=SCRIPTDIR source=../helpers/command.sh
. "$here/command.sh"
# shellcheck source-path=SCRIPTDIR source=../helpers/server.sh
. "$here/server.sh"
export PPROF_TMPDIR=$PWD HOME=$PWD

# of the password sesame
# shellcheck disable=SC2016 # it has dollars
hash='$2b$04$abcdefghijklmnopqrstuuinwY/tkBVrn3xrxQI/TgnMHhkvl85RW'

go=new

# pprof ARGS...: of one version of Go
pprof()
{
	/share/pprof-$go -symbolize=none "$@" 2>err || {
		echo "$go: $*" | cat - err >&2
		return 1
	}
}

users() { printf 'basic_auth_users:\n  alice: %s\n' "$hash" >web.yml; }

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
	for go in old new; do
		pprof -top "http://alice:sesame@$at/debug/pprof/profile?seconds=1&pid=$burner" >top
		cat top
		grep -q '^Type: cpu' top
		grep -q ' burn_ns\| spin' top
		# without seconds= it is for pprof to say for how long
		pprof -top -seconds 1 "http://alice:sesame@$at/debug/pprof/profile" >top
		grep -q '^Type: cpu' top
		for page in block:delay mutex:delay kernel-allocs:alloc_space kernel-heap:inuse_space; do
			pprof -top -seconds 1 "http://alice:sesame@$at/debug/pprof/${page%:*}" >top
			grep -q "^Type: ${page#*:}" top || { cat top err; fail "$page"; }
		done
		# it is patient for half as long again as it asks for, and 5 s
		pprof -top -seconds 4 "http://alice:sesame@$at/debug/pprof/wall?pid=$burner" >top
		grep -q '^Type: wall' top
		pprof -top "http://alice:sesame@$at/debug/pprof/goroutine" >top
		grep -q '^Type: tasks' top
	done
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
		curl -sSf "http://alice:sesame@$at/debug/pprof/trace?$query" -o x.trace
		for go in old new; do
			/share/trace-$go -pprof=sched x.trace >sched.pb.gz 2>err || {
				cat err
				fail "$go: $query"
			}
			[ -s sched.pb.gz ]
		done
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
	told 'it is not the key of the certificate'
	pprof -top "https+insecure://alice:sesame@$at/debug/pprof/goroutine" >top
	end
	refused 1 'not the key' gprofctl serve --listen 0 --web.config.file web.yml
	rm server.key
	refused 1 'No such file' gprofctl serve --listen 0 --web.config.file web.yml
}

curl_has_what_the_manual_says()
{
	users
	cp /share/server.* /share/old.* .
	tls server
	begin --web.config.file web.yml --socket s.sock
	curl -sSf --unix-socket s.sock 'http://x/debug/pprof/profile?seconds=0.5' -o cpu.pb.gz
	gprofctl top cpu.pb.gz >/dev/null
	url=https://localhost:$port
	curl -sSf --cacert server.crt -u alice:sesame -OJ "$url/debug/pprof/task"
	gprofctl top task >/dev/null
	curl -sSf --cacert server.crt -u alice:sesame -I "$url/metrics" >got
	grep -q '^HTTP/1.1 200' got
	for ask in 401:/metrics 401:/debug/pprof/task '405:/metrics -d x' '405:/debug/pprof/task -I' \
			'301:/debug/pprof' '404:/debug/pprof/nothing'; do
		who='-u alice:sesame'
		[ "${ask%%:*}" != 401 ] || who='-u alice:guess'
		path=${ask#*:}
		# shellcheck disable=SC2086 # words
		got=$(curl -s -m 20 -o page -w '%{http_code}' --cacert server.crt $who $url$path || true)
		echo "$ask: $got"
		[ "$got" = "${ask%%:*}" ]
	done
	expect 60 curl -sS --cacert old.crt "$url/metrics"
	end
	users
	tls old
	begin --web.config.file web.yml
	grep -q 'old.crt: the certificate has expired; clients will refuse it' served
	expect 60 curl -sS --cacert old.crt -u alice:sesame "https://localhost:$port/metrics"
	curl -sSfk -u alice:sesame "https://localhost:$port/metrics" >page
	grep -q '^gprof_sched_switches_total' page
	end
}

# Each link of the index, as it stands there; and the pages, for the host to look at.
links_of_the_index_lead_somewhere()
{
	users
	begin --web.config.file web.yml --flight
	for page in root: index:debug/pprof/; do
		curl -sSf -u alice:sesame "http://$at/${page#*:}" -o "/share/${page%:*}.html"
	done
	end
	# heap and allocs are answered where a program tells of its memory
	LD_PRELOAD=$shim sleep 600 &
	telling=$!
	begin --web.config.file web.yml --flight --max-seconds 1 --max-recordings 48
	curl -sSf -u alice:sesame "http://$at/debug/pprof/" | grep -o '<a href="[^"]*' | cut -d '"' -f 2 >links
	[ "$(wc -l <links)" -ge 19 ]
	while read -r link; do
		curl -sS -m 60 -o /dev/null -w "%{http_code} $link\n" -u alice:sesame "http://$at/debug/pprof/$link"
	done <links | tee answers
	kill $telling
	[ "$(grep -c '^200 ' answers)" -eq "$(wc -l <links)" ]
	end
}

nothing_is_left_open()
{
	run 0 gprofctl info --json
	jq -e '.data.recorders == []' out
}

ktap_run go_takes_profiles_with_a_password go_shows_the_sentence_of_what_is_wrong \
	go_opens_the_trace it_is_encrypted curl_has_what_the_manual_says \
	links_of_the_index_lead_somewhere nothing_is_left_open
