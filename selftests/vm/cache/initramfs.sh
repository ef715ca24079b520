# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The part of a guest's initramfs that belongs to its kernel.

# What a guest needs before it has its root: disk, control channel, shares.
guest_modules=(virtio_pci virtio_blk virtio_console erofs overlay 9pnet_virtio 9p)

# modules_cpio ROOT RELEASE CPIO: those of guest_modules that are not built in,
# with what they depend on, and a list of them in the order of loading.
modules_cpio()
{
	local root=$1 release=$2 cpio=$3 work module verb path file
	local -A seen=()

	work=$(mktemp -d)
	mkdir "$work/modules"
	: >"$work/modules.list"
	for module in "${guest_modules[@]}"; do
		while read -r verb path _; do
			[[ $verb == insmod && ! ${seen[$path]-} ]] || continue
			seen[$path]=1
			file=${path##*/}
			case $file in
			*.ko) cp "$path" "$work/modules/$file" ;;
			*.ko.xz) xz -dc "$path" >"$work/modules/${file%.xz}" ;;
			*) die "cannot unpack $file" ;;
			esac
			printf '/modules/%s\n' "${file%.xz}" >>"$work/modules.list"
		done < <(/sbin/modprobe -d "$root" -S "$release" -D "$module" ||
			echo "failed")
		[[ ${verb-} != failed ]] || die "$release has no module $module"
	done
	(cd "$work" && find . -mindepth 1 | LC_ALL=C sort |
		cpio --quiet -o -H newc -R 0:0) >"$cpio"
	rm -rf "$work"
}
