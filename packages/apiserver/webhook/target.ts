import { at, numberAt, objectsAt, textAt, textsAt } from "../model/read.ts";
import type { Body } from "../model/served.ts";
import { objectKey } from "../storage/keys.ts";
import type { Store } from "../storage/store.ts";

/** `clientConfig` of a webhook, as configurations and definitions carry it. */
export interface ClientConfig {
  url?: string;
  service?: { namespace: string; name: string; path?: string; port?: number };
  /** PEM in base64. */
  caBundle?: string;
}

/** Where a webhook is called. */
export interface Target {
  /** The URL as messages show it. */
  url: string;
  /** The URL that is called: the Service's port is replaced by that of the endpoint. */
  calledUrl: string;
  address: string | undefined;
  ca: string | undefined;
}

/**
 * Where a clientConfig leads, or why nowhere. A Service has no address of its own here: its webhook is called at a ready endpoint, or where
 * its external name points.
 */
export function targetOf(store: Store, config: ClientConfig): Target | { unreachable: string; url: string } {
  const ca = config.caBundle === undefined ? "" : Buffer.from(config.caBundle, "base64").toString("utf8").trim();
  const trust = ca === "" ? undefined : ca;
  if (config.service === undefined) {
    const given = config.url ?? "";
    const url = /^https?:\/\/[^/]*$/.test(given) ? `${given}/` : given;
    return { url, calledUrl: url, address: undefined, ca: trust };
  }
  const { namespace, name, path = "", port = 443 } = config.service;
  const host = `${name}.${namespace}.svc`;
  const tail = path.startsWith("/") ? path : `/${path}`;
  const url = `https://${host}:${port}${tail}`;
  const service = store.get("/services", objectKey(namespace, name));
  if (service === undefined) return { unreachable: `service ${JSON.stringify(name)} not found`, url };
  if (textAt(service, "spec.type") === "ExternalName") {
    const external = textAt(service, "spec.externalName");
    const calledUrl = `https://${external}:${port}${tail}`;
    return { url, calledUrl, address: undefined, ca: trust };
  }
  const portName = servicePort(service, port);
  if (portName === undefined)
    return { unreachable: `no service port ${port} found for service ${JSON.stringify(name)}`, url };
  const endpoint = readyEndpoint(store, namespace, name, portName);
  if (endpoint === undefined) return { unreachable: `no endpoints available for service ${JSON.stringify(name)}`, url };
  return { url, calledUrl: `https://${host}:${endpoint.port}${tail}`, address: endpoint.address, ca: trust };
}

/** The name of a Service's port; undefined where it has no such port. */
function servicePort(service: Body, port: number): string | undefined {
  const found = objectsAt(service, "spec.ports").find((p) => p.port === port);
  return found === undefined ? undefined : textAt(found, "name");
}

function readyEndpoint(
  store: Store,
  namespace: string,
  service: string,
  portName: string,
): { address: string; port: number } | undefined {
  const named = (ports: readonly Record<string, unknown>[]) => ports.find((p) => textAt(p, "name") === portName);
  for (const [, slice] of store.collection("discovery.k8s.io/endpointslices").range(`${namespace}/`, "")) {
    if (slice.metadata.labels?.["kubernetes.io/service-name"] !== service) continue;
    const ready = objectsAt(slice, "endpoints").find((e) => at(e, "conditions.ready") !== false);
    const [address] = ready === undefined ? [] : textsAt(ready, "addresses");
    const port = named(objectsAt(slice, "ports"));
    if (address !== undefined && port !== undefined) return { address, port: numberAt(port, "port") };
  }
  for (const subset of objectsAt(store.get("/endpoints", objectKey(namespace, service)), "subsets")) {
    const [ready] = objectsAt(subset, "addresses");
    const port = named(objectsAt(subset, "ports"));
    if (ready !== undefined && port !== undefined)
      return { address: textAt(ready, "ip"), port: numberAt(port, "port") };
  }
  return undefined;
}
