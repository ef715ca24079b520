#compdef gprofctl
# SPDX-License-Identifier: GPL-2.0-only
#
# zsh completion of gprofctl. Subcommands and options come from its own help.

_gprofctl_subcommands()
{
	local -a subs

	subs=(${(f)"$(gprofctl --help 2>/dev/null |
		sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1:\2/p')"})
	_describe -t commands 'gprofctl subcommand' subs
}

_gprofctl_options()
{
	local -a options

	options=(${(f)"$(gprofctl $1 --help 2>/dev/null |
		sed -n 's/^  \(-.\), \(--[a-z-]*\).*/\1\
\2/p; s/^ *\(--[a-z-]*\).*/\1/p')"})
	compadd -- $options
}

_gprofctl_events()
{
	local -a events

	events=(${(f)"$(gprofctl info --json 2>/dev/null |
		sed -n '/"events"/,/\]/s/.*"name": "\([^"]*\)", "available": true.*/\1/p')"})
	compadd -- $events
}

_gprofctl_tracepoints()
{
	local -a found

	found=(/sys/kernel/tracing/events/*/*/id(N:h))
	found=(${found#/sys/kernel/tracing/events/})
	compadd -- ${found/\//:}
}

_gprofctl()
{
	local sub=$words[2]

	if ((CURRENT == 2)); then
		_gprofctl_subcommands
		compadd -- --help --version
		return
	fi
	# Behind -- stands a command of its own.
	local end=${words[(i)--]}
	if ((end < CURRENT)); then
		shift $end words
		((CURRENT -= end))
		_normal
		return
	fi
	case $sub:$words[CURRENT-1] in
	(cpu|stat):(-e|--event)) _gprofctl_events ;;
	profile:(-e|--event)) _gprofctl_tracepoints ;;
	*:(-p|--pid|-t|--tid)) _pids ;;
	*:(-G|--cgroup)) _files -W /sys/fs/cgroup -/ ;;
	read:--pprof) compadd cpu sched block syscall irq wall ;;
	read:--format) compadd csv perfetto ;;
	*)
		if [[ $words[CURRENT] == -* ]]; then
			_gprofctl_options $sub
		else
			_files
		fi ;;
	esac
}

_gprofctl "$@"
