# First-boot data: a small FAT partition at the disk's end, where cloud-init looks by its label and no growing partition comes by.

DATA_MEGABYTES=64

# lay_data DISK
lay_data() {
    progress data
    label=$(field .data.label)
    # A megabyte stays free behind it for the table's second copy.
    start=$((($(disk_bytes "$1") / 1048576 - DATA_MEGABYTES - 1) * 1048576))
    [ "$start" -gt 0 ] || give_up "/dev/$1 is too small for first-boot data"
    case $(blkid -p -s PTTYPE -o value "$DEV/$1") in
        gpt)
            # The image ends before the disk does, and so did the second copy.
            sfdisk -q --relocate gpt-bak-std "$DEV/$1" >/dev/null 2>&1
            type="EBD0A0A2-B9E5-4433-87C0-68B6B72699C7, name=$label"
            ;;
        dos) type=c ;;
        *) give_up "the image has no partition table, and first-boot data no place" ;;
    esac
    block=$(logical_block "$1")
    printf 'start=%s, size=%s, type=%s\n' $((start / block)) $((DATA_MEGABYTES * 1048576 / block)) "$type" |
        sfdisk -q --append --wipe always "$DEV/$1" >/dev/null 2>"$RUN/work/sfdisk.says" ||
        give_up "no room for first-boot data: $(tail -n 1 "$RUN/work/sfdisk.says")"
    reread_table "$1"
    partition=$(partition_at "$1" "$start") || give_up "the new partition of /dev/$1 does not show"
    mkdosfs -n "$label" "$DEV/$partition" >/dev/null || give_up "/dev/$partition can't be formatted"
    mkdir -p "$RUN/data"
    mount -t vfat "$DEV/$partition" "$RUN/data" || give_up "/dev/$partition can't be mounted"
    cp -r "$RUN/work/data/." "$RUN/data/" || give_up "/dev/$partition can't be written"
    umount "$RUN/data" || give_up "/dev/$partition can't be written"
    blockdev --flushbufs "$DEV/$1"
}

# partition_at DISK BYTES: the kernel's name of the partition that starts there. The kernel counts in 512 bytes, whatever the disk does.
partition_at() {
    for partition in $(partitions "$1"); do
        [ "$(content "$SYS/block/$1/$partition/start")" = $(($2 / 512)) ] && echo "$partition" && return
    done
    return 1
}

# fetch_data: all of it, into memory.
fetch_data() {
    progress data
    mkdir "$RUN/work/data"
    count=$(field '.data.files | length')
    i=0
    while [ "$i" -lt "$count" ]; do
        path=$(field ".data.files[$i].path")
        case $path in '' | /* | *..* | *[!A-Za-z0-9._/-]*) give_up "first-boot data can't be called $path" ;; esac
        mkdir -p "$RUN/work/data/$(dirname "$path")"
        {
            fetch_options "$(field ".data.files[$i].url | @json")"
            printf 'retry = 5\nretry-connrefused\n'
        } | curl -q --config - --output "$RUN/work/file" 2>"$RUN/work/curl.says" ||
            give_up "$path of the first-boot data could not be fetched: $(content "$RUN/work/curl.says")"
        if [ "$(field ".data.files[$i].sealed")" = true ]; then
            open_sealed <"$RUN/work/file" >"$RUN/work/data/$path" ||
                give_up "$path of the first-boot data could not be opened: it was changed or cut off on its way, or is for another key"
        else
            mv "$RUN/work/file" "$RUN/work/data/$path"
        fi
        i=$((i + 1))
    done
}
