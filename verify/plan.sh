# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Reads the plan. Sourced after cache/lib.sh.

# The plan's rows, with the words that it defines put in.
plan_rows()
{
	awk '/^#/ || !NF || $2 ~ /^(:|has)$/ { next }
		$2 == "=" {
			name = $1
			sub(/^[^=]*= */, "")
			word[name] = $0
			next
		}
		{
			for (i = 7; i <= NF; i++)
				if (substr($i, 1, 1) == "$")
					$i = word[substr($i, 2)]
			print
		}' "$verify/plan"
}

# plan_uses: the uses of packages that the rows on stdin have, one a line.
plan_uses()
{
	awk 'FNR == NR { kind[$1, $2] = $3; next }
		{
			guest = $3 == "host" ? "" : "guest/"
			print "test"
			if (guest)
				print "arch/" $3 "\nkernel/" $4 "\nkind/" kind[$4, $3]
			for (i = 7; i <= NF; i++) {
				gsub(/\047/, "", $i)
				if ($i ~ /^[a-z]/)
					print guest $i
			}
		}' "$vm/kernels/table" - | sort -u
}
