# Loads the driver of every device that names one. Drivers bring new devices, which name drivers in turn, so it goes on with new
# names until there are none. The script's own names for that: a device's `modalias` is matched with the patterns of modules.alias.

load_drivers() {
    known=
    while :; do
        names=$(find "$SYS/devices" -name modalias -exec cat {} + 2>/dev/null | sort -u)
        new=$(printf '%s\n' "$names" | grep -vxF -e "$known")
        [ -z "$new" ] && break
        known=$names
        # One program for all, with what no device names: names have no blanks, and no pattern must be taken for files.
        set -f
        # shellcheck disable=SC2086
        modprobe -aqb efivarfs sd_mod vfat nls_cp437 nls_ascii $new 2>/dev/null
        set +f
    done
    mount -t efivarfs efivarfs "$SYS/firmware/efi/efivars" 2>/dev/null
    [ -d "$SYS/module/ipmi_si" ] && modprobe -q ipmi_devintf
    return 0
}
