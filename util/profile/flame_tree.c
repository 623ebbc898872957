// SPDX-License-Identifier: GPL-2.0
#include "util/profile/flame_tree.h"

#include "util/lib/util.h"
#include "util/profile/samples.h"
#include "util/sample/sample_types.h"
#include "util/symbol/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int flame_tree__add_frame(struct flame_tree *tree, const struct flame_frame *frame)
{
	char *key __cleanup(free_ptr) = NULL;
	int len;

	key = xasprintf("%c%s%c%s", '0' + frame->kind, frame->name, '\0', frame->image);
	if (!key)
		return -ENOMEM;
	len = 1 + strlen(frame->name) + 1 + strlen(frame->image) + 1;
	return blob_set__add(&tree->frames, key, len);
}

struct flame_frame flame_tree__frame(const struct flame_tree *tree, int function)
{
	const char *key = blob_set__get(&tree->frames, function, NULL);

	return (struct flame_frame){
		.kind = key[0] - '0',
		.name = key + 1,
		.image = key + 1 + strlen(key + 1) + 1,
	};
}

static int add_place(struct flame_tree *tree, const struct samples *samples, int place)
{
	struct place_name name;
	struct flame_frame frame;

	symbols__name(samples->symbols, place, &name);
	frame = (struct flame_frame){
		.kind = name.is_kernel		    ? FRAME_KERNEL :
			name.is_inlined		    ? FRAME_INLINED :
			!strcmp(name.path, "[jit]") ? FRAME_JIT :
						      FRAME_USER,
		.name = name.name,
		.image = name.image,
	};
	return flame_tree__add_frame(tree, &frame);
}

static int add_sample(struct flame_tree *tree, const struct samples *samples, int idx)
{
	const int *places;
	const struct samples_key *sample = samples__get(samples, idx, &places);
	const struct samples_sum *sum = &samples->sums[idx];
	const struct flame_frame command = {
		.kind = FRAME_COMMAND,
		.name = *sample->comm ? sample->comm : "[unknown]",
		.image = "",
	};
	struct call_frame path[1 + SAMPLES_MAX_PLACES];
	int nr = 0;

	path[nr++].function = flame_tree__add_frame(tree, &command);
	for (int i = sample->nr_kernel + sample->nr_user - 1; i >= 0; i--)
		path[nr++].function = add_place(tree, samples, places[i]);
	for (int i = 0; i < nr; i++) {
		path[i].place = path[i].function;
		if (path[i].function < 0)
			return path[i].function;
	}
	return call_tree__add(&tree->calls, path, nr, sum->nr, sum->weight);
}

int flame_tree__add_samples(struct flame_tree *tree, const struct samples *samples, int event)
{
	int err = 0;

	for (int i = 0; i < samples->keys.nr && !err; i++) {
		const int *places;

		if (samples__get(samples, i, &places)->event == event)
			err = add_sample(tree, samples, i);
	}
	return err;
}

void flame_tree__clear(struct flame_tree *tree)
{
	call_tree__clear(&tree->calls);
	blob_set__clear(&tree->frames);
}
