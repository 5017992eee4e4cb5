/** How far a map is: written after every action, so that it goes on where it was, whatever ended it. */
import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { Fault, replacePrivateFile } from "@slipway/base";
import { z } from "zod";
import type { Task } from "./action.ts";

const Checkpoint = z.strictObject({
  /** SHA-256 of what the map is to do. */
  map: z.string(),
  values: z.record(z.string(), z.string()),
  /** By deployment and host: how many of its actions are done. */
  done: z.record(z.string(), z.int().min(0)),
});
export type Checkpoint = z.output<typeof Checkpoint>;

export interface Checkpoints {
  /** Undefined: it was never begun, or has ended. */
  read(): Promise<Checkpoint | undefined>;
  write(checkpoint: Checkpoint): Promise<void>;
  remove(): Promise<void>;
}

/** By which a map is known again. */
export function mapHash(tasks: readonly Task[]): string {
  return createHash("sha256").update(JSON.stringify(tasks)).digest("hex");
}

/** In a file of its owner's alone: values may be secrets. Rejects with a `Fault` (`Invalid`) when it holds something else. */
export function checkpointsIn(file: string): Checkpoints {
  return {
    async read() {
      const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      if (text === undefined) return undefined;
      try {
        return Checkpoint.parse(JSON.parse(text));
      } catch (cause) {
        throw new Fault("Invalid", file, "is no record of how far a map is", {
          remedy: "remove it, and begin anew",
          cause,
        });
      }
    },
    write: (checkpoint) => replacePrivateFile(file, JSON.stringify(checkpoint)),
    remove: () => rm(file, { force: true }),
  };
}
