// SPDX-License-Identifier: GPL-2.0-only
/* ring_test_core.c: see ring_test_core.h. Not a test by itself. */
#include "ring_test_core.h"

#include "lib_util.h"

static __thread struct core *this_core;

/* An NMI changes the state too; that makes the numbers only more random. */
static u32 random32(struct core *c)
{
	c->seed = c->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return c->seed >> 33;
}

static void maybe_nmi(void)
{
	struct core *c = this_core;

	if (c->nmi_per_64k && c->depth && c->depth < CORE_DEPTH &&
	    (random32(c) & 0xffff) < c->nmi_per_64k)
		core_produce(c);
}

/* Frames of stack @n: any two stacks differ, and frames tell which one it is. */
static u32 fill_stack(u64 *key, u32 n)
{
	u32 words = 3 + n % 5, i;

	key[0] = n;
	for (i = 1; i < words; i++)
		key[i] = (u64)n << 32 | i;
	return words;
}

static void write_records(struct core *c, u16 generation, u64 seq)
{
	struct gprof_sample_rec *smp;
	struct gprof_lookup l;
	u32 n = random32(c) % CORE_STACKS, words, size;
	u64 key[16];
	char *place;

	words = fill_stack(key, n);
	gprof_dictionary_lookup(&c->d, generation, key, words, &l);
	size = sizeof(*smp) +
	       (l.known ? 0 : sizeof(struct gprof_stack_rec) + words * sizeof(u64));
	place = gprof_buffer_reserve(&c->b, size, 1);
	if (!place)
		return;
	if (!l.known) {
		struct gprof_stack_rec *st = (void *)place;

		memset(st, 0, sizeof(*st));
		st->rec.type = GPROF_REC_STACK;
		st->rec.size = sizeof(*st) + words * sizeof(u64);
		st->id = l.id;
		st->nr_user = words;
		shim_point();
		memcpy(st->frames, key, words * sizeof(u64));
		place += st->rec.size;
	}
	smp = (void *)place;
	shim_point();
	smp->rec.type = GPROF_REC_SAMPLE;
	smp->rec.flags = 0;
	smp->rec.size = sizeof(*smp);
	smp->tid = n;
	shim_point();
	smp->stack = l.id;
	smp->time = seq;
	if (!l.known && l.id)
		gprof_dictionary_commit(&c->d, &l);
}

/* What gprof_trace_emit() does; the word says in which generation it should be. */
static bool put_word(struct core *c, u64 now)
{
	u64 word = local64_read(&c->b.word), since;

	barrier();
	since = now - READ_ONCE(c->b.generation_start);
	if (since >= c->b.generation_ns ||
	    !gprof_buffer_put(&c->b, word, (u64)gprof_word_generation(word) << 32 | GPROF_REC_SHORT))
		return false;
	c->put++;
	return true;
}

/* What gprof_emit() does, or gprof_trace_emit(), at whatever depth. */
void core_produce(struct core *c)
{
	u64 seq = __atomic_add_fetch(&c->produced, 1, __ATOMIC_RELAXED);
	u64 now = ktime_get_mono_fast_ns();
	u16 generation;

	shim_point();
	c->depth++;
	local64_inc(&c->b.produced);
	if (c->words && random32(c) % c->words == 0 && put_word(c, now)) {
		c->depth--;
		return;
	}
	generation = gprof_buffer_begin(&c->b, now);
	c->behind += now < c->b.generation_start;
	c->early += gprof_buffer_time(&c->b, now) < c->b.generation_start;
	if (generation != c->scrubbed) {
		c->scrubbed = generation;
		gprof_dictionary_scrub(&c->d, generation);
	}
	write_records(c, generation, seq);
	if (c->words)
		gprof_buffer_prefetch(&c->b);
	gprof_buffer_end(&c->b);
	c->depth--;
}

/* This thread is the CPU of @c from now on. */
void core_run_on(struct core *c)
{
	this_core = c;
	shim_nmi = c ? maybe_nmi : NULL;
}

void core_init(struct core *c, u64 size, bool flight, u64 seed, unsigned int nmi_per_64k)
{
	/* what it was before */
	munmap(c->b.data, 2 * c->b.size);
	free(c->b.head);
	free(c->b.tail);
	memset(c, 0, sizeof(*c));
	c->b.data = (char *)lib_ring(size);
	if (!c->b.data)
		abort();
	c->b.size = size;
	c->b.head = calloc(1, sizeof(*c->b.head));
	c->b.tail = calloc(1, sizeof(*c->b.tail));
	c->b.flight = flight;
	c->b.wakes = !flight;
	c->b.generation_ns = 2000000;
	c->b.weight = 1;
	gprof_buffer_init(&c->b);
	c->d.slots = c->slots;
	c->d.nr_slots = CORE_SLOTS;
	c->d.arena = c->arena;
	c->d.nr_words = CORE_WORDS;
	c->seed = seed;
	c->nmi_per_64k = nmi_per_64k;
}

void core_check_start(struct core_check *k)
{
	memset(k, 0, sizeof(*k));
	k->last_inline = CORE_STACKS;
	memset(k->stack_of, 0xff, sizeof(k->stack_of));
}

static void fail(struct core_check *k, const char *why)
{
	if (!k->error)
		k->error = why;
}

static void check_stack(struct core_check *k, const struct gprof_stack_rec *st)
{
	u64 key[16];
	u32 n = st->frames[0];

	if (n >= CORE_STACKS || st->nr_user != fill_stack(key, n) ||
	    memcmp(st->frames, key, st->nr_user * sizeof(u64)))
		fail(k, "a stack is torn");
	else if (st->id >= CORE_WORDS)
		fail(k, "an id is out of range");
	else if (!st->id)
		k->last_inline = n;
	else if (k->stack_of[st->id] != ~0U)
		fail(k, "an id is defined twice in a generation");
	else
		k->stack_of[st->id] = n;
}

static void check_word(struct core_check *k, u64 word)
{
	k->samples++;
	if (word >> 48 || (u16)word != GPROF_REC_SHORT)
		fail(k, "a word is torn");
	else if ((u16)(word >> 32) != (u16)k->last_generation)
		fail(k, "a word is of another generation");
}

static void check_sample(struct core_check *k, const struct gprof_sample_rec *s)
{
	u32 n = s->stack ? k->stack_of[s->stack % CORE_WORDS] : k->last_inline;

	k->samples++;
	if (s->rec.size != sizeof(*s) || s->rec.flags)
		fail(k, "a sample is torn");
	if (n >= CORE_STACKS)
		fail(k, "a stack id was not defined in its generation");
	else if (n != s->tid)
		fail(k, "a sample has the stack of another");
}

/**
 * core_check_records() - hold records to what was written
 * @k: state
 * @data: data of the ring
 * @size: its size
 * @pos: position of the first
 * @head: position after the last
 *
 * Return: position up to which all is well.
 */
u64 core_check_records(struct core_check *k, const char *data, u64 size, u64 pos, u64 head)
{
	while (pos < head && !k->error) {
		const struct gprof_rec *r = (const void *)(data + (pos & (size - 1)));

		if (r->type & GPROF_REC_SHORT) {
			u64 word;

			memcpy(&word, r, sizeof(word));
			check_word(k, word);
			pos += sizeof(word);
			continue;
		}
		if (r->size < sizeof(*r) || r->size > head - pos || r->size % 8) {
			fail(k, "a size is torn");
			break;
		}
		if (!k->generations && r->type != GPROF_REC_GENERATION)
			fail(k, "the first record does not begin a generation");
		switch (r->type) {
		case GPROF_REC_GENERATION: {
			const struct gprof_generation_rec *g = (const void *)r;

			if (k->generations++ && g->generation != k->last_generation + 1)
				fail(k, "generations are not in order");
			k->last_generation = g->generation;
			memset(k->stack_of, 0xff, sizeof(k->stack_of));
			break;
		}
		case GPROF_REC_LOST:
			k->told++;
			for (int i = 0; i < GPROF_LOST_NR; i++)
				k->lost += ((const struct gprof_lost_rec *)r)->lost[i];
			break;
		case GPROF_REC_STACK:
			check_stack(k, (const void *)r);
			break;
		case GPROF_REC_SAMPLE:
			check_sample(k, (const void *)r);
			break;
		default:
			fail(k, "a type is torn");
		}
		pos += r->size;
	}
	return pos;
}

/* produced = read + lost + overwritten, and the ring counted what was produced */
bool core_balances(const struct core *c, const struct core_check *k)
{
	u64 lost = 0;

	for (int i = 0; i < GPROF_LOST_NR; i++)
		lost += local64_read(&c->b.lost[i]);
	return (u64)local64_read(&c->b.produced) == c->produced &&
	       c->produced == k->samples + lost + (u64)local64_read(&c->b.overwritten);
}
