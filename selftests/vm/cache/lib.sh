# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# The cache: directories named after a hash of what they are made from, built
# beside their final place and renamed, so that what has the name is complete.
# Sourced by the scripts of this directory and by ../run.

vm=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
top=$(cd "$vm/../.." && pwd)
verify=$top/verify
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gprof
export LC_ALL=C.UTF-8

say() { printf 'vm: %s\n' "$*" >&2; }

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

# What a script ends with where the archive has not got what it shall fetch.
unavailable=75

# cache_entry DIR COMMAND [ARGS...]: prints DIR, made by "COMMAND ARGS... TMP DIR"
# unless it is there.  COMMAND is a program, for "set -e" does not reach into a
# function whose status is looked at.  DIR's date says when it was used last.
#
# Where COMMAND ends with $unavailable, what was made before under the same name but
# for the hash is printed instead.
cache_entry()
{
	local dir=$1 status=0 older
	shift

	if [[ ! -d $dir ]]; then
		mkdir -p "${dir%/*}" || die "cannot write to $cache"
		(
			flock 9
			[[ ! -d $dir ]] || exit 0
			rm -rf "$dir.tmp"
			mkdir "$dir.tmp" || exit 1
			"$@" "$dir.tmp" "$dir" >&2 9>&- || exit
			mv -T "$dir.tmp" "$dir" || exit 1
			cache_let_go "$dir"
		) 9>"$dir.lock" || status=$?
	fi
	if ((status == unavailable)); then
		older=$(find "${dir%/*}" -mindepth 1 -maxdepth 1 -type d -path "${dir%-*}-*" \
			! -name '*.tmp' -printf '%T@ %p\n' | sort -rn | sed -n '1s/^[^ ]* //p')
		[[ $older ]] || exit "$unavailable"
		say "using $(basename "$older") in its place, which was fetched before"
		dir=$older
	elif ((status)); then
		die "could not make $dir; $(cache_free) are free there"
	fi
	touch -c "$dir" 2>/dev/null || true
	printf '%s\n' "$dir"
}

# cache_free: how much room the cache has.
cache_free() { df -h --output=avail "$cache" | sed -n '2s/ *//p'; }

# cache_let_go DIR: when DIR is new, what was not used for two days and has its
# name but for the hash goes, and anything that was not used for a month.
cache_let_go()
{
	local dir=$1

	touch "$dir"
	# An entry that another process makes has the date of the archive that it unpacks.
	find "$cache" -mindepth 2 -maxdepth 2 ! -path "$dir*" ! \( -name '*.tmp' -ctime -1 \) \
		\( -path "${dir%-*}-*" -mtime +1 -o -mtime +29 \) \
		-exec rm -rf {} + || true
}

# use_arch ARCH: sets what ../arch/ARCH says of it:
#
#   triplet           what compilers call it
#   karch             and what the kernel's sources call it
#   suites            of Debian: those of its userland and libraries, or what
#                     GPROF_SUITES says instead
#   together          architectures whose emulators and compilers are fetched as one
#   tools             suite and compiler that programs for it are built by, where
#                     this machine's own are not
#   emulator          the program of emulator_package, of emulator_suite
#   machine, console  what it emulates
use_arch()
{
	local own

	[[ -f $vm/arch/$1 ]] || die "no such architecture: $1"
	# shellcheck source=selftests/vm/arch/amd64
	. "$vm/arch/$1"
	# Programs for this machine's architecture are built against its own libraries.
	if [[ $1 == "$(dpkg --print-architecture)" ]] && own=$(own_suite) && [[ $own ]]; then
		suites=$own,$own-updates,$own-security
	fi
	suites=${GPROF_SUITES:-$suites}
}

# own_suite: the suite of Debian that this machine has, or nothing.
own_suite()
{
	(
		. /etc/os-release
		[[ ${ID-} != debian ]] || echo "${VERSION_CODENAME-}"
	) 2>/dev/null
}

# is_own_suite SUITES: is this machine's among them?
is_own_suite()
{
	local own

	own=$(own_suite)
	[[ $own && ,$1, == *",$own,"* ]]
}

# cross_prefix ARCH: what Debian calls the compiler for ARCH on this machine.
cross_prefix()
{
	(
		use_arch "$1"
		echo "$triplet-"
	)
}
