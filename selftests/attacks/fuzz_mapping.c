// SPDX-License-Identifier: GPL-2.0-only
/* fuzz_mapping.c: rings and tails, mapped rightly and wrongly, and lies in tails. */
#include <sys/mman.h>
#include "fuzz_mapping.h"

void do_mmap(struct thread *t, struct slot *s)
{
	static const int protections[] = {
		PROT_READ, PROT_READ, PROT_READ | PROT_WRITE, PROT_WRITE, PROT_EXEC, PROT_NONE,
	};
	struct mapped *m = &t->mappings[below(&t->draw, MAPPINGS)];
	int fd = __atomic_load_n(&s->fd, __ATOMIC_RELAXED);
	uint64_t cpu = ONE_OF(&t->draw, 0, 0, 1, 1, 2, 63, 4096, 0x7fffffff);
	bool live = one_in(&t->draw, 6), ring = live || one_in(&t->draw, 2);
	uint64_t offset = live ? GPROF_MMAP_OBJECTS :
			  ring ? GPROF_MMAP_RING(cpu) : GPROF_MMAP_TAIL(cpu);
	int protection = protections[below(&t->draw, 6)];
	size_t length = t->run->page;
	void *at;

	if (m->at)
		return;
	/* Of 1, 16 and 1000 slots, and of as many as there are without a wish. */
	if (live)
		length *= ONE_OF(&t->draw, 1, 2, 2, 15, 29, 897, 57345);
	else if (ring)
		length += 2 * ONE_OF(&t->draw, 32768, 32768, 65536, 131072, 524288, 4096);
	if (one_in(&t->draw, 8))
		offset += t->run->page * ONE_OF(&t->draw, 1, -1, below(&t->draw, 1 << 20));
	if (one_in(&t->draw, 8))
		length = t->run->page * (1 + below(&t->draw, 300));
	/* who maps an honest tail must not write to it */
	at = mmap(NULL, length, protection,
		  one_in(&t->draw, 8) ? MAP_PRIVATE :
		  MAP_SHARED | (one_in(&t->draw, 8) ? MAP_POPULATE : 0),
		  fd, offset);
	fuzz_count(&t->run->f->calls);
	if (at == MAP_FAILED) {
		fuzz_count(&t->run->f->refused);
		return;
	}
	*m = (struct mapped){ at, length, !ring && !s->honest && protection & PROT_WRITE };
	if (ring && protection & (PROT_WRITE | PROT_EXEC))
		fuzz_broken(t->run->f, "a ring was mapped with protection %d", protection);
}

void do_mapping(struct thread *t, struct slot *s)
{
	struct mapped *m = &t->mappings[below(&t->draw, MAPPINGS)];
	size_t half = m->length / 2 & ~(t->run->page - 1);
	char residence[256];
	void *moved;

	if (!m->at)
		return;
	fuzz_count(&t->run->f->calls);
	switch (below(&t->draw, 8)) {
	case 0:		/* as a whole, or in two */
		/* each page once: another thread may have mapped something there since */
		if (half && one_in(&t->draw, 2)) {
			munmap(m->at + half, m->length - half);
			munmap(m->at, half);
		} else {
			munmap(m->at, m->length);
		}
		m->at = NULL;
		break;
	case 1:
		if (!mprotect(m->at, m->length, PROT_READ | PROT_EXEC))
			fuzz_broken(t->run->f, "a mapping was made executable");
		break;
	case 2:
		if (!m->tail && m->length > t->run->page &&
		    !mprotect(m->at, m->length, PROT_READ | PROT_WRITE))
			fuzz_broken(t->run->f, "a ring was made writable");
		break;
	case 3:
		moved = mremap(m->at, m->length, m->length * 2, MREMAP_MAYMOVE);
		if (moved != MAP_FAILED) {
			fuzz_broken(t->run->f, "a mapping has grown");
			m->at = moved;
			m->length *= 2;
		}
		break;
	case 4:
		moved = mremap(m->at, m->length, m->length, MREMAP_MAYMOVE);
		if (moved != MAP_FAILED)
			m->at = moved;
		break;
	case 5:
		if (m->length / t->run->page <= sizeof(residence))
			mincore(m->at, m->length, (void *)residence);
		break;
	case 6:
		m->tail = false;	/* what was given up is SIGBUS when touched again */
		madvise(m->at, m->length, ONE_OF(&t->draw, MADV_DONTNEED, MADV_WILLNEED, MADV_FREE,
						 MADV_REMOVE, MADV_COLD, MADV_MERGEABLE));
		break;
	case 7:
		msync(m->at, m->length, MS_SYNC);
		break;
	}
}

void do_lie(struct thread *t, struct slot *s)
{
	struct mapped *m = &t->mappings[below(&t->draw, MAPPINGS)];
	struct gprof_ring_tail *tail = m->at;

	if (m->at && m->tail)
		__atomic_store_n(&tail->tail, ONE_OF(&t->draw, 0, 7, 8, draw(&t->draw), UINT64_MAX, 1 << 20,
						     32768, -8), __ATOMIC_RELAXED);
}
