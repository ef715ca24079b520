// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * labels.c: which labels a thread of this process had, when.
 *
 * Each thread that ever had labels has a log of its changes, the newest of which counts until now.
 * Without a reader, that one is all there is.
 */
#include "labels.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/table.h"

#define CHANGES_MAX	(1U << 18)
#define BUCKETS		256

/**
 * struct set - labels of a thread, outer ones and inner ones
 * @refs: number of users
 * @failed: pushes on top of it that failed
 * @outer: set before the push, or NULL
 * @text: all of them
 */
struct set {
	size_t refs;
	size_t failed;
	struct set *outer;
	char text[];
};

struct change {
	uint64_t time;
	struct set *set;
};

/**
 * struct log - a thread's labels over time
 * @next: of its bucket
 * @tid: thread
 * @died: when it ended, or UINT64_MAX
 * @failed: pushes that failed without any labels
 * @forgot: changes that a reader may ask for are gone
 * @changes: the oldest first, @nr from @first on
 * @first: those before it were forgotten
 * @nr: how many
 * @cap: room
 */
struct log {
	struct log *next;
	pid_t tid;
	uint64_t died;
	size_t failed;
	bool forgot;
	struct change *changes;
	size_t first;
	size_t nr;
	size_t cap;
};

/* Guards all that follows but @used. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct log *logs[BUCKETS];
static struct gprof_labels_reader *readers;
static atomic_bool used;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool ready;
static _Thread_local struct log *own;

uint64_t gprof_labels_now(void)
{
	return now_ns();
}

bool gprof_labels_used(void)
{
	/* Pairs with the store in the first push, before which no sample had labels. */
	return atomic_load_explicit(&used, memory_order_seq_cst);
}

static void put_set(struct set *s)
{
	while (s && !--s->refs) {
		struct set *outer = s->outer;

		free(s);
		s = outer;
	}
}

static struct set *get_set(struct set *s)
{
	if (s)
		s->refs++;
	return s;
}

static void drop_first(struct log *l)
{
	put_set(l->changes[l->first++].set);
	l->nr--;
}

/* Free the changes that no reader needs: all but the last before the oldest time. */
static void prune(struct log *l)
{
	const struct gprof_labels_reader *r;
	uint64_t since = UINT64_MAX;

	for (r = readers; r; r = r->next)
		if (r->since < since)
			since = r->since;
	while (l->nr > 1 && (l->changes[l->first + 1].time <= since || l->nr > CHANGES_MAX)) {
		l->forgot |= l->changes[l->first + 1].time > since;
		drop_first(l);
	}
	if (l->first < l->nr)
		return;
	if (l->nr)
		memmove(l->changes, l->changes + l->first, l->nr * sizeof(*l->changes));
	l->first = 0;
}

static struct set *current(const struct log *l)
{
	return l->nr ? l->changes[l->first + l->nr - 1].set : NULL;
}

/* Sets @set, whose reference becomes the log's; also on failure. */
static int change(struct log *l, struct set *set, uint64_t time)
{
	if (!readers || l->nr > CHANGES_MAX || l->first + l->nr == l->cap)
		prune(l);
	if (gprof_grow(&l->changes, &l->cap, l->first + l->nr + 1, sizeof(*l->changes))) {
		put_set(set);
		return -ENOMEM;
	}
	l->changes[l->first + l->nr++] = (struct change){ time, set };
	return 0;
}

static void free_log(struct log *l)
{
	while (l->nr)
		drop_first(l);
	free(l->changes);
	free(l);
}

/* Logs of threads that have ended, without a reader that needs them. */
static void bury(struct log **at)
{
	while (*at) {
		struct log *l = *at;
		const struct gprof_labels_reader *r = readers;

		while (r && r->since > l->died)
			r = r->next;
		if (r || l->died == UINT64_MAX) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		free_log(l);
	}
}

static void thread_ends(void *arg)
{
	struct log *l = arg;

	pthread_mutex_lock(&lock);
	l->died = gprof_labels_now();
	own = NULL;
	bury(&logs[(size_t)l->tid % BUCKETS]);
	pthread_mutex_unlock(&lock);
}

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

/* Of the threads there is one, with another number; the readers are with the parent. */
static void in_child(void)
{
	size_t i;

	readers = NULL;
	for (i = 0; i < BUCKETS; i++) {
		while (logs[i]) {
			struct log *l = logs[i];

			logs[i] = l->next;
			if (l != own)
				free_log(l);
		}
	}
	if (own) {
		prune(own);
		own->tid = (pid_t)syscall(SYS_gettid);
		own->next = NULL;
		logs[(size_t)own->tid % BUCKETS] = own;
	}
	pthread_mutex_unlock(&lock);
}

static void set_up(void)
{
	ready = !pthread_key_create(&key, thread_ends) &&
		!pthread_atfork(before_fork, after_fork, in_child);
}

static struct log *own_log(void)
{
	struct log **bucket;

	pthread_once(&once, set_up);
	if (own || !ready)
		return own;
	own = calloc(1, sizeof(*own));
	if (!own)
		return NULL;
	own->tid = (pid_t)syscall(SYS_gettid);
	own->died = UINT64_MAX;
	if (pthread_setspecific(key, own)) {
		free(own);
		own = NULL;
		return NULL;
	}
	pthread_mutex_lock(&lock);
	bucket = &logs[(size_t)own->tid % BUCKETS];
	bury(bucket);
	own->next = *bucket;
	*bucket = own;
	pthread_mutex_unlock(&lock);
	return own;
}

static int publish_error(int err, const char *sentence)
{
	struct gprof_error e;

	gprof_error_set(&e, err, "%s", sentence);
	gprof_error_publish(&e);
	return -err;
}

static int check(const struct gprof_tag *tags, size_t nr)
{
	static const char *const taken[] = {
		"pid", "tid", "cpu", "comm", "addr", "cgroup", "process.executable.name",
	};
	size_t i, j;

	for (i = 0; i < nr; i++) {
		if (!tags[i].key || !tags[i].key[0])
			return publish_error(EINVAL, "a label has no key");
		if (!tags[i].text)
			return publish_error(EINVAL, "a label of a thread is a text, not a number");
		for (j = 0; j < sizeof(taken) / sizeof(*taken); j++)
			if (!strcmp(tags[i].key, taken[j]))
				return publish_error(EINVAL,
						     "samples have labels pid, tid, cpu, comm and "
						     "addr anyway; take another key");
	}
	return 0;
}

/* A key or text of a label in a set; @end is behind it. */
struct part {
	const char *at;
	size_t len;
};

struct label {
	struct part key;
	struct part text;
};

/* Labels from the text of a set; how many. */
static size_t split(const char *text, struct label *labels)
{
	size_t nr = 0;

	while (*text) {
		struct label *l = &labels[nr++];

		l->key = (struct part){ text, strcspn(text, "\1") };
		text += l->key.len + 1;
		l->text = (struct part){ text, strcspn(text, "\2") };
		text += l->text.len + 1;
	}
	return nr;
}

static int compare(const struct part *a, const struct part *b)
{
	int c = memcmp(a->at, b->at, a->len < b->len ? a->len : b->len);

	return c ? c : a->len < b->len ? -1 : a->len > b->len;
}

static int by_key(const void *a, const void *b)
{
	return compare(&((const struct label *)a)->key, &((const struct label *)b)->key);
}

static char *put_part(char *to, const struct part *p, char end)
{
	size_t i;

	for (i = 0; i < p->len; i++)
		*to++ = p->at[i] == GPROF_LABELS_SEP || p->at[i] == GPROF_LABELS_END ?
			'?' : p->at[i];
	*to++ = end;
	return to;
}

/* The outer labels and these, each key once; NULL with errno. */
static struct set *make_set(struct set *outer, const struct gprof_tag *tags, size_t nr)
{
	struct label labels[2 * GPROF_LABELS_MAX];
	size_t i, j, size = 1, count = outer ? split(outer->text, labels) : 0;
	struct set *s;
	char *to;

	for (i = 0; i < nr; i++) {
		struct label l = { { tags[i].key, strlen(tags[i].key) },
				   { tags[i].text, strlen(tags[i].text) } };

		for (j = 0; j < count && compare(&labels[j].key, &l.key); j++)
			;
		if (j == GPROF_LABELS_MAX) {
			errno = E2BIG;
			return NULL;
		}
		labels[j] = l;
		count += j == count;
	}
	qsort(labels, count, sizeof(*labels), by_key);
	for (i = 0; i < count; i++)
		size += labels[i].key.len + labels[i].text.len + 2;
	s = malloc(sizeof(*s) + size);
	if (!s)
		return NULL;
	*s = (struct set){ .refs = 1, .outer = get_set(outer) };
	to = s->text;
	for (i = 0; i < count; i++) {
		to = put_part(to, &labels[i].key, GPROF_LABELS_SEP);
		to = put_part(to, &labels[i].text, GPROF_LABELS_END);
	}
	*to = '\0';
	return s;
}

static int push(struct log *l, const struct gprof_tag *tags, size_t nr)
{
	struct set *set;

	set = make_set(current(l), tags, nr);
	if (!set && errno == E2BIG)
		return publish_error(E2BIG, "a thread has at most 32 labels");
	/* Before the time is taken: see gprof_labels_used(). */
	atomic_store_explicit(&used, true, memory_order_seq_cst);
	if (set && !change(l, set, gprof_labels_now()))
		return 0;
	return publish_error(ENOMEM, "no memory for labels");
}

int gprof_labels_push(const struct gprof_tag *tags, size_t nr)
{
	struct log *l = own_log();
	struct set *set;
	int err;

	if (!l)
		return publish_error(ENOMEM, "no memory for labels");
	err = check(tags, nr);
	pthread_mutex_lock(&lock);
	if (!err)
		err = push(l, tags, nr);
	set = current(l);
	if (err)
		++*(set ? &set->failed : &l->failed);
	pthread_mutex_unlock(&lock);
	return err;
}

/* Without memory to say until when there were labels, it is said that there were none. */
static void put_back(struct log *l)
{
	struct change *last = &l->changes[l->first + l->nr - 1];
	struct set *outer = get_set(last->set->outer);

	put_set(last->set);
	last->set = outer;
}

void gprof_labels_pop(void)
{
	uint64_t now = gprof_labels_now();
	struct log *l = own;
	struct set *set;

	if (!l)
		return;
	pthread_mutex_lock(&lock);
	set = current(l);
	if (set ? set->failed : l->failed)
		--*(set ? &set->failed : &l->failed);
	else if (set && change(l, get_set(set->outer), now))
		put_back(l);
	pthread_mutex_unlock(&lock);
}

void gprof_labels_begin(struct gprof_labels_reader *r)
{
	pthread_mutex_lock(&lock);
	r->since = gprof_labels_now();
	r->next = readers;
	r->reading = true;
	readers = r;
	pthread_mutex_unlock(&lock);
}

void gprof_labels_read(struct gprof_labels_reader *r, uint64_t time)
{
	pthread_mutex_lock(&lock);
	r->since = time;
	pthread_mutex_unlock(&lock);
}

void gprof_labels_end(struct gprof_labels_reader *r)
{
	struct gprof_labels_reader **at = &readers;
	size_t i;

	if (!r->reading)
		return;
	pthread_mutex_lock(&lock);
	while (*at && *at != r)
		at = &(*at)->next;
	if (*at)
		*at = r->next;
	r->reading = false;
	for (i = 0; i < BUCKETS; i++)
		bury(&logs[i]);
	pthread_mutex_unlock(&lock);
}

/* Field @n of /proc/self/stat behind the name, which may hold anything; 0: unknown. */
static unsigned long long own_stat(int n)
{
	char text[1024];
	const char *p;
	FILE *f = fopen("/proc/self/stat", "re");
	size_t len;

	if (!f)
		return 0;
	len = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[len] = '\0';
	p = strrchr(text, ')');
	while (p && n--)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : 0;
}

/* Is CLOCK_MONOTONIC that of the kernel? A time namespace may have another. */
static bool clock_is_the_kernels(void)
{
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	int64_t seconds = 0, ns = 0;

	if (!f)
		return true;
	if (fscanf(f, "monotonic %" SCNd64 " %" SCNd64, &seconds, &ns) != 2)
		seconds = 0;
	fclose(f);
	return !seconds && !ns;
}

/* By pid and start: in a time namespace the latter differs from the kernel's. */
bool gprof_labels_own(const struct gprof_process *id)
{
	long hz = sysconf(_SC_CLK_TCK);

	return id->pid == (uint32_t)getpid() && hz > 0 &&
	       id->start_ns / (1000000000ULL / (uint64_t)hz) == own_stat(20) &&
	       clock_is_the_kernels();
}

int gprof_labels_at(pid_t tid, uint64_t time, int (*take)(void *ctx, const char *text), void *ctx)
{
	const struct log *l;
	int ret = 0;

	pthread_mutex_lock(&lock);
	l = logs[(size_t)tid % BUCKETS];
	while (l && (l->tid != tid || time > l->died))
		l = l->next;
	if (l && l->nr) {
		size_t lo = 0, hi = l->nr;

		/* the last change that is not later */
		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;

			if (l->changes[l->first + mid].time <= time)
				lo = mid + 1;
			else
				hi = mid;
		}
		if (lo) {
			const struct set *set = l->changes[l->first + lo - 1].set;

			ret = set && set->text[0] ? take(ctx, set->text) : 0;
		} else if (l->forgot) {
			ret = -ENODATA;
		}
	}
	pthread_mutex_unlock(&lock);
	return ret;
}
