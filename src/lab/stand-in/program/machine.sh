# What installer and system share: the parts of the agent that reach the network and know the hardware, and what a machine says of itself.
set -u
umask 077
HERE=${HERE:-/agent} SYS=${SYS:-/sys} DEV=${DEV:-/dev} RUN=${RUN:-/run/slipway}
mkdir -p "$RUN/work" "$RUN/results"
for part in report drivers network parts disks inventory proof; do
    . "$HERE/$part.sh"
done

say() {
    printf 'stand-in: %s\n' "$*" >&2
}

# stop WORDS...: a person is to read it; the machine stays as it is.
stop() {
    say "$*"
    say "it stops here"
    while :; do sleep 3600; done
}

# argument NAME: the last value of that name on the kernel's command line, without quotes.
argument() {
    tr -s ' \n' '\n\n' <"${COMMAND_LINE:-/proc/cmdline}" | tr -d '"' | sed -n "s|^$1=||p" | tail -n 1
}

# post URL FILE: sends JSON, prints the status; the answer is in $RUN/answer. Who answers is not proven: the real one knows its cluster by the token.
post() {
    curl -q -sS -k -m 60 -H 'Content-Type: application/json' --data-binary "@$2" -o "$RUN/answer" -w '%{http_code}' "$1" 2>"$RUN/curl.says"
}

# reason: of the last answer.
reason() {
    jq -r '.reason // empty' "$RUN/answer" 2>/dev/null || head -c 200 "$RUN/curl.says"
}

cards_json() {
    for card in $(cards); do
        jq -cn --arg name "$card" --arg mac "$(cat "$SYS/class/net/$card/address")" '{name: $name, mac: $mac}'
    done | jq -cs .
}

disks_json() {
    for disk in $(disks); do
        { echo "/dev/$disk"; disk_ids "$disk" | sed 's|^|/dev/disk/by-id/|'; } |
            jq -Rcs --argjson bytes "$(disk_bytes "$disk")" '{names: split("\n") | map(select(. != "")), bytes: $bytes}'
    done | jq -cs .
}

# facts_json: uuid, address, cpus, memoryMiB, cards.
facts_json() {
    jq -cn --arg uuid "$(content "$SYS/class/dmi/id/product_uuid" | tr 'A-F' 'a-f')" --arg address "${ADDRESS:-}" \
        --argjson cpus "$(grep -c '^processor' "${CPUS:-/proc/cpuinfo}")" \
        --argjson memoryMiB "$(awk '/^MemTotal/ { print int($2 / 1024) }' "${MEMORY:-/proc/meminfo}")" \
        --argjson cards "$(cards_json)" \
        '{uuid: $uuid, address: $address, cpus: $cpus, memoryMiB: $memoryMiB, cards: $cards}'
}
