// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The data of a timeline, as timeline_page.h describes it: tracks, whose pieces are read at
 * their first use, and texts for their contents. Times are ns since the left edge,
 * which numbers hold exactly; times of the trace's clock need a BigInt.
 */
function timelineModel(data) {
	"use strict";

	const NOTHING = data.parts.length;
	const units = [[" s", 1e9], [" ms", 1e6], [" us", 1e3], [" ns", 1]];
	/* More tracks of threads than these begin folded. */
	const ROWS_OPEN = 100;
	/* In a Go program's own trace. */
	const [cpuWord, threadWord] = data.go ? ["P", "goroutine"] : ["CPU", "thread"];
	const rows = [];
	const rowOfThread = new Map();

	function isDigit(c) {
		return c >= 48 && c <= 57;
	}

	/* LETTER NS ["!"] [":" STACK] ["@" WHO] ["*" COUNT], one behind the other */
	function readPieces(text, first) {
		let nr = 0;

		for (let i = 0; i < text.length; i++)
			nr += text.charCodeAt(i) >= 97;
		const p = {
			nr, begin: new Float64Array(nr + 1), part: new Uint8Array(nr),
			woken: new Uint8Array(nr), stack: new Uint32Array(nr),
			who: new Int32Array(nr).fill(-1), count: new Uint32Array(nr).fill(1),
		};
		let at = 0, time = first;

		function number() {
			let n = 0;

			for (; at < text.length && isDigit(text.charCodeAt(at)); at++)
				n = n * 10 + text.charCodeAt(at) - 48;
			return n;
		}

		for (let i = 0; i < nr; i++) {
			p.begin[i] = time;
			p.part[i] = text.charCodeAt(at++) - 97;
			time += number();
			if (text[at] === "!") {
				p.woken[i] = 1;
				at++;
			}
			if (text[at] === ":") {
				at++;
				p.stack[i] = number();
			}
			if (text[at] === "@") {
				at++;
				p.who[i] = number();
			}
			if (text[at] === "*") {
				at++;
				p.count[i] = number();
			}
		}
		p.begin[nr] = time;
		return p;
	}

	function threadName(i) {
		const t = data.threads[i];

		return t ? t[0] + " " + t[1] : "a " + (data.go ? threadWord : "task") + " that was not recorded";
	}

	function addRow(track, text, isCpu, group) {
		const row = { track, text, isCpu, group, levels: track.levels.map(() => null), y: 0 };

		rows.push(row);
		return row;
	}

	/* Threads stand under their process; one that is alone there stands for it. */
	function addThreads() {
		const nr = data.processes.map(() => 0);
		let head = null;

		for (const track of data.tracks)
			nr[track.process]++;
		for (const track of data.tracks) {
			const [pid, name] = data.processes[track.process];

			if (nr[track.process] < 2)
				head = null;
			else if (!head || head.process !== track.process)
				rows.push(head = { head: true, process: track.process, rows: [], open: true, y: 0,
						   text: pid ? pid + " " + name : name || "unknown function",
						   ns: data.parts.map(() => 0) });
			const row = addRow(track, threadName(track.thread), false, head);

			rowOfThread.set(track.thread, row);
			if (!head)
				continue;
			head.rows.push(row);
			track.ns.forEach((ns, part) => head.ns[part] += ns);
		}
		/* So many need to be folded to be seen; the first is the busiest. */
		const heads = rows.filter((r) => r.head);
		const large = data.tracks.length > ROWS_OPEN;

		heads.forEach((h, i) => h.opens = h.open = !large || !i);
	}

	/* A line of a process: what its threads did, in sum. */
	function headText(head) {
		const sum = (names) => durationText(data.parts.reduce((ns, name, part) =>
			ns + (names(name, part) ? head.ns[part] : 0), 0));

		return head.text + ", " + head.rows.length + " " + threadWord + "s: " +
			sum((n) => n === "cpu") + " on " + cpuWord + "s, " + sum((n) => n === "runnable" || n === "throttled") +
			" without one, " + sum((n, part) => isWait(part)) + " waiting";
	}

	function timesText(ns) {
		return data.parts.map((name, part) => [name, ns[part]]).filter(([, t]) => t)
			.map(([name, t]) => name + " " + durationText(t)).join(", ");
	}

	/*
	 * How many threads of a process have a CPU, and would have one, in each of @columns parts
	 * of a time: two rows of numbers.
	 */
	function demandOf(head, from, to, columns) {
		const key = from + "-" + to + "-" + columns;

		if (head.demand && head.demand.key === key)
			return head.demand;
		const size = (to - from) / columns;
		const demand = { key, cpu: new Float64Array(columns), ready: new Float64Array(columns),
				 peak: 1 };

		const into = data.parts.map((name) => name === "cpu" ? demand.cpu :
			name === "runnable" || name === "throttled" ? demand.ready : null);

		for (const row of head.rows) {
			const p = piecesOf(row, size);

			for (let i = pieceAt(p, from); i < p.nr && p.begin[i] < to; i++) {
				const sums = into[p.part[i]];

				if (!sums)
					continue;
				const end = Math.min(to, p.begin[i + 1]);
				let time = Math.max(from, p.begin[i]);

				for (let x = Math.floor((time - from) / size); time < end && x < columns; x++) {
					const until = Math.min(end, from + (x + 1) * size);

					sums[x] += Math.max(0, until - time) / size;
					time = until;
				}
			}
		}
		for (let x = 0; x < columns; x++)
			demand.peak = Math.max(demand.peak, demand.cpu[x] + demand.ready[x]);
		return head.demand = demand;
	}

	/* The coarsest level whose cells are no wider than @ns; else the finest. */
	function piecesOf(row, ns) {
		const levels = row.track.levels;
		let i = levels.length - 1;

		while (i > 0 && levels[i][0] > ns)
			i--;
		if (!row.levels[i])
			row.levels[i] = readPieces(levels[i][1], row.track.first);
		return row.levels[i];
	}

	/* The CPU samples of a track: their times, and numbers of stacks, as pieces have them. */
	function samplesOf(row) {
		if (!row.samples && row.track && row.track.samples) {
			const all = row.track.samples.split(",");
			const s = { nr: all.length - 1, time: new Float64Array(all.length - 1),
				    stack: new Uint32Array(all.length - 1) };
			let time = 0;

			for (let i = 0; i < s.nr; i++) {
				const at = all[i].indexOf(":");

				s.time[i] = time += Number(all[i].slice(0, at));
				s.stack[i] = Number(all[i].slice(at + 1));
			}
			row.samples = s;
		}
		return row.samples || null;
	}

	/* The first sample at @time or behind it. */
	function sampleAt(s, time) {
		let low = 0, high = s.nr;

		while (low < high) {
			const mid = (low + high) >> 1;

			if (s.time[mid] < time)
				low = mid + 1;
			else
				high = mid;
		}
		return low;
	}

	/*
	 * The functions of the samples of some rows from one time to another: [name, samples in it,
	 * samples in it or in what it calls], the most in it first; and how many samples there are.
	 */
	function hotFunctions(of, from, to) {
		const stacks = new Map(), functions = new Map();
		let nr = 0;

		for (const row of of) {
			const s = samplesOf(row);

			for (let i = s ? sampleAt(s, from) : 0; s && i < s.nr && s.time[i] < to; i++, nr++)
				stacks.set(s.stack[i], (stacks.get(s.stack[i]) || 0) + 1);
		}
		for (const [stack, count] of stacks) {
			const frames = framesOf(stack);

			new Set(frames).forEach((name) => {
				const f = functions.get(name) || [name, 0, 0];

				f[1] += name === frames[0] ? count : 0;
				f[2] += count;
				functions.set(name, f);
			});
		}
		return { nr, functions: [...functions.values()].sort((a, b) => b[1] - a[1] || b[2] - a[2]) };
	}

	/* The piece at @time, or the one behind it; @p.nr: there is none */
	function pieceAt(p, time) {
		let low = 0, high = p.nr;

		while (low < high) {
			const mid = (low + high) >> 1;

			if (p.begin[mid + 1] <= time)
				low = mid + 1;
			else
				high = mid;
		}
		return low;
	}

	function durationText(ns) {
		const [unit, size] = units.find(([, least]) => ns >= least) || units[3];

		return size === 1 ? Math.round(ns) + unit :
			(ns / size).toPrecision(ns >= size * 1000 ? 6 : 4) + unit;
	}

	/* Since the left edge, to the nanosecond. */
	function offsetText(ns) {
		return (ns / 1e6).toFixed(6) + " ms";
	}

	/* All digits that a number of ns has, and no more, in the unit that it fills. */
	function exactText(ns) {
		const [unit, size] = units.find(([, least]) => ns >= least) || units[3];
		const rest = String(ns % size).padStart(Math.log10(size), "0").replace(/0+$/, "");

		return Math.floor(ns / size) + (rest && "." + rest) + unit;
	}

	/* On the trace's own clock, in seconds. */
	function clockText(ns) {
		const text = (BigInt(data.begin) + BigInt(Math.round(ns))).toString().padStart(10, "0");

		return text.slice(0, -9) + "." + text.slice(-9) + " s";
	}

	const wall = data.wall === null ? null : BigInt(data.wall) + BigInt(data.zone[0]) * 60000000000n;

	/* [date, time of day with @digits of a second], of the zone of the page */
	function wallParts(ns, digits) {
		const at = wall + BigInt(Math.round(ns));
		const text = new Date(Number(at / 1000000000n) * 1000).toISOString();
		const rest = (at % 1000000000n).toString().padStart(9, "0").slice(0, digits);

		return [text.slice(0, 10), text.slice(11, 19) + (digits ? "." + rest : "")];
	}

	function zoneText() {
		const [minutes, name] = data.zone;
		const abs = Math.abs(minutes), two = (n) => String(n).padStart(2, "0");
		const offset = (minutes < 0 ? "-" : "+") + two(Math.floor(abs / 60)) + ":" + two(abs % 60);

		/* Names of zones that have none are offsets. */
		return /[A-Za-z]/.test(name) ? offset + " " + name : offset;
	}

	/* From one time to another, to the nanosecond. */
	function wallRange(begin, end) {
		const [date, from] = wallParts(begin, 9), [day, to] = wallParts(end, 9);

		return date + " " + from + " to " + (day === date ? "" : day + " ") + to + " " + zoneText();
	}

	/* How far behind a whole @step of the wall clock the left edge is. */
	function wallPhase(step) {
		return Number(wall % BigInt(step));
	}

	/* Likewise, as the tables of commands have it. */
	function secondsText(ns) {
		return (Number(BigInt(data.begin) + BigInt(Math.round(ns))) / 1e9).toFixed(6);
	}

	/* The command that tells the chain of a wait: it has all of the trace. */
	function whyCommand(row, begin, end) {
		const file = /^[\w./+-]+$/.test(data.title) ? data.title : "TRACE";

		return "gprofctl why " + file + " --thread " + data.threads[row.track.thread][0] +
			" --at " + clockText(Math.floor((begin + end) / 2)).replace(" s", "");
	}

	/* The command that draws a box of several stretches as these. */
	function detailCommand(begin, end) {
		const file = /^[\w./+-]+$/.test(data.title) ? data.title : "TRACE";

		return "gprofctl timeline " + file + " -o part.html --from " + clockText(begin).replace(" s", "") +
			" --to " + clockText(end).replace(" s", "");
	}

	function isWait(part) {
		return part < NOTHING && !["cpu", "runnable", "throttled", "syscall", "lost"].includes(data.parts[part]);
	}

	function subject(row, p, i) {
		if (!row.isCpu)
			return row.text;
		return p.part[i] === NOTHING ? "no thread" : data.parts[p.part[i]] === "lost" ? "lost" :
			p.who[i] < 0 ? "several threads" : threadName(p.who[i]);
	}

	function describe(row, p, i) {
		const ns = p.begin[i + 1] - p.begin[i];
		const part = data.parts[p.part[i]];
		const count = p.count[i];
		let text = row.isCpu && part === "lost" ? "a thread " : subject(row, p, i) + " ";

		text += row.isCpu && part !== "lost" ? (part ? "runs" : "runs here") : part ? data.words[p.part[i]] : "has no known state";
		text += count > 1 ? ", " + count + " times, " + durationText(ns) + " in all" :
			" for " + durationText(ns);
		if (row.isCpu)
			return text + " on " + row.text;
		if (part === "cpu" && p.who[i] >= 0 && count === 1)
			text += " on " + cpuWord + " " + p.who[i];
		if (p.woken[i] && isWait(p.part[i]))
			text += ", until " + (p.who[i] < 0 ? data.go ? "the runtime" :
					      "an interrupt or a task that was not recorded" :
					      threadName(p.who[i])) + " wakes it";
		else if (p.woken[i] && part !== "cpu" && p.who[i] >= 0)
			text += ", woken by " + threadName(p.who[i]);
		return text;
	}

	/* Of a number of a stack; leaf first. */
	function framesOf(number) {
		return (data.stacks[number - 1] || []).map((f) => data.functions[f]);
	}

	function stackOf(p, i) {
		return framesOf(p.stack[i]);
	}

	/* A pattern finds threads by tid and name, and stacks by functions. */
	function find(pattern) {
		let test, bad = "";

		try {
			const re = new RegExp(pattern, "i");

			test = (s) => re.test(s);
		} catch (e) {
			/* Not a regular expression (yet): look for it as it stands. */
			bad = e.message.replace(/.*: /s, "");
			test = (s) => s.toLowerCase().includes(pattern.toLowerCase());
		}
		const functions = data.functions.map(test);
		const threads = data.threads.map((t, i) => test(threadName(i)));

		return { bad, threads, stacks: data.stacks.map((s) => s.some((f) => functions[f])) };
	}

	for (const track of data.cpus)
		addRow(track, cpuWord + " " + track.cpu, true, null);
	addThreads();
	return { data, rows, rowOfThread, NOTHING, units, piecesOf, pieceAt, durationText,
		 exactText, offsetText, clockText, secondsText, whyCommand, detailCommand, isWait,
		 subject, describe, stackOf, threadName, find, headText, timesText, demandOf,
		 cpuWord, threadWord, samplesOf, sampleAt, hotFunctions, framesOf, hasWall: wall !== null, wallParts, wallRange, wallPhase, zoneText };
}
