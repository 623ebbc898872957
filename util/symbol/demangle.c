// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/demangle.h"

#include "util/lib/byte_buffer.h"
#include "util/lib/util.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBIBERTY
/* From libiberty's demangle.h, which needs GPL 3; the functions themselves are LGPL. */
#define WITH_PARAMETERS 0x01
#define WITH_TYPES	0x10

char *cplus_demangle_v3(const char *mangled, int options);

/* 1: the name was Rust's. */
int rust_demangle_callback(const char *mangled, int options,
			   void (*fn)(const char *part, size_t len, void *ctx), void *ctx);

/* Longer names are cut off. References to other parts let a short name grow without end. */
#define MAX_RUST 4096

static void take_part(const char *part, size_t len, void *ctx)
{
	struct byte_buffer *name = ctx;

	byte_buffer__put(name, part, len < MAX_RUST - name->len ? len : MAX_RUST - name->len);
}

/* Return: owned by the caller; NULL: not Rust's. */
static char *demangle_rust(const char *mangled)
{
	struct byte_buffer name = {};

	if (rust_demangle_callback(mangled, 0, take_part, &name))
		byte_buffer__put_text(&name, "");
	else
		byte_buffer__clear(&name);
	if (name.has_failed)
		byte_buffer__clear(&name);
	return name.data;
}

bool demangle__init(void)
{
	return true;
}

static char *demangle_itanium(const char *name)
{
	return cplus_demangle_v3(name, WITH_PARAMETERS | WITH_TYPES);
}
#else
static char *demangle_rust(const char *mangled __unused)
{
	return NULL;
}

/* abi::__cxa_demangle() of the Itanium C++ ABI. */
typedef char *(*demangle_t)(const char *name, char *buf, size_t *len, int *status);

/* Set once by demangle__init(). The libraries stay loaded. */
static demangle_t cxa_demangle;

bool demangle__init(void)
{
	static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};

	for (size_t i = 0; i < ARRAY_SIZE(libraries) && !cxa_demangle; i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);

		if (library)
			cxa_demangle = (demangle_t)dlsym(library, "__cxa_demangle");
	}
	return cxa_demangle;
}

static char *demangle_itanium(const char *name)
{
	int status;

	return cxa_demangle ? cxa_demangle(name, NULL, NULL, &status) : NULL;
}
#endif

/* Rust's names end with "::h" and 16 digits, which tell crates apart and nobody reads. */
static bool strip_hash(char *name)
{
	size_t len = strlen(name);
	char *hash = name + len - 19;

	if (len <= 19 || strncmp(hash, "::h", 3) || strspn(hash + 3, "0123456789abcdef") != 16)
		return false;
	*hash = '\0';
	return true;
}

/* Cut the parameters off: the last pair of parentheses, unless more than qualifiers is behind it. */
static void strip_parameters(char *name)
{
	static const char *const behind[] = {"", " const", " volatile", " &", " &&", " const &"};
	char *close = strrchr(name, ')'), *open = close;
	bool is_end = false;
	int depth = 0;

	for (size_t i = 0; close && i < ARRAY_SIZE(behind); i++)
		is_end |= !strcmp(close + 1, behind[i]);
	if (!is_end)
		return;
	for (; open >= name; open--) {
		depth += (*open == ')') - (*open == '(');
		if (!depth)
			break;
	}
	if (open > name)
		*open = '\0';
}

/* The ABI's prefix; macOS puts a further underscore before it. */
static bool is_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "___Z", 4);
}

/* "name.part.0", "name.cold": compilers append this to the mangled name of a part of a function. */
static char *with_suffix(char *name, const char *suffix)
{
	char *whole = *suffix ? xasprintf("%s%s", name, suffix) : NULL;

	if (!whole)
		return name;
	free(name);
	return whole;
}

static char *demangle_cxx(const char *name)
{
	char *readable = is_mangled(name) ? demangle_itanium(name) : NULL;

	if (readable && !strip_hash(readable))
		strip_parameters(readable);
	return readable;
}

/* Names of the older form have dots themselves, so the whole one is tried. Only LLVM's suffix says nothing. */
static char *demangle_rust_whole(const char *name, const char *suffix)
{
	char *readable = demangle_rust(name);
	bool is_new = !strncmp(name, "_R", 2);

	return readable && is_new && *suffix == '.' && strncmp(suffix, ".llvm.", 6) ?
		       with_suffix(readable, suffix) :
		       readable;
}

char *demangle__name(const char *name)
{
	const char *suffix = name + strcspn(name, ".@");
	char *base __cleanup(free_ptr) = NULL;
	char *readable = demangle_rust_whole(name, suffix);

	if (readable)
		return readable;
	base = strndup(name, suffix - name);
	readable = base ? demangle_cxx(base) : NULL;
	if (!readable)
		return NULL;
	/* A version behind '@' is the linker's. */
	return with_suffix(readable, *suffix == '.' ? suffix : "");
}
