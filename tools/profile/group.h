/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples by process, thread, module, cgroup or CPU: as rows of their own, or as roots
 * above the functions.
 */
#ifndef TOOLS_PROFILE_GROUP_H
#define TOOLS_PROFILE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gprof/profile.h>

#include "cli/intern.h"
#include "frames.h"

enum group_how { GROUP_NONE, GROUP_LABEL, GROUP_PROCESS, GROUP_THREAD, GROUP_MODULE };

/**
 * struct group - how samples are put together
 * @how: kind of group
 * @key: label, of GROUP_LABEL
 * @rows: groups stand in the place of functions; else above them
 * @numbers: number of each text
 * @texts: texts, each in memory of its own, for frames point to them
 * @nr: how many
 * @room: of @texts
 * @pids: number of each process
 * @names: name of each
 * @nr_names: how many that were found
 * @ready: these are known
 * @known: by labels: number + 1 of each set's text in @texts; by module: frame + 1 that
 *	stands for each frame of the profile; 0 as long as not known
 * @room_known: of @known
 * @made: numbers of those that were added to the frames: text, and of a module its file
 *	and kind
 * @frames: frame of each of these
 * @room_frames: of @frames
 */
struct group {
	enum group_how how;
	const char *key;
	bool rows;
	struct intern numbers;
	char **texts;
	size_t nr;
	size_t room;
	struct intern pids;
	const char **names;
	size_t nr_names;
	bool ready;
	uint32_t *known;
	size_t room_known;
	struct intern made;
	uint32_t *frames;
	size_t room_frames;
};

/* group_set() - from the typed word; STATUS_OK, or STATUS_USAGE after a sentence */
int group_set(struct group *g, const char *value);

/* group_title() - name of rows, such as "processes"; "functions" without a group */
const char *group_title(const struct group *g);

/**
 * group_frames() - put a sample where it belongs
 * @g: group
 * @p: profile
 * @frames: its frames; the sample's are in their stack, leaf first, with room for one more
 * @labels: of the sample
 * @nr: how many frames
 *
 * Return: how many there are now.
 */
size_t group_frames(struct group *g, const struct gprof_profile *p, struct frames *frames,
		    uint32_t labels, size_t nr);

/*
 * group_text() - where samples with these labels belong, by a label, a process or a thread
 *
 * Return: number of a text in @texts.
 */
size_t group_text(struct group *g, const struct gprof_profile *p, uint32_t labels);

/* group_name() - find the names of processes, while the profile has its samples */
void group_name(struct group *g, const struct gprof_profile *p);

void group_free(struct group *g);

#endif /* TOOLS_PROFILE_GROUP_H */
