/** What the shared promises need of a kind of server. */
import type { TestContext } from "node:test";
import { quietLog, systemClock } from "@slipway/base";
import type { Datastore, DatastoreOptions } from "../../../src/datastores/datastore.ts";
import { openDatastore } from "../../../src/datastores/open.ts";
import type { Driver, Place } from "../../../src/datastores/place.ts";

export interface Server {
  port: number;
  /** As its administrator. */
  options: Omit<DatastoreOptions, "clock" | "log">;
  /** Every user, database, key and bucket there is, for a comparison of before and after. */
  contents(): Promise<string[]>;
  stop(): Promise<void>;
}

export interface Tenant {
  write(key: string, value: string): Promise<void>;
  read(): Promise<string[]>;
  /** What it must not do, given another tenant's place: each rejects. */
  attempts(other: Place): Record<string, () => Promise<unknown>>;
  close(): Promise<void>;
}

export interface Stage {
  driver: Driver;
  start(t: TestContext): Promise<Server>;
  /** A connection with the place's own credentials; undefined: the driver knows none. */
  tenant?(t: TestContext, server: Server, place: Place): Promise<Tenant>;
  /** Credentials that are refused. */
  wrong(server: Server): Promise<Partial<DatastoreOptions>>;
  /** Each takes one part of a place away, as a death in the middle of a removal or an administrator would. */
  halves: Record<string, (server: Server, place: Place) => Promise<void>>;
}

export function place(name: string): Place {
  return { schema: name, user: name, password: `it's "${name}" @:/\\?&#%` };
}

export async function opened(t: TestContext, server: Server, more: Partial<DatastoreOptions> = {}): Promise<Datastore> {
  const datastore = await openDatastore({ ...server.options, clock: systemClock, log: quietLog, ...more });
  t.after(() => datastore.close());
  return datastore;
}

/** For calls that are not to be given up. */
export const PATIENT = new AbortController().signal;
