// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The picture of a timeline: a ruler, names at the left, and tracks. Pieces narrower than
 * two pixels are drawn together: a column of all their states, each as high as its share.
 */
function timelinePicture(model, canvas) {
	"use strict";

	const RULER = 40, ROW = 20, HEAD = 36, BOX = 16, STRIP = 14, SAMPLES = 9;
	const ARROWS_MAX = 120;
	const MARK = "#ff4fc3";
	const data = model.data, NOTHING = model.NOTHING;
	const ctx = canvas.getContext("2d");
	const fonts = "\"DejaVu Sans Mono\", Menlo, Consolas, monospace";

	/*
	 * Okabe and Ito's colours, which the colour-blind can tell apart, with a darker vermilion, which
	 * differs from their green in grey too; of two reasons that are akin the second is hatched.
	 * [colour, hatched, ink is white]
	 */
	const colours = {
		cpu: ["#009e73", false, false], runnable: ["#a04000", false, true],
		throttled: ["#a04000", true, true], io: ["#0072b2", false, true],
		fault: ["#e69f00", false, false], reclaim: ["#e69f00", true, false],
		futex: ["#cc79a7", false, false], lock: ["#cc79a7", true, false],
		pipe: ["#56b4e9", false, false], poll: ["#56b4e9", true, false],
		socket: ["#56b4e9", false, false], file: ["#56b4e9", true, false],
		uninterruptible: ["#0072b2", true, true],
		child: ["#f0e442", false, false], stopped: ["#f0e442", true, false],
		signal: ["#f0e442", false, false], syscall: ["#0072b2", true, true],
		chan: ["#56b4e9", false, false], select: ["#56b4e9", true, false],
		network: ["#f0e442", false, false], sync: ["#cc79a7", false, false],
		gc: ["#e69f00", true, false],
	};
	const greys = {
		light: { kernel: ["#d0d0d0", false, false], runtime: ["#d0d0d0", false, false], sleep: ["#e2e2e2", false, false], other: ["#a9a9a9", false, false],
			 untold: ["#c9c9c9", true, false], lost: ["#5c5c5c", true, true] },
		dark: { kernel: ["#44484f", false, true], runtime: ["#44484f", false, true], sleep: ["#30343d", false, true], other: ["#787d87", false, false],
			untold: ["#565b66", true, true], lost: ["#d8d8d8", true, false] },
	};
	/* Of the thread that runs on a CPU: by name, a shade of the running state's colour. */
	const tones = ["#2fb58e", "#58c6a6", "#7fd4bb", "#a3e0cd", "#1aa57d"];

	const view = { from: 0, to: Math.max(1, data.span), top: 0, width: 0, height: 0, gutter: 200,
		       full: 0 };
	const look = { only: -1, found: null, selected: null, head: null, arrows: true,
		       wall: model.hasWall };
	let paints = [], paper, ink, faint, line, column = 7.2, tooMany = false;

	function dark() {
		return window.matchMedia("(prefers-color-scheme: dark)").matches;
	}

	/* A tile of a colour with stripes of the paper's. */
	function hatch(colour) {
		const tile = document.createElement("canvas");
		const c = tile.getContext("2d");

		tile.width = tile.height = 6;
		c.fillStyle = colour;
		c.fillRect(0, 0, 6, 6);
		c.strokeStyle = paper;
		c.lineWidth = 1.6;
		c.beginPath();
		for (let i = -6; i <= 12; i += 6) {
			c.moveTo(i, 6);
			c.lineTo(i + 6, 0);
		}
		c.stroke();
		return ctx.createPattern(tile, "repeat");
	}

	function colourOf(name) {
		return colours[name] || greys[dark() ? "dark" : "light"][name];
	}

	function readTheme() {
		const style = getComputedStyle(document.documentElement);

		paper = style.getPropertyValue("--paper").trim();
		ink = style.getPropertyValue("--ink").trim();
		faint = style.getPropertyValue("--faint").trim();
		line = style.getPropertyValue("--line").trim();
		paints = data.parts.map((name) => {
			const [colour, hatched, white] = colourOf(name);

			return { colour, hatched, fill: hatched ? hatch(colour) : colour,
				 ink: white ? "#ffffff" : "#101010" };
		});
	}

	function toneOf(thread) {
		const name = data.threads[thread] ? data.threads[thread][1] : "";
		let h = 0;

		for (let i = 0; i < name.length; i++)
			h = (h * 31 + name.charCodeAt(i)) >>> 0;
		return tones[(h >>> 4) % tones.length];
	}

	function scale() {
		return (view.width - view.gutter) / (view.to - view.from);
	}

	function xOf(time) {
		return view.gutter + (time - view.from) * scale();
	}

	function timeOf(x) {
		return view.from + (x - view.gutter) / scale();
	}

	/* A thread with CPU samples has a strip for them below. */
	function heightOf(row) {
		return row.head ? HEAD : row.track.samples ? ROW + SAMPLES : ROW;
	}

	/* Rows have their places; those of a closed group have its head's. */
	function place() {
		let y = RULER;

		for (const row of model.rows) {
			row.y = y;
			row.hidden = !row.head && row.group && !row.group.open;
			if (row.hidden)
				row.y = row.group.y;
			else
				y += heightOf(row);
		}
		view.full = y;
	}

	function resize() {
		const ratio = window.devicePixelRatio || 1;
		const box = canvas.parentNode.getBoundingClientRect();

		view.width = Math.max(200, Math.floor(box.width));
		view.height = Math.max(60, Math.floor(box.height));
		view.gutter = view.width < 1000 ? 150 : 230;
		canvas.width = view.width * ratio;
		canvas.height = view.height * ratio;
		canvas.style.width = view.width + "px";
		canvas.style.height = view.height + "px";
		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		ctx.font = "12px " + fonts;
		column = ctx.measureText("0".repeat(100)).width / 100 || column;
	}

	function clip(text, room) {
		const columns = Math.floor(room / column);

		return columns < 3 ? "" : text.length <= columns ? text :
			text.slice(0, columns - 2) + "..";
	}

	function alphaOf(row, p, i) {
		const part = p.part[i];

		if (look.only >= 0 && !row.isCpu && part !== look.only)
			return 0.15;
		if (!look.found)
			return 1;
		if (row.isCpu)
			return p.who[i] >= 0 && look.found.threads[p.who[i]] ? 1 : 0.2;
		return look.found.threads[row.track.thread] ||
			(p.stack[i] && look.found.stacks[p.stack[i] - 1]) ? 1 : 0.2;
	}

	/* A CPU's piece has the colour of its thread, a thread's that of its state. */
	function isWho(row, part) {
		return row.isCpu && data.parts[part] === "cpu";
	}

	function drawBox(row, p, i, xa, xb, y) {
		const part = p.part[i];

		if (part === NOTHING)
			return;
		/* Several that are joined do not reach up to the top: their order is not told. */
		const low = p.count[i] > 1 ? 4 : 0;
		const left = Math.max(xa, view.gutter), right = Math.min(xb, view.width);

		ctx.globalAlpha = alphaOf(row, p, i);
		ctx.fillStyle = isWho(row, part) ? toneOf(p.who[i]) : paints[part].fill;
		ctx.fillRect(left, y + low, Math.max(0.4, right - left - (right - left > 4 ? 0.6 : 0)),
			     BOX - low);
		if (right - left > 3 * column && !low) {
			const text = clip(row.isCpu ? model.subject(row, p, i) : data.parts[part],
					  right - left - 6);

			ctx.fillStyle = isWho(row, part) ? "#101010" : paints[part].ink;
			if (isWho(row, part) || !paints[part].hatched)
				ctx.fillText(text, left + 3, y + BOX - 4);
		}
		ctx.globalAlpha = 1;
	}

	/* All that was too narrow, from @x on, @sums[part] pixels each, from the bottom up. */
	function drawColumn(row, x, sums, y) {
		let total = 0, at = y + BOX;

		for (const s of sums)
			total += s;
		if (!total)
			return;
		for (let part = 0; part < sums.length; part++) {
			const h = sums[part] / total * BOX;

			if (h && part !== NOTHING) {
				ctx.fillStyle = isWho(row, part) ? tones[0] : paints[part].colour;
				ctx.globalAlpha = look.found ? 0.3 :
					look.only >= 0 && !row.isCpu && look.only !== part ? 0.15 : 1;
				ctx.fillRect(x, at - h, Math.max(0.5, total), h);
			}
			at -= h;
			sums[part] = 0;
		}
		ctx.globalAlpha = 1;
	}

	function drawTrack(row, y, arrows) {
		const perPixel = (view.to - view.from) / (view.width - view.gutter);
		const p = model.piecesOf(row, perPixel), s = scale();
		const sums = new Array(NOTHING + 1).fill(0);
		let from = -1, x = 0;

		for (let i = model.pieceAt(p, view.from); i < p.nr && p.begin[i] < view.to; i++) {
			const xa = view.gutter + (p.begin[i] - view.from) * s;
			const xb = view.gutter + (p.begin[i + 1] - view.from) * s;

			if (xb - xa < 2) {
				if (Math.floor(xa) !== from) {
					drawColumn(row, x, sums, y);
					from = Math.floor(xa);
					x = Math.max(xa, view.gutter);
				}
				sums[p.part[i]] += xb - xa;
				continue;
			}
			drawColumn(row, x, sums, y);
			from = -1;
			drawBox(row, p, i, xa, xb, y);
			if (!row.isCpu && p.woken[i] && p.who[i] >= 0 && model.isWait(p.part[i]) &&
			    xb <= view.width && arrows.length <= ARROWS_MAX)
				arrows.push({ row, from: p.who[i], time: p.begin[i + 1] });
		}
		drawColumn(row, x, sums, y);
	}

	/* A mark for each CPU sample; it is darker where several share a pixel. */
	function drawSamples(row, y) {
		const s = model.samplesOf(row), top = y + BOX + 2;
		let x = -1, nr = 0;
		const mark = () => {
			ctx.globalAlpha = nr > 1 ? 1 : 0.55;
			if (nr)
				ctx.fillRect(x, top, 1, SAMPLES - 3);
		};

		ctx.fillStyle = ink;
		for (let i = model.sampleAt(s, view.from); i < s.nr && s.time[i] < view.to; i++) {
			const at = Math.floor(xOf(s.time[i]));

			if (at !== x) {
				mark();
				x = at;
				nr = 0;
			}
			nr++;
		}
		mark();
		ctx.globalAlpha = 1;
		if (look.selected && look.selected.row === row && look.selected.sample >= 0) {
			ctx.fillStyle = MARK;
			ctx.fillRect(xOf(s.time[look.selected.sample]) - 1, top - 1, 3, SAMPLES - 1);
		}
	}

	function isFound(row) {
		return !row.isCpu && look.found && look.found.threads[row.track.thread];
	}

	function drawName(row, y) {
		ctx.fillStyle = ink;
		ctx.fillText(clip((row.group ? "  " : "") + row.text, view.gutter - 8), 6, y + BOX - 4);
		if (!isFound(row))
			return;
		ctx.fillStyle = MARK;
		ctx.fillRect(0, y, 3, BOX);
	}

	/*
	 * A process: a line of its sums, and below, over time, how many of its threads have a CPU,
	 * and above those how many would; the most there are fill the strip.
	 */
	function drawHead(head, y) {
		const columns = Math.max(1, Math.round(view.width - view.gutter));
		const d = model.demandOf(head, view.from, view.to, columns);
		const bottom = y + HEAD - 4;
		const paint = (values, base, part) => {
			ctx.fillStyle = paints[data.parts.indexOf(part)].colour;
			ctx.beginPath();
			for (let x = 0; x < columns; x++) {
				const h = values[x] / d.peak * STRIP;

				if (h)
					ctx.rect(view.gutter + x, bottom - base(x) / d.peak * STRIP - h, 1, h);
			}
			ctx.fill();
		};

		ctx.fillStyle = paper;
		ctx.fillRect(0, y, view.width, HEAD - STRIP - 4);
		paint(d.cpu, () => 0, "cpu");
		paint(d.ready, (x) => d.cpu[x], "runnable");
		ctx.fillStyle = faint;
		ctx.fillRect(view.gutter, bottom, columns, 1);
		ctx.fillText(clip("up to " + Math.round(d.peak), view.gutter - 26), 20, y + HEAD - 6);
		ctx.fillStyle = ink;
		ctx.fillText(clip((head.open ? "- " : "+ ") + model.headText(head), view.width - 8), 6, y + 13);
		ctx.fillStyle = MARK;
		if (head.rows.some(isFound) || look.head === head)
			ctx.fillRect(0, y, 3, HEAD - 4);
		if (look.head === head) {
			ctx.strokeStyle = MARK;
			ctx.lineWidth = 1;
			ctx.strokeRect(0.5, y - 0.5, view.width - 1, HEAD - 3);
		}
	}

	/* From the waker, at that time, to the woken thread. */
	function drawArrow(a, strong) {
		const other = model.rowOfThread.get(a.from);
		const x = xOf(a.time);

		if (!other || x < view.gutter || x > view.width)
			return;
		/* A thread of a folded process has that one's strip. */
		const middle = (row) => row.y - view.top + (row.hidden ? HEAD - 4 - STRIP / 2 : BOX / 2);
		const ya = middle(other), yb = middle(a.row);
		const down = yb > ya ? 1 : -1, tip = yb - down * BOX / 2;

		if (ya === yb || (Math.max(ya, yb) < RULER) || Math.min(ya, yb) > view.height)
			return;
		ctx.strokeStyle = ctx.fillStyle = strong ? MARK : ink;
		ctx.lineWidth = strong ? 2 : 0.8;
		ctx.globalAlpha = strong ? 1 : 0.7;
		ctx.beginPath();
		ctx.moveTo(x, ya);
		ctx.lineTo(x, tip);
		ctx.stroke();
		ctx.beginPath();
		ctx.moveTo(x, tip);
		ctx.lineTo(x - 4, tip - down * 6);
		ctx.lineTo(x + 4, tip - down * 6);
		ctx.fill();
		ctx.beginPath();
		ctx.arc(x, ya, 2.5, 0, 7);
		ctx.fill();
		ctx.globalAlpha = 1;
	}

	/* Steps of seconds that a clock's face has. */
	const seconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
			 86400].map((s) => s * 1e9);

	function stepOf(wanted) {
		const power = 10 ** Math.floor(Math.log10(wanted));

		return look.wall && wanted > 5e8 ?
			seconds.find((s) => s >= wanted) || Math.ceil(wanted / 864e11) * 864e11 :
			Math.max(1, power * [1, 2, 5, 10].find((m) => power * m >= wanted));
	}

	/* A tick at a whole step of the wall clock; with the date where that is another. */
	function wallLabel(t, date, step) {
		const [day, time] = model.wallParts(t, step < 1e9 ? 1 : 0);

		return day === date ? time : day.slice(5) + " " + time;
	}

	/*
	 * The ruler: @text at the left is a place, and each of @ticks a label that counts from it in a
	 * unit, so that labels are short however far from the begin they are; or, of seconds of the
	 * wall clock, the time of day.
	 */
	function ruler() {
		const wanted = (view.to - view.from) / Math.max(2, (view.width - view.gutter) / 120);
		const step = stepOf(wanted);
		const [unit, ns] = model.units.find(([, size]) => step >= size / 10);
		const clock = look.wall && ns === 1e9;
		const phase = look.wall ? model.wallPhase(ns * 1000) : 0;
		const base = ns === 1e9 ? 0 :
			Math.floor((view.from + phase) / (ns * 1000)) * ns * 1000 - phase;
		const shift = look.wall ? model.wallPhase(step) : 0;
		const [date, time] = look.wall ?
			model.wallParts(clock ? view.from : base, { " s": 0, " ms": 0, " us": 3, " ns": 6 }[unit]) : [];
		const text = clock ? date + " " + model.zoneText() :
			look.wall ? date + " " + time + " " + model.zoneText() :
			model.clockText(0) + (base ? " +" + model.exactText(base) : "");
		const ticks = [];

		for (let t = Math.ceil((view.from + shift) / step) * step - shift; t <= view.to; t += step)
			ticks.push([xOf(t), clock ? wallLabel(t, date, step) :
				"+" + ((t - base) / ns).toFixed(step < ns ? 1 : 0) + unit]);
		return { text, ticks };
	}

	/* The sum of all that is read from the left to a tick is its place on the trace's clock. */
	function drawRuler({ text, ticks }) {
		ctx.fillStyle = paper;
		ctx.fillRect(0, 0, view.width, RULER - 4);
		ctx.fillStyle = faint;
		ctx.fillText(clip(text, view.width - 8), 6, 12);
		for (const [x, label] of ticks)
			if (x + 4 + column * label.length < view.width)
				ctx.fillText(label, x + 2, 28);
	}

	function drawSelected() {
		const s = look.selected;

		if (!s || s.sample >= 0)
			return;
		const xa = Math.max(xOf(s.begin), view.gutter), xb = Math.min(xOf(s.end), view.width);
		const y = s.row.y - view.top;

		if (xb >= view.gutter && xa <= view.width && y > RULER - ROW) {
			ctx.strokeStyle = MARK;
			ctx.lineWidth = 2;
			ctx.strokeRect(xa - 1, y - 1, Math.max(3, xb - xa) + 1, BOX + 2);
		}
		if (s.waker >= 0)
			drawArrow({ row: s.row, from: s.waker, time: s.wokenAt }, true);
	}

	function draw() {
		const arrows = [], marks = ruler();

		view.top = Math.max(0, Math.min(view.top, view.full - view.height + 8));
		ctx.fillStyle = paper;
		ctx.fillRect(0, 0, view.width, view.height);
		ctx.fillStyle = line;
		for (const [x] of marks.ticks)
			ctx.fillRect(x, 20, 1, view.height);
		ctx.fillRect(view.gutter - 4, RULER - 4, 1, view.height);
		ctx.save();
		ctx.beginPath();
		ctx.rect(0, RULER - 4, view.width, view.height);
		ctx.clip();
		for (const row of model.rows) {
			const y = row.y - view.top;

			if (row.hidden || y < RULER - HEAD || y > view.height)
				continue;
			if (row.head) {
				drawHead(row, y);
				continue;
			}
			drawTrack(row, y, arrows);
			if (row.track.samples)
				drawSamples(row, y);
			drawName(row, y);
		}
		tooMany = arrows.length > ARROWS_MAX;
		if (look.arrows && !tooMany)
			for (const a of arrows)
				drawArrow(a, false);
		drawSelected();
		ctx.restore();
		drawRuler(marks);
	}

	/* The sample of a row that is next to a place, if that is near; or -1. */
	function nearest(row, x) {
		const s = model.samplesOf(row), i = model.sampleAt(s, timeOf(x));
		const off = (k) => k >= 0 && k < s.nr ? Math.abs(xOf(s.time[k]) - x) : Infinity;
		const best = off(i) < off(i - 1) ? i : i - 1;

		return off(best) <= 4 ? best : -1;
	}

	/* The row at a place, and its piece or sample. */
	function hit(x, y) {
		if (y < RULER - 4)
			return null;
		for (const row of model.rows) {
			const top = row.y - view.top;

			if (row.hidden || y < top || y >= top + heightOf(row))
				continue;
			if (row.head || x < view.gutter)
				return { row, piece: -1 };
			const p = model.piecesOf(row, (view.to - view.from) / (view.width - view.gutter));
			const time = timeOf(x), i = model.pieceAt(p, time);

			if (y >= top + BOX + 1 && row.track.samples)
				return { row, piece: -1, sample: nearest(row, x) };

			return { row, p, piece: i < p.nr && p.begin[i] <= time ? i : -1 };
		}
		return null;
	}

	readTheme();
	return { view, look, draw, place, resize, readTheme, hit, xOf, timeOf, RULER, ROW,
		 paintOf: (part) => paints[part], tooMany: () => tooMany };
}
