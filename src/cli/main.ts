/**
 * The `slipway` command: a file per verb, loaded when it is called. A verb reads its options, starts what it needs and ends with an exit
 * code; an error is printed as one line with a remedy.
 */

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

/** Exit codes: 0 done, 1 what was asked for did not come about, 2 it can't be asked for like this. A verb sets 1 by itself. */
async function main(argv: readonly string[]): Promise<number> {
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

/** As other commands end when what they are piped into has seen enough (`| head`): a signal would have ended them. */
const SIGPIPE_EXIT = 141;

/** What runs until it is stopped is stopped; any other verb ends here. */
function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", ({ code }: NodeJS.ErrnoException) => {
      if (code !== "EPIPE" || process.listenerCount("SIGTERM") === 0) process.exit(code === "EPIPE" ? SIGPIPE_EXIT : 1);
      process.kill(process.pid, "SIGTERM");
    });
}

endWithReader();
process.exitCode = await main(process.argv.slice(2));
