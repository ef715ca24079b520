// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signatures behind modules: the shortest that there can be, and those that lie about
 * their length. Real ones are secure_test's.
 */
#include "harness.h"
#include "host/module_signature.h"

#define MAGIC		"~Module signature appended~\n"
#define MAGIC_SIZE	(sizeof(MAGIC) - 1)
#define TRAILER_SIZE	12

/*
 * Reads a module of @body bytes, a message of @message bytes of 0x30, and a trailer that
 * says it has @length; nothing may be read in front of it.
 */
static int read_one(size_t body, size_t message, unsigned int length, unsigned char type)
{
	size_t size = body + message + TRAILER_SIZE + MAGIC_SIZE;
	size_t page = sysconf(_SC_PAGESIZE), room = (size / page + 2) * page;
	struct module_signature sig;
	unsigned char *guard, *data, *trailer;
	int ret;

	guard = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (guard == MAP_FAILED || mprotect(guard, page, PROT_NONE))
		return -2;
	data = guard + page;
	memset(data, 0x30, size);
	trailer = data + body + message;
	memset(trailer, 0, TRAILER_SIZE);
	trailer[2] = type;
	trailer[8] = length >> 24;
	trailer[9] = length >> 16;
	trailer[10] = length >> 8;
	trailer[11] = length;
	memcpy(trailer + TRAILER_SIZE, MAGIC, MAGIC_SIZE);
	ret = module_signature_read(data, size, &sig);
	munmap(guard, room);
	return ret;
}

TEST(module_without_magic_is_not_signed)
{
	struct module_signature sig;

	EXPECT_ZEROS(module_signature_read("", 0, &sig), module_signature_read("ELF", 3, &sig),
		     module_signature_read(MAGIC "x", MAGIC_SIZE + 1, &sig),
		     module_signature_read(MAGIC, MAGIC_SIZE - 1, &sig));
}

TEST(magic_without_a_signature_is_damage)
{
	struct module_signature sig;

	for (size_t size = MAGIC_SIZE; size < MAGIC_SIZE + TRAILER_SIZE; size++) {
		char *data = malloc(size);

		ASSERT_NE(NULL, data);
		memset(data, 0, size);
		memcpy(data + size - MAGIC_SIZE, MAGIC, MAGIC_SIZE);
		EXPECT_EQ(-1, module_signature_read(data, size, &sig));
		free(data);
	}
}

TEST(length_beyond_the_module_is_damage)
{
	EXPECT_EQS(-1, read_one(0, 0, 1, 2), -1, read_one(100, 50, 151, 2),
		   -1, read_one(100, 50, 0xffffffff, 2), -1, read_one(100, 50, 0x80000000, 2));
}

TEST(message_that_is_none_is_damage)
{
	EXPECT_EQS(-1, read_one(100, 0, 0, 2), -1, read_one(100, 50, 50, 2),
		   -1, read_one(0, 5000, 5000, 2));
}

TEST(signature_of_another_kind_is_damage)
{
	EXPECT_EQ(-1, read_one(100, 50, 50, 0));
	EXPECT_EQ(-1, read_one(100, 50, 50, 1));
}

TEST(file_that_is_no_certificate_is_none)
{
	struct certificate_names cert;

	EXPECT_FALSE(certificate_names_read("/nowhere", &cert));
	EXPECT_FALSE(certificate_names_read("/dev/null", &cert));
	EXPECT_FALSE(certificate_names_read("/proc/self/exe", &cert));
}

TEST(signature_without_names_is_of_no_certificate)
{
	struct module_signature sig = { 0 };
	struct certificate_names cert = { 0 };

	EXPECT_FALSE(module_signature_is_of(&sig, &cert));
	sig.serial_size = 1;
	sig.serial[0] = 1;
	EXPECT_FALSE(module_signature_is_of(&sig, &cert));
	cert.serial_size = 1;
	cert.serial[0] = 1;
	EXPECT_TRUE(module_signature_is_of(&sig, &cert));
	sig.serial_size = 0;
	sig.key_id_size = 1;
	sig.key_id[0] = 0xab;
	EXPECT_FALSE(module_signature_is_of(&sig, &cert));
	strcpy(cert.key_id, "ab");
	EXPECT_TRUE(module_signature_is_of(&sig, &cert));
}

TEST_HARNESS_MAIN
