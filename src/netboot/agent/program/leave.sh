# The ways out of the agent. The result has been sent before any of them is taken.

prepare_kexec() {
    fetch_to kernel "$(field '.kernel | @json')"
    set -- --kexec-file-syscall --load "$RUN/work/kernel" --command-line="$(field .commandLine)"
    if [ -n "$(field .initrd)" ]; then
        fetch_to initrd "$(field '.initrd | @json')"
        set -- "$@" --initrd="$RUN/work/initrd"
    fi
    # The call that checks signatures: under lockdown there is no other.
    kexec "$@" 2>"$RUN/work/kexec.says" || give_up "the kernel can't be started: $(content "$RUN/work/kexec.says")"
    echo kexec >"$RUN/then"
    finish "the kernel is loaded; it starts now"
}

# fetch_to NAME URL
fetch_to() {
    {
        fetch_options "$2"
        printf 'retry = 5\nretry-connrefused\n'
    } | curl -q --config - --output "$RUN/work/$1" 2>"$RUN/work/curl.says" ||
        give_up "the $1 could not be fetched: $(content "$RUN/work/curl.says")"
}

leave() {
    send_lines
    sync
    case $(cat "$RUN/then") in
        kexec) kexec --exec ;;
        reboot) reboot -f ;;
        poweroff) poweroff -f ;;
    esac
    sleep 60
    say "$(cat "$RUN/then") did not happen"
    rm "$RUN/then"
}
