import type { Clock, Log, Random } from "@slipway/base";
import type { Client, KubeObject, Transport } from "@slipway/kube";
import type { MachineRow } from "./pool/rows.ts";

/** What every course of the lab needs. `Reached` names its steps, `View` is what it sees at each look. */
export interface LabCoursePorts<Reached extends string, View> {
  client: Client;
  /** Of the same API. */
  transport: Transport;
  /** Applies objects of any kinds. */
  apply: (to: { client: Client; transport: Transport }, objects: readonly KubeObject[]) => Promise<unknown>;
  clock: Clock;
  random: Random;
  log: Log;
  /** Ends it: it rejects then. */
  signal: AbortSignal;
  /** A line about what was reached. */
  tell: (line: string) => void;
  /** The machines, at every look. */
  show?: (rows: readonly MachineRow[]) => void;
  /** What else is to hold there; the course waits for it. */
  reached?: (step: Reached, view: View) => Promise<void>;
  /** How long each step may take. */
  patienceMs?: number;
  /** Between looks. */
  lookMs?: number;
}
