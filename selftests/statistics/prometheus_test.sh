#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# prometheus_test.sh: a real Prometheus scrapes "gprofctl serve" and answers with the right numbers.
# On the host it fetches Prometheus and runs itself in a guest, where its directory is /share.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"

if [ ! "${GPROF_KERNEL-}" ]; then
	vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")
	[ -x "$vm/cache/prometheus" ] || {
		echo "1..0 # SKIP no selftests/vm in PATH"
		exit 4
	}
	share=$("$vm/cache/prometheus" amd64) || exit 1
	exec "$vm/run" --arch amd64 --mem 2048 --timeout 600 --share "$share" -- prometheus_test.sh
fi

PATH=/share:$PATH
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
group=/sys/fs/cgroup/prometheus_test
port=9747
push=9748
web=9090

# get PORT PATH: the page
get()
{
	# shellcheck disable=SC2016 # bash expands them
	bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1"
		printf "GET %s HTTP/1.0\r\nHost: localhost\r\nAccept: text/plain\r\n\r\n" "$2" >&3
		cat <&3' - "$1" "$2" | sed '1,/^\r$/d'
}

# until_so TRIES COMMAND...: again, every half second, until it succeeds
until_so()
{
	tries=$1
	shift
	until "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.5
	done
}

# ask EXPRESSION: the value that Prometheus has for it now, "" for none; the
# expression is one that needs no escapes in an address but for these
ask()
{
	get $web "/api/v1/query?query=$(printf %s "$1" | sed 's/{/%7B/g; s/}/%7D/g; s/"/%22/g;
		s/ /%20/g; s/\[/%5B/g; s/\]/%5D/g; s/+/%2B/g')" >answer
	jq -r '.data.result[0].value[1] // ""' answer
}

serving() { get $port /metrics 2>/dev/null | grep -q gprof_sched_task_total; }

ready() { get $web /-/ready 2>/dev/null | grep -qi ready; }

# The group's tasks have ended: from now on its numbers stand still, and so
# there is one right answer to every question.
work()
{
	mkdir "$group"
	gprofctl serve --listen 127.0.0.1:$port -G "$group" 2>served &
	until_so 60 serving || {
		cat served
		return 1
	}
	# shellcheck disable=SC2016 # the other shell expands them
	sh -c 'echo $$ >"$0/cgroup.procs"
		for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done' "$group"
	cat >prometheus.yml <<-END
		global:
		  scrape_interval: 1s
		  evaluation_interval: 1s
		rule_files: ['$here/alerts.yml']
		scrape_configs:
		  - job_name: gprof
		    static_configs:
		      - targets: ['127.0.0.1:$port']
		  - job_name: gprof_push
		    static_configs:
		      - targets: ['127.0.0.1:$push']
	END
	promtool check config prometheus.yml || return 1
	prometheus --config.file=prometheus.yml --storage.tsdb.path="$dir/data" \
		--web.listen-address=127.0.0.1:$web --log.level=warn >prometheus.log 2>&1 &
	until_so 240 ready || {
		cat prometheus.log
		return 1
	}
}

need_prometheus() { [ -e ready ] || skip "Prometheus is not there"; }

prometheus_scrapes_it()
{
	[ -e /sys/fs/cgroup/cgroup.procs ] || skip "no cgroup v2 here"
	prometheus --version
	work
	touch ready
}

scraped() { [ "$(ask 'up{job="gprof"}')" = 1 ]; }

the_scrape_is_accepted()
{
	need_prometheus
	until_so 60 scraped || {
		cat answer prometheus.log
		fail "Prometheus does not take the metrics"
	}
	! grep -i 'error\|warn' prometheus.log
}

# All series, one a line and in order, with numbers written in one way.
of_prometheus()
{
	get $web '/api/v1/query?query=%7Bjob=%22gprof%22%7D' | jq -r '.data.result[] |
		.metric as $m |
		$m.__name__ + "{" + (["scope", "cgroup", "le"] |
			map(select($m[.]) | . + "=\"" + $m[.] + "\"") | join(",")) + "} " +
		(.value[1] | tonumber | tostring)'
}

of_server()
{
	get $port /metrics | grep -v '^#' |
		jq -Rr 'capture("^(?<s>[^ ]+) (?<v>.+)$") | .s + " " + (.v | tonumber | tostring)'
}

answers_are_the_right_numbers()
{
	need_prometheus
	[ "$(ask gprof_sched_task_total)" = 10 ]
	[ "$(ask gprof_sched_num_task)" = 0 ]
	of_prometheus | grep '^gprof_sched_' | sort >prometheus
	of_server | grep '^gprof_sched_' | sort >server
	wc -l prometheus
	[ "$(wc -l <server)" -ge 60 ]
	diff server prometheus
}

a_histogram_has_its_quantile()
{
	need_prometheus
	get $port /schedstat >json
	q=$(ask 'histogram_quantile(0.5,gprof_sched_delay_seconds_bucket)')
	p50=$(jq .data.delay_ns.p50 json)
	echo "the median is $p50 ns, and $q s for Prometheus"
	# buckets of the exposition are powers of two
	awk -v q="$q" -v p="$p50" 'BEGIN { r = q * 1e9 / p; exit !(r >= 0.5 && r <= 2) }'
}

recorders_are_there()
{
	need_prometheus
	[ "$(ask 'gprof_recorder_started{kind="sched",owner="gprof-agent"}')" = 1 ]
}

promtool_has_nothing_to_say()
{
	need_prometheus
	get $port /metrics | promtool check metrics >said 2>&1
	cat said
	[ ! -s said ]
	# but it would say it
	! printf '# TYPE x counter\nx 1\n' | promtool check metrics
}

rules_fire_for_what_they_are_about_and_nothing_else()
{
	promtool check rules "$here/alerts.yml"
	promtool test rules "$here/alerts_test.yml"
}

firing() { [ "$(ask "ALERTS{alertname=\"$1\",alertstate=\"firing\"}")" = 1 ]; }

# A disk that gets full while a pusher records.
a_disk_that_is_full_is_alarming()
{
	need_prometheus
	mkdir -m 700 disk
	mount -t tmpfs -o size=60k,mode=700 tmpfs disk
	gprofctl push --store disk -e cpu:199 -e block:1 --interval 1s --metrics $push 2>pushed &
	pusher=$!
	until_so 120 firing GprofPushDiskFails || {
		cat answer pushed
		kill $pusher
		fail "no alert"
	}
	until_so 60 firing GprofPushDropsSamples || fail "no alert that samples are dropped"
	! firing GprofPushDamaged
	get $push /metrics | promtool check metrics >said 2>&1
	cat said
	[ ! -s said ]
	kill -INT $pusher
	wait $pusher
	umount disk
}

ktap_run prometheus_scrapes_it the_scrape_is_accepted answers_are_the_right_numbers \
	a_histogram_has_its_quantile recorders_are_there promtool_has_nothing_to_say \
	rules_fire_for_what_they_are_about_and_nothing_else a_disk_that_is_full_is_alarming
