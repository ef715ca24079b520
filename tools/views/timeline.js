// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The page of a timeline: the actions of mouse and keys on the picture, and the details
 * of the selected piece.
 */
(function () {
	"use strict";

	const data = JSON.parse(document.getElementById("data").textContent);
	const model = timelineModel(data);
	const chains = timelineWhy(model);
	/* Pixels a drag has to go to be one. */
	const DRAG = 4;
	const HOT_ROWS = 10;
	const help = [
		["mouse", "drag to pan, Ctrl and the wheel to zoom, a drag on the ruler zooms into that part"],
		["+ - or w s", "zoom in and out"], ["left right or a d", "pan"],
		["up down, PgUp PgDn", "scroll"], ["Home or 0", "all of it"],
		["click", "what a box is, and its stack; a click on a process folds or unfolds it"],
		["click on a mark", "below a thread: the CPU sample there, and its stack"],
		["g and G", "the next process, and the one before; Enter folds or unfolds it, e all"],
		[". and ,", "the next piece of that track, and the one before"],
		["y", "why the chosen thread waited: the threads that it waited for"],
		["k", "on to its waker, at that time"], ["f", "zoom to what was chosen"],
		["c", "the date and time, or seconds since the trace began"],
		["r", "arrows from wakers to their threads, on and off"],
		["/ or Ctrl-F", "search threads and functions, regexp; n and N: next and previous thread"],
		["Esc", "choose nothing, search nothing"],
	];
	let hand = null, waiting = false, range = null, why = null;

	function element(name, attributes, parent, text) {
		const e = document.createElement(name);

		for (const key in attributes)
			e.setAttribute(key, attributes[key]);
		if (text !== undefined)
			e.textContent = text;
		parent.appendChild(e);
		return e;
	}

	const head = element("header", {}, document.body);
	const bar = element("div", { class: "bar" }, head);

	element("h1", {}, bar, data.title);
	const tools = element("div", { class: "tools" }, bar);
	const input = element("input", { type: "search", placeholder: "search (/), regexp",
					 "aria-label": "search threads and functions" }, tools);
	const whole = element("button", { type: "button", title: "all of it (Home)" }, tools, "whole");
	const clock = element("button", { type: "button", title: "date and time, or seconds (c)" }, tools);
	const ask = element("button", { type: "button", title: "keys (?)", "aria-expanded": "false" },
			    tools, "?");
	const legend = element("div", { class: "legend", role: "group", "aria-label": "reasons" }, head);
	const told = element("p", { class: "note" }, head);
	const main = element("main", {}, document.body);
	const canvas = element("canvas", {
		tabindex: 0, role: "application",
		"aria-label": "timeline of " + data.cpus.length + " " + model.cpuWord + "s and " +
			data.tracks.length + " " + model.threadWord + "s over " + model.durationText(data.span) + "; ? lists the keys",
	}, main);
	const band = element("div", { class: "band", hidden: "" }, main);
	const keys = element("dl", { class: "help", hidden: "" }, main);
	const details = element("footer", { "aria-live": "polite", hidden: "" }, document.body);
	const said = element("div", {}, details), hot = element("div", { hidden: "" }, details);
	const picture = timelinePicture(model, canvas);
	const { view, look } = picture;

	/* What the samples of the chosen thread or process say of the span that is shown. */
	function addHot() {
		const of = look.head ? look.head.rows : look.selected && !look.selected.row.isCpu ?
			[look.selected.row] : null;

		hot.textContent = "";
		hot.hidden = !of || !of.some((row) => row.track.samples);
		if (hot.hidden)
			return;
		const { nr, functions } = model.hotFunctions(of, view.from, view.to);
		const share = (n) => (100 * n / nr).toFixed(1) + " %";
		const what = "hot functions of " + (look.head || look.selected.row).text +
			" in the span that is shown: " + nr + " CPU samples" + (data.sampled > 1 ?
			", 1 of " + data.sampled + " of the trace's" : "");

		element("p", { class: "note" }, hot, what);
		if (!nr)
			return;
		const table = element("table", { "aria-label": what }, hot);
		const top = element("tr", {}, element("thead", {}, table));

		for (const name of ["self", "", "total", "", "function"])
			element("th", { scope: "col" }, top, name);
		const body = element("tbody", {}, table);

		for (const [name, self, total] of functions.slice(0, HOT_ROWS)) {
			const row = element("tr", {}, body);

			for (const cell of [self, share(self), total, share(total), name])
				element("td", {}, row, cell);
		}
		if (functions.length > HOT_ROWS)
			element("p", { class: "note" }, hot, functions.length - HOT_ROWS + " functions more");
	}

	function later() {
		if (waiting)
			return;
		waiting = true;
		requestAnimationFrame(() => {
			waiting = false;
			picture.draw();
			if (hot.span !== view.from + "-" + view.to)
				addHot();
			hot.span = view.from + "-" + view.to;
			remember();
		});
	}

	function summary() {
		const parts = [data.cpus.length + " " + model.cpuWord + "s, " + data.tracks.length + " " +
			       model.threadWord + "s, " + model.durationText(data.span)];

		if (data.others.threads)
			parts.push(data.others.threads + " " + model.threadWord + "s more, which did less (" +
				   model.durationText(data.others.ns[0]) + " on " +
				   model.cpuWord + "s), have no track");
		if (data.resolution > 1)
			parts.push("low boxes are of several stretches, each shorter than " +
				   model.durationText(data.resolution));
		return parts.concat(data.notes).join("; ");
	}

	function tell(text) {
		told.textContent = text || summary();
	}

	/* Where a piece begins. */
	function placeText(ns) {
		return look.wall ? "from " + model.wallParts(ns, 6)[1] : "from +" + model.offsetText(ns);
	}

	function setClock(wall) {
		look.wall = wall && model.hasWall;
		clock.hidden = !model.hasWall;
		clock.textContent = look.wall ? "seconds" : "date";
		if (look.selected && look.selected.sample >= 0)
			chooseSample(look.selected.row, look.selected.sample);
		else if (look.selected)
			choose(look.selected.row, look.selected.p, look.selected.i);
		later();
	}

	function zoomTo(from, to) {
		const least = Math.min(100, data.span || 1), most = Math.max(data.span, 1);
		const width = Math.min(most, Math.max(least, to - from));
		const middle = (from + to) / 2;

		view.from = Math.max(0, Math.min(most - width, middle - width / 2));
		view.to = view.from + width;
		later();
	}

	function zoom(factor, x) {
		const at = picture.timeOf(x === undefined ? (view.gutter + view.width) / 2 : x);

		zoomTo(at - (at - view.from) * factor, at + (view.to - at) * factor);
	}

	function pan(share) {
		const width = view.to - view.from;

		zoomTo(view.from + width * share, view.to + width * share);
	}

	function scroll(pixels) {
		view.top += pixels;
		later();
	}

	function show(row) {
		if (row.group && !row.group.open) {
			row.group.open = true;
			picture.place();
		}
		const y = row.y - view.top;

		if (y < picture.RULER || y > view.height - 2 * picture.ROW)
			view.top = row.y - view.height / 2;
		later();
	}

	function jump(thread, time) {
		const row = model.rowOfThread.get(thread);

		if (!row) {
			tell(model.threadName(thread) + " has no track");
			return;
		}
		const p = model.piecesOf(row, 0);
		const i = Math.min(p.nr - 1, model.pieceAt(p, time - 1));

		choose(row, p, i);
		if (time < view.from || time > view.to)
			zoomTo(time - (view.to - view.from) / 2, time + (view.to - view.from) / 2);
		show(row);
		canvas.focus();
	}

	function link(text, parent, act) {
		const button = element("button", { type: "button", class: "link" }, parent, text);

		button.addEventListener("click", act);
		return button;
	}

	/* The chain of a wait; where the page lacks a piece of it, the command that tells it. */
	function tellWhy(row, p, i, into) {
		const begin = p.begin[i], end = p.begin[i + 1], one = p.count[i] === 1;
		const lines = one && chains.linesOf(row, p.part[i], begin, end);
		const command = one ? model.whyCommand(row, begin, end) : model.detailCommand(begin, end);

		if (lines)
			element("pre", { class: "why" }, into, lines.join("\n"));
		else
			element("p", {}, into, (one ? "This page does not have all that led to it; " :
				"This box is " + p.count[i] + " waits; ") + command +
				(one ? " tells it." : " draws them one by one."));
		link("copy the command", into, (e) => {
			e.target.replaceWith(document.createTextNode(command));
			navigator.clipboard?.writeText(command).catch(() => {});
		});
		fit();
	}

	/* A CPU sample of a thread. */
	function chooseSample(row, i) {
		const s = model.samplesOf(row), time = s.time[i], frames = model.framesOf(s.stack[i]);

		look.head = null;
		look.selected = { row, sample: i, begin: time, end: time, waker: -1 };
		begin(row.text + ": CPU sample " + placeText(time).replace("from", "at"));
		element("p", { class: "note" }, said, frames.length ? "where, innermost first" :
			"its stack is not in the page");
		element("pre", {}, said, frames.join("\n"));
		end();
	}

	/* The details begin anew, with a line that says what was chosen; and they are whole. */
	function begin(what) {
		details.hidden = false;
		said.textContent = "";
		element("p", { class: "what" }, said, what);
	}

	function end() {
		addHot();
		fit();
	}

	/* Processes whose fold is not the one that they had at first, by number. */
	function folds() {
		return model.rows.filter((r) => r.head && r.open !== r.opens).map((r) => r.process);
	}

	function chooseHead(head) {
		look.selected = null;
		look.head = head;
		begin(model.headText(head));
		element("p", { class: "note" }, said, "by state: " + model.timesText(head.ns));
		end();
	}

	function fold(head) {
		head.open = !head.open;
		chooseHead(head);
	}

	function foldAll() {
		const heads = model.rows.filter((r) => r.head);
		const open = !heads.some((r) => r.open);

		for (const head of heads)
			head.open = open;
		picture.place();
		later();
	}

	function nextHead(by) {
		const heads = model.rows.filter((r) => r.head);
		const at = heads.indexOf(look.head);

		if (!heads.length) {
			tell("nothing is folded here");
			return;
		}
		chooseHead(heads[(at + by + heads.length + (at < 0 && by < 0 ? 1 : 0)) % heads.length]);
		show(look.head);
	}

	function choose(row, p, i) {
		const wait = !row.isCpu && model.isWait(p.part[i]);
		const from = p.begin[i], to = p.begin[i + 1];
		const waker = !row.isCpu && p.woken[i] ? p.who[i] : -1;

		look.head = null;
		why = null;
		look.selected = { row, p, i, begin: from, end: to, waker, wokenAt: wait ? to : from };
		begin(model.describe(row, p, i));
		if (look.wall)
			element("p", { class: "wall" }, said, model.wallRange(from, to));
		element("p", { class: "note" }, said, "from +" + model.offsetText(from) + " to +" +
			model.offsetText(to) + ", " + model.clockText(from) + " to " +
			model.clockText(to) + " of CLOCK_MONOTONIC");
		const links = element("p", {}, said), answer = element("div", {}, said);

		if (waker >= 0)
			link("to its waker: " + model.threadName(waker), links,
			     () => jump(waker, look.selected.wokenAt));
		if (wait)
			why = link("why it waited", links, (e) => {
				e.target.remove();
				tellWhy(row, p, i, answer);
			});
		if (row.isCpu && p.who[i] >= 0)
			link("to " + model.threadName(p.who[i]), links, () => jump(p.who[i], to));
		const frames = model.stackOf(p, i);

		if (frames.length) {
			element("p", { class: "note" }, said, p.count[i] > 1 ?
				"where the longest was, innermost first" : "where, innermost first");
			element("pre", {}, said, frames.join("\n"));
		}
		end();
	}

	function unchoose() {
		look.selected = look.head = null;
		details.hidden = true;
		fit();
	}

	function step(by) {
		const s = look.selected;

		if (!s || s.sample >= 0)
			return;
		const p = model.piecesOf(s.row, (view.to - view.from) / (view.width - view.gutter));
		const i = model.pieceAt(p, (s.begin + s.end) / 2) + by;

		if (i < 0 || i >= p.nr)
			return;
		choose(s.row, p, i);
		if (p.begin[i] < view.from || p.begin[i + 1] > view.to)
			pan((p.begin[i] - view.from) / (view.to - view.from) - 0.25);
		later();
	}

	function search() {
		const pattern = input.value;

		look.found = pattern ? model.find(pattern) : null;
		input.classList.toggle("bad", Boolean(look.found && look.found.bad));
		if (look.found) {
			const nr = data.tracks.filter((t) => look.found.threads[t.thread]).length;

			const stacks = look.found.stacks.filter(Boolean).length;
			const bad = look.found.bad && "not a valid expression: " + look.found.bad;

			tell(bad && !nr && !stacks ? bad : (bad && bad + "; as text: ") + nr +
			     " threads and " + stacks + " stacks match \"" + pattern + "\"");
		} else {
			tell();
		}
		later();
	}

	function next(by) {
		const hits = model.rows.filter((r) => !r.head && !r.isCpu && look.found &&
					       look.found.threads[r.track.thread]);

		if (!hits.length)
			return;
		const at = hits.indexOf(look.at);

		look.at = hits[(at + by + hits.length + (at < 0 && by < 0 ? 1 : 0)) % hits.length];
		tell(look.at.text + ": " + model.timesText(look.at.track.ns));
		show(look.at);
	}

	function addLegend() {
		legend.textContent = "";
		data.parts.forEach((name, part) => {
			if (!data.tracks.some((t) => t.ns[part]))
				return;
			const b = element("button", { type: "button", title: "show only " + name,
						      "aria-pressed": String(look.only === part) }, legend);
			const box = element("i", {}, b);
			const paint = picture.paintOf(part);

			box.style.backgroundColor = paint.colour;
			box.classList.toggle("hatched", paint.hatched);
			b.appendChild(document.createTextNode(name));
			b.addEventListener("click", () => {
				look.only = look.only === part ? -1 : part;
				addLegend();
				later();
			});
		});
	}

	function fit() {
		picture.resize();
		picture.place();
		later();
	}

	/* A link may have the view. */
	function remember() {
		const parts = [];

		if (view.from > 0 || view.to < data.span)
			parts.push("t=" + Math.round(view.from) + "-" + Math.round(view.to));
		if (input.value)
			parts.push("s=" + encodeURIComponent(input.value));
		if (model.hasWall && !look.wall)
			parts.push("c=s");
		if (folds().length)
			parts.push("g=" + folds().join(","));
		try {
			history.replaceState(null, "", "#" + parts.join("&"));
		} catch (e) {
			/* A page inside another one may not: it then has no link to share. */
		}
	}

	function recall() {
		const wanted = new URLSearchParams(location.hash.slice(1));
		const [from, to] = (wanted.get("t") || "").split("-").map(Number);

		if (from >= 0 && to > from)
			zoomTo(from, to);
		input.value = wanted.get("s") || "";
		setClock(wanted.get("c") !== "s");
		const folded = (wanted.get("g") || "").split(",");

		for (const row of model.rows)
			if (row.head && folded.includes(String(row.process)))
				row.open = !row.opens;
		picture.place();
	}

	function all() {
		zoomTo(0, data.span);
	}

	function toggleHelp() {
		keys.hidden = !keys.hidden;
		ask.setAttribute("aria-expanded", String(!keys.hidden));
	}

	function onKey(e) {
		const typing = document.activeElement === input;
		const acts = {
			"+": () => zoom(0.5), "=": () => zoom(0.5), w: () => zoom(0.5),
			"-": () => zoom(2), s: () => zoom(2),
			ArrowLeft: () => pan(-0.2), a: () => pan(-0.2),
			ArrowRight: () => pan(0.2), d: () => pan(0.2),
			ArrowUp: () => scroll(-40), ArrowDown: () => scroll(40),
			PageUp: () => scroll(40 - view.height), PageDown: () => scroll(view.height - 40),
			Home: all, 0: all, ".": () => step(1), ",": () => step(-1),
			f: () => look.selected && zoomTo(look.selected.begin - (look.selected.end -
				look.selected.begin), 2 * look.selected.end - look.selected.begin),
			k: () => look.selected && look.selected.waker >= 0 &&
				jump(look.selected.waker, look.selected.wokenAt),
			r: () => {
				look.arrows = !look.arrows;
				tell(look.arrows && picture.tooMany() ? "too many arrows: zoom in" : "");
				later();
			},
			n: () => next(1), N: () => next(-1), "?": toggleHelp,
			g: () => nextHead(1), G: () => nextHead(-1), e: foldAll,
			y: () => why && why.isConnected && why.click(),
			c: () => setClock(!look.wall),
			"/": () => input.select(),
		};

		if ((e.ctrlKey || e.metaKey) && e.key === "f" && !typing) {
			e.preventDefault();
			input.select();
		} else if (e.key === "Escape") {
			input.value = "";
			keys.hidden = true;
			unchoose();
			search();
			canvas.focus();
		} else if (typing && e.key === "Enter") {
			next(e.shiftKey ? -1 : 1);
		} else if (e.key === "Enter" &&
			   [canvas, document.body].includes(document.activeElement)) {
			if (look.head)
				fold(look.head);
		} else if (!typing && !e.ctrlKey && !e.metaKey && !e.altKey && acts[e.key]) {
			e.preventDefault();
			acts[e.key]();
		}
	}

	function place(e) {
		const box = canvas.getBoundingClientRect();

		return [e.clientX - box.left, e.clientY - box.top];
	}

	function sampleText(row, i) {
		const s = model.samplesOf(row);

		return row.text + ": CPU sample " + placeText(s.time[i]).replace("from", "at") + " in " +
			(model.framesOf(s.stack[i]).slice(0, 3).join(" < ") || "a place that is not in the page");
	}

	function onMove(e) {
		const [x, y] = place(e);

		if (hand && hand.ruler) {
			range = [Math.min(x, hand.x), Math.max(x, hand.x)];
			band.hidden = range[1] - range[0] < DRAG;
			band.style.left = range[0] + "px";
			band.style.width = range[1] - range[0] + "px";
		} else if (hand) {
			hand.moved = hand.moved || Math.hypot(x - hand.x, y - hand.y) > DRAG;
			if (!hand.moved)
				return;
			const by = (hand.x - x) * (hand.to - hand.from) / (view.width - view.gutter);

			view.top = hand.top + hand.y - y;
			zoomTo(hand.from + by, hand.to + by);
		} else {
			const at = picture.hit(x, y);

			tell(at && at.piece >= 0 ? model.describe(at.row, at.p, at.piece) + ", " +
			     placeText(at.p.begin[at.piece]) : at && at.sample >= 0 ? sampleText(at.row, at.sample) : at ? at.row.head ?
			     model.headText(at.row) : at.row.text : "");
		}
	}

	function onUp(e) {
		const [x, y] = place(e);

		if (hand && hand.ruler) {
			if (range && range[1] - range[0] >= DRAG)
				zoomTo(picture.timeOf(Math.max(range[0], view.gutter)),
				       picture.timeOf(range[1]));
			band.hidden = true;
		} else if (hand && !hand.moved) {
			const at = picture.hit(x, y);

			if (at && at.row.head)
				fold(at.row);
			else if (at && at.sample >= 0)
				chooseSample(at.row, at.sample);
			else if (at && at.piece >= 0)
				choose(at.row, at.p, at.piece);
			later();
		}
		hand = range = null;
	}

	for (const [key, text] of help) {
		element("dt", {}, keys, key);
		element("dd", {}, keys, text);
	}
	canvas.addEventListener("pointerdown", (e) => {
		const [x, y] = place(e);

		if (e.button)
			return;
		canvas.setPointerCapture(e.pointerId);
		hand = { x, y, ruler: y < picture.RULER - 4, from: view.from, to: view.to, top: view.top };
	});
	canvas.addEventListener("pointermove", onMove);
	canvas.addEventListener("pointerup", onUp);
	canvas.addEventListener("pointercancel", () => {
		hand = range = null;
		band.hidden = true;
	});
	canvas.addEventListener("pointerleave", () => look.found || tell());
	canvas.addEventListener("dblclick", (e) => zoom(0.25, place(e)[0]));
	canvas.addEventListener("wheel", (e) => {
		e.preventDefault();
		if (e.ctrlKey || e.metaKey)
			zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY / 200))), place(e)[0]);
		else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
			pan((e.deltaX || e.deltaY) / view.width);
		else
			scroll(e.deltaY);
	}, { passive: false });
	input.addEventListener("input", search);
	whole.addEventListener("click", all);
	ask.addEventListener("click", toggleHelp);
	clock.addEventListener("click", () => setClock(!look.wall));
	window.addEventListener("keydown", onKey);
	window.addEventListener("resize", fit);
	window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
		picture.readTheme();
		addLegend();
		later();
	});

	addLegend();
	tell();
	picture.resize();
	picture.place();
	recall();
	if (input.value)
		search();
	picture.draw();
	/* When all there is to see had been drawn first, ms since the page was asked for. */
	document.documentElement.dataset.drawn = performance.now().toFixed(0);
})();
