# The machine's other cards. The server believes that a card is this machine's when the agent has asked it by that card, from the address
# that this card was leased. Done on the side, once after each registration; nothing depends on it.

PROOF_ROUNDS=3
proving=''

prove_cards_aside() {
    [ -n "$proving" ] && kill -0 "$proving" 2>/dev/null && return
    prove_cards &
    proving=$!
}

# In a few rounds, since links and networks come up late.
prove_cards() {
    LANE=.cards
    proven=" $CARD "
    round=0
    while [ "$round" -lt "$PROOF_ROUNDS" ]; do
        [ "$round" = 0 ] || pause 10
        round=$((round + 1))
        for card in $(cards); do
            case $proven in *" $card "*) continue ;; esac
            [ "$(content "$SYS/class/net/$card/carrier")" = 1 ] || continue
            prove_card "$card" && proven="$proven$card "
            # The server knows no such request: an older one.
            [ "$status" != 404 ] || return 0
        done
    done
}

# prove_card CARD: succeeds when no other try is of use.
prove_card() {
    status=000
    lease_for_a_moment "$1" || return 1
    VIA=$1
    status=$(request POST "hosts/$(host)/cards" 10 "$(token)" text/plain /dev/null)
    VIA=''
    end_lease "$1"
    case $status in
        204) say "$1 is known to be this machine's" ;;
        404) ;;
        409) say "$1 ($(content "$SYS/class/net/$1/address")) is another machine's, says the server" ;;
        *) return 1 ;;
    esac
}

# lease_for_a_moment CARD: an address, while the machine's way to the server stays what it is.
lease_for_a_moment() {
    BESIDE=yes timeout 15 udhcpc -f -q -n -i "$1" -s "$HERE/dhcp.sh" -t 4 -T 1 >/dev/null 2>&1
}

end_lease() {
    ip -4 address flush dev "$1"
}
