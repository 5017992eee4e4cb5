/**
 * A kickstart file as data: commands, the list of packages and scripts, in the order in which Anaconda wants them. pykickstart splits a
 * command's line as a POSIX shell would (`shlex`, comments included), and ends a section at a line that begins with `%end`.
 */
import { Fault } from "@slipway/base";
import { shellWord } from "../installation/shell.ts";

export interface Command {
  command: string;
  /** `--name=value`; true: `--name`; undefined: left out. In the order given. */
  options?: Readonly<Record<string, string | number | true | undefined>>;
  /** What stands behind the options. */
  words?: readonly string[];
}

export interface Section {
  section: "packages" | "post" | "onerror";
  options?: Readonly<Record<string, string | true>>;
  lines: readonly string[];
}

const NAME = /^[a-z][a-z0-9-]*$/;

/** The file's text. Throws `Fault` (`Invalid`) for what pykickstart would read as something else. */
export function kickstartFile(commands: readonly Command[], sections: readonly Section[]): string {
  return `${[...commands.map(commandLine), ...sections.map(sectionText)].join("\n")}\n`;
}

function commandLine({ command, options = {}, words = [] }: Command): string {
  return [nameOf(command), ...optionWords(options), ...words.map(shellWord)].join(" ");
}

function sectionText({ section, options = {}, lines }: Section): string {
  for (const line of lines) {
    if (/[\p{C}\p{Zl}\p{Zp}]/u.test(line)) throw refused(section, "a line has control characters");
    // `%end` ends the section, `%include` puts a file here.
    if (line.trimStart().startsWith("%")) throw refused(section, "a line begins with %, which is Anaconda's");
  }
  return [`\n%${[section, ...optionWords(options)].join(" ")}`, ...lines, "%end"].join("\n");
}

function optionWords(options: Readonly<Record<string, string | number | true | undefined>>): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return value === true ? [`--${nameOf(name)}`] : [`--${nameOf(name)}=${shellWord(String(value))}`];
  });
}

function nameOf(name: string): string {
  if (!NAME.test(name)) throw refused(name, "is not the name of a command or an option");
  return name;
}

function refused(where: string, why: string): Fault {
  return new Fault("Invalid", "kickstart", `${where}: ${why}`);
}
