// SPDX-License-Identifier: GPL-2.0-only
/*
 * procfs: facts that the kernel tells in files of /proc and exports no function for.
 *
 * A user can put other files in the place of those of /proc, in a mount namespace of the
 * user's own, or hide them. So the module has a mount of its own, which is in nobody's
 * namespace, of the initial pid namespace, since a kernel thread makes it.
 *
 * Files are opened with the credentials of that thread, but read in the context of the caller,
 * whose time it is, with the credentials that the caller names. The file's own function
 * reads: a security module is not asked whether this user may read a file, which this one does not.
 */
#include "procfs.h"
#include "compat/file.h"
#include "compat/workqueue.h"

#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/seq_file.h>
#include <linux/uio.h>

static struct vfsmount *proc;
static const struct cred *thread_cred;	/* of the thread that made the mount */

static void make(struct work_struct *work)
{
	struct file_system_type *type = get_fs_type("proc");

	proc = type ? kern_mount(type) : ERR_PTR(-ENODEV);
	thread_cred = get_current_cred();
}

/**
 * gprof_procfs_init() - make the mount
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_procfs_init(void)
{
	struct work_struct work;

	INIT_WORK_ONSTACK(&work, make);
	queue_work(system_dfl_wq, &work);
	flush_work(&work);
	destroy_work_on_stack(&work);
	if (!IS_ERR(proc))
		return 0;
	put_cred(thread_cred);
	return PTR_ERR(proc);
}

/**
 * gprof_procfs_exit() - end that
 *
 * Context: Task.
 */
void gprof_procfs_exit(void)
{
	kern_unmount(proc);
	put_cred(thread_cred);
}

/* All files of processes are those of seq_file, some of them by its oldest function. */
static ssize_t read_all(struct file *file, char *text, size_t size)
{
	struct kvec to = { .iov_base = text, .iov_len = size };
	struct iov_iter iter;
	struct kiocb kiocb;

	init_sync_kiocb(&kiocb, file);
	iov_iter_kvec(&iter, READ, &to, 1, size);
	if (file->f_op->read_iter)
		return file->f_op->read_iter(&kiocb, &iter);
	return file->f_op->read == seq_read ? seq_read_iter(&kiocb, &iter) : -EOPNOTSUPP;
}

/**
 * gprof_procfs_read() - read the beginning of a file
 * @name: without "/proc/"
 * @as: whose credentials the file's function is to see, or NULL: the kernel's
 * @text: gets it, ended by a zero
 * @size: of @text
 *
 * Context: Task; takes locks of /proc, none of which exec holds.
 * Return: length or a negative errno.
 */
ssize_t gprof_procfs_read(const char *name, const struct cred *as, char *text, size_t size)
{
	const struct cred *own = override_creds(thread_cred);
	struct file *file = gprof_file_open_in(proc, name, O_RDONLY);
	ssize_t length;

	revert_creds(own);
	if (IS_ERR(file))
		return PTR_ERR(file);
	own = override_creds(as ?: thread_cred);
	length = read_all(file, text, size - 1);
	revert_creds(own);
	fput(file);
	if (length >= 0)
		text[length] = '\0';
	return length;
}
