# Unpacks the signed loaders of the same release as the kernel into the boot folder; nothing of theirs is installed.
# Usage, as a hook of mmdebstrap: loaders.sh ROOT ARCHITECTURE
set -eu
cd "$1/boot"
APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get -qq -o APT::Sandbox::User=root download shim-signed "grub-efi-$2-signed"
for deb in *.deb; do dpkg-deb -x "$deb" .; done
rm ./*.deb
