/**
 * An iPXE interpreter, good enough for the scripts that boot real machines: it runs a script over an `Http` port and a
 * `Clock` and returns how the boot ended. Commands succeed and fail as iPXE's do (ipxe.org/cmd); a failed command ends
 * its script unless `||` follows. SIMULATION: nothing is loaded into memory.
 */
import { COMMANDS, type CommandResult, FAILED, type Image, type ScriptRun } from "./ipxe-commands.ts";
import { download, shownUrl } from "./ipxe-download.ts";
import { expandTokens, lineParts, runsNext } from "./ipxe-line.ts";
import type { IpxeEnd, IpxeMachine } from "./ipxe-machine.ts";

/** A script that runs this many commands without a pause is taken for one that never ends. */
const MAX_COMMANDS_WITHOUT_PAUSE = 5_000;
const MAX_CHAIN_DEPTH = 32;

/** Chains to `url` as a provisioning network does. Rejects only with the signal's reason. */
export async function bootFrom(url: string, machine: IpxeMachine): Promise<IpxeEnd> {
  const run: ScriptRun = { machine, images: new Map(), selected: undefined, base: url, budget: { left: 0 }, depth: 0 };
  refill(run);
  const got = await download(url, machine);
  if (got.is === "error") return { is: "failed", message: got.message };
  const image: Image =
    got.is === "script" ? { name: "script", url, args: "", script: got.text } : { name: "image", url, args: "" };
  return endOf(await execute(image, run));
}

/** Runs a script's text as if it came from `url`. */
export async function runScript(text: string, machine: IpxeMachine, url = "http://boot.invalid/"): Promise<IpxeEnd> {
  const run: ScriptRun = { machine, images: new Map(), selected: undefined, base: url, budget: { left: 0 }, depth: 0 };
  refill(run);
  if (!/^#![ig]pxe\b/.test(text))
    return { is: "failed", message: "Exec format error: the script must begin with #!ipxe" };
  return endOf(await execute({ name: "script", url, args: "", script: text }, run));
}

function endOf(result: CommandResult): IpxeEnd {
  if (result.is === "end") return result.end;
  // A script that runs out of commands gives control back to the firmware.
  return result.is === "failed" ? { is: "failed", message: result.message } : { is: "exit" };
}

function refill(run: ScriptRun): void {
  run.budget.left = MAX_COMMANDS_WITHOUT_PAUSE;
}

/** Executes an image: a script command by command, anything else by booting it. */
async function execute(first: Image, parent: ScriptRun): Promise<CommandResult> {
  let image = first;
  for (;;) {
    if (image.script === undefined) return { is: "end", end: bootEnd(image, parent) };
    if (parent.depth >= MAX_CHAIN_DEPTH) return FAILED("Error: too many scripts within scripts");
    const run: ScriptRun = { ...parent, base: image.url, depth: parent.depth + 1 };
    const result = await lines(image.script, run);
    parent.selected = run.selected;
    if (result.is !== "replace") return result;
    image = result.image;
  }
}

function bootEnd(kernel: Image, run: ScriptRun): IpxeEnd {
  const initrds = [...run.images.values()].filter(
    (i) => i !== kernel && i.script === undefined && i.url !== kernel.url,
  );
  return {
    is: "boots",
    kernel: kernel.url,
    args: kernel.args,
    initrds: initrds.map(({ name, url }) => ({ name, url })),
  };
}

async function lines(script: string, run: ScriptRun): Promise<CommandResult> {
  const all = script.replaceAll(/\\\r?\n/g, "").split(/\r?\n/);
  for (let at = 0; at < all.length; ) {
    const line = all[at]!.trim();
    at++;
    if (line === "" || line.startsWith("#") || line.startsWith(":")) continue;
    const result = await oneLine(line, run);
    switch (result.is) {
      case "ok":
        break;
      case "goto": {
        const label = all.findIndex((l) => l.trim() === `:${result.label}`);
        if (label < 0) return FAILED(`goto ${result.label}: No such file or directory: the script has no such label`);
        at = label + 1;
        break;
      }
      case "exit":
        return result.succeeded ? { is: "ok" } : FAILED("the script ended with exit 1");
      default:
        return result;
    }
  }
  return { is: "ok" };
}

async function oneLine(line: string, run: ScriptRun): Promise<CommandResult> {
  let result: CommandResult = { is: "ok" };
  let process = true;
  for (const part of lineParts(line)) {
    if (process) {
      if (run.budget.left-- <= 0) {
        return { is: "end", end: { is: "failed", message: `the script never pauses and never ends: ${line}` } };
      }
      result = await command(expandTokens(part.tokens, run.machine.settings), run);
      if (result.is === "failed") run.machine.say?.(result.message);
      else if (result.is !== "ok") return result;
    }
    if (part.joint === "end") break;
    process = runsNext(part.joint, result.is === "ok");
  }
  return result;
}

async function command(tokens: readonly string[], run: ScriptRun): Promise<CommandResult> {
  const [name, ...args] = tokens;
  if (name === undefined) return { is: "ok" };
  const known = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (known === undefined) return FAILED(`${name}: command not found`);
  const result = await known(args, run);
  if (result.is === "paused") {
    refill(run);
    return { is: "ok" };
  }
  if (result.is !== "execute") return result;
  const ended = await execute(result.image, run);
  if (result.autofree) run.images.delete(result.image.name);
  if (ended.is === "failed") return FAILED(`Could not boot ${shownUrl(result.image.url)}: ${ended.message}`);
  return ended;
}
