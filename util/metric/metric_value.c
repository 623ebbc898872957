// SPDX-License-Identifier: GPL-2.0
#include "util/metric/metric_value.h"

#include <stdlib.h>

void metric_value__clear(struct metric_value *value)
{
	free(value->text);
	value->text = NULL;
}
