// SPDX-License-Identifier: GPL-2.0-only
/*
 * where_plugin: a plugin for QEMU that counts how often each instruction of the
 * guest is executed between the marks that load sets around its work.
 *
 *	-plugin where_plugin.so,out=FILE
 *
 * FILE gets, for each stretch between marks and each address: stretch, address,
 * count. Stretches are numbered from 0.
 *
 * QEMU's header for plugins is in no package; what is used of version 4 of its
 * interface is declared here.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mark.h"

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { INLINE_ADD_U64 };	/* enum qemu_plugin_op */
enum { CB_NO_REGS };		/* enum qemu_plugin_cb_flags */

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*fn)(qemu_plugin_id_t id,
						      struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*fn)(unsigned int cpu, void *ctx),
					    int flags, void *ctx);
struct qemu_plugin_scoreboard;
typedef struct {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
} qemu_plugin_u64;
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t size);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int cpu);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn, int op,
							 qemu_plugin_u64 entry, uint64_t add);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
				    void (*fn)(qemu_plugin_id_t id, void *ctx), void *ctx);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *data, size_t size);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

EXPORT int qemu_plugin_version = 4;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

/* One address of the guest. */
struct place {
	struct place *next;	/* in the same slot of the table */
	uint64_t address;	/* virtual */
	size_t nr;	/* its counter, of executions since the machine was started */
	uint64_t before;	/* that at the last mark */
};

#define SLOTS		(1 << 18)
#define PLACES_MAX	(1 << 20)	/* a counter each, for the one CPU there is */

static struct place *places[SLOTS];
static size_t nr_places;
static struct qemu_plugin_scoreboard *counters;
static FILE *out;
static unsigned int stretch;
static bool inside;

static struct place *place_at(uint64_t address)
{
	struct place **slot = &places[(address ^ address >> 18) % SLOTS], *p;

	for (p = *slot; p; p = p->next)
		if (p->address == address)
			return p;
	p = calloc(1, sizeof(*p));
	if (!p || nr_places == PLACES_MAX)
		abort();
	p->address = address;
	p->nr = nr_places++;
	p->next = *slot;
	*slot = p;
	return p;
}

static void on_mark(unsigned int cpu, void *ctx)
{
	const uint64_t *counts = qemu_plugin_scoreboard_find(counters, cpu);
	struct place *p;

	(void)ctx;
	for (size_t i = 0; i < SLOTS; i++) {
		for (p = places[i]; p; p = p->next) {
			uint64_t count = counts[p->nr];

			if (inside && count != p->before)
				fprintf(out, "%u %016" PRIx64 " %" PRIu64 "\n", stretch, p->address,
					count - p->before);
			p->before = count;
		}
	}
	stretch += inside;
	inside = !inside;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	static const unsigned char mark[] = { MARK_BYTES };
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		size_t size = qemu_plugin_insn_size(insn);
		qemu_plugin_u64 counter = { .score = counters };
		unsigned char data[sizeof(mark)];

		qemu_plugin_insn_data(insn, data, sizeof(data));
		if ((size == MARK_AMD64_SIZE && !memcmp(data, mark, size)) ||
		    (size == 4 && !memcmp(data, mark + MARK_AMD64_SIZE, 4)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, CB_NO_REGS, NULL);
		counter.offset = place_at(qemu_plugin_insn_vaddr(insn))->nr * sizeof(uint64_t);
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, INLINE_ADD_U64, counter,
								    1);
	}
}

static void at_exit(qemu_plugin_id_t id, void *ctx)
{
	(void)id;
	(void)ctx;
	fclose(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4))
		return -1;
	out = fopen(argv[0] + 4, "w");
	if (!out)
		return -1;
	counters = qemu_plugin_scoreboard_new(PLACES_MAX * sizeof(uint64_t));
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
