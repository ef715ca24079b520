# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Debian packages of any suite and architecture, without touching the machine's own package state:
# apt with a directory of its own.  The mirror and every other setting (proxy, ...) are those of the
# machine's apt; signatures are checked against Debian's keyring.  Sourced after lib.sh.
#
# An archive moves: suites end, versions go, an index names a file that the pool has not got yet.  A
# script takes what the archive has at that moment; where nothing fits, it ends with the status
# $unavailable, and cache_entry looks for what was fetched before.

# The archive that this machine uses for SUITE, if any: where its apt names the suite
# itself, that one; else Debian's, or its security archive.
apt_site()
{
	local label=Debian

	[[ $1 != *-security ]] || label=Debian-Security
	apt-get indextargets --format "\$(LABEL)|\$(CODENAME)|\$(REPO_URI)" \
		'Created-By: Packages' | awk -F'|' -v label="$label" -v suite="$1" '
		$2 == suite && !exact { exact = $3 }
		$1 == label && !any { any = $3 }
		END { print exact ? exact : any }'
}

# apt_setup ARCH SUITES: sets $aptdir, with lists as new as they can be had.  SUITES is a
# list with commas; suites behind a "|" give what those before it do not have.
apt_setup()
{
	local arch=$1 suite site group=500
	local keyring=${GPROF_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}

	apt_suites=$2 apt_said=''
	aptdir=$cache/apt/$arch-$(hash_of "$2")
	mkdir -p "$aptdir"/{state/lists/partial,cache/archives/partial}
	exec {apt_lock}>"$aptdir/lock"
	flock "$apt_lock"
	: >"$aptdir/status"
	: >"$aptdir/preferences"
	for suite in ${2//[,|]/ }; do
		[[ $2 != *"|$suite"* ]] || group=$((group - 1))
		site=$(apt_site "$suite")
		# A machine may do without security updates, and so may guests.
		[[ $site ]] || continue
		printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$site" "$suite"
		printf 'Package: *\nPin: release n=%s\nPin-Priority: %s\n\n' "$suite" "$group" \
			>>"$aptdir/preferences"
	done >"$aptdir/sources.list"
	cat >"$aptdir/apt.conf" <<-END
		#clear APT::Architectures;
		APT::Architecture "$arch";
		APT::Architectures "$arch";
		APT::Install-Recommends "false";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Acquire::http::Timeout "20";
		// A suite that has ended, or is under way, is not dated anew.
		Acquire::Check-Valid-Until "false";
		Dir::State "$aptdir/state";
		Dir::State::lists "$aptdir/state/lists";
		Dir::State::status "$aptdir/status";
		Dir::Cache "$aptdir/cache";
		Dir::Etc::sourcelist "$aptdir/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::preferences "$aptdir/preferences";
		Dir::Etc::preferencesparts "/dev/null";
	END
	apt_update
	exec {apt_lock}>&-
}

# apt_update: fetches the lists.  A suite that the archive has no more is left out; lists
# that cannot be fetched stay as they were, and $apt_said tells why.
apt_update()
{
	local gone suite

	if [[ ! -s $aptdir/sources.list ]]; then
		apt_said='this machine knows no archive of Debian'
		return
	fi
	while [[ -s $aptdir/sources.list ]]; do
		! apt-get -qq -c "$aptdir/apt.conf" -o APT::Update::Error-Mode=any update \
			2>"$aptdir/said" || return 0
		mapfile -t gone < <(sed -n \
			"s/^E: The repository '.* \([^ ]*\) Release' .* Release file\.$/\1/p" \
			"$aptdir/said")
		((${#gone[@]})) || break
		for suite in "${gone[@]}"; do
			say "the archive has no suite $suite"
			sed -i "/ $suite main$/d" "$aptdir/sources.list"
		done
	done
	apt_said=$(grep -m1 '^E:' "$aptdir/said" || true)
}

# apt_in ARGS...: apt-get in $aptdir, one at a time.
apt_in() { flock "$aptdir/lock" apt-get -qq -c "$aptdir/apt.conf" "$@"; }

# apt_show FIELD PACKAGE: that field of the version that apt would take, or nothing.
apt_show()
{
	apt-cache -c "$aptdir/apt.conf" show --no-all-versions "$2" 2>/dev/null |
		sed -n "s/^$1: //p"
}

# apt_names REGEX: the packages whose whole names match, the newest first.
apt_names() { apt-cache -c "$aptdir/apt.conf" pkgnames | grep -xE "$1" | sort -rV; }

# go_versions: of Go, 1.N a line, the newest first.
go_versions() { apt_names 'golang-1\.[0-9]+-go' | sed 's/golang-//; s/-go$//'; }

# apt_lacks WHAT PACKAGE...: ends with $unavailable, and one message that says what of
# PACKAGEs the archive has.
apt_lacks()
{
	local what=$1 name seen='' free advice
	shift

	for name; do
		seen+=", ${name%%=*} $(apt-cache -c "$aptdir/apt.conf" madison "${name%%=*}" 2>/dev/null |
			awk '{ found = found " " $3 } END { print NR ? substr(found, 2) : "(none)" }')"
	done
	free=$(df --output=avail -k "$cache" 2>/dev/null | tail -n 1)
	advice='Try "apt-get update" to see whether the archive can be reached. Where it has
		vm: dropped a suite, name an archive that keeps it in this machine'"'"'s apt sources.'
	if ((${free:-0} < 51200)); then
		advice='That is too little: make room there, or set XDG_CACHE_HOME to a larger disk.'
	fi
	cat >&2 <<-END
		vm: error: cannot fetch $what
		vm:   of the suites  $apt_suites
		vm:   the lists have ${seen#, }
		vm:   apt says       ${apt_said:-nothing}
		vm:   the disk has   $(cache_free) free for $cache
		vm: ${advice//$'\t'/}
	END
	exit "$unavailable"
}

# apt_fetch DIR PACKAGE[=VERSION]...: just these, no dependencies; fails where one of
# them cannot be had.
apt_fetch()
{
	local dir=$1
	shift

	mkdir -p "$dir"
	(cd "$dir" && apt_in download "$@" 2>"$aptdir/said") || {
		apt_said=$(grep -m1 '^E:' "$aptdir/said" || true)
		return 1
	}
}

# apt_download DIR PACKAGE[=VERSION]...: the same, or the end.
apt_download() { apt_fetch "$@" || apt_lacks "${*:2}" "${@:2}"; }

# apt_download_all DIR PACKAGE...: these and all that they depend on.
apt_download_all()
{
	local dir=$1
	shift

	mkdir -p "$dir/partial"
	apt_in -y -d -o Dir::Cache::archives="$dir" install "$@" 2>"$aptdir/said" || {
		apt_said=$(grep -m1 '^E:' "$aptdir/said" || true)
		apt_lacks "$*" "$@"
	}
}

# deb_extract DIR TAROPTION... -- DEB...: the files of packages, no scripts.
deb_extract()
{
	local dir=$1 options=() deb
	shift

	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	for deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C "$dir" --keep-directory-symlink \
				--no-same-owner "${options[@]}"
	done
}
