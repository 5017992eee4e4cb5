/**
 * The part of plunder's API that netboot can answer, for programs that were written for plunder: what there is, the leases, and the machines that wait.
 * Every answer has status 200 and an envelope, as there; a failure is reported in it, by both names that its releases had for that.
 */
import { type HttpAnswer, type HttpHandler, json, type Mac } from "@slipway/base";

export interface PlunderPorts {
  /** Machines with a lease, and until when (ms). */
  leases(): readonly { mac: Mac; at: number }[];
  /** Machines that were seen and have no lease or host, and when they were last seen (ms). */
  unleased(): readonly { mac: Mac; at: number }[];
}

interface Endpoint {
  name: string;
  path: string;
  method: string;
  functionEndpoint: string;
  description: string;
}

const endpoint = (name: string, path: string, functionEndpoint: string, description: string): Endpoint => ({
  ...{ name, path, functionEndpoint, description },
  method: "GET",
});

const ENDPOINTS: readonly Endpoint[] = [
  endpoint("dhcp", "/dhcp", "/leases", "Machines that have a lease"),
  endpoint("dhcp", "/dhcp", "/unleased", "Machines that were seen and have no owner"),
  endpoint("apis", "/api", "", "What can be asked"),
];

/** Paths of plunder's that are answered here: with the envelope, also where this has nothing to say. */
export const PLUNDER_PATHS = [
  "/api",
  "/api/",
  "/dhcp/",
  "/config",
  "/config/",
  "/deployment",
  "/deployment/",
  "/deployments",
  "/parlay",
  "/parlay/",
];

/** Answers `PLUNDER_PATHS`. */
export function plunderApi({ leases, unleased }: PlunderPorts): HttpHandler {
  return async ({ method, url }) => {
    const { pathname } = new URL(url);
    if (method !== "GET")
      return failed(`${method} ${pathname} is not served: hosts are installed by their BareMetalHost`);
    if (pathname === "/dhcp/leases") return reported(leases().map(seen));
    if (pathname === "/dhcp/unleased") return reported(unleased().map(seen));
    if (pathname === "/api") return reported(ENDPOINTS);
    const [, name, verb] = /^\/api\/([A-Za-z]+)\/([A-Z]+)$/.exec(pathname) ?? [];
    const known = ENDPOINTS.find((each) => each.name === name && each.method === verb);
    return known === undefined ? failed(`${pathname} is not served`) : reported(known);
  };
}

/** Go's time.Time in JSON is RFC 3339. */
function seen({ mac, at }: { mac: Mac; at: number }): { mac: Mac; time: string } {
  return { mac, time: new Date(at).toISOString() };
}

function reported(payload: unknown): HttpAnswer {
  return json(200, { success: "true", payload });
}

function failed(message: string): HttpAnswer {
  return json(200, { warning: message, friendlyError: message, error: message });
}
