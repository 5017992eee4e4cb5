# Takes away what the machines of the suite have no use for: every byte is unpacked and written by an emulated machine.
# Usage, as a hook of mmdebstrap: trim.sh ROOT
set -eu
cd "$1"
rm -rf var/lib/apt/lists/* var/cache/apt/*.bin var/log/*.log usr/share/i18n usr/share/zoneinfo usr/lib/udev/hwdb*
release=$(ls lib/modules)
(
  cd "lib/modules/$release/kernel"
  rm -rf drivers/gpu drivers/infiniband drivers/net/ethernet fs/btrfs fs/xfs fs/nfs* fs/ocfs2 fs/smb fs/f2fs fs/ceph sound
)
depmod -a -b . "$release"
