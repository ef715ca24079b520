// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The processes of a profile as a tree, each with its own value and with that of all below it.
 * A parent without samples is in it too; a process whose parent is not known is a root.
 */
function pageProcesses(data) {
	"use strict";

	const key = data.keys.indexOf("process"), byPid = new Map(), roots = [];
	const all = data.values[key].map((name, i) => place(name, i, data.processes[i]));

	function place(name, at, ids) {
		return { name: name, at: at, pid: ids ? ids[0] : 0, ppid: ids ? ids[1] : 0, up: null,
			 children: [], own: 0, total: 0, depth: 0 };
	}

	/* Numbers are used again: one may be its own ancestor. */
	function isAbove(p, q) {
		for (; q; q = q.up)
			if (p === q)
				return true;
		return false;
	}

	all.forEach((p) => p.pid && byPid.set(p.pid, p));
	all.slice().forEach((p) => {
		if (p.ppid && !byPid.has(p.ppid)) {
			const up = place("process " + p.ppid + ", without samples", all.length, [p.ppid, 0]);

			all.push(up);
			byPid.set(p.ppid, up);
		}
		const up = byPid.get(p.ppid);

		if (!up || isAbove(p, up))
			return;
		p.up = up;
		up.children.push(p);
	});
	all.forEach((p) => !p.up && roots.push(p));

	/* Parents before their children, siblings as @order has them. */
	function walk(order) {
		const found = [], stack = roots.slice().sort(order).reverse();

		while (stack.length) {
			const p = stack.pop();

			p.depth = p.up ? p.up.depth + 1 : 0;
			found.push(p);
			stack.push(...p.children.slice().sort(order).reverse());
		}
		return found;
	}

	/* Those that a choice is of: "": all; a number: one; with a "+": with all below. */
	function chosenBy(choice) {
		const top = all[Number.parseInt(choice, 10)];

		return (i) => choice.endsWith("+") ? isAbove(top, all[i]) : i === top.at;
	}

	/* @own: value of each process */
	function sum(own) {
		const found = walk(() => 0);

		all.forEach((p) => { p.own = p.total = own[p.at] || 0; });
		found.reverse().forEach((p) => {
			if (p.up)
				p.up.total += p.total;
		});
	}

	return {
		all: all, key: key, chosenBy: chosenBy, sum: sum,
		inOrder: () => walk((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1)),
	};
}
