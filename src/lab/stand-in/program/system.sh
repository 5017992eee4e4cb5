#!/bin/sh
# STAND-IN for an installed Harvester: it joins the cluster that its disk names, and reports that it lives, until the power goes.
PROGRAM=${PROGRAM:-${0%/*}}
. "$PROGRAM/machine.sh"
. "$PROGRAM/disk.sh"

BEAT_SECONDS=10

# find_state: what the installer has left, in $RUN/work/system.
find_state() {
    for disk in $(disks); do
        state=$(partition_number "$disk" 2) || continue
        tr -d '\000' <"$DEV/$state" | jq -c 'select(.hostname and .serverUrl)' >"$RUN/work/system" 2>/dev/null
        [ -s "$RUN/work/system" ] && return
    done
    return 1
}

known() { jq -r ".$1" "$RUN/work/system"; }

# join: until it is let in.
join() {
    said=''
    while :; do
        facts_json | jq -c --slurpfile system "$RUN/work/system" --arg kernel "$(uname -r)" '$system[0] + . + {$kernel}' >"$RUN/work/join"
        status=$(post "$(known serverUrl)/stand-in/join" "$RUN/work/join")
        [ "$status" != 200 ] || break
        why=$(reason)
        [ "$why" = "$said" ] || say "can't join: ${why:-HTTP $status}"
        said=$why
        sleep 10
    done
    say "has joined $(known serverUrl) as $(known hostname)"
}

main() {
    read_command_line /proc/cmdline
    load_drivers
    say "SYSTEM, in the place of Harvester, on Linux $(uname -r)"
    find_state || stop "no disk says what this machine is"
    hostname "$(known hostname)"
    SERVER=$(known serverUrl)
    connect
    jq -c --arg uuid "$(facts_json | jq -r .uuid)" '{token, uuid: $uuid}' "$RUN/work/system" >"$RUN/work/beat"
    join
    while sleep "$BEAT_SECONDS"; do
        status=$(post "$(known serverUrl)/stand-in/beat" "$RUN/work/beat")
        [ "$status" != 404 ] && [ "$status" != 403 ] || join
    done
}

[ -n "${SOURCED:-}" ] || main
