// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Source and assembly of a function, beside the graph, line by line with the values of each line.
 */
function pageListing(data, model, box, changed) {
	"use strict";

	const found = new Map(data.sources ? data.sources.functions.map(([frame, source, code]) =>
		[model.functionOf[frame], { source: source, code: code }]) : []);
	let shown = -1, code = false;

	function element(tag, text, className) {
		const e = document.createElement(tag);

		e.textContent = text;
		if (className)
			e.className = className;
		return e;
	}

	function button(text, pressed, act) {
		const b = element("button", text);

		b.type = "button";
		if (pressed !== null)
			b.setAttribute("aria-pressed", pressed);
		b.addEventListener("click", act);
		return b;
	}

	function why() {
		const f = found.get(shown);

		if (!f)
			return "This function is not among the " + found.size + " of " + data.sources.all +
				" with the largest values of their own, of which the page has source and assembly.";
		if (!f[code ? "code" : "source"])
			return "It does not fit into the 3 MB of this page.";
		return "";
	}

	/* A row is [at, text, flat and cum of each type]. */
	function table(rows) {
		const t = document.createElement("table"), body = t.createTBody();
		const head = t.createTHead().insertRow(), at = 2 + 2 * data.types.indexOf(model.type);
		const most = Math.max(...rows.map((r) => r[at] || 0));
		let hottest = null;

		for (const text of ["flat", "cum", code ? "address" : "line", code ? "instruction" : "source"])
			head.append(element("th", text));
		for (const row of rows) {
			const tr = body.insertRow();

			for (const v of [row[at], row[at + 1]])
				tr.append(element("td", v ? model.valueText(v) : ""));
			tr.append(element("td", row[0], "at"), element("td", row[1], "text"));
			if (!row[at])
				continue;
			tr.cells[0].style.setProperty("--part", 100 * row[at] / most + "%");
			if (row[at] === most)
				hottest = hottest || tr;
		}
		return [t, hottest];
	}

	function draw() {
		const top = box.scrollTop;

		box.hidden = shown < 0;
		box.textContent = "";
		if (shown < 0)
			return;
		const tools = element("p", "", "tools"), turn = (to) => () => {
			code = to;
			draw();
			box.querySelector("button[aria-pressed=true]").focus();
			changed();
		};

		tools.append(button("Source", !code, turn(false)), button("Assembly", code, turn(true)),
			     button("Close", null, () => {
				     shown = -1;
				     draw();
				     changed();
			     }));
		box.append(element("h2", model.functions[shown].name), tools);
		if (model.chosen.some((c) => c !== ""))
			box.append(element("p", "These values are of all samples, also of those that are not chosen."));
		if (why()) {
			box.append(element("p", why(), "note"));
			return;
		}
		let first = null;

		for (const { path, rows, note } of found.get(shown)[code ? "code" : "source"]) {
			const [t, hottest] = table(rows);

			if (path)
				box.append(element("h3", path));
			if (note)
				box.append(element("p", note, "note"));
			if (rows.length)
				box.append(t);
			first = first || hottest;
		}
		box.scrollTop = top;
		const line = first && first.getBoundingClientRect(), view = box.getBoundingClientRect();

		if (line && (line.top < view.top || line.bottom > view.bottom))
			box.scrollTop += line.top - view.top - view.height / 3;
	}

	return {
		draw: draw, has: Boolean(data.sources),
		get shown() { return shown; },
		get code() { return code; },
		/* @f: a function, -1: none */
		show(f, asCode) {
			if (!data.sources)
				return;
			code = asCode;
			shown = f;
			draw();
		},
	};
}
