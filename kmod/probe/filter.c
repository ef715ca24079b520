// SPDX-License-Identifier: GPL-2.0-only
/*
 * filter: which of a tracepoint's hits are events, by the fields of its record.
 *
 * perf's own filters are set through a file of perf's, which counters of a module do not
 * have. So user space, which knows the syntax and the fields, makes steps of a filter,
 * and here they are checked once and then followed. A step leads to later ones only, so
 * that it ends; it reads within the record alone, even one that it was not made for.
 */
#include "filter.h"
#include "user/memlock.h"

#include <linux/err.h>
#include <linux/gprof.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/**
 * struct gprof_filter - a filter; does not change
 * @nr: of @steps
 * @text: strings that they compare with, behind them
 * @steps: checked
 */
struct gprof_filter {
	u32 nr;
	const char *text;
	struct gprof_filter_step steps[];
};

/* A piece of text, with or without a 0 at its end. */
struct text {
	const char *at;
	u32 size;
};

static bool is_text(const struct gprof_filter_step *s)
{
	return s->what == GPROF_FILTER_ARRAY || s->what == GPROF_FILTER_TEXT ||
	       s->what == GPROF_FILTER_NEAR || s->what == GPROF_FILTER_COMM;
}

static bool leads_on(u16 to, u32 from, u32 nr)
{
	return (to > from && to < nr) || to == GPROF_FILTER_PASS || to == GPROF_FILTER_DROP;
}

static bool size_fits(const struct gprof_filter_step *s)
{
	switch (s->what) {
	case GPROF_FILTER_UNSIGNED:
	case GPROF_FILTER_SIGNED:
		return s->size == 1 || s->size == 2 || s->size == 4 || s->size == 8;
	case GPROF_FILTER_ARRAY:
		return s->size;
	case GPROF_FILTER_TEXT:
	case GPROF_FILTER_NEAR:
		return s->size == sizeof(u32);
	default:
		return !s->offset && !s->size;
	}
}

static bool is_step(const struct gprof_filter_step *s, u32 at, u32 nr, u32 text_size)
{
	if (s->what >= __GPROF_FILTER_WHATS || s->how >= __GPROF_FILTER_HOWS || s->__reserved ||
	    s->__reserved2 || !leads_on(s->yes, at, nr) || !leads_on(s->no, at, nr) ||
	    !size_fits(s))
		return false;
	if (!is_text(s))
		return s->how != GPROF_FILTER_GLOB && !s->length;
	return (s->how == GPROF_FILTER_EQ || s->how == GPROF_FILTER_NE ||
		s->how == GPROF_FILTER_GLOB) &&
	       s->length <= text_size && s->value <= text_size - s->length;
}

/**
 * gprof_filter_bytes() - memory that a filter takes
 * @nr: its steps
 * @text_size: bytes of the strings that they compare with
 */
u64 gprof_filter_bytes(u32 nr, u32 text_size)
{
	struct gprof_filter *f;

	return nr ? gprof_memory_of(struct_size(f, steps, nr) + text_size) : 0;
}

/**
 * gprof_filter_new() - take a filter from user space
 * @steps: steps
 * @nr: how many
 * @text: strings that they compare with
 * @text_size: bytes of that
 *
 * Context: Task.
 * Return: filter for gprof_filter_free(); -EINVAL: it is none; -EFAULT, -ENOMEM.
 */
struct gprof_filter *gprof_filter_new(const struct gprof_filter_step __user *steps, u32 nr,
				      const char __user *text, u32 text_size)
{
	struct gprof_filter *f;
	char *to;
	u32 i;

	if (!nr || nr > GPROF_FILTER_STEPS_MAX || text_size > GPROF_FILTER_TEXT_MAX)
		return ERR_PTR(-EINVAL);
	f = kzalloc(struct_size(f, steps, nr) + text_size, GFP_KERNEL_ACCOUNT);
	if (!f)
		return ERR_PTR(-ENOMEM);
	to = (char *)&f->steps[nr];
	f->nr = nr;
	f->text = to;
	if (copy_from_user(f->steps, steps, nr * sizeof(*f->steps)) ||
	    (text_size && copy_from_user(to, text, text_size))) {
		kfree(f);
		return ERR_PTR(-EFAULT);
	}
	for (i = 0; i < nr; i++) {
		if (!is_step(&f->steps[i], i, nr, text_size)) {
			kfree(f);
			return ERR_PTR(-EINVAL);
		}
	}
	return f;
}

/**
 * gprof_filter_free() - free
 * @f: filter that nobody looks at any more, or NULL
 *
 * Context: Task.
 */
void gprof_filter_free(struct gprof_filter *f)
{
	kfree(f);
}

/* ---- text ---- */

/* Does @c fit "[...]" at @p, up to @end? @next gets the place behind it, NULL: it is none. */
static bool in_class(const char *p, const char *end, char c, const char **next)
{
	bool not = p + 1 < end && p[1] == '!', found = false;
	const char *from = p + 1 + not, *at = from;

	*next = NULL;
	for (; at < end && (*at != ']' || at == from); at++) {
		if (at + 2 < end && at[1] == '-' && at[2] != ']') {
			found |= at[0] <= c && c <= at[2];
			at += 2;
		} else {
			found |= *at == c;
		}
	}
	if (at >= end)
		return false;
	*next = at + 1;
	return found != not;
}

/* Does the character fit the pattern's element at @p? @next gets the place behind that. */
static bool fits_one(const char *p, const char *end, char c, const char **next)
{
	bool fits;

	*next = p + 1;
	switch (*p) {
	case '?':
		return true;
	case '[':
		fits = in_class(p, end, c, next);
		if (*next)
			return fits;
		*next = p + 1;
		break;
	case '\\':
		if (p + 1 < end) {
			p++;
			*next = p + 1;
		}
		break;
	}
	return *p == c;
}

/* With one place to come back to, for a later "*" makes up for all that an earlier could. */
static bool matches(struct text text, struct text pattern)
{
	const char *p = pattern.at, *end = p + pattern.size, *star = NULL, *next;
	u32 at = 0, star_at = 0;

	while (at < text.size) {
		if (p < end && *p == '*') {
			star = ++p;
			star_at = at;
		} else if (p < end && fits_one(p, end, text.at[at], &next)) {
			p = next;
			at++;
		} else if (star) {
			p = star;
			at = ++star_at;
		} else {
			return false;
		}
	}
	while (p < end && *p == '*')
		p++;
	return p == end;
}

static bool find_text(const struct gprof_filter_step *s, const void *record, u32 size,
		      struct text *text)
{
	u32 where, at = s->offset, bytes = s->size;

	if (s->what == GPROF_FILTER_COMM) {
		text->at = current->comm;
		text->size = strnlen(current->comm, sizeof(current->comm));
		return true;
	}
	if (at > size || bytes > size - at)
		return false;
	if (s->what != GPROF_FILTER_ARRAY) {
		memcpy(&where, record + at, sizeof(where));
		at = (where & 0xffff) + (s->what == GPROF_FILTER_NEAR ? at + sizeof(where) : 0);
		bytes = where >> 16;
		if (at > size || bytes > size - at)
			return false;
	}
	text->at = record + at;
	text->size = strnlen(text->at, bytes);
	return true;
}

static bool text_holds(const struct gprof_filter *f, const struct gprof_filter_step *s,
		       const void *record, u32 size)
{
	const struct text wanted = { f->text + s->value, s->length };
	struct text text;
	bool same;

	if (!find_text(s, record, size, &text))
		return false;
	if (s->how == GPROF_FILTER_GLOB)
		return matches(text, wanted);
	same = text.size == wanted.size && !memcmp(text.at, wanted.at, text.size);
	return same == (s->how == GPROF_FILTER_EQ);
}

/* ---- numbers ---- */

static bool find_number(const struct gprof_filter_step *s, const void *record, u32 size,
			u64 *value)
{
	const void *from = record + s->offset;
	bool is_signed = s->what == GPROF_FILTER_SIGNED;
	u8 one;
	u16 two;
	u32 four;

	if (s->what == GPROF_FILTER_CPU) {
		*value = smp_processor_id();
		return true;
	}
	if (s->offset > size || s->size > size - s->offset)
		return false;
	switch (s->size) {
	case sizeof(one):
		memcpy(&one, from, sizeof(one));
		*value = is_signed ? (u64)(s8)one : one;
		break;
	case sizeof(two):
		memcpy(&two, from, sizeof(two));
		*value = is_signed ? (u64)(s16)two : two;
		break;
	case sizeof(four):
		memcpy(&four, from, sizeof(four));
		*value = is_signed ? (u64)(s32)four : four;
		break;
	default:
		memcpy(value, from, sizeof(*value));
		break;
	}
	return true;
}

static bool number_holds(const struct gprof_filter_step *s, const void *record, u32 size)
{
	bool less;
	u64 value;

	if (!find_number(s, record, size, &value))
		return false;
	less = s->what == GPROF_FILTER_SIGNED ? (s64)value < (s64)s->value : value < s->value;
	switch (s->how) {
	case GPROF_FILTER_EQ:
		return value == s->value;
	case GPROF_FILTER_NE:
		return value != s->value;
	case GPROF_FILTER_LT:
		return less;
	case GPROF_FILTER_LE:
		return less || value == s->value;
	case GPROF_FILTER_GT:
		return !less && value != s->value;
	case GPROF_FILTER_GE:
		return !less;
	default:
		return value & s->value;
	}
}

/**
 * gprof_filter_passes() - is this hit an event?
 * @f: filter
 * @record: record of the tracepoint
 * @size: bytes of that
 *
 * Context: Any incl. NMI, preemption off.
 */
bool gprof_filter_passes(const struct gprof_filter *f, const void *record, u32 size)
{
	u32 at = 0;

	while (at < f->nr) {
		const struct gprof_filter_step *s = &f->steps[at];
		bool holds = is_text(s) ? text_holds(f, s, record, size) :
					  number_holds(s, record, size);

		at = holds ? s->yes : s->no;
	}
	return at == GPROF_FILTER_PASS;
}
