// SPDX-License-Identifier: GPL-2.0
// The script of a flame graph: zoom, search, reset. Without it, the graph is complete, at a fixed width.
"use strict";
(function () {
	const NARROW = 26; // pixels: narrower frames have no text
	const root = document.getElementById("flamegraph");
	const area = document.getElementById("frames");
	const details = document.getElementById("details");
	const matched = document.getElementById("matched");
	const input = document.getElementById("search");
	const reset = document.getElementById("reset");
	const frames = [];

	// Frames come parents first, so those inside of a frame follow it directly.
	function readFrames() {
		const above = [];
		for (const element of area.querySelectorAll(".f")) {
			const title = element.querySelector("title").textContent;
			const frame = {
				element: element,
				x: parseFloat(element.getAttribute("x")),
				width: parseFloat(element.getAttribute("width")),
				depth: parseInt(element.getAttribute("data-depth"), 10),
				name: element.querySelector("text").textContent,
				title: title,
				index: frames.length,
			};
			frame.parent = above[frame.depth - 1];
			above[frame.depth] = frame;
			element.frame = frame;
			frames.push(frame);
		}
	}

	function place(frame, x, width) {
		frame.shown = width;
		frame.element.setAttribute("x", x + "%");
		frame.element.setAttribute("width", width + "%");
		frame.element.style.display = width > 0 ? "" : "none";
	}

	function hideTexts() {
		const pixels = area.getBoundingClientRect().width;
		for (const frame of frames)
			frame.element.classList.toggle("n", frame.shown * pixels / 100 < NARROW);
	}

	function zoom(target) {
		const scale = 100 / target.width;
		let end = target.index + 1;
		while (end < frames.length && frames[end].depth > target.depth)
			end++;
		for (const frame of frames) {
			const inside = frame.index >= target.index && frame.index < end;
			frame.element.classList.remove("above");
			place(frame, inside ? (frame.x - target.x) * scale : 0, inside ? frame.width * scale : 0);
		}
		for (let frame = target.parent; frame; frame = frame.parent) {
			frame.element.classList.add("above");
			place(frame, 0, 100);
		}
		hideTexts();
		reset.disabled = target.index === 0;
	}

	function expression(text) {
		const flags = /[A-Z]/.test(text) ? "" : "i";
		try {
			return new RegExp(text, flags);
		} catch (error) {
			return new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), flags);
		}
	}

	// The share counts a frame inside of another one that matches only once.
	function search(text) {
		const wanted = text ? expression(text) : null;
		let share = 0, nr = 0, covered = -1;
		for (const frame of frames) {
			const hit = wanted !== null && wanted.test(frame.name);
			frame.element.classList.toggle("match", hit);
			if (covered >= 0 && frame.depth <= covered)
				covered = -1;
			if (!hit)
				continue;
			nr++;
			if (covered < 0) {
				share += frame.width;
				covered = frame.depth;
			}
		}
		matched.textContent = wanted ? nr + (nr === 1 ? " match, " : " matches, ") + share.toFixed(2) + " %" : "";
	}

	function frameOf(event) {
		const element = event.target.closest ? event.target.closest(".f") : null;
		return element ? element.frame : null;
	}

	function zoomOut() {
		if (frames.length)
			zoom(frames[0]);
	}

	function resize() {
		root.setAttribute("width", "100%");
		area.setAttribute("width", Math.max(100, root.getBoundingClientRect().width - 20));
		hideTexts();
	}

	readFrames();
	document.getElementById("controls").style.display = "";
	area.addEventListener("click", function (event) {
		const frame = frameOf(event);
		if (frame)
			zoom(frame);
	});
	area.addEventListener("mouseover", function (event) {
		const frame = frameOf(event);
		details.textContent = frame ? frame.title : "";
	});
	area.addEventListener("mouseleave", function () {
		details.textContent = "";
	});
	reset.addEventListener("click", zoomOut);
	input.addEventListener("input", function () {
		search(input.value);
	});
	document.addEventListener("keydown", function (event) {
		if (event.key === "Escape") {
			input.value = "";
			search("");
			zoomOut();
		} else if (event.key === "/" && event.target !== input) {
			event.preventDefault();
			input.focus();
		}
	});
	window.addEventListener("resize", resize);
	resize();
	zoomOut();
}());
