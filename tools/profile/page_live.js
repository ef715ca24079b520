// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A page without data of its own asks the agent that served it for one profile after the other, by
 * the query of its own address. It asks while it is in sight, and holds still while a button is down.
 */
function pageLive() {
	"use strict";

	const $ = (id) => document.getElementById(id), RETRY_MSEC = 3000;
	let page = null, paused = false, running = false, down = false, fetching = null;

	function tell(text) {
		$("live").textContent = text;
	}

	/* Only the texts and the data of the profile are taken; no script of the answer runs. */
	function take(html) {
		const from = new DOMParser().parseFromString(html, "text/html");
		const data = from.getElementById("data");

		if (!data)
			throw new Error("the answer is no page of a profile");
		for (const id of ["title", "head", "about"]) {
			const open = $(id).open, next = document.adoptNode(from.getElementById(id));

			if (open)
				next.open = true;
			$(id).replaceWith(next);
		}
		if (page)
			page.renew(JSON.parse(data.textContent));
		else
			page = pageBegin(JSON.parse(data.textContent));
	}

	function sleep(condition, msec) {
		return new Promise((done) => {
			const look = () => condition() ? setTimeout(look, msec) : done();

			look();
		});
	}

	async function round() {
		fetching = new AbortController();
		const answer = await fetch("debug/pprof/view" + location.search, { signal: fetching.signal });
		const text = await answer.text();

		if (!answer.ok)
			throw new Error(text.trim() || "the agent answers " + answer.status);
		await sleep(() => down && !paused, 50);
		if (paused)
			return;
		take(text);
		tell("live, as of " + new Date().toLocaleTimeString());
	}

	async function run() {
		if (running)
			return;
		running = true;
		while (!paused && !document.hidden) {
			try {
				await round();
			} catch (e) {
				if (e.name === "AbortError")
					continue;
				tell("no newer profile: " + e.message);
				await new Promise((done) => setTimeout(done, RETRY_MSEC));
			}
		}
		running = false;
	}

	$("pause").addEventListener("click", () => {
		paused = !paused;
		$("pause").setAttribute("aria-pressed", paused);
		if (paused) {
			fetching.abort();
			tell("paused");
		} else {
			run();
		}
	});
	document.addEventListener("visibilitychange", () => document.hidden ? fetching.abort() : run());
	window.addEventListener("pointerdown", () => { down = true; }, true);
	window.addEventListener("pointerup", () => { down = false; }, true);
	window.addEventListener("pointercancel", () => { down = false; }, true);
	tell("recording");
	run();
}

(function () {
	"use strict";

	const data = document.getElementById("data");

	if (data)
		pageBegin(JSON.parse(data.textContent));
	else
		pageLive();
})();
