# The way to the server: the card that the machine booted from asks for an address, again and again, for as long as it takes.

# read_command_line FILE: where the server and the agent's other parts are, what proves the boot, and the card. Their names are documented.
read_command_line() {
    SERVER='' REST='' CAPABILITY='' PIN='' BOOT_MAC=''
    for word in $(cat "$1"); do
        case $word in
            slipway.url=*) SERVER=${word#*=} ;;
            slipway.rest=*) REST=${word#*=} ;;
            slipway.boot=*) CAPABILITY=${word#*=} ;;
            slipway.pin=*) PIN=${word#*=} ;;
            slipway.mac=*) BOOT_MAC=$(plain_mac "${word#*=}") ;;
            # As PXE loaders write it: the hardware's type goes first.
            BOOTIF=01-*) BOOT_MAC=$(plain_mac "${word#*=01-}") ;;
        esac
    done
    SERVER=${SERVER%/}
}

plain_mac() {
    printf '%s' "$1" | tr 'A-F-' 'a-f:'
}

# The network cards that are hardware, by name.
cards() {
    for card in "$SYS"/class/net/*; do
        [ -e "$card/device" ] && [ "$(cat "$card/type")" = 1 ] && echo "${card##*/}"
    done
}

card_of() {
    for card in $(cards); do
        [ "$(cat "$SYS/class/net/$card/address")" = "$1" ] && echo "$card" && return
    done
    return 1
}

# Processes of udhcpc that were started.
dhcp_clients=''

# Switches every card on, since a link shows only then, and asks for an address on the one that the machine booted from, or on all.
connect() {
    [ -z "$dhcp_clients" ] || kill $dhcp_clients 2>/dev/null
    dhcp_clients=''
    rm -f "$RUN"/lease*
    asked='' waited=0
    until [ -s "$RUN/lease" ]; do
        for card in $(cards); do
            case " $asked " in *" $card "*) continue ;; esac
            asked="$asked $card"
            ip link set "$card" up
            [ -n "$BOOT_MAC" ] && [ "$(cat "$SYS/class/net/$card/address")" != "$BOOT_MAC" ] && continue
            say "asking for an address on $card ($(cat "$SYS/class/net/$card/address"))"
            udhcpc -f -i "$card" -s "$HERE/dhcp.sh" -t 4 -T 1 -A 2 >/dev/null 2>&1 &
            dhcp_clients="$dhcp_clients $!"
        done
        sleep 0.1
        waited=$((waited + 1))
        [ $((waited % 300)) = 0 ] && say "still without an address; cards:$asked; wanted: ${BOOT_MAC:-any}"
    done
    read -r CARD ADDRESS <"$RUN/lease"
    BOOT_MAC=$(cat "$SYS/class/net/$CARD/address")
    say "$CARD ($BOOT_MAC) has $ADDRESS; the server is ${SERVER:-not named on the command line (slipway.url=)}"
}
