# SPDX-License-Identifier: GPL-2.0-only
#
# Reads the tables of ../mutants; Documentation/testing.rst says what they are made of.
#
#   awk -v mode=MODE [-v tree=TREE] [-v want=NAME] -f faults.awk TABLE...
#
#   list    "SECONDS NAME", and behind tabs FILE..., TEST and WHAT of each fault
#   check   whether each has its lines in the sources of TREE, once
#   apply   changes those of NAME there; nothing where one is not there, or twice
#   make    makes faults of the file NAME of TREE, and reads no table: its line's number,
#           function, old and new text, with \037 between them
#
# What is wrong is said on stdout by the last two, and is their status.

BEGIN { FS = "\t" }

FNR == 1 { name = "" }

/^(#|$)/ { next }

$1 ~ /^[0-9]+ s$/ && NF == 2 {
	seconds[$2] = $1
	next
}

NF != ($1 == "+" ? 5 : 7) || ($1 == "+" && name == "") {
	complain(FILENAME ":" FNR, "this is no line of a table")
	next
}

$1 != "+" {
	name = $1
	if (name in known)
		complain(name, "it is there twice")
	known[name] = 1
	fault[++nr_faults] = name
	test[nr_faults] = $6
	what[nr_faults] = $7
}

{
	edit[++nr_edits] = name
	file[nr_edits] = $2
	scope[nr_edits] = $3
	old[nr_edits] = $4
	new[nr_edits] = $5 == "-" ? "" : $5
	if (index(" " files[nr_faults], " " $2 " ") == 0)
		files[nr_faults] = files[nr_faults] $2 " "
}

function complain(who, why)
{
	if (mode != "list")
		print who ": " why
	failed = 1
}

# What is not said is guessed.
function cost(test)
{
	return (test in seconds) ? seconds[test] + 0 : test ~ /^host/ ? 5 : 60
}

# load FILE: its lines, how they read, and of each in which block it is: a function, a
# table, a type or a macro, which begins at the left margin and ends there.
function load(name,   line, inside, start)
{
	if (name == loaded)
		return
	loaded = name
	nr = nr_blocks = inside = 0
	name = tree "/" name
	while ((getline line <name) > 0) {
		text[++nr] = line
		sub(/[ \t].*/, "", line)
		start = line
		line = text[nr]
		gsub(/[ \t]+/, " ", line)
		gsub(/^ | $/, "", line)
		plain[nr] = line
		if (!inside && (start ~ /^#define/ || start ~ /^[A-Za-z_]/ && line !~ /^extern "C"/)) {
			head[++nr_blocks] = ""
			inside = start ~ /^#/ ? "macro" : "head"
		}
		block[nr] = inside ? nr_blocks : 0
		if (inside == "body") {
			if (start ~ /^}/)
				inside = 0
			continue
		}
		if (inside)
			head[nr_blocks] = head[nr_blocks] " " line
		if (inside == "macro")
			inside = line ~ /\\$/ ? "macro" : 0
		else if (inside && line ~ /{/)
			inside = line ~ /};?$/ ? 0 : "body"
		else if (line == "" || line ~ /;$/)
			inside = 0
	}
	close(name)
}

# named BLOCK NAME: is that what it is called?
function named(n, name)
{
	if (name == "-")
		return 1
	return head[n] ~ ("(^ #define|[^A-Za-z0-9_])" name "[[ (]*[[({=]") ||
	       head[n] ~ ("^ #define " name "( |$)")
}

# find EDIT: the number of its first line, or 0.
function find(e,   part, n, i, k, found, at)
{
	load(file[e])
	n = split(old[e], part, / \/\/ /)
	for (i = 1; i + n - 1 <= nr; i++) {
		if (plain[i] != part[1] || !named(block[i], scope[e]))
			continue
		for (k = 2; k <= n && plain[i + k - 1] == part[k]; k++)
			;
		if (k > n) {
			found++
			at = i
		}
	}
	if (found == 1)
		return at
	complain(edit[e], (found ? found " lines" : "no line") " in " \
		(scope[e] == "-" ? "" : scope[e] " of ") file[e] (found ? " are: " : " is: ") old[e])
	return 0
}

# change EDIT: lines are indented as those that they replace.
function change(e,   at, was, is, n, m, i, indent, into)
{
	at = find(e)
	n = split(old[e], was, / \/\/ /)
	m = split(new[e], is, / \/\/ /)
	for (i = 1; i <= m; i++) {
		if (i <= n) {
			match(text[at + i - 1], /^[ \t]*/)
			indent = substr(text[at + i - 1], 1, RLENGTH)
		}
		into = into indent is[i] "\n"
	}
	for (i = 0; i < n; i++)
		gone[at + i] = 1
	changed[at] = into
}

function write(   i, name)
{
	name = tree "/" loaded
	for (i = 1; i <= nr; i++)
		printf "%s", i in gone ? changed[i] : text[i] "\n" >name
	close(name)
	split("", gone)
	split("", changed)
}

# One that a machine makes: characters FROM to FROM + LEN of line N become TEXT.
function make(n, from, len, text_,   whole) {
	whole = substr(text[n], 1, from - 1) text_ substr(text[n], from + len)
	if (whole != text[n] && !((n, whole) in made)) {
		made[n, whole] = 1
		print n, function_of(block[n]), text[n], whole
	}
}

function function_of(n,   name) {
	name = head[n]
	if (!match(name, /[A-Za-z_][A-Za-z0-9_]*\(/))
		return ""
	return substr(name, RSTART, RLENGTH - 1)
}

# The line, with as many blanks in place of what is in quotes or a comment.
function code_of(line,   i, c, quote, code) {
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		if (quote != "") {
			if (c == "\\") {
				code = code " "
				i++
			} else if (c == quote) {
				quote = ""
			}
			c = " "
		} else if (c == "\"" || c == "\047") {
			quote = c
			c = " "
		} else if (substr(line, i, 2) == "/*" || substr(line, i, 2) == "//") {
			break
		}
		code = code c
	}
	return code
}

# A statement that is left out; it has to begin and end in this line.
function drop(n, code, before,   statement) {
	statement = code
	gsub(/^[ \t]+|[ \t]+$/, "", statement)
	if (statement !~ /^[A-Za-z_*(+-].*;$/ || before !~ /(^|[;{}:)]|else)$/ ||
	    statement ~ /^(return|goto|case|default|const|static|struct|enum|union)[^A-Za-z0-9_(]/ ||
	    statement ~ /^(unsigned|int|long|char|bool|void|double|FILE|[a-z0-9]+_t)[^A-Za-z0-9_(]/ ||
	    statement ~ /^[A-Za-z_]+ \**[A-Za-z_]+(\[|;| =)/)
		return
	match(text[n], /^[ \t]*/)
	make(n, RLENGTH + 1, length(code) - RLENGTH, ";")
}

function make_faults(   i, k, n, at, rest, code, before, number, args) {
	n = split(" < ; <= ; > ; >= ; == ; != ; && ; || ; + ; - ; += ; -= ; |= ; & ;++;--;" \
		  "true;false", was, ";")
	split(" <= ; < ; >= ; > ; != ; == ; || ; && ; - ; + ; -= ; += ; &= ; | ;--;++;" \
	      "false;true", is, ";")
	load(want)
	for (i = 1; i <= nr; i++) {
		code = code_of(text[i])
		if (plain[i] ~ /^(#|\*|\/\*)/ || text[i] ~ /^[^ \t]/ || !block[i] ||
		    head[block[i]] !~ /\) ?\{?$|\) \{/) {
			before = ""
			continue
		}
		for (k = 1; k <= n; k++)
			for (at = 0; (rest = index(substr(code, at + 1), was[k])) > 0; ) {
				at += rest
				make(i, at, length(was[k]), is[k])
			}
		for (at = 1; match(substr(code, at), /[^A-Za-z0-9_.][0-9]+/); at += RSTART + RLENGTH - 1) {
			number = substr(code, at + RSTART, RLENGTH - 1)
			# A longer array than is needed is no fault.
			if (substr(code, at + RSTART + RLENGTH - 1, 1) !~ /[A-Za-z0-9_.]/ && length(number) < 10 &&
			    code !~ /^[ \t]*[a-z0-9_ ]+ \**[a-z_]+\[[0-9]+\]/)
				make(i, at + RSTART, RLENGTH - 1, number + 1)
		}
		if (match(code, /return -E[A-Z0-9]+;/))
			make(i, RSTART, RLENGTH, "return 0;")
		if (match(code, /if \(!/))
			make(i, RSTART, RLENGTH, "if (")
		else if (code ~ /if \(.*\)( \{)?[ \t]*$/ && code !~ / (<|>|<=|>=|==|!=|&&|\|\|) / &&
			 match(code, /if \(/))
			make(i, RSTART, RLENGTH, "if (!")
		if (match(code, /\([a-z_][a-z0-9_>.-]*, [a-z_][a-z0-9_>.-]*\)/)) {
			split(substr(code, RSTART + 1, RLENGTH - 2), args, ", ")
			make(i, RSTART, RLENGTH, "(" args[2] ", " args[1] ")")
		}
		drop(i, code, before)
		before = code
		gsub(/[ \t]+$/, "", before)
	}
}

END {
	if (mode == "make") {
		OFS = "\037"
		make_faults()
		exit
	}
	if (mode == "list") {
		for (i = 1; i <= nr_faults; i++)
			print cost(test[i]) " " fault[i] "\t" files[i] "\t" test[i] "\t" what[i]
		exit
	}
	for (i = 1; i <= nr_edits; i++) {
		if (want == "" || edit[i] == want)
			find(i)
	}
	if (mode == "apply" && !(want in known))
		complain(want, "there is no such fault")
	if (mode != "apply" || failed)
		exit failed
	for (i = 1; i <= nr_edits; i++) {
		if (edit[i] != want)
			continue
		if (loaded != file[i] && begun++)
			write()
		change(i)
	}
	write()
}
