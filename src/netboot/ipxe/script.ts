/**
 * iPXE scripts as data. A script is a list of statements; `ipxeScript` turns it into text that iPXE reads back as the
 * very same statements, or refuses. Values that come from users or APIs are literals, which can't start another
 * command, another argument or an expansion; values that only the firmware knows are references to its settings.
 *
 * iPXE has no quoting: it splits a line at white space, ends a command at `||`, `&&` and `;`, starts a comment at a
 * word beginning with `#`, joins lines at a final backslash and expands `${…}` in each word (iPXE `core/exec.c`,
 * `image/script.c`). So what contains those is refused, never escaped.
 */
import { Fault } from "@slipway/base";

/** Settings whose values the firmware forms itself: addresses, names of its own, no text of a DHCP server. */
const FIRMWARE_SETTING =
  /^(?:(?:net(?:X|\d{1,2})\/)?(?:mac|mac:hexhyp|ip|netmask|gateway|ifname|chip|bustype)|buildarch|platform|uuid|cpumodel:hexraw)$/;

/** A setting of the firmware, expanded on the machine: `{ setting: "netX/mac" }`. `netX` is the device that was opened last. */
export interface Reference {
  setting: string;
}

/** One word of a command: literal text, references, or both in a row. */
export type Value = string | Reference | readonly (string | Reference)[];

export type Statement =
  /** Addresses from DHCP, on the first device that is answered. */
  | { do: "dhcp"; otherwise?: string }
  /** `timeoutMs`: for fetching it; without, as long as the connection holds. */
  | { do: "chain"; url: Value; replace?: boolean; autofree?: boolean; timeoutMs?: number; otherwise?: string }
  | { do: "kernel"; url: Value; args: readonly Value[]; otherwise?: string }
  | { do: "initrd"; url: Value; name?: string; otherwise?: string }
  | { do: "boot"; otherwise?: string }
  | { do: "sleep"; seconds: number }
  | { do: "label"; name: string }
  | { do: "goto"; label: string }
  /** Words; runs of spaces would be joined on the machine, so they are refused. */
  | { do: "echo"; text: string }
  | { do: "imgfree" }
  /** A setting of this name, for scripts that come after; none of the firmware's own. */
  | { do: "set"; name: string; value: string }
  /** Ends the script; `status` other than 0 reports a failure to the caller (the firmware's boot order). */
  | { do: "exit"; status?: number };

/** `otherwise` of a statement: the label to go to when the command fails. Without it a failure ends the script. */
export type IpxeScript = readonly Statement[];

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** iPXE reads a script's line into memory whole; a line longer than this is a mistake, not a boot. */
const MAX_LINE_BYTES = 8192;

/** The script's text. Throws `Fault` (`Invalid`) that names the statement and the value that iPXE would read as something else. */
export function ipxeScript(script: IpxeScript): string {
  const labels = new Set<string>();
  for (const statement of script) {
    if (statement.do !== "label") continue;
    if (labels.has(statement.name)) throw refusal("label", statement.name, "stands twice in the script");
    labels.add(statement.name);
  }
  const lines = script.map((statement) => {
    const line = lineOf(statement, labels);
    if (Buffer.byteLength(line) > MAX_LINE_BYTES)
      throw refusal(statement.do, `${line.slice(0, 60)}…`, `is longer than ${MAX_LINE_BYTES} bytes`);
    return line;
  });
  return `${["#!ipxe", ...lines].join("\n")}\n`;
}

function lineOf(statement: Statement, labels: ReadonlySet<string>): string {
  const go = (label: string): string => {
    if (!labels.has(label)) throw refusal(statement.do, label, "is not a label of this script");
    return `goto ${label}`;
  };
  const line = (words: readonly string[], otherwise?: string): string =>
    otherwise === undefined ? words.join(" ") : `${words.join(" ")} || ${go(otherwise)}`;
  const word = (value: Value): string => wordOf(statement.do, value);
  const first = (value: Value): string => firstWordOf(statement.do, value);

  switch (statement.do) {
    case "dhcp":
      return line(["dhcp"], statement.otherwise);
    case "chain": {
      const flags = [
        ...(statement.autofree ? ["--autofree"] : []),
        ...(statement.replace ? ["--replace"] : []),
        ...(statement.timeoutMs === undefined
          ? []
          : ["--timeout", wholeNumber("chain", statement.timeoutMs, 86_400_000)]),
      ];
      return line(["chain", ...flags, first(statement.url)], statement.otherwise);
    }
    case "kernel":
      return line(["kernel", first(statement.url), ...statement.args.map(word)], statement.otherwise);
    case "initrd": {
      const flags = statement.name === undefined ? [] : ["--name", first(statement.name)];
      return line(["initrd", ...flags, first(statement.url)], statement.otherwise);
    }
    case "boot":
      return line(["boot"], statement.otherwise);
    case "sleep":
      return line(["sleep", wholeNumber("sleep", statement.seconds, 86_400)]);
    case "label":
      return `:${nameOf("label", statement.name)}`;
    case "goto":
      return go(statement.label);
    case "echo":
      return line(["echo", ...echoWords(statement.text)]);
    case "exit":
      return line(["exit", ...(statement.status === undefined ? [] : [wholeNumber("exit", statement.status, 255)])]);
    case "imgfree":
      return statement.do;
    case "set":
      return line(["set", ownName(statement.name), word(statement.value)]);
  }
}

/** A word that is not the first argument, so a leading dash is text. */
function wordOf(where: string, value: Value): string {
  const parts = typeof value === "string" || "setting" in value ? [value] : value;
  const text = parts.map((part) => (typeof part === "string" ? literal(where, part) : expansion(part))).join("");
  if (text === "") throw refusal(where, text, "is empty");
  // Neighbouring literals may form together what neither is alone.
  const joined = parts.map((part) => (typeof part === "string" ? part : "\0")).join("");
  if (joined.includes("${")) throw refusal(where, joined, "contains ${, which iPXE would expand");
  if (joined.startsWith("#")) throw refusal(where, joined, "starts with #, which begins a comment");
  if (joined.endsWith("\\")) throw refusal(where, joined, "ends with a backslash, which joins lines");
  if (joined === "||" || joined === "&&" || joined === ";") throw refusal(where, joined, "ends a command");
  return text;
}

function firstWordOf(where: string, value: Value): string {
  const text = wordOf(where, value);
  if (text.startsWith("-")) throw refusal(where, text, "starts with a dash, which iPXE reads as an option");
  return text;
}

/** Printable ASCII without spaces: everything else ends a word, a line, or means something else in another encoding. */
function literal(where: string, text: string): string {
  if (!/^[\x21-\x7e]*$/.test(text))
    throw refusal(where, text, "contains white space, control or non-ASCII characters, for which iPXE has no quoting");
  return text;
}

function expansion(reference: Reference): string {
  if (!FIRMWARE_SETTING.test(reference.setting))
    throw refusal("reference", reference.setting, "is not a setting whose value the firmware forms itself");
  return `\${${reference.setting}}`;
}

function echoWords(text: string): string[] {
  return text === ""
    ? []
    : text.split(" ").map((part, at) => (at === 0 ? firstWordOf("echo", part) : wordOf("echo", part)));
}

function nameOf(where: string, name: string): string {
  if (!NAME.test(name)) throw refusal(where, name, "is not a name (letters, digits, - and _, a letter first)");
  return name;
}

/** Ours begin alike, so that none is taken for a setting that means something to iPXE. */
function ownName(name: string): string {
  if (!/^slipway-[a-z]{1,32}$/.test(name)) throw refusal("set", name, "is not slipway- and lower-case letters");
  return name;
}

function wholeNumber(where: string, value: number, most: number): string {
  if (!Number.isInteger(value) || value < 0 || value > most)
    throw refusal(where, String(value), `is not a whole number from 0 to ${most}`);
  return String(value);
}

function refusal(where: string, value: string, why: string): Fault {
  return new Fault("Invalid", `iPXE script, ${where}`, `${JSON.stringify(value)} ${why}`, {
    remedy: "use a value without it",
  });
}
