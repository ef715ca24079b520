// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl doctor: Secure Boot, and signatures of modules.
 *
 * Firmware that checks the signature of the system that it starts has the kernel check the
 * signatures of modules. Debian's kernels then take modules whose key is theirs, the firmware's,
 * or the owner's (MOK), which is enrolled by mokutil and confirmed before the next start.
 */
#include "doctor.h"

#include <ctype.h>
#include <linux/keyctl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "module_info.h"

#define DKMS_CERTIFICATE	"/var/lib/dkms/mok.pub"
#define EFI_DIR			"/sys/firmware/efi"
#define SECURE_BOOT \
	EFI_DIR "/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define KEYS_MAX		4096
#define ENFORCED		"module.sig_enforce=1"

/* Where the kernel has the keys that it may trust for modules. */
static const char *const keyrings[] = {
	".builtin_trusted_keys", ".secondary_trusted_keys", ".machine", ".platform",
};

/* A key to look for. */
struct function_match {
	const char *name;
	const char *key_id;	/* NULL: the name has to do */
};

static const char *enforced_by(void)
{
	char text[64];

	if (*read_line("/sys/module/module/parameters/sig_enforce", text, sizeof(text)) == 'Y')
		return ENFORCED ", or its configuration";
	read_line("/sys/kernel/security/lockdown", text, sizeof(text));
	if (strstr(text, "[integrity]") || strstr(text, "[confidentiality]"))
		return "its lockdown";
	return NULL;
}

/* 1: on, 0: off, -1: not known, since it is no such firmware, or its file is not there. */
static int secure_boot(void)
{
	unsigned char value[5];
	FILE *f = fopen(SECURE_BOOT, "re");
	int state = -1;

	/* The first four bytes are the attributes of the variable. */
	if (f && fread(value, 1, sizeof(value), f) == sizeof(value))
		state = value[4] == 1;
	if (f)
		fclose(f);
	return state;
}

/* As numbers in hexadecimal digits; some put a colon behind each two. */
static bool are_equal(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, ":");
		b += strspn(b, ":");
		if (!*a || tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return !*a && !*b;
	}
}

/* "TYPE;UID;GID;PERM;NAME: KEY_ID", as keyctl(2) describes a key. */
static bool is_wanted(const char *text, const struct function_match *wanted)
{
	for (int i = 0; i < 4 && text; i++) {
		text = strchr(text, ';');
		text = text ? text + 1 : NULL;
	}
	if (!text)
		return false;
	if (wanted->key_id) {
		const char *id = strrchr(text, ':');

		while (id && id[1] == ' ')
			id++;
		return id && are_equal(id + 1, wanted->key_id);
	}
	return *wanted->name && strstr(text, wanted->name);
}

/* In that keyring? Those that it holds have names of their own. -1: it may not be read. */
static int in_keyring(int32_t ring, const struct function_match *wanted)
{
	static int32_t keys[KEYS_MAX];
	long size = syscall(SYS_keyctl, KEYCTL_READ, ring, keys, sizeof(keys), 0);
	char text[512];
	int found = 0;

	if (size < 0)
		return -1;
	if ((size_t)size > sizeof(keys))
		size = sizeof(keys);
	for (size_t i = 0; i < size / sizeof(keys[0]) && found < 1; i++) {
		long n = syscall(SYS_keyctl, KEYCTL_DESCRIBE, keys[i], text, sizeof(text) - 1, 0);

		if (n <= 0 || n >= (long)sizeof(text))
			continue;
		text[n] = '\0';
		if (strncmp(text, "keyring;", 8))
			found = is_wanted(text, wanted);
	}
	return found;
}

/*
 * The keyring of the kernel that has the key; NULL where none has. *@seen: at least one
 * could be read.
 */
static const char *find_key(const struct function_match *wanted, bool *seen)
{
	FILE *f = fopen("/proc/keys", "re");
	const char *found = NULL;
	char line[512], name[64];
	unsigned int id;

	*seen = false;
	while (f && !found && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%x %*s %*s %*s %*s %*s %*s keyring %63[^:]", &id, name) != 2)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(keyrings); i++) {
			int in;

			if (strcmp(name, keyrings[i]))
				continue;
			in = in_keyring(id, wanted);
			*seen |= in >= 0;
			if (in == 1)
				found = keyrings[i];
		}
	}
	if (f)
		fclose(f);
	return found;
}

/* The certificate that DKMS signs with, as its configuration has it. */
static char *dkms_certificate(void)
{
	FILE *f = fopen("/etc/dkms/framework.conf", "re");
	char line[512], path[256], *found = NULL;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " mok_certificate = %255s", path) == 1 ||
		    sscanf(line, " mok_certificate=%255s", path) == 1) {
			char *value = path;

			if (*value == '"' || *value == '\'') {
				value++;
				value[strcspn(value, "\"'")] = '\0';
			}
			free(found);
			found = xprintf("%s", value);
		}
	if (f)
		fclose(f);
	return found ? found : xprintf("%s", DKMS_CERTIFICATE);
}

/**
 * struct certificate_names - identity of a certificate in signatures and keys
 * @name: common name
 * @serial: hexadecimal digits
 * @key_id: by which the kernel lists it, likewise
 */
struct certificate_names {
	char name[SIGNER_MAX];
	char serial[SERIAL_MAX];
	char key_id[SERIAL_MAX];
};

/* Of a file in DER or PEM: older versions do not look which it is. */
#define OPENSSL(form)							\
	"/usr/bin/openssl x509 -inform " form " -in \"$CERTIFICATE\" -noout -serial -subject "	\
	"-nameopt sep_multiline,lname,utf8 -ext subjectKeyIdentifier 2>/dev/null"

/* By openssl, which DKMS makes its keys with; false where it reads no certificate in the file. */
static bool certificate_names_read(const char *path, struct certificate_names *cert)
{
	char line[512], id[SERIAL_MAX] = "";
	bool is_id = false;
	FILE *f;

	memset(cert, 0, sizeof(*cert));
	setenv("CERTIFICATE", path, 1);
	f = popen(OPENSSL("DER") " || " OPENSSL("PEM"), "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "serial=%127s", cert->serial);
		sscanf(line, " commonName=%127[^\n]", cert->name);
		if (is_id)
			sscanf(line, " %127s", id);
		is_id = strstr(line, "Subject Key Identifier");
	}
	if (f)
		pclose(f);
	/* The kernel has the serial number where there is no such extension. */
	strcpy(cert->key_id, *id ? id : cert->serial);
	return *cert->serial;
}

/* The file of the certificate whose key has signed, and its names; NULL: none is here. */
static char *find_certificate(const struct module_info *module, struct certificate_names *cert)
{
	char *places[] = { dkms_certificate(), xprintf("/var/lib/shim-signed/mok/MOK.der") };
	char *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (!found && certificate_names_read(places[i], cert) &&
		    are_equal(cert->serial, module->serial))
			found = places[i];
		else
			free(places[i]);
	}
	return found;
}

static bool boots_by_efi(void)
{
	return !access(EFI_DIR, F_OK);
}

/* A signed module that lies there: would the kernel take it? */
static void check_key(struct checkup *p, const struct module_info *module, const char *enforced,
		      int boot)
{
	struct certificate_names cert;
	char *path = find_certificate(module, &cert), *remedy;
	struct function_match wanted = {
		.name = path && *cert.name ? cert.name : module->signer,
		.key_id = path ? cert.key_id : NULL,
	};
	bool seen;
	const char *ring = find_key(&wanted, &seen);

	if (ring) {
		good(p, "the kernel knows the key \"%s\" (%s)%s", wanted.name, ring,
		     path ? "" : ", going by its name");
	} else if (!enforced) {
		good(p, "the kernel does not know the key \"%s\", and does not ask for it",
		     wanted.name);
	} else if (!seen) {
		bad(p, WARN, "run gprofctl doctor as root to have it looked up",
		    "whether the kernel knows the key \"%s\" may not be seen by this user",
		    wanted.name);
	} else if (!boots_by_efi()) {
		bad(p, FAIL, "start the kernel without " ENFORCED " and lockdown=, or build one "
		    "with the certificate in CONFIG_SYSTEM_TRUSTED_KEYS",
		    "the kernel does not know the key \"%s\", and this host, which does not "
		    "start by EFI, can enroll none", wanted.name);
	} else {
		remedy = xprintf("as root: mokutil --import %s, which asks for a new password; "
				 "restart, choose \"Enroll MOK\" and give it; then modprobe gprof%s",
				 path ? path : "CERTIFICATE.der",
				 boot ? "" : ". Debian's kernels know such keys only where Secure "
					     "Boot is on: switch it on in the firmware too");
		bad(p, FAIL, remedy, "the kernel does not know the key \"%s\", which has signed "
		    "the module: it is not enrolled", wanted.name);
		free(remedy);
	}
	free(path);
}

static void check_unsigned(struct checkup *p, const char *file, const char *enforced)
{
	char *remedy;

	if (!enforced) {
		good(p, "modinfo finds no signature in %s, which this kernel allows", file);
		return;
	}
	remedy = xprintf("with DKMS, which signs its modules: dkms build --force -m gprof && "
			 "dkms install --force -m gprof; or with a key of your own, as root: "
			 "/usr/src/linux-headers-%s/scripts/sign-file sha256 KEY.priv "
			 "CERTIFICATE.der %s; gprofctl-doctor(1) says how to make one",
			 p->u.release, file);
	bad(p, FAIL, remedy, "modinfo finds no signature in %s, and the kernel takes signed modules "
	    "alone", file);
	free(remedy);
}

/* The module file for modprobe. */
static void check_file(struct checkup *p, const char *enforced, int boot)
{
	struct module_info module;

	module_info_read(&module);
	if (!module.file) {
		if (enforced)
			good(p, "no module is installed for this kernel, so nothing is said of its "
			     "signature");
	} else if (!module.readable) {
		bad(p, WARN, "see what modinfo gprof says", "%s cannot be read", module.file);
	} else if (!module.is_signed) {
		check_unsigned(p, module.file, enforced);
	} else if (!*module.signer && !*module.serial) {
		/* Its library may have been built without a reader of signatures. */
		good(p, "%s is signed, and modinfo does not tell by which key", module.file);
	} else {
		good(p, "%s is signed by \"%s\"", module.file,
		     *module.signer ? module.signer : "a key without name");
		check_key(p, &module, enforced, boot);
	}
	free(module.file);
}

void check_signature(struct checkup *p)
{
	const char *enforced = enforced_by();
	int boot = secure_boot();
	char taint[32];

	if (boot >= 0)
		good(p, "Secure Boot is %s", boot ? "on" : "off");
	else if (!boots_by_efi())
		good(p, "this host does not start by EFI, so there is no Secure Boot");
	if (access("/sys/module/module/parameters/sig_enforce", F_OK)) {
		good(p, "the kernel looks at no signatures of modules");
		return;
	}
	if (enforced)
		good(p, "the kernel takes only modules that are signed by a key that it knows, by %s",
		     enforced);
	else
		good(p, "the kernel takes modules that are not signed");
	/* E: the kernel found no signature of a key that it knows. */
	if (p->host && read_line("/sys/module/gprof/taint", taint, sizeof(taint)))
		good(p, strchr(taint, 'E') ?
		     "the loaded module is signed by a key that the kernel does not know" :
		     "the kernel has found the loaded module signed by a key that it knows");
	check_file(p, enforced, boot);
}
