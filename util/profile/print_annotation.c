// SPDX-License-Identifier: GPL-2.0
#include "util/profile/print_annotation.h"

#include "util/lib/json_string.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"
#include "util/profile/account.h"
#include "util/profile/annotation.h"
#include "util/profile/frame_label.h"
#include "util/profile/print_context.h"

#include <inttypes.h>
#include <string.h>

/* The width of the columns before the address. */
#define NUMBERS_WIDTH 20

/* The function that is printed. */
struct printing {
	const struct print_context *context;
	const struct annotated_function *function;
	const struct annotation_hit *hits;
	int nr_hits;
	int hit;	     /* the next one */
	uint64_t all;	     /* weight of all functions */
	uint64_t nr, weight; /* of the function */
};

/* The samples of one instruction. */
struct row {
	uint64_t address;
	uint64_t nr, weight;
	char *text; /* owned */
	const struct instruction_note *note;
	bool is_first; /* of a line */
};

static double percent(uint64_t weight, uint64_t of)
{
	return of ? 100.0 * weight / of : 0;
}

static const char *text_of(const struct printing *printing, int nr)
{
	const char *text = function_code__text(&printing->function->code, nr);

	return text ? text : "";
}

/* --- text --- */

static int address_width(const struct printing *printing)
{
	return snprintf(NULL, 0, "%" PRIx64,
			printing->function->place.address + printing->function->place.end -
				printing->function->place.start);
}

/* The source file of the first line tells functions of one name apart. */
static void print_head(const struct printing *printing)
{
	const struct annotated_function *function = printing->function;
	const char *file =
		function->code.notes ? text_of(printing, function->code.notes[0].file) : "";
	FILE *out = printing->context->out;
	char nr[32];

	fprintf(out, "# ");
	printable__put(out, 0, function->name);
	fprintf(out, " of ");
	printable__put(out, 0, function->path);
	if (*file) {
		fprintf(out, ", ");
		printable__put(out, 0, file);
	}
	fprintf(out, ", at %" PRIx64 ": ", function->place.address);
	if (!printing->nr)
		fprintf(out, "no samples\n");
	else
		fprintf(out, "%s sample%s, %.2f%%\n", account__group_digits(printing->nr, nr),
			printing->nr == 1 ? "" : "s", percent(printing->weight, printing->all));
	if (printing->nr && function->problem)
		fprintf(out, "# no instructions: %s\n", function->problem);
}

static void print_source(const struct printing *printing, const struct instruction_note *note)
{
	FILE *out = printing->context->out;

	fprintf(out, "%*s  ", NUMBERS_WIDTH + address_width(printing), "");
	if (note->file < 0) {
		fprintf(out, "[unknown]\n");
		return;
	}
	printable__put(out, 0, frame_label__file(text_of(printing, note->file)));
	fprintf(out, ":%d", note->line);
	if (note->inlined >= 0) {
		fprintf(out, " (inlined ");
		printable__put(out, 0, text_of(printing, note->inlined));
		fprintf(out, ")");
	}
	if (note->text >= 0) {
		const char *text = text_of(printing, note->text);

		fprintf(out, "  ");
		printable__put(out, 0, text + strspn(text, " \t"));
	}
	fprintf(out, "\n");
}

/* The BPF instructions that the machine code of a line is made from. */
static void print_bpf(const struct printing *printing, const struct instruction_note *note)
{
	const struct instructions *bpf = &printing->function->code.bpf;
	FILE *out = printing->context->out;

	for (int i = note->bpf; i < note->bpf + note->nr_bpf; i++) {
		char number[32];

		snprintf(number, sizeof(number), "bpf %" PRIu64, bpf->list[i].address);
		fprintf(out, "%*s  ", NUMBERS_WIDTH + address_width(printing), number);
		printable__put(out, 0, instructions__text(bpf, i));
		fprintf(out, "\n");
	}
}

static void print_text_row(const struct printing *printing, const struct row *row)
{
	FILE *out = printing->context->out;

	if (row->nr)
		fprintf(out, "%8.2f%%  %7" PRIu64, percent(row->weight, printing->weight), row->nr);
	else
		fprintf(out, "%18s", "");
	fprintf(out, "  %*" PRIx64 "  ", address_width(printing), row->address);
	printable__put(out, 0, row->text);
	fprintf(out, "\n");
}

/* --- CSV and JSON --- */

static void print_csv_row(const struct printing *printing, const struct row *row)
{
	const char *sep = printing->context->options->csv_sep;
	FILE *out = printing->context->out;
	const char *const texts[] = {row->text, text_of(printing, row->note->file)};

	printable__put_csv(out, printing->context->event, sep);
	fprintf(out, "%s%.4f%s%" PRIu64 "%s%" PRIu64 "%s", sep,
		percent(row->weight, printing->weight), sep, row->nr, sep, row->weight, sep);
	printable__put_csv(out, frame_label__file(printing->function->path), sep);
	fprintf(out, "%s", sep);
	printable__put_csv(out, printing->function->name, sep);
	fprintf(out, "%s%" PRIx64, sep, row->address);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		fprintf(out, "%s", sep);
		printable__put_csv(out, texts[i], sep);
	}
	fprintf(out, "%s%d\n", sep, row->note->line);
}

static void print_json_text(FILE *out, const char *name, const char *text)
{
	fprintf(out, ", \"%s\": ", name);
	json_string__print(out, text);
}

static void print_json_bpf(const struct printing *printing, const struct instruction_note *note)
{
	const struct instructions *bpf = &printing->function->code.bpf;
	FILE *out = printing->context->out;

	for (int i = 0; i < note->nr_bpf; i++) {
		fprintf(out, i ? ", " : ", \"bpf\": [");
		json_string__print(out, instructions__text(bpf, note->bpf + i));
	}
	fprintf(out, "]");
}

static void print_json_row(const struct printing *printing, const struct row *row)
{
	const struct instruction_note *note = row->note;
	FILE *out = printing->context->out;

	fprintf(out, "{\"event\": ");
	json_string__print(out, printing->context->event);
	fprintf(out,
		", \"overhead\": %.4f, \"percent\": %.4f, \"samples\": %" PRIu64
		", \"weight\": %" PRIu64,
		percent(row->weight, printing->all), percent(row->weight, printing->weight),
		row->nr, row->weight);
	print_json_text(out, "dso", frame_label__file(printing->function->path));
	print_json_text(out, "sym", printing->function->name);
	fprintf(out, ", \"address\": \"%" PRIx64 "\"", row->address);
	print_json_text(out, "instruction", row->text);
	if (note->file >= 0) {
		print_json_text(out, "file", text_of(printing, note->file));
		fprintf(out, ", \"line\": %d", note->line);
	}
	if (note->text >= 0)
		print_json_text(out, "source", text_of(printing, note->text));
	if (note->inlined >= 0)
		print_json_text(out, "inlined", text_of(printing, note->inlined));
	if (note->nr_bpf && row->is_first)
		print_json_bpf(printing, note);
	fprintf(out, "}\n");
}

/* --- all --- */

static bool is_same_line(const struct instruction_note *a, const struct instruction_note *b)
{
	return a->file == b->file && a->line == b->line && a->inlined == b->inlined &&
	       a->bpf == b->bpf && a->nr_bpf == b->nr_bpf;
}

/* Samples between two instructions belong to the first. Return: false without memory. */
static bool make_row(struct printing *printing, int nr, struct row *row)
{
	const struct function_code *code = &printing->function->code;
	const struct function_place *place = &printing->function->place;
	uint64_t end = nr + 1 < code->instructions.nr ? code->instructions.list[nr + 1].address -
								place->address + place->start :
							place->end;

	*row = (struct row){.address = code->instructions.list[nr].address,
			    .note = &code->notes[nr]};
	row->is_first = !nr || !is_same_line(row->note - 1, row->note);
	for (; printing->hit < printing->nr_hits && printing->hits[printing->hit].position < end;
	     printing->hit++) {
		row->nr += printing->hits[printing->hit].nr;
		row->weight += printing->hits[printing->hit].weight;
	}
	row->text = xasprintf(row->note->target < 0 ? "%s" : "%s <%s>",
			      instructions__text(&code->instructions, nr),
			      text_of(printing, row->note->target));
	return row->text;
}

static void print_row(const struct printing *printing, int nr, const struct row *row)
{
	const struct profile_options *options = printing->context->options;

	if (options->format == FORMAT_CSV) {
		print_csv_row(printing, row);
	} else if (options->format == FORMAT_JSON) {
		print_json_row(printing, row);
	} else {
		if (row->is_first && (nr || row->note->file >= 0))
			print_source(printing, row->note);
		if (row->is_first)
			print_bpf(printing, row->note);
		print_text_row(printing, row);
	}
}

static void print_function(struct printing *printing)
{
	const struct function_code *code = &printing->function->code;
	bool is_text = printing->context->options->format == FORMAT_TEXT;

	for (int i = 0; i < printing->nr_hits; i++) {
		printing->nr += printing->hits[i].nr;
		printing->weight += printing->hits[i].weight;
	}
	if (is_text)
		print_head(printing);
	if (is_text && printing->nr && code->instructions.nr)
		fprintf(printing->context->out, "#\n# Percent  Samples  %-*s  Instruction\n",
			address_width(printing), "Address");
	for (int i = 0; i < code->instructions.nr && printing->nr; i++) {
		struct row row;

		if (make_row(printing, i, &row))
			print_row(printing, i, &row);
		free(row.text);
	}
}

void print_annotation(const struct print_context *context, const struct annotation *annotation,
		      int event)
{
	for (int i = 0; i < annotation->nr; i++) {
		struct printing printing = {
			.context = context,
			.function = &annotation->functions[i],
			.all = annotation__total(annotation, event),
		};

		printing.hits =
			annotation__hits(annotation, printing.function, event, &printing.nr_hits);
		if (i && context->options->format == FORMAT_TEXT)
			fprintf(context->out, "\n");
		print_function(&printing);
	}
}
