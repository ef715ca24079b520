// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * kernel_symbol.c: names of kernel addresses, from /proc/kallsyms.
 */
#include "kernel_symbol.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/table.h"

#define PAGE	4096ULL

static uint32_t find_image(struct gprof_kernel *k, const char *name, size_t len)
{
	struct gprof_kernel_image *image;
	size_t i;

	/* kallsyms lists a module's symbols together: look at the newest first. */
	for (i = k->nr_images; i > 0; i--) {
		image = &k->images[i - 1];
		if (!strncmp(image->name, name, len) && !image->name[len])
			return (uint32_t)(i - 1);
	}
	if (gprof_grow(&k->images, &k->cap_images, k->nr_images + 1, sizeof(*k->images)))
		return GPROF_NONE;
	image = &k->images[k->nr_images];
	memset(image, 0, sizeof(*image));
	image->start = UINT64_MAX;
	image->name = strndup(name, len);
	return image->name ? (uint32_t)k->nr_images++ : GPROF_NONE;
}

static int add_symbol(struct gprof_kernel *k, uint64_t addr, bool global, const char *name,
		      uint32_t image)
{
	size_t len = strlen(name) + 1;

	if (gprof_grow(&k->symbols, &k->cap, k->nr + 1, sizeof(*k->symbols)) ||
	    gprof_grow(&k->text, &k->cap_text, k->len + len, 1))
		return -ENOMEM;
	memcpy(k->text + k->len, name, len);
	k->symbols[k->nr++] = (struct gprof_kernel_symbol){ addr, k->len, image, global };
	k->len += len;
	return 0;
}

/* As strtoull() does, which takes more than all the rest of a line. */
static uint64_t parse_address(char *line, char **end)
{
	uint64_t addr = 0;
	char *p = line;

	for (;; p++) {
		if (*p >= '0' && *p <= '9')
			addr = addr << 4 | (uint64_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			addr = addr << 4 | (uint64_t)(*p - 'a' + 10);
		else
			break;
	}
	*end = p;
	return addr;
}

/* "ffffffff81000000 T _stext", "ffffffffc0000000 t name	[module]" */
static int parse_line(struct gprof_kernel *k, char *line, uint64_t *etext)
{
	struct gprof_kernel_image *image;
	char *name, *module, *added;
	uint32_t index = 0;
	uint64_t addr;
	char type;

	line[strcspn(line, "\n")] = '\0';
	addr = parse_address(line, &name);
	if (name == line || name[0] != ' ' || !name[1] || name[2] != ' ')
		return 0;
	type = name[1];
	name += 3;
	if (!addr)
		return 0;
	/* Data to kallsyms on arm64, where it begins the next section. */
	if (!strcmp(name, "_etext")) {
		*etext = addr;
		return 0;
	}
	if (!strchr("tTwW", type))
		return 0;
	module = strchr(name, '\t');
	if (module) {
		*module++ = '\0';
		index = find_image(k, module, strlen(module));
		if (index == GPROF_NONE)
			return -ENOMEM;
	}
	/*
	 * The suffix that clang's LTO adds to static functions differs with each kernel, and the
	 * kernel leaves it out in its own output.
	 */
	added = strstr(name, ".llvm.");
	if (added)
		*added = '\0';
	/* arm64, riscv64 and x86 markers, not functions. */
	if (!name[0] || name[0] == '$' || !strncmp(name, ".L", 2) || !strncmp(name, "__pfx_", 6))
		return 0;
	image = &k->images[index];
	if (addr >= image->end)
		image->end = (addr & ~(PAGE - 1)) + PAGE;
	if (index) {
		if (addr < image->start)
			image->start = addr & ~(PAGE - 1);
	} else if (!strcmp(name, "_text") || (!strcmp(name, "_stext") && image->start > addr)) {
		image->start = addr;
	}
	return add_symbol(k, addr, type == 'T' || type == 'W', name, index);
}

static int read_kallsyms(struct gprof_kernel *k, const char *proc)
{
	uint64_t etext = 0;
	char path[256];
	char *line = NULL;
	size_t cap = 0;
	int err = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/kallsyms", proc);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (!err && getline(&line, &cap, f) > 0)
		err = parse_line(k, line, &etext);
	free(line);
	fclose(f);
	/* Without the symbol the last function of the kernel's own says it. */
	if (etext)
		k->images[0].end = etext;
	return err;
}

/* "name size refs users state 0xaddress": sizes that kallsyms does not tell. */
static void read_modules(struct gprof_kernel *k, const char *proc)
{
	char path[256], name[80], wanted[84];
	unsigned long long size, addr;
	char *line = NULL;
	size_t cap = 0, i;
	FILE *f;

	snprintf(path, sizeof(path), "%s/modules", proc);
	f = fopen(path, "re");
	if (!f)
		return;
	while (getline(&line, &cap, f) > 0) {
		const char *hex = strstr(line, " 0x");

		if (!hex || sscanf(line, "%79s %llu", name, &size) != 2)
			continue;
		addr = strtoull(hex + 3, NULL, 16);
		snprintf(wanted, sizeof(wanted), "[%s]", name);
		for (i = 1; addr && i < k->nr_images; i++) {
			struct gprof_kernel_image *image = &k->images[i];

			if (strcmp(image->name, wanted))
				continue;
			image->permanent = true;
			if (addr < image->start && image->start - addr < size)
				image->start = addr;
			if (addr + size > image->end && addr <= image->start)
				image->end = addr + size;
		}
	}
	free(line);
	fclose(f);
}

/* The build-id among the notes of a file. */
static void read_build_id(char *hex, size_t hex_size, const char *path)
{
	unsigned char notes[4096];
	size_t off = 0;
	ssize_t len;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	len = read(fd, notes, sizeof(notes));
	close(fd);
	while (len > 0 && off + sizeof(Elf64_Nhdr) <= (size_t)len) {
		const unsigned char *desc;
		Elf64_Nhdr n;
		size_t name, i;

		memcpy(&n, notes + off, sizeof(n));
		off += sizeof(n);
		if (n.n_namesz > sizeof(notes) || n.n_descsz > sizeof(notes))
			return;
		name = off;
		off += (n.n_namesz + 3) & ~3U;
		desc = notes + off;
		off += (n.n_descsz + 3) & ~3U;
		if (off > (size_t)len)
			return;
		if (n.n_type != NT_GNU_BUILD_ID || n.n_namesz != 4 ||
		    memcmp(notes + name, "GNU", 4) || n.n_descsz * 2 >= hex_size)
			continue;
		for (i = 0; i < n.n_descsz; i++)
			sprintf(hex + 2 * i, "%02x", desc[i]);
		return;
	}
}

static void read_build_ids(struct gprof_kernel *k, const char *sys)
{
	char path[512];
	size_t i;

	for (i = 0; i < k->nr_images; i++) {
		struct gprof_kernel_image *image = &k->images[i];

		if (!i)
			snprintf(path, sizeof(path), "%s/kernel/notes", sys);
		else
			snprintf(path, sizeof(path), "%s/module/%.*s/notes/.note.gnu.build-id", sys,
				 (int)strcspn(image->name + 1, "]"), image->name + 1);
		read_build_id(image->build_id, sizeof(image->build_id), path);
	}
}

/* Of several names for one function these are not the one that people look for. */
static bool awkward(const char *name)
{
	return name[0] == '_' && strncmp(name, "__x64_", 6) && strncmp(name, "__arm64_", 8) &&
	       strncmp(name, "__riscv_", 8);
}

/* Where a section begins or ends, "__sched_text_start", is no function. */
static bool is_marker(const char *name)
{
	const char *text = strstr(name, "_text_");

	return text && (!strcmp(text, "_text_start") || !strcmp(text, "_text_end"));
}

static int by_start(const void *a, const void *b, void *text)
{
	const struct gprof_kernel_symbol *x = a, *y = b;
	const char *p = (const char *)text + x->name, *q = (const char *)text + y->name;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (is_marker(p) != is_marker(q))
		return is_marker(p) ? 1 : -1;
	if (x->global != y->global)
		return x->global ? -1 : 1;
	if (awkward(p) != awkward(q))
		return awkward(p) ? 1 : -1;
	return strcmp(p, q);
}

int gprof_kernel_load(struct gprof_kernel *k, const char *proc, const char *sys)
{
	size_t i, nr = 0;
	int err;

	memset(k, 0, sizeof(*k));
	if (find_image(k, "[kernel.kallsyms]", 17))
		return -ENOMEM;
	k->images[0].permanent = true;
	err = read_kallsyms(k, proc);
	if (err) {
		gprof_kernel_free(k);
		return err;
	}
	k->hidden = !k->nr;
	read_modules(k, proc);
	read_build_ids(k, sys);
	if (k->nr)
		qsort_r(k->symbols, k->nr, sizeof(*k->symbols), by_start, k->text);
	for (i = 0; i < k->nr; i++)
		if (!nr || k->symbols[i].start != k->symbols[nr - 1].start)
			k->symbols[nr++] = k->symbols[i];
	k->nr = nr;
	return 0;
}

void gprof_kernel_free(struct gprof_kernel *k)
{
	size_t i;

	for (i = 0; i < k->nr_images; i++)
		free(k->images[i].name);
	free(k->images);
	free(k->symbols);
	free(k->text);
	memset(k, 0, sizeof(*k));
}

const char *gprof_kernel_find(const struct gprof_kernel *k, uint64_t addr,
			      const struct gprof_kernel_image **image)
{
	const struct gprof_kernel_symbol *symbol;
	size_t lo = 0, hi = k->nr, i;

	*image = NULL;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->symbols[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo) {
		symbol = &k->symbols[lo - 1];
		*image = &k->images[symbol->image];
		if (addr >= (*image)->start && addr < (*image)->end)
			return k->text + symbol->name;
		*image = NULL;
	}
	for (i = 0; i < k->nr_images; i++)
		if (addr >= k->images[i].start && addr < k->images[i].end)
			*image = &k->images[i];
	return NULL;
}
