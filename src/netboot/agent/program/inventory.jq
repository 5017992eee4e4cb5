# Lines of `path <TAB> kind <TAB> value` become one document. Text is trimmed, free of control characters, and bounded as the protocol says.
def text: gsub("[\u0000-\u001f\u007f]"; "") | gsub("^ +| +$"; "") | .[0:256];
def value($kind): if $kind == "n" then tonumber elif $kind == "b" then . == "true" elif $kind == "l" then split(",") | map(text | select(. != "")) else text end;
reduce (inputs / "\t") as $line ({system: {}, cpu: {flags: []}, disks: [], cards: []};
  ($line[1] as $kind | $line[2:] | join(" ") | value($kind)) as $value
  | if $value == "" then . else setpath($line[0] / "." | map(tonumber? // .); $value) end)
| .cards |= map({addresses: []} + .)
| .disks |= map({byId: []} + .)
