# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Which rows a change is worth when not all fit: what each row looks at, what has changed,
# and the ledger of what was run.  Sourced after cache/lib.sh and plan.sh.
#
# The ledger has a line "ROW DATE HASH SECONDS RESULT" for each row that was run, HASH being
# that of all that the row depends on, RESULT passed, failed or skipped.  It is kept in the
# cache as rows end, and folded into the tree (check --ledger).  A line "change DATE COMMIT
# SECONDS passed" says that check --due has passed there.  Nothing here relies on it: without
# it, or with one that says nothing, more is due.

ledgers=("$verify/ledger" "$cache/ledger")

# Without a ledger a change is what this many commits have changed.
commits=50

# tree_files [COMMIT]: the files of the tree, or as that commit has them, as lines "SUM FILE".
tree_files()
{
	local names

	cd "$top" || return
	if [[ ${1-} ]]; then
		git ls-tree -r "$1" | awk '{ print $3, $4 }'
	elif git rev-parse -q --git-dir >/dev/null 2>&1; then
		git ls-files -co --exclude-standard | while read -r file; do
			[[ ! -f $file ]] || printf '%s\n' "$file"
		done | { mapfile -t names && printf '%s\n' "${names[@]}" |
			git hash-object --no-filters --stdin-paths | paste -d' ' - <(printf '%s\n' "${names[@]}"); }
	else
		find . \( -path ./build -o -path ./out \) -prune -o -type f -printf '%P\0' | xargs -0 sha1sum
	fi
}

# row_inputs [COMMIT]: what the rows on stdin depend on, as lines "ROW FILE PLACE SUM KIND": PLACE is
# the file in its room; KIND "*" where all rows have it, "/" where the row names not its room
# but a folder with more, "-" else.
row_inputs()
{
	awk '
		# the file as it would lie in the folder that is its room
		function place(file,   best, beginning) {
			for (beginning in room)
				if (index(file, beginning) == 1 && length(beginning) > length(best))
					best = beginning
			if (best == "")
				return file
			sub(/.*\//, "", file)
			return room[best] "/" file
		}
		# those that a program looks at, which are the same for all its rows
		function looks_at(program,   file, n, i, word, base, kind) {
			if (program in files)
				return
			files[program] = ""
			if (!(program in words)) {
				print "the plan does not say what " program " exercises" >"/dev/stderr"
				exit bad = 1
			}
			n = split(words[program], word, " ")
			for (file in sum) {
				base = file
				sub(/.*\//, "", base)
				kind = (base == program || base == program ".c") && file ~ /^selftests\// ? "-" : ""
				for (i = 3; i <= n && kind != "-"; i++)
					if (index(at[file], word[i]) == 1 || index(file, word[i]) == 1)
						kind = file ~ /^(kmod|userlib|tools)\// &&
							at[file] ~ ("^" word[i] ".*/") ? "/" : "-"
				if (kind != "")
					files[program] = files[program] " " file " " kind
			}
		}
		function add(row, program,   n, i, file) {
			looks_at(program)
			n = split(files[program], file, " ")
			for (i = 1; i <= n; i += 2)
				if (!((row, file[i]) in seen) || seen[row, file[i]] == "/" && file[i + 1] == "-") {
					seen[row, file[i]] = file[i + 1]
					print row, file[i], at[file[i]], sum[file[i]], program == "*" ? "*" : file[i + 1]
				}
		}
		part == "plan" {
			if ($2 == ":")
				words[$1] = $0
			for (i = 3; $2 == "has" && i <= NF; i++)
				room[$i] = $1
			next
		}
		part == "files" {
			sum[$2] = $1
			at[$2] = place($2)
			next
		}
		{
			for (i = 7; i <= NF; i++) {
				gsub(/\047/, "", $i)
				program = $i ~ /^unit\/!/ ? "unit" : $i
				sub(/.*\//, "", program)
				if (program ~ /_test(\.sh)?$|^(unit|mutants)$/)
					add($1, program)
			}
			# debug and kcsan are 6.1
			if ($4 ~ /^[0-9]/ && $4 != "6.1")
				add($1, "compat_test")
			add($1, "*")
		}
		END { exit bad }' part=plan "$verify/plan" part=files <(tree_files "$@") part=rows -
}

# row_hashes: of row_inputs on stdin, as lines "ROW HASH".
row_hashes()
{
	local said

	said=$(mktemp)
	sort -u -k1,4 | awk -v said="$said" '
		function tell() {
			if (row == "")
				return
			print list line[row] | hash
			close(hash)
			getline sum <said
			close(said)
			print row, substr(sum, 1, 16)
			list = ""
		}
		BEGIN {
			hash = "sha1sum >" said
		}
		part == "plan" {
			name = $1
			$2 = $5 = ""
			line[name] = $0
			next
		}
		$1 != row { tell(); row = $1 }
		{ list = list $3 " " $4 "\n" }
		END { tell() }' part=plan <(plan_rows) part=inputs -
	rm "$said"
}

# ledger_lines: what the ledgers say.
ledger_lines()
{
	local ledger

	for ledger in "${ledgers[@]}"; do
		if [[ ! -r $ledger ]]; then
			say "there is no ledger $ledger: what it would say has passed is due"
			continue
		fi
		awk -v now="$(date -u -d '+1 day' +%FT%TZ)" -v ledger="$ledger" '
			/^#/ || $5 == "never" { next }
			NF != 5 || $2 !~ /^20[0-9][0-9]-[0-9T:-]+Z$/ || $2 > now || $3 !~ /^[0-9a-f]+$/ ||
			$4 !~ /^[0-9]+$/ || $5 !~ /^(passed|failed|skipped)$/ { bad++; next }
			{ print }
			END {
				if (bad)
					print "vm: " bad " lines of " ledger " say nothing that can be" \
						" believed: they count as not there" >"/dev/stderr"
			}' "$ledger"
	done
}

# ledger_note ROW HASH SECONDS RESULT
ledger_note()
{
	{
		mkdir -p "$cache" &&
			echo "$1 $(date -u +%FT%TZ) $2 $3 $4" >>"$cache/ledger"
	} 2>/dev/null || say "could not note in $cache/ledger that $1 has $4: it counts as not run"
}

# ledger_fold: writes what the ledgers say of the plan's rows into the one in the tree, the
# newest of each.
ledger_fold()
{
	local lines new

	new=$(mktemp)
	lines=$(ledger_lines | sort -k1,1 -k2,2r | sort -s -u -k1,1)
	{
		echo "# SPDX-License-Identifier: GPL-2.0-only"
		echo "# The last run of each row: row, date, hash of its inputs, seconds, result (make ledger)"
		{ echo change && plan_rows; } | awk -v lines="$lines" '
			BEGIN {
				n = split(lines, line, "\n")
				for (i = 1; i <= n; i++) {
					split(line[i], f, " ")
					last[f[1]] = line[i]
				}
			}
			{
				split($1 in last ? last[$1] : $1 " - - - never", f, " ")
				printf "%-22s %-20s %-40s %5s %s\n", f[1], f[2], f[3], f[4], f[5]
			}'
	} >"$new"
	cp "$new" "$verify/ledger" || die "could not write $verify/ledger: it is as it was, or cut short"
	# What it has of long ago nobody asks for.
	[[ ! -w $cache/ledger ]] || { tail -n 5000 "$cache/ledger" >"$new" && cat "$new" >"$cache/ledger"; }
	rm "$new"
	say "$(grep -c ' passed$' "$verify/ledger") of $(grep -vc '^#' "$verify/ledger") lines of the ledger" \
		"say passed; a release wants all, on the inputs that it has"
}

# change_base: the commit that the change is held to: the newest that a ledger says was
# landed and HEAD follows, or one some commits ago. Nothing where that cannot be known.
change_base()
{
	local id git=(git -C "$top")

	"${git[@]}" rev-parse -q --verify HEAD >/dev/null 2>&1 || return 0
	while read -r id; do
		if "${git[@]}" merge-base --is-ancestor "$id" HEAD 2>/dev/null; then
			echo "$id"
			return
		fi
	done < <(ledger_lines 2>/dev/null | awk '$1 == "change" && $5 == "passed" { print $2, $3 }' |
		sort -r | cut -d' ' -f2)
	say "no ledger names a commit that this one follows: the change is the last $commits commits"
	"${git[@]}" rev-parse -q --verify "HEAD~$commits" || true
}

# changed_files BASE: what has changed, and what is not committed; "*" where it cannot be known.
changed_files()
{
	if [[ ! $1 ]]; then
		say "there is no history to tell what has changed: all counts as changed"
		echo '*'
		return
	fi
	git -C "$top" diff --no-renames --diff-filter=d --name-only "$1"
	git -C "$top" ls-files -o --exclude-standard
}

# due_rows WORD...: the rows that are asked for, and with them of the group "turns" what
# their cost leaves room for. Says on stderr why, and what did not fit.
due_rows()
{
	local work all fixed base

	work=$(mktemp -d)
	base=$(change_base)
	: >"$work/before"
	fixed=$(select_rows '' '' "$@")
	all=$fixed$'\n'$(select_rows '' '' turns)
	changed_files "$base" >"$work/changed"
	ledger_lines >"$work/ledger"
	row_inputs <<<"$all" >"$work/inputs"
	row_hashes <"$work/inputs" >"$work/hashes"
	[[ ! $base ]] || row_inputs "$base" <<<"$all" | row_hashes >"$work/before"
	(cd "$top" && find kmod userlib tools uapi selftests verify -name '*.[chS]' -exec grep -oHE '^#include [<"][^>"]+' {} +) \
		2>/dev/null | sed 's/:#include [<"]/ /' >"$work/includes" || true
	sort -s -n -k5,5 <<<"$all" | awk -v jobs="$jobs" \
		-v budget="$(awk '$1 == "budget" { print $3 }' "$verify/plan")" \
		-v head="$(git -C "$top" rev-parse -q --verify HEAD 2>/dev/null || date +%F | sha1sum)" \
		-v fixed="$(cut -d' ' -f1 <<<"$fixed")" -f "$verify/due.awk" \
		part=before "$work/before" part=kernels "$vm/kernels/table" part=inputs "$work/inputs" part=hashes "$work/hashes" \
		part=ledger "$work/ledger" part=changed "$work/changed" \
		part=includes "$work/includes" part=rows - >"$work/due"
	sed -n 's/^say /vm: /p' "$work/due" >&2
	awk 'FNR == NR { if ($1 == "due") due[$2] = 1; next } $1 in due' "$work/due" - <<<"$all"
	rm -r "$work"
}
