# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Flame graphs in a browser without a window.

# require_browser : skip where Chromium is missing, which only make test-all installs
require_browser() {
	command -v chromium >/dev/null || [ "${FULL:-}" ] || skip "needs chromium, which only make test-all installs"
	require_commands chromium
}

# For scripts of act: frame(NAME) and its shape(NAME), click(ELEMENT), search(TEXT), say(TEXT).
acting='
	const frame = function (name) {
		return Array.from(document.querySelectorAll(".f")).find(f => f.querySelector("text").textContent === name);
	};
	const said = document.createElementNS("http://www.w3.org/2000/svg", "desc");
	said.id = "said";
	document.querySelector("svg").append(said);
	const say = text => said.append(text, ";");
	const shape = name => [frame(name).getAttribute("x"), frame(name).getAttribute("width"), frame(name).style.display].join(" ");
	const click = element => element.dispatchEvent(new MouseEvent("click", {bubbles: true}));
	const search = function (text) {
		document.getElementById("search").value = text;
		document.getElementById("search").dispatchEvent(new Event("input"));
		say(document.getElementById("matched").textContent);
	};'

# act GRAPH SCRIPT : open a flame graph, run the script behind that of the graph, and print what it says
act() {
	local acted=$BATS_TEST_TMPDIR/acted.${1##*.} ends=1
	[ "${1##*.}" = svg ] || ends=2
	{
		head -n -$ends "$1"
		printf '<script>/*<![CDATA[*/\n%s\n/*]]>*/</script>\n' "$acting$2"
		tail -n $ends "$1"
	} >"$acted"
	timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$BATS_TEST_TMPDIR/chromium" \
		--dump-dom "file://$acted" 2>/dev/null | sed -n 's,.*<desc id="said">\([^<]*\)</desc>.*,\1,p'
}
