// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * description.c: description of a process: cgroup and published context.
 *
 * A process publishes its context in its memory, at an address that it names. It may name any, and
 * change all of it meanwhile; it may have executed another program, which has another context.
 */
#include "description.h"
#include "profile/labels.h"
#include "base/clock.h"
#include "base/proc_maps.h"
#include "mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process_context.pb-c.h"

#define FIRST_WAIT_NS	1000000000ULL
#define TRIES		3
#define PAYLOAD_MAX	65536
#define TEXT_MAX	256

/* Those of OpenTelemetry's attributes that say which service it is. */
static const char *const told[] = {
	"service.name", "service.namespace", "service.version", "service.instance.id",
	"deployment.environment.name",
};

_Static_assert(sizeof(told) / sizeof(*told) < GPROF_DESCRIPTION_MAX, "and the cgroup");

/* Begin of the mapping; OTEP 4719, "Header Structure". */
struct header {
	char signature[8];
	uint32_t version;
	uint32_t payload_size;
	uint64_t published_ns;
	uint64_t payload;
};

#define VERSION		2

static FILE *open_proc(const struct gprof_process *id, const char *what)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/%s", id->pid, what);
	return fopen(path, "re");
}

/* ---- cgroup ---- */

static char *read_cgroup(const struct gprof_process *id)
{
	FILE *f = open_proc(id, "cgroup");
	char *line = NULL, *path = NULL;
	size_t cap = 0;
	ssize_t len;

	while (f && !path && (len = getline(&line, &cap, f)) > 0) {
		if (strncmp(line, "0::/", 4))
			continue;
		line[len - (line[len - 1] == '\n')] = '\0';
		path = strdup(line + 3);
	}
	free(line);
	if (f)
		fclose(f);
	return path;
}

static char *read_comm(const struct gprof_process *id)
{
	FILE *f = open_proc(id, "comm");
	char *line = NULL;
	size_t cap = 0;

	if (f && getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
	} else {
		free(line);
		line = NULL;
	}
	if (f)
		fclose(f);
	return line;
}

/* Its name may have any bytes, and stands between parentheses. */
static uint32_t read_ppid(const struct gprof_process *id)
{
	FILE *f = open_proc(id, "stat");
	const char *end;
	unsigned int ppid = 0;
	char text[256];

	if (!f)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	end = strrchr(text, ')');
	return end && sscanf(end, ") %*c %u", &ppid) == 1 ? ppid : 0;
}

/* ---- the published context ---- */

/* A user's own file system may block a reader for any time. */
static bool is_memory(const char *name, uint64_t inode)
{
	return !inode || !strncmp(name, "/memfd:", 7) || !strncmp(name, "[anon_shmem:", 12);
}

static bool is_context(const char *name)
{
	static const char *const names[] = {
		"[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]", "/memfd:OTEL_CTX",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/**
 * struct layout - findings in a process' mappings
 * @context: address of its context; 0: none
 * @context_end: address after it
 * @payload: an address
 * @payload_end: end of the memory that is mapped from there on, or 0
 * @same_run: it is the program run that is meant
 */
struct layout {
	uint64_t context, context_end;
	uint64_t payload, payload_end;
	bool same_run;
};

struct search {
	struct layout *layout;
	const struct gprof_described_run *run;
};

static int on_map(void *ctx, const struct gprof_proc_map *m)
{
	const struct search *look = ctx;
	struct layout *l = look->layout;

	/* One is enough: how many there are is up to the process. */
	if (!l->same_run && m->code)
		l->same_run = look->run->mapped(look->run->ctx, m->start, m->end, m->offset);
	if (!is_memory(m->path, m->inode))
		return 0;
	if (!l->context && m->readable && is_context(m->path)) {
		l->context = m->start;
		l->context_end = m->end;
	}
	if (l->payload >= m->start && l->payload < m->end)
		l->payload_end = m->end;
	return 0;
}

static struct layout read_layout(const struct gprof_described_run *run, uint64_t payload)
{
	struct layout l = { .payload = payload };
	struct search look = { &l, run };
	FILE *f = open_proc(run->process, "maps");

	if (f)
		gprof_proc_maps_each(f, on_map, &look);
	return l;
}

/*
 * The file does not wait for pages that a process withholds (userfaultfd): they cannot be
 * read. process_vm_readv() would wait for as long as the process likes.
 */
static bool read_all(int mem, void *to, size_t size, uint64_t from)
{
	return pread(mem, to, size, (off_t)from) == (ssize_t)size;
}

static bool read_header(int mem, const struct layout *l, struct header *h)
{
	return l->same_run && l->context && l->context_end - l->context >= sizeof(*h) &&
	       read_all(mem, h, sizeof(*h), l->context) &&
	       !memcmp(h->signature, "OTEL_CTX", sizeof(h->signature)) && h->version == VERSION &&
	       h->published_ns && h->payload_size && h->payload_size <= PAYLOAD_MAX;
}

/* Whole, or not at all. Returns its size, @to being for free(), or 0. */
static size_t read_payload(const struct gprof_described_run *run, struct layout l, int mem,
			   uint8_t **to)
{
	struct header h, again;
	int i;

	*to = NULL;
	for (i = 0; i < TRIES && read_header(mem, &l, &h); i++) {
		l = read_layout(run, h.payload);
		if (l.payload_end < h.payload || l.payload_end - h.payload < h.payload_size)
			break;
		free(*to);
		*to = malloc(h.payload_size);
		if (!*to || !read_all(mem, *to, h.payload_size, h.payload))
			break;
		if (read_header(mem, &l, &again) && again.published_ns == h.published_ns)
			return h.payload_size;
	}
	free(*to);
	*to = NULL;
	return 0;
}

/* ---- as labels ---- */

static const char *find(Otel__KeyValue *const *v, size_t nr, const char *key)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!strcmp(v[i]->key, key) && v[i]->value &&
		    v[i]->value->value_case == OTEL__ANY_VALUE__VALUE_STRING_VALUE)
			return v[i]->value->string_value;
	return NULL;
}

/* Words and numbers may come as any bytes: not those that end a label. */
static void add(FILE *f, const char *key, const char *text)
{
	size_t i;

	if (!text || !*text)
		return;
	fprintf(f, "%s%c", key, GPROF_LABELS_SEP);
	for (i = 0; i < TEXT_MAX && text[i]; i++)
		fputc((unsigned char)text[i] < ' ' ? '?' : text[i], f);
	fputc(GPROF_LABELS_END, f);
}

static char *make_labels(const Otel__ProcessContext *c)
{
	const Otel__Resource *r = c->resource;
	char *text = NULL;
	size_t i, size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (i = 0; i < sizeof(told) / sizeof(*told); i++) {
		const char *value = r ? find(r->attributes, r->n_attributes, told[i]) : NULL;

		add(f, told[i], value ? value : find(c->attributes, c->n_attributes, told[i]));
	}
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

static char *read_context(const struct gprof_described_run *run, const struct layout *l, int mem)
{
	Otel__ProcessContext *context = NULL;
	uint8_t *payload = NULL;
	char *text = NULL;
	size_t size = read_payload(run, *l, mem, &payload);

	if (size)
		context = otel__process_context__unpack(NULL, size, payload);
	if (context)
		text = make_labels(context);
	otel__process_context__free_unpacked(context, NULL);
	free(payload);
	return text;
}

/* ---- */

static void replace(char **old, char *text)
{
	if (!text)
		return;
	free(*old);
	*old = text;
}

void gprof_describe(struct gprof_description *d, const struct gprof_described_run *run, bool last)
{
	uint64_t now = now_ns();
	char *cgroup, *comm, *context, path[32];
	struct stat st;
	uint32_t ppid = d->ppid;
	struct layout l;
	bool owned;
	int mem;

	if (!last && now < d->next_ns)
		return;
	d->wait_ns = d->wait_ns ? d->wait_ns * 2 : FIRST_WAIT_NS;
	d->next_ns = now + d->wait_ns;
	/* Both before its mappings are looked at: they are not those of a later program. */
	snprintf(path, sizeof(path), "/proc/%u/mem", run->process->pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	/* Of a process that has ended, as most that live for a moment have, there is no file. */
	if (mem < 0 && errno == ENOENT)
		return;
	comm = read_comm(run->process);
	l = read_layout(run, 0);
	if (!l.same_run) {
		free(comm);
		comm = NULL;
	}
	cgroup = read_cgroup(run->process);
	/* One that outlives its parent gets another, which did not begin it. */
	if (!ppid)
		ppid = read_ppid(run->process);
	snprintf(path, sizeof(path), "/proc/%u", run->process->pid);
	owned = !stat(path, &st);
	context = mem < 0 ? NULL : read_context(run, &l, mem);
	if (mem >= 0)
		close(mem);
	/* All that was read is of this process when it is alive even now. */
	if (gprof_process_alive(run->process)) {
		replace(&d->cgroup, cgroup);
		replace(&d->comm, comm);
		replace(&d->context, context);
		d->ppid = ppid;
		if (owned) {
			d->uid = st.st_uid;
			d->uid_known = true;
		}
		return;
	}
	free(cgroup);
	free(comm);
	free(context);
}

void gprof_description_free(struct gprof_description *d)
{
	free(d->cgroup);
	free(d->comm);
	free(d->context);
	memset(d, 0, sizeof(*d));
}
