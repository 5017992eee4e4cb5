/**
 * SIMULATION of BMCs: Slipway's own Redfish service over simulated machines, in any clock's time, with what real BMCs do wrong by name.
 * Several machines stand behind one BMC where several are given.
 */
import type { Clock, HttpAnswer, HttpHandler, HttpRequest, Random } from "@slipway/base";
import type { Account } from "../../bmc-service/accounts.ts";
import { redfishService } from "../../bmc-service/service.ts";
import { DEVICE_LIES } from "./device-lies.ts";
import type { Lie, LieWorld } from "./lie.ts";
import { SERVICE_LIES } from "./service-lies.ts";
import type { SimMachine } from "./sim-machine.ts";

export const LIES: Readonly<Record<LieName, Lie>> = { ...SERVICE_LIES, ...DEVICE_LIES };
export type LieName = keyof typeof SERVICE_LIES | keyof typeof DEVICE_LIES;

export interface SimBmcOptions {
  clock: Clock;
  random: Random;
  machines: readonly SimMachine[];
  credentials: { username: string; password: string };
  mostSessions?: number;
}

export interface SimBmc {
  handle: HttpHandler;
  /** What it does wrong from now on, in the order of the names. */
  lie(...names: readonly LieName[]): void;
  /** Accepts only these from now on, and ends the sessions of others. */
  rotate(credentials: { username: string; password: string }): void;
  /** Sessions that are open. */
  sessions(): number;
  /** Requests so far, as `GET /redfish/v1/`. */
  readonly requests: readonly string[];
  /** Requests that were under way at one time, at most. */
  readonly mostAtOnce: number;
}

/** A BMC that answers as the true service does until it is given something to do wrong. It has one account, an administrator's. */
export function createSimBmc({ clock, random, machines, credentials, mostSessions }: SimBmcOptions): SimBmc {
  let accounts: Account[] = [{ ...credentials, role: "Administrator" }];
  const service = redfishService({
    machines: () => machines,
    accounts: () => accounts,
    clock,
    random,
    uuid: "5e1f0000-0000-4000-8000-000000000001",
    plainHttp: true,
    ...(mostSessions !== undefined && { mostSessions }),
  });
  let lies: readonly Lie[] = [];
  const requests: string[] = [];
  const memory = new Map<string, unknown>();
  const load = { now: 0, most: 0 };

  const through = (from: number, world: LieWorld): HttpHandler => {
    const lie = lies[from];
    return lie === undefined ? service.handle : (request) => lie(request, through(from + 1, world), world);
  };
  const handle = async (request: HttpRequest & { remote: string }): Promise<HttpAnswer> => {
    requests.push(`${request.method} ${new URL(request.url).pathname}`);
    load.most = Math.max(load.most, ++load.now);
    try {
      const endSessions = (): void => service.sessions.clear();
      return await through(0, { clock, random, endSessions, count: requests.length, memory })(request);
    } finally {
      load.now--;
    }
  };
  return {
    handle,
    requests,
    lie: (...names) => {
      lies = names.map((name) => LIES[name]);
    },
    rotate(next) {
      accounts = [{ ...next, role: "Administrator" }];
      service.sessions.clear();
    },
    sessions: () => service.sessions.list().length,
    get mostAtOnce() {
      return load.most;
    },
  };
}
