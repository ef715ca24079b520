/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files with the paths that users see.
 *
 * file_user_path(): 6.8; before, a file that overlayfs had mapped always had the user's
 * path. RHEL's 6.12 takes a file that is not const, and does not change it.
 * inode_get_mtime(), inode_get_ctime(): 6.6; before, members.
 * file_open_root() takes a path since 5.14; before, its two parts.
 */
#ifndef GPROF_COMPAT_FILE_H
#define GPROF_COMPAT_FILE_H

#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/path.h>
#include <linux/time64.h>

static inline const struct path *gprof_user_path(const struct file *file)
{
#ifdef GPROF_HAVE_FILE_USER_PATH
	return file_user_path((struct file *)file);
#else
	return &file->f_path;
#endif
}

static inline u64 gprof_mtime_ns(const struct inode *inode)
{
#ifdef GPROF_HAVE_INODE_GET_MTIME
	struct timespec64 t = inode_get_mtime(inode);
#else
	struct timespec64 t = inode->i_mtime;
#endif

	return (u64)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static inline u64 gprof_ctime_ns(const struct inode *inode)
{
#ifdef GPROF_HAVE_INODE_GET_MTIME
	struct timespec64 t = inode_get_ctime(inode);
#else
	struct timespec64 t = inode->i_ctime;
#endif

	return (u64)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static inline struct file *gprof_file_open_in(struct vfsmount *mnt, const char *name, int flags)
{
#ifdef GPROF_HAVE_FILE_OPEN_ROOT_MNT
	const struct path root = { .mnt = mnt, .dentry = mnt->mnt_root };

	return file_open_root(&root, name, flags, 0);
#else
	return file_open_root(mnt->mnt_root, mnt, name, flags, 0);
#endif
}

#endif /* GPROF_COMPAT_FILE_H */
