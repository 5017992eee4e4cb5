# What the machine is made of. Each finding is a line: path, kind (s text, n number, b yes or no, l list by commas), value. A value that could not be
# read makes no line. inventory.jq makes the document of them.

put() {
    [ -z "$3" ] || printf '%s\t%s\t%s\n' "$1" "$2" "$3"
}

# content FILE: its first line, or nothing.
content() {
    line=
    { read -r line <"$1"; } 2>/dev/null
    printf '%s' "$line"
}

inventory() {
    {
        put bootMac s "$BOOT_MAC"
        put architecture s "$(uname -m)"
        inventory_board
        inventory_processor
        inventory_disks
        inventory_cards
        put bmc.address s "$(content "$RUN/bmc")"
        put bmc.addressV6 s "$(content "$RUN/bmc6")"
        put agent.version s "$(content "$HERE/version")"
        put agent.kernel s "$(uname -r)"
        put agent.key s "$(content "$RUN/key.public")"
        put agent.uptimeSeconds n "$(cut -d' ' -f1 /proc/uptime)"
    } | jq -nRc -f "$HERE/inventory.jq"
}

inventory_board() {
    dmi=$SYS/class/dmi/id
    if [ -d "$SYS/firmware/efi" ]; then
        put firmware.kind s uefi
        secure=$(od -An -tu1 -j4 -N1 "$SYS"/firmware/efi/efivars/SecureBoot-* 2>/dev/null)
        case $secure in *1) put firmware.secureBoot b true ;; *0) put firmware.secureBoot b false ;; esac
    else
        put firmware.kind s bios
    fi
    put firmware.vendor s "$(content "$dmi/bios_vendor")"
    put firmware.version s "$(content "$dmi/bios_version")"
    put firmware.date s "$(content "$dmi/bios_date")"
    put system.manufacturer s "$(content "$dmi/sys_vendor")"
    put system.product s "$(content "$dmi/product_name")"
    put system.serial s "$(content "$dmi/product_serial")"
    put system.uuid s "$(content "$dmi/product_uuid")"
}

inventory_processor() {
    awk -F': ' '
        /^processor/ { count++ }
        /^model name/ { model = $2 }
        /^cpu MHz/ { clock = $2 }
        /^(flags|Features)/ { flags = $2 }
        END {
            if (model != "") printf "cpu.model\ts\t%s\n", model
            printf "cpu.count\tn\t%d\n", count
            if (clock != "") printf "cpu.clockMhz\tn\t%d\n", clock
            gsub(" ", ",", flags)
            printf "cpu.flags\tl\t%s\n", flags
        }' /proc/cpuinfo
    fastest=$(content "$SYS/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
    [ -z "$fastest" ] || put cpu.clockMhz n "$((fastest / 1000))"
    put memoryBytes n "$(memory_bytes)"
}

# What is plugged in, by SMBIOS (type 17, 7.18 of DSP0134); without that what the kernel has.
memory_bytes() {
    sum=0
    for entry in "$SYS"/firmware/dmi/entries/17-*/raw; do
        [ -r "$entry" ] || continue
        size=$(u16 "$entry" 12)
        case $size in
            0 | 65535 | '') ;;
            32767) sum=$((sum + ($(u16 "$entry" 28) + ($(u16 "$entry" 30) << 16)) * 1048576)) ;;
            *) [ "$size" -ge 32768 ] && sum=$((sum + (size - 32768) * 1024)) || sum=$((sum + size * 1048576)) ;;
        esac
    done
    [ "$sum" -gt 0 ] && echo "$sum" || awk '/^MemTotal/ { printf "%d\n", $2 * 1024 }' /proc/meminfo
}

u16() {
    od -An -tu2 -j"$2" -N2 "$1" 2>/dev/null | tr -d ' '
}

inventory_cards() {
    i=0
    for card in $(cards); do
        class=$SYS/class/net/$card
        device=$class/device
        # A virtio device's own numbers tell its kind; the card is what it sits on.
        [ -r "$device/../vendor" ] && device=$device/..
        put "cards.$i.name" s "$card"
        put "cards.$i.mac" s "$(content "$class/address")"
        [ "$(content "$class/carrier")" = 1 ] && put "cards.$i.link" b true || put "cards.$i.link" b false
        speed=$(content "$class/speed")
        case $speed in '' | -* | 0) ;; *) put "cards.$i.speedMbps" n "$speed" ;; esac
        put "cards.$i.addresses" l "$(ip -o address show dev "$card" 2>/dev/null | awk '{ printf "%s%s", c, $4; c = "," }')"
        vendor=$(content "$device/vendor")
        [ -z "$vendor" ] || put "cards.$i.model" s "$vendor $(content "$device/device")"
        driver=$(readlink "$class/device/driver")
        put "cards.$i.driver" s "${driver##*/}"
        i=$((i + 1))
    done
}

# The address that the BMC has, by the first of its channels that has one.
read_bmc() {
    [ -e "$DEV/ipmi0" ] || return 0
    for channel in 1 2 3 8; do
        found=$(timeout 10 ipmitool lan print "$channel" 2>/dev/null | awk -F': ' '/^IP Address  / { print $2 }')
        case $found in '' | 0.0.0.0) continue ;; esac
        six=$(timeout 10 ipmitool lan6 print "$channel" 2>/dev/null | awk '/Address:/ { print $NF }' | grep -v '^::/' | head -n 1)
        echo "${six%/*}" >"$RUN/bmc6"
        # Last: the report is made when this is here.
        echo "$found" >"$RUN/bmc"
        return
    done
}
