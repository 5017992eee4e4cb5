# The machine's TPM, by which the server knows it from all others. The server says what to write to it, and reads what it answers; here is no
# more than that. What was made in it ends with the device file.

# Proves the TPM where there is one. Without it nothing is lost but trust.
prove_tpm() {
    [ -e "$DEV/tpmrm0" ] || return 0
    : >"$RUN/tpm.answers"
    while :; do
        status=$(tell POST "hosts/$(host)/tpm" text/plain "$RUN/tpm.answers")
        case $status in
            200) mv "$RUN/answer" "$RUN/tpm.commands" ;;
            204) say "this machine's TPM is known"; break ;;
            # An older server.
            404) break ;;
            *) say "this machine's TPM is not known: $(why "$status")"; break ;;
        esac
        ask_tpm <"$RUN/tpm.commands" >"$RUN/tpm.answers" 2>/dev/null
        [ -s "$RUN/tpm.answers" ] || { say "this machine's TPM does not answer"; break; }
    done
    rm -f "$RUN/tpm.answers" "$RUN/tpm.commands"
}

# ask_tpm: the answers to the commands of standard input, a line each, in hexadecimal digits. @N is the handle in the N-th answer.
ask_tpm() (
    exec 4<>"$DEV/tpmrm0" || exit 1
    n=0 handles=
    while read -r command; do
        for handle in $handles; do
            command=$(printf '%s' "$command" | sed "s/@${handle%=*}/${handle#*=}/g")
        done
        # A command is written at once, and its answer read at once.
        printf '%s' "$command" | xxd -r -p >"$RUN/tpm.command"
        dd if="$RUN/tpm.command" bs=4096 count=1 >&4 || exit 1
        answer=$(dd bs=4096 count=1 <&4 | xxd -p | tr -d '\n')
        [ -n "$answer" ] || exit 1
        echo "$answer"
        n=$((n + 1))
        handles="$handles $n=$(printf '%s' "$answer" | cut -c21-28)"
    done
    rm -f "$RUN/tpm.command"
)
