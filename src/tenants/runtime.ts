import type { Cache, Client, Transport } from "@slipway/kube";
import type { CompleteSpec } from "../kinds/kamaji/defaults.ts";
import type { TenantControlPlane } from "../kinds/kamaji/tenant-control-plane.ts";
import type { Observed, Plane } from "./plane.ts";

export const RUNTIMES = ["deployment", "process", "embedded"] as const;
export type RuntimeName = (typeof RUNTIMES)[number];

/** The management cluster as one reconcile of a tenant sees it, for runtimes whose planes are objects there. */
export interface Home {
  tenant: TenantControlPlane;
  client: Client;
  cache: Cache;
}

/** Where a plane listens. */
export interface Place {
  host: string;
  port: number;
  /** Where its own components reach its API server. Default: `host`. */
  local?: string;
  /** Where konnectivity's agents reach their server. Default: the port that is specified. */
  tunnelPort?: number;
}

/** It has no place yet. */
export interface Placeless {
  /** In words that a status shows. */
  waitsFor: string;
}

/** What one program of a plane has cost so far. */
export interface ProgramUsage {
  /** Namespace and name of the tenant. */
  tenant: string;
  component: string;
  residentBytes: number;
  cpuSeconds: number;
}

/** Where tenants' control planes run. What it does for one plane never waits for another. */
export interface Runtime {
  readonly name: RuntimeName;
  /** It runs konnectivity-server beside the API servers of planes that have it. Unset: it does not. */
  readonly hasKonnectivity?: boolean;
  /**
   * An address and port of this runtime for a plane, the same one at each call. `wanted` is taken where it is free; `exact`: it alone,
   * else a `Fault` (`Refused`) says who has it.
   */
  place(
    id: string,
    wanted: { host?: string; port: number; exact: boolean },
    home: Home & { spec: CompleteSpec },
  ): Promise<Place | Placeless>;
  /** A release of a minor (`v1.35`) that can be run here, on the way to a later one; undefined: there is none. */
  releaseOf(minor: string): Promise<string | undefined>;
  /** Brings a plane to what is wanted, and says how it is now; may be called at any time. Whether it became ready is reported by `onChange`, or is an event of an object that the controller watches. */
  ensure(plane: Plane, signal: AbortSignal, home: Home & { spec: CompleteSpec }): Promise<Observed>;
  /** A way into the tenant's API as its administrator, past the network; undefined: by its address only. */
  transport?(id: string): Transport | undefined;
  /** What the programs cost that it runs by itself. Unset: it runs none. */
  usage?(): Promise<readonly ProgramUsage[]>;
  /** Ends a plane. Resolves also where there is none. Rejects with `Unavailable` while something of it still runs. */
  remove(id: string, home: Home): Promise<void>;
  /** Calls back with the id of a plane whose state may have changed. Returns what ends that. */
  onChange(listener: (id: string) => void): () => void;
  /** Ends what runs here of all planes; their data stays. */
  close(): Promise<void>;
}
