/**
 * GRUB scripts as data. A script is a list of statements; `grubScript` turns it into text that GRUB reads back as the very same
 * statements, or refuses. Values that come from users or APIs are literals, quoted so that they can't start another command,
 * another word or an expansion; values that only the loader knows are references to its variables.
 */

import { refusal } from "./refusal.ts";
import { quoted, type Value } from "./word.ts";

export type GrubCommand =
  | { do: "set"; name: string; value: Value }
  | { do: "linux"; kernel: Value; args: readonly Value[] }
  | { do: "initrd"; files: readonly [Value, ...Value[]] }
  /** Starts what was loaded. */
  | { do: "boot" }
  /** Another loader instead of a kernel, which takes for its origin where paths without a device begin. */
  | { do: "chainloader"; file: Value }
  /** Reads another file's statements in this place; what it sets stays set. Succeeds even when there is no such file. */
  | { do: "source"; file: Value }
  /** Goes over to another configuration, menus included. */
  | { do: "configfile"; file: Value }
  /** The first disk that has the file becomes where paths without a device begin; fails when none has it. */
  | { do: "search"; file: Value }
  /** Asks DHCP for an address, by every card. It counts as failed if one card got none. */
  | { do: "bootp" }
  | { do: "sleep"; seconds: number }
  | { do: "echo"; text: Value }
  | { do: "reboot" }
  /** Leaves GRUB: the firmware goes on. */
  | { do: "exit" };

/** Whether a command succeeds, or two values are equal. */
export type Condition = GrubCommand | { equal: readonly [Value, Value] };

export type GrubStatement =
  | GrubCommand
  | { do: "if"; when: Condition; body: GrubScript; otherwise?: GrubScript }
  | { do: "while"; when: Condition; body: GrubScript }
  /** The body as many times. */
  | { do: "repeat"; times: number; body: GrubScript };

export type GrubScript = readonly GrubStatement[];

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** What x86 and ARM64 kernels take as their command line, without the final zero; GRUB hands over no more. */
const MAX_COMMAND_LINE = 2047;

/** The script's text. Throws `Fault` (`Invalid`) that names the statement and the value that GRUB, or the kernel behind it, would read as something else. */
export function grubScript(script: GrubScript): string {
  const own = new Set<string>();
  namesSet(script, own);
  return `${linesOf(script, own).join("\n")}\n`;
}

/** Names that the script itself gives values to; only these, and the loader's own, may be referred to. */
function namesSet(script: GrubScript, into: Set<string>): void {
  for (const statement of script) {
    if (statement.do === "set") into.add(statement.name);
    if ("body" in statement) namesSet(statement.body, into);
    if (statement.do === "if") namesSet(statement.otherwise ?? [], into);
  }
}

function linesOf(script: GrubScript, own: ReadonlySet<string>): string[] {
  if (script.length === 0) return ["true"];
  return script.flatMap((statement) => {
    const block = (body: GrubScript): string[] => linesOf(body, own).map((line) => `  ${line}`);
    switch (statement.do) {
      case "if":
        return [
          `if ${conditionText(statement.when, own)}; then`,
          ...block(statement.body),
          ...(statement.otherwise === undefined ? [] : ["else", ...block(statement.otherwise)]),
          "fi",
        ];
      case "while":
        return [`while ${conditionText(statement.when, own)}; do`, ...block(statement.body), "done"];
      case "repeat": {
        const turns = Array.from({ length: Number(wholeNumber("repeat", statement.times, 1, 100)) }, (_, i) => i + 1);
        return [`for turn in ${turns.join(" ")}; do`, ...block(statement.body), "done"];
      }
      default:
        return [commandText(statement, own)];
    }
  });
}

function conditionText(condition: Condition, own: ReadonlySet<string>): string {
  if ("do" in condition) return commandText(condition, own);
  // With three arguments GRUB looks at the operator first, so that no value can be taken for one.
  const [left, right] = condition.equal;
  return `test ${quoted("test", left, own)} = ${quoted("test", right, own)}`;
}

function commandText(command: GrubCommand, own: ReadonlySet<string>): string {
  const word = (value: Value): string => quoted(command.do, value, own);
  switch (command.do) {
    case "set":
      return `set ${nameOf(command.do, command.name)}=${word(command.value)}`;
    case "linux":
      return linuxText(command.kernel, command.args, own);
    case "initrd":
      return ["initrd", ...command.files.map(word)].join(" ");
    case "chainloader":
    case "source":
    case "configfile":
      return `${command.do} ${first(command.do, command.file, own)}`;
    case "search":
      return `search --no-floppy --set=root --file ${first(command.do, command.file, own)}`;
    case "sleep":
      return `sleep ${wholeNumber(command.do, command.seconds, 0, 86_400)}`;
    case "echo":
      return `echo ${first(command.do, command.text, own)}`;
    case "bootp":
      return "net_bootp";
    case "boot":
    case "reboot":
    case "exit":
      return command.do;
  }
}

/**
 * GRUB joins the arguments to the kernel's command line and puts backslashes before quotes and backslashes, which the kernel leaves
 * where they are; so those, and white space, are refused here although GRUB itself could read them.
 */
function linuxText(kernel: Value, args: readonly Value[], own: ReadonlySet<string>): string {
  let length = 0;
  for (const arg of args) {
    for (const part of typeof arg === "string" || "variable" in arg ? [arg] : arg) {
      if (typeof part !== "string") continue;
      length += part.length;
      if (/[\s"'\\]/.test(part))
        throw refusal(
          "linux",
          part,
          "contains white space, a quote or a backslash, which the kernel would read differently",
        );
    }
    length += 1;
  }
  if (length > MAX_COMMAND_LINE)
    throw refusal(
      "linux",
      `${args.length} arguments`,
      `are more than the ${MAX_COMMAND_LINE} bytes that a kernel takes`,
    );
  return ["linux", first("linux", kernel, own), ...args.map((arg) => quoted("linux", arg, own))].join(" ");
}

/** A word that GRUB would take for an option if it began with a dash. */
function first(where: string, value: Value, own: ReadonlySet<string>): string {
  const text = quoted(where, value, own);
  if (text.startsWith("'-")) throw refusal(where, text, "starts with a dash, which GRUB reads as an option");
  return text;
}

function nameOf(where: string, name: string): string {
  if (!NAME.test(name)) throw refusal(where, name, "is not a name (letters, digits and _, a letter first)");
  return name;
}

function wholeNumber(where: string, value: number, least: number, most: number): string {
  if (!Number.isInteger(value) || value < least || value > most)
    throw refusal(where, String(value), `is not a whole number from ${least} to ${most}`);
  return String(value);
}
