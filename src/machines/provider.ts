import type { Clock, Http, Log } from "@slipway/base";
import type { Client } from "@slipway/kube";
import type { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import type { HostOffer } from "../kinds/slipway/machine-provider.ts";
import type { MachineDriver } from "./machine.ts";

/** That a client shows to a server that asks for one. PEM. */
export interface ClientCertificate {
  certificatePem: string;
  keyPem: string;
}

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
  /** Of an account that is proven by TLS alone. */
  client?: ClientCertificate;
  /** Of an account whose machines are the cluster's own hosts. */
  inventory?: HostOffer;
}

/** The cluster's own hosts, for the driver that gives them. */
export interface HostInventory {
  /** May read and change hosts, and the Secrets that they boot by. */
  client: Client;
  /** All hosts as they are known; a moment old. Rejects with `Unavailable` while they are not known yet. */
  list(): Promise<readonly BareMetalHost[]>;
}

export interface DriverPorts {
  http: Http;
  clock: Clock;
  log: Log;
  /** Unset: there are none. */
  hosts?: HostInventory;
}

export type DriverFactory = (account: ProviderAccount, ports: DriverPorts) => MachineDriver;
