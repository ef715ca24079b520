/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/custom.h: profiles of a program's objects: connections, buffers, held locks.
 *
 *	struct gprof_custom_config cfg = { .sz = sizeof(cfg), .name = "example.connections" };
 *	struct gprof_custom *conns = gprof_custom_new(&cfg);
 *	int conn;
 *
 *	if (!conns || gprof_custom_add(conns, &conn, 0))
 *		errx(1, "%s", gprof_error());
 *	if (gprof_custom_write(conns, fd))
 *		errx(1, "%s", gprof_error());
 *	gprof_custom_remove(conns, &conn);
 *	gprof_custom_free(conns);
 *
 * After Go's pprof.Profile: the library keeps each added object with the stack of the call that
 * added it, until it is removed. The profile says where the present objects were added: one value,
 * NAME/count. The kernel takes the stacks (GPROF_IOC_SELF_STACK), so /dev/gprof must be there;
 * stacks of code without frame pointers are whole where the module may walk them by unwind tables,
 * and else say in a comment that they were cut.
 *
 * Other programs. While the program runs, its profiles can be read by name by programs of the same
 * user, and of root, such as gprofctl-custom(1), in its pid namespace. They lie in files of the
 * directory gprof/PID below $XDG_RUNTIME_DIR or /run/user/UID, or in /tmp/gprof-UID/PID, or in
 * /dev/shm where those are on btrfs or the like; no other user may open them, and no thread of the
 * program serves them. The same user can kill the program by SIGBUS by truncating them, as by
 * kill().
 *
 * A reader opens the same directories by the same names, and finds nothing where these lead
 * elsewhere: a service with PrivateTmp=, or any program in another mount namespace, has another
 * /tmp; and XDG_RUNTIME_DIR is that of the reader, so that root finds files in /run/user/UID and
 * /tmp, but not those in another user's XDG_RUNTIME_DIR. A reader can get that variable, or join
 * the namespace (nsenter -t PID -m).
 *
 * Descriptors. /dev/gprof stays open from the first profile on, and of each that is published a
 * directory and a file, all with FD_CLOEXEC. After a program closes them (closefrom()), its
 * profiles cannot be added to (EBADF), or are no longer published; the library leaves other files
 * under their numbers alone.
 *
 * Threads. All functions may be called by any thread, but not from a signal handler, and no
 * longer with a profile that is being freed. Fork. The child has copies, which go on by
 * themselves; they are not published. Exec ends them.
 */
#ifndef GPROF_CUSTOM_H
#define GPROF_CUSTOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <gprof/base.h>
#include <gprof/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPROF_CUSTOM_NAME_MAX	80	/* bytes of a name */
#define GPROF_CUSTOM_FRAMES_MAX	64	/* of a stack; the frames farthest from the leaf are cut */
#define GPROF_CUSTOM_STACKS_MAX	65536
#define GPROF_CUSTOM_ADDED_MAX	(1U << 26)

struct gprof_custom;

/**
 * struct gprof_custom_config - a profile
 * @sz: sizeof(struct gprof_custom_config)
 * @name: name, which no other profile of the process has: 1 to GPROF_CUSTOM_NAME_MAX bytes without
 *	ASCII's control characters. It should be UTF-8; other bytes are replaced in profiles. Names
 *	such as "example.com/package.what" keep out of each other's way
 * @added_max: most that is in it at a time; 0: 1,048,576. Each takes 16 to 64 bytes
 * @stacks_max: most stacks that these have; 0: 4096. Each takes 1.2 KiB, or twice that
 *	where others came and went
 * @unpublished: other programs cannot read it
 */
struct gprof_custom_config {
	size_t sz;
	const char *name;
	size_t added_max;
	size_t stacks_max;
	bool unpublished;
};

/**
 * gprof_custom_new() - make a profile
 * @cfg: copied
 *
 * The first of a process opens /dev/gprof, and gives the module unwind tables of the process'
 * files, which may take a second the first time.
 *
 * Return: profile for gprof_custom_free(), or NULL with errno (EEXIST: the process has one
 * of that name; EINVAL; ENOENT or EACCES: /dev/gprof; EOPNOTSUPP: an older module; ENOSPC
 * and others: it cannot be published).
 */
GPROF_API struct gprof_custom *gprof_custom_new(const struct gprof_custom_config *cfg);

/** gprof_custom_lookup() - the profile of a name in this process, or NULL with ENOENT */
GPROF_API struct gprof_custom *gprof_custom_lookup(const char *name);

/** gprof_custom_free() - forget a profile, and all that is in it; NULL is fine */
GPROF_API void gprof_custom_free(struct gprof_custom *p);

/**
 * gprof_custom_add() - remember something with the stack of the caller
 * @p: profile
 * @key: the object; its address alone counts
 * @skip: callers to leave out: 0: the stack begins with the caller of this function
 *
 * Where all are left out it has no stack.
 *
 * Return: 0 or -errno, and nothing is remembered: EEXIST: it is there already; ENOMEM: one
 * more than @added_max or @stacks_max, or no memory; ENOSPC, EDQUOT, EFBIG or EIO: the
 * published file cannot grow; EBADF: a descriptor of the library's was closed; others: the
 * module's, of GPROF_IOC_SELF_STACK.
 */
GPROF_API int gprof_custom_add(struct gprof_custom *p, const void *key, unsigned int skip);

/** gprof_custom_remove() - remove an added key; 0, or -ENOENT: it is not there */
GPROF_API int gprof_custom_remove(struct gprof_custom *p, const void *key);

/** gprof_custom_count() - how many are there */
GPROF_API size_t gprof_custom_count(const struct gprof_custom *p);

/**
 * gprof_custom_profile() - where the present objects were added
 * @p: profile, which goes on
 *
 * Return: profile of one instant for gprof_profile_free(), or NULL with errno.
 */
GPROF_API struct gprof_profile *gprof_custom_profile(struct gprof_custom *p);

/** gprof_custom_write() - write that as gzipped pprof; 0 or -errno */
GPROF_API int gprof_custom_write(struct gprof_custom *p, int fd);

/** gprof_custom_write_to() - likewise to where a function puts it, as gprof_profile_write_to() */
GPROF_API int gprof_custom_write_to(struct gprof_custom *p,
				    int (*write)(void *ctx, const void *data, size_t len),
				    void *ctx);

/**
 * gprof_custom_read() - the same of another process
 * @pid: process, which publishes the profile and runs
 * @name: name
 *
 * The process goes on meanwhile. A profile that changes all the time is not of one instant, and
 * has a comment that says so. The files' contents are not trusted. The calling process's own are
 * found too, published or not.
 *
 * Return: profile for gprof_profile_free(), or NULL with errno (ESRCH: no such process; ENOENT: it
 * has no such profile where the caller looks; EPERM: it, or the file, is another user's; EBADMSG:
 * the file is damaged; EFBIG: the profile takes more than 256 MiB; ENOMEM).
 */
GPROF_API struct gprof_profile *gprof_custom_read(pid_t pid, const char *name);

/**
 * struct gprof_custom_info - a profile that can be read
 * @name: name
 * @count: how many are in it
 * @pid: the process
 *
 * Closed.
 */
struct gprof_custom_info {
	const char *name;
	uint64_t count;
	pid_t pid;
};

/**
 * gprof_custom_each() - show the profiles that can be read
 * @pid: of this process; 0: of all of the calling user
 * @each: called for each; a return other than 0 ends the walk
 * @ctx: passed on
 *
 * Files of programs that have ended are removed.
 *
 * Return: 0, the return of @each, or -errno as gprof_custom_read().
 */
GPROF_API int gprof_custom_each(pid_t pid,
				int (*each)(void *ctx, const struct gprof_custom_info *info),
				void *ctx);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_CUSTOM_H */
