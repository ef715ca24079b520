# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# The cache: directories named after a hash of what they are made from, built
# beside their final place and renamed, so that what has the name is complete.
# Sourced by the scripts of this directory and by ../run.

vm=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
top=$(cd "$vm/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gprof
export LC_ALL=C.UTF-8

say()
{
	printf 'vm: %s\n' "$*" >&2
}

die()
{
	printf 'vm: error: %s\n' "$*" >&2
	exit 1
}

# hash_of FILE-OR-WORD...: twelve digits that change when any of them does.
hash_of()
{
	local arg

	for arg; do
		if [[ -f $arg ]]; then
			cat "$arg"
		else
			printf '%s\n' "$arg"
		fi
	done | sha256sum | cut -c1-12
}

# cache_entry DIR COMMAND [ARGS...]: DIR, made by "COMMAND ARGS... TMP DIR"
# unless it is there.  COMMAND is a program, for "set -e" does not reach into a
# function whose status is looked at.
cache_entry()
{
	local dir=$1
	shift

	[[ ! -d $dir ]] || return 0
	mkdir -p "${dir%/*}"
	(
		flock 9
		[[ ! -d $dir ]] || exit 0
		rm -rf "$dir.tmp"
		mkdir "$dir.tmp"
		"$@" "$dir.tmp" "$dir" >&2 9>&- || exit 1
		mv -T "$dir.tmp" "$dir"
	) 9>"$dir.lock" || die "could not make $dir"
}

# cross_prefix ARCH: what Debian calls the compiler for ARCH on this machine.
cross_prefix()
{
	case $1 in
	amd64) echo x86_64-linux-gnu- ;;
	arm64) echo aarch64-linux-gnu- ;;
	*) die "no such architecture: $1" ;;
	esac
}
