# SPDX-License-Identifier: GPL-2.0-only
#
# Reads KTAP as it comes, prints a line for each test, and at the end writes
# "passed failed skipped" to the file named by "totals".  "row" names the run.
#
# Tests are the leaves: a result that closes a list of subtests is no test of
# its own, unless it fails where no subtest did.  A list without a plan, or with
# fewer results than planned, is a failure, and so is a run without any test.

# What a test says about itself is shown where it fails; logs have it all.
function show(what, name, why,   i)
{
	printf "%-4s %s: %s%s\n", what, row, name, why == "" ? "" : " (" why ")"
	if (what == "FAIL")
		for (i = nr_said > 8 ? nr_said - 7 : 1; i <= nr_said; i++)
			print "       " said[i]
	nr_said = 0
	fflush()
}

function count(what, name, why)
{
	total[what]++
	leaves[depth]++
	if (what == "FAIL")
		failures[depth]++
	show(what, name, why)
}

function path(name,   i, text)
{
	for (i = 1; i <= depth; i++)
		if (title[i] != "")
			text = text title[i] ": "
	return text name
}

function open_list(at)
{
	depth++
	indent[depth] = at
	plan[depth] = -1
	seen[depth] = leaves[depth] = failures[depth] = 0
	title[depth] = pending
	pending = ""
}

function close_list(   l, f)
{
	if (plan[depth] < 0)
		count("FAIL", path("plan"), "there is none")
	else if (seen[depth] != plan[depth])
		count("FAIL", path("plan"),
		      "of " plan[depth] " tests " seen[depth] " have a result")
	l = leaves[depth]
	f = failures[depth]
	depth--
	# The next result of the outer list speaks for these.
	inner_leaves += l
	inner_failures += f
}

function result(ok, text,   name, directive, at)
{
	name = text
	at = match(text, /(^|[^\\])# *(SKIP|XFAIL|TODO|TIMEOUT|ERROR)/)
	if (at) {
		directive = substr(text, at)
		name = substr(text, 1, at - 1)
		sub(/^[^#]*# */, "", directive)
	}
	sub(/^ *[0-9]+ */, "", name)
	sub(/^- */, "", name)
	sub(/ +$/, "", name)
	if (name == "")
		name = running
	seen[depth]++
	if (inner_leaves) {
		leaves[depth] += inner_leaves
		failures[depth] += inner_failures
		if (!ok && !inner_failures)
			count("FAIL", path(name), "after its subtests")
	} else if (directive ~ /^(SKIP|TODO|XFAIL)/) {
		sub(/^[A-Z]+ */, "", directive)
		count("skip", path(name), directive)
	} else {
		count(ok && directive == "" ? "ok" : "FAIL", path(name), directive)
	}
	inner_leaves = inner_failures = 0
}

{
	sub(/\r$/, "")
	match($0, /^ */)
	at = RLENGTH
	text = substr($0, at + 1)
}

text ~ /^# Subtest: / {
	pending = substr(text, 12)
	next
}

text ~ /^# / && text !~ /^#  +(RUN|OK|FAIL|PASS)/ {
	said[++nr_said] = text
	next
}

# kselftest_harness.h names a skipped test here only.
text ~ /^# +RUN / {
	running = $3
	nr_said = 0
	next
}

text ~ /^K?TAP version/ {
	while (depth && indent[depth] > at)
		close_list()
	if (!depth || indent[depth] < at)
		open_list(at)
	next
}

text ~ /^1\.\.[0-9]+/ {
	while (depth && indent[depth] > at)
		close_list()
	if (!depth || indent[depth] < at)
		open_list(at)
	plan[depth] = substr(text, 4) + 0
	if (!plan[depth] && text ~ /# *SKIP/) {
		sub(/^[^#]*# *SKIP */, "", text)
		count("skip", path("all"), text)
	}
	next
}

text ~ /^(not )?ok( |$)/ {
	while (depth && indent[depth] > at)
		close_list()
	if (!depth || indent[depth] < at)
		open_list(at)
	ok = text !~ /^not/
	sub(/^(not )?ok */, "", text)
	result(ok, text)
	next
}

text ~ /^Bail out!/ {
	count("FAIL", path("bail out"), substr(text, 10))
}

END {
	while (depth)
		close_list()
	if (!(total["ok"] + total["FAIL"] + total["skip"])) {
		show("FAIL", "all", "no test was run")
		total["FAIL"]++
	}
	printf "%d %d %d\n", total["ok"], total["FAIL"], total["skip"] >totals
}
