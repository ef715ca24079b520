/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_image.h: ELF files made by hand, for unwind tables: text, .eh_frame, and the
 * segment that leads to it.
 */
#ifndef GPROF_UNWIND_IMAGE_H
#define GPROF_UNWIND_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "table_check.h"
#include "unwind/unwind_table.h"

#define IMAGE_TEXT	0x1000ULL	/* offset; addresses are 0x400000 more */
#define IMAGE_CFI	0x3000ULL
#define IMAGE_SIZE	0x5000
#define IMAGE_ADDR	0x400000ULL

#define PROGRAM(...)	((const unsigned char[]){ __VA_ARGS__ }), \
			sizeof((const unsigned char[]){ __VA_ARGS__ })

#define EXPECT_RULE(machine, at, text) \
	EXPECT_STREQ(text, rule_text(image_rule(&self->blob, at), machine))

/* At these places of the text, in hex, are these rules: "100 104: sp+2; 108: none". */
#define EXPECT_RULES(machine, want) do {					\
	char _seen[1024];							\
	rules_text(&self->blob, machine, want, _seen);				\
	EXPECT_STREQ(want, _seen);						\
} while (0)

struct image {
	unsigned char bytes[IMAGE_SIZE];
	size_t cfi;	/* bytes of CFI so far */
	size_t cie;	/* where the last CIE is */
};

static inline void image_begin(struct image *im, uint16_t machine)
{
	Elf64_Ehdr eh = {
		.e_type = ET_DYN, .e_machine = machine, .e_version = 1, .e_phoff = sizeof(eh),
		.e_ehsize = sizeof(eh), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 4,
	};
	Elf64_Phdr ph[4] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = 0, .p_filesz = IMAGE_TEXT },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = IMAGE_TEXT,
		  .p_filesz = IMAGE_CFI - IMAGE_TEXT },
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = IMAGE_CFI,
		  .p_filesz = IMAGE_SIZE - IMAGE_CFI },
		{ .p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_offset = IMAGE_CFI,
		  .p_filesz = 12 },
	};
	/* version, how the rest is encoded, where .eh_frame is: 8 bytes after this place */
	static const unsigned char hdr[12] = { 1, 0x1b, 0xff, 0xff, 8, 0, 0, 0 };

	memset(im, 0, sizeof(*im));
	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	for (int i = 0; i < 4; i++) {
		ph[i].p_vaddr = IMAGE_ADDR + ph[i].p_offset;
		ph[i].p_memsz = ph[i].p_filesz;
	}
	memcpy(im->bytes, &eh, sizeof(eh));
	memcpy(im->bytes + sizeof(eh), ph, sizeof(ph));
	memcpy(im->bytes + IMAGE_CFI, hdr, sizeof(hdr));
	im->cfi = sizeof(hdr);
}

static inline unsigned char *image_cfi(struct image *im)
{
	return im->bytes + IMAGE_CFI + im->cfi;
}

/* An entry with its length before it. */
static inline void image_entry(struct image *im, uint32_t id, const void *body, size_t len)
{
	uint32_t size = (uint32_t)len + 4;

	memcpy(image_cfi(im), &size, 4);
	memcpy(image_cfi(im) + 4, &id, 4);
	memcpy(image_cfi(im) + 8, body, len);
	im->cfi += 8 + len;
}

/* CIE of @letters; code is aligned to 1, data to -8. */
static inline void image_cie_of(struct image *im, const char *letters, const void *program,
				size_t len)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)im->bytes;
	unsigned char body[256] = { 1 };
	size_t n = 1 + strlen(letters) + 1;

	strcpy((char *)body + 1, letters);
	body[n++] = eh->e_machine == EM_AARCH64 ? 4 : 1;
	body[n++] = 0x78;
	body[n++] = eh->e_machine == EM_AARCH64 ? 30 : 16;
	if (letters[0] == 'z') {
		body[n++] = 1;
		body[n++] = 0x1b;	/* relative to the place, 4 bytes signed */
	}
	memcpy(body + n, program, len);
	im->cie = im->cfi;
	image_entry(im, 0, body, n + len);
}

/* The usual one: the CFA is sp + 8 and the return address below it; arm64: sp and x30. */
static inline void image_cie(struct image *im)
{
	static const unsigned char x86[] = { 0x0c, 7, 8, 0x90, 1 }, a64[] = { 0x0c, 31, 0 };
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)im->bytes;

	if (eh->e_machine == EM_AARCH64)
		image_cie_of(im, "zR", a64, sizeof(a64));
	else
		image_cie_of(im, "zR", x86, sizeof(x86));
}

/* FDE of the last CIE for the text from @at on. */
static inline void image_fde(struct image *im, uint32_t at, uint32_t len, const void *program,
			     size_t size)
{
	unsigned char body[4096] = "";
	int32_t where = (int32_t)(IMAGE_TEXT + at - (IMAGE_CFI + im->cfi + 8));

	memcpy(body, &where, 4);
	memcpy(body + 4, &len, 4);
	memcpy(body + 9, program, size);
	image_entry(im, (uint32_t)(im->cfi + 4 - im->cie), body, 9 + size);
}

/* Instructions of arm64. */
static inline void image_code(struct image *im, uint32_t at, const uint32_t *code, size_t nr)
{
	memcpy(im->bytes + IMAGE_TEXT + at, code, nr * sizeof(*code));
}

/* Where it begins to run. */
static inline void image_set_entry(struct image *im, uint32_t at)
{
	((Elf64_Ehdr *)im->bytes)->e_entry = IMAGE_ADDR + IMAGE_TEXT + at;
}

static inline int image_compile(const struct image *im, struct gprof_unwind_blob *out)
{
	return gprof_unwind_compile_memory(im->bytes, sizeof(im->bytes), 0, out);
}

/* The rule of a byte of the text. */
static inline struct gprof_unwind_rule image_rule(const struct gprof_unwind_blob *b, uint32_t at)
{
	static const struct gprof_unwind_rule none = { .kind = GPROF_UNWIND_CFA_NONE };
	const struct gprof_unwind_rule *r = table_find(b->data, IMAGE_TEXT + at);

	return r ? *r : none;
}

/*
 * A rule as people write it: "sp+2 fp@-2 ra@-1". amd64's return address is not said where
 * it is at CFA - 8, but rbx is, where it is saved.
 */
static inline const char *rule_text(struct gprof_unwind_rule r, uint16_t machine)
{
	static const char *const kinds[] = {
		"none", "sp", "fp", "end", "reg", "deref", "plt", "signal", "unknown",
		"stack",
	};
	static char text[4][64];
	static int turn;
	char *t = text[turn++ % 4];
	int n = sprintf(t, "%s", r.kind < GPROF_UNWIND_CFA_NR ? kinds[r.kind] : "?");
	unsigned int ra = GPROF_UNWIND_RA(r.how);

	if (r.kind == GPROF_UNWIND_CFA_REG ||
	    (ra == GPROF_UNWIND_RA_REG && r.kind != GPROF_UNWIND_CFA_DEREF))
		n += sprintf(t + n, "%u", GPROF_UNWIND_REG(r.how));
	if (r.kind == GPROF_UNWIND_CFA_DEREF)
		n += sprintf(t + n, "%s%+d", GPROF_UNWIND_REG(r.how) ? "fp" : "sp", r.ra);
	if (r.kind == GPROF_UNWIND_CFA_NONE || r.kind == GPROF_UNWIND_CFA_END ||
	    r.kind == GPROF_UNWIND_CFA_SIGNAL || r.kind == GPROF_UNWIND_CFA_UNKNOWN)
		return t;
	n += sprintf(t + n, "%+d", r.cfa);
	switch (GPROF_UNWIND_FP(r.how)) {
	case GPROF_UNWIND_FP_AT_CFA: n += sprintf(t + n, " fp@%d", r.fp); break;
	case GPROF_UNWIND_FP_AT_FP: n += sprintf(t + n, " fp@fp%+d", r.fp); break;
	case GPROF_UNWIND_FP_UNKNOWN: n += sprintf(t + n, " fp?"); break;
	}
	if (ra == GPROF_UNWIND_RA_LR)
		n += sprintf(t + n, " lr");
	else if (ra == GPROF_UNWIND_RA_REG)
		n += sprintf(t + n, " ra=reg");
	else if (r.kind != GPROF_UNWIND_CFA_DEREF && machine == EM_AARCH64)
		n += sprintf(t + n, " ra@%d", r.ra);
	else if (r.kind != GPROF_UNWIND_CFA_DEREF && r.ra)
		n += sprintf(t + n, " rbx@%d", r.ra);
	return t;
}

/* The rules of the table at the places that @want names, in its form. */
static inline void rules_text(const struct gprof_unwind_blob *b, uint16_t machine, const char *want,
			      char *seen)
{
	const char *rule = "";
	unsigned int at;
	int n;

	for (; sscanf(want, "%x%n", &at, &n) == 1; want += n) {
		const char *next = rule_text(image_rule(b, at), machine);

		/* the rule of the places before, where this is another one */
		seen += sprintf(seen, "%s%.*s", strcmp(rule, next) && *rule ? "?" : "", n, want);
		rule = next;
		if (want[n] != ':')
			continue;
		seen += sprintf(seen, ": %s", rule);
		rule = "";
		n += strcspn(want + n, ";");
		if (want[n]) {
			seen += sprintf(seen, "; ");
			n += 2;
		}
	}
}

#endif
