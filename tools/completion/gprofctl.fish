# SPDX-License-Identifier: GPL-2.0-only
#
# fish completion of gprofctl. Subcommands and options come from its own help.

function __gprofctl_subcommands
	gprofctl --help 2>/dev/null |
		sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1\t\2/p'
end

function __gprofctl_subcommand
	set -l words (commandline -opc)
	test (count $words) -ge 2; and echo $words[2]
end

function __gprofctl_options
	set -l sub (__gprofctl_subcommand)
	gprofctl $sub --help 2>/dev/null |
		sed -n 's/^  \(-.\), \(--[a-z-]*\)[^ ]*.*  *\(.*\)/\1\n\2/p; s/^ *\(--[a-z-]*\).*/\1/p'
end

function __gprofctl_events
	gprofctl info --json 2>/dev/null |
		sed -n '/"events"/,/\]/s/.*"name": "\([^"]*\)", "available": true.*/\1/p'
end

# What stands behind -- is a command of its own.
function __gprofctl_command
	contains -- -- (commandline -opc)
end

complete -c gprofctl -n 'not __gprofctl_subcommand' -f -a '(__gprofctl_subcommands) --help --version'
complete -c gprofctl -n '__gprofctl_subcommand; and not __gprofctl_command; and string match -q -- "-*" (commandline -ct)' \
	-a '(__gprofctl_options)'
complete -c gprofctl -n '__gprofctl_command' -a '(__fish_complete_subcommand --fcs-skip=3)'
complete -c gprofctl -n 'contains -- (__gprofctl_subcommand) cpu stat' -s e -l event -x -a '(__gprofctl_events)'
complete -c gprofctl -n '__gprofctl_subcommand' -s p -l pid -x -a '(__fish_complete_pids)'
complete -c gprofctl -n '__gprofctl_subcommand' -s G -l cgroup -x -a '(__fish_complete_directories /sys/fs/cgroup/)'
