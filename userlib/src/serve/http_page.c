// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * http_page.c: the pages, and those that need no recording.
 */
#include "http_page.h"

#include <errno.h>
#include <fcntl.h>
#include <gprof/custom.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/fd_write.h"

#define S	((uint64_t)1000000000)

static const struct gprof_http_page pages[] = {
	{ "profile", "cpu", 30 * S, false,
	  "where CPU time goes, or with event= and period= where a counter counts" },
	{ "trace", "trace", S, false,
	  "what ran where, and why it waited, for go tool trace and gprofctl read" },
	{ "block", "block", 10 * S, true, "where tasks wait, and for how long" },
	{ "mutex", "mutex", 10 * S, true, "tasks that release locks that others wait for" },
	{ "allocs", "alloc", 10 * S, true, "what memory a program allocates, with libgprof-heap.so" },
	{ "heap", "heap", 10 * S, true, "likewise, and the part that is not freed meanwhile" },
	{ "kernel-allocs", "kernel-alloc", 10 * S, true,
	  "what memory the kernel allocates for tasks" },
	{ "kernel-heap", "kernel-heap", 10 * S, true,
	  "likewise, and the part that is not freed meanwhile" },
	{ "task", "task", 0, false, "what all tasks do at this moment" },
	{ "goroutine", "task", 0, false, "the same, by the name that readers of Go ask for" },
	{ "cmdline", NULL, 0, false, "the command line, its words separated by NULs" },
};

#define NR_PAGES	(sizeof(pages) / sizeof(pages[0]))

const struct gprof_http_page *gprof_http_page_find(const char *name)
{
	size_t i;

	for (i = 0; i < NR_PAGES; i++)
		if (!strcmp(pages[i].name, name))
			return &pages[i];
	return NULL;
}

struct gprof_http_page gprof_http_view_page(const struct gprof_http_view *v)
{
	return (struct gprof_http_page){ v->name, v->trace ? "trace" : "cpu", (v->trace ? 10 : 5) * S,
					 false, v->title };
}

struct gprof_http_page gprof_http_custom_page(const char *name)
{
	return (struct gprof_http_page){ name, "custom", 0, false, NULL };
}

/* ---- published profiles ---- */

/* 0: the target is no process. */
static pid_t publisher(const struct gprof_target *t)
{
	return t->type == GPROF_SELF ? getpid() : t->type == GPROF_PROCESS ? t->id : 0;
}

static int is_called(void *ctx, const struct gprof_custom_info *info)
{
	return !strcmp(ctx, info->name);
}

int gprof_http_custom(const struct gprof_target *t, const char *name, struct gprof_error *e)
{
	pid_t pid = publisher(t);
	int ret = pid ? gprof_custom_each(pid, is_called, (void *)name) : 0;

	if (ret > 0)
		return 0;
	if (ret && ret != -ENOENT)
		return gprof_error_set(e, -ret, "%s", gprof_error());
	return gprof_error_set(e, ENOENT, "there is no such profile; " GPROF_HTTP_PREFIX " lists those "
			       "that there are%s", pid ? "" : "; one that a program publishes is had "
			       "with its pid=");
}

/* A name is any text: for HTML, or as a link, where only plain characters stay. */
static void put_name(FILE *f, const char *name, bool link)
{
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;
		bool plain = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';

		plain |= (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
		if (plain || (!link && (c >= 0x80 || c == ' ' || c == '/')))
			fputc(c, f);
		else
			fprintf(f, link ? "%%%02X" : "&#%u;", c);
	}
}

static int put_custom(void *ctx, const struct gprof_custom_info *info)
{
	FILE *f = ctx;

	if (gprof_http_page_find(info->name))
		return 0;
	fputs("<tr><td>", f);
	put_name(f, info->name, false);
	fputs("</td><td><a href=\"", f);
	put_name(f, info->name, true);
	fputs("\">now</a> <a href=\"", f);
	put_name(f, info->name, true);
	fprintf(f, "?debug=1\">text</a></td><td>%" PRIu64 " that the program has now, and where they "
		"came from</td></tr>\n", info->count);
	return 0;
}

/* Links that a person wants first: some seconds rather than half a minute, as many as may be. */
static void put_links(FILE *f, const struct gprof_http_page *p, uint64_t max)
{
	uint64_t ns = p->ns < max ? p->ns : max;

	if (p->ns) {
		if (ns > 5 * S)
			fprintf(f, "<a href=\"%s?seconds=5\">5 s</a> ", p->name);
		fprintf(f, "<a href=\"%s\">%g s</a>", p->name, (double)ns / S);
		if (p->delta)
			fprintf(f, " <a href=\"%s?debug=1\">text</a>", p->name);
	} else {
		fprintf(f, "<a href=\"%s\">now</a>", p->name);
		if (p->request)
			fprintf(f, " <a href=\"%s?debug=1\">text</a> <a href=\"%s?debug=2\">each</a>",
				p->name, p->name);
	}
}

static void put_row(FILE *f, const struct gprof_http_page *p, const struct gprof_http_config *cfg)
{
	fprintf(f, "<tr><td>%s</td><td>", p->name);
	put_links(f, p, cfg->max_ns);
	if (cfg->flight && !strcmp(p->name, "trace"))
		fputs(" <a href=\"trace?flight=1\">the last</a>", f);
	fprintf(f, "</td><td>%s</td></tr>\n", p->title);
}

void gprof_http_index(FILE *f, const struct gprof_http_config *cfg)
{
	size_t i;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>/debug/pprof/</title>\n"
	      "<style>\nbody { font: 16px/1.5 sans-serif; margin: 2em auto; max-width: 52em; "
	      "padding: 0 1em; color: #222 }\ntd, th { text-align: left; vertical-align: top; "
	      "padding: .3em 1em .3em 0 }\ntd:first-child, code { font-family: monospace }\n"
	      "td:nth-child(2) { white-space: nowrap }\na { color: #0550ae }\n"
	      "@media (max-width: 36em) {\ntr { display: block; margin-bottom: 1em }\n"
	      "td { display: block; padding: 0 }\nth { display: none } }\n"
	      "@media (prefers-color-scheme: dark) {\nbody { background: #16181c; color: #ddd }\n"
	      "a { color: #79b8ff } }\n</style>\n</head>\n<body>\n<h1>/debug/pprof/</h1>\n"
	      "<p>Each link records now, and gives what it recorded as a file.</p>\n<table>\n"
	      "<tr><th>Profile</th><th>Record</th><th></th></tr>\n", f);
	for (i = 0; i < NR_PAGES; i++)
		put_row(f, &pages[i], cfg);
	for (i = 0; i < cfg->nr_views; i++) {
		const struct gprof_http_page page = gprof_http_view_page(&cfg->views[i]);

		put_row(f, &page, cfg);
	}
	if (publisher(&cfg->target))
		gprof_custom_each(publisher(&cfg->target), put_custom, f);
	fprintf(f, "</table>\n<p><code>seconds=</code> says for how long, up to %" PRIu64 "; "
		"<code>hz=</code> how often the timer samples", cfg->max_ns / S);
	if (!cfg->only)
		fputs("; <code>pid=</code>, <code>cgroup=</code>, <code>cpu=</code>, "
		      "<code>comm=</code> set the target", f);
	fputs(". Open them with <code>go tool pprof</code> or <code>gprofctl top</code>.</p>\n"
	      "</body>\n</html>\n", f);
}

int gprof_http_cmdline(int fd, int pid, struct gprof_error *e)
{
	char path[32], buf[4096];
	ssize_t n, all = 0;
	int in, err = 0;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	else
		strcpy(path, "/proc/self/cmdline");
	in = open(path, O_RDONLY | O_CLOEXEC);
	if (in < 0 && errno == ENOENT)
		return gprof_error_set(e, ESRCH, "there is no process %d", pid);
	if (in < 0)
		return gprof_error_set(e, errno, "%s: %s", path, gprof_strerror(errno));
	while (!err && all < 2 << 20 && (n = read(in, buf, sizeof(buf))) > 0) {
		/* The last word ends where the text does, as Go has it. */
		err = gprof_fd_write(fd, buf, (size_t)n);
		all += n;
	}
	close(in);
	if (!err && all && ftruncate(fd, all - 1))
		err = -errno;
	if (err)
		gprof_error_set(e, -err, "the answer cannot be kept (%s)", gprof_strerror(-err));
	return err;
}
