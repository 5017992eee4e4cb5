# What the agent says: on the console, and in a file whose lines go to the server. Secrets are never said.

# say WORDS... (not on standard output, which may be an image on its way)
say() {
    printf 'slipway: %s\n' "$*" >&2
    printf '%s\n' "$*" >>"$RUN/lines"
}

# Sends the lines that were not sent yet; what a server that does not answer misses goes with the next ones.
send_lines() {
    sent=$(cat "$RUN/lines.sent" 2>/dev/null)
    size=$(wc -c <"$RUN/lines")
    [ "$size" -gt "${sent:-0}" ] || return 0
    tail -c "+$((${sent:-0} + 1))" "$RUN/lines" | head -c 32768 >"$RUN/lines.part"
    [ "$(tell POST "hosts/$(host)/logs" text/plain "$RUN/lines.part")" = 204 ] || return 0
    echo "$((${sent:-0} + $(wc -c <"$RUN/lines.part")))" >"$RUN/lines.sent"
}

ship_lines() {
    LANE=.lines
    while sleep 3; do send_lines; done
}

# pause SECONDS: a little longer than that, so that machines that were switched on together do not ask together.
pause() {
    sleep "$1.$(od -An -N1 -tu1 /dev/urandom | tr -d ' ')"
}
