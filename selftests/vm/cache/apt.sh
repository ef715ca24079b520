# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Debian packages of any suite and architecture, without touching the
# machine's own package state: apt with a directory of its own.  The mirror and
# every other setting (proxy, ...) are those of the machine's apt; signatures
# are checked against Debian's keyring.  Sourced after lib.sh.

# The archive this machine uses for SUITE, if any; security has its own.
apt_site()
{
	local label=Debian

	[[ $1 != *-security ]] || label=Debian-Security
	apt-get indextargets --format "\$(LABEL)|\$(REPO_URI)" \
		'Created-By: Packages' | awk -F'|' -v label="$label" \
		'$1 == label && !found { print $2; found = 1 }'
}

# apt_setup ARCH SUITES: sets $aptdir; SUITES is a list with commas.
apt_setup()
{
	local arch=$1 suite site
	local keyring=/usr/share/keyrings/debian-archive-keyring.gpg

	aptdir=$cache/apt/$arch-$(hash_of "$2")
	mkdir -p "$aptdir"/{state/lists/partial,cache/archives/partial}
	: >"$aptdir/status"
	for suite in ${2//,/ }; do
		site=$(apt_site "$suite")
		# A machine may do without security updates, and so may guests.
		[[ $site ]] || continue
		printf 'deb [signed-by=%s] %s %s main\n' \
			"$keyring" "$site" "$suite"
	done >"$aptdir/sources.list.new"
	[[ -s $aptdir/sources.list.new ]] ||
		die "apt knows no Debian archive: run apt-get update"
	mv "$aptdir/sources.list.new" "$aptdir/sources.list"
	cat >"$aptdir/apt.conf" <<-END
		#clear APT::Architectures;
		APT::Architecture "$arch";
		APT::Architectures "$arch";
		APT::Install-Recommends "false";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Dir::State "$aptdir/state";
		Dir::State::status "$aptdir/status";
		Dir::Cache "$aptdir/cache";
		Dir::Etc::sourcelist "$aptdir/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
	END
}

# apt_in ARGS...: apt-get in $aptdir, one at a time.
apt_in()
{
	flock "$aptdir/apt.conf" apt-get -qq -c "$aptdir/apt.conf" "$@"
}

# apt_depends PACKAGE: its direct dependencies, one a line.
apt_depends()
{
	apt-cache -c "$aptdir/apt.conf" depends --no-recommends \
		--no-suggests --no-conflicts --no-breaks --no-replaces \
		--no-enhances "$1" | sed -n 's/^ *Depends: //p'
}

# apt_version PACKAGE: the version apt would take.
apt_version()
{
	apt-cache -c "$aptdir/apt.conf" policy "$1" |
		sed -n 's/^ *Candidate: //p'
}

# apt_download DIR PACKAGE[=VERSION]...: just these, no dependencies.
apt_download()
{
	local dir=$1
	shift

	mkdir -p "$dir"
	(cd "$dir" && apt_in download "$@")
}

# apt_download_all DIR PACKAGE...: these and all that they depend on.
apt_download_all()
{
	local dir=$1
	shift

	mkdir -p "$dir/partial"
	apt_in -y -d -o Dir::Cache::archives="$dir" install "$@"
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
