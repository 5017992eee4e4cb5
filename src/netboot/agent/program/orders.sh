# Orders, one at a time. An order that comes again was carried out, but its result got lost: the result is sent again, nothing else.

polls=0

# Asks for the next order and carries it out.
next_order() {
    [ "$(devices_now)" = "$devices" ] || report_inventory
    # Disks behind a controller that takes its time shall not wait for the end of a long poll.
    polls=$((polls + 1))
    status=$(request GET "hosts/$(host)/orders?wait=$((polls > 6 ? 55 : 5))" 90 "$(token)")
    case $status in
        200)
            mv "$RUN/answer" "$RUN/order"
            obey
            ;;
        204) ;;
        401 | 403 | 404)
            say "the server does not know this session any more ($status)"
            register
            ;;
        *)
            say "no answer to the request for orders: $(why "$status")"
            pause 5
            ;;
    esac
}

report_inventory() {
    load_drivers
    devices=$(devices_now)
    inventory >"$RUN/inventory"
    [ "$(tell PUT "hosts/$(host)/inventory" application/json "$RUN/inventory")" = 204 ]
}

# field PATH: of the order; empty where it has none.
field() {
    jq -r "$1 // empty" "$RUN/order"
}

obey() {
    id=$(field .id)
    order=$(field .order)
    case $id in '' | *[!a-z0-9-]*)
        say "an order without a good id was left alone"
        pause 5
        return
        ;;
    esac
    ORDER=$id
    result=$RUN/results/$id
    if [ ! -e "$result" ]; then
        say "order $id: $order"
        carry_out "$order"
        say "order $id: $(jq -r 'if .ok then "done" else "failed" end + ": " + .message' "$result")"
    fi
    send_result "$result"
    [ ! -e "$RUN/then" ] || leave
}

# carry_out ORDER: in a shell of its own, which ends by `finish` or `give_up`; what either says becomes the result.
carry_out() {
    rm -rf "$RUN/message" "$RUN/wiped" "$RUN/then" "$RUN/work"
    mkdir "$RUN/work"
    ok=true
    (
        case $1 in
            inspect) report_inventory && finish "the hardware is reported" || give_up "the report was not taken" ;;
            write) write_image ;;
            wipe) wipe_disks ;;
            kexec) prepare_kexec ;;
            reboot | poweroff) echo "$1" >"$RUN/then"; finish "$1 follows" ;;
            *) give_up "this agent does not know the order" ;;
        esac
    ) || ok=false
    [ -s "$RUN/message" ] || echo "it ended without a word" >"$RUN/message"
    touch "$RUN/wiped"
    jq -n --argjson ok "$ok" --rawfile message "$RUN/message" --slurpfile disks "$RUN/wiped" \
        '{$ok, message: $message[0:4000] | rtrimstr("\n")} + if $disks == [] then {} else {$disks} end' >"$result.new"
    mv "$result.new" "$result"
    rm -rf "$RUN/work"
}

finish() {
    printf '%s\n' "$*" >"$RUN/message"
    exit 0
}

give_up() {
    printf '%s\n' "$*" >"$RUN/message"
    exit 1
}

# send_result FILE: until the server has it, or will never want it.
send_result() {
    while :; do
        status=$(tell POST "hosts/$(host)/orders/$ORDER/result" application/json "$1")
        case $status in
            204 | 400 | 404) return ;;
            401 | 403) register ;;
            *)
                say "the result of order $ORDER is not sent yet: $(why "$status")"
                pause 3
                ;;
        esac
    done
}

# progress PHASE [BYTES [TOTAL]]: a lost one does not matter, the next one says more.
progress() {
    jq -n --arg phase "$1" --arg bytes "${2:-}" --arg total "${3:-}" \
        '{$phase} + ({$bytes, $total} | map_values(select(. != "") | tonumber))' >"$RUN/progress"
    tell POST "hosts/$(host)/orders/$ORDER/progress" application/json "$RUN/progress" >/dev/null
}
