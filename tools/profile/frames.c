// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frames of a profile by numbers: see frames.h.
 */
#include "frames.h"

#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"
#include "cli/json.h"

static void reserve(struct frames *f, size_t nr)
{
	while (f->room < nr)
		f->all = xgrow(f->all, f->room, &f->room, sizeof(*f->all));
}

struct frames *frames_of(const struct gprof_profile *p)
{
	struct frames *f = xalloc(1, sizeof(*f));
	size_t room = 0, more;

	for (;;) {
		f->first = xgrow(f->first, f->nr_locations, &room, sizeof(*f->first));
		f->first[f->nr_locations] = f->nr;
		reserve(f, f->nr + 1);
		more = gprof_profile_location(p, f->nr_locations, f->all + f->nr, f->room - f->nr);
		if (!more)
			break;
		if (more > f->room - f->nr) {
			reserve(f, f->nr + more);
			gprof_profile_location(p, f->nr_locations, f->all + f->nr, more);
		}
		f->nr += more;
		f->nr_locations++;
	}
	f->one_each = f->nr == f->nr_locations;
	return f;
}

void frames_free(struct frames *f)
{
	if (!f)
		return;
	free(f->all);
	free(f->first);
	free(f->stack);
	free(f);
}

uint32_t frames_add(struct frames *f, const struct gprof_frame *frame)
{
	reserve(f, f->nr + 1);
	f->all[f->nr] = *frame;
	return f->nr++;
}

void frames_room(struct frames *f, size_t nr)
{
	while (f->room_stack < nr)
		f->stack = xgrow(f->stack, f->room_stack, &f->room_stack, sizeof(*f->stack));
}

size_t frames_stack(struct frames *f, const struct gprof_profile_stack *s)
{
	size_t nr = 0;

	if (f->one_each) {
		frames_room(f, s->nr_locations);
		if (s->nr_locations)
			memcpy(f->stack, s->locations, s->nr_locations * sizeof(*f->stack));
		return s->nr_locations;
	}
	for (size_t i = 0; i < s->nr_locations; i++) {
		uint32_t n = f->first[s->locations[i]], end = f->first[s->locations[i] + 1];

		if (nr + (end - n) > f->room_stack)
			frames_room(f, nr + (end - n));
		while (n < end)
			f->stack[nr++] = n++;
	}
	return nr;
}

void frames_json(struct json *j, const struct gprof_frame *frames, size_t nr)
{
	json_array(j, "stack");
	for (size_t i = 0; i < nr; i++) {
		json_object(j, NULL);
		json_string(j, "function", frames[i].function);
		json_string(j, "mapping", frames[i].mapping);
		json_u64(j, "address", frames[i].address);
		json_string(j, "file", frames[i].file);
		json_s64(j, "line", frames[i].line);
		json_bool(j, "inlined", frames[i].inlined);
		json_end(j);
	}
	json_end(j);
}
