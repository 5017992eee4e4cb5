# The parts of the agent that its first one fetches: boot loaders are slow, so they fetch no more than what reaches the network. Each part
# has the checksum of the next one that it was made with: the first the rest's, the rest that of the keys part. Nothing of another is ever unpacked.

# fetch_part NAME URL WORDS: does nothing when it is here already. On a failure $problem says why; 2: it is of another build.
fetch_part() {
    [ -e "$HERE/$1.sha256" ] || return 0
    wget -q -T 30 -O "$RUN/$1" "$2" 2>"$RUN/wget.says" || {
        problem="$3 could not be fetched from ${2:-nowhere (slipway.rest=)}: $(head -n 1 "$RUN/wget.says")"
        return 1
    }
    case $(sha256sum <"$RUN/$1") in
        "$(cat "$HERE/$1.sha256") "*) ;;
        *)
            rm -f "$RUN/$1"
            problem="the server's files are not those that this machine started from"
            return 2
            ;;
    esac
    # Not by a pipe: emulated machines with one processor take half as long again. Above the program's folder lies the root of all.
    zstd -dqf --rm --no-asyncio "$RUN/$1" -o "$RUN/$1.cpio" && (cd "$HERE/.." && cpio -idu --quiet <"$RUN/$1.cpio")
    unpacked=$?
    rm -f "$RUN/$1" "$RUN/$1.cpio"
    [ "$unpacked" = 0 ] || {
        problem="$3 could not be unpacked: has this machine enough memory?"
        return 3
    }
    rm -f "$HERE/$1.sha256"
}

# What the agent can do nothing without: curl, jq, drivers of disks.
fetch_rest() {
    while :; do
        fetch_part rest "$REST" 'the rest of the agent' && return
        case $? in
            1)
                say "$problem"
                pause 3
                ;;
            2)
                say "$problem; it starts again in half a minute"
                pause 30
                restart
                ;;
            *)
                say "$problem"
                exit 1
                ;;
        esac
    done
}

# age and ipmitool, which lie beside the rest; three tries.
fetch_keys() {
    for wait_for in 3 3 0; do
        fetch_part keys "${REST%/rest}/keys" age && return
        [ $? = 1 ] || return
        [ "$wait_for" = 0 ] || pause "$wait_for"
    done
    return 1
}

restart() {
    reboot -f
    sleep 60
    exit 1
}
