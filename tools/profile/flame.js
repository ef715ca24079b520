// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Zoom and search in a flame graph that gprofctl drew. The picture is complete
 * without this script; with it, frames are drawn anew from the data, for the
 * width of the window and the part that is zoomed into.
 */
(function () {
	"use strict";

	const SVG = "http://www.w3.org/2000/svg";
	const HTML = "http://www.w3.org/1999/xhtml";
	const svg = document.currentScript.closest("svg");
	const data = JSON.parse(svg.querySelector("#data").textContent);
	const box = svg.querySelector("#frames");
	const details = svg.querySelector("#details");
	const culled = svg.querySelector("#culled");
	const matched = svg.querySelector("#matched");
	const bar = svg.querySelector("#bar");
	/* Elements whose text may be wider than the window, and their full texts. */
	const head = bar.querySelector(".head"), title = head.textContent;
	const note = bar.querySelector(".note"), about = note.textContent;
	const comments = [...svg.querySelectorAll("text.note")].filter((e) => !bar.contains(e))
		.map((e) => ({ element: e, text: e.textContent }));
	const alone = svg === document.documentElement || svg.parentNode === document.body;
	const kinds = "ukij";

	/* One entry a node, in the order of drawing: parents first, then their children. */
	const frame = [], parent = [], depth = [], start = [], total = [], self = [], end = [], base = [];

	/* The nodes that fill the width: the siblings from first to last with all below them. */
	let first = 0, last = 0;
	let pattern = "", invalid = "";
	let matches = null;
	let width = data.width;
	let column = data.column;
	let input;

	/* node := "(" frame [":" value [":" base]] node* ")", numbers to base 36 */
	function readTree(text) {
		let open = -1, at = 0;

		for (const part of text.match(/\([^()]*|\)/g)) {
			if (part === ")") {
				end[open] = frame.length;
				at += self[open];
				total[open] = at - start[open];
				if (parent[open] >= 0)
					base[parent[open]] += base[open];
				open = parent[open];
			} else {
				const [name, value, old] = part.slice(1).split(":");
				const node = frame.length;

				frame.push(parseInt(name, 36));
				self.push(value ? parseInt(value, 36) : 0);
				base.push(old ? parseInt(old, 36) : 0);
				parent.push(open);
				depth.push(open < 0 ? 0 : depth[open] + 1);
				start.push(at);
				open = node;
			}
		}
	}

	function shown() {
		return start[last] + total[last] - start[first];
	}

	/* As human() of the command. */
	function valueText(value) {
		const [least, size, name] = data.units.find(u => Math.abs(value) >= u[0]);
		const n = value / size, digits = !least || Math.abs(n) >= 99.95 ? 0 : Math.abs(n) >= 9.995 ? 1 : 2;

		return n.toFixed(digits) + (value ? name : "");
	}

	function percentText(value, whole) {
		return (whole ? 100 * value / whole : 0).toFixed(2) + "%";
	}

	function signed(value) {
		return (value > 0 ? "+" : "") + value.toFixed(2) + "%";
	}

	/* Of a difference, as wide as both profiles together are. */
	function describeChange(i) {
		const now = total[i] - base[i];

		return data.frames[frame[i]][0] + ": " + valueText(base[i]) + " before, " +
			valueText(now) + " now" +
			(base[i] ? ", " + signed(100 * (now - base[i]) / base[i]) : "") +
			(base[0] ? "; " + signed(100 * (now - base[i]) / base[0]) + " of all before" : "");
	}

	function describe(i) {
		const [name, mapping] = data.frames[frame[i]];

		if (data.diff)
			return describeChange(i);
		let text = name + (mapping ? " [" + mapping + "]" : "") + ": " +
			valueText(total[i]) + ", " + percentText(total[i], total[0]);

		if (self[i] && self[i] !== total[i])
			text += "; itself " + valueText(self[i]) + ", " +
				percentText(self[i], total[0]);
		if (first && i > first && i < end[last])
			text += "; " + percentText(total[i], shown()) + " of what is shown";
		return text;
	}

	function make(name, attributes, parentNode) {
		const e = document.createElementNS(SVG, name);

		for (const key in attributes)
			e.setAttribute(key, attributes[key]);
		parentNode.appendChild(e);
		return e;
	}

	/* The same clipping as in the picture: the part that fits, and ".." for the rest. */
	function clip(text, room) {
		const columns = Math.floor((room - 6) / column);
		let used = 0, out = "";

		if (columns < 3)
			return "";
		for (const c of text)
			used += c.codePointAt(0) >= 0x1100 ? 2 : 1;
		if (used <= columns)
			return text;
		used = 2;
		for (const c of text) {
			used += c.codePointAt(0) >= 0x1100 ? 2 : 1;
			if (used > columns)
				break;
			out += c;
		}
		return out + "..";
	}

	/* As in the file: "a", or more or less by how much. */
	function change(i) {
		const now = total[i] - base[i], larger = Math.max(now, base[i]);
		const by = larger ? Math.abs(now - base[i]) / larger : 0;

		return !i || by < 0.05 ? "a" : (now > base[i] ? "g" : "l") +
			(by < 0.25 ? 0 : by < 0.5 ? 1 : by < 0.75 ? 2 : 3);
	}

	function labelOf(i) {
		const sign = data.diff ? { g: "+ ", l: "- ", a: "" }[change(i)[0]] : "";

		return sign + data.frames[frame[i]][0];
	}

	function shade(i) {
		const [, , kind, tone] = data.frames[frame[i]];

		if (data.diff)
			return change(i);
		return i === 0 ? "a" : kinds[kind] + tone;
	}

	function addBox(x, w, level, rectClass, groupClass, title) {
		const g = make("g", { class: groupClass }, box);

		make("rect", { class: rectClass, x: (data.margin + x).toFixed(2),
			       y: data.top + level * data.row,
			       width: (w > 2 ? w - 0.6 : w).toFixed(2),
			       height: data.row - 1, rx: 1 }, g);
		make("title", {}, g).textContent = title;
		return g;
	}

	function addFrame(i, x, w, above) {
		const hit = matches && matches[frame[i]];
		const g = addBox(x, w, depth[i], shade(i),
				 (hit ? "m" : "") + (above ? " above" : ""), describe(i));
		const label = clip(labelOf(i), w);

		g.dataset.first = i;
		if (label)
			make("text", { x: (data.margin + x + 3).toFixed(2),
				       y: data.top + depth[i] * data.row + data.row - 5 }, g)
				.textContent = label;
	}

	/* Siblings too narrow to be drawn, as one box: a gap would look like time of the caller. */
	function addRest(rest, x, w) {
		let hit = false;

		for (let i = rest.first; matches && !hit && i < end[rest.last]; i++)
			hit = matches[frame[i]];
		const g = addBox(x, w, depth[rest.first], "r", hit ? "m" : "", rest.nr +
				 " functions: " + valueText(rest.value) + ", " +
				 percentText(rest.value, total[0]) + "; click to see them");

		g.dataset.first = rest.first;
		g.dataset.last = rest.last;
	}

	/* Wider limits hold where there is more to draw than a browser likes. */
	function draw(narrowest = data.narrowest) {
		const inner = width - 2 * data.margin;
		const stop = end[last];
		const from = start[first], whole = start[last] + total[last] - from || 1;
		let rest = null, missing = 0, drawn = 0;

		function flush() {
			const w = rest ? rest.value / whole * inner : 0;

			if (w >= narrowest)
				addRest(rest, (start[rest.first] - from) / whole * inner, w);
			rest = null;
		}

		box.textContent = "";
		for (let i = 0; i < stop;) {
			const above = i < first && end[i] >= stop;
			const w = above ? inner : total[i] / whole * inner;

			if (!above && i < first) {
				i = end[i];
			} else if (above || w >= narrowest) {
				if (++drawn > data.drawnMax) {
					draw(narrowest * 2);
					return;
				}
				flush();
				addFrame(i, above ? 0 : (start[i] - from) / whole * inner, w,
					 above);
				i++;
			} else {
				if (rest && (rest.parent !== parent[i] ||
					     rest.value / whole * inner >= data.widestRest))
					flush();
				if (!rest)
					rest = { first: i, parent: parent[i], value: 0, nr: 0 };
				rest.last = i;
				rest.value += total[i];
				rest.nr++;
				missing += end[i] - i;
				i = end[i];
			}
		}
		flush();
		culled.textContent = !missing ? "" : longest([missing + " frames narrower than " +
			narrowest + " px not drawn, grey stands for them; zoom in to see them",
			missing + " frames not drawn, grey stands for them",
			"grey: not drawn", "grey: rest"], inner - Number(culled.getAttribute("x")));
		tell();
	}

	/* Of texts that say less and less, the first that there is room for. */
	function longest(texts, room) {
		return texts.find((text) => text.length * column <= room) || "";
	}

	/* Of nested matches only the outermost counts: recursion does not count twice. */
	function matchedTotal() {
		let sum = 0;

		for (let i = first; i < end[last];) {
			if (matches[frame[i]]) {
				sum += total[i];
				i = end[i];
			} else {
				i++;
			}
		}
		return sum;
	}

	/* The lines at the top: the frame under the pointer; and beside it the matches. */
	function tell(text) {
		const room = width - 2 * data.margin + 6, sum = matches ? matchedTotal() : 0;
		const bad = invalid && "not a valid expression: " + invalid;

		details.textContent = clip(text || (first && first === last ? describe(first) : data.hint),
					   room);
		matched.textContent = !matches ? "" : bad && !matches.includes(true) ? clip(bad, room) :
			clip((bad && bad + "; as text: ") + "matched " + valueText(sum) + ", " +
			     percentText(sum, shown()) + (first ? " of what is shown" : ""), room);
		note.textContent = clip(about, room - column * (matches ? matched.textContent.length + 2 : 0));
	}

	function remember() {
		const parts = [];

		if (first)
			parts.push("z=" + first + (last !== first ? "-" + last : ""));
		if (pattern)
			parts.push("s=" + encodeURIComponent(pattern));
		try {
			history.replaceState(null, "", "#" + parts.join("&"));
		} catch (e) {
			/* A picture inside another page may not: it then has no link to share. */
		}
	}

	/* Takes only siblings that are there; anything else shows the whole. */
	function setZoom(a, b) {
		const valid = a > 0 && b >= a && b < frame.length && parent[a] === parent[b];

		first = valid ? a : 0;
		last = valid ? b : 0;
	}

	function zoom(a, b) {
		setZoom(a, b);
		remember();
		draw();
	}

	function search(text) {
		let test;

		pattern = text;
		invalid = "";
		matches = null;
		input.classList.remove("bad");
		if (text) {
			try {
				const re = new RegExp(text, "i");

				test = (s) => re.test(s);
			} catch (e) {
				/* Not a regular expression (yet): look for it as it stands. */
				invalid = e.message.replace(/.*: /s, "");
				input.classList.add("bad");
				test = (s) => s.toLowerCase().includes(text.toLowerCase());
			}
			matches = data.frames.map((f) => test(f[0]));
			matches[0] = false;
		}
		remember();
		draw();
	}

	function element(name, attributes, parentNode) {
		const e = document.createElementNS(HTML, name);

		for (const key in attributes)
			e.setAttribute(key, attributes[key]);
		parentNode.appendChild(e);
		return e;
	}

	function reset() {
		input.value = "";
		setZoom(0, 0);
		search("");
	}

	function addTools() {
		const place = make("foreignObject",
				   { id: "tools", y: 6, height: 30, width: 400 }, svg);
		const row = element("div", { class: "tools" }, place);
		const button = element("button",
				       { type: "button", title: "whole picture (Esc)" }, row);

		button.textContent = "reset";
		button.addEventListener("click", reset);
		input = element("input", { type: "search", placeholder: "search (Ctrl-F), regexp",
					   "aria-label": "search" }, row);
		input.addEventListener("input", () => search(input.value));
	}

	/* The width of a scroll bar, which a picture in a window of its own has to leave free. */
	function scrollBar() {
		const place = make("foreignObject", { width: 100, height: 100, y: -200 }, svg);
		const probe = element("div", { style: "overflow-y: scroll; width: 100px; height: 50px" },
				      place);
		const taken = probe.offsetWidth - probe.clientWidth;

		place.remove();
		return taken;
	}

	/* Head and tools stay in sight. */
	function follow() {
		const y = alone ? Math.max(0, window.scrollY) : 0;

		bar.setAttribute("transform", "translate(0," + y + ")");
		svg.querySelector("#tools").setAttribute("y", 6 + y);
	}

	function resize() {
		if (alone)
			width = Math.max(320, window.innerWidth -
					 (data.height > window.innerHeight ? scrollBar() : 0));
		svg.setAttribute("width", width);
		svg.setAttribute("viewBox", "0 0 " + width + " " + data.height);
		svg.querySelectorAll(".paper").forEach((e) => e.setAttribute("width", width));
		const forTools = Math.min(300, 0.55 * width);

		svg.querySelector("#tools").setAttribute("width", forTools);
		svg.querySelector("#tools").setAttribute("x", width - data.margin - forTools);
		/* Its letters are 16 px high where others are 12. */
		head.textContent = clip(title, (width - forTools - 3 * data.margin) * 0.75 + 6);
		comments.forEach((c) => {
			c.element.textContent = clip(c.text, width - 2 * data.margin + 6);
		});
		matched.setAttribute("x", width - data.margin);
		follow();
		draw();
	}

	function measure() {
		const probe = make("text", { x: 0, y: -50 }, box);

		probe.textContent = "0".repeat(100);
		column = probe.getComputedTextLength() / 100 || data.column;
		probe.remove();
	}

	function restore() {
		const wanted = new URLSearchParams(location.hash.slice(1));
		const [a, b] = (wanted.get("z") || "0").split("-").map(Number);

		input.value = wanted.get("s") || "";
		setZoom(a, b === undefined ? a : b);
		search(input.value);
	}

	function boxOf(event) {
		return event.target.closest("g[data-first]");
	}

	readTree(data.tree);
	addTools();
	measure();
	box.addEventListener("click", (e) => {
		const g = boxOf(e);

		if (g)
			zoom(Number(g.dataset.first), Number(g.dataset.last || g.dataset.first));
	});
	box.addEventListener("mouseover", (e) => {
		const g = boxOf(e);

		tell(g && g.querySelector("title").textContent);
	});
	box.addEventListener("mouseleave", () => tell());
	window.addEventListener("resize", resize);
	window.addEventListener("keydown", (e) => {
		if ((e.ctrlKey || e.metaKey) && e.key === "f" && document.activeElement !== input) {
			e.preventDefault();
			input.focus();
			input.select();
		} else if (e.key === "Escape") {
			reset();
		}
	});
	window.addEventListener("scroll", follow);
	/* A link may have the view, also one that is typed while the picture is open. */
	window.addEventListener("hashchange", () => restore());
	restore();
	resize();
})();
