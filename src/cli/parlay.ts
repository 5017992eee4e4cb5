import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { systemClock as clock, Fault, privateFolder } from "@slipway/base";
import { readDocument } from "../plunder/files/document.ts";
import { type Task, tasksOf } from "../plunder/parlay/action.ts";
import { checkpointsIn } from "../plunder/parlay/checkpoint.ts";
import { wholeMachine } from "../plunder/parlay/here.ts";
import { parlay, type Report } from "../plunder/parlay/parlay.ts";
import { forgetHost } from "../plunder/ssh/known-hosts.ts";
import { openSsh } from "../plunder/ssh/open-ssh.ts";
import { portNumber } from "./option-values.ts";
import { say } from "./outgoing.ts";
import { SIGNAL_EXIT, type Signal, untilStopped } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

interface Options {
  user: string;
  identity?: string;
  port: number;
  knownHosts?: string;
  acceptNew: boolean;
  forget?: string[];
  resume: boolean;
  check: boolean;
  dir: string;
}

/** `slipway parlay`: runs a map over SSH. */
export const verb: Verb = (program) => {
  program
    .command("parlay")
    .description("Run plunder's parlay map on machines, over SSH.")
    .argument("<map>", "YAML or JSON file with the key deployments")
    .option("--user <name>", "who logs in; unset: your user's name", userInfo().username)
    .option("--identity <file>", "private key; unset: your usual keys and your agent")
    .option("--port <number>", "of the machines' SSH servers", portNumber, 22)
    .option("--known-hosts <file>", "recorded host keys; unset: known_hosts in the folder of --dir")
    .option("--accept-new", "record the host key of a machine that has none recorded", false)
    .option("--forget <host...>", "forget the recorded keys of these first, as after an installation")
    .option("--resume", "go on with a map that was begun and has not ended", false)
    .option("--check", "say what would be done, and do nothing", false)
    .option("--dir <folder>", "where it is kept how far each map is", ".slipway/parlay")
    .addHelpText(
      "after",
      `
Every action ends at its timeout, in seconds; where it names none, after 30 minutes.
Exit codes: 0 all is done, 1 something failed.

Examples:
  slipway parlay examples/parlay/cluster.yaml --check
  slipway parlay cluster.yaml --user ubuntu --identity ~/.ssh/id_ed25519 --accept-new
  slipway parlay cluster.yaml --user ubuntu --resume`,
    )
    .action(run);
};

async function run(map: string, options: Options): Promise<void> {
  const text = await readFile(map, "utf8").catch((cause: unknown) => {
    throw new Fault("MissingInput", map, "can't be read", { cause });
  });
  const tasks = tasksOf(readDocument(text, map), map);
  if (options.check) {
    for (const task of tasks) describe(task);
    return;
  }
  const dir = resolve(options.dir);
  privateFolder(dir);
  const { user, port, identity, acceptNew, resume } = options;
  const knownHosts = resolve(options.knownHosts ?? join(dir, "known_hosts"));
  for (const host of options.forget ?? [])
    say(
      `${host}: ${(await forgetHost(knownHosts, host, port)) ? "its recorded keys are forgotten" : "no key is recorded"}`,
    );
  const name = createHash("sha256").update(resolve(map)).digest("hex").slice(0, 16);
  const stopping = new AbortController();
  let stopped: Signal | undefined;
  void untilStopped().then((signal) => {
    stopped = signal;
    stopping.abort(new Fault("Refused", map, "stopped", { remedy: "go on with it by --resume" }));
  });
  const ports = {
    open: openSsh({
      clock,
      user,
      port,
      knownHosts,
      recordsNew: acceptNew,
      ...(identity !== undefined && { identity: resolve(identity) }),
    }),
    here: wholeMachine(clock),
    ...{ clock, report, checkpoints: checkpointsIn(join(dir, `${name}.json`)) },
  };
  try {
    await parlay(tasks, ports, { signal: stopping.signal, resume });
    say("done");
  } catch (error) {
    if (stopped === undefined) throw error;
    say("stopped; --resume goes on with it");
    process.exitCode = SIGNAL_EXIT[stopped];
  }
}

function describe({ name, hosts, sessions, actions }: Task): void {
  say(`${name}: on ${hosts.join(", ")}, ${sessions === 1 ? "one after the other" : `${sessions} at one time`}`);
  for (const action of actions) {
    const where = action.do === "command" && action.isLocal ? " on this machine" : "";
    say(
      `  ${action.name}: ${action.do}${where}, ends after ${action.timeoutMs / 1000} s${action.ignoreFail ? ", may fail" : ""}`,
    );
  }
}

function report({ host, deployment, action, output, error, isIgnored }: Report): void {
  const begin = `${host}  ${deployment}: ${action}`;
  if (error !== undefined) {
    say(`${begin}: ${isIgnored ? "failed, which the map ignores" : "failed"}: ${error.advice}`);
    return;
  }
  const [first = "done", ...more] = output
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "");
  if (more.length === 0) {
    say(`${begin}: ${first}`);
    return;
  }
  say(`${begin}:`);
  for (const line of [first, ...more]) say(`  ${line}`);
}
