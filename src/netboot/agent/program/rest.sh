# The rest of the agent: what it reaches no network with. Boot loaders are slow, so they fetch the first part alone, and that fetches this
# one. The first part knows the checksum of the rest that it was made with; nothing of another one is ever unpacked.

# fetch_rest: does nothing when it is here already.
fetch_rest() {
    [ -e "$HERE/rest.sha256" ] || return 0
    until wget -q -T 30 -O "$RUN/rest" "$REST" 2>"$RUN/wget.says"; do
        say "the rest of the agent could not be fetched from ${REST:-nowhere (slipway.rest=)}: $(head -n 1 "$RUN/wget.says")"
        pause 3
    done
    case $(sha256sum <"$RUN/rest") in
        "$(cat "$HERE/rest.sha256") "*) ;;
        *)
            say "the server's files are not those that this machine started from; it starts again in half a minute"
            pause 30
            restart
            ;;
    esac
    # Not by a pipe: emulated machines with one processor take half as long again. Above the program's folder lies the root of all.
    { zstd -dqf --rm --no-asyncio "$RUN/rest" -o "$RUN/rest.cpio" && (cd "$HERE/.." && cpio -idu --quiet <"$RUN/rest.cpio"); } || {
        say "the rest of the agent could not be unpacked: has this machine enough memory?"
        exit 1
    }
    rm -f "$RUN/rest.cpio" "$HERE/rest.sha256"
}

restart() {
    reboot -f
    sleep 60
    exit 1
}
