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

# send PATH FILE [ARGS...]: to the server without TLS
send() { engine_send "${@:3}" "http://127.0.0.1:$(cat plain.port)$1" "$2"; }

# becomes WANTED PATH ARGS...: what engine_send says is like that
becomes()
{
	send "$2" p.pb.gz "${@:3}" >out || true
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
	becomes "all 1 $nr 0 0 [0-9]+ 0: " /ok
	becomes "all 1 $nr 0 0 [0-9]+ 0: " /ok/
	becomes "all 1 $nr 0 0 [0-9]+ 0: " /ok/v1development/profiles
	[ "$(sed -n '1s|/ok||p' got/*.head | sort -u)" = "POST /v1development/profiles" ] ||
		fail "$(cat got/*.head)"
	becomes "all 1 $nr 0 0 [0-9]+ 0: " /json
	becomes "all 1 $nr 0 0 [0-9]+ 0: " /json/none
	becomes "all 1 $nr 0 0 [0-9]+ 0: .* warns: slow" /warn
	otlp_dump pprof p.pb.gz >expected
	otlp_dump requests got/000000 | cmp expected -
}

# Parts are counted: they are the same whether made of what is in memory or of the file.
memory_and_file_are_sent_alike()
{
	rm -f got/*
	host_profile -b 7 50 30000 >large.pb.gz
	send /ok large.pb.gz >out
	cat out
	[ "$(awk '{ print $2 }' out)" -gt 1 ]
	cat got/?????? >of_file
	rm got/*
	send /ok large.pb.gz -p
	cat got/?????? >of_memory
	cmp of_file of_memory
}

# Counted are the bytes that go out, all of them.
bytes_are_counted()
{
	rm -f got/*
	becomes ".*" /ok
	body=$(stat -c %s got/*[0-9])
	bytes=$(awk '{ print $6 }' out)
	echo "$bytes with a body of $body"
	[ $((bytes - body)) -gt 100 ]
	[ $((bytes - body)) -lt 400 ]
}

rubbish_is_no_success()
{
	nr=$(cat nr)
	becomes "later 0 0 0 $nr [0-9]+ 0: .*answers 200, but not as a receiver.*text/html.*" /rubbish
	becomes "later 0 0 0 $nr [0-9]+ 0: .*more than 65536 bytes.*" /huge
	becomes "later 0 0 0 $nr [0-9]+ 0: .*not as a receiver.*\(\?\[31m\?/x\?, 3 bytes\).*" /type
	becomes "later 0 0 0 $nr [0-9]+ 0: .*not as a receiver.*application/json.*" /json/bad
}

error_in_a_success_is_one()
{
	becomes "never 1 0 $(cat nr) 0 [0-9]+ 0: .*refuses 2 of [0-9]+ profiles.*: bad" /partial
	becomes "never 1 0 $(cat nr) 0 [0-9]+ 0: .*refuses 2 of [0-9]+ profiles.*: b\"ad" /json/two
}

redirects_are_told()
{
	becomes "later 0 0 0 0 [0-9]+ 0: .*leads elsewhere \(307\).*/ok/elsewhere" /redirect
	rm -f got/*
	becomes "later 0 0 0 0 .*" /redirect -H "Authorization: Bearer secret"
	[ "$(find got -name '??????' | wc -l)" = 1 ]
}

silence_ends()
{
	start=$(date +%s%N)
	becomes "later 0 0 0 $(cat nr) [0-9]+ 0: .*did not answer: .*" /never -t 700
	[ $((($(date +%s%N) - start) / 1000000)) -lt 10000 ]
	becomes "later 0 0 0 $(cat nr) [0-9]+ 0: .*did not answer: .*" /lost
}

# What takes longer than an engine may be silent for is sent all the same.
slow_is_not_silent()
{
	host_profile 5 50 14000 >slow.pb.gz
	send /slow slow.pb.gz -t 1000 >out || true
	cat out
	grep -q '^all 1 ' out
}

# What is behind a path goes before the query, which may be a signature.
queries_stay_behind()
{
	rm -f got/*
	send "/ok?sig=a%2Fb#here" p.pb.gz >out
	send "/ok/?sig=1" p.pb.gz >out
	send "/ok/v1development/profiles?sig=1" p.pb.gz >out
	head -qn 1 got/*.head >heads
	cat heads
	cat >expected <<-END
		POST /ok/v1development/profiles?sig=a/b
		POST /ok/v1development/profiles?sig=1
		POST /ok/v1development/profiles?sig=1
	END
	cmp heads expected
}

# A server that has a part of a request cannot have taken it. The request is more than the kernel
# holds for the connection at both its ends: else all of it has been sent.
half_is_nothing()
{
	serve narrow -n
	engine_send "http://127.0.0.1:$(cat narrow.port)/half" large.pb.gz >out || true
	cat out
	grep -Eq '^later 0 0 0 0 [0-9]+ 0: cannot send to' out
}

statuses_are_told_apart()
{
	nr=$(cat nr)
	for status in 429 500 502 503 504 408; do
		becomes "later 0 0 0 0 [0-9]+ 9000: .*\($status: no\?\[31m such \?\? thing\)" "/status/$status"
	done
	# another token may come
	for status in 401 403 407; do
		becomes "later 0 0 0 0 [0-9]+ 9000: .*does not let this host send.*\($status: no.*" "/status/$status"
	done
	# somebody else is there, and it may be put right
	for status in 404 405 410 415 421 426 501 505; do
		becomes "later 0 0 0 0 [0-9]+ 9000: .*takes no profiles; is that its address\?.*\($status: no.*" "/status/$status"
	done
	becomes "later 0 0 0 0 [0-9]+ 0: .*\(400: <h1>no TLS.*" /page/400
	for status in 400 413 422; do
		becomes "never 1 0 $nr 0 [0-9]+ 9000: .*refuses a profile \($status: no.*" "/status/$status"
	done
	becomes "never 1 0 $nr 0 [0-9]+ 0: .*\(400: too\?many!\)" /message/400
	becomes "later 0 0 0 0 [0-9]+ 0: .*\(503: too\?many!\)" /message/503
}

# What was taken is not sent again, and all of it arrives.
parts_go_on()
{
	host_profile 3 500 40000 >large.pb.gz
	otlp_dump pprof large.pb.gz >expected
	# nr: of which request nothing is taken
	for nr in 1 2; do
		rm -f got/*
		send "$([ $nr = 1 ] && echo /first/503 || echo /second/503)" large.pb.gz -r 3 >out
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
	becomes "all .*" /ok -H "Authorization: Bearer t0ken"
	grep -qx 'Authorization: Bearer t0ken' got/*.head
	grep -qx 'Content-Type: application/x-protobuf' got/*.head
	grep -qx 'Content-Encoding: gzip' got/*.head
	for header in 'no colon' ': no name' $'Two: lines\r\nX: y' 'Bad name: x'; do
		expect 3 engine_send -H "$header" http://127.0.0.1:1 p.pb.gz 2>said
		cat said
		[ "$(wc -l <said)" = 1 ]
	done
}

addresses_are_checked()
{
	for url in '' nonsense file:///etc/passwd ftp://x/ 'http://' 'gopher://x'; do
		expect 3 engine_send "$url" p.pb.gz 2>said
		cat said
		[ "$(wc -l <said)" = 1 ]
	done
	# nobody is told the password
	engine_send "http://me:pass%0aword@127.0.0.1:1/x?token=1" p.pb.gz >said 2>&1 || true
	engine_send "http://me:word@127.0.0.1:1/x?token=1" p.pb.gz >>said 2>&1 || true
	for url in "htp://me:word@host/x?token" "me:word@host" "http://me:wo?rd@host/x?token" \
		"x?token@token"; do
		engine_send "$url" p.pb.gz >>said 2>&1 || true
	done
	cat said
	! grep -e word -e token said
}

no_profile_is_refused()
{
	head -c 3000 p.pb.gz >cut.pb.gz
	send /ok cut.pb.gz >out
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
	engine_send "${@:2}" "https://127.0.0.1:$(cat "$1.port")/ok" p.pb.gz >out || true
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
	engine_send -a ca.pem "https://localhost:$(cat good.port)/ok" p.pb.gz >out || true
	cat out
	grep -q '^later 0 0 0 0 0 0: cannot send to ' out
}

ktap_run servers_start samples_are_taken memory_and_file_are_sent_alike bytes_are_counted \
	rubbish_is_no_success error_in_a_success_is_one redirects_are_told silence_ends \
	slow_is_not_silent queries_stay_behind half_is_nothing statuses_are_told_apart parts_go_on \
	tokens_go_along addresses_are_checked no_profile_is_refused certificates_are_checked
