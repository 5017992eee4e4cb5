#!/bin/sh
# STAND-IN for Harvester's installer. It is started with the same kernel arguments, fetches the same configuration, is refused what the real one refuses (the
# lab's desk knows the rules), makes the same calls, and installs a small system from what `iso_url` names. It never asks a person.
PROGRAM=${PROGRAM:-${0%/*}}
. "$PROGRAM/machine.sh"
. "$PROGRAM/disk.sh"

CONFIG_TRIES=31
CONFIG_PAUSE=10

# The live system, as the real one has it from root=live:URL: what knows disks and speaks TLS.
live_system() {
    REST=$(argument root)
    REST=${REST#live:}
    fetch_rest
}

# fetch_config URL
fetch_config() {
    tries=0
    until curl -q -fsS -m 15 -o "$RUN/work/config" "$1" 2>"$RUN/curl.says"; do
        tries=$((tries + 1))
        [ "$tries" -lt "$CONFIG_TRIES" ] || stop "no configuration after $tries tries: $(sed 's|https*://[^ ]*|URL|' "$RUN/curl.says")"
        [ "$tries" -gt 1 ] || say "waits for its configuration"
        sleep "$CONFIG_PAUSE"
    done
}

# visitor_json: what is reported to the desk.
visitor_json() {
    [ -d "$SYS/firmware/efi" ] && firmware=uefi || firmware=bios
    facts_json >"$RUN/work/facts"
    disks_json >"$RUN/work/disks"
    set -- --rawfile commandLine "${COMMAND_LINE:-/proc/cmdline}" --arg firmware "$firmware" --slurpfile disks "$RUN/work/disks"
    if [ -e "$RUN/work/config" ]; then
        jq -c "$@" --rawfile config "$RUN/work/config" '. + {$commandLine, $firmware, $config, disks: $disks[0]}' "$RUN/work/facts"
    else
        jq -c "$@" '. + {$commandLine, $firmware, disks: $disks[0]}' "$RUN/work/facts"
    fi
}

# ask_desk: the steps are in $RUN/work/steps.
ask_desk() {
    visitor_json >"$RUN/work/visitor"
    until status=$(post "$(cat "$PROGRAM/desk")" "$RUN/work/visitor"); do
        say "the desk does not answer: $(cat "$RUN/curl.says")"
        sleep 5
    done
    [ "$status" = 200 ] || stop "$(reason)"
    mv "$RUN/answer" "$RUN/work/steps"
}

step() { jq -r "$1 // empty" "$RUN/work/steps"; }

# call EVENT: every webhook of it; one that fails changes nothing.
call() {
    i=0
    while [ -n "$(step ".calls.$1[$i]")" ]; do
        one=".calls.$1[$i]"
        {
            jq -r "$one | \"url = \\(.url | @json)\\nrequest = \\(.method | @json)\", (.headers[] | \"header = \\(@json)\"), (select(.body != \"\") | \"data-raw = \\(.body | @json)\")" "$RUN/work/steps"
            printf 'silent\nshow-error\nfail\ninsecure\nmax-time = 30\n'
        } | curl -q --config - -o /dev/null 2>"$RUN/curl.says" ||
            say "the $1 webhook was not delivered: $(sed 's|https*://[^ ]*|URL|' "$RUN/curl.says")"
        i=$((i + 1))
    done
}

main() {
    read_command_line /proc/cmdline
    say "INSTALLER, in the place of Harvester's, on Linux $(uname -r)"
    load_drivers
    SERVER=$(cat "$PROGRAM/desk")
    connect
    live_system
    load_drivers
    url=$(argument harvester.install.config_url)
    [ -z "$url" ] || fetch_config "$url"
    ask_desk
    disk=$(step .disk)
    say "installs $(step .system.hostname) on /dev/$disk"
    call STARTED
    if problem=$(install_system "$disk"); then
        call SUCCEEDED
        say "is installed"
        sync
        [ "$(step .powersOff)" != true ] || poweroff -f
        reboot -f
        sleep 60
    else
        call FAILED
        stop "the installation has failed: $problem"
    fi
}

[ -n "${SOURCED:-}" ] || main
