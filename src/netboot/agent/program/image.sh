# Writes an image to a disk: fetched, checked, unpacked and written in one stream, so that its size does not matter to the memory.

write_image() {
    name=$(field .disk)
    disk=$(disk_named "$name") || give_up "there is no disk $name"
    kind=$(field .checksum.type)
    case $kind in '' | md5 | sha256 | sha512) ;; *) give_up "this agent knows no $kind" ;; esac
    # Before anything is lost: a system without its first-boot data is of no use.
    [ -z "$(field .data.label)" ] || fetch_data
    fetch_options "$(field '.url | @json')" >"$RUN/work/fetch"
    # A table's second copy may outlast a shorter image.
    zero_edges "$disk" "$(disk_bytes "$disk")" || give_up "/dev/$disk can't be written"
    watch_stream &
    watcher=$!
    pour_whole "$(field .format)" "$kind" "$DEV/$disk"
    kill "$watcher" 2>/dev/null
    check_stream "$disk" "$kind"
    reread_table "$disk"
    [ -z "$(field .data.label)" ] || lay_data "$disk"
    finish "wrote $(bytes_written) bytes to /dev/$disk${kind:+, $kind as ordered}"
}

# fetch_options URL: options of curl, on standard output. The address has quotes around it, as JSON writes them, which are curl's as well.
fetch_options() {
    plain=${1#\"}
    common_options "${plain%\"}"
    printf 'url = %s\n' "$1"
    printf 'fail\nlocation\nproto = "=http,https"\nspeed-limit = 1\nspeed-time = 60\n'
}

sealed() {
    [ "$(field .sealed)" = true ]
}

# broke STATUS: what curl calls it when nobody answers, or an answer ends early.
broke() {
    case $1 in 7 | 18 | 28 | 52 | 55 | 56) ;; *) return 1 ;; esac
}

# pour_whole FORMAT CHECKSUM FILE: a sealed file is sealed anew for each request, so when its connection breaks it begins anew.
pour_whole() {
    pour "$@"
    for try in 1 2 3 4 5 6 7 8 9; do
        sealed && broke "$(content "$RUN/work/curl.status")" || return 0
        say "the image's connection broke; a sealed image begins anew"
        pause 2
        pour "$@"
    done
}

# pour FORMAT CHECKSUM FILE: each stage leaves its status.
pour() {
    echo 0 >"$RUN/work/open.status"
    case $1 in
        raw) pour_raw "$2" "$3" ;;
        *) pour_packed "$@" ;;
    esac
}

# pour_packed FORMAT CHECKSUM FILE: the checksum is of what comes, not of what is written.
pour_packed() {
    pass=cat
    if [ -n "$2" ]; then
        rm -f "$RUN/work/checked"
        mkfifo "$RUN/work/checked"
        "${2}sum" <"$RUN/work/checked" >"$RUN/work/sum" &
        summing=$!
        pass="tee $RUN/work/checked"
    fi
    fetch_opened "$2" | $pass | {
        case $1 in gz | xz | zst) zstd -dcq 2>/dev/null ;; *) false ;; esac
        echo $? >"$RUN/work/unpack.status"
    } | {
        dd of="$3" bs=1M iflag=fullblock conv=fsync,notrunc 2>"$RUN/work/dd.says"
        echo $? >"$RUN/work/dd.status"
    }
    [ -z "$2" ] || wait "$summing"
}

# pour_raw CHECKSUM FILE: as it comes. What is written is read again for the checksum, step by step out of the kernel's memory: a tee would
# copy it in small pieces, at the cost of all else together.
pour_raw() {
    echo 0 >"$RUN/work/unpack.status"
    if [ -z "$1" ]; then
        fetch_opened '' | write_steps "$2" >/dev/null
        return
    fi
    rm -f "$RUN/work/steps"
    mkfifo "$RUN/work/steps"
    read_steps "$2" <"$RUN/work/steps" | "${1}sum" >"$RUN/work/sum" &
    summing=$!
    fetch_opened "$1" | write_steps "$2" >"$RUN/work/steps"
    wait "$summing"
}

STEP_BYTES=67108864

# write_steps FILE: writes what comes; where each step begins and how long it is, on standard output, once it is written.
write_steps() {
    at=0
    bytes=$STEP_BYTES
    status=0
    while [ "$bytes" = "$STEP_BYTES" ] && [ "$status" = 0 ]; do
        dd of="$1" bs=1M iflag=fullblock,count_bytes oflag=seek_bytes count="$STEP_BYTES" seek="$at" conv=notrunc 2>"$RUN/work/dd.says"
        status=$?
        bytes=$(bytes_written)
        [ "$status" = 0 ] || break
        echo "$at $bytes"
        at=$((at + bytes))
    done
    if [ "$status" = 0 ]; then
        dd of="$1" count=0 conv=fsync,notrunc </dev/null 2>"$RUN/work/dd.says"
        status=$?
    fi
    [ "$status" != 0 ] || echo "$at bytes written" >"$RUN/work/dd.says"
    echo "$status" >"$RUN/work/dd.status"
}

# read_steps FILE: what was written, of the steps on standard input.
read_steps() {
    while read -r from size; do
        dd if="$1" bs=1M iflag=skip_bytes,count_bytes skip="$from" count="$size" 2>/dev/null || return
    done
}

# fetch_opened CHECKSUM: the file as it lies at the server, on standard output.
fetch_opened() {
    if sealed; then
        # Without a checksum's leave nothing is taken up in its middle.
        fetch_noted '' | {
            open_sealed
            echo $? >"$RUN/work/open.status"
        }
    else
        fetch_noted "$1"
    fi
}

fetch_noted() {
    fetch_stream "$1"
    echo $? >"$RUN/work/curl.status"
}

# fetch_stream CHECKSUM: the file, on standard output. A connection that breaks is taken up where it broke; only a checksum shows whether the
# parts belong together, so without one that is done only as long as nothing has come.
fetch_stream() {
    got=0
    for try in 0 1 2 3 4 5 6 7 8 9; do
        echo "$got" >"$RUN/work/got"
        curl -q --config "$RUN/work/fetch" --continue-at "$got" --dump-header "$RUN/work/headers.$try" \
            --write-out '%{stderr}size %{size_download}\n' 2>"$RUN/work/curl.told" &
        echo $! >"$RUN/work/curl.pid"
        wait $!
        status=$?
        grep -v '^size ' "$RUN/work/curl.told" >"$RUN/work/curl.says"
        got=$((got + $(sed -n 's/^size //p' "$RUN/work/curl.told")))
        broke "$status" || return "$status"
        [ -n "$1" ] || [ "$got" = 0 ] || return "$status"
        say "the image's connection broke after $got bytes; going on"
        pause 2
    done
    return "$status"
}

# Tells what went wrong first: a stage that ends early takes the others with it.
check_stream() {
    fetched=$(content "$RUN/work/curl.status")
    # 23: nobody took what it fetched.
    case $fetched in 0 | 23) ;; *) spoil "$1" "the image could not be fetched: $(content "$RUN/work/curl.says")" ;; esac
    if [ "$(content "$RUN/work/dd.status")" != 0 ]; then
        grep -q 'No space' "$RUN/work/dd.says" && spoil "$1" "the image is larger than /dev/$1 with its $(disk_bytes "$1") bytes"
        spoil "$1" "/dev/$1 could not be written: $(grep -v records "$RUN/work/dd.says" | head -n 1)"
    fi
    # 141: nobody took what it opened.
    case $(content "$RUN/work/open.status") in 0 | 141) ;; *) spoil "$1" "the sealed image could not be opened: it was changed or cut off on its way, or is for another key" ;; esac
    [ "$(content "$RUN/work/unpack.status")" = 0 ] || spoil "$1" "the image could not be unpacked as $(field .format)"
    [ -z "$2" ] || case $(content "$RUN/work/sum") in
        "$(field .checksum.value | tr 'A-F' 'a-f') "*) ;;
        *) spoil "$1" "the image has another $2 than ordered" ;;
    esac
}

# spoil DISK WORDS...: what is only half an image must not be started.
spoil() {
    zero_edges "$1" "$(disk_bytes "$1")"
    reread_table "$1"
    shift
    give_up "$@"
}

bytes_written() {
    awk '/ bytes? / { print $1 }' "$RUN/work/dd.says"
}

# Tells every few seconds how much of the file has been fetched.
watch_stream() {
    LANE=.progress
    while sleep 3; do
        pid=$(content "$RUN/work/curl.pid")
        passed=$(awk '/^wchar/ { print $2 }' "/proc/$pid/io" 2>/dev/null)
        total=$(awk 'tolower($1) == "content-length:" { size = $2 + 0 } END { print size }' "$RUN/work/headers.0" 2>/dev/null)
        progress write "$(($(content "$RUN/work/got") + ${passed:-0}))" "$total"
    done
}
