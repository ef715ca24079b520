// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The data of a profile's page, as page.c writes it: the tree of calls, with the values of the
 * samples that are chosen.
 *
 * All graphs are of groups: nodes of the tree of calls that are shown as one box. A
 * group finds its children when they are drawn, so that invisible ones cost nothing.
 */
function pageModel(data) {
	"use strict";

	const nodes = data.parents.length;
	const parent = Int32Array.from(data.parents), frame = Int32Array.from(data.nodes);
	const self = new Float64Array(nodes), total = new Float64Array(nodes);
	const firstChild = new Int32Array(nodes).fill(-1), next = new Int32Array(nodes).fill(-1);
	/* Of each key the number of the value that is chosen, "": all; of processes as chosenBy() has it. */
	const chosen = data.keys.map(() => "");
	const processes = pageProcesses(data), time = pageTime(data);
	/* Functions are told apart by name, as in the tables of gprofctl. */
	const functionOf = new Int32Array(data.frames.length), functions = [];
	/* Of nested nodes of one function only the outermost counts. */
	let outermost = null;
	/* Values of functions are added up when they are shown. */
	let summed = false;
	let type = data.type;

	for (let i = nodes - 1; i > 0; i--) {
		next[i] = firstChild[parent[i]];
		firstChild[parent[i]] = i;
	}
	(function () {
		const known = new Map();

		data.frames.forEach(([name], i) => {
			if (!known.has(name)) {
				known.set(name, functions.length);
				functions.push({ name: name, frame: i, self: 0, total: 0 });
			}
			functionOf[i] = known.get(name);
		});
	})();

	/* As human() of the command. */
	function valueText(v, units) {
		const [least, size, name] = (units || data.types[type].units).find((u) => Math.abs(v) >= u[0]);
		const n = v / size, digits = !least || Math.abs(n) >= 99.95 ? 0 : Math.abs(n) >= 9.995 ? 1 : 2;

		return n.toFixed(digits) + (v ? name : "");
	}

	function percentText(v, whole) {
		return (whole ? 100 * v / whole : 0).toFixed(2) + " %";
	}

	/* ---- selection ---- */

	/* Of each set of labels, whether it is chosen, whatever is of key @but. */
	function allowedSets(but) {
		const tests = [];

		chosen.forEach((choice, k) => {
			if (choice === "" || k === but)
				return;
			const is = k === processes.key ? processes.chosenBy(choice) :
				time && k === time.key ? time.chosenBy(choice) : (v) => v === Number(choice);
			const of = data.values[k].map((name, v) => is(v));

			tests.push((set) => of[set[k]]);
		});
		return data.sets.map((set) => tests.every((test) => test(set)));
	}

	function sumProcesses() {
		const allowed = allowedSets(processes.key), own = new Float64Array(processes.all.length);
		const { set, columns } = data.samples, value = columns[type];

		for (let i = 0; i < set.length; i++)
			if (allowed[set[i]])
				own[data.sets[set[i]][processes.key]] += value[i];
		processes.sum(own);
	}

	/* The value of each slice, of whatever span. */
	function sumTime() {
		const allowed = allowedSets(time.key), sums = new Float64Array(time.bins);
		const bin = data.sets.map((set, i) => allowed[i] ? time.binOf[set[time.key]] : NaN);
		const { set, columns } = data.samples, value = columns[type];

		for (let i = 0; i < set.length; i++)
			if (bin[set[i]] >= 0)
				sums[bin[set[i]]] += value[i];
		return sums;
	}

	function compute() {
		const allowed = allowedSets(-1);
		const { node, set, columns } = data.samples, value = columns[type];

		self.fill(0);
		for (let i = 0; i < node.length; i++)
			if (allowed[set[i]])
				self[node[i]] += value[i];
		total.set(self);
		for (let i = nodes - 1; i > 0; i--)
			total[parent[i]] += total[i];
		summed = false;
	}

	function sumFunctions() {
		if (summed)
			return;
		summed = true;
		functions.forEach((f) => { f.self = f.total = 0; });
		findOutermost();
		for (let i = 1; i < nodes; i++) {
			const f = functions[functionOf[frame[i]]];

			f.self += self[i];
			if (outermost[i])
				f.total += total[i];
		}
	}

	/* Parents come before their children, but not in the order of a walk. */
	function findOutermost() {
		const open = new Int32Array(functions.length), stack = [0];

		if (outermost)
			return;
		outermost = new Uint8Array(nodes);
		while (stack.length) {
			const i = stack.pop();

			if (i < 0) {
				open[functionOf[frame[-i]]]--;
				continue;
			}
			if (i) {
				outermost[i] = !open[functionOf[frame[i]]]++;
				stack.push(-i);
			}
			for (let c = firstChild[i]; c >= 0; c = next[c])
				stack.push(c);
		}
	}

	/* ---- groups ---- */

	function group(f, up, above, depth) {
		return { frame: f, list: [], weights: [], total: 0, self: 0, up: up, above: above,
			 depth: depth, children: null };
	}

	function gather(g, one) {
		const found = new Map();

		g.list.forEach((n, i) => one(n, g.weights[i], (node, weight) => {
			let c = found.get(frame[node]);

			if (!c) {
				c = group(frame[node], g.up, g, g.depth + 1);
				found.set(frame[node], c);
			}
			c.list.push(node);
			c.weights.push(weight);
			c.total += weight;
		}));
		g.children = [...found.values()].sort((a, b) => b.total - a.total ||
			(nameOf(a) < nameOf(b) ? -1 : 1));
	}

	function expand(g) {
		if (g.children)
			return g.children;
		if (g.up)
			gather(g, (n, weight, add) => parent[n] > 0 && add(parent[n], weight));
		else
			gather(g, (n, weight, add) => {
				for (let c = firstChild[n]; c >= 0; c = next[c])
					if (total[c])
						add(c, total[c]);
			});
		g.self = g.total - g.children.reduce((sum, c) => sum + c.total, 0);
		return g.children;
	}

	function nameOf(g) {
		return g.frame < 0 ? g.title : data.frames[g.frame][0];
	}

	function rootOf(title, list, weights, up) {
		const g = group(-1, up, null, 0);

		g.title = title;
		g.list = list;
		g.weights = weights;
		g.total = weights.reduce((a, b) => a + b, 0);
		return g;
	}

	/* The first level upwards is the nodes themselves, not their callers. */
	function upwards(title, list, weights) {
		const g = rootOf(title, list, weights, true);

		gather(g, (n, weight, add) => add(n, weight));
		return g;
	}

	/* What a view shows: roots of graphs, with titles where there are two. */
	function graphs(mode, focus) {
		const list = [], weights = [];

		if (mode === "flame")
			return [{ root: rootOf("all", [0], [total[0]], false) }];
		if (mode === "inverted") {
			for (let i = 1; i < nodes; i++)
				if (self[i]) {
					list.push(i);
					weights.push(self[i]);
				}
			return [{ root: upwards("all", list, weights) }];
		}
		sumFunctions();
		if (focus < 0 || !functions[focus].total)
			return [];
		for (let i = 1; i < nodes; i++)
			if (outermost[i] && functionOf[frame[i]] === focus && total[i]) {
				list.push(i);
				weights.push(total[i]);
			}
		return [
			{ title: "Called by", root: upwards(functions[focus].name, list, weights) },
			{ title: "Calls", root: rootOf(functions[focus].name, list, weights, false) },
		];
	}

	/* The value of all that matches: of nested matches only the outermost counts. */
	function matched(test) {
		const stack = [0];
		let sum = 0, found = false;

		while (stack.length) {
			const i = stack.pop();

			if (i && test(data.frames[frame[i]][0])) {
				found = true;
				sum += total[i];
				continue;
			}
			for (let c = firstChild[i]; c >= 0; c = next[c])
				if (total[c])
					stack.push(c);
		}
		return { found: found, sum: sum };
	}

	return {
		chosen: chosen, functions: functions, functionOf: functionOf, total: total,
		get type() { return data.types[type]; },
		setType(name) {
			const at = data.types.findIndex((t) => t.name === name);

			type = at < 0 ? data.type : at;
		},
		time: time, sumTime: sumTime, processes: processes, sumProcesses: sumProcesses, compute: compute, sumFunctions: sumFunctions, expand: expand,
		nameOf: nameOf,
		graphs: graphs, matched: matched, valueText: valueText, percentText: percentText,
	};
}
