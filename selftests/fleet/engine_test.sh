#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# engine_test.sh: what becomes of profiles when engines answer as they should not: rubbish,
# errors in a success, redirects, never, without end, and with certificates that are none.
# Runs on the host, with a server that answers as it is told.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need openssl cmp

dir=$(mktemp -d) || exit 1
pids=$dir/pids
: >"$pids"
# shellcheck disable=SC2046 # words
trap 'kill -KILL $(cat "$pids") 2>/dev/null; rm -rf "$dir"' EXIT
PATH=$here:$PATH
cd "$dir" || exit 1
mkdir got

# serve NAME ARGS...: a server; its port comes into NAME.port
serve()
{
	fleet_sink "${@:2}" got >"$1.port" &
	echo $! >>"$pids"
	tries=0
	until [ -s "$1.port" ]; do
		tries=$((tries + 1))
		[ $tries -lt 100 ]
		sleep 0.1
	done
}

# send ENGINE PATH FILE [ARGS...]: to the server without TLS
send() { engine_send "${@:4}" "$1" "http://127.0.0.1:$(cat plain.port)$2" "$3"; }

# becomes WANTED ENGINE PATH ARGS...: what engine_send says is like that
becomes()
{
	send "$2" "$3" p.pb.gz "${@:4}" >out || true
	cat out
	grep -Eqx "$1" out || fail "not: $1"
}

servers_start()
{
	host_profile 1 20 300 >p.pb.gz
	nr=$(otlp_dump pprof p.pb.gz | wc -l)
	echo $((nr / 2)) >nr
	serve plain
}

samples_are_taken()
{
	nr=$(cat nr)
	becomes "all 1 $nr 0 0 [0-9]+ 0: " otlp /ok
	becomes "all 1 $nr 0 0 [0-9]+ 0: " otlp /ok/
	becomes "all 1 $nr 0 0 [0-9]+ 0: " otlp /ok/v1development/profiles
	[ "$(sed -n '1s|/ok||p' got/*.head | sort -u)" = "POST /v1development/profiles" ] ||
		fail "$(cat got/*.head)"
	becomes "all 1 $nr 0 0 [0-9]+ 0: " otlp /json
	becomes "all 1 $nr 0 0 [0-9]+ 0: " otlp /json/none
	becomes "all 1 $nr 0 0 [0-9]+ 0: .* warns: slow" otlp /warn
	otlp_dump pprof p.pb.gz >expected
	otlp_dump requests got/000000 | cmp expected -
}

# Parts are counted: they are the same whether made of what is in memory or of the file.
memory_and_file_are_sent_alike()
{
	rm -f got/*
	host_profile -b 7 50 30000 >large.pb.gz
	send otlp /ok large.pb.gz >out
	cat out
	[ "$(awk '{ print $2 }' out)" -gt 1 ]
	cat got/?????? >of_file
	rm got/*
	send otlp /ok large.pb.gz -p
	cat got/?????? >of_memory
	cmp of_file of_memory
}

# Counted are the bytes that go out, all of them.
bytes_are_counted()
{
	rm -f got/*
	becomes ".*" otlp /ok
	body=$(stat -c %s got/*[0-9])
	bytes=$(awk '{ print $6 }' out)
	echo "$bytes with a body of $body"
	[ $((bytes - body)) -gt 100 ]
	[ $((bytes - body)) -lt 400 ]
}

rubbish_is_no_success()
{
	nr=$(cat nr)
	becomes "later 0 0 0 $nr [0-9]+ 0: .*answers 200, but not as a receiver.*text/html.*" otlp /rubbish
	becomes "later 0 0 0 $nr [0-9]+ 0: .*more than 65536 bytes.*" otlp /huge
	becomes "later 0 0 0 $nr [0-9]+ 0: .*not as a receiver.*\(\?\[31m\?/x\?, 3 bytes\).*" otlp /type
	becomes "later 0 0 0 $nr [0-9]+ 0: .*with a page.*" pyroscope /rubbish
	becomes "later 0 0 0 $nr [0-9]+ 0: .*with a page.*" parca /rubbish
	becomes "later 0 0 0 0 [0-9]+ 0: .*with a page.*" put /rubbish
	becomes "later 0 0 0 $nr [0-9]+ 0: .*not as a receiver.*application/json.*" otlp /json/bad
}

error_in_a_success_is_one()
{
	becomes "never 1 0 $(cat nr) 0 [0-9]+ 0: .*refuses 2 of [0-9]+ profiles.*: bad" otlp /partial
	becomes "never 1 0 $(cat nr) 0 [0-9]+ 0: .*refuses 2 of [0-9]+ profiles.*: b\"ad" otlp /json/two
}

redirects_are_told()
{
	becomes "later 0 0 0 0 [0-9]+ 0: .*leads elsewhere \(307\).*/ok/elsewhere" otlp /redirect
	rm -f got/*
	becomes "later 0 0 0 0 .*" put /redirect -H "Authorization: Bearer secret"
	[ "$(find got -name '??????' | wc -l)" = 1 ]
}

silence_ends()
{
	start=$(date +%s%N)
	becomes "later 0 0 0 $(cat nr) [0-9]+ 0: .*did not answer: .*" otlp /never -t 700
	[ $((($(date +%s%N) - start) / 1000000)) -lt 10000 ]
	becomes "later 0 0 0 $(cat nr) [0-9]+ 0: .*did not answer: .*" otlp /lost
}

# What takes longer than an engine may be silent for is sent all the same.
slow_is_not_silent()
{
	head -c 600K /dev/urandom >slow.trace
	send put /slow slow.trace -y trace -t 1000 >out || true
	cat out
	grep -q '^all 1 ' out
}

# What is behind a path goes before the query, which may be a signature.
queries_stay_behind()
{
	rm -f got/*
	send otlp "/ok?sig=a%2Fb#here" p.pb.gz >out
	send otlp "/ok/?sig=1" p.pb.gz >out
	send otlp "/ok/v1development/profiles?sig=1" p.pb.gz >out
	send parca "/ok/?sig=1" p.pb.gz >out
	send put "/ok?sig=1" p.pb.gz >out
	send put "/ok/?sig=1" p.pb.gz >out
	send put "/ok/{type}?sig=1&id={id}" p.pb.gz >out
	send put "/ok/x?sig=1&id={id}" p.pb.gz >out
	head -qn 1 got/*.head | sed 's|cpu/[0-9]*T[0-9]*Z-|cpu/TIME-|' >heads
	cat heads
	cat >expected <<-END
		POST /ok/v1development/profiles?sig=a/b
		POST /ok/v1development/profiles?sig=1
		POST /ok/v1development/profiles?sig=1
		POST /ok/profiles/writeraw?sig=1
		PUT /ok/host.example/cpu/TIME-1.pb.gz?sig=1
		PUT /ok/host.example/cpu/TIME-1.pb.gz?sig=1
		PUT /ok/cpu?sig=1&id=1
		PUT /ok/x?sig=1&id=1
	END
	cmp heads expected
}

# Whoever has not got all of it cannot have taken it.
# More than the kernel holds for a connection at both its ends: else all of it has been sent.
half_is_nothing()
{
	head -c 32M /dev/urandom >large.trace
	send put /half large.trace -y trace >out || true
	cat out
	grep -Eq '^later 0 0 0 0 [0-9]+ 0: cannot send to' out
}

statuses_are_told_apart()
{
	nr=$(cat nr)
	for status in 429 500 502 503 504 408; do
		becomes "later 0 0 0 0 [0-9]+ 9000: .*\($status: no\?\[31m such \?\? thing\)" otlp "/status/$status"
	done
	# another token may come
	for status in 401 403 407; do
		becomes "later 0 0 0 0 [0-9]+ 9000: .*does not let this host send.*\($status: no.*" otlp "/status/$status"
	done
	# somebody else is there, and it may be put right
	for status in 404 405 410 415 421 426 501 505; do
		becomes "later 0 0 0 0 [0-9]+ 9000: .*takes no profiles; is that its address\?.*\($status: no.*" otlp "/status/$status"
	done
	becomes "later 0 0 0 0 [0-9]+ 0: .*\(400: <h1>no TLS.*" otlp /page/400
	for status in 400 413 422; do
		becomes "never 1 0 $nr 0 [0-9]+ 9000: .*refuses a profile \($status: no.*" otlp "/status/$status"
	done
	becomes "never 1 0 $nr 0 [0-9]+ 0: .*\(400: too\?many!\)" otlp /message/400
	becomes "later 0 0 0 0 [0-9]+ 0: .*\(503: too\?many!\)" otlp /message/503
}

# What was taken is not sent again, and all of it arrives.
parts_go_on()
{
	host_profile 3 500 40000 >large.pb.gz
	otlp_dump pprof large.pb.gz >expected
	# nr: of which request nothing is taken
	for nr in 1 2; do
		rm -f got/*
		send otlp "$([ $nr = 1 ] && echo /first/503 || echo /second/503)" large.pb.gz -r 3 >out
		cat out
		[ "$(sed -n 1p out | cut -d ' ' -f 1,2)" = "later $((nr - 1))" ]
		[ $nr = 2 ] || [ "$(sed -n 1p out | cut -d ' ' -f 3,7)" = "0 7000:" ]
		grep -q '^all' out
		rm "$(find got -name '??????' | sort | sed -n ${nr}p)"
		# shellcheck disable=SC2046 # words
		otlp_dump requests $(find got -name '??????' | sort) | cmp expected -
	done
}

tokens_go_along()
{
	rm -f got/*
	becomes "all .*" otlp /ok -H "Authorization: Bearer t0ken"
	grep -qx 'Authorization: Bearer t0ken' got/*.head
	grep -qx 'Content-Type: application/x-protobuf' got/*.head
	grep -qx 'Content-Encoding: gzip' got/*.head
	for header in 'no colon' ': no name' $'Two: lines\r\nX: y' 'Bad name: x'; do
		expect 3 engine_send -H "$header" otlp http://127.0.0.1:1 p.pb.gz 2>said
		cat said
		[ "$(wc -l <said)" = 1 ]
	done
}

addresses_are_checked()
{
	for url in '' nonsense file:///etc/passwd ftp://x/ 'http://' 'gopher://x'; do
		for engine in otlp put pyroscope parca; do
			expect 3 engine_send $engine "$url" p.pb.gz 2>said
			cat said
			[ "$(wc -l <said)" = 1 ]
		done
	done
	# nobody is told the password
	engine_send otlp "http://me:pass%0aword@127.0.0.1:1/x?token=1" p.pb.gz >said 2>&1 || true
	engine_send otlp "http://me:word@127.0.0.1:1/x?token=1" p.pb.gz >>said 2>&1 || true
	for url in "htp://me:word@host/x?token" "me:word@host" "http://me:wo?rd@host/{x}?token" \
		"http://me:word@{host}/?token" "http://h/{what}?token" "x?token@token"; do
		engine_send put "$url" p.pb.gz >>said 2>&1 || true
	done
	cat said
	! grep -e word -e token said
}

no_profile_is_refused()
{
	head -c 3000 p.pb.gz >cut.pb.gz
	send otlp /ok cut.pb.gz >out
	cat out
	grep -q '^never 0 0 0 0 0 0: what is to be sent cannot be read: ' out
}

# make_certificate NAME FROM UNTIL: of the authority in ca.pem
make_certificate()
{
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.csr" \
		-subj /CN=gateway 2>/dev/null
	openssl ca -batch -config ca.cnf -in "$1.csr" -out "$1.pem" -startdate "$2" -enddate "$3" \
		-notext 2>/dev/null
}

make_certificates()
{
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem \
		-subj /CN=authority -days 30 2>/dev/null
	mkdir new
	: >index
	echo 01 >serial
	cat >ca.cnf <<-END
		[ca]
		default_ca = own
		[own]
		dir = .
		database = index
		serial = serial
		new_certs_dir = new
		certificate = ca.pem
		private_key = ca.key
		default_md = sha256
		policy = any
		unique_subject = no
		x509_extensions = names
		[any]
		commonName = supplied
		[names]
		subjectAltName = IP:127.0.0.1
	END
	make_certificate good 20200101000000Z 20491231000000Z
	make_certificate expired 20200101000000Z 20210101000000Z
	serve good -c good.pem -k good.key
	serve expired -c expired.pem -k expired.key
}

# secure NAME ARGS...: to that server with TLS
secure()
{
	engine_send "${@:2}" otlp "https://127.0.0.1:$(cat "$1.port")/ok" p.pb.gz >out || true
	cat out
}

certificates_are_checked()
{
	make_certificates
	rm -f got/*
	secure good
	grep -q '^later 0 0 0 0 0 0: cannot send to .*[Cc]ertificate' out
	secure expired -a ca.pem
	grep -q '^later 0 0 0 0 0 0: cannot send to .*[Cc]ertificate' out
	secure good -a /nowhere
	grep -q '^later 0 0 0 0 0 0: cannot send to ' out
	[ -z "$(ls got)" ]
	secure good -a ca.pem
	grep -q '^all 1 ' out
	[ "$(find got -name '??????' | wc -l)" = 1 ]
	engine_send -a ca.pem otlp "https://localhost:$(cat good.port)/ok" p.pb.gz >out || true
	cat out
	grep -q '^later 0 0 0 0 0 0: cannot send to ' out
}

objects_are_put()
{
	rm -f got/*
	becomes "all 1 $(cat nr) 0 0 [0-9]+ 0: " put /ok
	grep -Eqx 'PUT /ok/host.example/cpu/20[0-9]{6}T[0-9]{6}Z-1.pb.gz' got/000*.head ||
		fail "$(cat got/*.head)"
	cmp p.pb.gz "$(find got -name '??????')"
	rm -f got/*
	head -c 100000 /dev/urandom >t.trace
	send put "/ok/x-{type}-{id}.{ext}" t.trace -y trace -i 41
	grep -qx 'PUT /ok/x-trace-41.trace' got/*.head
	cmp t.trace "$(find got -name '??????')"
	rm -f got/*
	send put "/ok/{host}/{time}" t.trace -y trace -m 'a/../b c'
	grep -qx 'PUT /ok/a%2F..%2Fb%20c/19700101T000000Z' got/*.head || {
		# the server unescapes what it tells
		grep -qx 'PUT /ok/a/../b c/19700101T000000Z' got/*.head
	}
	for url in "http://{host}/x" "http://127.0.0.1/{what}" "http://127.0.0.1/{host"; do
		expect 3 engine_send put "$url" p.pb.gz
	done
	becomes "later 0 0 0 0 [0-9]+ 9000: .*" put /status/404
	becomes "never 0 0 $(cat nr) 0 [0-9]+ 9000: .*" put /status/413
	becomes "later 0 0 0 0 [0-9]+ 9000: .*" put /status/403
	becomes "later 0 0 0 0 [0-9]+ 9000: .*" put /status/503
	becomes "later 0 0 0 0 .*" put /lost
}

# As far as their sources tell: what they would decode is the file.
raw_forms_are_json()
{
	for engine in pyroscope parca; do
		rm -f got/*
		becomes "all 1 $(cat nr) 0 0 [0-9]+ 0: " $engine /ok
		body=$(find got -name '??????')
		jq -r '.series[0].samples[0].rawProfile' "$body" | base64 -d | cmp p.pb.gz -
		cat got/*.head
		case $engine in
		pyroscope)
			grep -qx 'POST /ok/push.v1.PusherService/Push' got/*.head
			[ "$(jq -r '.series[0].labels | map(.name + "=" + .value) | join(" ")' "$body")" = \
				"__name__=process_cpu service_name=host.example job=gprof" ]
			jq -r '.series[0].samples[0].ID' "$body" |
				grep -Eqx '[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
			;;
		parca)
			grep -qx 'POST /ok/profiles/writeraw' got/*.head
			[ "$(jq -r '.series[0].labels.labels | map(.name + "=" + .value) | join(" ")' "$body")" = \
				"__name__=process_cpu node=host.example job=gprof" ]
			;;
		esac
		becomes "never 0 0 $(cat nr) 0 [0-9]+ 9000: .*" $engine /status/400
		becomes "later 0 0 0 $(cat nr) [0-9]+ 0: .*" $engine /lost
		send $engine /ok p.pb.gz -m $'quote"back\\slash\nline'
		jq -e . "$(find got -name '??????' | sort | tail -n 1)" >/dev/null
	done
}

ktap_run servers_start samples_are_taken memory_and_file_are_sent_alike bytes_are_counted \
	rubbish_is_no_success error_in_a_success_is_one redirects_are_told silence_ends \
	slow_is_not_silent queries_stay_behind half_is_nothing statuses_are_told_apart parts_go_on \
	tokens_go_along addresses_are_checked no_profile_is_refused certificates_are_checked \
	objects_are_put raw_forms_are_json
