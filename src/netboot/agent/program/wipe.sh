# Wipes disks, all at once, and proves it for each by reading back. A way prints what was done and found; its status says whether that is a proof.

wipe_disks() {
    how=$(field .how)
    case $how in metadata | discard | full | secure) ;; *) give_up "this agent knows no wipe called $how" ;; esac
    chosen=''
    if [ "$(field '.disks | if type == "string" then . else "" end')" = all ]; then
        chosen=$(disks)
    else
        # Every name is looked up before anything is touched.
        field '.disks[]' >"$RUN/work/names"
        while IFS= read -r name; do
            disk=$(disk_named "$name") || give_up "there is no disk $name; nothing was wiped"
            case " $chosen " in *" $disk "*) ;; *) chosen="$chosen $disk" ;; esac
        done <"$RUN/work/names"
    fi
    [ -n "$chosen" ] || give_up "there is no disk to wipe"
    wiping='' total=0
    for disk in $chosen; do
        wipe_one "$how" "$disk" &
        wiping="$wiping $!"
        total=$((total + $(disk_bytes "$disk")))
    done
    [ "$how" != full ] || total=$((total * 2))
    watch_wipe "$how" "$total" &
    watcher=$!
    for one in $wiping; do wait "$one"; done
    kill "$watcher" 2>/dev/null
    cat "$RUN"/work/wiped.* >"$RUN/wiped"
    unproven=$(jq -rs 'map(select(.proven | not) | .disk) | join(" ")' "$RUN/wiped")
    [ -z "$unproven" ] || give_up "not proven to be wiped: $unproven"
    finish "wiped and read back: $(jq -rs 'map(.disk[5:]) | join(" ")' "$RUN/wiped")"
}

# wipe_one HOW DISK
wipe_one() {
    proven=true
    "wipe_$1" "$2" >"$RUN/work/detail.$2" 2>"$RUN/work/errors.$2" || proven=false
    say "wipe of /dev/$2 ($1): $(content "$RUN/work/detail.$2")"
    jq -nc --arg disk "/dev/$2" --arg how "$1" --argjson proven "$proven" --rawfile detail "$RUN/work/detail.$2" \
        '{$disk, $how, $proven, detail: $detail[0:1000] | rtrimstr("\n")}' >"$RUN/work/wiped.$2"
}

watch_wipe() {
    LANE=.progress
    while sleep 3; do
        progress "wipe $1" "$(cat "$RUN"/work/passed.* 2>/dev/null | awk '{ sum += $1 } END { printf "%.0f", sum }')" "$2"
    done
}

# Signatures, both copies of each table, start and end of each partition and of the disk.
wipe_metadata() {
    reread_table "$1"
    places=$(for partition in $(partitions "$1"); do
        at=$SYS/block/$1/$partition
        edges $(($(content "$at/start") * 512)) $(($(content "$at/size") * 512))
    done; edges 0 "$(disk_bytes "$1")")
    for partition in $(partitions "$1") "$1"; do wipefs --all --force --quiet "$DEV/$partition"; done
    echo "$places" | while read -r from length; do zero "$1" "$from" "$length"; done
    reread_table "$1"
    count=$(echo "$places" | grep -c .)
    echo "$places" | while read -r from length; do
        is_zero "$1" "$from" "$length" || exit 1
    done || { echo "a place that was cleared does not read as zeroes"; return 1; }
    left=$(wipefs --noheadings "$DEV/$1"; partitions "$1")
    [ -z "$left" ] || { echo "there is still something: $left" | tr '\n' ' '; return 1; }
    echo "$count places cleared and read back as zeroes; no signature and no partition is left"
}

wipe_discard() {
    blkdiscard --force "$DEV/$1" || { echo "the device does not discard: $(tail -n 1 "$RUN/work/errors.$1")"; return 1; }
    reread_table "$1"
    if promises_zeroes "$1"; then
        samples "$1" | while read -r from length; do is_zero "$1" "$from" "$length" || exit 1; done ||
            { echo "it promises zeroes for what is discarded, and does not keep it"; return 1; }
        echo "discarded; the device promises zeroes, and $(samples "$1" | grep -c .) places all over it read so"
    else
        all_zero "$1" || { echo "discarded, but it still reads as something else than zeroes: wipe it in full"; return 1; }
        echo "discarded; all of it read back as zeroes"
    fi
}

wipe_full() {
    at=0 bytes=$(disk_bytes "$1")
    while [ "$at" -lt "$bytes" ]; do
        length=$((bytes - at < CHUNK ? bytes - at : CHUNK))
        zero "$1" "$at" "$length" || { echo "it could not be written at byte $at"; return 1; }
        at=$((at + length))
        echo "$at" >"$RUN/work/passed.$1"
    done
    reread_table "$1"
    all_zero "$1" || { echo "zeroes were written everywhere, but do not read back"; return 1; }
    echo "zeroes written and read back, all $bytes bytes"
}
