# Requests to the server. Tokens and addresses reach curl by its standard input, never by its arguments.

# What runs on the side has a lane of its own, so that no answer is taken for another's.
LANE=''

# tell METHOD PATH TYPE FILE: sends the file's content, prints the status (000: no answer). The answer's body is in $RUN/answer$LANE.
tell() {
    request "$1" "$2" 60 "$(token)" "$3" "$4"
}

# request METHOD PATH SECONDS BEARER [TYPE FILE]; VIA: by this card only.
VIA=''
request() {
    {
        common_options "$SERVER"
        printf 'url = "%s/agent/v1/%s"\n' "$SERVER" "$2"
        printf 'request = "%s"\nmax-time = %s\n' "$1" "$3"
        printf 'header = "Authorization: Bearer %s"\n' "$4"
        [ -z "$VIA" ] || printf 'interface = "%s"\n' "$VIA"
        [ $# -lt 6 ] || printf 'header = "Content-Type: %s"\ndata-binary = "@%s"\n' "$5" "$6"
    } | curl -q --config - --output "$RUN/answer$LANE" --write-out '%{http_code}' 2>"$RUN/curl.says$LANE"
}

# common_options URL: what holds for every request. A server that is known by its key needs no authority.
common_options() {
    printf 'silent\nshow-error\ngloboff\nconnect-timeout = 10\nuser-agent = "slipway-agent"\n'
    case $PIN,$1/ in
        ,*) ;;
        *,"$SERVER"/*) printf 'insecure\npinnedpubkey = "%s"\n' "$PIN" ;;
    esac
}

host() { sed -n 1p "$RUN/session" 2>/dev/null; }
token() { sed -n 2p "$RUN/session" 2>/dev/null; }

# Reports the hardware; once the server has that, makes this boot's key and reports again with it: the first report waits for no key.
register() {
    reported=$(content "$RUN/key.public")
    report_in
    say "registered as $(host)"
    make_key
    # On the side: a BMC may take seconds to answer. Its address is reported as a disk is that comes late.
    [ -s "$RUN/bmc" ] || read_bmc &
    say_key
    [ "$(content "$RUN/key.public")" = "$reported" ] || report_in
    prove_tpm
    say "waiting for orders"
    prove_cards_aside
}

# Registrations that are refused (403) one after the other before DHCP is asked again.
MOST_REFUSALS=3

# Registers until the server has taken it. The server's answer names the host and gives the token of all that follows.
# Refusals that do not end are those of an address whose lease the server ended: only DHCP gives another.
report_in() {
    wait_for=1 refusals=0
    while :; do
        devices=$(devices_now)
        inventory >"$RUN/inventory"
        refused=0
        for bearer in "$(token)" "$CAPABILITY"; do
            [ -n "$bearer" ] || continue
            status=$(request POST hosts 60 "$bearer" application/json "$RUN/inventory")
            [ "$status" != 403 ] || refused=1
            [ "$status" = 200 ] || continue
            jq -re '.host, .token | select(test("^[A-Za-z0-9._~+/=-]+$"))' "$RUN/answer" >"$RUN/session.new" || continue
            mv "$RUN/session.new" "$RUN/session"
            return
        done
        say "could not register: $(why "$status"); next try in ${wait_for} s"
        pause "$wait_for"
        [ "$wait_for" -ge 30 ] || wait_for=$((wait_for * 2))
        refusals=$(((refusals + 1) * refused))
        [ "$refusals" -ge "$MOST_REFUSALS" ] || continue
        say "the server refuses $ADDRESS: asking for an address again"
        connect
        refusals=0
    done
}

# why STATUS: in words, of the request that was just answered.
why() {
    case $1 in
        000) tr '\n' ' ' <"$RUN/curl.says$LANE" ;;
        *) echo "the server answered $1 $(head -c 200 "$RUN/answer$LANE" | tr '\n' ' ')" ;;
    esac
}
