# SPDX-License-Identifier: GPL-2.0-only
#
# bash completion of gprofctl. Subcommands and options come from its own help.

_gprofctl_words()
{
	# The first word of each line of the list of subcommands.
	gprofctl --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

_gprofctl_options()
{
	gprofctl "$1" --help 2>/dev/null | sed -n 's/^  \(-.\)\?,\? *\(--[a-z-]*\).*/\1 \2/p'
}

_gprofctl_events()
{
	local pmu event

	gprofctl info --json 2>/dev/null |
		sed -n '/"events"/,/\]/s/.*"name": "\([^"]*\)", "available": true.*/\1/p'
	for event in /sys/bus/event_source/devices/*/events/*; do
		[[ -r $event && $event != *.* ]] || continue
		pmu=${event%/events/*}
		printf '%s/%s/\n' "${pmu##*/}" "${event##*/}"
	done
}

_gprofctl_tracepoints()
{
	local root event

	for root in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		for event in "$root"/events/*/*/id; do
			[[ -e $event ]] || continue
			event=${event#"$root"/events/}
			event=${event%/id}
			printf '%s\n' "${event/\//:}"
		done
	done
}

_gprofctl_metrics()
{
	gprofctl schedstat --metric help 2>/dev/null | sed 's/ .*//'
}

# As the answer to a wrong one has them.
_gprofctl_kinds()
{
	gprofctl record -e '?' -a 2>&1 | sed -n 's/.*; there are //p' | tr -d ,
}

# The types of values of the profile that was typed, as the answer to a wrong one has them.
# They are whoever's who made the profile, and compgen -W runs what is in its words: only
# plain ones.
_gprofctl_types()
{
	local word

	for word in "${COMP_WORDS[@]:2}"; do
		[[ -f $word && -r $word ]] || continue
		gprofctl top "$word" --type '?' 2>&1 | sed -n 's/.*, but of //p' |
			tr -d , | tr ' ' '\n' | grep -x '[[:alnum:]_./-]*'
		return
	done
}

_gprofctl()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	local sub=${COMP_WORDS[1]} i

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$(_gprofctl_words) --help --version" -- "$cur")
		return
	fi
	# Behind -- stands a command of its own.
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- && $sub != compare ]]; then
			if declare -F _command_offset >/dev/null; then
				_command_offset $((i + 1))
			else
				mapfile -t COMPREPLY < <(compgen -c -- "$cur")
			fi
			return
		fi
	done
	# CATEGORY:NAME is three words where ":" breaks words, as it does by default.
	if [[ $sub == profile ]] && ((COMP_CWORD >= 3)); then
		local typed=
		if [[ $prev == : ]]; then
			typed=${COMP_WORDS[COMP_CWORD-2]}:
		elif [[ $cur == : ]]; then
			typed=$prev: cur=
		fi
		if [[ $typed ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$(_gprofctl_tracepoints)" -- "$typed$cur")
			COMPREPLY=("${COMPREPLY[@]#"$typed"}")
			return
		fi
	fi
	case $sub,$prev in
	cpu,-e | cpu,--event | stat,-e | stat,--event)
		mapfile -t COMPREPLY < <(compgen -W "$(_gprofctl_events)" -- "$cur") ;;
	profile,-e | profile,--event)
		mapfile -t COMPREPLY < <(compgen -W "$(_gprofctl_tracepoints)" -- "$cur") ;;
	record,-e | record,--kind | push,-e | push,--kind)
		mapfile -t COMPREPLY < <(compgen -W "$(_gprofctl_kinds)" -- "$cur") ;;
	*,-p | *,--pid)
		mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && printf '%s\n' [0-9]*)" -- "$cur") ;;
	compare,--kind | view,--kind)
		mapfile -t COMPREPLY < <(compgen -W "$(_gprofctl_kinds)" -- "$cur") ;;
	view,--store)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
	*,-G | *,--cgroup)
		mapfile -t COMPREPLY < <(compgen -d -- "${cur:-/sys/fs/cgroup/}") ;;
	mmu,--flags)
		local flags=${cur%"${cur##*,}"}
		mapfile -t COMPREPLY < <(compgen -P "$flags" \
			-W "stw background assist sweep perproc pertask perprocess alltasks" -- "${cur##*,}") ;;
	schedstat,--metric)
		mapfile -t COMPREPLY < <(compgen -W "$(_gprofctl_metrics)" -- "$cur") ;;
	read,--format)
		mapfile -t COMPREPLY < <(compgen -W "csv perfetto" -- "$cur") ;;
	read,--pprof)
		mapfile -t COMPREPLY < <(compgen -W "cpu sched block syscall irq wall" -- "$cur") ;;
	trace,--go-version)
		mapfile -t COMPREPLY < <(compgen -W "1.22 1.23 1.25 1.26" -- "$cur") ;;
	*,--type)
		mapfile -t COMPREPLY < <(compgen -W "$(_gprofctl_types)" -- "$cur") ;;
	*,--by)
		mapfile -t COMPREPLY < <(compgen -W "process thread comm module cgroup cpu service label=" \
			-- "$cur") ;;
	compare,--per)
		mapfile -t COMPREPLY < <(compgen -W "run second share" -- "$cur") ;;
	*,--precise)
		mapfile -t COMPREPLY < <(compgen -W "0 1 2 3" -- "$cur") ;;
	*)
		if [[ $cur == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$(_gprofctl_options "$sub")" -- "$cur")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		fi ;;
	esac
}

complete -F _gprofctl gprofctl
