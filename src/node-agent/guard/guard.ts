import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { type Clock, type Log, replacePrivateFile } from "@slipway/base";
import { z } from "zod";
import type { NodeFound } from "../node/found.ts";
import type { NodeWish } from "../node/wish.ts";
import { type Stop, type StopRecord, verdictOf } from "./stop.ts";

const recordSchema = z.object({
  code: z.string(),
  since: z.number(),
  uuids: z.array(z.string()),
  earlier: z.array(z.string()),
  confirmed: z.boolean(),
});

/**
 * Keeps the agent from removing machines because it was pointed at another cluster, or because the cluster was restored from an older state: there
 * nobody knows the machines, and without this guard they would be removed with their volumes. Each definition bears the VinoNode that it was made by;
 * when that is not there, the agent changes nothing until its user confirms. What it is stopped for is kept in a file, so that a restart does not
 * forget it.
 */
export class Guard {
  readonly #file: string;
  readonly #clock: Pick<Clock, "now">;
  readonly #log: Log;
  #record: StopRecord | undefined;
  /** Code of the stop that was logged. */
  #said: string | undefined;

  /** `file`: of the guard alone. One that can't be read counts as none: the machines are looked at again anyway. */
  constructor({ file, clock, log }: { file: string; clock: Pick<Clock, "now">; log: Log }) {
    this.#file = file;
    this.#clock = clock;
    this.#log = log;
    this.#record = readRecord(file);
  }

  /** Whether the node may be changed as it is wished. Rejects when what is to be kept can't be. */
  async check(found: NodeFound, wish: NodeWish): Promise<Stop | undefined> {
    const { stop, record } = verdictOf({ found, wish }, this.#record, this.#clock.now());
    await this.#keep(record);
    if (stop !== undefined && stop.code !== this.#said)
      this.#log.error({ code: stop.code }, `the node agent changes nothing any more: ${stop.reason}`);
    this.#said = stop?.code;
    return stop;
  }

  async #keep(record: StopRecord | undefined): Promise<void> {
    const before = this.#record;
    if (JSON.stringify(record) === JSON.stringify(before)) return;
    if (record === undefined) await rm(this.#file, { force: true });
    else await replacePrivateFile(this.#file, JSON.stringify(record));
    this.#record = record;
    if (record === undefined) this.#log.info({}, "every virtual machine on the node is accounted for again");
    else if (record.confirmed) this.#log.warn({ code: record.code }, "the removal of unknown machines was confirmed");
  }
}

function readRecord(file: string): StopRecord | undefined {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}
