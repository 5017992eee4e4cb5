/**
 * Tenants' places in real databases, behind one port: etcd, PostgreSQL, MySQL or MariaDB, and NATS.
 *
 * A place is a database, key prefix or bucket and the one user who may use it. A driver looks before it acts, marks what it makes, and
 * touches nothing that has no mark: a tenant that names a foreign database gets a fault, not the database. Drivers are loaded when
 * one is opened (`open.ts`). Clock and log are arguments. Knows nothing of Kubernetes' objects; `kine.ts` writes what kine is started with.
 */
import type { Clock, Log } from "@slipway/base";
import type { Driver, Place } from "./place.ts";

export interface TlsFiles {
  /** PEM texts: whom the server is to be signed by, and who we are. */
  ca?: string;
  cert?: string;
  key?: string;
}

export interface DatastoreOptions {
  driver: Driver;
  /** `host:port`, tried in turn. For etcd also `http://…` and `https://…`; a bare one is https where `tls` is given. */
  endpoints: readonly string[];
  /** Unset: without TLS. */
  tls?: TlsFiles;
  /** The administrator: who may make users and databases. */
  basicAuth?: { username: string; password: string };
  clock: Clock;
  log: Log;
  /** How long one answer may take, in milliseconds. 20 s unless said; statements that may move data get three times that. */
  patienceMs?: number;
}

export interface Datastore {
  readonly driver: Driver;
  /**
   * Reaches it and checks the credentials. Rejects with a `Fault` that says what to do: `Unavailable`, `UntrustedCertificate`,
   * `BadCredentials`, `Unsupported` or `Invalid`.
   */
  check(signal: AbortSignal): Promise<void>;
  /** Makes what is missing of the place, with the least rights; repeatable. `AlreadyExists`: a name is taken by what is no tenant's. */
  ensure(place: Place, signal: AbortSignal): Promise<void>;
  /**
   * Removes data, grants, role and user; repeatable, and ends also where half is gone. Resolves with what could not be removed, a
   * sentence each.
   */
  remove(place: Place, signal: AbortSignal): Promise<string[]>;
  /** Schemas of all places that were made by us, sorted. Those that no tenant knows are leftovers. */
  places(signal: AbortSignal): Promise<string[]>;
  /**
   * Copies all of the place's data into the same place of another datastore of the same driver, where it is ensured and empty (else
   * `Conflict`). The source must not be written meanwhile. `progress` gets how many keys, rows or messages are there. A copy that was
   * interrupted is begun anew after `to.remove` and `to.ensure`.
   *
   * Kubernetes' resource versions are kept by kine's drivers; etcd counts its own, so clients that watch list again.
   */
  copy(place: Place, to: Datastore, progress: (done: number) => void, signal: AbortSignal): Promise<void>;
  /** How many keys, rows or messages the place holds, without keys of etcd that end by themselves: a copy has as many. Nothing is made. */
  count(place: Place, signal: AbortSignal): Promise<number>;
  /** Ends its connections; it can't be used afterwards. */
  close(): Promise<void>;
}
