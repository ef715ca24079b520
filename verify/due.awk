# SPDX-License-Identifier: GPL-2.0-only
#
# due.awk: of the rows on stdin, the cheapest first, those that are due: lines "due ROW", and "say"
# with what is to be said.  Its other inputs are as due.sh makes them.
#
#   1. those that are asked for
#   2. those that were due before the change already, what was not run for longest first, in a
#      quarter of what the first leave; with one commit of four at least one that has been run
#   3. for each room that the change touches, or a header of which it touches, one row
#   4. the others that look at what has changed, the cheapest first
#   5. those that were not run for longest
#
# What has passed on just these inputs, which headers of other rooms are not, is not due for 2 to 4.
#  A kernel that is built here takes minutes: two at most are built for one change.

part == "kernels" { built[$1] = $3 == "source"; next }
part == "hashes" { hash[$1] = $2; next }
part == "before" { before[$1] = $2; next }
part == "changed" { changed[$1] = 1; next }

part == "inputs" {
	if ($5 == "*") {
		under_all[$2] = 1
		next
	}
	rows_of[$2] = rows_of[$2] " " $1
	# A test is a room of its own.
	if ($2 ~ /^(kmod|userlib|tools)\//) {
		sub(/\/[^\/]*$/, "", $3)
		rooms[$3] = 1
	}
	room_of[$2] = $3
	if ($5 == "-")
		in_room[$1, $3] = 1
	else
		beside[$1, $3] = 1
	next
}

part == "ledger" {
	if ($2 > ran[$1])
		ran[$1] = $2
	if ($5 == "passed" && $3 == hash[$1])
		passed[$1] = 1
	if ($5 == "passed" && $3 == before[$1])
		had_passed[$1] = 1
	next
}

# A header that a file of this folder includes, or of any where it has a folder itself.
part == "includes" {
	base = $2
	sub(/.*\//, "", base)
	includers[base] = includers[base] " " $1 ":" $2
	next
}

{
	name[++n] = $1
	cost[$1] = $5 * ($6 ~ /exclusive/ ? jobs : 1)
	tag[$1] = built[$4] ? $4 "-" $3 : ""
}

function take(row) {
	due[row] = 1
	used += cost[row]
	if (tag[row] != "" && !(tag[row] in tags)) {
		tags[tag[row]] = 1
		nr_tags++
	}
	for (room in needed)
		if ((row, room) in in_room)
			delete needed[room]
	print "due " row
}

function fits(row, room) {
	return !(row in due) && used + cost[row] <= room &&
		(tag[row] == "" || tag[row] in tags || nr_tags < 2)
}

function need_includers(file,   base, some, n, i, f) {
	base = file
	sub(/.*\//, "", base)
	n = split(includers[base], some, " ")
	for (i = 1; i <= n; i++) {
		split(some[i], f, ":")
		if (f[1] in room_of && file ~ ("(^|/)" f[2] "$") &&
		    (f[2] ~ /\// || substr(f[1], 1, index(f[1], "/")) == substr(file, 1, index(file, "/"))))
			needed[room_of[f[1]]] = "header"
	}
}

# What was not run for longest comes first; of rows that were never run, another one with
# each commit.
function by_age(   i, j, row) {
	for (i = 1; i <= n; i++) {
		row = name[i]
		key[row] = ran[row] " " substr(hash[row], turn, 8)
		for (j = i; j > 1 && key[old[j - 1]] > key[row]; j--)
			old[j] = old[j - 1]
		old[j] = row
	}
}

# A row for each room that is needed, for that reason or any.
function cover(why,   i, room) {
	for (i = 1; i <= n; i++)
		for (room in needed)
			if ((why == "" || needed[room] == why) && (name[i], room) in in_room &&
			    fits(name[i], budget)) {
				first = first " " name[i]
				take(name[i])
				break
			}
}

function tell(what, rows) {
	print "say " what ":" (rows == "" ? " none" : rows)
}

END {
	budget *= jobs
	turn = 1 + index("0123456789abcdef", substr(head, 1, 1)) % 8
	by_age()
	for (file in changed) {
		for (room in rooms)
			if ((file == "*" || file in under_all) && needed[room] == "")
				needed[room] = "all"
		m = split(rows_of[file], some, " ")
		for (i = 1; i <= m; i++)
			touched[some[i]] = 1
		if (m && needed[room_of[file]] != "header")
			needed[room_of[file]] = "file"
		if (!m && file ~ /\.[chS]$/ && !(file in under_all))
			lost = lost " " file
		if (file ~ /\.h$/)
			need_includers(file)
	}
	m = split(fixed, some, "\n")
	for (i = 1; i <= m; i++)
		take(some[i])
	left = budget - used
	for (i in passed)
		for (room in needed)
			if (needed[room] != "header" && (i, room) in in_room)
				delete needed[room]
	for (i = 1; i <= n; i++)
		if (!(old[i] in passed) && !(old[i] in had_passed) &&
		    fits(old[i], turn % 4 || debt != "" || ran[old[i]] == "" ? budget - left * 3 / 4 : budget)) {
			debt = debt " " old[i]
			take(old[i])
		}
	cover("file")
	cover()
	for (i = 1; i <= n; i++)
		if (name[i] in touched && !(name[i] in passed) && !(name[i] in due)) {
			if (fits(name[i], budget)) {
				others = others " " name[i]
				take(name[i])
			} else {
				unfit = unfit " " name[i]
			}
		}
	for (i = 1; i <= n; i++)
		if (fits(old[i], budget)) {
			rest = rest " " old[i]
			take(old[i])
		}
	for (room in needed) {
		for (row in due)
			if ((row, room) in beside)
				break
		if (!((row, room) in beside))
			bare = bare " " room
	}
	tell("due before this change, the longest without a run first", debt)
	tell("due for the rooms of the change", first)
	tell("due for the change", others)
	tell("due as the longest without a run", rest)
	tell("touched but without room, and so due before the next change", unfit)
	if (bare != "")
		tell("rooms of the change for which no row has room", bare)
	if (lost != "")
		tell("files that no row looks at", lost)
	printf "say these take %d s of %d s\n", used / jobs, budget / jobs
}
