import type { Clock, Log, Random } from "@slipway/base";
import type { LeaseCopy } from "../dhcp/leases/mirror.ts";
import type { NetbootSettings } from "../settings.ts";
import type { InheritedSockets } from "../sockets/inherited.ts";
import type { OpenMoreApi } from "./more-api.ts";

/** In its folder: where it listens for the command. */
export const SOCKET = "netboot.sock";

/** What netboot is to be, and where it keeps what it knows. */
export interface NetbootPlace {
  settings: NetbootSettings;
  /** What machines boot (`agent/assets-folder.ts`). */
  assets: string;
  /** For leases, hosts and keys; of its owner alone. */
  dir: string;
  /** Path of the socket on which the command asks; unset: none. */
  socket?: string;
  inherited?: InheritedSockets;
  /** A cluster says what it knows of the machines; none is trusted before. Unset: there is none. */
  hasCluster?: boolean;
  /** Where replicas that take turns find each other's leases; unset: only in `dir`. */
  leases?: LeaseCopy;
  /** What is served over TLS beside the command's API, where the settings name a port for it. */
  moreApi?: OpenMoreApi;
}

export interface NetbootPorts {
  clock: Clock;
  random: Random;
  log: Log;
}
