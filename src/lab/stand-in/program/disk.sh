# The disk that the installer leaves: one partition that the firmware starts from, with kernel and initramfs, and one with what this machine is.

BOOT_MEGABYTES=192
STATE_MEGABYTES=1

# install_system DISK: prints what went wrong.
install_system() {
    need=$((BOOT_MEGABYTES + STATE_MEGABYTES + 2))
    [ "$(disk_bytes "$1")" -ge $((need * 1048576)) ] || { echo "/dev/$1 has less than $need MiB"; return 1; }
    printf 'label: gpt\nstart=1MiB, size=%sMiB, type=U, name=stand-in-boot\nsize=%sMiB, type=L, name=stand-in-state\n' \
        "$BOOT_MEGABYTES" "$STATE_MEGABYTES" |
        sfdisk -q --wipe always --wipe-partitions always "$DEV/$1" >/dev/null 2>"$RUN/work/says" || { tail -n 1 "$RUN/work/says"; return 1; }
    reread_table "$1"
    boot=$(partition_number "$1" 1) && state=$(partition_number "$1" 2) || { echo "the partitions of /dev/$1 do not show"; return 1; }
    mkdosfs -n STANDIN "$DEV/$boot" >/dev/null 2>&1 || { echo "/dev/$boot can't be formatted"; return 1; }
    mkdir -p "$RUN/boot"
    mount -t vfat "$DEV/$boot" "$RUN/boot" || { echo "/dev/$boot can't be mounted"; return 1; }
    fill "$RUN/boot"
    filled=$?
    umount "$RUN/boot"
    [ "$filled" = 0 ] || return 1
    jq -c .system "$RUN/work/steps" | dd of="$DEV/$state" bs=1M conv=sync,fsync 2>/dev/null || { echo "/dev/$state can't be written"; return 1; }
    blockdev --flushbufs "$DEV/$1"
}

# fill FOLDER: the image's files, and GRUB's configuration.
fill() {
    curl -q -fsS "$(step .iso)" 2>"$RUN/curl.says" >"$RUN/work/image" || { echo "the image could not be fetched: $(cat "$RUN/curl.says")"; return 1; }
    # FAT knows no owners: what cpio says of them does not matter, but that a file can't be written does.
    (cd "$1" && cpio -idu --quiet <"$RUN/work/image" 2>/dev/null)
    [ -s "$1/rest" ] || { echo "the image is no system of the stand-in, or does not fit"; return 1; }
    rm -f "$RUN/work/image"
    mkdir -p "$1/grub"
    {
        echo 'echo "Slipway'"'"'s stand-in for Harvester"'
        echo "linux /vmlinuz console=$(step .tty) slipway.stand-in=installed"
        echo 'initrd /initrd /rest'
        echo boot
    } >"$1/grub/grub.cfg"
}

# partition_number DISK NUMBER: the kernel's name of it.
partition_number() {
    for partition in $(partitions "$1"); do
        [ "$(content "$SYS/block/$1/$partition/partition")" = "$2" ] && echo "$partition" && return
    done
    return 1
}
