# Zeroes on disks: writing them, and reading whether they are there. Places are `from length` in bytes, and need not be blocks of the disk.

CHUNK=268435456
EDGE=4194304

# zero DISK FROM LENGTH
zero() {
    dd if=/dev/zero of="$DEV/$1" bs=1M iflag=fullblock,count_bytes oflag=seek_bytes seek="$2" count="$3" conv=fsync,notrunc 2>/dev/null
}

# is_zero DISK FROM LENGTH: asks the disk, not what the kernel remembers of it (`reread_table` forgets that).
is_zero() {
    dd if="$DEV/$1" bs=1M iflag=skip_bytes,count_bytes skip="$2" count="$3" 2>/dev/null | cmp -s -n "$3" - /dev/zero
}

# edges FROM LENGTH: the places at the start and at the end of something.
edges() {
    if [ "$2" -le $((2 * EDGE)) ]; then
        echo "$1 $2"
    else
        echo "$1 $EDGE"
        echo "$(($1 + $2 - EDGE)) $EDGE"
    fi
}

# zero_edges DISK BYTES
zero_edges() {
    edges 0 "$2" | while read -r from length; do zero "$1" "$from" "$length" || exit 1; done
}

# all_zero DISK: reads all of it.
all_zero() {
    from=0 bytes=$(disk_bytes "$1") before=$(content "$RUN/work/passed.$1")
    while [ "$from" -lt "$bytes" ]; do
        length=$((bytes - from < CHUNK ? bytes - from : CHUNK))
        is_zero "$1" "$from" "$length" || return 1
        from=$((from + length))
        echo $((${before:-0} + from)) >"$RUN/work/passed.$1"
    done
}

# samples DISK: its edges, and a megabyte in each of 64 parts.
samples() {
    bytes=$(disk_bytes "$1")
    edges 0 "$bytes"
    i=1
    while [ "$bytes" -gt 134217728 ] && [ "$i" -lt 64 ]; do
        echo "$((bytes / 64 * i)) 1048576"
        i=$((i + 1))
    done
}

# Whether the device says that what is discarded reads as zeroes: NVMe by DLFEAT, SATA by RZAT, SCSI by LBPRZ.
promises_zeroes() {
    case $1 in
        nvme*) [ $(($(nvme id-ns -o json "$DEV/$1" | jq .dlfeat) & 7)) = 1 ] ;;
        sd*)
            hdparm -I "$DEV/$1" 2>/dev/null | grep -q 'Deterministic read ZEROs after TRIM' && return
            flags=$(od -An -tu1 -j5 -N1 "$SYS/block/$1/device/vpd_pgb2" 2>/dev/null)
            [ $(((${flags:-0} >> 2) & 1)) = 1 ]
            ;;
        *) return 1 ;;
    esac
}

partitions() {
    for partition in "$SYS/block/$1"/*/partition; do
        [ -e "$partition" ] || continue
        partition=${partition%/partition}
        echo "${partition##*/}"
    done
}

# The kernel writes what it holds, forgets what it knows of the disk, and reads the table anew.
reread_table() {
    blockdev --flushbufs "$DEV/$1"
    blockdev --rereadpt "$DEV/$1" 2>/dev/null
    return 0
}
