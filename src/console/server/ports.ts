import type { Clock, Http, Log, Random } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import type { MachineOutputs } from "../../inventory/outputs/outputs.ts";
import type { ApiAddress, Credentials } from "./credentials.ts";
import type { StreamTimes } from "./event-stream.ts";
import type { OidcSettings } from "./oidc.ts";
import type { Reach } from "./origin.ts";
import type { Page } from "./page-files.ts";
import type { SessionLimits, Sessions } from "./session.ts";

/** What a console stands on. */
export interface ConsolePorts {
  clock: Clock;
  random: Random;
  log: Log;
  /** To a provider of identities. */
  http: Http;
  /** A way to the Kubernetes API with these credentials and no others. */
  transport(credentials: Credentials): Transport;
  /** The page, made when it is first asked for. */
  page(): Promise<Page>;
  /** Machines' consoles and boot logs. Default: there are none. */
  outputs?: MachineOutputs;
}

export interface ConsoleSettings {
  /** Default: loopback. */
  host?: string;
  /** 0: any free one. */
  port: number;
  /** PEM. Unset: HTTP, for loopback and behind a proxy that speaks TLS. */
  tls?: { cert: string; key: string };
  /** Base URLs at which browsers reach it beside loopback and addresses. */
  urls?: readonly string[];
  oidc?: OidcSettings;
  limits?: SessionLimits;
  times?: StreamTimes;
}

/** What the routes share. */
export interface Desk extends ConsolePorts {
  sessions: Sessions;
  reach: Reach;
  oidc: OidcSettings | undefined;
  times: StreamTimes;
}

export type { ApiAddress };
