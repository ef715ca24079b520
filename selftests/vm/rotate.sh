# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What is due when not everything fits: a rule that only knows the project's
# history, so that it says the same everywhere and needs no memory of its own.
# Sourced by check and by whoever else has more to do than time.
#
# Both functions read lines "SECONDS NAME [TAG]" and deal them into turns, each
# line into the first turn where it fits.  Turn COUNT mod (number of turns) is due,
# so each line is due at least once in that many consecutive counts.  A turn takes
# three quarters of the budget.  The rest is for what shall come first, and what that
# leaves is for the next turns, whose lines were not seen for longest.
#
# A TAG is something that is dear to prepare: a turn has lines of one tag, and what
# comes first of one more, so that two at most are due.  "-" is none.

# rotate_count: the number of commits up to this one, in steps of its branch.
# takes the commit's date, which is as good, though not the same; a tree without
# git takes the day.
rotate_count()
{
	local git=(git -C "${BASH_SOURCE[0]%/*}")

	if ! "${git[@]}" rev-parse -q --verify HEAD >/dev/null 2>&1; then
		echo "$(($(date +%s) / 86400))"
	elif [[ $("${git[@]}" rev-parse --is-shallow-repository) == true ]]; then
		"${git[@]}" log -1 --format=%ct
	else
		"${git[@]}" rev-list --first-parent --count HEAD
	fi
}

# rotate_turns BUDGET: the turns, as lines "TURN TURNS SECONDS NAME TAG" in the order
# of the input.  What is longer than a turn has one of its own.
rotate_turns()
{
	awk -v budget="$1" '
		NF < 2 { next }
		{
			seconds[++n] = $1 + 0
			name[n] = $2
			tag[n] = NF > 2 ? $3 : "-"
			for (t = 0; t < turns; t++)
				if (used[t] + $1 <= room() && (tag[n] == "-" ||
				    tagged[t] == "" || tagged[t] == tag[n]))
					break
			if (t == turns)
				turns++
			used[t] += $1
			if (tag[n] != "-")
				tagged[t] = tag[n]
			turn[n] = t
		}
		function room() { return budget * 3 / 4 }
		END {
			for (i = 1; i <= n; i++)
				print turn[i], turns, seconds[i], name[i], tag[i]
		}'
}

# rotate_due COUNT BUDGET [FIRST]: the names that are due, in the order in which
# they are to be taken.  FIRST are names that shall come before others, the most
# urgent first; they get a quarter of the budget.
rotate_due()
{
	rotate_turns "$2" | awk -v count="$1" -v budget="$2" -v first="${3-}" '
		{
			turn[$4] = $1
			turns = $2
			seconds[$4] = $3
			tag[$4] = $5
			name[NR] = $4
		}
		function take(what)
		{
			due[what] = 1
			used += seconds[what]
			if (tag[what] != "-" && !(tag[what] in tags)) {
				tags[tag[what]] = 1
				nr_tags++
			}
			print what
		}
		# Is there room, in the budget and among LIMIT tags?
		function fits(what, room, limit)
		{
			return used + seconds[what] <= room && (tag[what] == "-" ||
				tag[what] in tags || nr_tags < limit)
		}
		END {
			if (!NR)
				exit
			n = split(first, urgent, " ")
			for (i = 1; i <= n; i++)
				if (urgent[i] in turn && !(urgent[i] in due) &&
				    turn[urgent[i]] != count % turns &&
				    fits(urgent[i], budget / 4, 1))
					take(urgent[i])
			for (t = 0; t < turns; t++)
				for (i = 1; i <= NR; i++)
					if (turn[name[i]] == (count + t) % turns &&
					    !(name[i] in due) &&
					    (!t || fits(name[i], budget, 2)))
						take(name[i])
		}'
}
