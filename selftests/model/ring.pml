/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.pml: the protocol of kmod/ring/buffer.c, for spin. Documentation/design/ring.rst says
 * what it shows; selftests/model/model_test.sh runs it.
 *
 * Names are those of buffer.c. A record is one unit, and says where it lies, in
 * which generation it was meant to lie, and whether it is a sample.
 *
 * One CPU: a task, an interrupt and an NMI, each of which goes on only when what
 * interrupted it has finished (@level). Another CPU: the reader. Between the two
 * there is memory that reorders: what the producers store waits, each place on its
 * own, and becomes visible in any order (memory()). A release store or a write
 * barrier makes all that was stored before it visible first. The producers' CPU
 * sees its own stores at once. Loads of the reader that nothing holds back are done
 * at the worst moment: that is what the mutations NO_ACQUIRE and NO_READ_BARRIER
 * do, and NO_TAIL_RELEASE does to its store.
 *
 * -DFLIGHT: flight mode, else stream. Every other name that is asked for below is a
 * mutation: something left out, which must be found.
 */
#ifndef SIZE
#define SIZE		3	/* units of data */
#endif
#ifndef TASK_SAMPLES
#define TASK_SAMPLES	2
#endif
#ifndef IRQ_SAMPLES
#define IRQ_SAMPLES	1
#endif
#ifndef NMI_SAMPLES
#define NMI_SAMPLES	1
#endif
#define GENERATIONS	8	/* never so many here: the table does not wrap */

#ifdef OFF_BY_ONE
#define ROOM		(SIZE + 1)
#else
#define ROOM		SIZE
#endif

/* What a record says. */
#define RECORD(_pos, _gen, _sample)	(((_pos) + 1) * 16 + (_gen) * 2 + (_sample))
#define POS_OF(_r)			((_r) / 16 - 1)
#define GEN_OF(_r)			(((_r) / 2) % 8)
#define IS_SAMPLE(_r)			((_r) % 2)

/* The reservation word: both halves change in one step. */
typedef Word { byte gen; byte pos };
Word word;
byte nest, generation, first = 1;
byte gen_pos[GENERATIONS], gen_samples[GENERATIONS];
byte produced, lost, overwritten;
byte oldest_own;	/* as the producers' CPU sees it */

/* What the reader's CPU sees. */
short data[SIZE];
byte head, oldest, tail;

/* What waits to become visible. */
bool waits[SIZE], head_waits, oldest_waits;
short waiting[SIZE];
byte head_waiting;

byte level, running = 3;

proctype memory()
{
end:
	do
	:: atomic { waits[0] -> data[0] = waiting[0]; waits[0] = false }
#if SIZE > 1
	:: atomic { waits[1] -> data[1] = waiting[1]; waits[1] = false }
#endif
#if SIZE > 2
	:: atomic { waits[2] -> data[2] = waiting[2]; waits[2] = false }
#endif
#if SIZE > 3
	:: atomic { waits[3] -> data[3] = waiting[3]; waits[3] = false }
#endif
	:: atomic { head_waits -> head = head_waiting; head_waits = false }
	:: atomic { oldest_waits -> oldest = oldest_own; oldest_waits = false }
	od
}

/* Within atomic or d_step. */
inline all_visible()
{
	i = 0;
	do
	:: i < SIZE ->
		if
		:: waits[i] -> data[i] = waiting[i]; waits[i] = false
		:: else
		fi;
		i++
	:: else -> break
	od;
	if
	:: head_waits -> head = head_waiting; head_waits = false
	:: else
	fi;
	if
	:: oldest_waits -> oldest = oldest_own; oldest_waits = false
	:: else
	fi;
	i = 0
}

inline fill(_pos, _gen, _sample)
{
	d_step {
		waiting[(_pos) % SIZE] = RECORD(_pos, _gen, _sample);
		waits[(_pos) % SIZE] = true
	}
}

#ifdef FLIGHT
/* Gives up the oldest generation, and sets done when it may not. */
inline give_up_oldest(_current)
{
	f = first;
	if
	:: _current - f < (nest > 1 -> 2 : 1) -> done = true
	:: else ->
		s = gen_samples[f];
		p = gen_pos[f + 1];
		/* publish_oldest(): forward only */
		o = oldest_own;
		do
		:: p > o ->
			atomic {
				if
				:: oldest_own == o -> oldest_own = p; oldest_waits = true; o = p
				:: else -> o = oldest_own
				fi
			}
		:: else -> break
		od;
#ifndef NO_WRITE_BARRIER
		skip;	/* spin allows no jump into a d_step */
		d_step { all_visible() };		/* E */
#endif
		atomic {
			if
			:: first == f -> first = f + 1; overwritten = overwritten + s
			:: else
			fi
		}
	fi
}
#endif

/* Sets no_room. @w is the word that was read. */
inline room()
{
#ifdef FLIGHT
	no_room = false;
	done = false;
	do
	:: !no_room && w.pos + 1 - gen_pos[first] > ROOM ->
		give_up_oldest(w.gen);
		no_room = done
	:: else -> break
	od
#else
	no_room = (w.pos - tail + 1 > ROOM)		/* B: what is stored depends on it */
#endif
}

/* Reserve by compare-exchange: sets taken. */
inline exchange(_gen)
{
	atomic {
#ifdef NO_COMPARE
		if
		:: true ->
#else
		if
		:: word.pos == w.pos && word.gen == w.gen ->
#endif
			word.pos = w.pos + 1;
			word.gen = _gen;
			taken = true
		:: else -> taken = false
		fi
	}
}

inline read_word()
{
	d_step { w.pos = word.pos; w.gen = word.gen }
}

inline cut_generation()
{
	gen_samples[generation + 1] = 0;
	do
	:: read_word();
		room();
		if
		:: no_room -> break
		:: else
		fi;
		gen_pos[generation + 1] = w.pos;
		exchange(generation + 1);
		if
		:: taken ->
			generation = generation + 1;
			fill(w.pos, w.gen + 1, 0);
			break
		:: else
		fi
	od
}

#ifdef INNER_CUTS
#define MAY_CUT	true
#else
#define MAY_CUT	(nest == 1)
#endif

/* gprof_buffer_begin(): whether a generation is due is anybody's guess, but for the first. */
inline begin()
{
	nest = nest + 1;
	if
	:: MAY_CUT && generation < 3 -> cut_generation()
	:: !MAY_CUT || generation > 0
	fi;
	mine = word.gen
}

inline reserve()
{
	do
	:: read_word();
		if
		:: w.gen == 0 && generation == 0 -> lost++; break
		:: else
		fi;
		room();
		if
		:: no_room -> lost++; break
		:: else
		fi;
		exchange(w.gen);
		if
		:: taken ->
			gen_samples[w.gen] = gen_samples[w.gen] + 1;
			fill(w.pos, mine, 1);
			break
		:: else
		fi
	od
}

inline publish()
{
#ifdef NO_RELEASE
	d_step { head_waiting = w.pos; head_waits = true }
#else
	d_step { all_visible(); head = w.pos }		/* A */
#endif
}

inline finish()
{
#ifdef NO_NESTING_CHECK
	n = 1;
#else
	n = nest;
#endif
	if
	:: n > 1 -> nest = n - 1
	:: else ->
		do
		:: read_word();
			publish();
			nest = 0;
#ifdef NO_SECOND_LOOK
			break
#else
			if
			:: word.pos == w.pos && word.gen == w.gen -> break
			:: else -> nest = 1
			fi
#endif
		od
	fi
}

inline sample()
{
	produced++;
	begin();
	reserve();
	finish()
}

#define LOCALS	Word w; byte n, i, f, s, p, o, mine, left; bool no_room, taken, done

proctype task() provided (level == 0)
{
	LOCALS;

	left = TASK_SAMPLES;
	do
	:: left > 0 -> sample(); left--
	:: else -> break
	od;
	running--
}

/* Comes when it likes, or not at all. */
proctype irq() provided (level <= 1)
{
	LOCALS;

	left = IRQ_SAMPLES;
	do
	:: left > 0 ->
		atomic { level == 0 -> level = 1 };
		sample();
		left--;
		level = 0
	:: break
	od;
	running--
}

proctype nmi()
{
	LOCALS;
	byte below;

	left = NMI_SAMPLES;
	do
	:: left > 0 ->
		atomic { level < 2 -> below = level; level = 2 };
		sample();
		left--;
		level = below
	:: break
	od;
	running--
}

byte got, gen_read;

/* A record where position _p is: complete, and of the generation that it lies in. */
inline check(_p, _r)
{
	assert(POS_OF(_r) == _p);
	if
	:: !IS_SAMPLE(_r) -> gen_read = GEN_OF(_r)
	:: else ->
		assert(GEN_OF(_r) == gen_read);
		got++
	fi
}

#ifdef FLIGHT
inline snapshot()
{
	d_step { got = 0; gen_read = 0 };
	from = oldest;
	to = head;
	if
	:: to < from || to - from > SIZE	/* given up while these two were read */
	:: else ->
#ifdef NO_READ_BARRIER
		given_up = oldest;
#endif
		at = from;
		do
		:: at < to -> copy[at % SIZE] = data[at % SIZE]; at++
		:: else -> break
		od;
#ifndef NO_READ_BARRIER
		given_up = oldest;			/* F */
#endif
		skip;
		d_step {
			at = (given_up > from -> given_up : from);
			if
			:: at < to -> gen_read = GEN_OF(copy[at % SIZE])
			:: else
			fi;
			do
			:: at < to -> r = copy[at % SIZE]; check(at, r); at++
			:: else -> break
			od;
			at = 0; r = 0
		}
	fi
}
#else
inline drain()
{
#ifdef NO_ACQUIRE
	at = 0;
	do
	:: at < SIZE -> copy[at] = data[at]; at++
	:: else -> break
	od;
#endif
	to = head;					/* C */
	at = tail;
#ifdef NO_TAIL_RELEASE
	tail = to;
#endif
	do
	:: at < to ->
#ifdef NO_ACQUIRE
		r = copy[at % SIZE];
#else
		r = data[at % SIZE];
#endif
		d_step { check(at, r); at++; r = 0 }
	:: else -> break
	od;
#ifndef NO_TAIL_RELEASE
	tail = to					/* D */
#endif
}
#endif

active proctype reader()
{
	byte from, to, at, given_up;
	short r, copy[SIZE];

	atomic { run memory(); run task(); run irq(); run nmi() };
	do
#ifdef FLIGHT
	:: snapshot()
#else
	:: head != tail -> drain()
#endif
	:: running == 0 -> break
	od;
	/* What is on its way arrives. */
	!(head_waits || oldest_waits || waits[0]
#if SIZE > 1
		|| waits[1]
#endif
#if SIZE > 2
		|| waits[2]
#endif
#if SIZE > 3
		|| waits[3]
#endif
		);
#ifdef FLIGHT
	snapshot();
#else
	drain();
#endif
	assert(nest == 0);
	assert(head == word.pos);
	assert(produced == got + lost + overwritten)
}
