#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# page_browser_test.sh: what gprofctl view, flame, diff and timeline write, in a browser: that
# it is drawn, that keys suffice, how long it takes; and pictures to look at, in OUT (default:
# out/check of the sources).  Runs on the host, with Chromium.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need "$here/views_load" "$here/trace_load"
set -o pipefail

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || browser=
vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")
out=${OUT:-$vm/../../out/check}

need_browser()
{
	[ "$browser" ] || skip "there is no chromium"
	[ -s "$dir/timeline.html" ] || profiles_are_made
	mkdir -p "$out" 2>/dev/null && [ -w "$out" ] || out=$dir
}

# chromium OPTIONS...: without a window, and without asking anybody for anything
chromium()
{
	rm -rf "$dir/user"
	timeout 100 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$dir/user" "$@" 2>"$dir/browser.err"
}

profiles_are_made()
{
	"$here/views_load" "$dir/old.pb.gz" 2000 150
	"$here/views_load" "$dir/new.pb.gz" 2400 180
	"$here/views_load" "$dir/rich.pb.gz" 2400 180 rich
	gprofctl view "$dir/new.pb.gz" -o "$dir/page.html"
	gprofctl view "$dir/rich.pb.gz" -o "$dir/rich.html"
	gprofctl flame "$dir/new.pb.gz" -o "$dir/flame.svg"
	gprofctl diff "$dir/old.pb.gz" "$dir/new.pb.gz" -o "$dir/diff.html" -n 1 >/dev/null
	"$here/trace_load" "$dir/x.trace" 200000 40 4
	gprofctl timeline "$dir/x.trace" -o "$dir/timeline.html"
	! grep -Eq '(src|href)="?https?:' "$dir/page.html" "$dir/diff.html" "$dir/timeline.html"
}

# for scripts: what is typed where the focus is
key="const key = (k) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true, cancelable: true }));"

# with SCRIPT [HASH [PAGE]]: what the page has after some script of a user
with()
{
	sed "s|</body>|<script>addEventListener('load', () => setTimeout(() => { $key $1 }, 200));</script></body>|" \
		"$dir/${3:-page.html}" >"$dir/with.html"
	chromium --virtual-time-budget=3000 --dump-dom "file://$dir/with.html$2" >"$dir/dom"
}

# says WORDS: the line at the bottom does
says()
{
	grep -o '<span id="told"[^<]*>[^<]*<' "$dir/dom" | tee "$dir/told"
	grep -qF -- "$1" "$dir/told"
}

profile=$dir/new.pb.gz

# shares_are_those_of OPTION...: of the page's table, what csv says of the samples that these choose
shares_are_those_of()
{
	# "function self% total%"
	sed 's/<tr>/\n<tr>/g' "$dir/dom" |
		sed -n 's/^<tr><td>[^<]*<\/td><td>\([0-9.]*\) %<.*<td>\([0-9.]*\) %<.*<button[^>]*>\([^<]*\)<.*/\3 \1 \2/p' |
		sort >"$dir/page"
	gprofctl csv "$profile" "$@" | awk -F, 'NR > 1 && $6 { name[NR] = $1; self[NR] = $4; cum[NR] = $6; sum += $4 }
		END { for (i in name) print name[i], 100 * self[i] / sum, 100 * cum[i] / sum }' | sort >"$dir/csv"
	wc -l <"$dir/csv"
	[ "$(wc -l <"$dir/csv")" -gt 50 ] && [ "$(wc -l <"$dir/csv")" -eq "$(wc -l <"$dir/page")" ]
	paste -d ' ' "$dir/page" "$dir/csv" | awk '
		function far(a, b) { return a - b > 0.0051 || b - a > 0.0051 }
		$1 != $4 || far($2, $5) || far($3, $6) { bad = 1; print }
		END { exit bad }'
}

table_is_that_of_gprofctl_top()
{
	need_browser
	# counts: no rounding comes between
	with '' '#v=table&t=samples'
	# "self total function"
	sed 's/<tr>/\n<tr>/g' "$dir/dom" |
		sed -n 's/^<tr><td>\([0-9,]*\)<.*<td>\([0-9,]*\)<\/td>.*<button[^>]*>\([^<]*\)<.*/\1 \2 \3/p' |
		tr -d , | sort >"$dir/page"
	gprofctl csv "$dir/new.pb.gz" --type samples | awk -F, 'NR > 1 { print $4, $6, $1 }' | sort >"$dir/csv"
	wc -l <"$dir/csv"
	[ "$(wc -l <"$dir/csv")" -gt 100 ]
	diff "$dir/page" "$dir/csv"
}

# The list changes all: shares, units and the whole; the command line says what comes first.
values_can_be_chosen()
{
	need_browser
	choose="const s = document.getElementById('type'); s.value = 'samples'; s.dispatchEvent(new Event('change'));"
	with '' '#v=table'
	shares_are_those_of --type cpu
	cp "$dir/csv" "$dir/cpu"
	with "$choose" '#v=table'
	shares_are_those_of --type samples
	! diff -q "$dir/csv" "$dir/cpu" || fail "the values are alike, and prove nothing"
	grep -o '<span id="whole">[^<]*' "$dir/dom" | tee "$dir/told"
	grep -qx '.*>samples: 2400' "$dir/told"
	with "$choose key('ArrowDown');"
	says ': 2400, 100.00 %'
	whole=$(gprofctl csv "$dir/new.pb.gz" --type samples | awk -F, '$1 == "function_5" { print $6 }')
	with "$choose key('ArrowDown'); key('ArrowUp');" '#v=sandwich&f=function_5'
	says "function_5: $whole, "
	gprofctl view "$dir/new.pb.gz" --type samples -o "$dir/samples.html"
	with '' '#v=table' samples.html
	shares_are_those_of --type samples
	with '' '#v=table&t=cpu' samples.html
	shares_are_those_of --type cpu
	grep -o '<span id="whole">[^<]*' "$dir/dom" | grep -F 'cpu: 6.00 s'
}

filters_choose()
{
	need_browser
	with '' '#v=table&t=samples&process=program_7%20(1007)'
	whole=$(gprofctl csv "$dir/new.pb.gz" --type samples --pid 1007 |
		awk -F, '$6 + 0 > m { m = $6 + 0 } END { print m }')
	echo "$whole samples"
	[ "$whole" -gt 0 ]
	grep -qF "<td>$whole</td><td>100.00 %</td>" "$dir/dom"
}

# Down to what is called, right to its neighbour, up again, Enter zooms, s makes a sandwich.
keys_suffice()
{
	need_browser
	go="const c = document.querySelector('canvas'); c.focus();"
	with "$go key('ArrowDown'); key('ArrowDown'); key('ArrowDown');"
	says 'function_5'
	with "$go key('ArrowDown'); key('ArrowDown'); key('ArrowDown'); key('ArrowRight');"
	says 'function_'
	! grep -q 'function_5 ' "$dir/told"
	with "$go key('ArrowDown'); key('ArrowDown'); key('ArrowUp'); key('Enter');"
	says 'function_0 '
	with "$go key('ArrowDown'); key('ArrowDown'); key('s');"
	grep -q 'Called by (function_1)' "$dir/dom"
	with "key('/'); document.execCommand('insertText', false, 'function_1\$');"
	grep -o '<span id="matched"[^<]*>[^<]*<' "$dir/dom" | tee "$dir/told"
	grep -q 'matched .*%' "$dir/told"
	# with the graph in focus as it is loaded, and after Esc, and no Tab or click
	with "key('ArrowDown'); key('ArrowDown'); key('ArrowDown');"
	says 'function_5'
	with "key('ArrowDown'); key('Escape'); key('ArrowDown'); key('ArrowDown');"
	says 'function_1'
	with ""
	says 'arrow keys move, Enter zooms'
	# the search is left with what was typed; the second time all is shown
	with "key('/'); document.execCommand('insertText', false, 'function_1\$'); key('Escape'); key('ArrowDown');"
	says 'function_0 '
	grep -q '>matched [0-9]' "$dir/dom"
	with "key('4'); key('ArrowDown'); key('ArrowDown'); document.title = 'at ' + document.activeElement.textContent;"
	sed -n 's/.*<title>at \(function_[0-9]*\)<.*/\1/p' "$dir/dom" | tee "$dir/told"
	third=$(sed 's/<tr>/\n<tr>/g' "$dir/dom" | sed -n 's/^<tr><td>.*<button[^>]*>\([^<]*\)<.*/\1/p' | sed -n 3p)
	[ "$third" ] && [ "$(cat "$dir/told")" = "$third" ]
	with "key('ArrowDown'); document.activeElement.click();" '#v=table'
	grep -q 'Called by (function_' "$dir/dom"
	with "key('v'); key('ArrowDown');"
	says 'function_0 [libc.so.6]: 2400, '
	with "key('?'); document.title = 'keys ' + document.getElementById('keys').open; key('Escape');"
	grep -q '<title>keys true<' "$dir/dom"
	! grep -q '<dialog[^>]* open' "$dir/dom"
	with "key('ArrowDown'); key('Escape');" '#s=function_1&v=inverted'
	! grep -q '>matched [0-9]' "$dir/dom"
	# and all that is there can be reached and has a name
	[ "$(grep -o '<canvas[^>]*tabindex="0"[^>]*aria-label="[^"]' "$dir/dom" | wc -l)" -ge 1 ]
	! grep -o '<input[^>]*>' "$dir/dom" | grep -v aria-label
}

# A link leads to where the graph was zoomed to, in either graph of a sandwich too.
link_has_the_zoom()
{
	need_browser
	hash="document.title = 'at ' + location.hash;"
	for view in '#' '#v=inverted' '#v=sandwich&f=function_5'; do
		for nth in 0 1; do
			[ $nth = 0 ] || [ "$view" != "${view#*sandwich}" ] || continue
			at="document.querySelectorAll('canvas')[$nth].focus();"
			with "$at key('ArrowDown'); key('ArrowDown'); key('Enter'); key('ArrowDown'); $hash" "$view"
			link=$(sed -n 's/.*<title>at \(#[^<]*\)<.*/\1/p' "$dir/dom" | sed 's/&amp;/\&/g')
			grep -o '<span id="told"[^<]*>[^<]*<' "$dir/dom" >"$dir/before"
			echo "$view: $link"
			[ "$view" != '#' ] || flame=$link
			expr "$link" : ".*z$nth=[0-9a-z]*\.[0-9a-z]*$" >/dev/null || fail "$view: no zoom"
			# one down from where it is zoomed to is the same again
			with "$at key('ArrowDown'); $hash" "$link"
			grep -o '<span id="told"[^<]*>[^<]*<' "$dir/dom" | diff "$dir/before" - || fail "$link"
			grep -qF "at ${link//&/\&amp;}<" "$dir/dom" || fail "the link has changed"
		done
	done
	# what is no place of this profile leads as far as it can
	with "key('ArrowDown'); $hash" "${flame%.*}.nowhere.1"
	says 'function_1'
}

# Inlined functions and those of a runtime are called so, and a legend has what there is.
kinds_of_code_are_told_apart()
{
	need_browser
	legend() { grep -o '<span\( hidden=""\)\?><i class="[a-z]*"' "$dir/dom" | grep -v hidden | sed 's/.*class=//' | tr '\n' ' '; }
	with '' '#v=table'
	[ "$(legend)" = '"user" "kernel" "match" ' ]
	with '' '#v=table' rich.html
	[ "$(legend)" = '"user" "kernel" "inlined" "runtime" "match" ' ]
	for kind in inlined runtime; do
		sed 's/<tr>/\n<tr>/g' "$dir/dom" |
			sed -n "s/^<tr><td>.*<button[^>]*>\([^<]*\)<.*<span class=\"where\"> \([a-z.0-9]*, \)\?$kind<.*/\1/p" |
			sort >"$dir/page"
		gprofctl csv "$dir/rich.pb.gz" | awk -F, -v kind=$kind '$3 == kind { print $1 }' | sort >"$dir/csv"
		echo "$(wc -l <"$dir/csv") functions are $kind"
		[ -s "$dir/csv" ]
		diff "$dir/page" "$dir/csv"
	done
	with "key('ArrowDown'); key('ArrowDown'); key('ArrowRight'); key('ArrowRight');" '' rich.html
	says 'function_3 [runtime]: '
	with "key('ArrowDown'); key('ArrowDown'); key('ArrowRight'); key('ArrowRight'); key('ArrowRight');" '' rich.html
	says 'function_2 [libc.so.6, inlined]: '
	# and are seen without colours: where user code has one grey, a runtime's has stripes
	with "const c = document.querySelector('#charts canvas'), d = c.getContext('2d').getImageData(0, 36, c.width, 16).data; const greys = (x0, x1) => { const seen = new Set(); for (let y = 2; y < 14; y++) for (let x = x0; x < x1; x++) { const i = (y * c.width + x) * 4; seen.add(Math.round(0.2126 * d[i] + 0.7152 * d[i + 1] + 0.0722 * d[i + 2])); } return seen.size; }; document.title = 'greys ' + greys(300, 340) + ' ' + (greys(c.width - 53, c.width - 47) > 3);" '' rich.html
	grep -o '<title>greys 1 true' "$dir/dom"
}

# A process with all below it, as the command has each of them; a click leaves no others.
processes_are_a_tree()
{
	need_browser
	with '' '#v=processes' rich.html
	# "depth own% below% name"
	sed 's/<tr>/\n<tr>/g' "$dir/dom" |
		sed -n 's/^<tr><td>[^<]*<\/td><td>\([0-9.]*\) %<.*<td>\([0-9.]*\) %<.*margin-left: \([0-9]*\)ch[^>]*>\([^<]*\)<.*/\3 \1 \2 \4/p' >"$dir/page"
	head -n 4 "$dir/page"
	grep -qx '0 0.00 100.00 process 999, without samples' "$dir/page"
	gprofctl csv "$dir/rich.pb.gz" --by process | awk -F, '/^program_/ { print $1, $7 }' >"$dir/csv"
	# a child is below its parent, two columns further right
	awk 'FILENAME ~ /csv$/ { own[$1] = $3; pid[$1] = substr($2, 2) + 0; next }
		$4 in own {
			n++
			at[$1] = pid[$4]
			sum = 0
			for (i in own) {
				for (p = pid[i]; p > pid[$4]; p = 999 + int((p - 1000 + 3) / 4)) { }
				if (p == pid[$4])
					sum += own[i]
			}
			if ($2 - own[$4] > 0.0051 || own[$4] - $2 > 0.0051 || $3 - sum > 0.01 || sum - $3 > 0.01 ||
			    ($1 > 2 && at[$1 - 2] != 999 + int((pid[$4] - 1000 + 3) / 4))) {
				print "is", own[$4], sum, "not", $0
				bad = 1
			}
		}
		END { exit bad || n != 64 }' "$dir/csv" "$dir/page"
	profile=$dir/rich.pb.gz
	click="[...document.querySelectorAll('#tree button')].find((b) => b.textContent === 'program_5 (1005)').click();"
	with "$click key('4'); document.title = 'at ' + location.hash;" '#v=processes' rich.html
	shares_are_those_of --pid 1005,1021,1022,1023,1024
	grep -oF '<title>at #v=table&amp;below=program_5%20(1005)' "$dir/dom"
	with "$click $click key('4');" '#v=processes' rich.html
	shares_are_those_of
	with '' '#v=table&below=program_5%20(1005)' rich.html
	shares_are_those_of --pid 1005,1021,1022,1023,1024
	with '' '#v=table&process=program_5%20(1005)' rich.html
	shares_are_those_of --pid 1005
	with "key('ArrowDown'); key('ArrowDown'); document.title = 'took ' + document.activeElement.closest('tr').cells[2].textContent; document.activeElement.click(); key('1'); key('ArrowDown');" '#v=processes' rich.html
	took=$(sed -n 's/.*<title>took \([^<]*\)<.*/\1/p' "$dir/dom")
	says "function_0 [libc.so.6]: ${took:-nothing}, 100.00 % of what is chosen"
	# none without parents, or of one process
	with '' '#v=processes'
	! grep -q 'margin-left: [1-9]' "$dir/dom"
}

# A span of time limits all that is shown, and is chosen by mouse, keys or link.
a_span_of_time_chooses()
{
	need_browser
	profile=$dir/rich.pb.gz
	# slices FROM TO: their times as --label has them
	slices() { seq -s , $(($1 * 10000000)) 10000000 $(($2 * 10000000 - 1)); }
	span() { sed -n 's/.*<title>at \([^<]*\)<.*/\1/p' "$dir/dom" | head -n 1; }
	title="document.title = 'at ' + location.hash.replace(/.*span=/, '');"
	with '' '#v=table&span=200000000-400000000' rich.html
	shares_are_those_of --label "time=$(slices 20 40)"
	grep -o '<p id="span"[^<]*<' "$dir/dom" | tee "$dir/told"
	gprofctl csv "$profile" --label "time=$(slices 20 40)" | awk -F, 'NR > 1 { sum += $4 }
		END { printf "from 200 ms to 400 ms: %.2f s, %.2f %% of all\n", sum / 1e9, sum / 6e7 }' | tee "$dir/wanted"
	grep -qF "$(cat "$dir/wanted")" "$dir/told"
	with '' '#v=table&t=samples&span=950000000-1000000000&below=program_5%20(1005)' rich.html
	shares_are_those_of --type samples --label "time=$(slices 95 100)" --pid 1005,1021,1022,1023,1024
	press="const press = (k, shift) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: k, shiftKey: shift, bubbles: true, cancelable: true }));"
	with "$press key('b'); press('ArrowRight'); $title" '' rich.html
	[ "$(span)" = 0-100000000 ]
	with "$press key('b'); press('ArrowRight'); press('ArrowRight'); press('ArrowRight', true); $title" '' rich.html
	[ "$(span)" = 20000000-140000000 ]
	with "$press key('b'); press('ArrowRight'); press('End'); press('ArrowRight'); press('ArrowLeft'); $title" '' rich.html
	[ "$(span)" = 880000000-980000000 ]
	with "$press key('b'); press('ArrowRight'); press('Escape'); $title" '' rich.html
	[ -z "$(span)" ]
	drag="const c = document.getElementById('strip'), box = c.getBoundingClientRect(); const point = (what, at) => c.dispatchEvent(new PointerEvent(what, { clientX: box.left + at * box.width, bubbles: true }));"
	with "$drag point('pointerdown', 0.405); point('pointermove', 0.3); point('pointermove', 0.2051); point('pointerup', 0.2051); $title key('4');" '' rich.html
	[ "$(span)" = 200000000-410000000 ]
	shares_are_those_of --label "time=$(slices 20 41)"
	with "$drag point('pointerdown', 0.7); point('pointerup', 0.7); $title" '#span=0-10000000' rich.html
	[ -z "$(span)" ]
	for bad in 5-5 1-x 9000000000-9900000000 -; do
		with "$title" "#span=$bad" rich.html
		[ -z "$(span)" ] || fail "$bad"
	done
	with ''
	! grep -q 'id="strip"' "$dir/dom"
}

# program NAME [OPTION...]: build $dir/NAME of the C that is read, in NAME.c
program()
{
	{ command -v gcc && command -v python3; } >/dev/null || skip "there is no gcc or python3"
	cat >"$dir/$1.c"
	gcc -O1 -fno-inline -no-pie "${@:2}" -o "$dir/$1" "$dir/$1.c"
	touch -d 2020-01-01 "$dir/$1.c"
}

# samples_of PROGRAM OUT ARGUMENT...: of programs in $dir
samples_of() { python3 "$here/source_profile" "$dir/$1" "$dir/$2" "${@:3}"; }

small()
{
	cat <<'END'
volatile int v;

int f_one(int n)
{
	for (int i = 0; i < n; i++) {
		v += i * n;
		if (v & 1)
			v ^= 3;
	}
	return v;
}

int f_two(int n)
{
	return n ? f_one(n - 1) * 3 : 0;
}

int main(void)
{
	f_one(2);
	return f_two(3);
}
END
}

# listed: the rows of the listing in the page, as "FLAT CUM AT TEXT", with a dot for no value
listed()
{
	sed 's/<div id="listing"/\n&/; s/<tr>/\n&/g; s/<\/table>/\n/g' "$dir/dom" | sed -n '/<div id="listing"/,/<\/main>/p' |
		sed -n 's/^<tr><td[^>]*>\([^<]*\)<\/td><td>\([^<]*\)<\/td><td class="at">\([^<]*\)<\/td><td class="text">\([^<]*\)<.*/\1~\2~\3~\4/p' |
		sed 's/^~/.~/; s/^\([^~]*\)~~/\1~.~/; s/&lt;/</g; s/&gt;/>/g; s/&nbsp;/ /g; s/&amp;/\&/g' |
		tr '\t~' '  ' | sed 's/ *$//'
}

# says_list, says_disasm ARGUMENT...: what the command prints, likewise
says_list() { (cd "$dir" && gprofctl list "$@") | grep -v 'of total:' | sed -n 's/^ *\([0-9.]* [a-zμ]*s\|[0-9.]*\)  *\([0-9.]* [a-z]*s\|[0-9.]*\)  *\([0-9][0-9]*\) \(.*\)/\1 \2 \3 \4/p' | sed 's/ *$//'; }
says_disasm()
{
	(cd "$dir" && gprofctl disasm "$@" --no-source) | sed 1d |
		sed -n 's/^ *\([0-9.]* [a-z]*s\|[0-9.]*\)  *\([0-9.]* [a-z]*s\|[0-9.]*\)  *\([0-9a-f]*\): */\1 \2 \3 /p
			s/^ *\. *\. \([0-9a-f]* <.*>:\)$/. .  \1/p' | sed 's/ *$//'
}

# A click on a box, or keys, show what the commands do, with the values that are chosen.
sources_are_those_of_list_and_disasm()
{
	need_browser
	small | program prog -g
	samples_of prog src.pb 1000
	gprofctl view "$dir/src.pb" --source -o "$dir/src.html"
	click="const c = document.querySelector('#charts canvas'), b = c.getBoundingClientRect(); c.dispatchEvent(new MouseEvent('click', { clientX: b.left + b.width * 0.1, clientY: b.top + 18 * 2 + 8, bubbles: true }));"
	press="const press = (text) => [...document.querySelectorAll('#listing button')].find((b) => b.textContent === text).click();"
	hash="document.title = 'at #' + location.hash.slice(1).replace(/z0=[^\&]*/, 'z0');"
	with "$click $hash" '' src.html
	listed | tee "$dir/page" | head -n 3
	says_list f_one src.pb >"$dir/wanted"
	[ "$(wc -l <"$dir/wanted")" -ge 12 ]
	diff "$dir/wanted" "$dir/page"
	grep -oF '<title>at #l=f_one&amp;z0<' "$dir/dom"
	with "$click $press press('Assembly'); $hash" '' src.html
	listed >"$dir/page"
	says_disasm f_one src.pb >"$dir/wanted"
	[ "$(wc -l <"$dir/wanted")" -ge 15 ]
	diff "$dir/wanted" "$dir/page"
	grep -oF '<title>at #asm=f_one&amp;z0<' "$dir/dom"
	# of the other value, and by keys: the listing goes along with the arrows
	with "key('v'); key('ArrowDown'); key('o'); key('ArrowDown'); key('ArrowRight');" '' src.html
	listed >"$dir/page"
	says_list f_two src.pb --type samples | diff - "$dir/page"
	with "key('a'); key('v');" '#l=main' src.html
	listed >"$dir/page"
	says_disasm main src.pb --type samples | diff - "$dir/page"
	with "$press press('Close'); $hash" '#l=main' src.html
	[ -z "$(listed)" ]
	grep -qF '<title>at #<' "$dir/dom"
	with "key('Escape'); $hash" '#asm=main' src.html
	grep -qF '<title>at #<' "$dir/dom"
	# values are of all samples, which is said where others are chosen
	with '' '#l=f_one&process=prog%20(77)' src.html
	grep -q 'These values are of all samples' "$dir/dom"
	# a profile without lines says so, and from where they are had; so does a source that has gone
	small | program bare
	samples_of bare bare.pb 1000
	(cd "$dir" && gprofctl list f_one bare.pb) 2>&1 >/dev/null | sed 's/gprofctl: //' | tee "$dir/told"
	(cd "$dir" && gprofctl view bare.pb --source -o bare.html)
	with '' '#l=f_one' bare.html
	grep -qF ">$(cat "$dir/told")<" "$dir/dom"
	mkdir "$dir/moved" && mv "$dir/prog.c" "$dir/moved"
	gprofctl view "$dir/src.pb" --source -o "$dir/src.html"
	with '' '#l=f_one' src.html
	grep -o "$dir/prog.c cannot be read: No such file or directory; --source=DIR says where sources are" "$dir/dom"
	gprofctl view "$dir/src.pb" --source="$dir/moved" -o "$dir/src.html"
	with '' '#l=f_one' src.html
	listed >"$dir/page"
	says_list f_one src.pb --source "$dir/moved" | diff - "$dir/page"
	# and a page without sources has none of it
	gprofctl view "$dir/src.pb" -o "$dir/src.html"
	! grep -q '"sources"' "$dir/src.html"
	with "$click key('o'); $hash" '#l=f_one' src.html
	[ -z "$(listed)" ]
}

# Names, paths and lines are text, whatever is in them; of much, the hottest functions stay.
sources_are_only_text()
{
	need_browser
	long=$(printf 'x%.0s' $(seq 10000))
	evil=$(printf '</script><script>document.title="owned"</script><img src=x onerror=document.title=1>"\\\x27\u202e\u2066\033[31m')
	{
		printf 'volatile int v; // %s\n// %s\n' "$evil" "$long"
		printf 'int f_%s(int n)\n{\n\treturn n * v;\n}\n' one two
		printf 'int main(void)\n{\n\treturn f_one(f_two(1));\n}\n'
	} | program "<p>'\"&x" -g
	samples_of "<p>'\"&x" evil.pb 1000 "$evil=f_one" "$long=f_two"
	gprofctl view "$dir/evil.pb" --source -o "$dir/evil.html"
	[ "$(grep -c '</script>' "$dir/evil.html")" = 2 ]
	name=$(python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1].encode()))' "$evil")
	for at in l asm; do
		with "document.title += [...document.querySelectorAll('#listing h2, #listing h3')].map((e) => e.textContent.length).join() + ' ' + document.images.length" "#$at=$name" evil.html
		grep -o '<title>[^<]*<' "$dir/dom"
		! grep -q '<title>\(owned\|1\)' "$dir/dom"
		grep -qF '<img src=x onerror' "$dir/dom" && fail "an element was made"
		listed >"$dir/page"
		grep -q 'f_one' "$dir/page" || fail "$at: no rows"
	done
	small | program prog -g
	for n in 0 1; do
		samples_of prog few.pb $n
		gprofctl view "$dir/few.pb" --source -o "$dir/few.html"
		with "key('ArrowDown'); key('ArrowDown'); key('o');" '' few.html
		[ "$(listed | grep -c '^[0-9]')" = $n ] || fail "$n samples"
	done
	# as many functions, with as long lines, as do not fit
	awk 'BEGIN {
		print "volatile int v;"
		for (i = 0; i < 260; i++) {
			print "int f_" i "(int n)\n{\n\tv++;"
			for (j = 0; j < 60; j++)
				printf "\t// %0300d\n", j
			print "\treturn v * n + " i ";\n}"
		}
		print "int main(void)\n{\n\treturn f_1(2);\n}"
	}' | program many -g
	samples_of many many.pb 5000
	gprofctl view "$dir/many.pb" --source -o "$dir/many.html" 2>&1 | tee "$dir/told"
	grep -q 'the source of [1-9][0-9]* functions and the instructions of [1-9][0-9]* do not fit into 3 MB' "$dir/told"
	size=$(sed -n '/^"sources":/,/^"keys":/p' "$dir/many.html" | wc -c)
	echo "$size bytes"
	[ "$size" -gt 2900000 ] && [ "$size" -le $((3 << 20)) ]
	gprofctl csv "$dir/many.pb" | awk -F, 'NR > 1 && $1 ~ /^f_/ { print $4, $1 }' | sort -k 1,1nr >"$dir/csv"
	with '' "#l=$(awk 'NR == 1 { print $2 }' "$dir/csv")" many.html
	[ "$(listed | grep -c '^[0-9]')" -ge 1 ]
	with '' "#l=$(awk 'END { print $2 }' "$dir/csv")" many.html
	grep -o 'This function is not among the 200 of 261 with the largest values' "$dir/dom"
	with '' "#l=$(awk 'NR == 195 { print $2 }' "$dir/csv")" many.html
	grep -o 'It does not fit into the 3 MB of this page' "$dir/dom"
}

# live SCRIPT QUERY_AND_HASH: the live page after some script of a user; the agent's page is in agent.html
live()
{
	mkdir -p "$dir/live"
	rm -f "$dir/live/port"
	sed "s|</body>|<script>{ $key const until = (test, act) => { const t = setInterval(() => { if (test()) { clearInterval(t); act(); } }, 20); }; const whole = () => (document.getElementById('whole') \|\| {}).textContent \|\| ''; $1 }</script></body>|" \
		"$dir/agent.html" >"$dir/live/live.html"
	python3 "$here/live_server" "$dir/live" &
	server=$!
	trap 'kill "$server"; wait "$server" 2>/dev/null' EXIT
	for _ in $(seq 100); do [ -s "$dir/live/port" ] || sleep 0.1; done
	chromium --virtual-time-budget=4000 --dump-dom "http://127.0.0.1:$(cat "$dir/live/port")/live$2" >"$dir/dom"
	kill "$server"
	wait "$server" 2>/dev/null || :
	trap - EXIT
	cat "$dir/live/requests"
}

# The agent's page, of the real agent in a guest, takes one profile after the other, and stays where
# the user is: value, zoom, span, function, listing, keys.
a_live_page_renews_itself()
{
	need_browser
	[ -x "$vm/run" ] || skip "no selftests/vm in PATH"
	mkdir "$dir/share"
	cat >"$dir/share/write" <<-'END'
		cd /share || exit 1
		burner 600000 &
		gprofctl serve --listen 127.0.0.1:8765 --token-file /share/token 2>served &
		sleep 2
		python3 - <<-'PYTHON'
			from urllib.request import Request, urlopen
			at = "http://127.0.0.1:8765/"
			open("live.html", "wb").write(urlopen(at + "live").read())
			view = Request(at + "debug/pprof/view?seconds=1", headers={"Authorization": "Bearer 0123456789abcdef0123"})
			open("view.html", "wb").write(urlopen(view).read())
		PYTHON
		exit 0
	END
	echo 0123456789abcdef0123 >"$dir/share/token"
	"$vm/run" --share "$dir/share" -- sh /share/write >"$dir/guest" 2>&1 || { cat "$dir/guest"; fail "no guest"; }
	cp "$dir/share/live.html" "$dir/agent.html"
	mkdir "$dir/live"
	# its own profile: what burns is below where it is
	cp "$dir/share/view.html" "$dir/live/page_1.html"
	live "until(whole, () => { document.title = 'name ' + document.querySelector('#rows button').textContent; });" '?seconds=1&hz=99#v=table'
	printf '%s\n' '/live?seconds=1&hz=99' '/debug/pprof/view?seconds=1&hz=99' '/debug/pprof/view?seconds=1&hz=99' | diff - <(head -n 3 "$dir/live/requests")
	! grep -v '^/live\|^/debug/pprof/view' "$dir/live/requests"
	grep -o '<title>name spin<' "$dir/dom"
	grep -o '<h1 id="title">CPU profile<' "$dir/dom"
	# the agent's sentence is told, as text
	grep -oF 'no newer profile: that is &lt;b&gt;all&lt;/b&gt;<' "$dir/dom"
	# of two that differ in all numbers, the second as the user had the first
	"$here/views_load" "$dir/next.pb.gz" 3000 150 rich
	gprofctl view "$dir/next.pb.gz" -o "$dir/next.html"
	cp "$dir/rich.html" "$dir/live/page_1.html"
	cp "$dir/next.html" "$dir/live/page_2.html"
	profile=$dir/next.pb.gz
	user="const s = document.getElementById('type'); s.value = 'samples'; s.dispatchEvent(new Event('change'));
		key('ArrowDown'); key('ArrowDown'); key('Enter'); key('b'); key('ArrowRight'); document.querySelector('#charts canvas').focus();"
	user=$(echo "$user" | tr '\n\t' '  ')
	live "until(whole, () => { $user const was = location.hash; until(() => whole() !== 'samples: 2400', () => { key('ArrowDown'); document.title = [location.hash === was, was, document.getElementById('type').value].join(); }); });" ''
	grep -o '<title>true,[^<]*' "$dir/dom" | tee "$dir/told"
	link=$(sed -n 's/^<title>true,\(#[^,]*\),samples$/\1/p' "$dir/told" | sed 's/&amp;/\&/g')
	expr "$link" : '#t=samples&span=0-100000000&z0=[0-9a-z]*\.[0-9a-z]*$' >/dev/null
	grep -o '<span id="whole">samples: 3000<' "$dir/dom"
	grep -o '<span id="told"[^<]*>[^<]*<' "$dir/dom" >"$dir/live.told"
	with "key('ArrowDown');" "$link" next.html
	grep -o '<span id="told"[^<]*>[^<]*<' "$dir/dom" | tee "$dir/told"
	diff "$dir/told" "$dir/live.told"
	live '' '#v=table&t=samples&span=200000000-400000000&below=program_5%20(1005)'
	shares_are_those_of --type samples --label "time=$(seq -s , 200000000 10000000 390000000)" --pid 1005,1021,1022,1023,1024
	# a function that one profile lacks is there again in the next
	cp "$dir/share/view.html" "$dir/live/page_2.html"
	cp "$dir/next.html" "$dir/live/page_3.html"
	live '' '#v=sandwich&f=function_5'
	grep -o 'Called by (function_5)' "$dir/dom"
	# held, it stays
	live "until(whole, () => document.getElementById('pause').click());" '#t=samples'
	grep -o '<span id="whole">samples: 2400<' "$dir/dom"
	grep -o '<span id="live"[^<]*>paused<' "$dir/dom"
	[ "$(grep -c view "$dir/live/requests")" -le 2 ]
}

# Each step is one back in the history; what a link says that is not there changes nothing.
back_goes_back()
{
	need_browser
	later() { echo "setTimeout(() => { $1 }, $2);"; }
	title="document.title = 'at #' + location.hash.slice(1);"
	at() { sed -n 's/.*<title>at \(#[^<]*\)<.*/\1/p' "$dir/dom" | sed 's/&amp;/\&/g' | tee "$dir/at"; }
	steps="key('v'); key('ArrowDown'); key('ArrowDown'); key('Enter'); key('4'); document.querySelector('th[data-key=total] button').click();"
	with "$steps $title"
	[ "$(at)" = '#v=table&t=samples&o=total' ]
	with "$steps history.back(); $(later "$title" 300)"
	[ "$(at)" = '#v=table&t=samples' ]
	with "$steps history.back(); $(later "history.go(-2);" 300) $(later "$title" 600)"
	[ "$(at)" = '#t=samples' ]
	with "$steps history.go(-3); $(later "key('ArrowDown'); $title" 400)"
	[ "$(at)" = '#t=samples' ]
	says 'function_0 [libc.so.6]: 2400, 100.00 %'
	with "$steps history.go(-4); $(later "key('ArrowDown'); $title" 400)"
	[ "$(at)" = '#' ]
	says 'function_0 [libc.so.6]: 6.00 s, 100.00 %'
	for bad in '#%E0%A4%A&v=%' '#v=nothing&t=none&o=9&f=nowhere&process=no%20one&z0=-1..x&&==' '#?'; do
		with "key('ArrowDown'); $title" "$bad"
		[ "$(at)" = '#' ] || fail "$bad"
		says 'function_0 [libc.so.6]: 6.00 s, 100.00 %'
	done
}

# What is no expression is called so, where the text as it stands is nowhere either.
bad_expressions_are_told()
{
	need_browser
	with '' '#s=function_(' && ! grep -q '>matched' "$dir/dom"
	grep -o '<span id="matched"[^<]*>[^<]*<' "$dir/dom" | tee "$dir/told"
	grep -qi '>not a valid expression: unterminated' "$dir/told"
	sed "s|</svg>|<script>//</script>&|" "$dir/flame.svg" >"$dir/with.svg"
	chromium --virtual-time-budget=3000 --dump-dom "file://$dir/with.svg#s=function_(" >"$dir/dom"
	grep -oi '>not a valid expression: unterminated[^<]*' "$dir/dom"
	! grep -q '>matched [0-9]' "$dir/dom"
	with '' '#s=nginx(' timeline.html
	grep -oi '>not a valid expression: unterminated[^<]*' "$dir/dom"
	! grep -q '0 threads' "$dir/dom"
	with '' '#s=nginx' timeline.html
	grep -o '>4 threads and [0-9]* stacks match' "$dir/dom"
}

# Of a script of a user in a timeline: keys, clicks, and the names at the left of what was drawn last.
user="const canvas = document.querySelector('canvas'); canvas.setPointerCapture = () => {}; const click = (x, y) => { const b = canvas.getBoundingClientRect(); for (const type of ['pointerdown', 'pointerup']) canvas.dispatchEvent(new PointerEvent(type, { clientX: b.left + x, clientY: b.top + y, bubbles: true })); }; let seen = []; const draws = CanvasRenderingContext2D.prototype.fillText; CanvasRenderingContext2D.prototype.fillText = function (text, x, y) { if (x === 6 \&\& y > 40) seen.push(text); draws.call(this, text, x, y); }; const clears = CanvasRenderingContext2D.prototype.fillRect; CanvasRenderingContext2D.prototype.fillRect = function (x, y, w, h) { if (!x \&\& !y \&\& h > 100) seen = []; clears.call(this, x, y, w, h); }; const tell = () => setTimeout(() => { dispatchEvent(new Event('resize')); setTimeout(() => { document.title = 'seen ' + seen.join('~'); }, 300); }, 500);"

# uses SCRIPT [HASH [PAGE]]: the names that a timeline then has, in seen, and its details, in what
uses()
{
	# no time passes for frames here
	sed 's|<body>|&<script>requestAnimationFrame = (f) => setTimeout(f, 0);</script>|' \
		"$dir/${3:-timeline.html}" >"$dir/used.html"
	with "$user $1 tell();" "$2" used.html
	sed -n 's/.*<title>seen \([^<]*\)<.*/\1/p' "$dir/dom" | head -n 1 | tr '~' '\n' >"$dir/seen"
	sed -n 's/.*<p class="what">\([^<]*\)<.*/\1/p' "$dir/dom" >"$dir/what"
	sed 's/^/what: /' "$dir/what"
}

# Processes by what gprofctl wall says of their threads: NAME THREADS and ns on CPUs, without one,
# waiting; the one that ran longest first.  Here threads of a name are those of a process.
processes_by_wall()
{
	gprofctl wall "$1" -n 0 --json | tr ',' '\n' | awk -F '"' '
		$2 == "comm" { name = $4; threads[name]++ }
		$2 ~ /_ns$/ {
			ns = substr($3, 3) + 0
			if ($2 == "cpu_ns")
				cpu[name] += ns
			else if ($2 == "runnable_ns" || $2 == "throttled_ns")
				ready[name] += ns
			else if ($2 !~ /^(first|last|elapsed|lost)_ns$/)
				waits[name] += ns
		}
		END {
			for (name in cpu)
				print name, threads[name], cpu[name], ready[name], waits[name]
		}' | grep -v '"' | sort -k 3,3 -n -r
}

# Each process has the sums of its threads, and folds and unfolds them.
processes_fold()
{
	need_browser
	processes_by_wall "$dir/x.trace" >"$dir/wall"
	for nth in 1 2 3; do
		uses "$(seq "$nth" | sed "s/.*/key('g');/" | tr -d '\n')"
		sed -n "${nth}p" "$dir/wall" >"$dir/one"
		sed 's/,//; s/://; s/ on CPUs,//; s/ without one,//; s/ waiting//' "$dir/what" |
			cat "$dir/one" - | awk '
			NR == 1 { for (i = 1; i <= 5; i++) want[i] = $i; next }
			{
				size["s"] = 1e9; size["ms"] = 1e6; size["us"] = 1e3
				if ($2 != want[1] || $3 != want[2])
					exit 1
				for (i = 0; i < 3; i++) {
					got = $(5 + 2 * i) * size[$(6 + 2 * i)]
					if (got < want[3 + i] * 0.9994 || got > want[3 + i] * 1.0006)
						exit 1
					seen++
				}
			}
			END { exit seen != 3 }' || fail "$nth: $(cat "$dir/one")"
	done
	name=$(awk 'NR == 1 { print $1 }' "$dir/wall")
	# the threads stand below the process, and go and come with Enter, with a click, with a link
	uses ''
	[ "$(grep -c "^  [0-9]* $name\$" "$dir/seen")" -eq "$(awk 'NR == 1 { print $2 }' "$dir/wall")" ]
	grep -q "^- [0-9]* $name, " "$dir/seen"
	uses "key('g'); key('Enter');"
	! grep -q "^  [0-9]* $name\$" "$dir/seen"
	grep -q "^+ [0-9]* $name, " "$dir/seen"
	cp "$dir/seen" "$dir/folded"
	uses "key('g'); key('Enter'); key('Enter');"
	grep -q "^  [0-9]* $name\$" "$dir/seen"
	uses "click(300, 40 + 4 * 20 + 5);"
	diff "$dir/folded" "$dir/seen"
	uses '' '#g=0'
	head -n 8 "$dir/folded" | diff - <(head -n 8 "$dir/seen")
	uses "key('e');"
	! grep -q '^  [0-9]' "$dir/seen"
	# of many threads those of the busiest process are unfolded alone
	"$here/trace_load" "$dir/many.trace" 100000 200 4
	gprofctl timeline "$dir/many.trace" -o "$dir/many.html"
	name=$(processes_by_wall "$dir/many.trace" | awk 'NR == 1 { print $1 }')
	uses "key('g'); key('Enter');" '' many.html
	head -n 12 "$dir/seen"
	[ "$(grep -c '^+ ' "$dir/seen")" -ge 5 ]
	! grep -q '^  [0-9]' "$dir/seen"
	uses '' '' many.html
	grep -q "^  [0-9]* $name\$" "$dir/seen"
}

# chains PAGE TRACE LEAST: what a page says of the longest wait of each thread, and of one in the
# middle, is what gprofctl why says of it, line by line
chains()
{
	with "const m = timelineModel(JSON.parse(document.getElementById('data').textContent)), w = timelineWhy(m); const all = []; for (const row of m.rows) { const p = !row.isCpu \&\& !row.head \&\& m.piecesOf(row, 0); let best = -1, some = -1; for (let i = 0; p \&\& i < p.nr; i++) { if (!m.isWait(p.part[i])) continue; if (best < 0 \|\| p.begin[i + 1] - p.begin[i] > p.begin[best + 1] - p.begin[best]) best = i; if (i < p.nr / 2) some = i; } for (const i of [best, some]) { const lines = i >= 0 \&\& w.linesOf(row, p.part[i], p.begin[i], p.begin[i + 1]); if (lines) all.push(m.whyCommand(row, p.begin[i], p.begin[i + 1]), ...lines); } } const pre = document.createElement('pre'); pre.id = 'chains'; pre.textContent = all.join(String.fromCharCode(10)); document.body.appendChild(pre);" '' "$1"
	sed -n '/<pre id="chains">/,/<\/pre>/p' "$dir/dom" |
		sed 's/.*<pre id="chains">//; s/<\/pre>.*//; s/\&lt;/</g; s/\&gt;/>/g; s/\&amp;/\&/g' >"$dir/page"
	grep '^gprofctl why ' "$dir/page" >"$dir/asked"
	nr=0
	while read -r why; do
		echo "$why"
		(cd "$dir" && $why -n 0) 2>"$dir/err"
		nr=$((nr + 1))
	done <"$dir/asked" >"$dir/command"
	echo "$nr waits, $(wc -l <"$dir/page") lines, of $2"
	diff "$dir/command" "$dir/page" | head -n 20
	cmp "$dir/command" "$dir/page"
	[ "$nr" -ge "$3" ]
}

timeline_tells_why()
{
	need_browser
	chains timeline.html x.trace 70
	grep -q ' and wakes ' "$dir/page"
	grep -q '^In sum:' "$dir/page"
	grep -q ' times in turn' "$dir/page"
	# by a click on a wait, and a key or the button; what is told has the command too
	click="click(300, 40 + 4 * 20 + 36 + 5);"
	uses "$click key('y');" '#t=840000000-850000000'
	grep -o '<pre class="why">.*' "$dir/dom" | tee "$dir/told"
	head=$(sed 's/<[^>]*>//g; s/ for .*//' "$dir/told")
	[ "$head" ] && grep -qF "$head" "$dir/what"
	uses "$click [...document.querySelectorAll('.link')].find((b) => b.textContent === 'why it waited').click();" \
		'#t=840000000-850000000'
	grep -o '<pre class="why">.*' "$dir/dom" | diff "$dir/told" -
	# a page that joined pieces says which command has them
	"$here/trace_load" "$dir/many.trace" 2000000 600 8
	gprofctl timeline "$dir/many.trace" -o "$dir/many.html"
	uses "click(400, 40 + 8 * 20 + 36 + 5); for (let k = 0; k < 50 \&\& !document.querySelector('.link'); k++) key('.'); key('y');" \
		'#t=2000000000-2000001000' many.html
	part=$(grep -o 'This box is [0-9]* waits; gprofctl timeline many.trace [^<]* draws' "$dir/dom")
	echo "$part"
	part=${part#*; }
	(cd "$dir" && ${part% draws})
	[ "$(grep -c '^"resolution":1,' "$dir/part.html")" = 1 ]
	# of a part of the trace: waits that lie within it
	gprofctl timeline "$dir/x.trace" -o "$dir/part.html" --from +1 --to +1.4 --title x.trace
	chains part.html x.trace 30
}

# ruler HASH: what it says of that part of the trace, one text a line, in ruler: first the place
# that is the base
ruler()
{
	sed "s|<body>|&<script>let said = []; const draws = CanvasRenderingContext2D.prototype.fillText; CanvasRenderingContext2D.prototype.fillText = function (text, x, y) { if (y === 12 \&\& x === 6) said = [text]; if (y === 28) said.push(text); draws.call(this, text, x, y); }; addEventListener('load', () => { document.title = 'ruler ' + said.join('/'); });</script>|" \
		"$dir/timeline.html" >"$dir/with.html"
	chromium --window-size="$width,600" --dump-dom "file://$dir/with.html$1" >"$dir/dom"
	sed -n 's/.*<title>ruler \([^<]*\)<.*/\1/p' "$dir/dom" | tr / '\n' >"$dir/ruler"
	tr '\n' ' ' <"$dir/ruler"
	echo "($1, $width)"
}

# The base that is told and each label are a place, and places of neighbours a step apart.
ruler_tells_places()
{
	need_browser
	width=1400
	ruler '#c=s'
	grep -qx '1.000040000 s' "$dir/ruler"
	grep '^+' "$dir/ruler" | head -n 4 | diff - <(printf '+%s s\n' 0.0 0.5 1.0 1.5)
	ruler '#c=s&t=840920000-840926000'
	grep -qx '1.000040000 s +840 ms' "$dir/ruler"
	grep '^+' "$dir/ruler" | head -n 3 | diff - <(printf '+%s us\n' 920 921 922)
	ruler '#c=s&t=840922100-840922900'
	grep -qx '1.000040000 s +840 ms' "$dir/ruler"
	grep '^+' "$dir/ruler" | head -n 3 | diff - <(printf '+%s us\n' 922.1 922.2 922.3)
	for width in 390 700 2500; do
		for part in 0-3180878146 2840000000-2856000000 2840922000-2840924000 2840922120-2840922320; do
			ruler "#c=s&t=$part"
			awk -v from="${part%-*}" -v to="${part#*-}" -v width="$width" '
				BEGIN { ns["s"] = 1e9; ns["ms"] = 1e6; ns["us"] = 1e3; ns["ns"] = 1 }
				NR == 1 {
					base = NF == 4 ? substr($3, 2) * ns[$4] : 0
					next
				}
				{
					at = base + substr($1, 2) * ns[$2]
					if (at < from - 0.5 || at > to + 0.5 || (NR > 2 && at <= last))
						bad = 1
					step[NR] = at - last
					last = at
				}
				END {
					for (i = 5; i <= NR; i++)
						if (step[i] < step[4] - 0.5 || step[i] > step[4] + 0.5)
							bad = 1
					exit bad || NR < (width > 600 ? 4 : 2)
				}' "$dir/ruler" || fail "$part at $width"
		done
	done
}

# wall_of NS DIGITS: the wall clock, so many ns after the trace began, by its first clock and event
wall_of()
{
	gprofctl read "$dir/x.trace" --json | sed -n '2p;3p' >"$dir/begin"
	number() { sed -n "${2}s/.*\"$1\": \([0-9]*\).*/\1/p" "$dir/begin"; }
	at=$(($(number wall_sec 1) * 1000000000 + $(number wall_nsec 1) - $(number trace_ns 1) +
	     $(number time_ns 2) + $1))
	frac=$(printf %09d $((at % 1000000000)))
	TZ=$zone date -d "@$((at / 1000000000))" "+%Y-%m-%d %H:%M:%S${2:+.$(echo "$frac" | cut -c "-$2")}"
}

# The page has the time of day of the trace, in the zone where the page was made.
timeline_tells_the_wall_clock()
{
	need_browser
	zone=XST-5:45 width=1400
	TZ=$zone gprofctl timeline "$dir/x.trace" -o "$dir/timeline.html"
	ruler '#'
	[ "$(head -n 1 "$dir/ruler")" = "$(wall_of 0 | cut -d ' ' -f 1) +05:45 XST" ]
	grep -x '[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[05]' "$dir/ruler" | head -n 6 >"$dir/times"
	# a tick at each whole half second
	now=$(wall_of 0 9)
	awk -v began="${now#* }" '
		function second(text, t) { split(text, t, ":"); return t[1] * 3600 + t[2] * 60 + t[3] }
		NR == 1 { first = second($1) - second(began); ok = first >= 0 && first < 0.5 }
		NR > 1 && second($1) - last != 0.5 { ok = 0 }
		{ last = second($1) }
		END { exit !ok || NR < 6 }' "$dir/times" || fail "$now: $(cat "$dir/times")"
	for from in 840922100 2840922120; do
		ruler "#t=$from-$((from + 800))"
		base=$(head -n 1 "$dir/ruler")
		label=$(sed -n 2p "$dir/ruler")
		# the base is a whole millisecond or microsecond, and both add up to a place in the view
		case $label in
		*us) digits=3 ns=$(echo "$label" | awk '{ printf "%d", substr($1, 2) * 1000 }') ;;
		*ns) digits=6 ns=$(echo "$label" | awk '{ printf "%d", substr($1, 2) }') ;;
		*) fail "$label" ;;
		esac
		[ "$base" = "$(wall_of "$from" "$digits") +05:45 XST" ]
		began=$(wall_of "$from" 9)
		off=$((10#${began#*.} % (digits == 3 ? 1000000 : 1000)))
		[ "$ns" -ge "$off" ] && [ "$ns" -le $((off + 800)) ]
	done
	# and so have the details, until seconds are wanted
	uses "click(300, 40 + 4 * 20 + 36 + 5);" '#t=840000000-850000000'
	grep -o '<p class="wall">[^<]*' "$dir/dom" | tee "$dir/told"
	begin=$(sed -n 's/.*<p class="note">from +\([0-9]*\)\.\([0-9]*\) ms to.*/\1\2/p' "$dir/dom")
	[ "$begin" -gt 0 ]
	grep -qF "<p class=\"wall\">$(wall_of "$begin" 9) to " "$dir/told"
	grep -qF ' +05:45 XST' "$dir/told"
	uses "click(300, 40 + 4 * 20 + 36 + 5); key('c');" '#t=840000000-850000000'
	! grep -q '<p class="wall">' "$dir/dom"
	gprofctl timeline "$dir/x.trace" -o "$dir/timeline.html"
}

# The samples of the trace from one time to another, of the threads named NAME: [tid, ns since the
# begin, frames].  samples_by_read FROM TO NAME
samples_by_read()
{
	gprofctl read "$dir/s.trace" --json --stacks >"$dir/events"
	tids=$(gprofctl wall "$dir/s.trace" -n 0 --json | sed -n "s/.*\"tid\": \([0-9]*\), \"comm\": \"$3\".*/\1/p")
	begin=$(sed -n '3s/.*"time_ns": \([0-9]*\).*/\1/p' "$dir/events")
	grep '"StackSample"' "$dir/events" |
		sed 's/{"pc": [0-9]*, "function": "\([^"]*\)"[^}]*}/\1/g
			s/.*"time_ns": \([0-9]*\).*"goroutine": \([0-9]*\), "stack": \[\(.*\)\].*/\2 \1 \3/
			s/,//g' |
		awk -v tids="$tids" -v begin="$begin" -v from="$1" -v to="$2" '
			BEGIN { n = split(tids, t); while (n) of[t[n--]] = 1 }
			of[$1] && $2 - begin >= from && $2 - begin < to { $2 -= begin; print }'
}

# The functions in the table of the page: self, total, name
hot()
{
	sed 's/<tr>/\n<tr>/g' "$dir/dom" |
		sed -n 's/^<tr><td>\([0-9]*\)<.*<td>\([0-9]*\)<\/td><td>[^<]*<\/td><td>\([^<]*\)<.*/\1 \2 \3/p'
}

# CPU samples: how many there are, where, and in which functions.
samples_are_told()
{
	need_browser
	"$here/trace_load" "$dir/s.trace" 200000 40 4 997
	gprofctl timeline "$dir/s.trace" -o "$dir/s.html"
	name=$(processes_by_wall "$dir/s.trace" | awk 'NR == 1 { print $1 }')
	# of a process, and all of the trace: those of gprofctl wall
	gprofctl wall "$dir/s.trace" -o "$dir/s.pb.gz"
	gprofctl csv "$dir/s.pb.gz" --type stretches --label reason=cpu --comm "$name" |
		awk -F, 'NR > 1 { print $4, $6, $1 }' | sort -k 1,1nr -k 2,2nr | head -n 10 | sort >"$dir/want"
	uses "key('g');" '' s.html
	hot | sort | tee "$dir/got" | diff "$dir/want" -
	[ "$(wc -l <"$dir/want")" -ge 5 ]
	nr=$(samples_by_read 0 1e12 "$name" | wc -l)
	[ "$nr" -gt 500 ]
	grep -qF "in the span that is shown: $nr CPU samples<" "$dir/dom"
	# of the span that is shown
	nr=$(samples_by_read 1000000000 1300000000 "$name" | wc -l)
	[ "$nr" -gt 10 ]
	uses "key('g');" '#t=1000000000-1300000000' s.html
	grep -qF "in the span that is shown: $nr CPU samples<" "$dir/dom"
	# of one thread, by a click on a mark of its strip, which is below the first process
	tid=$(sed -n '/^- /{n;s/^  \([0-9]*\) .*/\1/p;q}' "$dir/seen")
	samples_by_read 1000000000 1300000000 "$name" | grep "^$tid " >"$dir/of"
	at=$(awk 'NR == 2 { print $2 }' "$dir/of")
	uses "const c = canvas.clientWidth, g = c < 1000 ? 150 : 230; click(g + (c - g) / 2, 40 + 4 * 20 + 36 + 16 + 5);" "#t=$((at - 50000))-$((at + 50000))" s.html
	grep -q "^$tid $name: CPU sample at " "$dir/what"
	sed -n '/<pre>/,/<\/pre>/p' "$dir/dom" | sed 's/.*<pre>//; s/<\/pre>.*//' | tr '\n' ' ' | tee "$dir/got"
	[ "$(cat "$dir/got")" = "$(sed -n '2s/[0-9]* [0-9]* //p' "$dir/of") " ]
	grep -qF "hot functions of $tid $name in the span that is shown: 1 CPU samples<" "$dir/dom"
	# a trace without them has neither
	! grep -q '"samples":' "$dir/timeline.html"
	uses "key('g');"
	! grep -q 'in the span that is shown: [0-9]' "$dir/dom"
}

# The trace that a Go program wrote of itself: its goroutines by the function that they began with.
timeline_of_a_go_program()
{
	need_browser
	[ -x "$vm/../tracing/trace_go/tools" ] || skip "no selftests/vm in PATH"
	for version in 1.23 1.26; do
		go=$("$vm/../tracing/trace_go/tools" $version) || skip "Go $version cannot be fetched here"
		"$go/load" "$dir/go.trace" 0.3
		gprofctl timeline "$dir/go.trace" -o "$dir/go.html"
		gprofctl read "$dir/go.trace" --summary | sed -n '/ms  *runnable/,$p' | head -n 3
		# the goroutine that ran longest, which go tool trace would say too
		read -r ran _ _ _ id name < <(gprofctl read "$dir/go.trace" --summary |
			sed -n '/ms  *runnable/{n;p}')
		wall=$(gprofctl wall "$dir/go.trace" --json -n 0 | sed -n "s/.*\"tid\": $id, .*\"cpu_ns\": \([0-9]*\).*/\1/p")
		echo "$version: $id $name ran for $ran ms, by gprofctl wall for $wall ns"
		awk -v ran="$ran" -v wall="$wall" 'BEGIN { d = ran * 1e6 - wall; exit d > 600 || d < -600 }'
		# before a search, which scrolls to the goroutine
		uses ';' '' go.html
		grep -qx 'P 1' "$dir/seen"
		uses "document.querySelector('input').value = '^$id '; document.querySelector('input').dispatchEvent(new Event('input')); document.body.focus(); const more = document.createElement('button'); document.body.appendChild(more); more.focus(); key('n');" '' go.html
		grep -o '<p class="note">[^<]*' "$dir/dom" | tee "$dir/told"
		grep -qF "$id $name: cpu $(awk -v ns="$wall" 'BEGIN { printf "%#.4g ms", ns / 1e6 }')" "$dir/told"
		grep -qF "Ps. Switches of OS threads are not in it" "$dir/go.html"
		# from 1.25 on Go tells the wall clock
		wall=$(grep -c '^"wall":null' "$dir/go.html" || :)
		[ "$wall" -eq "$([ $version = 1.23 ] && echo 1 || echo 0)" ]
	done
}

# fits PAGE WIDTH SCRIPT: what SCRIPT finds in a window as wide as that, "" where all is well
fits()
{
	sed "s|</body>|<script>addEventListener('load', () => setTimeout(() => { const box = (s) => document.querySelector(s).getBoundingClientRect(); document.title = 'bad: ' + [$3].filter((x) => x); }, 300));</script></body>|" \
		"$dir/$1" >"$dir/with.html"
	chromium --virtual-time-budget=3000 --window-size="$2",600 --dump-dom "file://$dir/with.html$4" >"$dir/dom"
	grep -o '<title>bad: [^<]*' "$dir/dom" | tee "$dir/told"
	grep -qx '<title>bad: ' "$dir/told" || fail "$1 at $2"
}

# Nothing sticks out of the window, or lies on something else, also of a page that is scrolled.
narrow_windows_cut_nothing()
{
	need_browser
	for width in 390 800; do
		fits diff.html $width "box('#tools').right > innerWidth \&\& 'tools', box('.tools input').right > innerWidth \&\& 'search', box('.head').right > box('.tools button').left \&\& 'title', box('#bar .note').right > innerWidth \&\& 'note', box('#culled').right > innerWidth \&\& 'culled'"
		fits page.html $width "void scrollTo(0, 900), document.documentElement.scrollWidth > innerWidth \&\& 'wide', box('.bar').bottom > box('th').top + 1 \&\& 'head below tools', box('th').top < -1 \&\& 'head'" '#v=table'
		fits rich.html $width "[...document.querySelectorAll('#tree button')].some((b) => b.getBoundingClientRect().right > innerWidth) \&\& 'name'" '#v=processes'
	done
}

# take NAME SIZE PAGE [OPTION]: a picture, which is not of one colour
take()
{
	chromium --hide-scrollbars --virtual-time-budget=3000 --window-size="$2" ${4:+"$4"} \
		--screenshot="$out/$1.png" "file://$dir/$3" >/dev/null
	[ "$(wc -c <"$out/$1.png")" -gt 8000 ] || fail "$1: nothing is drawn"
	echo "$out/$1.png"
}

# The states that stand beside each other most differ in lightness too.
states_differ_in_grey()
{
	need_browser
	with "const grey = (c) => { const [r, g, b] = c.match(/[0-9]+/g).map(Number); return Math.round(0.2126 * r + 0.7152 * g + 0.0722 * b); }; const of = (name) => [...document.querySelectorAll('.legend button')].find((b) => b.textContent.trim().startsWith(name)).querySelector('i'); document.title = 'greys ' + ['cpu', 'runnable'].map((name) => grey(getComputedStyle(of(name)).backgroundColor)).join(' ');" '' timeline.html
	sed -n 's/.*<title>greys \([0-9 ]*\)<.*/\1/p' "$dir/dom" | head -n 1 | tee "$dir/told"
	awk '{ d = $1 - $2; exit !(d > 40 && $2 > 64) }' "$dir/told"
}

# as eyes see them that tell no red from green, or no colours
as_eyes()
{
	# deuteranopia: Machado 2009, severity 1; grey: what each colour's light is
	sed "s|<body>|<body><svg width='0' height='0' style='position:absolute'><filter id='eyes'><feColorMatrix values='$1'/></filter></svg><style>html { filter: url(#eyes); }</style>|" \
		"$dir/$3.html" >"$dir/eyes.html"
	take "$2" 1400,900 "eyes.html$4"
}

pictures_are_taken()
{
	need_browser
	take view-light-800 800,900 page.html
	take view-dark-2500 2500,1200 "page.html#v=inverted&s=function_1" --force-dark-mode
	take view-sandwich 1400,900 "page.html#v=sandwich&f=function_5"
	take view-table 800,900 "page.html#v=table"
	take view-phone 390,800 "page.html#v=table"
	take view-span 1400,900 "rich.html#span=200000000-400000000"
	take view-span-dark 400,800 "rich.html#span=200000000-400000000" --force-dark-mode
	small | program prog -g
	samples_of prog src.pb 1000
	gprofctl view "$dir/src.pb" --source -o "$dir/src.html"
	take view-source 1400,700 "src.html#l=f_one"
	take view-assembly-dark 1400,700 "src.html#asm=f_one" --force-dark-mode
	take view-source-phone 400,800 "src.html#l=f_one"
	take view-assembly-phone-dark 400,800 "src.html#asm=f_one" --force-dark-mode
	take view-processes 1400,900 "rich.html#v=processes" --force-dark-mode
	take view-processes-phone 400,800 "rich.html#v=processes"
	take timeline-whole 1400,500 timeline.html
	take timeline-zoomed 700,400 "timeline.html#t=840922100-840922900"
	take timeline-dark 2500,800 "timeline.html#t=1500000000-1900000000" --force-dark-mode
	take diff-phone 390,800 diff.html
	take flame-light-800 800,500 "flame.svg#s=function_1"
	take flame-dark-2500 2500,1000 flame.svg --force-dark-mode
	take diff-light 1400,900 diff.html
	take diff-dark 1400,900 diff.html --force-dark-mode
	as_eyes '0.367 0.861 -0.228 0 0 0.280 0.673 0.047 0 0 -0.012 0.043 0.969 0 0 0 0 0 1 0' view-deuteranopia rich
	as_eyes '0.213 0.715 0.072 0 0 0.213 0.715 0.072 0 0 0.213 0.715 0.072 0 0 0 0 0 1 0' view-grey rich
	as_eyes '0.213 0.715 0.072 0 0 0.213 0.715 0.072 0 0 0.213 0.715 0.072 0 0 0 0 0 1 0' timeline-grey timeline '#t=1500000000-1900000000'
	as_eyes '0.213 0.715 0.072 0 0 0.213 0.715 0.072 0 0 0.213 0.715 0.072 0 0 0 0 0 1 0' view-source-grey src '#l=f_one'
}

# From its start to what stands on the screen, of 100,000 boxes: the best of five, for a
# browser also does other things when it begins.
large_page_is_drawn_soon()
{
	need_browser
	"$here/views_load" "$dir/large.pb.gz" 20000 20000
	gprofctl view "$dir/large.pb.gz" -o "$dir/page.html"
	nodes=$(grep -o '"parents":\[[^]]*' "$dir/page.html" | tr , '\n' | wc -l)
	# time stands still for no script here
	sed "s|</body>|<script>document.body.offsetHeight; document.title = 'drawn ' + Math.round(performance.now());</script></body>|" \
		"$dir/page.html" >"$dir/with.html"
	best=99999
	for _ in 1 2 3 4 5; do
		chromium --dump-dom "file://$dir/with.html" >"$dir/dom"
		ms=$(sed -n 's/.*<title>drawn \([0-9]*\)<.*/\1/p' "$dir/dom" | head -n 1)
		echo "$nodes boxes: ${ms:-not} ms"
		[ "${ms:-99999}" -ge "$best" ] || best=$ms
	done
	[ "$nodes" -ge 100000 ] && [ "$best" -lt "${PAINT_MS:-1000}" ]
}

ktap_run profiles_are_made table_is_that_of_gprofctl_top kinds_of_code_are_told_apart \
	processes_are_a_tree a_span_of_time_chooses values_can_be_chosen filters_choose \
	keys_suffice sources_are_those_of_list_and_disasm sources_are_only_text a_live_page_renews_itself link_has_the_zoom back_goes_back bad_expressions_are_told processes_fold \
	timeline_tells_why ruler_tells_places timeline_tells_the_wall_clock \
	timeline_of_a_go_program samples_are_told narrow_windows_cut_nothing states_differ_in_grey pictures_are_taken \
	large_page_is_drawn_soon
