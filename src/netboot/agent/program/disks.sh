# The machine's disks, their stable names, and which file a name means. Names follow udev's, so that they are the ones of an installed
# system; udev itself is not here.

# The disks by kernel name: no memory, no CD, nothing that can be taken out, nothing that another disk consists of.
disks() {
    for disk in "$SYS"/block/*; do
        case ${disk##*/} in loop* | ram* | zram* | dm-* | md* | sr* | fd* | nbd* | mmcblk*boot* | mmcblk*rpmb) continue ;; esac
        [ "$(content "$disk/removable")" = 1 ] || [ "$(content "$disk/hidden")" = 1 ] || [ "$(content "$disk/size")" = 0 ] ||
            echo "${disk##*/}"
    done
}

# Changes when a disk or a card has come or gone, or the BMC's address is known.
devices_now() {
    echo $(disks) $(cards) $(content "$RUN/bmc")
}

disk_bytes() { echo $(($(content "$SYS/block/$1/size") * 512)); }
logical_block() { content "$SYS/block/$1/queue/logical_block_size"; }

# disk_named NAME: the kernel's name of the disk that an order means: a name below /dev/disk/by-id, or a device file.
disk_named() {
    for disk in $(disks); do
        [ "$1" = "/dev/$disk" ] && echo "$disk" && return
        for id in $(disk_ids "$disk"); do
            [ "$1" = "$id" ] && echo "$disk" && return
        done
    done
    return 1
}

inventory_disks() {
    n=0
    for disk in $(disks); do
        at=$SYS/block/$disk
        put "disks.$n.name" s "/dev/$disk"
        put "disks.$n.byId" l "$(disk_ids "$disk" | tr '\n' ',')"
        put "disks.$n.bytes" n "$(disk_bytes "$disk")"
        [ "$(content "$at/queue/rotational")" = 1 ] && put "disks.$n.rotational" b true || put "disks.$n.rotational" b false
        [ "$(content "$at/ro")" = 1 ] && put "disks.$n.readOnly" b true || put "disks.$n.readOnly" b false
        put "disks.$n.logicalBlock" n "$(logical_block "$disk")"
        put "disks.$n.model" s "$(disk_model "$disk")"
        put "disks.$n.serial" s "$(disk_serial "$disk")"
        put "disks.$n.wwn" s "$(disk_wwn "$disk")"
        put "disks.$n.transport" s "$(disk_transport "$disk")"
        case $disk in sd*)
            hctl=$(readlink -f "$at/device")
            put "disks.$n.vendor" s "$(content "$at/device/vendor")"
            put "disks.$n.hctl" s "${hctl##*/}"
            ;;
        esac
        put "disks.$n.byPath" s "$(disk_path "$disk")"
        n=$((n + 1))
    done
}

# The kernel cuts a SATA disk's model at 16 letters; the disk's page 89h (SAT-5, ATA Information) has the whole.
ata_words() {
    # Words of IDENTIFY DEVICE start at byte 60; letters are swapped within each.
    dd if="$SYS/block/$1/device/vpd_pg89" bs=2 skip=$((30 + $2)) count="$3" conv=swab 2>/dev/null
}

disk_model() {
    if [ -r "$SYS/block/$1/device/vpd_pg89" ]; then ata_words "$1" 27 20; else content "$SYS/block/$1/device/model"; fi
}

disk_serial() {
    at=$SYS/block/$1
    if [ -r "$at/device/vpd_pg89" ]; then
        ata_words "$1" 10 10
    elif [ -r "$at/device/vpd_pg80" ]; then
        tail -c +5 "$at/device/vpd_pg80" | tr -d '\000'
    else
        serial=$(content "$at/device/serial")
        printf '%s' "${serial:-$(content "$at/serial")}"
    fi
}

disk_wwn() {
    wwid=$(content "$SYS/block/$1/wwid")
    wwid=${wwid:-$(content "$SYS/block/$1/device/wwid")}
    case $wwid in
        naa.*) echo "0x${wwid#naa.}" ;;
        eui.* | nvme.* | uuid.*) echo "$wwid" ;;
    esac
}

disk_transport() {
    case $1 in nvme*) echo nvme; return ;; mmcblk*) echo mmc; return ;; vd*) echo virtio; return ;; esac
    case $(readlink -f "$SYS/block/$1") in
        */usb[0-9]*) echo usb ;;
        */ata[0-9]*) echo sata ;;
        */end_device-*) echo sas ;;
        */fc_*) echo fc ;;
        *) echo scsi ;;
    esac
}

# disk_ids DISK: one a line.
disk_ids() {
    model=$(disk_model "$1" | id_text)
    serial=$(disk_serial "$1" | id_text)
    wwn=$(disk_wwn "$1")
    case $(disk_transport "$1") in
        nvme) [ -z "$serial" ] || echo "nvme-${model}_$serial" ;;
        sata) [ -z "$serial" ] || echo "ata-${model}_$serial" ;;
        virtio) [ -z "$serial" ] || echo "virtio-$(printf %.20s "$serial")" ;;
        mmc) [ -z "$serial" ] || echo "mmc-$(content "$SYS/block/$1/device/name" | id_text)_$serial" ;;
        usb) ;;
        *) [ -z "$wwn" ] || echo "scsi-3${wwn#0x}" ;;
    esac
    case $wwn in
        0x*) echo "wwn-$wwn" ;;
        ?*) echo "nvme-$wwn" ;;
    esac
}

# As udev writes it: no blanks at the ends, one underscore for those within, nothing that a shell or a path would mistake.
id_text() {
    sed 's/^ *//; s/ *$//; s/  */_/g; s/[^A-Za-z0-9#+.:=@_-]/_/g'
}

# Its name below /dev/disk/by-path, where that is simple to say.
disk_path() {
    where=$(readlink -f "$SYS/block/$1")
    pci=$(printf '%s\n' "$where" | grep -oE '[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]' | tail -n 1)
    [ -n "$pci" ] || return 0
    case $1 in
        nvme*n*) echo "pci-$pci-nvme-${1##*n}" ;;
        vd*) echo "pci-$pci" ;;
        sd*)
            port=${where#*/ata}
            [ "$port" = "$where" ] || echo "pci-$pci-ata-$(content "$SYS/class/ata_port/ata${port%%/*}/port_no")"
            ;;
    esac
}
