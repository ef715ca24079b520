# SPDX-License-Identifier: GPL-2.0-only
#
# where.awk: counts of addresses to a table of functions. Reads, sorted by their second field, lines
# of symbols "S ADDRESS NAME" and lines of counts "C ADDRESS STRETCH COUNT"; addresses have 16
# digits. Stretch "alone" is subtracted from "recorded", and both divided by "samples".

$1 == "S" { name = $3 }

$1 == "C" {
	if ($3 == recorded)
		cost[name] += $4
	else if ($3 == alone)
		cost[name] -= $4
}

function owner(name)
{
	if (name ~ /^\[gprof\]/)
		return "the module"
	return name ~ /^reader:/ ? "the recorder\047s program" : "the rest of the kernel"
}

END {
	for (name in cost) {
		each = cost[name] / samples
		total += each
		of[owner(name)] += each
		if (each >= 0.5 || each <= -0.5)
			printf "%8.1f  %s\n", each, name | "sort -rn | head -n " lines
	}
	close("sort -rn | head -n " lines)
	printf "%8.1f  in all\n", total
	for (name in of)
		printf "%8.1f  of them in %s\n", of[name], name
}
