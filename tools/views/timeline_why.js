// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Why a thread of a timeline waited, as wait_chain.c says it, in its words and lines: backwards from
 * the end of the wait its waker ran, or was runnable, or waited for another.
 */
function timelineWhy(model) {
	"use strict";

	const data = model.data;
	const STEPS_MAX = 10000, TURNS_TOLD = 4, SUMS_SHOWN = 8;
	const CPU = data.parts.indexOf("cpu"), RUNNABLE = data.parts.indexOf("runnable");
	const LOST = data.parts.indexOf("lost");
	const [WOKEN, TRACE_ENDS, ENDS_LOST] = data.ended;

	/* Two sorts of pieces are not what happened, but a sum: joined ones, and those moved by them. */
	function isExact(p, i) {
		return data.resolution === 1 ||
			(p.count[i] === 1 && p.begin[i + 1] - p.begin[i] >= data.resolution);
	}

	/* A thread's piece just before @time, behind @from: [pieces, index], or null. */
	function before(thread, time, from) {
		const row = model.rowOfThread.get(thread);
		const p = row && model.piecesOf(row, 0);
		let i = p ? Math.min(p.nr - 1, model.pieceAt(p, time)) : -1;

		while (i >= 0 && (p.begin[i] >= time || p.part[i] === model.NOTHING))
			i--;
		return i >= 0 && p.begin[i + 1] > from ? [p, i] : null;
	}

	function isOpen(p, i) {
		return p.part[i + 1] === LOST || (p.begin[i + 1] === data.span && !p.woken[i]);
	}

	/*
	 * The steps of a wait, backwards; null where the page does not have all that they need, as when
	 * it joined pieces, is of a part of the trace, or has no track for a thread.
	 */
	function chainOf(thread, begin, end) {
		const steps = [], chain = [thread];
		let time = end, cut = false;

		if (!data.whole && (begin <= 0 || end >= data.span))
			return null;
		while (time > begin && steps.length < STEPS_MAX && chain.length < STEPS_MAX) {
			const d = before(chain[chain.length - 1], time, begin);

			if (!d)
				break;
			const [p, i] = d, wait = model.isWait(p.part[i]), waker = wait ? p.who[i] : -1;

			if (!isExact(p, i))
				return null;
			if (p.begin[i + 1] < time && wait)
				break;
			if (waker >= 0 && data.others.threads && !model.rowOfThread.get(waker))
				return null;
			if (waker >= 0 && before(waker, time, begin)) {
				chain.push(waker);
				continue;
			}
			steps.push({ begin: Math.max(p.begin[i], begin), end: time, part: p.part[i],
				     thread: chain[chain.length - 1], stack: p.stack[i],
				     depth: chain.length - 1, open: isOpen(p, i) });
			time = p.begin[i];
			if (p.part[i] === LOST)
				break;
		}
		cut = time > begin;
		return { steps, chain, cut };
	}

	/* As printf's "%.4g", with a unit. */
	function duration(ns) {
		const four = (v) => String(Number(v.toPrecision(4)));
		const units = ["ns", "us", "ms", "s"];
		let value = ns, i = 0;

		for (; i < 3 && value >= 999.95; i++)
			value /= 1000;
		return value < 999.95 ? four(value) + " " + units[i] :
			value < 999.95 * 60 ? four(value / 60) + " min" : four(value / 3600) + " h";
	}

	function msText(ns) {
		return (ns / 1e6).toFixed(3).padStart(12) + " ms";
	}

	function placeText(stack) {
		const frames = model.framesOf(stack), [begin, end, inKernel] = data.places[stack - 1] || [];
		const shown = frames.slice(begin, end).join(" < ");

		if (!stack || !shown)
			return "";
		return "  in " + shown + (inKernel < 0 ? "" : " (kernel: " + frames[inKernel] + ")");
	}

	function sums(steps, length) {
		const parts = new Map();

		for (const s of steps) {
			const key = s.thread + " " + s.part;

			if (!parts.has(key))
				parts.set(key, { ns: 0, thread: s.thread, part: s.part });
			parts.get(key).ns += s.end - s.begin;
		}
		const all = [...parts.values()].sort((a, b) => b.ns - a.ns ||
			data.threads[a.thread][0] - data.threads[b.thread][0] || a.part - b.part);
		const lines = all.slice(0, SUMS_SHOWN).map((s) => msText(s.ns) + " " +
			(100 * s.ns / length).toFixed(1).padStart(5) + "%  " + model.threadName(s.thread) +
			" " + data.words[s.part]);

		if (all.length > SUMS_SHOWN)
			lines.push(" ".repeat(15) + " and " + (all.length - SUMS_SHOWN) + " more");
		return ["In sum:", ...lines, "One behind the other:"];
	}

	function turns(steps, last, first) {
		return [CPU, RUNNABLE].map((part) => {
			const of = steps.slice(first, last + 1).filter((s) => s.part === part);

			return of.length ? msText(of.reduce((ns, s) => ns + s.end - s.begin, 0)) + "  " +
				model.threadName(steps[first].thread) + " " + data.words[part] + ", " +
				of.length + " times in turn" : "";
		}).filter(Boolean);
	}

	/* The lines of gprofctl why about a wait; null: the page cannot tell. */
	function linesOf(row, part, begin, end) {
		const found = chainOf(row.track.thread, begin, end);

		if (!found)
			return null;
		const { steps, chain, cut } = found;
		const indent = " ".repeat(17);
		const isTurn = (i, depth) => steps[i].depth === depth && [CPU, RUNNABLE].includes(steps[i].part);
		const lines = [model.threadName(row.track.thread) + " " + data.words[part] + " for " +
			       duration(end - begin) + ", from " + model.secondsText(begin) + " to " +
			       model.secondsText(end) + " s"];
		let first;

		if (steps.length > SUMS_SHOWN)
			lines.push(...sums(steps, end - begin));
		for (let i = steps.length - 1; i >= 0; i = first - 1) {
			const s = steps[i], wait = model.isWait(s.part);

			for (first = i; first > 0 && isTurn(i, s.depth) && isTurn(first - 1, s.depth);)
				first--;
			if (i - first < TURNS_TOLD) {
				first = i;
				lines.push(msText(s.end - s.begin) + "  " + model.threadName(s.thread) + " " +
					   data.words[s.part] + placeText(s.stack));
				if (wait)
					lines.push(indent + (!s.open ? WOKEN : s.end === data.span ? TRACE_ENDS :
							     ENDS_LOST));
			} else {
				lines.push(...turns(steps, i, first));
			}
			if (!wait && (!first || steps[first - 1].depth < s.depth))
				for (let depth = s.depth; depth > (first ? steps[first - 1].depth : 0); depth--)
					lines.push(indent + "and wakes " + model.threadName(chain[depth - 1]));
		}
		if (cut)
			lines.push("What was before that cannot be followed in the trace.");
		return lines;
	}

	return { linesOf };
}
