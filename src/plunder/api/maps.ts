import { createHash } from "node:crypto";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, Fault, isFault, type Log } from "@slipway/base";
import type { ReadDocument } from "../files/document.ts";
import { refuseLocalCommands, tasksOf } from "../parlay/action.ts";
import { checkpointsIn, mapHash } from "../parlay/checkpoint.ts";
import { oneFolder } from "../parlay/here.ts";
import { ParlayLogs } from "../parlay/logs.ts";
import { parlay } from "../parlay/parlay.ts";
import { Values } from "../parlay/values.ts";
import type { OpenShell } from "../ssh/shell.ts";

export interface MapsPorts {
  /** Of its own: `files` for what maps read and write, `maps` for how far they are. */
  folder: string;
  open: OpenShell;
  clock: Clock;
  log: Log;
}

const MOST_AT_ONCE = 16;
const MOST_CLIENTS = 256;
const MOST_RECORDS = 256;

/** Maps that are run for clients, in the background: what is saved is of one client, and each machine is worked on by one map at a time. */
export class Maps {
  readonly logs = new ParlayLogs();
  readonly #ports: MapsPorts;
  readonly #values = new Map<string, Values>();
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(ports: MapsPorts) {
    this.#ports = ports;
  }

  /**
   * Begins a map; resolves once it is begun. Rejects with a `Fault`: `Invalid`, `Forbidden` for what it would do on this machine, `Conflict` while another map
   * works on one of its hosts, `Throttled`.
   */
  async begin(document: ReadDocument, client: string, { resume = false } = {}): Promise<void> {
    const tasks = tasksOf(document, "the map");
    refuseLocalCommands(tasks);
    if (this.#running.size >= MOST_AT_ONCE)
      throw new Fault("Throttled", "parlay", `${MOST_AT_ONCE} maps run at one time, no more`);
    const hosts = [...new Set(tasks.flatMap((task) => task.hosts))];
    const running = new Set(this.logs.running());
    const busy = hosts.find((host) => running.has(host));
    if (busy !== undefined)
      throw new Fault("Conflict", busy, "another map works on it", {
        remedy: "wait until its log is Completed or Failed",
      });
    for (const host of hosts) this.logs.begin(host);
    const run = this.#run(tasks, client, hosts, resume).finally(() => void this.#running.delete(run));
    this.#running.add(run);
  }

  /** Ends every map; how far they are stays. */
  async close(): Promise<void> {
    this.#stopping.abort(new Fault("Refused", "parlay", "netboot ends"));
    await Promise.allSettled(this.#running);
  }

  async #run(
    tasks: ReturnType<typeof tasksOf>,
    client: string,
    hosts: readonly string[],
    resume: boolean,
  ): Promise<void> {
    const { folder, open, clock, log } = this.#ports;
    const { logs } = this;
    const failed = new Set<string>();
    try {
      const [files, maps] = [join(folder, "files"), join(folder, "maps")];
      for (const each of [files, maps]) await mkdir(each, { recursive: true, mode: 0o700 });
      await makeRoom(maps);
      const name = createHash("sha256")
        .update(`${client}\n${mapHash(tasks)}`)
        .digest("hex")
        .slice(0, 32);
      await parlay(
        tasks,
        {
          ...{ open, clock, here: oneFolder(files), checkpoints: checkpointsIn(join(maps, `${name}.json`)) },
          report(report) {
            logs.add(report, clock.now());
            if (report.error !== undefined && !report.isIgnored) failed.add(report.host);
          },
        },
        { signal: this.#stopping.signal, values: this.#valuesOf(client), resume },
      );
      for (const host of hosts) logs.end(host, "Completed");
    } catch (error) {
      // A host on which nothing failed was not reached by all that was to be done.
      if (!isFault(error)) log.error({ code: "Internal" }, "a map has ended by a defect");
      const fault = isFault(error) ? error : new Fault("Internal", "parlay", "internal error");
      for (const host of hosts) {
        if (!failed.has(host))
          logs.add({ host, deployment: "parlay", action: "end", output: "", error: fault }, clock.now());
        logs.end(host, "Failed");
      }
    }
  }

  #valuesOf(client: string): Values {
    const known = this.#values.get(client);
    if (known !== undefined) return known;
    const made = new Values();
    this.#values.set(client, made);
    const [oldest] = this.#values.keys();
    if (this.#values.size > MOST_CLIENTS && oldest !== undefined) this.#values.delete(oldest);
    return made;
  }
}

/** The records that were written longest ago go first. */
async function makeRoom(folder: string): Promise<void> {
  const names = await readdir(folder);
  if (names.length < MOST_RECORDS) return;
  const dated = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })));
  for (const { name } of dated.sort((a, b) => a.at - b.at).slice(0, names.length - MOST_RECORDS + 1))
    await rm(join(folder, name), { force: true });
}
