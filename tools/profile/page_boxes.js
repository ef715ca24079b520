// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How boxes of a graph look: a colour for each kind of code, and marks that need no colour.
 */
const pageBoxes = (function () {
	"use strict";

	function hash(text) {
		let h = 0;

		for (let i = 0; i < text.length; i++)
			h = h * 31 + text.charCodeAt(i) >>> 0;
		return (h >>> 4) % 4;
	}

	const kinds = ["user", "kernel", "inlined", "runtime"];
	const shades = [
		["#ffcf85", "#ffc46b", "#fdbb63", "#ffd596"],	/* user */
		["#6fa3dd", "#7dade1", "#659bd6", "#86b3e3"],	/* kernel: darker, also in grey */
		["#ffe7bd", "#ffe2b0", "#ffecca", "#fbe3b8"],	/* inlined: dashed besides */
		["#bfe3c0", "#b3dcb4", "#c9e8ca", "#addaaf"],	/* runtime: hatched besides */
	];

	function colorOf([name, , kind]) {
		return shades[kind][hash(name)];
	}

	/* Stripes that leave a name upon them readable. */
	function hatching(c) {
		const tile = document.createElement("canvas"), t = tile.getContext("2d");

		tile.width = tile.height = 6;
		t.strokeStyle = "#00000050";
		t.beginPath();
		for (const at of [-6, 0, 6]) {
			t.moveTo(at, 6);
			t.lineTo(at + 6, 0);
		}
		t.stroke();
		return c.createPattern(tile, "repeat");
	}

	function clip(text, room) {
		const columns = Math.floor((room - 6) / 7.23);

		if (columns < 3)
			return "";
		return text.length <= columns ? text : text.slice(0, columns - 2) + "..";
	}

	return { kinds: kinds, colorOf: colorOf, hatching: hatching, clip: clip };
})();
