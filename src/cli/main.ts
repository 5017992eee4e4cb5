/**
 * The `slipway` command: a file per verb, loaded when it is called. A verb reads its options, starts what it needs and ends with an exit
 * code; what goes wrong is told as one line with a remedy.
 */
import { Command, CommanderError } from "commander";
import { Fault } from "../base/fault.ts";
import { VERSION } from "../base/version.ts";

/** A verb adds itself to the program. */
export type Verb = (program: Command) => void;

const VERBS = ["up", "demo", "operator", "sim", "crds", "version", "completion"] as const;

export function buildProgram(verbs: readonly Verb[]): Command {
  const program = new Command("slipway")
    .description("Launches Kubernetes from bare metal: blank machines in, node pools and tenant clusters out.")
    .version(VERSION, "-V, --version")
    .showHelpAfterError("(slipway --help shows what there is)")
    .exitOverride();
  for (const verb of verbs) verb(program);
  return program;
}

/** Loads only the verb that is asked for; help and completion need them all. */
async function verbsFor(argument: string | undefined): Promise<Verb[]> {
  const names = VERBS.filter((name) => name === argument);
  const wanted = names.length === 1 && argument !== "completion" ? names : VERBS;
  return await Promise.all(wanted.map(async (name) => ((await import(`./${name}.ts`)) as { verb: Verb }).verb));
}

async function main(argv: readonly string[]): Promise<number> {
  const program = buildProgram(await verbsFor(argv.find((argument) => !argument.startsWith("-"))));
  try {
    await program.parseAsync(argv, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    if (!(error instanceof Fault)) throw error;
    console.error(`slipway: ${error.advice}`);
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
