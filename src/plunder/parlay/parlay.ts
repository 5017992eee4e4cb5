/**
 * Runs a map: its deployments one after the other, each on its hosts, as many at one time as it says. A host whose action fails does nothing more of
 * that deployment; the others go on, and the next deployment begins only when all of them are through. What is done is never done again by a map that
 * goes on; the action that was under way when it ended is. Knows SSH and files by ports alone.
 */
import { asFault, type Clock, Fault } from "@slipway/base";
import type { OpenShell, Shell } from "../ssh/shell.ts";
import type { Action, Task } from "./action.ts";
import { carryOut } from "./carry-out.ts";
import { type Checkpoint, type Checkpoints, mapHash } from "./checkpoint.ts";
import type { Here } from "./here.ts";
import { Values } from "./values.ts";

/** What became of one action on one host. */
export interface Report {
  host: string;
  /** The deployment's name. */
  deployment: string;
  action: string;
  /** What it printed; in words what it did. */
  output: string;
  /** Why it failed. */
  error?: Fault;
  /** It failed, and the map says that this does not matter. */
  isIgnored?: boolean;
}

export interface ParlayPorts {
  open: OpenShell;
  here: Here;
  clock: Clock;
  report(report: Report): void;
  checkpoints: Checkpoints;
}

export interface ParlayOptions {
  signal: AbortSignal;
  /** Goes on where the same map was; else it begins anew. */
  resume?: boolean;
  /** Values that are there before. */
  values?: Values;
}

/**
 * Resolves when all is done. Rejects with a `Fault` (`Refused`) that names the hosts that failed: the record of how far it is stays; with the
 * signal's reason; with a `Fault` (`NotFound`, `Conflict`) when it is to go on and was not begun, or is another map.
 */
export async function parlay(tasks: readonly Task[], ports: ParlayPorts, options: ParlayOptions): Promise<Values> {
  const map = mapHash(tasks);
  const before = options.resume ? await begun(ports.checkpoints, map) : undefined;
  const values = options.values ?? new Values();
  for (const [name, value] of Object.entries(before?.values ?? {})) values.set(name, value);
  const course = new Course(ports, {
    map,
    values,
    done: new Map(Object.entries(before?.done ?? {})),
    signal: options.signal,
  });
  await course.keep();
  for (const [at, task] of tasks.entries()) await course.perform(task, at);
  await ports.checkpoints.remove();
  return values;
}

async function begun(checkpoints: Checkpoints, map: string): Promise<Checkpoint> {
  const found = await checkpoints.read();
  if (found === undefined)
    throw new Fault("NotFound", "parlay", "no such map was begun and has not ended", {
      remedy: "run it without resuming",
    });
  if (found.map === map) return found;
  throw new Fault("Conflict", "parlay", "the map was changed since it was begun", {
    remedy: "run it from the beginning",
  });
}

interface CourseState {
  map: string;
  values: Values;
  done: Map<string, number>;
  signal: AbortSignal;
}

class Course {
  readonly #ports: ParlayPorts;
  readonly #state: CourseState;
  #kept: Promise<void> = Promise.resolve();

  constructor(ports: ParlayPorts, state: CourseState) {
    this.#ports = ports;
    this.#state = state;
  }

  /** One write after the other: the last is the newest. */
  keep(): Promise<void> {
    const { map, values, done } = this.#state;
    this.#kept = this.#kept.then(() =>
      this.#ports.checkpoints.write({ map, values: values.all(), done: Object.fromEntries(done) }),
    );
    return this.#kept;
  }

  /** Rejects with a `Fault` that names the hosts that failed. */
  async perform(task: Task, at: number): Promise<void> {
    const waiting = [...task.hosts];
    const failed: string[] = [];
    const session = async (): Promise<void> => {
      for (let host = waiting.shift(); host !== undefined; host = waiting.shift()) {
        const isDone = await this.#onHost(task, at, host);
        if (isDone) continue;
        failed.push(host);
        // One after the other, what follows may need what has failed.
        if (task.sessions === 1) return;
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: Math.min(task.sessions, waiting.length) }, session));
    for (const each of ended) if (each.status === "rejected") throw each.reason;
    if (failed.length === 0) return;
    const names = failed.slice(0, 8).join(", ") + (failed.length > 8 ? ` and ${failed.length - 8} more` : "");
    throw new Fault("Refused", task.name, `it failed on ${names}`, { remedy: "correct what failed, and resume it" });
  }

  /** False: it failed, which was reported. */
  async #onHost(task: Task, at: number, host: string): Promise<boolean> {
    const { done, signal } = this.#state;
    const place = `${at}/${host}`;
    const first = done.get(place) ?? 0;
    if (first >= task.actions.length) return true;
    let shell: Shell | undefined;
    try {
      for (let index = first; index < task.actions.length; index++) {
        const action = task.actions[index]!;
        signal.throwIfAborted();
        if (needsShell(action)) shell ??= await this.#connect(task, action, host);
        if (shell === undefined && needsShell(action)) return false;
        if (!(await this.#do(task, action, { host, shell: shell ?? NO_SHELL }))) return false;
        done.set(place, index + 1);
        await this.keep();
      }
      return true;
    } finally {
      await shell?.close();
    }
  }

  async #connect(task: Task, action: Action, host: string): Promise<Shell | undefined> {
    const { signal } = this.#state;
    try {
      return await this.#ports.open(host, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#ports.report({ host, deployment: task.name, action: action.name, output: "", error: asFault(error, host) });
      return undefined;
    }
  }

  async #do(task: Task, action: Action, { host, shell }: { host: string; shell: Shell }): Promise<boolean> {
    const { values, signal } = this.#state;
    const about = { host, deployment: task.name, action: action.name };
    try {
      const output = await carryOut(action, { host, shell, here: this.#ports.here, values, signal });
      this.#ports.report({ ...about, output });
      return true;
    } catch (error) {
      signal.throwIfAborted();
      // What broke the connection leaves nothing to go on with.
      const fault = asFault(error, host);
      const isIgnored = action.ignoreFail && fault.code !== "LostAnswer";
      this.#ports.report({ ...about, output: "", error: fault, ...(isIgnored && { isIgnored }) });
      return isIgnored;
    }
  }
}

function needsShell(action: Action): boolean {
  return action.do === "upload" || action.do === "download" || (action.do === "command" && !action.isLocal);
}

const NO_SHELL: Shell = {
  async run() {
    throw new Fault("Bug", "parlay", "an action of this machine asked for another");
  },
  close: async () => {},
};
