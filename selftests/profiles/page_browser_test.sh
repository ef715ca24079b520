#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# page_browser_test.sh: what gprofctl view, flame and diff write, in a browser: that it is
# drawn, that keys suffice, how long it takes; and pictures to look at, in OUT (default:
# out/check of the sources).  Runs on the host, with Chromium.

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null # its ktap_run does not return
. "$here/ktap.sh"
need "$here/views_load"
set -o pipefail

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || browser=
vm=$(dirname "$(command -v run 2>/dev/null || echo ./run)")
out=${OUT:-$vm/../../out/check}

need_browser()
{
	[ "$browser" ] || skip "there is no chromium"
	[ -s "$dir/new.pb.gz" ] || skip "no profile was made"
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
	gprofctl view "$dir/new.pb.gz" -o "$dir/page.html"
	gprofctl flame "$dir/new.pb.gz" -o "$dir/flame.svg"
	gprofctl diff "$dir/old.pb.gz" "$dir/new.pb.gz" -o "$dir/diff.html" -n 1 >/dev/null
	! grep -Eq '(src|href)="?https?:' "$dir/page.html" "$dir/diff.html"
}

# with SCRIPT: what the page has after some script of a user
with()
{
	sed "s|</body>|<script>addEventListener('load', () => setTimeout(() => { $1 }, 200));</script></body>|" \
		"$dir/page.html" >"$dir/with.html"
	chromium --virtual-time-budget=3000 --dump-dom "file://$dir/with.html$2" >"$dir/dom"
}

# says WORDS: the line at the bottom does
says()
{
	grep -o '<span id="told"[^<]*>[^<]*<' "$dir/dom" | tee "$dir/told"
	grep -qF -- "$1" "$dir/told"
}

table_is_that_of_gprofctl_top()
{
	need_browser
	# counts: no rounding comes between
	gprofctl view "$dir/new.pb.gz" --type samples -o "$dir/page.html"
	with '' '#v=table'
	# "self total function"
	sed 's/<tr>/\n<tr>/g' "$dir/dom" |
		sed -n 's/^<tr><td>\([0-9,]*\)<.*<td>\([0-9,]*\)<\/td>.*<button[^>]*>\([^<]*\)<.*/\1 \2 \3/p' |
		tr -d , | sort >"$dir/page"
	gprofctl view "$dir/new.pb.gz" -o "$dir/page.html"
	gprofctl csv "$dir/new.pb.gz" --type samples | awk -F, 'NR > 1 { print $4, $6, $1 }' | sort >"$dir/csv"
	wc -l <"$dir/csv"
	[ "$(wc -l <"$dir/csv")" -gt 100 ]
	diff "$dir/page" "$dir/csv"
}

filters_choose()
{
	need_browser
	gprofctl view "$dir/new.pb.gz" --type samples -o "$dir/page.html"
	with '' '#v=table&process=program_7%20(1007)'
	gprofctl view "$dir/new.pb.gz" -o "$dir/page.html"
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
	key="const key = (k) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true, cancelable: true }));"
	go="const c = document.querySelector('canvas'); c.focus();"
	with "$key $go key('ArrowDown'); key('ArrowDown'); key('ArrowDown');"
	says 'function_5'
	with "$key $go key('ArrowDown'); key('ArrowDown'); key('ArrowDown'); key('ArrowRight');"
	says 'function_'
	! grep -q 'function_5 ' "$dir/told"
	with "$key $go key('ArrowDown'); key('ArrowDown'); key('ArrowUp'); key('Enter');"
	says 'function_0 '
	with "$key $go key('ArrowDown'); key('ArrowDown'); key('s');"
	grep -q 'Called by (function_1)' "$dir/dom"
	with "$key key('/'); document.execCommand('insertText', false, 'function_1\$');"
	grep -o '<span id="matched"[^<]*>[^<]*<' "$dir/dom" | tee "$dir/told"
	grep -q 'matched .*%' "$dir/told"
	with "$key $go key('ArrowDown'); key('Escape');" '#s=function_1&v=inverted'
	! grep -q '>matched [0-9]' "$dir/dom"
	# and all that is there can be reached and has a name
	[ "$(grep -o '<canvas[^>]*tabindex="0"[^>]*aria-label="[^"]' "$dir/dom" | wc -l)" -ge 1 ]
	! grep -o '<input[^>]*>' "$dir/dom" | grep -v aria-label
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

# as eyes see them that tell no red from green, or no colours
as_eyes()
{
	# deuteranopia: Machado 2009, severity 1; grey: what each colour's light is
	sed "s|<body>|<body><svg width='0' height='0' style='position:absolute'><filter id='eyes'><feColorMatrix values='$1'/></filter></svg><style>html { filter: url(#eyes); }</style>|" \
		"$dir/page.html" >"$dir/eyes.html"
	take "$2" 1400,900 eyes.html
}

pictures_are_taken()
{
	need_browser
	take view-light-800 800,900 page.html
	take view-dark-2500 2500,1200 "page.html#v=inverted&s=function_1" --force-dark-mode
	take view-sandwich 1400,900 "page.html#v=sandwich&f=function_5"
	take view-table 800,900 "page.html#v=table"
	take view-phone 390,800 "page.html#v=table"
	take diff-phone 390,800 diff.html
	take flame-light-800 800,500 "flame.svg#s=function_1"
	take flame-dark-2500 2500,1000 flame.svg --force-dark-mode
	take diff-light 1400,900 diff.html
	take diff-dark 1400,900 diff.html --force-dark-mode
	as_eyes '0.367 0.861 -0.228 0 0 0.280 0.673 0.047 0 0 -0.012 0.043 0.969 0 0 0 0 0 1 0' view-deuteranopia
	as_eyes '0.213 0.715 0.072 0 0 0.213 0.715 0.072 0 0 0.213 0.715 0.072 0 0 0 0 0 1 0' view-grey
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

ktap_run profiles_are_made table_is_that_of_gprofctl_top filters_choose keys_suffice \
	narrow_windows_cut_nothing pictures_are_taken large_page_is_drawn_soon
