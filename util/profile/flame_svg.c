// SPDX-License-Identifier: GPL-2.0
#include "util/profile/flame_svg.h"

#include "util/lib/util.h"
#include "util/lib/xml_text.h"
#include "util/profile/flame_tree.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define WIDTH	   1200 /* pixels without the script, which takes the whole window */
#define MARGIN	   10
#define ROW	   17
#define LINE	   16	   /* of texts above the frames */
#define TOP	   30	   /* the first line below the title */
#define CHAR_WIDTH 7.2	   /* of the frames' font */
#define MIN_CHARS  3	   /* frames with room for less have no text */
#define MIN_SHARE  0.00833 /* percent: a tenth of a pixel */

static const char script[] =
#include "util/profile/flame_graph.inc"
	;

static const char style[] =
	"text { font: 12px monospace; fill: #111 }\n"
	"#title { font: bold 16px sans-serif }\n"
	".note { font: 12px sans-serif; fill: #444 }\n"
	"#frames { cursor: pointer }\n"
	".f rect { stroke: #fff; stroke-width: 0.5 }\n"
	".f:hover > rect { stroke: #000; stroke-width: 1.5 }\n"
	".n > text { display: none }\n"
	".n > rect { stroke: none }\n"
	".above { opacity: 0.55 }\n"
	".match rect { fill: #d95fff }\n"
	"#controls div { font: 12px sans-serif; text-align: right; padding: 5px 10px }\n"
	"#matched { margin-right: 8px }\n"
	"#search { width: 180px; margin-right: 6px }\n";

/* Red, green, blue, and how far frames of other names may be from it. */
static const struct {
	const char *name;
	uint8_t base[3], range[3];
} kinds[NR_FRAME_KINDS] = {
	[FRAME_USER] = {"user", {246, 178, 92}, {9, 40, 40}},
	[FRAME_KERNEL] = {"kernel", {124, 172, 226}, {40, 30, 24}},
	[FRAME_JIT] = {"JIT", {134, 202, 118}, {36, 28, 36}},
	[FRAME_INLINED] = {"inlined", {240, 224, 120}, {10, 24, 50}},
	[FRAME_COMMAND] = {"command", {205, 205, 205}, {18, 18, 18}},
};

struct drawing {
	FILE *out;
	const struct flame_graph *graph;
	const struct call_node *nodes;
	uint64_t total, total_before; /* at least 1 */
	double min_share, max_change; /* percent, points */
	uint64_t selves[NR_FRAME_KINDS];
	uint64_t left_out, gone; /* weights; gone: only before */
	int nr_left_out, max_depth;
};

/* --- figures --- */

static double share(const struct drawing *d, const struct call_node *node)
{
	return 100.0 * node->weight / d->total;
}

static double share_before(const struct drawing *d, const struct call_node *node)
{
	return 100.0 * node->nr / d->total_before;
}

static double change(const struct drawing *d, const struct call_node *node)
{
	return share(d, node) - share_before(d, node);
}

static uint64_t self_weight(const struct drawing *d, const struct call_node *node)
{
	uint64_t weight = node->weight;

	for (int below = node->first; below >= 0; below = d->nodes[below].next)
		weight -= d->nodes[below].weight;
	return weight;
}

static bool is_drawn(const struct drawing *d, const struct call_node *node)
{
	return share(d, node) >= d->min_share;
}

static enum frame_kind kind_of(const struct drawing *d, const struct call_node *node)
{
	return node == d->nodes ? FRAME_COMMAND :
				  flame_tree__frame(d->graph->tree, node->function).kind;
}

static void sum_kinds(struct drawing *d, int nr)
{
	for (int i = 0; i < nr; i++)
		d->selves[kind_of(d, &d->nodes[i])] += self_weight(d, &d->nodes[i]);
}

static void measure(struct drawing *d, const struct call_node *node, int depth)
{
	if (!is_drawn(d, node)) {
		d->nr_left_out += node->weight != 0;
		d->left_out += node->weight;
		d->gone += node->weight ? 0 : node->nr;
		return;
	}
	d->max_depth = depth > d->max_depth ? depth : d->max_depth;
	if (depth)
		d->max_change = fmax(d->max_change, fabs(change(d, node)));
	for (int below = node->first; below >= 0; below = d->nodes[below].next)
		measure(d, &d->nodes[below], depth + 1);
}

/* --- frames --- */

/* A decimal point in every locale. */
static void put_percent(FILE *out, uint64_t parts)
{
	fprintf(out, "%" PRIu64 ".%05" PRIu64 "%%", parts / 100000, parts % 100000);
}

static uint64_t in_parts(const struct drawing *d, uint64_t weight)
{
	return (unsigned __int128)weight * 10000000 / d->total;
}

static unsigned int hash_of(const char *name)
{
	unsigned int hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash ^ hash >> 15;
}

/* Equal names have equal colours. */
static void put_kind_color(FILE *out, enum frame_kind kind, const char *name)
{
	unsigned int hash = hash_of(name);

	fprintf(out, "#");
	for (int i = 0; i < 3; i++)
		fprintf(out, "%02x", kinds[kind].base[i] + hash % (kinds[kind].range[i] + 1));
}

/* From grey to red, if it grew, or to blue. @part: of the largest change, from -1 to 1 */
static void put_change_color(FILE *out, double part)
{
	static const uint8_t ends[2][3] = {{90, 140, 235}, {240, 95, 70}};

	fprintf(out, "#");
	for (int i = 0; i < 3; i++)
		fprintf(out, "%02x", (int)(232 + (ends[part > 0][i] - 232) * sqrt(fabs(part))));
}

static void put_color(const struct drawing *d, const struct call_node *node,
		      const struct flame_frame *frame)
{
	if (d->graph->is_diff)
		put_change_color(d->out,
				 d->max_change > 0 && node != d->nodes ?
					 fmax(-1, fmin(1, change(d, node) / d->max_change)) :
					 0);
	else
		put_kind_color(d->out, frame->kind, frame->name);
}

static void put_title(const struct drawing *d, const struct call_node *node,
		      const struct flame_frame *frame)
{
	FILE *out = d->out;

	fprintf(out, "<title>");
	xml_text__put(out, frame->name);
	if (*frame->image) {
		fprintf(out, " (");
		xml_text__put(out, frame->image);
		fprintf(out, ")");
	}
	fprintf(out, ": %.2f %%", share(d, node));
	if (d->graph->is_diff) {
		fprintf(out, ", before %.2f %% (%+.2f)", share_before(d, node), change(d, node));
	} else {
		fprintf(out, " of ");
		xml_text__put(out, d->graph->event);
		fprintf(out, ", %" PRIu64 " sample%s, %.2f %% in itself", node->nr,
			node->nr == 1 ? "" : "s", 100.0 * self_weight(d, node) / d->total);
	}
	fprintf(out, "</title>");
}

static void put_frame(const struct drawing *d, const struct call_node *node, uint64_t before,
		      int depth)
{
	struct flame_frame frame = {.kind = FRAME_COMMAND, .name = "all", .image = ""};
	uint64_t x = in_parts(d, before), end = in_parts(d, before + node->weight);
	int row = d->graph->is_icicle ? depth : d->max_depth - depth;
	FILE *out = d->out;

	if (node != d->nodes)
		frame = flame_tree__frame(d->graph->tree, node->function);
	fprintf(out, "<svg class=\"f%s\" data-depth=\"%d\" y=\"%d\" height=\"%d\" x=\"",
		share(d, node) * (WIDTH - 2 * MARGIN) / 100 < MIN_CHARS * CHAR_WIDTH ? " n" : "",
		depth, row * ROW, ROW);
	put_percent(out, x);
	fprintf(out, "\" width=\"");
	put_percent(out, end - x);
	fprintf(out, "\">");
	put_title(d, node, &frame);
	fprintf(out, "<rect width=\"100%%\" height=\"%d\" fill=\"", ROW);
	put_color(d, node, &frame);
	fprintf(out, "\"/><text x=\"3\" y=\"12.5\">");
	xml_text__put(out, frame.name);
	fprintf(out, "</text></svg>\n");
}

static void draw(const struct drawing *d, const struct call_node *node, uint64_t before, int depth)
{
	put_frame(d, node, before, depth);
	for (int below = node->first; below >= 0; below = d->nodes[below].next) {
		if (is_drawn(d, &d->nodes[below]))
			draw(d, &d->nodes[below], before, depth + 1);
		before += d->nodes[below].weight;
	}
}

/* --- the page --- */

static int put_note(FILE *out, int y, const char *text)
{
	fprintf(out, "<text class=\"note\" x=\"%d\" y=\"%d\">", MARGIN, y + 12);
	xml_text__put(out, text);
	fprintf(out, "</text>\n");
	return y + LINE;
}

static int put_notes(const struct drawing *d, int y)
{
	char *copy __cleanup(free_ptr) = strdup(d->graph->notes), *rest = copy, *line;
	char text[160];

	while (copy && (line = strsep(&rest, "\n"))) {
		if (*line)
			y = put_note(d->out, y, line);
	}
	if (d->nr_left_out) {
		snprintf(text, sizeof(text),
			 "not drawn: %d frames that are too small, with %.1f %% of the samples",
			 d->nr_left_out, 100.0 * d->left_out / d->total);
		y = put_note(d->out, y, text);
	}
	if (d->gone) {
		snprintf(text, sizeof(text),
			 "not drawn: stacks that are gone, with %.1f %% of the samples before",
			 100.0 * d->gone / d->total_before);
		y = put_note(d->out, y, text);
	}
	return y;
}

static int put_sample(FILE *out, int x, int y, const char *text)
{
	fprintf(out, "\"/><text class=\"note\" x=\"%d\" y=\"%d\">%s</text>\n", x + 18, y + 12,
		text);
	return x + 150;
}

static void begin_sample(FILE *out, int x, int y)
{
	fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"", x, y + 2);
}

static int put_legend(const struct drawing *d, int y)
{
	static const char *const changes[] = {"less than before", "as before", "more than before"};
	int x = MARGIN;
	char text[64];

	for (int i = 0; d->graph->is_diff && i < 3; i++) {
		begin_sample(d->out, x, y);
		put_change_color(d->out, i - 1);
		x = put_sample(d->out, x, y, changes[i]);
	}
	for (int i = 0; !d->graph->is_diff && i < NR_FRAME_KINDS; i++) {
		if (!d->selves[i])
			continue;
		snprintf(text, sizeof(text), "%s %.1f %%",
			 i == FRAME_COMMAND ? "without a stack" : kinds[i].name,
			 100.0 * d->selves[i] / d->total);
		begin_sample(d->out, x, y);
		put_kind_color(d->out, i, "");
		x = put_sample(d->out, x, y, text);
	}
	return y + LINE + 4;
}

static void put_controls(FILE *out)
{
	fprintf(out,
		"<foreignObject id=\"controls\" x=\"50%%\" y=\"0\" width=\"50%%\" height=\"32\" style=\"display: none\">"
		"<div xmlns=\"http://www.w3.org/1999/xhtml\"><span id=\"matched\"></span>"
		"<input id=\"search\" type=\"search\" placeholder=\"search (/)\" title=\"a text or regular expression\"/>"
		"<button id=\"reset\">reset zoom</button></div></foreignObject>\n");
}

static void put_code(FILE *out, const char *element, const char *code)
{
	fprintf(out, "<%s>/*<![CDATA[*/\n%s/*]]>*/</%s>\n", element, code, element);
}

static void put_svg(const struct drawing *d)
{
	int y = TOP + LINE * 2 + 4, height = (d->max_depth + 1) * ROW;
	FILE *out = d->out;

	/* Measure what stands above the frames. */
	for (const char *s = d->graph->notes; *s; s++)
		y += *s == '\n' ? LINE : 0;
	y += LINE * (!!d->nr_left_out + !!d->gone);
	fprintf(out,
		"<svg id=\"flamegraph\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n<title>",
		WIDTH, y + height + MARGIN);
	xml_text__put(out, d->graph->title);
	fprintf(out, "</title>\n");
	put_code(out, "style", style);
	fprintf(out, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
	fprintf(out, "<text id=\"title\" x=\"%d\" y=\"22\">", MARGIN);
	xml_text__put(out, d->graph->title);
	fprintf(out, "</text>\n");
	put_legend(d, put_notes(d, TOP));
	fprintf(out, "<text id=\"details\" class=\"note\" x=\"%d\" y=\"%d\"></text>\n", MARGIN,
		y - 4);
	put_controls(out);
	fprintf(out, "<svg id=\"frames\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">\n", MARGIN,
		y, WIDTH - 2 * MARGIN, height);
	if (d->nodes)
		draw(d, d->nodes, 0, 0);
	fprintf(out, "</svg>\n");
	put_code(out, "script", script);
	fprintf(out, "</svg>\n");
}

/* Names in the page cannot make a browser load or run anything, even if one got through. */
static void begin_html(FILE *out, const char *title)
{
	fprintf(out,
		"<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
		"<meta charset=\"utf-8\"/>\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src 'unsafe-inline'; style-src 'unsafe-inline'\"/>\n<title>");
	xml_text__put(out, title);
	fprintf(out, "</title>\n</head>\n<body style=\"margin: 0\">\n");
}

int flame_svg__write(FILE *out, const struct flame_graph *graph)
{
	struct call_tree *calls = &graph->tree->calls;
	struct drawing d = {
		.out = out,
		.graph = graph,
		.total = calls->nr && calls->nodes[0].weight ? calls->nodes[0].weight : 1,
		.total_before = calls->nr && calls->nodes[0].nr ? calls->nodes[0].nr : 1,
		.min_share = fmax(MIN_SHARE, graph->percent_limit),
	};
	int err = call_tree__sort(calls);

	if (err)
		return err;
	d.nodes = calls->nodes;
	if (d.nodes) {
		sum_kinds(&d, calls->nr);
		measure(&d, d.nodes, 0);
	}
	if (graph->is_html)
		begin_html(out, graph->title);
	else
		fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	put_svg(&d);
	if (graph->is_html)
		fprintf(out, "</body>\n</html>\n");
	return 0;
}
