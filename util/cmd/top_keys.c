// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/top_keys.h"

#include "util/cmd/top_cmd.h"
#include "util/cmd/top_parse.h"
#include "util/event/evlist.h"
#include "util/lib/printable.h"
#include "util/lib/program.h"
#include "util/lib/util.h"
#include "util/symbol/symbols.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void note(struct top_cmd *top, const char *fmt, ...) __printf(2, 3);

/* Show a line until the next key. */
static void note(struct top_cmd *top, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(top->note, sizeof(top->note), fmt, ap);
	va_end(ap);
}

/* --- values that are typed --- */

static bool parse_number(const char *text, unsigned int *number)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || value >= INT_MAX)
		return false;
	*number = value;
	return true;
}

static bool set_delay(struct top_cmd *top, const char *text)
{
	unsigned int ms = top_parse__delay(text);

	if (ms)
		top->profile.run.base.config.options.interval_ms = ms;
	return ms;
}

static bool set_entries(struct top_cmd *top, const char *text)
{
	if (!parse_number(text, &top->entries))
		return false;
	top->profile.options.max_rows = top->entries;
	return true;
}

static bool set_count_filter(struct top_cmd *top, const char *text)
{
	if (!parse_number(text, &top->count_filter))
		return false;
	top->profile.options.min_samples = (uint64_t)top->count_filter + 1;
	return true;
}

static bool set_percent(struct top_cmd *top, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || *end || !(percent >= 0 && percent <= 100))
		return false;
	top->profile.options.percent_limit = percent;
	return true;
}

/* Return: whether the samples have what these columns need. */
static bool has_parts(const struct top_cmd *top, const struct sort_keys *sort)
{
	uint32_t key = top->profile.run.samples.key, needed = sort_keys__sample_key(sort);

	/* The innermost frame of a stack is the sampled function. */
	if (key & (SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK))
		needed &= ~SAMPLE_IP;
	if (sort_keys__has(sort, SORT_SRCLINE) && !symbols__has_lines(top->profile.run.symbols))
		return false;
	return !(needed & ~key);
}

static bool set_sort(struct top_cmd *top, const char *text)
{
	struct sort_keys sort = {};

	if (!sort_keys__are_known(text) || sort_keys__parse(&sort, text))
		return false;
	if (!has_parts(top, &sort)) {
		note(top, "these columns need another start: %s top -s %s", program__name(), text);
		return true;
	}
	if (top->profile.each_cgroup)
		sort_keys__add_first(&sort, SORT_CGROUP);
	top->profile.options.sort = sort;
	snprintf(top->sort, sizeof(top->sort), "%s", text);
	return true;
}

static bool set_filter(struct top_cmd *top, const char *text)
{
	snprintf(top->text, sizeof(top->text), "%s", text);
	top->profile.options.filter = *text ? top->text : NULL;
	return true;
}

static const char *sort_text(const struct top_cmd *top)
{
	if (*top->sort)
		return top->sort;
	return top->profile.sort ? top->profile.sort : PROFILE_DEFAULT_SORT;
}

static char *value_text(const struct top_cmd *top, int key)
{
	switch (key) {
	case 'd':
		return xasprintf("%g", top->profile.run.base.config.options.interval_ms / 1000.0);
	case 'e':
		return xasprintf("%u", top->entries);
	case 'f':
		return xasprintf("%u", top->count_filter);
	case 'F':
		return xasprintf("%g", top->profile.options.percent_limit);
	case 's':
		return strdup(sort_text(top));
	default:
		return strdup(top->text);
	}
}

/* Keys that ask for a value. */
static const struct question {
	char key;
	const char *text, *wrong;
	bool (*set)(struct top_cmd *top, const char *text);
} questions[] = {
	{'d', "seconds between two tables", "not a number of seconds from 0.1 to 3600", set_delay},
	{'e', "rows (0: as many as fit)", "not a number of rows", set_entries},
	{'f', "only rows with more samples than", "not a number of samples", set_count_filter},
	{'F', "only rows of at least percent", "not a number from 0 to 100", set_percent},
	{'s', "columns (comm, pid, tid, cpu, cgroup, prio, dso, sym)", "not a list of columns",
	 set_sort},
	{'/', "only rows with the text", "", set_filter},
};

static const struct question *find_question(int key)
{
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		if (questions[i].key == key)
			return &questions[i];
	}
	return NULL;
}

static void ask(struct top_cmd *top, const struct question *question)
{
	char *text __cleanup(free_ptr) = value_text(top, question->key);

	/* A text is typed anew, a number or a list is often changed a bit. */
	key_input__ask(&top->keys, text && question->key == 's' ? text : "");
	top->asked = question->key;
}

static void take_answer(struct top_cmd *top)
{
	const struct question *question = find_question(top->asked);

	top->asked = 0;
	/* An empty line changes nothing, but for the filter. */
	if (!*top->keys.line && question->key != '/')
		return;
	if (!question->set(top, top->keys.line))
		note(top, "%s: %s", top->keys.line, question->wrong);
}

/* --- keys --- */

static void show_next_event(struct top_cmd *top)
{
	int nr = top->profile.run.events->nr;

	top->event = (top->event + 1) % nr;
	if (nr == 1)
		note(top, "there is one event only");
}

static void hide(bool *one, bool *other)
{
	*one = !*one;
	/* There would be nothing left. */
	*other = *other && !*one;
}

static int press(struct top_cmd *top, int key)
{
	struct profile_options *options = &top->profile.options;
	const struct question *question = find_question(key);

	if (question)
		ask(top, question);
	else if (key == 'K')
		hide(&options->hide_kernel, &options->hide_user);
	else if (key == 'U')
		hide(&options->hide_user, &options->hide_kernel);
	else if (key == 'z')
		top->zero = !top->zero;
	else if (key == 'E')
		show_next_event(top);
	else if (key == 'h' || key == '?')
		top->shows_help = true;
	return key == 'q' || key == 'Q';
}

int top_keys__take(struct top_cmd *top, int key)
{
	if (key == KEY_NONE)
		return 0;
	if (key == KEY_ENTERED) {
		take_answer(top);
		return 0;
	}
	if (key == KEY_CANCELLED) {
		top->asked = 0;
		return 0;
	}
	top->note[0] = '\0';
	if (top->shows_help) {
		top->shows_help = false;
		return key == 'q' || key == 'Q';
	}
	return press(top, key);
}

/* --- texts --- */

static void print_escaped(FILE *out, const char *text)
{
	printable__put(out, 0, text);
}

void top_keys__print_help(FILE *out, const struct top_cmd *top)
{
	const struct profile_options *options = &top->profile.options;

	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		char *value __cleanup(free_ptr) = value_text(top, questions[i].key);

		fprintf(out, "  %c  ", questions[i].key);
		printable__put(out, -8, value && *value ? value : "-");
		fprintf(out, "  %s\n", questions[i].text);
	}
	fprintf(out, "  K  %-8s  hide functions of the kernel\n",
		options->hide_kernel ? "yes" : "no");
	fprintf(out, "  U  %-8s  hide functions of user space\n",
		options->hide_user ? "yes" : "no");
	fprintf(out, "  z  %-8s  show the last interval only\n", top->zero ? "yes" : "no");
	fprintf(out, "  E  %d of %d    show the next event\n", top->event + 1,
		top->profile.run.events->nr);
	fprintf(out, "  q            quit; any other key goes on\n");
}

void top_keys__print_bottom(FILE *out, const struct top_cmd *top)
{
	const struct profile_options *options = &top->profile.options;

	if (top->asked) {
		fprintf(out, "%s: ", find_question(top->asked)->text);
		print_escaped(out, top->keys.line);
		return;
	}
	if (*top->note) {
		print_escaped(out, top->note);
		return;
	}
	fprintf(out, "h: help, q: quit");
	if (top->zero)
		fprintf(out, ", last interval only");
	if (top->count_filter)
		fprintf(out, ", more than %u samples", top->count_filter);
	if (options->percent_limit > 0)
		fprintf(out, ", from %g %%", options->percent_limit);
	if (options->hide_kernel || options->hide_user)
		fprintf(out, ", without %s", options->hide_kernel ? "the kernel" : "user space");
	if (options->filter) {
		fprintf(out, ", only ");
		print_escaped(out, options->filter);
	}
}
