# say TEXT: on the console, with the seconds since the kernel started.
say() {
    read -r seconds rest </proc/uptime
    echo "slipway: $seconds $*" >/dev/console
}
