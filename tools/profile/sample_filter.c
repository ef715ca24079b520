// SPDX-License-Identifier: GPL-2.0-only
/*
 * Expressions are asked once for each function, file and mapping: a profile has many
 * more frames than that.
 */
#include "sample_filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/text.h"

/* Cached results for a frame. */
enum { FOCUS = 1, IGNORE = 2, HIDE = 4, KNOWN = 8 };

/* And of labels. */
enum { UNKNOWN, TAKEN, LEFT_OUT };

static int set_regex(struct sample_filter_regex *r, const char *option, const char *value)
{
	char text[128];
	int err;

	if (r->text)
		return misused("%s is given twice: join both as in %s \"%s|%s\"", option, option,
			       r->text, value);
	if (!*value)
		return misused("%s wants a regular expression for names of functions, not \"\"",
			       option);
	err = regcomp(&r->re, value, REG_EXTENDED | REG_NOSUB);
	if (err) {
		regerror(err, &r->re, text, sizeof(text));
		return misused("%s: \"%s\" is no regular expression: %s", option, value, text);
	}
	r->text = value;
	return STATUS_OK;
}

static int set_focus(void *ctx, const char *value)
{
	return set_regex(&((struct sample_filter *)ctx)->focus, "--focus", value);
}

static int set_ignore(void *ctx, const char *value)
{
	return set_regex(&((struct sample_filter *)ctx)->ignore, "--ignore", value);
}

static int set_hide(void *ctx, const char *value)
{
	return set_regex(&((struct sample_filter *)ctx)->hide, "--hide", value);
}

/* Takes @key. */
static int add_words(struct sample_filter *f, const char *option, char *key, const char *value)
{
	struct sample_filter_words *w = &f->labels[f->nr_labels];
	char *word, *rest;

	if (f->nr_labels == FILTER_LABELS_MAX) {
		free(key);
		return misused("%s %s: more than %d filters by label are too many", option, value,
			       FILTER_LABELS_MAX);
	}
	*w = (struct sample_filter_words){ .key = key, .memory = xprintf("%s", value) };
	f->nr_labels++;
	rest = w->memory;
	while ((word = strsep(&rest, ","))) {
		if (!*word)
			return misused("%s wants words with commas between them, not \"%s\"", option,
				       value);
		if (w->nr == FILTER_WORDS_MAX)
			return misused("%s: more than %d words are too many", option,
				       FILTER_WORDS_MAX);
		w->words[w->nr++] = word;
	}
	return STATUS_OK;
}

static int set_comm(void *ctx, const char *value)
{
	return add_words(ctx, "--comm", xprintf("comm"), value);
}

static int set_pid(void *ctx, const char *value)
{
	struct sample_filter *f = ctx;
	int id, status = add_words(f, "--pid", xprintf("pid"), value);

	for (size_t i = 0; status == STATUS_OK && i < f->labels[f->nr_labels - 1].nr; i++)
		if (!parse_id(f->labels[f->nr_labels - 1].words[i], &id))
			status = misused("--pid wants numbers of processes, not \"%s\"",
					 f->labels[f->nr_labels - 1].words[i]);
	return status;
}

static int set_label(void *ctx, const char *value)
{
	const char *equals = strchr(value, '=');

	if (!equals || equals == value || !equals[1])
		return misused("--label wants KEY=VALUE, such as cgroup=/system.slice, not \"%s\"",
			       value);
	return add_words(ctx, "--label", xprintf("%.*s", (int)(equals - value), value), equals + 1);
}

static int set_all_waits(void *ctx, const char *value)
{
	(void)value;
	((struct sample_filter *)ctx)->waits.all = true;
	return STATUS_OK;
}

static int set_kernel_frames(void *ctx, const char *value)
{
	(void)value;
	((struct sample_filter *)ctx)->waits.kernel = true;
	return STATUS_OK;
}

const struct option_row sample_filter_options[] = {
	{ 0, "focus", "REGEX", "only samples with a function (or its file) like this", set_focus },
	{ 0, "ignore", "REGEX", "no samples with a function like this", set_ignore },
	{ 0, "hide", "REGEX", "leave out functions like this; their time is their callers'",
	  set_hide },
	{ 0, "comm", "NAME,...", "only threads of these names", set_comm },
	{ 0, "pid", "PID,...", "only these processes", set_pid },
	{ 0, "label", "KEY=VALUE,...", "only samples with one of these values of a label",
	  set_label },
	{ 0, "all-waits", NULL, "waits of threads that sleep, poll or wait for a signal too",
	  set_all_waits },
	{ 0, "kernel-frames", NULL, "stacks of waits as they were recorded, with the kernel's\n"
	  "frames", set_kernel_frames },
	{ 0 },
};

static int set_by(void *ctx, const char *value)
{
	return group_set(&((struct sample_filter *)ctx)->group, value);
}

const struct option_row sample_filter_by_options[] = {
	{ 0, "by", "WHAT", "by process, thread, comm, module, cgroup, cpu or label KEY,\n"
	  "rather than by function alone", set_by },
	{ 0 },
};

static bool like(const struct sample_filter_regex *r, const struct gprof_frame *f)
{
	return r->text && (!regexec(&r->re, f->function, 0, NULL, 0) ||
			   !regexec(&r->re, f->file, 0, NULL, 0) ||
			   !regexec(&r->re, f->mapping, 0, NULL, 0));
}

static unsigned int known(struct sample_filter *f, const struct frames *frames, uint32_t n)
{
	const struct gprof_frame *frame = &frames->all[n];

	while (n >= f->room_known)
		f->known = xgrow(f->known, f->room_known, &f->room_known, 1);
	if (!f->known[n])
		f->known[n] = KNOWN | (like(&f->focus, frame) ? FOCUS : 0) |
			      (like(&f->ignore, frame) ? IGNORE : 0) |
			      (like(&f->hide, frame) ? HIDE : 0);
	return f->known[n];
}

static bool has_label(const struct sample_filter_words *w, const struct gprof_profile *p,
		      uint32_t labels)
{
	char number[24];
	int64_t num = 0;
	const char *text = gprof_profile_label_of(p, labels, w->key, &num);

	if (!text)
		return false;
	if (!*text) {
		snprintf(number, sizeof(number), "%" PRId64, num);
		text = number;
	}
	for (size_t i = 0; i < w->nr; i++)
		if (!strcmp(w->words[i], text))
			return true;
	return false;
}

bool sample_filter_labels(struct sample_filter *f, const struct gprof_profile *p, uint32_t labels)
{
	if (waits_hide(&f->waits, p, labels))
		return false;
	if (!f->nr_labels)
		return true;
	while (labels >= f->room_label_known)
		f->label_known = xgrow(f->label_known, f->room_label_known,
				       &f->room_label_known, 1);
	if (f->label_known[labels] == UNKNOWN) {
		f->label_known[labels] = TAKEN;
		for (size_t i = 0; i < f->nr_labels; i++)
			if (!has_label(&f->labels[i], p, labels))
				f->label_known[labels] = LEFT_OUT;
	}
	f->labels_seen |= f->label_known[labels] == TAKEN;
	return f->label_known[labels] == TAKEN;
}

/* Drops hidden frames; all of a sample that is not chosen. */
static size_t filter_stack(struct sample_filter *f, struct frames *frames, size_t nr)
{
	unsigned int all = 0;
	size_t left = 0;

	for (size_t i = 0; i < nr; i++) {
		unsigned int one = known(f, frames, frames->stack[i]);

		all |= one;
		if (one & IGNORE)
			break;
		if (!(one & HIDE))
			frames->stack[left++] = frames->stack[i];
	}
	f->seen[0] |= all & FOCUS;
	f->seen[1] |= all & IGNORE;
	f->seen[2] |= all & HIDE;
	if (all & IGNORE || (f->focus.text && !(all & FOCUS)))
		return 0;
	return left;
}

bool sample_filter_frames(struct sample_filter *f, const struct gprof_profile *p,
			  struct frames *frames, uint32_t labels, size_t *nr)
{
	*nr = waits_frames(&f->waits, p, frames, labels, *nr);
	if (f->focus.text || f->ignore.text || f->hide.text) {
		*nr = filter_stack(f, frames, *nr);
		if (!*nr)
			return false;
	}
	if (f->group.how != GROUP_NONE)
		*nr = group_frames(&f->group, p, frames, labels, *nr);
	return true;
}

static void report_one(bool seen, const struct sample_filter_regex *r, const char *option)
{
	if (r->text && !seen)
		diag("%s %s: no function is like that", option, r->text);
}

void sample_filter_report(struct sample_filter *f)
{
	if (f->reported)
		return;
	f->reported = true;
	if (f->nr_labels && !f->labels_seen) {
		diag("no sample has %s %s%s%s", f->labels[0].key, f->labels[0].words[0],
		     f->labels[0].nr > 1 ? ", or the other words" : "",
		     f->nr_labels > 1 ? ", together with the other labels" : "");
		return;
	}
	report_one(f->seen[0], &f->focus, "--focus");
	report_one(f->seen[1], &f->ignore, "--ignore");
	report_one(f->seen[2], &f->hide, "--hide");
}

void sample_filter_free(struct sample_filter *f)
{
	struct sample_filter_regex *all[] = { &f->focus, &f->ignore, &f->hide };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i]->text)
			regfree(&all[i]->re);
	for (size_t i = 0; i < f->nr_labels; i++) {
		free(f->labels[i].key);
		free(f->labels[i].memory);
	}
	group_free(&f->group);
	waits_free(&f->waits);
	free(f->known);
	free(f->label_known);
	*f = (struct sample_filter){ 0 };
}
