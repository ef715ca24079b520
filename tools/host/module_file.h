/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file that modprobe would load, compressed or not.
 */
#ifndef TOOLS_MODULE_FILE_H
#define TOOLS_MODULE_FILE_H

#include <stddef.h>

/*
 * module_file_find() - path of the gprof module that depmod has listed for the kernel
 * @release; NULL where none is installed. To be freed.
 */
char *module_file_find(const char *release);

/*
 * module_file_read() - the module as the kernel sees it; NULL where it cannot be read, or
 * the program is missing that would uncompress it, with a word in @error. To be freed.
 */
void *module_file_read(const char *path, size_t *size, const char **error);

#endif /* TOOLS_MODULE_FILE_H */
