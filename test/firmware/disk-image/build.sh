#!/bin/sh
# Builds the disk image that the firmware suite installs: a small Debian that boots by BIOS and by UEFI, with Secure Boot or without,
# and takes its first-boot data from cloud-init's NoCloud or a config drive. Needs no root and no loop device.
# Usage: build.sh FILE.img.zst
set -eu
out=$1
suite=bookworm
root_uuid=534c4950-5741-4059-8000-000000000001

for need in mmdebstrap:mmdebstrap sgdisk:gdisk mformat:mtools mkfs.vfat:dosfstools mke2fs:e2fsprogs syslinux:syslinux zstd:zstd; do
  PATH=$PATH:/usr/sbin:/sbin command -v "${need%%:*}" >/dev/null || { echo "build.sh: ${need%%:*} is missing: apt-get install ${need##*:}" >&2; exit 69; }
done
PATH=$PATH:/usr/sbin:/sbin
fake=
if [ "$(id -u)" != 0 ]; then
  command -v fakeroot >/dev/null || { echo "build.sh: fakeroot is missing: apt-get install fakeroot" >&2; exit 69; }
  fake=fakeroot
fi
mbr=/usr/lib/SYSLINUX/gptmbr.bin
[ -f $mbr ] || { echo "build.sh: $mbr is missing: apt-get install syslinux" >&2; exit 69; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/loaders"
chmod 755 "$work" "$work/loaders"

cat >"$work/finish" <<'HOOK'
set -eu
# The signed loaders of the same release as the kernel; nothing of theirs is installed.
cd "$LOADERS"
APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get -qq -o APT::Sandbox::User=root download shim-signed grub-efi-amd64-signed
for deb in *.deb; do dpkg-deb -x "$deb" .; done
# An initramfs of what these machines need is quicker to load than one for all.
printf 'MODULES=list\nCOMPRESS=gzip\n' >"$1/etc/initramfs-tools/conf.d/lab"
printf 'virtio_pci\nvirtio_blk\nnvme\next4\n' >>"$1/etc/initramfs-tools/modules"
chroot "$1" update-initramfs -u -k all >/dev/null
cat >"$1/etc/cloud/cloud.cfg.d/90-lab.cfg" <<'CFG'
datasource_list: [NoCloud, ConfigDrive, None]
ssh_genkeytypes: [ed25519]
apt_preserve_sources_list: true
manage_etc_hosts: false
cloud_init_modules: [seed_random, write-files, set_hostname, users-groups, ssh]
cloud_config_modules: []
cloud_final_modules: []
CFG
echo "UUID=$ROOT_UUID / ext4 errors=remount-ro 0 1" >"$1/etc/fstab"
echo debian >"$1/etc/hostname"
: >"$1/etc/machine-id"
chroot "$1" systemctl enable systemd-networkd serial-getty@ttyS0 >/dev/null 2>&1
# An emulated machine takes seconds to start a stage of cloud-init; these two have nothing to do.
chroot "$1" systemctl mask cloud-config cloud-final systemd-networkd-wait-online apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer man-db.timer >/dev/null 2>&1
rm -rf "$1"/etc/ssh/ssh_host_* "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*.bin "$1"/var/log/*.log
# Every byte is unpacked and written by an emulated machine.
cd "$1"
rm -rf usr/share/i18n usr/share/zoneinfo usr/lib/udev/hwdb* lib/modules/*/kernel/drivers/gpu lib/modules/*/kernel/drivers/infiniband \
  lib/modules/*/kernel/drivers/net/ethernet lib/modules/*/kernel/fs/btrfs lib/modules/*/kernel/fs/xfs lib/modules/*/kernel/fs/nfs* \
  lib/modules/*/kernel/fs/ocfs2 lib/modules/*/kernel/fs/smb lib/modules/*/kernel/fs/f2fs lib/modules/*/kernel/fs/ceph lib/modules/*/kernel/sound
chroot . depmod -a "$(ls lib/modules)"
HOOK
# The path of a work folder has no blanks: mktemp made it.
export LOADERS="$work/loaders" ROOT_UUID=$root_uuid

mmdebstrap --quiet --variant=minbase --architectures=amd64 \
  --include=systemd-sysv,dbus,udev,linux-image-cloud-amd64,initramfs-tools,cloud-init,openssh-server,iproute2,e2fsprogs,sudo \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/info/*' \
  --aptopt='Acquire::Languages "none"' --aptopt='APT::Install-Recommends "false"' \
  --customize-hook="sh $work/finish \"\$1\"" \
  $suite "$work/root.tar"

# One FAT partition carries kernel and initramfs for both ways of booting.
mkdir "$work/boot"
tar -xf "$work/root.tar" -C "$work/boot" --wildcards --strip-components=2 './boot/vmlinuz-*' './boot/initrd.img-*'
mv "$work"/boot/vmlinuz-* "$work/boot/vmlinuz"
mv "$work"/boot/initrd.img-* "$work/boot/initrd.img"
arguments="root=UUID=$root_uuid ro console=ttyS0,115200 quiet"
esp=$work/esp.img
truncate -s 48M "$esp"
mkfs.vfat -n BOOT "$esp" >/dev/null
printf 'default debian\nprompt 0\nlabel debian\n  kernel /vmlinuz\n  initrd /initrd.img\n  append %s\n' "$arguments" >"$work/syslinux.cfg"
printf 'linux /vmlinuz %s\ninitrd /initrd.img\nboot\n' "$arguments" >"$work/grub.cfg"
mmd -i "$esp" ::/EFI ::/EFI/BOOT ::/EFI/debian
mcopy -i "$esp" "$work/boot/vmlinuz" "$work/boot/initrd.img" "$work/syslinux.cfg" ::/
mcopy -i "$esp" "$work/loaders/usr/lib/shim/shimx64.efi.signed" ::/EFI/BOOT/BOOTX64.EFI
mcopy -i "$esp" "$work/loaders/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" ::/EFI/BOOT/grubx64.efi
mcopy -i "$esp" "$work/grub.cfg" ::/EFI/debian/grub.cfg
syslinux --install "$esp"

$fake sh -eu -c '
  mkdir "$1/root"
  tar -xf "$1/root.tar" -C "$1/root" --exclude="./dev/*" --exclude="./boot/*"
  size=$(($(du -sm "$1/root" | cut -f1) * 17 / 16 + 48))
  truncate -s "${size}M" "$1/root.img"
  mke2fs -q -t ext4 -U "$2" -O ^has_journal -d "$1/root" "$1/root.img"
' sh "$work" "$root_uuid"

disk=$work/disk.img
truncate -s "$((48 + $(stat -c %s "$work/root.img") / 1048576 + 4))M" "$disk"
# Attribute 2 is how the boot sector finds the partition to start.
sgdisk -n 1:2048:+48M -t 1:ef00 -A 1:set:2 -n 2:0:0 -t 2:8304 "$disk" >/dev/null
dd if=$mbr of="$disk" conv=notrunc bs=440 count=1 status=none
dd if="$esp" of="$disk" conv=notrunc,sparse bs=1M seek=1 status=none
dd if="$work/root.img" of="$disk" conv=notrunc,sparse bs=1M seek=49 status=none
mkdir -p "$(dirname "$out")"
zstd -q -3 -T0 -f "$disk" -o "$out.part"
mv "$out.part" "$out"
