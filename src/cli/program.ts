/** The command line as a function: the verb that is asked for, and its exit code. */

import { saveMemoryAtRest, systemClock, VERSION } from "@slipway/base";
import { Command, CommanderError } from "commander";
import { asCalled, secrets } from "./outgoing.ts";
import { trouble } from "./trouble.ts";
import type { Verb } from "./verb.ts";
import { VERBS } from "./verbs.ts";

/** What shows what all of them take. */
const NEED_ALL: ReadonlySet<string> = new Set(["completion", "complete-for-kubectl"]);

function buildProgram(verbs: readonly Verb[]): Command {
  const program = new Command("slipway")
    .description("Launches Kubernetes from bare metal: blank machines in, node pools and tenant clusters out.")
    .version(VERSION, "-V, --version")
    .configureOutput({
      writeOut: (text) => process.stdout.write(asCalled(text)),
      outputError: (text, write) =>
        write(asCalled(`slipway: ${text.trim().replace(/^error: /, "")}; see slipway --help\n`)),
    })
    .addHelpText(
      "after",
      `
Examples:
  slipway demo            # all examples on simulated metal, about a minute
  slipway up              # a Kubernetes API to kubectl apply to, until Ctrl-C
  slipway status          # what there is, what waits, what failed
  slipway operator --help # more of a verb: here of the operator on your cluster

Exit codes: 0 done, 1 what was asked for did not come about, 2 it can't be asked for like this, 130 and 143 stopped by a signal.`,
    )
    .exitOverride();
  for (const verb of verbs) verb(program);
  return program;
}

/** Loads only the verb that is asked for; help and completion need them all. */
async function verbsFor(argument: string | undefined): Promise<Verb[]> {
  if (argument === "-V" || argument === "--version") return [];
  const all = Object.keys(VERBS);
  const wanted = all.filter((name) => name === argument && !NEED_ALL.has(name));
  return await Promise.all((wanted.length === 1 ? wanted : all).map(async (name) => (await VERBS[name]!()).verb));
}

/**
 * Runs the command with these arguments. Exit codes: 0 done, 1 what was asked for did not come about, 2 it can't be asked for like this. A verb sets 1
 * by itself.
 */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const program = buildProgram(await verbsFor(argv[0]));
  const saver = saveMemoryAtRest(systemClock);
  try {
    await program.parseAsync(argv.map(asKubectl), { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { line, exitCode } = trouble(error, secrets);
    console.error(asCalled(`slipway: ${line}`));
    return exitCode;
  } finally {
    saver.close();
  }
}

/** kubectl's users write `-o=json`. */
function asKubectl(argument: string): string {
  return argument.startsWith("-o=") ? `-o${argument.slice(3)}` : argument;
}
