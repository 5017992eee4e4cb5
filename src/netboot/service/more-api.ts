import type { Clock, HttpHandler, Log, Random, TlsPeer } from "@slipway/base";
import type { Hosts } from "../hosts/hosts.ts";
import type { Installers } from "../http/installers.ts";
import type { UserOrder } from "../protocol/order.ts";
import type { NetbootSettings } from "../settings.ts";
import type { DhcpPart } from "./dhcp-part.ts";
import type { NetbootIdentity } from "./identity.ts";

/** What netboot has for an API that another part of Slipway adds. */
export interface ServedParts {
  settings: NetbootSettings;
  hosts: Hosts;
  installers: Installers;
  /** Resolves with the order's id: the caller's own, or a new one. Rejects with a `Fault`. */
  order(host: string, wanted: UserOrder, id?: string): Promise<string>;
  dhcp: Pick<DhcpPart, "leases"> | undefined;
  /** Where machines reach it. */
  url: string;
  address: string;
  /** Its certificate for clients, as it is now. */
  identity(): Pick<NetbootIdentity, "tls" | "authority">;
  dir: string;
  hasCluster: boolean;
  clock: Clock;
  random: Random;
  log: Log;
}

/** An API beside the command's. */
export interface MoreApi {
  /** Whether it answers this path over TLS. */
  answers(path: string): boolean;
  handler: HttpHandler;
  /** Whether it answers this path on the owner's socket. */
  answersLocally(path: string): boolean;
  local: HttpHandler;
  /** Whether a client is served at all, by this API or the command's. */
  admits(peer: TlsPeer): boolean;
  close(): Promise<void>;
}

/** Rejects with a `Fault` when it can't be served. */
export type OpenMoreApi = (parts: ServedParts) => Promise<MoreApi>;

/** An API of the owner's socket that answers for another one, too. */
export function withMore<Api extends { handler: HttpHandler }>(api: Api, more: MoreApi | undefined): Api {
  if (more === undefined) return api;
  const handler: HttpHandler = (request) =>
    more.answersLocally(new URL(request.url).pathname) ? more.local(request) : api.handler(request);
  return { ...api, handler };
}
