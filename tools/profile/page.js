// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The page of gprofctl view: one profile as a flame graph, an inverted one, a sandwich
 * and a table, of the samples that its filters leave; page_model.js has the numbers.
 */
function pageBegin(first) {
	"use strict";

	/* Of the profile that is shown; a live page has one after the other. */
	let data, model, chosen, functions, functionOf, total, expand, nameOf;
	let valueText, percentText, sumFunctions, processes, time, tabs, listing, ids;
	const $ = (id) => document.getElementById(id);
	const ROW = 18, NARROWEST = 0.4, { kinds, hatching, clip } = pageBoxes;
	const dark = matchMedia("(prefers-color-scheme: dark)");

	let mode = "flame", pattern = "", test = null, invalid = "", focus = -1;
	let charts = [], current = null;
	let sortKey = "self", pending = false;
	/* The state that the newest entry of the history shows; whether one is being shown again. */
	let step = null, restoring = false, kept = false;

	function use(next) {
		data = next;
		model = pageModel(next);
		({ chosen, functions, functionOf, total, expand, nameOf } = model);
		({ valueText, percentText, sumFunctions, processes, time } = model);
		ids = [];
		charts = [];
		current = null;
		listing = pageListing(data, model, $("listing"), () => {
			if (listing.shown < 0)
				take();
			redraw();
			remember();
		});
		tabs = [...document.querySelectorAll("[role=tab]")].filter((b) =>
			b.dataset.mode !== "processes" || data.values[processes.key].length > 1);
		document.querySelectorAll("[role=tab]").forEach((b) => { b.hidden = !tabs.includes(b); });
		kinds.forEach((kind, i) => {
			$("legend").querySelector("." + kind).parentNode.hidden = !data.frames.some((f) => f[2] === i);
		});
		$("time").hidden = !time;
		strip = strip || (time && pageStrip($("time"), () => time, () => ofSlices, () => chosen[time.key],
						     (span) => choose(time.key, span), spanText));
		addTypes();
		addFilters();
	}

	/* ---- drawing ---- */

	function colorOf(g) {
		return g.frame < 0 ? "#d5d5d5" : pageBoxes.colorOf(data.frames[g.frame]);
	}

	function kindOf(g) {
		return g && g.frame >= 0 ? kinds[data.frames[g.frame][2]] : "";
	}

	/* Boxes with their places, those above the zoomed one first. */
	function layOut(chart, width) {
		const boxes = [], path = [], stack = [];
		let depth = 0;

		for (let g = chart.zoom; g; g = g.above)
			path.unshift(g);
		path.forEach((g) => boxes.push({ g: g, x: 0, w: width }));
		depth = path.length - 1;
		stack.push({ g: chart.zoom, x: 0, w: width });
		while (stack.length) {
			const { g, x, w } = stack.pop();
			const children = expand(g), scale = g.total ? w / g.total : 0;
			let at = x;

			for (const c of children) {
				const cw = c.total * scale;

				if (cw < NARROWEST)
					break;
				boxes.push({ g: c, x: at, w: cw });
				depth = Math.max(depth, c.depth);
				stack.push({ g: c, x: at, w: cw });
				at += cw;
			}
			/* The largest came first: the rest is narrow, and drawn as one. */
			const rest = g.total ? x + w - g.self * scale - at : 0;

			if (rest >= NARROWEST)
				boxes.push({ g: null, x: at, w: rest, depth: g.depth + 1 });
		}
		chart.depth = depth;
		return boxes;
	}

	function draw(chart) {
		const canvas = chart.canvas, width = canvas.clientWidth || 800;
		const boxes = chart.boxes = layOut(chart, width);
		const height = (chart.depth + 1) * ROW + 2, ratio = window.devicePixelRatio || 1;
		const c = canvas.getContext("2d");

		/* Browsers limit the size of a canvas. */
		const most = Math.floor(32000 / ratio);

		canvas.style.height = Math.min(height, most) + "px";
		canvas.width = Math.floor(width * ratio);
		canvas.height = Math.floor(Math.min(height, most) * ratio);
		c.scale(ratio, ratio);
		const hatch = hatching(c);
		c.font = "12px \"DejaVu Sans Mono\", Menlo, Consolas, monospace";
		for (const b of boxes) {
			const y = (b.g ? b.g.depth : b.depth) * ROW;
			const w = b.w > 2 ? b.w - 0.6 : b.w;
			const hit = b.g && test && b.g.frame >= 0 && test(nameOf(b.g));

			c.globalAlpha = b.g && b.g.depth < chart.zoom.depth ? 0.7 : 1;
			c.fillStyle = hit ? "#d0007f" : b.g ? colorOf(b.g) : "#b4b4b4";
			c.fillRect(b.x, y, w, ROW - 1);
			if (kindOf(b.g) === "runtime" && !hit) {
				c.fillStyle = hatch;
				c.fillRect(b.x, y, w, ROW - 1);
			}
			if (kindOf(b.g) === "inlined" && w > 8) {
				c.strokeStyle = "#333";
				c.setLineDash([3, 2]);
				c.strokeRect(b.x + 0.5, y + 0.5, w - 1, ROW - 2);
				c.setLineDash([]);
			}
			if (current && b.g === current) {
				c.strokeStyle = dark.matches ? "#ffffff" : "#000000";
				c.lineWidth = 2.5;
				c.strokeRect(b.x + 1, y + 1, Math.max(w - 2, 1), ROW - 3);
				c.lineWidth = 1;
			}
			const label = b.g && clip(nameOf(b.g), b.w);

			if (label) {
				c.fillStyle = hit ? "#ffffff" : "#1c1c1c";
				c.fillText(label, b.x + 3, y + 13);
			}
		}
		c.globalAlpha = 1;
	}

	function redraw() {
		charts.forEach(draw);
		if (time)
			strip.draw();
		tell();
	}

	/* A window is dragged through many sizes. */
	function resized() {
		if (pending)
			return;
		pending = true;
		requestAnimationFrame(() => {
			pending = false;
			redraw();
		});
	}

	/* ---- words ---- */

	/* The module of a frame, and what sets it apart from other code there. */
	function placeOf([, module, kind]) {
		const words = kind && kinds[kind] !== module.split("/")[0] ? [module, kinds[kind]] : [module];

		return words.filter((s) => s).join(", ");
	}

	function describe(g) {
		const where = g.frame < 0 ? "" : placeOf(data.frames[g.frame]);

		return nameOf(g) + (where && " [" + where + "]") + ": " +
			valueText(g.total) + ", " + percentText(g.total, total[0]) +
			(total[0] < model.type.total ? " of what is chosen" : "");
	}

	function tell(g) {
		const of = g || current;

		$("told").textContent = of ? describe(of) :
			mode === "table" ? "a function's name shows its callers and callees, / searches, Esc shows the whole, ? shows all keys" :
			mode === "processes" ? "a name chooses the process and all below it, in each view; Esc shows the whole" :
			mode === "sandwich" && focus < 0 ? "choose a function in the table, or click one with Shift" :
			"arrow keys move, Enter zooms, Esc shows the whole, s makes a sandwich, / searches, ? shows all keys";
		if (!test) {
			$("matched").textContent = "";
			return;
		}
		const bad = invalid && "not a valid expression: " + invalid;
		const { found, sum } = model.matched(test);

		$("matched").textContent = bad && !found ? bad : (bad && bad + "; as text: ") +
			"matched " + valueText(sum) + ", " + percentText(sum, total[0]);
	}

	/* ---- the table ---- */

	function fillTable() {
		sumFunctions();

		const rows = functions.filter((f) => f.total && (!test || test(f.name)))
			.sort((a, b) => sortKey === "name" ? (a.name < b.name ? -1 : 1) :
				b[sortKey] - a[sortKey] || b.total - a.total);
		const body = $("rows"), most = 1000;

		body.textContent = "";
		rows.slice(0, most).forEach((f) => {
			const tr = body.insertRow(), place = data.frames[f.frame];

			for (const text of [valueText(f.self), percentText(f.self, total[0]),
					    valueText(f.total), percentText(f.total, total[0])])
				tr.insertCell().textContent = text;
			const cell = tr.insertCell(), name = document.createElement("button");
			const where = document.createElement("span");

			name.type = "button";
			name.textContent = f.name;
			name.title = "callers and callees";
			name.addEventListener("click", () => sandwich(functionOf[f.frame]));
			where.className = "where";
			where.textContent = " " + placeOf(place);
			cell.append(name, where);
		});
		$("left").textContent = rows.length > most ?
			(rows.length - most).toLocaleString("en-US") + " more functions: search for them" : "";
		document.querySelectorAll("th[data-key]").forEach((th) => th.setAttribute("aria-sort",
			th.dataset.key === sortKey ? (sortKey === "name" ? "ascending" : "descending") : "none"));
	}

	/* ---- processes ---- */

	function choiceOf(p) {
		return p.at + (p.children.length ? "+" : "");
	}

	function choiceText(p) {
		return p.name + (p.children.length ? " and below" : "");
	}

	function fillProcesses() {
		const body = $("tree");

		model.sumProcesses();
		const shown = processes.inOrder().filter((p) => p.total);
		const whole = shown.reduce((sum, p) => sum + p.own, 0);

		body.textContent = "";
		shown.slice(0, 1000).forEach((p) => {
			const tr = body.insertRow(), name = document.createElement("button");

			for (const text of [valueText(p.own), percentText(p.own, whole),
					    valueText(p.total), percentText(p.total, whole)])
				tr.insertCell().textContent = text;
			name.type = "button";
			name.textContent = p.name;
			name.title = "only " + choiceText(p);
			name.style.marginLeft = 2 * Math.min(p.depth, 20) + "ch";
			name.setAttribute("aria-pressed", chosen[processes.key] === choiceOf(p));
			name.addEventListener("click", () => {
				choose(processes.key, chosen[processes.key] === choiceOf(p) ? "" : choiceOf(p));
				[...body.querySelectorAll("button")][shown.indexOf(p)].focus();
			});
			tr.insertCell().append(name);
		});
	}

	/* ---- time ---- */

	let ofSlices = null, strip = null;

	function spanText(span) {
		const [from, to] = time.ends(span), at = (n) => valueText(n * time.width, data.timeUnits);
		const sum = (a, b) => ofSlices.slice(a, b).reduce((s, v) => s + v, 0);

		if (span === "")
			return "over time, " + at(time.bins) + " in slices of " + at(1) + ": drag to choose a span, b and arrow keys do so too";
		return "from " + at(from) + " to " + at(to) + ": " + valueText(sum(from, to)) + ", " +
			percentText(sum(from, to), sum(0, time.bins)) + " of all; Esc there, or a click, takes the span away";
	}

	/* ---- actions of the user ---- */

	/* The zoom stays where its function has samples yet. */
	function showAgain() {
		const paths = charts.map((chart) => pathOf(chart.zoom).join("."));

		restoring = true;
		show();
		charts.forEach((chart, i) => follow(chart, paths[i] || ""));
		redraw();
		restoring = false;
		remember();
	}

	function compute() {
		model.compute();
		if (time)
			ofSlices = model.sumTime();
	}

	function choose(k, choice) {
		const select = document.querySelector("select[data-key='" + k + "']");

		chosen[k] = choice;
		if (select)
			select.value = choice;
		compute();
		showAgain();
	}

	function show() {
		/* The keys are the graph's, unless something else was chosen by hand. */
		const takes = document.activeElement === document.body ||
			document.querySelector("main").contains(document.activeElement);

		tabs.forEach((b) => {
			b.setAttribute("aria-selected", b.dataset.mode === mode);
			b.tabIndex = b.dataset.mode === mode ? 0 : -1;
		});
		$("table").hidden = mode !== "table";
		$("processes").hidden = mode !== "processes";
		$("charts").hidden = mode === "table" || mode === "processes";
		for (const id of ["charts", "rows", "tree"])
			$(id).textContent = "";
		charts = $("charts").hidden ? [] : model.graphs(mode, focus);
		current = null;
		for (const chart of charts) {
			chart.zoom = chart.root;
			chart.canvas = document.createElement("canvas");
			chart.canvas.tabIndex = 0;
			chart.canvas.setAttribute("role", "application");
			chart.canvas.setAttribute("aria-label", (chart.title ? chart.title + ": " : "") +
				"graph; the tab Table has the same as text. Arrow keys move.");
			if (chart.title) {
				const h = document.createElement("h2");

				h.textContent = chart.title + " (" + functions[focus].name + ")";
				$("charts").append(h);
			}
			$("charts").append(chart.canvas);
			listen(chart);
		}
		if (mode === "sandwich" && !charts.length)
			$("charts").textContent = focus < 0 ? "No function is chosen: take one from the table." :
				functions[focus].name + " is in no sample that is chosen.";
		if (mode === "table")
			fillTable();
		if (mode === "processes")
			fillProcesses();
		if (takes)
			take();
		redraw();
		remember();
	}

	function take() {
		const first = charts.length ? charts[0].canvas :
			document.querySelector("main > div:not([hidden]) tbody button");

		if (first)
			first.focus({ preventScroll: true });
	}

	function sandwich(f) {
		focus = f;
		listing.show(f, listing.code);
		mode = "sandwich";
		show();
		take();
	}

	function boxAt(chart, e) {
		const depth = Math.floor(e.offsetY / ROW);

		return (chart.boxes || []).find((b) => b.g && b.g.depth === depth && e.offsetX >= b.x &&
			e.offsetX < b.x + b.w);
	}

	/* The lines of a function are shown beside the graph. */
	function list(g) {
		if (g && g.frame >= 0)
			listing.show(functionOf[g.frame], listing.code);
	}

	function zoom(chart, g) {
		chart.zoom = g;
		current = g;
		list(g);
		redraw();
		remember();
	}

	function move(chart, key) {
		const at = current && chart.boxes.some((b) => b.g === current) ? current : chart.zoom;
		const siblings = at.above ? expand(at.above) : [];
		let to;

		if (key === "ArrowUp")
			to = at.above || at;
		else if (key === "ArrowDown")
			to = expand(at)[0] || at;
		else
			to = siblings[siblings.indexOf(at) + (key === "ArrowLeft" ? -1 : 1)] || at;
		/* A box that is out of sight or too narrow is brought into view. */
		current = to;
		if (!chart.boxes.some((b) => b.g === to))
			chart.zoom = to.above || to;
		if (listing.shown >= 0)
			list(to);
		redraw();
		remember(true);
		const top = chart.canvas.getBoundingClientRect().top + to.depth * ROW;

		if (top < 60 || top > window.innerHeight - 60)
			window.scrollBy(0, top - window.innerHeight / 2);
	}

	function listen(chart) {
		const canvas = chart.canvas;

		canvas.addEventListener("mousemove", (e) => {
			const b = boxAt(chart, e);

			canvas.style.cursor = b ? "pointer" : "";
			tell(b && b.g);
		});
		canvas.addEventListener("mouseleave", () => tell());
		canvas.addEventListener("click", (e) => {
			const b = boxAt(chart, e);

			if (b && e.shiftKey && b.g.frame >= 0)
				sandwich(functionOf[b.g.frame]);
			else if (b)
				zoom(chart, b.g);
		});
		canvas.addEventListener("focus", () => {
			/* A selection in another graph is not in this one. */
			if (!current || chart.boxes.some((b) => b.g === current))
				return;
			current = chart.zoom;
			redraw();
		});
		canvas.addEventListener("keydown", (e) => {
			if (e.key.startsWith("Arrow")) {
				move(chart, e.key);
			} else if (e.key === "Enter" && current) {
				zoom(chart, current);
			} else if (e.key === "s" && current && current.frame >= 0 && !e.ctrlKey && !e.metaKey) {
				sandwich(functionOf[current.frame]);
			} else {
				return;
			}
			e.preventDefault();
		});
	}

	function search(text) {
		const input = $("search");

		pattern = text;
		test = null;
		invalid = "";
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
		}
		if (mode === "table")
			fillTable();
		redraw();
		remember();
	}

	function reset() {
		chosen.fill("");
		document.querySelectorAll("select[data-key]").forEach((s) => { s.value = ""; });
		$("search").value = "";
		listing.show(-1, false);
		search("");
		compute();
		show();
		take();
	}

	/* A frame by its texts, so that it is found in the next profile of a live page too. */
	function idOf(f) {
		let h = 0;

		for (const c of ids[f] ? "" : data.frames[f].join("\0"))
			h = Math.imul(h, 31) + c.codePointAt(0) >>> 0;
		ids[f] = ids[f] || h.toString(36);
		return ids[f];
	}

	/* Where a graph is zoomed to: the frames from its root down to there. */
	function pathOf(g) {
		return g.above ? [...pathOf(g.above), idOf(g.frame)] : [];
	}

	function below(g, path) {
		path.split(".").every((id) => {
			const next = expand(g).find((c) => idOf(c.frame) === id);

			g = next || g;
			return next;
		});
		return g;
	}

	function follow(chart, path) {
		chart.zoom = below(chart.zoom, path);
	}

	/*
	 * A link has the view, and each step but typing and moving is one back in the history. With
	 * @along it is none.
	 */
	function remember(along) {
		const parts = [];

		if (restoring || kept)
			return;
		if (mode !== "flame")
			parts.push("v=" + mode);
		if (model.type !== data.types[data.type])
			parts.push("t=" + encodeURIComponent(model.type.name));
		if (pattern)
			parts.push("s=" + encodeURIComponent(pattern));
		if (sortKey !== "self")
			parts.push("o=" + sortKey);
		if (focus >= 0)
			parts.push("f=" + encodeURIComponent(functions[focus].name));
		if (listing.shown >= 0)
			parts.push((listing.code ? "asm=" : "l=") + encodeURIComponent(functions[listing.shown].name));
		data.keys.forEach((key, k) => {
			if (time && k === time.key && chosen[k] !== "")
				parts.push("span=" + time.toLink(chosen[k]));
			else if (k === processes.key && chosen[k].endsWith("+"))
				parts.push("below=" + encodeURIComponent(processes.all[parseInt(chosen[k], 10)].name));
			else if (chosen[k] !== "")
				parts.push(key + "=" + encodeURIComponent(data.values[k][chosen[k]]));
		});
		charts.forEach((chart, i) => {
			if (chart.zoom.above)
				parts.push("z" + i + "=" + pathOf(chart.zoom).join("."));
		});
		const before = step;

		step = parts.filter((p) => !p.startsWith("s=")).join("&");
		try {
			if (before === null || before === step || along)
				history.replaceState(null, "", "#" + parts.join("&"));
			else
				history.pushState(null, "", "#" + parts.join("&"));
		} catch (e) {
			/* A page inside another may not: it then has no link to share. */
		}
	}

	function restore() {
		const wanted = new URLSearchParams(location.hash.slice(1));

		restoring = true;
		sortKey = ["total", "name"].includes(wanted.get("o")) ? wanted.get("o") : "self";
		mode = tabs.some((b) => b.dataset.mode === wanted.get("v")) ? wanted.get("v") : "flame";
		focus = functions.findIndex((f) => f.name === wanted.get("f"));
		data.keys.forEach((key, k) => {
			const at = data.values[k].indexOf(wanted.get(key));

			chosen[k] = at < 0 ? "" : String(at);
		});
		if (time)
			chosen[time.key] = time.fromLink(wanted.get("span") || "");
		const top = processes.all.find((p) => p.children.length && p.name === wanted.get("below"));

		if (top)
			chosen[processes.key] = top.at + "+";
		document.querySelectorAll("select[data-key]").forEach((s) => {
			s.value = chosen[Number(s.dataset.key)];
		});
		$("search").value = wanted.get("s") || "";
		listing.show(functions.findIndex((f) => f.name === (wanted.get("l") || wanted.get("asm"))),
			     wanted.has("asm"));
		setType(wanted.get("t"));
		search($("search").value);
		show();
		charts.forEach((chart, i) => follow(chart, wanted.get("z" + i) || ""));
		redraw();
		restoring = false;
		step = null;
		remember();
	}

	/* Another profile in place of this one: where the address says, and where the keys are. */
	function renew(next) {
		const at = document.activeElement, name = at.closest("tbody") && at.textContent;
		const nth = charts.findIndex((c) => c.canvas === at), of = charts.findIndex((c) => isIn(c, current));
		const path = of >= 0 ? pathOf(current).join(".") : "", scroll = [scrollX, scrollY];
		const before = step;

		/* A function that the profile lacks may be in the next: the address stays. */
		kept = true;
		try {
			use(next);
			restore();
		} finally {
			kept = false;
			step = before;
		}
		if (of >= 0 && charts[of])
			current = below(charts[of].root, path);
		if (nth >= 0 && charts[nth])
			charts[nth].canvas.focus({ preventScroll: true });
		for (const b of name ? document.querySelectorAll("main > div:not([hidden]) tbody button") : [])
			if (b.textContent === name)
				b.focus({ preventScroll: true });
		scrollTo(...scroll);
		redraw();
	}

	function isIn(chart, g) {
		while (g && g.above)
			g = g.above;
		return g === chart.root;
	}

	/* The whole stands at the top of the page. */
	function setType(name) {
		model.setType(name);
		listing.draw();
		compute();
		if (data.types.length === 1)
			return;
		$("type").value = model.type.name;
		$("whole").textContent = model.type.name + ": " + valueText(model.type.total);
	}

	/* The list of a name and its options, [text, value]; it stays the same element. */
	function addSelect(id, name, options, change) {
		const label = $("filters").querySelector("label[data-id='" + id + "']") ||
			document.createElement("label"), select = label.lastChild || document.createElement("select");
		const texts = JSON.stringify(options);

		label.hidden = options.length < 2;
		if (!label.dataset.id) {
			label.dataset.id = id;
			label.append(name + " ", select);
			select.addEventListener("change", () => change(select));
			$("filters").append(label);
		}
		if (select.dataset.texts === texts)
			return select;
		select.dataset.texts = texts;
		select.replaceChildren(...options.map(([text, value]) => new Option(text, value)));
		return select;
	}

	function addTypes() {
		const types = data.types.map((t) => [t.name, t.name]);

		if (types.length > 1)
			addSelect("type", "value", types, (select) => {
				setType(select.value);
				showAgain();
			}).id = "type";
	}

	function addFilters() {
		data.keys.forEach((key, k) => {
			const options = data.values[k].map((value, i) => [value, String(i)]);

			if (options.length < 2 || (time && k === time.key))
				options.length = 0;
			else
				options.unshift(["all", ""]);
			if (k === processes.key && options.length)
				processes.all.filter((p) => p.children.length).forEach((p) =>
					options.push([choiceText(p), choiceOf(p)]));
			if (options.length || $("filters").querySelector("label[data-id='" + key + "']"))
				addSelect(key, key, options, (select) => choose(Number(select.dataset.key), select.value))
					.dataset.key = k;
		});
	}

	function tab(by) {
		const at = tabs.findIndex((b) => b.dataset.mode === mode);
		const to = tabs[(at + by + tabs.length) % tabs.length];

		mode = to.dataset.mode;
		show();
		to.focus();
	}

	/* From a name in a table to the one @by rows below. */
	function stepRow(by) {
		const all = [...document.activeElement.closest("tbody").querySelectorAll("button")];
		const to = all[all.indexOf(document.activeElement) + by];

		if (to)
			to.focus();
	}

	/* Esc leaves what has the keys, and is else for the whole. */
	function leave() {
		if ($("keys").open)
			$("keys").close();
		else if (document.activeElement.matches("input, select"))
			take();
		else
			reset();
	}

	function press(e) {
		const at = document.activeElement, typing = at.matches("input, select");

		if (e.key === "f" && (e.ctrlKey || e.metaKey) && at !== $("search")) {
			$("search").focus();
			$("search").select();
		} else if (e.key === "Escape") {
			leave();
		} else if (typing || $("keys").open || e.ctrlKey || e.metaKey || e.altKey) {
			return;
		} else if (e.key === "/") {
			$("search").focus();
			$("search").select();
		} else if (e.key === "?") {
			$("keys").showModal();
		} else if (e.key >= "1" && e.key <= String(tabs.length)) {
			mode = tabs[e.key - 1].dataset.mode;
			show();
			take();
		} else if (e.key === "v" && data.types.length > 1) {
			setType(data.types[(data.types.indexOf(model.type) + 1) % data.types.length].name);
			showAgain();
		} else if (e.key === "o" && listing.has) {
			listing.show(listing.shown >= 0 ? -1 : current && current.frame >= 0 ? functionOf[current.frame] : focus,
				     listing.code);
			redraw();
			remember();
		} else if (e.key === "a" && listing.shown >= 0) {
			listing.show(listing.shown, !listing.code);
			remember();
		} else if (e.key === "b" && time) {
			strip.canvas.focus();
		} else if (at.closest("tbody") && (e.key === "ArrowDown" || e.key === "ArrowUp")) {
			stepRow(e.key === "ArrowDown" ? 1 : -1);
		} else {
			return;
		}
		e.preventDefault();
	}

	use(first);
	document.querySelectorAll("[role=tab]").forEach((b) => {
		b.addEventListener("click", () => {
			mode = b.dataset.mode;
			show();
		});
		b.addEventListener("keydown", (e) => {
			if (e.key === "ArrowRight" || e.key === "ArrowLeft")
				tab(e.key === "ArrowRight" ? 1 : -1);
		});
	});
	document.querySelectorAll("th[data-key] button").forEach((b) => b.addEventListener("click", () => {
		sortKey = b.parentNode.dataset.key;
		fillTable();
		remember();
	}));
	$("reset").addEventListener("click", reset);
	$("search").addEventListener("input", (e) => search(e.target.value));
	window.addEventListener("resize", resized);
	/* The head of the table stays below the tools, however many lines these take. */
	new ResizeObserver(([e]) => document.documentElement.style.setProperty("--bar",
		e.target.offsetHeight + "px")).observe(document.querySelector(".bar"));
	dark.addEventListener("change", redraw);
	window.addEventListener("hashchange", restore);
	$("help").addEventListener("click", () => $("keys").showModal());
	window.addEventListener("keydown", press);
	restore();
	return { renew: renew };
}
