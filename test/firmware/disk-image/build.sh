#!/bin/sh
# Builds the disk images that the firmware suite installs, one per architecture: a small Debian that boots by UEFI with Secure Boot or
# without, as amd64 by BIOS, too, and takes its first-boot data from cloud-init's NoCloud or a config drive. Needs no root and no loop
# device, and starts no program of a foreign architecture.
# Usage: build.sh FOLDER    makes FOLDER/amd64.img.zst and FOLDER/arm64.img.zst
set -eu
out=$1
here=$(cd "$(dirname "$0")" && pwd)
suite=bookworm
root_uuid=534c4950-5741-4059-8000-000000000001

PATH=$PATH:/usr/sbin:/sbin
fake='' more=''
[ "$(id -u)" = 0 ] || fake=fakeroot more='fakeroot:fakeroot newuidmap:uidmap'
for need in $more mmdebstrap:mmdebstrap depmod:kmod cpio:cpio sgdisk:gdisk mformat:mtools mkfs.vfat:dosfstools mke2fs:e2fsprogs syslinux:syslinux zstd:zstd; do
  command -v "${need%%:*}" >/dev/null || { echo "build.sh: ${need%%:*} is missing: apt-get install ${need##*:}" >&2; exit 69; }
done
mbr=/usr/lib/SYSLINUX/gptmbr.bin
[ -f $mbr ] || { echo "build.sh: $mbr is missing: apt-get install syslinux" >&2; exit 69; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# Hooks may run as a user that sees nothing else of ours.
chmod 755 "$work"
cp "$here"/*.sh "$work"

# root ARCHITECTURE STAGE LAST [OPTION...]: makes $work/ARCHITECTURE.tar, with the loaders in its boot folder. STAGE: mmdebstrap's last that has
# hooks; LAST: the one that completes the root. The path of a work folder has no blanks: mktemp made it.
root() {
  architecture=$1 stage=$2 last=$3
  shift 3
  mmdebstrap --quiet --architectures="$architecture" "$@" \
    --include="systemd-sysv,dbus,udev,linux-image-cloud-$architecture,cloud-init,openssh-server,iproute2,e2fsprogs,sudo" \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/info/*' \
    --aptopt='Acquire::Languages "none"' --aptopt='APT::Install-Recommends "false"' \
    "--$stage-hook=sh $work/loaders.sh \"\$1\" $architecture" \
    "--$stage-hook=sh $work/trim.sh \"\$1\"" \
    "--$stage-hook=sh $work/$last \"\$1\" $work" \
    $suite "$work/$architecture.tar"
}

# disk ARCHITECTURE CONSOLE: the image, of $work/ARCHITECTURE.tar. One FAT partition carries kernel and initramfs for all ways of booting.
disk() {
  dir=$work/$1 disk=$work/$1/disk.img esp=$work/$1/esp.img
  mkdir "$dir"
  tar -xf "$work/$1.tar" -C "$dir" ./boot
  mv "$dir"/boot/vmlinuz-* "$dir/vmlinuz"
  mv "$dir"/boot/initrd.img-* "$dir/initrd.img"
  arguments="root=UUID=$root_uuid ro console=$2 quiet"
  printf 'linux /vmlinuz %s\ninitrd /initrd.img\nboot\n' "$arguments" >"$dir/grub.cfg"
  truncate -s 48M "$esp"
  mkfs.vfat -n BOOT "$esp" >/dev/null
  mmd -i "$esp" ::/EFI ::/EFI/BOOT ::/EFI/debian
  mcopy -i "$esp" "$dir/vmlinuz" "$dir/initrd.img" ::/
  mcopy -i "$esp" "$dir/grub.cfg" ::/EFI/debian/
  for shim in "$dir"/boot/usr/lib/shim/shim*.efi.signed; do
    suffix=${shim##*/shim} suffix=${suffix%.efi.signed}
    mcopy -i "$esp" "$shim" "::/EFI/BOOT/BOOT$(echo "$suffix" | tr a-z A-Z).EFI"
    mcopy -i "$esp" "$dir"/boot/usr/lib/grub/*-signed/"grub$suffix.efi.signed" "::/EFI/BOOT/grub$suffix.efi"
  done
  if [ "$1" = amd64 ]; then
    printf 'default debian\nprompt 0\nlabel debian\n  kernel /vmlinuz\n  initrd /initrd.img\n  append %s\n' "$arguments" >"$dir/syslinux.cfg"
    mcopy -i "$esp" "$dir/syslinux.cfg" ::/
    syslinux --install "$esp"
  fi

  $fake sh -eu -c '
    mkdir "$1/root"
    tar -xf "$1.tar" -C "$1/root" --exclude="./dev/*" --exclude="./boot/*"
    size=$(($(du -sm "$1/root" | cut -f1) * 17 / 16 + 48))
    truncate -s "${size}M" "$1/root.img"
    mke2fs -q -t ext4 -U "$2" -O ^has_journal -d "$1/root" "$1/root.img"
  ' sh "$dir" "$root_uuid"

  truncate -s "$((48 + $(stat -c %s "$dir/root.img") / 1048576 + 4))M" "$disk"
  # Attribute 2 is how the boot sector finds the partition to start.
  sgdisk -n 1:2048:+48M -t 1:ef00 -A 1:set:2 -n 2:0:0 -t 2:8304 "$disk" >/dev/null
  [ "$1" != amd64 ] || dd if=$mbr of="$disk" conv=notrunc bs=440 count=1 status=none
  dd if="$esp" of="$disk" conv=notrunc,sparse bs=1M seek=1 status=none
  dd if="$dir/root.img" of="$disk" conv=notrunc,sparse bs=1M seek=49 status=none
  zstd -q -3 -T0 -f "$disk" -o "$out/$1.img.zst.part"
  mv "$out/$1.img.zst.part" "$out/$1.img.zst"
}

mkdir -p "$out"
export ROOT_UUID=$root_uuid
root amd64 customize configure.sh --variant=minbase --include=initramfs-tools
# An emulated timer that is late beside other work is none that is broken: the kernel would panic.
disk amd64 'ttyS0,115200 no_timer_check'
root arm64 extract adopt.sh --variant=extract --setup-hook='sh /usr/share/mmdebstrap/hooks/merged-usr/setup00.sh "$1" >/dev/null' \
  --include='?essential' --include='?priority(required)' --include=busybox-static
disk arm64 ttyAMA0
