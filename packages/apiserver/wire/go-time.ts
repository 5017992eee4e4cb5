/** One element of an RFC 3339 layout as Go writes layouts, and how it is read. */
interface Element {
  layout: string;
  pattern: RegExp;
  /** Smallest and largest value; outside of it Go says `<name> out of range`. */
  range?: readonly [name: string, low: number, high: number];
}

const element = (layout: string, pattern: RegExp, range?: Element["range"]): Element =>
  range === undefined ? { layout, pattern } : { layout, pattern, range };
const literal = (text: string): Element => element(text, new RegExp(`^${text}`));

/** With a fraction in the layout, exactly that many digits are wanted; without one, any are taken. */
function elements(fraction: string): Element[] {
  return [
    element("2006", /^\d{4}/),
    literal("-"),
    element("01", /^\d{2}/, ["month", 1, 12]),
    literal("-"),
    element("02", /^\d{2}/, ["day", 1, 31]),
    literal("T"),
    element("15", /^\d{2}/, ["hour", 0, 23]),
    literal(":"),
    element("04", /^\d{2}/, ["minute", 0, 59]),
    literal(":"),
    element("05", fraction === "" ? /^\d{2}([.,]\d+)?/ : /^\d{2}/, ["second", 0, 59]),
    ...(fraction === "" ? [] : [element(fraction, new RegExp(`^[.,]\\d{${fraction.length - 1}}(?!\\d)`))]),
    element("Z07:00", /^(Z|[+-]\d{2}:\d{2})/),
  ];
}

const WHOLE = elements("");
const MICRO = elements(".000000");

/** Times that stay as they are, which is how clients and this server itself write most of them. Later days are not in every month. */
const PLAIN = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{6})?Z$/;

/**
 * Reads a time as Go's `time.Parse` does with RFC 3339, whole seconds or (`fraction` ".000000") microseconds, and writes it in UTC.
 * A string is Go's complaint.
 */
export function parseGoTime(text: string, fraction: "" | ".000000"): { text: string } | string {
  if (text.length === "2006-01-02T15:04:05Z".length + fraction.length && PLAIN.test(text)) return { text };
  const wrong = layoutFault(text, fraction);
  if (wrong !== undefined) return wrong;
  const seconds = text.replace(/[.,]\d+/, "");
  const at = Date.parse(seconds);
  const day = Number(text.slice(8, 10));
  if (Number.isNaN(at) || day > daysIn(Number(text.slice(0, 4)), Number(text.slice(5, 7))))
    return `parsing time ${quoted(text)}: day out of range`;
  const utc = new Date(at).toISOString().slice(0, 19);
  const micros = /[.,](\d+)/.exec(text)?.[1] ?? "";
  return { text: fraction === "" ? `${utc}Z` : `${utc}.${micros}Z` };
}

function layoutFault(text: string, fraction: "" | ".000000"): string | undefined {
  const layout = `2006-01-02T15:04:05${fraction}Z07:00`;
  let rest = text;
  for (const { layout: name, pattern, range } of fraction === "" ? WHOLE : MICRO) {
    const found = pattern.exec(rest)?.[0];
    if (found === undefined)
      return `parsing time ${quoted(text)} as ${quoted(layout)}: cannot parse ${quoted(rest)} as ${quoted(name)}`;
    const number = Number.parseInt(found, 10);
    if (range !== undefined && (number < range[1] || number > range[2]))
      return `parsing time ${quoted(text)}: ${range[0]} out of range`;
    rest = rest.slice(found.length);
  }
  return rest === "" ? undefined : `parsing time ${quoted(text)}: extra text: ${quoted(rest)}`;
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
