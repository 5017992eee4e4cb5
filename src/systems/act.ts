/** What a system shows in the demo that applied examples can't: objects that change and go while others are there. */
import type { Clock } from "@slipway/base";
import type { Client, KubeObject } from "@slipway/kube";

export interface ActPorts {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
  /** Reports the step that begins. */
  tell(step: string): void;
  /** Objects of the YAML files below a folder such as `examples/plunder`. `isWanted`: by a file's path in it. */
  manifests(folder: string, isWanted: (file: string) => boolean): Promise<KubeObject[]>;
}

export interface ActResult {
  heads: readonly string[];
  rows: readonly (readonly string[])[];
}

/** Played by the demo beside the examples, on the hardware that stands in for a user's own. */
export interface Act {
  readonly title: string;
  /** Ends when all that it made is gone again. Resolves with a table of what was seen; rejects when `signal` aborts. */
  play(ports: ActPorts): Promise<ActResult>;
}
