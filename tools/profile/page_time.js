// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Samples over time: the slices that their labels tell, and a strip that shows the value of each,
 * on which a span is chosen by mouse or keys.
 */
function pageTime(data) {
	"use strict";

	const key = data.keys.indexOf("time"), MOST = 1000;
	const times = key < 0 ? [] : data.values[key].map((v) => /^\d+$/.test(v) ? Number(v) : NaN);
	const sorted = times.filter((t) => t >= 0).sort((a, b) => a - b);
	const last = sorted[sorted.length - 1];

	if (sorted.length < 2)
		return null;

	/*
	 * A recording's slices become longer as it goes on, each as long as some of those before. So
	 * the shortest distance in its second half is that of all, as far as that can be told.
	 */
	let width = last;

	for (let i = 1; i < sorted.length; i++)
		if (sorted[i - 1] >= last / 2)
			width = Math.min(width, sorted[i] - sorted[i - 1]);
	width = Math.max(width, Math.ceil(last / MOST));

	const bins = Math.floor(last / width) + 1;
	const binOf = times.map((t) => Math.floor(t / width));

	/* A span is "FROM-TO", slices of which the last is not in it. */
	function ends(span) {
		return span === "" ? [0, bins] : span.split("-").map(Number);
	}

	return {
		key: key, bins: bins, width: width, binOf: binOf, ends: ends,
		chosenBy(span) {
			const [from, to] = ends(span);

			return (v) => binOf[v] >= from && binOf[v] < to;
		},
		/* In nanoseconds, which stay what they are when the profile is written anew. */
		toLink: (span) => ends(span).map((n) => n * width).join("-"),
		fromLink(text) {
			const [all, from, to] = /^(\d+)-(\d+)$/.exec(text) || [];
			const a = Math.floor(from / width), b = Math.min(Math.ceil(to / width), bins);

			return all && Number(from) < Number(to) && a < b ? a + "-" + b : "";
		},
	};
}

/*
 * @box: where the strip is put; @timeOf: returns what is above; @values: returns the value of each slice; @chosen:
 * returns the span; @choose: is told of another; @told: returns what is said of it
 */
function pageStrip(box, timeOf, values, chosen, choose, told) {
	"use strict";

	const canvas = document.createElement("canvas"), text = document.createElement("p");
	const HEIGHT = 48;
	let anchor = -1, dragged = "";

	canvas.id = "strip";
	canvas.tabIndex = 0;
	canvas.setAttribute("role", "application");
	canvas.setAttribute("aria-label", "value over time. Arrow keys move the span, with Shift its end.");
	canvas.setAttribute("aria-describedby", "span");
	text.id = "span";
	text.setAttribute("aria-live", "polite");
	box.append(canvas, text);

	function draw() {
		const width = canvas.clientWidth || 800, ratio = window.devicePixelRatio || 1;
		const c = canvas.getContext("2d"), time = timeOf(), all = values(), most = Math.max(...all);
		const span = dragged || chosen(), [from, to] = time.ends(span), w = width / time.bins;
		const ink = getComputedStyle(canvas).color;

		canvas.width = Math.floor(width * ratio);
		canvas.height = HEIGHT * ratio;
		c.scale(ratio, ratio);
		for (let i = 0; i < time.bins; i++) {
			const h = most ? all[i] / most * (HEIGHT - 4) : 0;

			c.fillStyle = i >= from && i < to ? "#fdbb63" : "#8a8a8a";
			c.fillRect(i * w, HEIGHT - h, Math.max(w - (w > 3 ? 0.6 : 0), 0.6), h);
		}
		if (span !== "") {
			c.strokeStyle = ink;
			c.lineWidth = 2;
			c.strokeRect(from * w + 1, 1, Math.max((to - from) * w - 2, 1), HEIGHT - 2);
		}
		text.textContent = told(span);
	}

	function at(e) {
		const box = canvas.getBoundingClientRect(), time = timeOf();

		return Math.min(Math.max(Math.floor((e.clientX - box.left) / box.width * time.bins), 0),
				time.bins - 1);
	}

	/* Nothing else is added up while the mouse is under way. */
	canvas.addEventListener("pointerdown", (e) => {
		anchor = at(e);
	});
	window.addEventListener("pointermove", (e) => {
		const to = anchor < 0 ? -1 : at(e);

		if (to < 0 || (to === anchor && !dragged))
			return;
		dragged = Math.min(anchor, to) + "-" + (Math.max(anchor, to) + 1);
		draw();
	});
	window.addEventListener("pointerup", () => {
		const span = dragged;

		if (anchor < 0)
			return;
		anchor = -1;
		dragged = "";
		choose(span);
	});
	canvas.addEventListener("keydown", (e) => {
		const time = timeOf(), step = Math.ceil(time.bins / 50);
		let [from, to] = time.ends(chosen());
		const by = e.key === "ArrowLeft" ? -step : e.key === "ArrowRight" ? step : 0;

		if (e.key === "Escape") {
			choose("");
		} else if (!by && e.key !== "Home" && e.key !== "End") {
			return;
		} else {
			/* The first key makes a span of a tenth, where there is none. */
			if (chosen() === "")
				to = Math.max(Math.ceil(time.bins / 10), 1);
			else if (e.shiftKey)
				to = Math.min(Math.max(to + by, from + 1), time.bins);
			else
				from += Math.min(Math.max(by, -from), time.bins - to);
			if (chosen() !== "" && !e.shiftKey)
				to += from - time.ends(chosen())[0];
			if (e.key === "Home")
				[from, to] = [0, to - from];
			else if (e.key === "End")
				[from, to] = [time.bins - (to - from), time.bins];
			choose(from + "-" + to);
		}
		e.preventDefault();
		e.stopPropagation();
	});
	return { draw: draw, canvas: canvas };
}
