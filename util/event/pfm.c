// SPDX-License-Identifier: GPL-2.0
#include "util/event/pfm.h"

#include <errno.h>

#ifndef HAVE_LIBPFM

#include "util/lib/util.h"

bool pfm__is_built_in(void)
{
	return false;
}

int pfm__parse(struct evlist *list __unused, struct pmus *pmus __unused, const char *text __unused,
	       struct parse_error *err __unused)
{
	return -ENOSYS;
}

void pfm__for_each(pfm_fn fn __unused, void *ctx __unused)
{
}

#else

#include "util/event/evlist.h"
#include "util/event/parse_events.h"
#include "util/event/pmu.h"
#include "util/lib/array.h"
#include "util/lib/program.h"
#include "util/lib/util.h"

#include <dlfcn.h>
#include <perfmon/pfmlib_perf_event.h>
#include <string.h>

/* Events without a level count user and kernel, as everywhere in perf. */
#define DEFAULT_LEVELS (PFM_PLM0 | PFM_PLM3)

bool pfm__is_built_in(void)
{
	return true;
}

/*
 * Load the library only when needed: its tables have 40,000 pointers to relocate, which would slow
 * down every start of perf.
 */
#define SONAME	       "libpfm.so.4"
#define FUNCTIONS(fn)                                                                              \
	fn(pfm_initialize) fn(pfm_terminate) fn(pfm_strerror) fn(pfm_get_pmu_info)                 \
		fn(pfm_get_event_next) fn(pfm_get_event_info) fn(pfm_get_event_attr_info)          \
			fn(pfm_get_os_event_encoding)

struct library {
	void *handle;
#define DECLARE(name) __typeof__(&name) name;
	FUNCTIONS(DECLARE)
};

static void unload(struct library *lib)
{
	if (lib->pfm_terminate)
		lib->pfm_terminate();
	if (lib->handle)
		dlclose(lib->handle);
	lib->handle = NULL;
}

/* Return: NULL, or the reason of a failure. */
static const char *load(struct library *lib)
{
	int err;

	memset(lib, 0, sizeof(*lib));
	lib->handle = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	if (!lib->handle)
		return dlerror();
#define LOOK_UP(name)                                                                              \
	lib->name = (__typeof__(&name))dlsym(lib->handle, #name);                                  \
	if (!lib->name)                                                                            \
		return dlerror();
	FUNCTIONS(LOOK_UP)
	err = lib->pfm_initialize();
	return err == PFM_SUCCESS ? NULL : lib->pfm_strerror(err);
}

/* Return: PFM_SUCCESS, or the library's error. */
static int encode(const struct library *lib, const char *name, struct perf_event_attr *attr)
{
	pfm_perf_encode_arg_t arg = {.attr = attr, .size = sizeof(arg)};
	int err;

	memset(attr, 0, sizeof(*attr));
	err = lib->pfm_get_os_event_encoding(name, DEFAULT_LEVELS, PFM_OS_PERF_EVENT, &arg);
	/* Without levels it equals the event of -e. */
	if (!attr->exclude_user && !attr->exclude_kernel)
		attr->exclude_hv = 0;
	return err;
}

/* --- all events --- */

struct walk {
	struct library lib;
	pfm_fn fn;
	void *ctx;
	const char *pmu;
};

static void visit(const struct walk *walk, const char *name, const char *desc)
{
	struct perf_event_attr attr;

	if (encode(&walk->lib, name, &attr) == PFM_SUCCESS)
		walk->fn(walk->ctx, walk->pmu, name, desc);
}

static void visit_event(const struct walk *walk, int idx)
{
	pfm_event_info_t event = {.size = sizeof(event)};
	char *name __cleanup(free_ptr) = NULL;

	if (walk->lib.pfm_get_event_info(idx, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
		return;
	name = xasprintf("%s::%s", walk->pmu, event.name);
	if (!name)
		return;
	visit(walk, name, event.desc);
	for (int i = 0; i < event.nattrs; i++) {
		pfm_event_attr_info_t mask = {.size = sizeof(mask)};
		char *full __cleanup(free_ptr) = NULL;

		if (walk->lib.pfm_get_event_attr_info(idx, i, PFM_OS_PERF_EVENT, &mask) !=
			    PFM_SUCCESS ||
		    mask.type != PFM_ATTR_UMASK)
			continue;
		full = xasprintf("%s:%s", name, mask.name);
		if (full)
			visit(walk, full, mask.desc);
	}
}

void pfm__for_each(pfm_fn fn, void *ctx)
{
	struct walk walk = {.fn = fn, .ctx = ctx};
	int pmu;

	if (load(&walk.lib)) {
		unload(&walk.lib);
		return;
	}
	pfm_for_all_pmus(pmu)
	{
		pfm_pmu_info_t info = {.size = sizeof(info)};

		if (walk.lib.pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS || !info.is_present)
			continue;
		walk.pmu = info.name;
		for (int i = info.first_event; i != -1; i = walk.lib.pfm_get_event_next(i))
			visit_event(&walk, i);
	}
	unload(&walk.lib);
}

/* --- a list of events --- */

struct parser {
	struct library lib;
	struct evlist *list;
	struct pmus *pmus;
	const char *text;
	struct parse_error *err;
};

struct names {
	char **names; /* owned */
	int nr;
};

static void collect_name(void *ctx, const char *pmu __unused, const char *name,
			 const char *desc __unused)
{
	struct names *names = ctx;
	/* Compare without the PMU, which few users type. */
	const char *event = strstr(name, "::") + 2;
	char **added = array__add(names->names, names->nr);

	if (added)
		*added = strdup(event);
}

static char *suggest(const char *name)
{
	const char *event = strstr(name, "::") ? strstr(name, "::") + 2 : name, *near = NULL;
	struct names names = {.nr = 0};
	char *copy;

	pfm__for_each(collect_name, &names);
	/* The list ends with NULL. */
	if (array__add(names.names, names.nr))
		near = nearest_name(event, (const char *const *)names.names);
	copy = near ? strdup(near) : NULL;
	while (names.nr)
		free(names.names[--names.nr]);
	free(names.names);
	return copy;
}

static int fail(struct parser *p, const char *at, const char *reason, char *help)
{
	return parse_error__set(p->err, at - p->text, strdup(reason), help);
}

static int refuse(struct parser *p, const char *at, const char *name, int err)
{
	if (!p->err->reason && err == PFM_ERR_NOTFOUND)
		p->err->suggestion = suggest(name);
	return fail(p, at, "Bad event name",
		    xasprintf("libpfm4: '%s': %s ('%s list pfm' has its events)", name,
			      p->lib.pfm_strerror(err), program__name()));
}

static int add_event(struct parser *p, const char *at, size_t len)
{
	char *name __cleanup(free_ptr) = strndup(at, len);
	struct perf_event_attr attr;
	struct evsel *evsel;
	int err;

	if (!name)
		return -ENOMEM;
	err = encode(&p->lib, name, &attr);
	if (err != PFM_SUCCESS)
		return refuse(p, at, name, err);
	evsel = evsel__new(&attr, name);
	if (!evsel)
		return -ENOMEM;
	evsel->pmu = attr.type == PERF_TYPE_HARDWARE || attr.type == PERF_TYPE_HW_CACHE ?
			     pmus__core(p->pmus) :
			     pmus__find_type(p->pmus, attr.type);
	evsel->named = true;
	evsel->levels_given = attr.exclude_user || attr.exclude_kernel;
	err = evlist__add(p->list, evsel);
	if (err)
		evsel__delete(evsel);
	return err;
}

static int parse_list(struct parser *p)
{
	const char *pos = p->text, *open = NULL;
	int first = 0, err;

	for (;;) {
		size_t len;

		pos += strspn(pos, " ");
		if (*pos == '{') {
			if (open)
				return fail(p, pos, "Unrecognized input: a group in a group", NULL);
			open = pos++;
			first = p->list->nr;
			continue;
		}
		len = strcspn(pos, ",{} ");
		if (!len)
			return fail(p, pos, "Unrecognized input, expected an event", NULL);
		err = add_event(p, pos, len);
		if (err)
			return err;
		pos += len;
		if (*pos == '}') {
			if (!open)
				return fail(p, pos, "Unrecognized input", NULL);
			evlist__group(p->list, first, p->list->nr - first);
			open = NULL;
			pos++;
		}
		if (!*pos && !open)
			return 0;
		if (*pos != ',')
			return fail(p, pos,
				    *pos || !open ? "Unrecognized input, expected ','" :
						    "Unrecognized input, expected '}'",
				    NULL);
		pos++;
	}
}

int pfm__parse(struct evlist *list, struct pmus *pmus, const char *text, struct parse_error *err)
{
	struct parser parser = {.list = list, .pmus = pmus, .text = text, .err = err};
	int first = list->nr, ret;
	const char *why;

	memset(err, 0, sizeof(*err));
	err->text = strdup(text);
	if (!err->text)
		return -ENOMEM;
	why = load(&parser.lib);
	if (why)
		ret = parse_error__set(err, 0, xasprintf("no libpfm4: %s", why), NULL);
	else
		ret = parse_list(&parser);
	unload(&parser.lib);
	if (ret)
		evlist__truncate(list, first);
	else
		parse_error__clear(err);
	return ret;
}

#endif
