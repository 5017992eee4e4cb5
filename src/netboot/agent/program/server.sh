# Requests to the server. Tokens and addresses reach curl by its standard input, never by its arguments.

# What runs on the side has a lane of its own, so that no answer is taken for another's.
LANE=''

# tell METHOD PATH TYPE FILE: sends the file's content, prints the status (000: no answer). The answer's body is in $RUN/answer$LANE.
tell() {
    request "$1" "$2" 60 "$(token)" "$3" "$4"
}

# request METHOD PATH SECONDS BEARER [TYPE FILE]
request() {
    {
        common_options "$SERVER"
        printf 'url = "%s/agent/v1/%s"\n' "$SERVER" "$2"
        printf 'request = "%s"\nmax-time = %s\n' "$1" "$3"
        printf 'header = "Authorization: Bearer %s"\n' "$4"
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

# Reports the hardware until the server has taken it. The server's answer names the host and gives the token of all that follows.
register() {
    wait_for=1
    while :; do
        inventory >"$RUN/inventory"
        for bearer in "$(token)" "$CAPABILITY"; do
            [ -n "$bearer" ] || continue
            status=$(request POST hosts 60 "$bearer" application/json "$RUN/inventory")
            [ "$status" = 200 ] || continue
            jq -re '.host, .token | select(test("^[A-Za-z0-9._~+/=-]+$"))' "$RUN/answer" >"$RUN/session.new" || continue
            mv "$RUN/session.new" "$RUN/session"
            devices=$(devices_now)
            say "registered as $(host); waiting for orders"
            return
        done
        say "could not register: $(why "$status"); next try in ${wait_for} s"
        pause "$wait_for"
        [ "$wait_for" -ge 30 ] || wait_for=$((wait_for * 2))
    done
}

# why STATUS: in words, of the request that was just answered.
why() {
    case $1 in
        000) tr '\n' ' ' <"$RUN/curl.says$LANE" ;;
        *) echo "the server answered $1 $(head -c 200 "$RUN/answer$LANE" | tr '\n' ' ')" ;;
    esac
}
