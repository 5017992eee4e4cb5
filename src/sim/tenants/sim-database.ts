import { type Clock, Fault } from "@slipway/base";
import type { Datastore } from "../../datastores/datastore.ts";
import type { Driver, Place } from "../../datastores/place.ts";

/** What befalls a call on its way; what it throws is the call's answer. */
export type Befall = (call: string) => void;

const QUICK_MS = 5;

/** The server behind a connection: a copy goes from one to another. */
const BEHIND = new WeakMap<Datastore, SimDatabase>();

/** A database server with tenants' places, in memory: it may be away, slow or full, and says what is left in it. */
export class SimDatabase {
  /** By schema: its user, and what a tenant keeps there. */
  readonly places = new Map<string, { user: string; data: Map<string, string> }>();
  readonly users = new Set<string>();
  isUp = true;
  isFull = false;
  /** How long one call takes. */
  callMs = QUICK_MS;
  readonly #clock: Clock;
  readonly #befall: Befall;

  constructor(clock: Clock, befall: Befall = () => {}) {
    this.#clock = clock;
    this.#befall = befall;
  }

  /** Nothing is wrong with it any more. */
  mend(): void {
    Object.assign(this, { isUp: true, isFull: false, callMs: QUICK_MS });
  }

  /** A connection of its administrator. Every call may end half-way: a user without a place, a place without its user. */
  connection(driver: Driver): Datastore {
    const call = async (name: string, signal: AbortSignal): Promise<void> => {
      await this.#clock.sleep(this.callMs, signal);
      if (!this.isUp) throw new Fault("Unavailable", "the database", "connection refused");
      this.#befall(name);
    };
    const opened: Datastore = {
      driver,
      check: (signal) => call("check", signal),
      ensure: async ({ schema, user }, signal) => {
        await call("make user", signal);
        this.#refuseFull();
        this.users.add(user);
        await call("make place", signal);
        this.#refuseFull();
        const held = this.places.get(schema);
        if (held !== undefined && held.user !== user)
          throw new Fault("AlreadyExists", schema, `it is of user ${held.user}`);
        if (held === undefined) this.places.set(schema, { user, data: new Map() });
      },
      remove: async ({ schema, user }, signal) => {
        await call("remove place", signal);
        this.places.delete(schema);
        await call("remove user", signal);
        this.users.delete(user);
        return [];
      },
      places: async (signal) => {
        await call("list places", signal);
        return [...this.places.keys()].sort();
      },
      copy: async ({ schema }: Place, to, progress, signal) => {
        await call("copy", signal);
        const target = BEHIND.get(to);
        const data = this.places.get(schema)?.data;
        const place = target?.places.get(schema);
        if (data === undefined || place === undefined) throw new Fault("NotFound", schema, "there is no such place");
        if (place.data.size > 0) throw new Fault("Conflict", schema, "the target is not empty");
        for (const [key, value] of data) {
          await call("copy a key", signal);
          place.data.set(key, value);
          progress(place.data.size);
        }
      },
      count: async ({ schema }, signal) => {
        await call("count", signal);
        return this.places.get(schema)?.data.size ?? 0;
      },
      close: async () => {},
    };
    BEHIND.set(opened, this);
    return opened;
  }

  #refuseFull(): void {
    if (this.isFull) throw new Fault("Unavailable", "the database", "its disk is full", { remedy: "make room" });
  }
}
