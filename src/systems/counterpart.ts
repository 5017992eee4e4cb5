/** What stands in for a system's surroundings on a laptop, in the demo and in tests. Production never loads one. */
import type { Clock } from "@slipway/base";
import type { Client } from "@slipway/kube";
import type { FirmwareOptions } from "../sim/firmware/firmware.ts";

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
