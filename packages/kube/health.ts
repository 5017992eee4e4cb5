import { isoTime } from "@slipway/base";

/** A kind that a system waits for. */
export interface Waiting {
  /** `instancepools.equinix.harvesterhci.io` */
  kind: string;
  /** Milliseconds since the epoch. */
  since: number;
  /** The API does not serve it. False: it was not listed yet. */
  missing: boolean;
  /** The system works without it. */
  optional: boolean;
}

export interface SystemHealth {
  system: string;
  /** Every kind that it needs is served and listed: it works wherever it leads. */
  ready: boolean;
  leading: boolean;
  /** How many of its shards this process works on. */
  shards: { held: number; of: number };
  waiting: Waiting[];
  /** Reconciles that hang. */
  problems: string[];
}

export interface Health {
  /** False when a restart would help: a reconcile hangs in something that knows no deadline. */
  live: boolean;
  /** Whether the Kubernetes API answered a request of this process, at least once. */
  reached: boolean;
  /** Whether all systems are ready. */
  ready: boolean;
  systems: SystemHealth[];
  /** The same as lines of text: what is waited for and what hangs. Empty: nothing. */
  problems: string[];
}

/** One line on a kind that is waited for. */
export function waitingText({ kind, since, missing, optional }: Waiting): string {
  const why = missing ? "not served by the API" : "not listed yet";
  return `${kind} ${why}, since ${isoTime(since)}${optional ? " (optional)" : ""}`;
}

/** The lines on one system: what it waits for and what hangs. */
export function problemsOf({ system, waiting, problems }: SystemHealth): string[] {
  return [...waiting.map(waitingText), ...problems].map((line) => `${system}: ${line}`);
}
