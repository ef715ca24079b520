// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * process_spaces.c: address spaces: which file lay where, in which process, when.
 */
#include "process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "device/decode.h"
#include "kernel_table.h"
#include "process_lookup.h"

#define DELETED		" (deleted)"
#define SHARED_MAX	64	/* readings before a new one that may have found the same */
#define PYTHON_MAX	(64ULL << 20)	/* bytes of code objects of all programs together */

int gprof_spaces_init(struct gprof_spaces *s)
{
	memset(s, 0, sizeof(*s));
	gprof_table_init(&s->table);
	gprof_objects_init(&s->objects);
	return gprof_strings_init(&s->paths);
}

static void free_space(struct gprof_space *space)
{
	size_t i;

	for (i = 0; i < space->nr; i++)
		if (!space->readings[i].shared)
			free(space->readings[i].v);
	free(space->readings);
	gprof_generated_free(&space->generated);
	gprof_python_names_free(&space->python);
	gprof_description_free(&space->description);
}

void gprof_spaces_free(struct gprof_spaces *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		free_space(&s->v[i]);
	free(s->v);
	gprof_table_free(&s->table);
	gprof_objects_free(&s->objects);
	gprof_strings_free(&s->paths);
	gprof_kernel_put(s->kernel);
	memset(s, 0, sizeof(*s));
}

static bool space_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_spaces *s = ctx;

	return gprof_same_run(&s->v[index].id, key);
}

static uint64_t space_hash(const struct gprof_spaces *s, const struct gprof_process *id)
{
	return gprof_hash_u64(gprof_hash_u64(s->table.seed, (uint64_t)id->pid << 32 | id->exec_id),
			      id->start_ns);
}

struct gprof_space *gprof_spaces_find(struct gprof_spaces *s, const struct gprof_process *id)
{
	uint32_t index = gprof_table_find(&s->table, space_hash(s, id), space_eq, s, id);

	return index == GPROF_NONE ? NULL : &s->v[index];
}

static struct gprof_space *get_space(struct gprof_spaces *s, const struct gprof_process *id)
{
	struct gprof_space *space = gprof_spaces_find(s, id);

	if (space)
		return space;
	if (gprof_grow(&s->v, &s->cap, s->nr + 1, sizeof(*s->v)) ||
	    gprof_table_insert(&s->table, space_hash(s, id), (uint32_t)s->nr))
		return NULL;
	space = &s->v[s->nr++];
	memset(space, 0, sizeof(*space));
	space->id = *id;
	gprof_python_names_init(&space->python);
	return space;
}

static void forget(struct gprof_spaces *s, struct gprof_space *space)
{
	s->python_bytes -= space->python.bytes;
	free_space(space);
}

int gprof_spaces_keep(struct gprof_spaces *s,
		      bool (*keep)(void *ctx, const struct gprof_process *id), void *ctx)
{
	bool *kept = calloc(s->nr + 1, sizeof(*kept));
	struct gprof_table table;
	uint32_t nr = 0;
	size_t i;
	int err = kept ? 0 : -ENOMEM;

	gprof_table_init(&table);
	table.seed = s->table.seed;
	for (i = 0; i < s->nr && !err; i++) {
		kept[i] = keep(ctx, &s->v[i].id);
		if (kept[i])
			err = gprof_table_insert(&table, space_hash(s, &s->v[i].id), nr++);
	}
	if (err) {
		gprof_table_free(&table);
		free(kept);
		return err;
	}
	for (i = 0, nr = 0; i < s->nr; i++) {
		if (kept[i])
			s->v[nr++] = s->v[i];
		else
			forget(s, &s->v[i]);
	}
	s->nr = nr;
	gprof_table_free(&s->table);
	s->table = table;
	free(kept);
	return 0;
}

static struct gprof_reading *get_reading(struct gprof_space *space, const struct gprof_map_rec *rec)
{
	struct gprof_reading *r;
	size_t i;

	/* Its other records came just before, if they did. */
	for (i = space->nr; i > 0; i--) {
		r = &space->readings[i - 1];
		if (r->time == rec->time && r->exec_map_seq == rec->exec_map_seq)
			return r;
	}
	if (gprof_grow(&space->readings, &space->cap, space->nr + 1, sizeof(*space->readings)))
		return NULL;
	r = &space->readings[space->nr++];
	memset(r, 0, sizeof(*r));
	r->time = r->last_time = rec->time;
	r->exec_map_seq = rec->exec_map_seq;
	return r;
}

static bool same_vma(const struct gprof_vma *a, const struct gprof_vma *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->object == b->object && a->path == b->path;
}

/* Another CPU's buffer may hold the same reading; each comes in the order of addresses. */
static bool has_vma(struct gprof_reading *r, const struct gprof_vma *vma)
{
	const struct gprof_vma *have;

	if (!r->nr || (r->sorted && r->v[r->nr - 1].start < vma->start))
		return false;
	have = gprof_reading_vma(r, vma->start);
	return have && same_vma(have, vma);
}

static int add_vma(struct gprof_reading *r, const struct gprof_vma *vma)
{
	if (r->shared) {
		struct gprof_vma *own = malloc((r->nr + 1) * sizeof(*own));

		if (!own)
			return -ENOMEM;
		memcpy(own, r->v, r->nr * sizeof(*own));
		r->v = own;
		r->cap = r->nr + 1;
		r->shared = false;
	}
	if (gprof_grow(&r->v, &r->cap, r->nr + 1, sizeof(*r->v)))
		return -ENOMEM;
	r->sorted = !r->nr || (r->sorted && r->v[r->nr - 1].start < vma->start);
	r->v[r->nr++] = *vma;
	return 0;
}

static bool same_reading(struct gprof_reading *a, struct gprof_reading *b)
{
	size_t i;

	if (a->nr != b->nr)
		return false;
	if (a->v == b->v)
		return true;
	gprof_reading_sort(a);
	gprof_reading_sort(b);
	for (i = 0; i < a->nr && same_vma(&a->v[i], &b->v[i]); i++)
		;
	return i == a->nr;
}

/* A mapping that comes and goes is the same each time: only its stamp is kept. */
static void share_newest(struct gprof_space *space, struct gprof_reading *r)
{
	size_t i;

	for (i = space->nr - 1; i > 0 && space->nr - i < SHARED_MAX && !r->shared; i--) {
		struct gprof_reading *old = &space->readings[i - 1];

		if (!same_reading(r, old))
			continue;
		free(r->v);
		r->v = old->v;
		r->cap = 0;
		r->shared = true;
	}
}

/* The newest reading is whole: drop it when the same is known already. */
static void merge_newest(struct gprof_space *space, struct gprof_reading *r)
{
	const uint16_t whole = GPROF_MAP_REC_F_FIRST | GPROF_MAP_REC_F_LAST;
	size_t i;

	if ((r->flags & whole) != whole || r != &space->readings[space->nr - 1])
		return;
	for (i = space->nr - 1; i > 0; i--) {
		struct gprof_reading *old = &space->readings[i - 1];

		if (old->exec_map_seq != r->exec_map_seq || !same_reading(r, old))
			continue;
		if (r->last_time > old->last_time)
			old->last_time = r->last_time;
		if (r->time < old->time)
			old->time = r->time;
		old->flags |= r->flags;
		if (!r->shared)
			free(r->v);
		space->nr--;
		return;
	}
	share_newest(space, r);
}

static struct gprof_object *get_object(struct gprof_spaces *s, const struct gprof_map_rec *rec,
				       const char *path)
{
	const struct gprof_map_file *file = gprof_map_file(rec);
	struct gprof_mapped_at at = { rec->process, rec->start, rec->end };
	struct gprof_file_id id = {
		.inode = rec->inode,
		.dev_major = rec->dev_major,
		.dev_minor = rec->dev_minor,
		.generation = rec->inode_generation,
		.path = path,
	};

	if (file) {
		id.known = true;
		id.size = file->file_size;
		id.mtime_ns = file->mtime_ns;
		id.build_id_len = file->build_id_size;
		memcpy(id.build_id, file->build_id, id.build_id_len);
	}
	if (rec->inode)
		return gprof_objects_get(&s->objects, &id, &at);
	/* A vDSO below 4 GiB is that of a 32-bit process, which ours does not stand for. */
	if (!strcmp(path, "[vdso]") && rec->start >> 32)
		return gprof_objects_vdso(&s->objects);
	return NULL;
}

/* Does " (deleted)" end the path that is no part of it? A file may be called so, too. */
static bool is_deleted(const struct gprof_map_rec *rec, const char *path, size_t len)
{
	const struct gprof_map_file *file = gprof_map_file(rec);
	size_t cut = sizeof(DELETED) - 1;

	if (file && !(file->flags & GPROF_MAP_FILE_F_DELETED))
		return false;
	return len > cut && !strcmp(path + len - cut, DELETED);
}

/* As was read last, or before that: the last reading may not be whole yet. */
static bool has_mapping(void *ctx, uint64_t start, uint64_t end, uint64_t offset)
{
	struct gprof_space *space = ctx;
	size_t i;

	for (i = space->nr; i && space->nr - i < 2; i--) {
		const struct gprof_vma *vma = gprof_reading_vma(&space->readings[i - 1], start);

		if (vma && vma->start == start && vma->end == end && vma->offset == offset)
			return true;
	}
	return false;
}

static void describe(struct gprof_space *space, bool last)
{
	struct gprof_described_run run = {
		.process = &space->id,
		.mapped = has_mapping,
		.ctx = space,
	};

	gprof_describe(&space->description, &run, last);
}

void gprof_spaces_describe(struct gprof_spaces *s, const struct gprof_process *id)
{
	struct gprof_space *space = gprof_spaces_find(s, id);

	if (space)
		describe(space, false);
}

void gprof_spaces_describe_all(struct gprof_spaces *s)
{
	size_t i;

	for (i = 0; i < s->nr && !gprof_is_cancelled(); i++)
		describe(&s->v[i], true);
}

/* The program lies below its libraries and its interpreter, wherever the kernel puts these. */
static const char *program_of(const struct gprof_space *space)
{
	const struct gprof_vma *first = NULL;
	const char *slash;
	size_t i;

	for (i = 0; space->nr && i < space->readings[0].nr; i++) {
		const struct gprof_vma *vma = &space->readings[0].v[i];

		if (vma->object && (!first || vma->start < first->start))
			first = vma;
	}
	slash = first ? strrchr(first->path, '/') : NULL;
	return slash ? slash + 1 : NULL;
}

int gprof_spaces_call(struct gprof_spaces *s, const struct gprof_process *id, const char *comm)
{
	struct gprof_space *space = gprof_spaces_find(s, id);

	if (!space || space->description.comm)
		return 0;
	if (!comm)
		comm = program_of(space);
	if (!comm || !*comm)
		return 0;
	space->description.comm = strdup(comm);
	return space->description.comm ? 0 : -ENOMEM;
}

int gprof_spaces_map(struct gprof_spaces *s, const struct gprof_map_rec *rec, const char *path)
{
	size_t len = strlen(path);
	struct gprof_space *space;
	struct gprof_reading *r;
	struct gprof_vma vma;
	uint32_t name;

	if (is_deleted(rec, path, len))
		len -= sizeof(DELETED) - 1;
	name = gprof_strings_add(&s->paths, path, len);
	space = get_space(s, &rec->process);
	r = space ? get_reading(space, rec) : NULL;
	if (!r || name == GPROF_NONE)
		return -ENOMEM;
	vma = (struct gprof_vma){
		.start = rec->start,
		.end = rec->end,
		.offset = rec->offset,
		.path = s->paths.v[name],
	};
	vma.object = get_object(s, rec, vma.path);
	if (rec->inode && !vma.object)
		return -ENOMEM;
	if (!has_vma(r, &vma) && add_vma(r, &vma))
		return -ENOMEM;
	r->flags |= rec->rec.flags;
	merge_newest(space, r);
	describe(space, false);
	return 0;
}

/* The interpreter that a process has mapped, or NULL. */
static const struct gprof_interpreter *find_interpreter(const struct gprof_space *space)
{
	size_t i, j;

	for (i = space->nr; i; i--) {
		const struct gprof_reading *r = &space->readings[i - 1];

		for (j = 0; j < r->nr; j++) {
			const struct gprof_python_object *python = NULL;

			if (r->v[j].object)
				python = gprof_object_python(r->v[j].object);
			if (python)
				return &python->interpreter;
		}
	}
	return NULL;
}

int gprof_spaces_read_python(struct gprof_spaces *s, const struct gprof_process *id,
			     const uint64_t *user, size_t nr)
{
	struct gprof_space *space = gprof_spaces_find(s, id);
	const struct gprof_interpreter *python = space ? find_interpreter(space) : NULL;

	uint64_t had;
	int err;

	if (!python)
		return 0;
	had = space->python.bytes;
	err = gprof_python_read(&space->python, PYTHON_MAX - s->python_bytes + had, id->pid, python,
				user, nr);
	s->python_bytes += space->python.bytes - had;
	return err;
}

void gprof_spaces_generate_again(struct gprof_spaces *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		s->v[i].generated.read = false;
}

/* The jitdump that a process has mapped; NULL if there is none. */
static const struct gprof_vma *find_jitdump(const struct gprof_space *space)
{
	size_t i, j;

	for (i = space->nr; i; i--) {
		const struct gprof_reading *r = &space->readings[i - 1];

		for (j = 0; j < r->nr; j++)
			if (r->v[j].object && gprof_is_jitdump(r->v[j].path))
				return &r->v[j];
	}
	return NULL;
}

static void read_generated(struct gprof_space *space)
{
	const struct gprof_vma *vma = find_jitdump(space);
	const struct gprof_description *d = &space->description;
	uid_t uid = d->uid_known ? d->uid : geteuid();
	struct gprof_mapped_at at = { .process = space->id };

	if (vma) {
		at.start = vma->start;
		at.end = vma->end;
	}
	gprof_generated_read(&space->generated, &space->id, uid,
			     vma ? &vma->object->id : NULL, &at);
}

bool gprof_space_generated(struct gprof_space *space, uint64_t addr, uint64_t from, uint64_t to,
			   struct gprof_jit_code *code)
{
	if (!space->generated.read)
		read_generated(space);
	return gprof_generated_find(&space->generated, addr, from, to, code);
}
