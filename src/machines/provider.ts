import type { Clock, Http, Log } from "@slipway/base";
import type { MachineDriver } from "./machine.ts";

/** What a driver is made from. Credentials stay inside it. */
export interface ProviderAccount {
  /** Base URL of the API, without a trailing slash; unset: the provider's public one. */
  endpoint: string | undefined;
  /** API key. */
  token: string;
  /** Project id, name or slug, as the provider calls it. */
  project: string;
  /** The user's plan and metro names → the provider's. Names not listed pass unchanged. */
  planMapping: Readonly<Record<string, string>>;
  metroMapping: Readonly<Record<string, string>>;
}

export interface DriverPorts {
  http: Http;
  clock: Clock;
  log: Log;
}

export type DriverFactory = (account: ProviderAccount, ports: DriverPorts) => MachineDriver;
