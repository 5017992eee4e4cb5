# Completes the root for amd64, by its own programs.
# Usage, as a hook of mmdebstrap: configure.sh ROOT
set -eu
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
chroot "$1" systemctl enable systemd-networkd >/dev/null 2>&1
# An emulated machine takes seconds to start a stage of cloud-init; these two have nothing to do.
chroot "$1" systemctl mask cloud-config cloud-final systemd-networkd-wait-online apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer man-db.timer >/dev/null 2>&1
rm -rf "$1"/etc/ssh/ssh_host_* "$1"/var/log/*.log
