// SPDX-License-Identifier: GPL-2.0-only
/*
 * dev: a misc device whose every open file is a recorder.
 *
 * The administrator says by the mode of the file which users may open it, and nobody
 * but root may until then; SETUP decides the rights of a recorder.
 * An open file, and a mapping of one, hold a reference on the module, so that
 * it cannot be unloaded under them.
 */
#include "dev.h"
#include "ioctl.h"
#include "recorder.h"

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

static int open(struct inode *inode, struct file *file)
{
	file->private_data = gprof_recorder_new();
	return file->private_data ? 0 : -ENOMEM;
}

static int release(struct inode *inode, struct file *file)
{
	gprof_recorder_close(file->private_data);
	return 0;
}

static long unlocked_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return gprof_ioctl(file->private_data, cmd, (void __user *)arg);
}

static int mmap(struct file *file, struct vm_area_struct *vma)
{
	return gprof_recorder_mmap(file->private_data, vma);
}

static __poll_t poll(struct file *file, poll_table *wait)
{
	return gprof_recorder_poll(file->private_data, file, wait);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = open,
	.release = release,
	.unlocked_ioctl = unlocked_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = mmap,
	.poll = poll,
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "gprof",
	.mode = 0600,
	.fops = &fops,
};

/**
 * gprof_dev_init() - make /dev/gprof
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_dev_init(void)
{
	return misc_register(&device);
}

/**
 * gprof_dev_exit() - remove /dev/gprof; no file is open
 *
 * Context: Task.
 */
void gprof_dev_exit(void)
{
	misc_deregister(&device);
}
