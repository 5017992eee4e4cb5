# Completes a root of packages that were unpacked and could not be configured here, being for arm64. What a package's own script leaves
# behind (users, links, enabled units, compiled Python) hardly ever depends on the processor, so it is taken over from amd64's root.
# Usage, as a hook of mmdebstrap: adopt.sh ROOT WORK    where WORK/amd64.tar is
set -eu
# mmdebstrap's own.
rm -f "$1/etc/fstab" "$1/etc/hostname"
tar -xf "$2/amd64.tar" -C "$1" --skip-old-files --exclude='*x86_64*' --exclude=./lib64 --exclude=./usr/lib64 --exclude=./dev --exclude=./proc \
  --exclude=./sys --exclude='./boot/*' --exclude=./usr/lib/modules --exclude=./usr/lib/klibc --exclude=./etc/ld.so.cache \
  --exclude=./var/lib/dpkg

# update-initramfs would have to start what it packs. This one does the same for these machines: load what the disk needs, mount, go on.
release=$(ls "$1/lib/modules")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/bin" "$tree/dev" "$tree/proc" "$tree/sys" "$tree/modules" "$tree/root"
cp "$1/bin/busybox" "$tree/bin/"
for module in virtio_pci virtio_blk nvme ext4; do
  modprobe -d "$1" -S "$release" --show-depends "$module"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
  cp "$file" "$tree/modules/"
  echo "/modules/${file##*/}" >>"$tree/modules/order"
done
cat >"$tree/init" <<'INIT'
#!/bin/busybox sh
busybox mount -t devtmpfs dev /dev
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
while read -r module; do busybox insmod "$module"; done </modules/order
for word in $(busybox cat /proc/cmdline); do
  case $word in root=*) root=${word#root=} ;; esac
done
until busybox mount -o ro "$(busybox findfs "$root")" /root; do busybox sleep 0.1; done
for place in dev proc sys; do busybox mount --move "/$place" "/root/$place"; done
exec busybox switch_root /root /sbin/init
INIT
chmod 755 "$tree/init"
(cd "$tree" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0 | gzip) >"$1/boot/initrd.img-$release"
