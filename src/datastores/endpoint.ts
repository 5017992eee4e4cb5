import { isIPv6 } from "node:net";
import { Fault } from "@slipway/base";
import type { Driver } from "./place.ts";

export interface Endpoint {
  /** A name or an address; IPv6 without brackets. */
  host: string;
  port: number;
  /** What was written before `://`. */
  scheme?: string;
  /** Path of a Unix socket, in the place of host and port. */
  socket?: string;
  /** `host:port`, for messages and connection strings; IPv6 in brackets. */
  text: string;
}

const PORTS: Record<Driver, number> = { etcd: 2379, MySQL: 3306, PostgreSQL: 5432, NATS: 4222 };
const SHAPE = /^(?:([a-z]+):\/\/)?(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?\/?$/;

/** Reads `host`, `host:port`, `[IPv6]:port`, each also after a scheme. Throws `Invalid`. */
export function parseEndpoint(driver: Driver, text: string): Endpoint {
  const [, scheme, v6, name, digits] = SHAPE.exec(text) ?? [];
  const host = v6 ?? name;
  const port = digits === undefined ? PORTS[driver] : Number(digits);
  const known = scheme === undefined || (driver === "etcd" && /^https?$/.test(scheme));
  if (host === undefined || !known || port < 1 || port > 65535 || (v6 !== undefined && !isIPv6(v6)))
    throw new Fault("Invalid", `endpoint ${JSON.stringify(text)}`, "it is no host and port", {
      remedy: `write it as host:${PORTS[driver]} in spec.endpoints of the DataStore`,
    });
  const shown = `${v6 === undefined ? host : `[${v6}]`}:${port}`;
  return { host, port, ...(scheme !== undefined && { scheme }), text: shown };
}

/** All of them. Throws `Invalid` when there is none. */
export function parseEndpoints(driver: Driver, texts: readonly string[]): Endpoint[] {
  if (texts.length === 0)
    throw new Fault("Invalid", driver, "it has no endpoint", { remedy: "set spec.endpoints of the DataStore" });
  return texts.map((text) => parseEndpoint(driver, text));
}
