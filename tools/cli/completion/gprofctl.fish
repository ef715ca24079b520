# SPDX-License-Identifier: GPL-2.0-only
#
# fish completion of gprofctl. Subcommands and options come from its own help.

# "WORD	WHAT IT DOES" of each line of the list of subcommands.
function __gprofctl_words
	gprofctl --help 2>/dev/null |
		sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1\t\2/p'
end

# "--OPTION	WHAT IT DOES" of the subcommand that is being typed.
function __gprofctl_options
	set -l typed (commandline -opc)
	test (count $typed) -ge 2; or return
	gprofctl $typed[2] --help 2>/dev/null | awk '
		/^  +(-.,)? *--/ {
			sub(/^ +/, "")
			short = /^-.,/ ? substr($0, 1, 2) : ""
			sub(/^-., +/, "")
			long = $0
			sub(/[^-a-z.].*/, "", long)
			what = match($0, /  +/) ? substr($0, RSTART + RLENGTH) : ""
			printf "%s\t%s\n", long, what
			if (short)
				printf "%s\t%s\n", short, what
		}'
end

function __gprofctl_first
	test (count (commandline -opc)) -eq 1
end

# Behind -- stands a command of its own.
function __gprofctl_own
	not contains -- -- (commandline -opc)
end

function __gprofctl_after
	set -l typed (commandline -opc)
	contains -- $typed[-1] $argv
end

# As the answer to a wrong one has them.
function __gprofctl_kinds
	gprofctl record -e '?' -a 2>&1 | sed -n 's/.*; there are //p' | tr -d , | tr ' ' '\n'
end

# The kind of a profile is being typed.
function __gprofctl_kind
	set -l typed (commandline -opc)
	contains -- $typed[2] record push; and contains -- $typed[-1] -e --kind
end

# The types of values of the profile that was typed, as the answer to a wrong one has them.
# They are whoever's who made the profile: only plain words.
function __gprofctl_types
	for word in (commandline -opc)[3..-1]
		test -f "$word" -a -r "$word"; or continue
		gprofctl top $word --type '?' 2>&1 | sed -n 's/.*, but of //p' |
			tr -d , | tr ' ' '\n' | LC_ALL=C grep -x '[[:alnum:]_./-]*'
		return
	end
end

complete -c gprofctl -n __gprofctl_first -f -a '(__gprofctl_words)'
complete -c gprofctl -n 'not __gprofctl_first; and __gprofctl_own' -a '(__gprofctl_options)'
complete -c gprofctl -n '__gprofctl_after -p --pid -t --tid' -f -a '(__fish_complete_pids)'
complete -c gprofctl -n __gprofctl_kind -f -a '(__gprofctl_kinds)'
complete -c gprofctl -n '__gprofctl_after --type' -f -a '(__gprofctl_types)'
complete -c gprofctl -n '__gprofctl_after --by' -f \
	-a 'process thread comm module cgroup cpu service label='
complete -c gprofctl -n 'not __gprofctl_own' -a '(__fish_complete_subcommand --fcs-skip=2)'
