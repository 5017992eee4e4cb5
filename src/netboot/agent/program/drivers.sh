# Loads the driver of every device that names one. Drivers bring new devices, which name drivers in turn, so it goes on until no new
# name appears. The script's own names for that: a device's `modalias` is matched with the patterns of modules.alias.

load_drivers() {
    modprobe -aq efivarfs vfat sd_mod nls_cp437 nls_ascii
    mount -t efivarfs efivarfs "$SYS/firmware/efi/efivars" 2>/dev/null
    known=
    while :; do
        names=$(find "$SYS/devices" -name modalias -exec cat {} + 2>/dev/null | sort -u)
        [ "$names" = "$known" ] && break
        known=$names
        # One program for all: names have no blanks, and no pattern must be taken for files.
        set -f
        # shellcheck disable=SC2086
        modprobe -aqb $names 2>/dev/null
        set +f
    done
    [ -d "$SYS/module/ipmi_si" ] && modprobe -q ipmi_devintf
    return 0
}
