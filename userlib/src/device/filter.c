// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * filter.c: filters on the fields of a tracepoint, from the kernel's syntax to steps.
 *
 * The syntax is that of Documentation/trace/events.rst of the kernel. Comparisons become steps in
 * the order in which they are written; a step that decides leads out, another to the first
 * comparison that is still needed. So a tree of &&, || and ! needs no steps of its own.
 */
#include "filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX	(4 * GPROF_FILTER_STEPS_MAX)
#define DEPTH_MAX	64
#define FIELD_SIZE	64

enum node_type { COMPARISON, NOT, AND, OR };

/**
 * struct node - of the tree that a filter is
 * @type: kind of node
 * @left: operand
 * @right: second operand, of AND and OR
 * @first: step of the first comparison below
 */
struct node {
	enum node_type type;
	int left;
	int right;
	unsigned int first;
};

/**
 * struct parser - a filter being read
 * @f: result
 * @event: tracepoint
 * @format: its fields
 * @text: the filter
 * @at: next character
 * @nodes: of the tree
 * @nr_nodes: how many
 * @depth: of parentheses and !
 * @e: sentence
 */
struct parser {
	struct gprof_filter *f;
	const char *event;
	const char *format;
	const char *text;
	const char *at;
	struct node nodes[NODES_MAX];
	int nr_nodes;
	unsigned int depth;
	struct gprof_error *e;
};

/* ---- sentences ---- */

static int fail_at(struct parser *p, const char *at, const char *why)
{
	return gprof_error_set(p->e, EINVAL, "%.128s: the filter \"%.256s\" does not parse at "
			       "character %zu%s%.32s%s: %s", p->event, p->text,
			       (size_t)(at - p->text) + 1, *at ? ", \"" : ", its end", at,
			       *at ? "\"" : "", why);
}

static int too_much(struct parser *p)
{
	return gprof_error_set(p->e, E2BIG, "%.128s: the filter is too long; at most %d comparisons "
			       "and %d bytes of text", p->event, GPROF_FILTER_STEPS_MAX,
			       GPROF_FILTER_TEXT_MAX);
}

/* ---- fields ---- */

/* The declaration of a field and its numbers, of a line of the format. */
static bool parse_line(const char *line, char *declaration, size_t size, unsigned int *offset,
		       unsigned int *bytes, unsigned int *is_signed)
{
	const char *end = strchr(line, ';');

	if (!end || (size_t)(end - line) >= size ||
	    sscanf(end, "; offset:%u; size:%u; signed:%u;", offset, bytes, is_signed) != 3)
		return false;
	memcpy(declaration, line, (size_t)(end - line));
	declaration[end - line] = '\0';
	return true;
}

/* Does it declare the field? If so, the text behind the name is cut off. */
static bool declares(char *declaration, const char *name, bool *array)
{
	char *bracket = strchr(declaration, '['), *end, *begin;

	/* "char name[16]", but "__data_loc char[] name" */
	*array = bracket && bracket[1] != ']';
	end = *array ? bracket : declaration + strlen(declaration);
	while (end > declaration && isspace((unsigned char)end[-1]))
		end--;
	for (begin = end; begin > declaration && (isalnum((unsigned char)begin[-1]) ||
						   begin[-1] == '_'); begin--)
		;
	if ((size_t)(end - begin) != strlen(name) || strncmp(begin, name, strlen(name)))
		return false;
	*begin = '\0';
	return true;
}

static bool fill_in(struct gprof_filter_step *s, const char *type, bool array, unsigned int offset,
		    unsigned int bytes, bool is_signed)
{
	bool chars = strstr(type, "char");

	s->offset = (uint16_t)offset;
	s->size = (uint16_t)bytes;
	if (offset > UINT16_MAX || bytes > UINT16_MAX)
		return false;
	if (strstr(type, "__data_loc") || strstr(type, "__rel_loc")) {
		s->what = strstr(type, "__rel_loc") ? GPROF_FILTER_NEAR : GPROF_FILTER_TEXT;
		return chars && bytes == 4;
	}
	if (array) {
		s->what = GPROF_FILTER_ARRAY;
		return chars;
	}
	s->what = is_signed ? GPROF_FILTER_SIGNED : GPROF_FILTER_UNSIGNED;
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static int find_field(struct parser *p, const char *at, const char *name,
		      struct gprof_filter_step *s)
{
	unsigned int offset, bytes, is_signed;
	char declaration[256];
	const char *line = p->format;
	bool array;

	while ((line = strstr(line, "field:"))) {
		line += strlen("field:");
		if (!parse_line(line, declaration, sizeof(declaration), &offset, &bytes,
				&is_signed) || !declares(declaration, name, &array))
			continue;
		if (fill_in(s, declaration, array, offset, bytes, is_signed))
			return 0;
		return fail_at(p, at, "this field is neither a number nor text");
	}
	/* Common to all events, unless one has a field of that name. */
	*s = (struct gprof_filter_step){ 0 };
	if (!strcmp(name, "CPU") || !strcmp(name, "cpu"))
		s->what = GPROF_FILTER_CPU;
	else if (!strcmp(name, "COMM") || !strcmp(name, "comm"))
		s->what = GPROF_FILTER_COMM;
	else
		return fail_at(p, at, "the tracepoint has no such field; its file \"format\" under "
			       "/sys/kernel/tracing/events has them all");
	return 0;
}

static bool is_text(const struct gprof_filter_step *s)
{
	return s->what != GPROF_FILTER_UNSIGNED && s->what != GPROF_FILTER_SIGNED &&
	       s->what != GPROF_FILTER_CPU;
}

/* ---- comparisons ---- */

static void skip_spaces(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static int parse_field(struct parser *p, struct gprof_filter_step *s)
{
	const char *from = p->at;
	char name[FIELD_SIZE];
	size_t n;

	while (isalnum((unsigned char)*p->at) || *p->at == '_')
		p->at++;
	n = (size_t)(p->at - from);
	if (!n || n >= sizeof(name))
		return fail_at(p, from, "a comparison begins with the name of a field");
	memcpy(name, from, n);
	name[n] = '\0';
	return find_field(p, from, name, s);
}

static int parse_operator(struct parser *p, struct gprof_filter_step *s)
{
	/* The longer ones first. */
	static const struct {
		const char *text;
		int how;
	} operators[] = {
		{ "==", GPROF_FILTER_EQ }, { "!=", GPROF_FILTER_NE }, { "<=", GPROF_FILTER_LE },
		{ ">=", GPROF_FILTER_GE }, { "<", GPROF_FILTER_LT }, { ">", GPROF_FILTER_GT },
		{ "&", GPROF_FILTER_AND }, { "~", GPROF_FILTER_GLOB },
	};
	size_t i, n;

	for (i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		n = strlen(operators[i].text);
		/* "a && b" is not "a & (& b)" */
		if (strncmp(p->at, operators[i].text, n) || !strncmp(p->at, "&&", 2))
			continue;
		s->how = (uint16_t)operators[i].how;
		if (is_text(s) && s->how != GPROF_FILTER_EQ && s->how != GPROF_FILTER_NE &&
		    s->how != GPROF_FILTER_GLOB)
			return fail_at(p, p->at, "text is compared by ==, != or ~");
		if (!is_text(s) && s->how == GPROF_FILTER_GLOB)
			return fail_at(p, p->at, "~ is for text, and this field is a number");
		p->at += n;
		return 0;
	}
	return fail_at(p, p->at, "wants ==, !=, <, <=, >, >=, & or ~");
}

static int parse_text(struct parser *p, struct gprof_filter_step *s)
{
	char quote = *p->at;
	const char *from = p->at + 1, *end;

	if (quote != '"' && quote != '\'')
		return fail_at(p, p->at, "text stands between quotes");
	end = strchr(from, quote);
	if (!end)
		return fail_at(p, p->at, "the quote is not closed");
	if ((size_t)(end - from) > sizeof(p->f->text) - p->f->text_size)
		return too_much(p);
	s->value = p->f->text_size;
	s->length = (uint32_t)(end - from);
	memcpy(p->f->text + p->f->text_size, from, s->length);
	p->f->text_size += s->length;
	p->at = end + 1;
	return 0;
}

static int parse_number(struct parser *p, struct gprof_filter_step *s)
{
	bool is_signed = s->what == GPROF_FILTER_SIGNED;
	char *end;

	if (*p->at == '"' || *p->at == '\'')
		return fail_at(p, p->at, "this field is a number, which has no quotes");
	if (!isdigit((unsigned char)*p->at) &&
	    !(is_signed && *p->at == '-' && isdigit((unsigned char)p->at[1])))
		return fail_at(p, p->at, is_signed ? "wants a number" :
			       "wants a number that is not negative");
	errno = 0;
	s->value = is_signed ? (uint64_t)strtoll(p->at, &end, 0) : strtoull(p->at, &end, 0);
	if (errno || isalnum((unsigned char)*end) || *end == '_')
		return fail_at(p, p->at, "this is no number, or too large a one");
	p->at = end;
	return 0;
}

static int new_node(struct parser *p, enum node_type type, int left, int right)
{
	struct node *n = &p->nodes[p->nr_nodes];

	if (p->nr_nodes == NODES_MAX)
		return too_much(p);
	*n = (struct node){ .type = type, .left = left, .right = right };
	if (type == COMPARISON)
		n->first = p->f->nr;
	else
		n->first = p->nodes[left].first;
	return p->nr_nodes++;
}

static int parse_comparison(struct parser *p)
{
	struct gprof_filter_step *s = &p->f->steps[p->f->nr];
	int err, node;

	if (p->f->nr == GPROF_FILTER_STEPS_MAX)
		return too_much(p);
	*s = (struct gprof_filter_step){ 0 };
	err = parse_field(p, s);
	if (err)
		return err;
	skip_spaces(p);
	err = parse_operator(p, s);
	if (err)
		return err;
	skip_spaces(p);
	err = is_text(s) ? parse_text(p, s) : parse_number(p, s);
	if (err)
		return err;
	node = new_node(p, COMPARISON, -1, -1);
	p->f->nr++;
	return node;
}

/* ---- the tree; each returns a node, or -errno ---- */

static int parse_any(struct parser *p);

static int parse_operand(struct parser *p)
{
	const char *open;
	int node;

	skip_spaces(p);
	if (*p->at != '!' && *p->at != '(')
		return parse_comparison(p);
	if (p->depth == DEPTH_MAX)
		return fail_at(p, p->at, "too many parentheses and ! are within each other");
	p->depth++;
	open = p->at++;
	if (*open == '!') {
		node = parse_operand(p);
		node = node < 0 ? node : new_node(p, NOT, node, -1);
	} else {
		node = parse_any(p);
		if (node >= 0 && *p->at != ')')
			node = fail_at(p, open, "the parenthesis is not closed");
		else if (node >= 0)
			p->at++;
	}
	p->depth--;
	return node;
}

static int parse_all(struct parser *p)
{
	int node = parse_operand(p), right;

	while (node >= 0) {
		skip_spaces(p);
		if (strncmp(p->at, "&&", 2))
			break;
		p->at += 2;
		right = parse_operand(p);
		node = right < 0 ? right : new_node(p, AND, node, right);
	}
	return node;
}

static int parse_any(struct parser *p)
{
	int node = parse_all(p), right;

	while (node >= 0) {
		skip_spaces(p);
		if (strncmp(p->at, "||", 2))
			break;
		p->at += 2;
		right = parse_all(p);
		node = right < 0 ? right : new_node(p, OR, node, right);
	}
	return node;
}

/* Where each step leads to, when the whole below @node leads to @yes and @no. */
static void lead(struct parser *p, int node, unsigned int yes, unsigned int no)
{
	const struct node *n = &p->nodes[node];

	switch (n->type) {
	case COMPARISON:
		p->f->steps[n->first].yes = (uint16_t)yes;
		p->f->steps[n->first].no = (uint16_t)no;
		break;
	case NOT:
		lead(p, n->left, no, yes);
		break;
	case AND:
		lead(p, n->left, p->nodes[n->right].first, no);
		lead(p, n->right, yes, no);
		break;
	case OR:
		lead(p, n->left, yes, p->nodes[n->right].first);
		lead(p, n->right, yes, no);
		break;
	}
}

int gprof_filter_compile(struct gprof_filter *f, const char *event, const char *format,
			 const char *text, struct gprof_error *e)
{
	struct parser p = {
		.f = f, .event = event, .format = format, .text = text, .at = text, .e = e,
	};
	int root;

	f->nr = f->text_size = 0;
	root = parse_any(&p);
	if (root < 0)
		return root;
	if (*p.at)
		return fail_at(&p, p.at, "wants &&, || or the end");
	lead(&p, root, GPROF_FILTER_PASS, GPROF_FILTER_DROP);
	return 0;
}
