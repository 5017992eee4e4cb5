/** What stands in for a system's surroundings on a laptop, in the demo and in tests. Production never loads one. */
import type { Clock, Log, Random } from "@slipway/base";
import type { Client } from "@slipway/kube";
import type { FirmwareOptions } from "../sim/firmware/firmware.ts";
import type { Firmware } from "../sim/hardware.ts";

/** Where machines of the simulated providers join. */
export type JoinedCluster = NonNullable<FirmwareOptions["site"]>;

export interface CounterpartPorts {
  /** Of the API that the cluster shows itself in. */
  client: Client;
  clock: Clock;
  /** What a joining machine must know. */
  joinToken: string;
  /** The address that machines join at. */
  vip: string;
}

export interface Counterpart {
  /** What a person calls it. */
  readonly title: string;
  /** Seeds what is there before any machine, and begins its life. */
  start(ports: CounterpartPorts): Promise<JoinedCluster & { close(): void }>;
  /** The commands that remove what it has left in a cluster; none where there is nothing. */
  leftOvers(client: Client): Promise<string[]>;
}

export interface HardwarePorts {
  /** Of the API that machines on its Nodes belong to. */
  client: Client;
  clock: Clock;
  random: Random;
  log: Log;
  /** Runs what boot scripts start. */
  firmware: Firmware;
  /** How many times faster than real metal. */
  speed: number;
}

/** Machines of a user's own, as a system finds them. */
export interface OwnHardware {
  /** What the system is set to, so that it serves them. */
  settings: object;
  /** Switches them on: once the system serves. */
  begin(): void;
  close(): Promise<void>;
}

/** Makes what stands in for machines of a user's own; nothing is switched on yet. */
export type StandInHardware = (ports: HardwarePorts) => Promise<OwnHardware>;
