#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# collector_test.sh: profiles go to a real OpenTelemetry Collector, an agent, which hands
# them on to another, a gateway, and what comes out behind is what was sent. Runs on the
# host, which builds the Collector where it is not in the cache.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"

vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")
[ -x "$vm/cache/collector" ] || {
	echo "1..0 # SKIP no selftests/vm in PATH"
	exit 4
}
collector=$("$vm/cache/collector") || exit 1
dir=$(mktemp -d) || exit 1
pids=$dir/pids
: >"$pids"
# shellcheck disable=SC2046 # words
trap 'kill -KILL $(cat "$pids") 2>/dev/null; rm -rf "$dir"' EXIT
PATH=$here:$PATH
cd "$dir" || exit 1
mkdir got

# free_port: one that nobody has, below those that the kernel gives away
free_port()
{
	while port=$(shuf -i 20000-30000 -n 1); do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
	done
	echo "$port"
}

# collect NAME PORT URL: a Collector that takes profiles at PORT and hands them on
collect()
{
	cat >"$1.yaml" <<-END
		receivers:
		  otlp:
		    protocols:
		      http:
		        endpoint: 127.0.0.1:$2
		exporters:
		  debug:
		    verbosity: detailed
		  otlp_http:
		    endpoint: $3
		    sending_queue:
		      enabled: false
		    retry_on_failure:
		      enabled: false
		service:
		  telemetry:
		    metrics:
		      level: none
		  pipelines:
		    profiles:
		      receivers: [otlp]
		      exporters: [otlp_http${4-}]
	END
	"$collector/collector" --config "$1.yaml" --feature-gates=service.profilesSupport \
		>"$1.log" 2>&1 &
	echo $! >>"$pids"
	echo $! >"$1.pid"
	tries=0
	until grep -q 'Everything is ready' "$1.log"; do
		tries=$((tries + 1))
		if [ $tries -gt 600 ] || ! kill -0 $!; then
			cat "$1.log"
			return 1
		fi
		sleep 0.1
	done
}

pipeline_starts()
{
	fleet_sink got >sink.port &
	echo $! >>"$pids"
	free_port >gateway.port
	free_port >agent.port
	until [ -s sink.port ]; do sleep 0.1; done
	collect gateway "$(cat gateway.port)" "http://127.0.0.1:$(cat sink.port)/ok" ', debug'
	collect agent "$(cat agent.port)" "http://127.0.0.1:$(cat gateway.port)"
}

# to NAME ARGS...: engine_send to that Collector
to()
{
	name=$1
	shift
	[ -s "$name.port" ] || skip "the pipeline did not start"
	engine_send "$@" "http://127.0.0.1:$(cat "$name.port")" "${files[@]}"
}

requests() { find got -name '??????' | sort; }

# arrived ARGS...: what came out is what files hold, told by otlp_dump ARGS
arrived()
{
	mapfile -t requests < <(requests)
	otlp_dump "$@" pprof "${files[@]}" >expected
	otlp_dump "$@" requests "${requests[@]}" >arrived
	[ -s expected ]
	cmp expected arrived
}

begin() { rm -f got/*; }

profile_arrives()
{
	begin
	host_profile 1 50 3000 >p.pb.gz
	files=(p.pb.gz)
	to agent >out
	cat out
	grep -q '^all 1 2[0-9]* 0 0 ' out
	arrived
}

# By a reader of the schema that is not ours: names, build-ids and labels are there.
collector_tells_it()
{
	[ -s gateway.log ] || skip "there is no gateway"
	begin
	host_profile 2 3 40 >p.pb.gz
	files=(p.pb.gz)
	to agent
	arrived
	tries=0
	until grep -q 'process.executable.build_id.gnu' gateway.log; do
		tries=$((tries + 1))
		[ $tries -lt 50 ]
		sleep 0.1
	done
	grep -q 'service.name: Str(service-1)' gateway.log
	grep -q 'host.name: Str(host.example)' gateway.log
	grep -q 'process.pid' gateway.log
	grep -q 'pprof.profile.comment' gateway.log
}

every_byte_arrives()
{
	begin
	host_profile -b 3 50 500 >p.pb.gz
	files=(p.pb.gz)
	to agent
	arrived
	grep -q 'request=' arrived
}

names_stay_here()
{
	begin
	host_profile 4 50 500 >p.pb.gz
	files=(p.pb.gz)
	to agent -n
	arrived -n
	! grep -q 'svc_' arrived
	grep -q 'program-1 [0-9a-f]\{40\}' arrived
}

large_one_arrives_in_parts()
{
	begin
	host_profile 5 500 50000 >p.pb.gz
	files=(p.pb.gz)
	to agent >out
	cat out
	[ "$(awk '{ print $2 }' out)" -gt 2 ]
	arrived
}

# Killed while it has a part: what it had is sent again, and told by its ids, or waits.
gateway_dies_in_mid_batch()
{
	begin
	host_profile 6 500 80000 >p.pb.gz
	files=(p.pb.gz)
	to gateway -r 100 -w 300 >out &
	sender=$!
	until [ "$(requests | wc -l)" -ge 2 ]; do sleep 0.01; done
	kill -KILL "$(cat gateway.pid)"
	sleep 1
	collect gateway "$(cat gateway.port)" "http://127.0.0.1:$(cat sink.port)/ok" ', debug'
	wait $sender || {
		cat out
		fail "it was not sent"
	}
	cat out
	grep -q '^later' out
	tail -n 1 out | grep -q '^all'
	arrived -u
	# without a look at ids, no more came twice than was counted: two types a sample
	mapfile -t requests < <(requests)
	otlp_dump requests "${requests[@]}" >arrived
	twice=$(($(wc -l <arrived) - $(wc -l <expected)))
	unsure=$(awk '{ sum += $5 } END { print 2 * sum }' out)
	echo "$twice values came twice, at most $unsure could"
	[ $twice -ge 0 ]
	[ $twice -le "$unsure" ]
}

fleet_arrives()
{
	begin
	to_all=()
	: >expected
	for i in $(seq 200); do
		host_profile "$i" 20 60 >"fleet-$i.pb.gz" 2>/dev/null
		otlp_dump -p "host-$i" pprof "fleet-$i.pb.gz" >>expected
	done
	for i in $(seq 200); do
		files=("fleet-$i.pb.gz")
		to gateway -r 50 -w 200 -t 60000 -m "host-$i" -i "$i" >"fleet-$i.out" &
		to_all+=($!)
	done
	wait "${to_all[@]}"
	cat fleet-*.out | awk '{ print $1, $4, $5 }' | sort | uniq -c
	mapfile -t requests < <(requests)
	sort expected >expected.sorted
	otlp_dump -u -p x requests "${requests[@]}" | sort >arrived
	cmp expected.sorted arrived
}

ktap_run pipeline_starts profile_arrives collector_tells_it every_byte_arrives names_stay_here \
	large_one_arrives_in_parts gateway_dies_in_mid_batch fleet_arrives
