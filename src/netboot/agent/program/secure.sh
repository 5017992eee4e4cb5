# The device's own erase. What it leaves behind is up to the device, so the proof is that marks written before are gone.

wipe_secure() {
    put_marks "$1" || { echo "it can't be written"; return 1; }
    case $1 in
        nvme*) erase_nvme "$1" || return 1 ;;
        sd*) erase_ata "$1" || return 1 ;;
        *) echo "the device offers no erase of its own"; return 1 ;;
    esac
    reread_table "$1"
    ! marks_left "$1" || { echo "the device says it has erased, but data from before is still there"; return 1; }
    echo "erased by the device; $(marks "$1" | grep -c .) marks that were written before are gone"
}

# marks DISK: byte positions all over it, on whole blocks.
marks() {
    bytes=$(disk_bytes "$1")
    for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo $((bytes / 16 / 4096 * i * 4096)); done
    echo $((bytes / 4096 * 4096 - 4096))
}

put_marks() {
    head -c 4096 /dev/urandom >"$RUN/work/mark.$1"
    marks "$1" | while read -r at; do
        dd if="$RUN/work/mark.$1" of="$DEV/$1" bs=4096 seek=$((at / 4096)) conv=fsync,notrunc 2>/dev/null || exit 1
    done
}

marks_left() {
    for at in $(marks "$1"); do
        dd if="$DEV/$1" bs=4096 skip=$((at / 4096)) count=1 2>/dev/null | cmp -s - "$RUN/work/mark.$1" && return
    done
    return 1
}

erase_nvme() {
    controller=${1%n*}
    fna=$(nvme id-ctrl -o json "$DEV/$controller" | jq .fna)
    # Bit 1 (FNA, NVM Express base specification): an erase takes all namespaces, also those that nobody ordered.
    if [ $((${fna:-0} & 2)) != 0 ] && [ "$(disks | grep -c "^${controller}n")" -gt 1 ]; then
        echo "its erase would take every namespace of $controller"
        return 1
    fi
    timeout 7200 nvme format --force --ses=1 "$DEV/$1" >/dev/null || { echo "the device refused to erase: $(tail -n 1 "$RUN/work/errors.$1")"; return 1; }
}

# ATA security: a password is needed to start, and is gone with the erase.
erase_ata() {
    hdparm -I "$DEV/$1" >"$RUN/work/ata.$1" 2>/dev/null
    sed -n '/^Security/,/^[A-Z]/p' "$RUN/work/ata.$1" | tr -s '\t ' ' ' >"$RUN/work/security.$1"
    grep -q '^ supported$' "$RUN/work/security.$1" || { echo "the device offers no erase of its own"; return 1; }
    grep -q '^ not frozen$' "$RUN/work/security.$1" || { echo "the firmware has frozen the disk's security: power the machine off and on"; return 1; }
    way=--security-erase
    grep -q 'enhanced erase$' "$RUN/work/security.$1" && way=--security-erase-enhanced
    hdparm --user-master u --security-set-pass slipway "$DEV/$1" >/dev/null &&
        hdparm --user-master u "$way" slipway "$DEV/$1" >/dev/null ||
        { echo "the erase failed: should the disk be locked now, its password is slipway"; return 1; }
}
