/** The examples of every help text. */
import { Command } from "commander";
import type { Verb } from "../../../src/cli/verb.ts";
import { VERBS } from "../../../src/cli/verbs.ts";

/** Commands that are for shells alone. */
const HIDDEN: ReadonlySet<string> = new Set(["complete", "complete-for-kubectl"]);

/** Each example by the verb whose help has it, once. */
export async function examples(): Promise<{ verb: string; line: string }[]> {
  const found = new Map<string, string>();
  for (const [name, load] of Object.entries(VERBS)) {
    if (HIDDEN.has(name)) continue;
    const helps = helpsOf((await load()).verb);
    const lines = helps.flatMap(examplesIn);
    if (lines.length === 0) throw new Error(`the help of ${name} has no example`);
    for (const line of lines) if (!found.has(line)) found.set(line, name);
  }
  return [...found].map(([line, verb]) => ({ verb, line }));
}

function helpsOf(verb: Verb): string[] {
  const program = new Command("slipway");
  verb(program);
  return program.commands.flatMap(helpOf);
}

function helpOf(command: Command): string[] {
  let help = "";
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  return [help, ...command.commands.flatMap(helpOf)];
}

/** The lines below `Examples:`, up to the next empty one. */
function examplesIn(help: string): string[] {
  const [, lines = ""] = /^Examples?:\n((?: {2}\S.*(?:\n|$))+)/m.exec(help) ?? [];
  return lines
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
