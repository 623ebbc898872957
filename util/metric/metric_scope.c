// SPDX-License-Identifier: GPL-2.0
#include "util/metric/metric_scope.h"

#include "util/defs/cpuid.h"
#include "util/defs/definitions.h"

#include <math.h>
#include <string.h>

double metric_scope__literal(const struct metric_scope *scope, const char *name)
{
	if (!strcmp(name, "target_cpu"))
		return scope->target_cpu;
	return scope->literal ? scope->literal(scope->target, name) : NAN;
}

bool metric_scope__is_cpu(const struct metric_scope *scope, const char *pattern)
{
	return scope->defs && cpuid__matches(pattern, definitions__cpuid(scope->defs));
}
