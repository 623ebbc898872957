// SPDX-License-Identifier: GPL-2.0
#include "util/report/display.h"

#include "util/report/display_format.h"
#include "util/report/metric_grid.h"
#include "util/report/stat_table.h"

#include <errno.h>
#include <locale.h>

static const struct display_format *find_format(const struct stat_config *config)
{
	if (config->options.json)
		return &display_json;
	return config->options.csv_sep ? &display_csv : &display_text;
}

static int print_table(const struct display_format *format, const struct stat_table *table)
{
	struct metric_grid grid = {};
	int err;

	if (!table->config->options.metric_only) {
		format->print(table);
		return 0;
	}
	err = metric_grid__fill(&grid, table);
	if (!err)
		format->print_grid(&grid);
	metric_grid__clear(&grid);
	return err;
}

int display__print(const struct stat_table *table)
{
	const struct display_format *format = find_format(table->config);
	locale_t c_locale, previous;
	int err;

	if (format->is_localized)
		return print_table(format, table);
	c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	if (!c_locale)
		return -ENOMEM;
	previous = uselocale(c_locale);
	err = print_table(format, table);
	uselocale(previous);
	freelocale(c_locale);
	return err;
}
