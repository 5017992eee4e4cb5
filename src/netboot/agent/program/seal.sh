# What is meant for this machine alone. The key for it is made at each boot and lies in memory only: a listener on the network reads
# nothing, and neither does the same machine after its next start. People compare its fingerprint with what the server shows.

# Makes the key, once a boot. Fails with the reason in $RUN/key.says.
make_key() {
    [ ! -s "$RUN/key.public" ] || return 0
    fetch_keys || {
        echo "$problem" >"$RUN/key.says"
        return 1
    }
    rm -f "$RUN/key"
    age-keygen -o "$RUN/key" 2>"$RUN/key.says" &&
        sed -n 's/^# public key: //p' "$RUN/key" >"$RUN/key.public.new" &&
        mv "$RUN/key.public.new" "$RUN/key.public"
}

# fingerprint KEY: as src/netboot/protocol/key.ts has it.
fingerprint() {
    printf '%s' "$1" | sha256sum | cut -c1-24 | sed 's/..../&-/g; s/-$//'
}

say_key() {
    key=$(content "$RUN/key.public")
    [ -n "$key" ] && say "this boot's key: $(fingerprint "$key")" ||
        say "this boot has no key, so it gets no first-boot data: $(content "$RUN/key.says")"
}

# open_sealed: standard input, opened. What is cut off or was changed fails, after its good part.
open_sealed() {
    age --decrypt --identity "$RUN/key" 2>"$RUN/work/age.says"
}
