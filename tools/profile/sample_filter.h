/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which samples of a profile a view is of, and which of their frames: options that all views
 * share, and their effects. As with go tool pprof, shares stay those of the whole profile.
 */
#ifndef TOOLS_PROFILE_SAMPLE_FILTER_H
#define TOOLS_PROFILE_SAMPLE_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gprof/profile.h>

#include "cli/options.h"
#include "frames.h"
#include "group.h"
#include "waits.h"

#define FILTER_WORDS_MAX	64
#define FILTER_LABELS_MAX	8

/**
 * struct sample_filter_regex - a regular expression for names
 * @text: as it was typed, NULL: there is none
 * @re: compiled
 */
struct sample_filter_regex {
	const char *text;
	regex_t re;
};

/**
 * struct sample_filter_words - values of a label, one of which it must have
 * @key: of the label
 * @words: "A,B,C", each ends with '\0'
 * @nr: how many
 */
struct sample_filter_words {
	char *key;
	char *words[FILTER_WORDS_MAX];
	size_t nr;
	char *memory;
};

/**
 * struct sample_filter - the choice; all zeroes is all samples
 * @focus: only samples that have a frame like this
 * @ignore: no samples that have a frame like this
 * @hide: no frames like this
 * @labels: only samples with these labels
 * @nr_labels: how many
 * @group: --by
 * @waits: of profiles of waits
 * @known: matches of the expressions for each frame
 * @room_known: of @known
 * @label_known: matches of the words for each set of labels
 * @room_label_known: of @label_known
 * @seen: for each of @focus, @ignore, @hide: it found something
 * @labels_seen: likewise
 * @reported: what found nothing was reported
 */
struct sample_filter {
	struct sample_filter_regex focus;
	struct sample_filter_regex ignore;
	struct sample_filter_regex hide;
	struct sample_filter_words labels[FILTER_LABELS_MAX];
	size_t nr_labels;
	struct group group;
	struct waits waits;
	unsigned char *known;
	size_t room_known;
	unsigned char *label_known;
	size_t room_label_known;
	bool seen[3];
	bool labels_seen;
	bool reported;
};

/* For struct option_table; their ctx is a struct sample_filter. The second is of --by alone. */
extern const struct option_row sample_filter_options[];
extern const struct option_row sample_filter_by_options[];

/* sample_filter_labels() - is a sample with these labels chosen? */
bool sample_filter_labels(struct sample_filter *f, const struct gprof_profile *p, uint32_t labels);

/**
 * sample_filter_frames() - is a sample chosen that its labels do not leave out, and with which
 * frames?
 * @f: filter
 * @p: profile
 * @frames: its frames; the sample's are in their stack, which gets those that are left
 * @labels: of the sample
 * @nr: how many frames; gets how many are left
 */
bool sample_filter_frames(struct sample_filter *f, const struct gprof_profile *p,
			  struct frames *frames, uint32_t labels, size_t *nr);

/* sample_filter_report() - after the first walk: report expressions without a match */
void sample_filter_report(struct sample_filter *f);

void sample_filter_free(struct sample_filter *f);

#endif /* TOOLS_PROFILE_SAMPLE_FILTER_H */
