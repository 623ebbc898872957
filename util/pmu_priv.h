/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_PMU_PRIV_H
#define PERF_UTIL_PMU_PRIV_H

struct definitions;
struct pmu;
struct pmu_priv;

/**
 * pmu_priv__new() - the part of a PMU that is read when first asked for
 * @pmu: it belongs to; borrowed, only its name and type are looked at
 * @dir: sysfs directory, owned from now on; NULL for a PMU without one
 *
 * Return: NULL with errno ENOMEM; @dir is then still the caller's.
 */
struct pmu_priv *pmu_priv__new(const struct pmu *pmu, char *dir);
void pmu_priv__delete(struct pmu_priv *priv);

/** pmu_priv__set_definitions() - events that files define, besides those in sysfs; borrowed */
void pmu_priv__set_definitions(struct pmu_priv *priv, struct definitions *defs);

#endif
