// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * elf_packed.c: how large the packed symbol table of an ELF file is when unpacked, and
 * whether it is sound.
 *
 * elfutils unpacks .gnu_debugdata without a limit: some KiB of xz can take all memory.
 */
#include "elf_packed.h"

#include <dlfcn.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf_strings.h"

#define LZMA2		0x21
#define DICTIONARY_64M	28	/* as LZMA2 codes it: (2 | (x & 1)) << (x / 2 + 11) */

/* The rest of the stream; a read beyond its end sets @bad. */
struct input {
	const unsigned char *at;
	size_t left;
	bool bad;
};

static const unsigned char *get(struct input *in, size_t len)
{
	const unsigned char *at = in->at;

	if (in->bad || len > in->left) {
		in->bad = true;
		return NULL;
	}
	in->at += len;
	in->left -= len;
	return at;
}

static unsigned int get_byte(struct input *in)
{
	const unsigned char *at = get(in, 1);

	return at ? *at : 0;
}

static unsigned int get_be16(struct input *in)
{
	unsigned int high = get_byte(in);

	return high << 8 | get_byte(in);
}

static uint64_t get_number(struct input *in)
{
	uint64_t value = 0;
	unsigned int shift, byte;

	for (shift = 0; shift < 63; shift += 7) {
		byte = get_byte(in);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	in->bad = true;
	return 0;
}

/* Filters before the last one leave sizes as they are; the last one must be LZMA2. */
static enum gprof_packed block_header(struct input *in, unsigned int size)
{
	/* after the byte of its size; a CRC ends it */
	struct input header = { .left = size * 4 - 1 };
	unsigned int flags, nr, i;
	uint64_t id, len;

	header.at = get(in, header.left);
	if (!header.at)
		return GPROF_PACKED_DAMAGED;
	flags = get_byte(&header);
	nr = (flags & 3) + 1;
	if (flags & 0x40)
		get_number(&header);
	if (flags & 0x80)
		get_number(&header);
	for (i = 0; i < nr; i++) {
		const unsigned char *properties;

		id = get_number(&header);
		len = get_number(&header);
		properties = len <= header.left ? get(&header, (size_t)len) : NULL;
		if (!properties || header.bad || (id == LZMA2) != (i == nr - 1))
			break;
		if (i < nr - 1)
			continue;
		if (len != 1)
			break;
		return *properties <= DICTIONARY_64M ? GPROF_PACKED_SOUND : GPROF_PACKED_LARGE;
	}
	return GPROF_PACKED_DAMAGED;
}

static enum gprof_packed chunks(struct input *in, uint64_t *total)
{
	unsigned int control, len;

	while ((control = get_byte(in)) != 0) {
		if (control < 0x80) {
			len = get_be16(in) + 1;
			*total += len;
		} else {
			*total += ((uint64_t)(control & 0x1f) << 16) + get_be16(in) + 1;
			len = get_be16(in) + 1;
			if (control >= 0xc0)
				get_byte(in);
		}
		if (!get(in, len))
			break;
		if (*total > GPROF_PACKED_MAX)
			return GPROF_PACKED_LARGE;
	}
	return in->bad ? GPROF_PACKED_DAMAGED : GPROF_PACKED_SOUND;
}

enum gprof_packed gprof_xz_probe(const unsigned char *data, size_t len, uint64_t *total)
{
	static const unsigned char magic[] = { 0xfd, '7', 'z', 'X', 'Z', 0 };
	static const unsigned char check_len[] = { 0, 4, 4, 4, 8, 8, 8, 16, 16, 16,
						   32, 32, 32, 64, 64, 64 };
	struct input in = { .at = data, .left = len };
	const unsigned char *head = get(&in, 12);
	enum gprof_packed block;
	unsigned int size;

	*total = 0;
	if (!head || memcmp(head, magic, sizeof(magic)))
		return GPROF_PACKED_DAMAGED;
	while ((size = get_byte(&in)) != 0) {
		block = block_header(&in, size);
		if (block != GPROF_PACKED_SOUND)
			return block;
		get(&in, 4);
		block = chunks(&in, total);
		if (block != GPROF_PACKED_SOUND)
			return block;
		get(&in, -(len - in.left) & 3);
		get(&in, check_len[head[7] & 15]);
	}
	return in.bad ? GPROF_PACKED_DAMAGED : GPROF_PACKED_SOUND;
}

/* lzma_stream_buffer_decode() of liblzma.so.5, which libdw has loaded. */
typedef int (*decode_fn)(uint64_t *memory_max, uint32_t flags, const void *allocator,
			 const uint8_t *in, size_t *in_at, size_t in_size,
			 uint8_t *out, size_t *out_at, size_t out_size);

#define LZMA_MEM_ERROR	5	/* lzma_ret: no memory */

static enum gprof_packed unpack(decode_fn decode, const Elf_Data *data, unsigned char *out,
				size_t size)
{
	uint64_t memory_max = 2 * GPROF_PACKED_MAX;	/* a dictionary, and more */
	size_t in_at = 0, out_at = 0;
	int ret = decode(&memory_max, 0, NULL, data->d_buf, &in_at, data->d_size, out, &out_at, size);

	if (ret == LZMA_MEM_ERROR)
		return GPROF_PACKED_UNKNOWN;
	return ret || out_at != size ? GPROF_PACKED_DAMAGED : GPROF_PACKED_SOUND;
}

static enum gprof_packed probe_elf(unsigned char *image, size_t size)
{
	enum gprof_packed packed = GPROF_PACKED_DAMAGED;
	Elf *elf = elf_memory((char *)image, size);

	if (!elf)
		return GPROF_PACKED_UNKNOWN;
	if (elf_kind(elf) == ELF_K_ELF && gprof_elf_strings_end(elf))
		packed = gprof_elf_inflated(elf, true) ? GPROF_PACKED_LARGE : GPROF_PACKED_SOUND;
	elf_end(elf);
	return packed;
}

static enum gprof_packed probe_with(decode_fn decode, const Elf_Data *data, uint64_t total)
{
	unsigned char *out = malloc(total ? total : 1);
	enum gprof_packed packed;

	if (!out)
		return GPROF_PACKED_UNKNOWN;
	packed = unpack(decode, data, out, total);
	if (packed == GPROF_PACKED_SOUND)
		packed = probe_elf(out, total);
	free(out);
	return packed;
}

/*
 * libdwfl unpacks it into memory of its own, and takes names from it that it does not
 * look at: this has to be done before, though once more than it would need. A shared libdw
 * that has loaded no liblzma cannot unpack it, and leaves it out; a static one may.
 */
static enum gprof_packed probe_within(const Elf_Data *data, uint64_t total)
{
	enum gprof_packed packed = GPROF_PACKED_UNKNOWN;
	void *so = dlopen("liblzma.so.5", RTLD_NOW | RTLD_LOCAL);
	decode_fn decode = NULL;

	if (so)
		*(void **)&decode = dlsym(so, "lzma_stream_buffer_decode");
	if (decode)
		packed = probe_with(decode, data, total);
	else if (!so && dlsym(RTLD_DEFAULT, "dwfl_begin"))
		packed = GPROF_PACKED_SOUND;
	if (so)
		dlclose(so);
	return packed;
}

enum gprof_packed gprof_elf_packed(Elf *elf)
{
	enum gprof_packed packed;
	Elf_Scn *scn = NULL;
	uint64_t total;
	size_t names;

	if (gprof_elf_inflated(elf, false) > GPROF_PACKED_MAX)
		return GPROF_PACKED_LARGE;
	if (elf_getshdrstrndx(elf, &names))
		return GPROF_PACKED_SOUND;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;
		Elf_Data *data;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh))
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		if (!name || strcmp(name, ".gnu_debugdata"))
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf)
			continue;
		packed = gprof_xz_probe(data->d_buf, data->d_size, &total);
		if (packed == GPROF_PACKED_SOUND)
			packed = probe_within(data, total);
		if (packed != GPROF_PACKED_SOUND)
			return packed;
	}
	return GPROF_PACKED_SOUND;
}

/* "ZLIB" and the size: how sections were compressed before ELF had a way to say it. */
static uint64_t zdebug_size(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, size_t names)
{
	const char *name = elf_strptr(elf, names, sh->sh_name);
	const unsigned char *at;
	uint64_t size = 0;
	Elf_Data *data;
	int i;

	if (!name || strncmp(name, ".zdebug", 7))
		return 0;
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || data->d_size < 12)
		return 0;
	at = data->d_buf;
	for (i = 4; i < 12; i++)
		size = size << 8 | at[i];
	return size;
}

uint64_t gprof_elf_inflated(Elf *elf, bool all)
{
	Elf_Scn *scn = NULL;
	uint64_t sum = 0;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((scn = elf_nextscn(elf, scn))) {
		uint64_t size = 0;
		GElf_Shdr sh;
		GElf_Chdr ch;

		if (!gelf_getshdr(scn, &sh) || (!all && sh.sh_type == SHT_PROGBITS))
			continue;
		if (!(sh.sh_flags & SHF_COMPRESSED))
			size = zdebug_size(elf, scn, &sh, names);
		else if (gelf_getchdr(scn, &ch))
			size = ch.ch_size;
		if (__builtin_add_overflow(sum, size, &sum))
			return UINT64_MAX;
	}
	return sum;
}
