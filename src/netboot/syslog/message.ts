/** Reads what a host says to a log server, in either of the two formats, or in what firmware makes of them. */

/** Facility and severity (RFC 5424 §6.2.1, RFC 3164 §4.1.1). */
const PRIORITY = /^<\d{1,3}>/;
/** `1 TIME HOST APP PROCID MSGID` (RFC 5424 §6.2); the structured data and the text follow. */
const HEADER_5424 = /^1 \S{1,64} \S{1,255} (\S{1,48}) (\S{1,128}) \S{1,32} /;
/** `Nov 21 10:00:00 HOST ` (RFC 3164 §4.1.2); many leave the host out. */
const HEADER_3164 = /^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?:[^\s:[\]]{1,255} (?=\S))?/;

/** More than any kernel or agent says at once; what is longer is cut. */
const MOST_BYTES = 8_192;

/** What a datagram says, as `program: text` where it names the program. Never throws; text that is no syslog is taken as it is. */
export function syslogLine(datagram: Uint8Array): string {
  const said = Buffer.from(datagram.subarray(0, MOST_BYTES)).toString("utf8").replace(PRIORITY, "");
  const header = HEADER_5424.exec(said);
  if (header === null) return said.replace(HEADER_3164, "").trim();
  const [all, app = "-", process = "-"] = header;
  const text = withoutStructuredData(said.slice(all.length))
    .replace(/^\ufeff/, "")
    .trim();
  if (app === "-") return text;
  return `${app}${process === "-" ? "" : `[${process}]`}: ${text}`;
}

/** RFC 5424 §6.3: `-`, or elements in brackets, in whose values `"`, `\` and `]` are escaped. */
function withoutStructuredData(rest: string): string {
  if (rest.startsWith("-")) return rest.slice(1);
  let at = 0;
  while (rest[at] === "[") {
    let quoted = false;
    for (at++; at < rest.length && (quoted || rest[at] !== "]"); at++) {
      if (quoted && rest[at] === "\\") at++;
      else if (rest[at] === '"') quoted = !quoted;
    }
    at++;
  }
  return rest.slice(at);
}
