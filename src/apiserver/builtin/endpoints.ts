import type { Body, ServedResource } from "../served.ts";
import { objectsAt, textsAt } from "./read.ts";
import {
  about,
  atomic,
  bool,
  fields,
  int32,
  listOf,
  objectReference,
  oneOf,
  text,
  textMap,
  texts,
  withDefault,
} from "./schema-words.ts";
import { age, column, serve } from "./serve.ts";

const address = atomic({ "ip!": text, hostname: text, nodeName: text, targetRef: objectReference });
const port = atomic({ name: text, "port!": int32, protocol: withDefault(text, "TCP"), appProtocol: text });

export const endpoints: ServedResource = serve({
  apiVersion: "v1",
  kind: "Endpoints",
  createsOnUpdate: true,
  deprecation: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  description: "The addresses behind a Service.",
  plural: "endpoints",
  shortNames: ["ep"],
  namespaced: true,
  members: {
    subsets: listOf(fields({ addresses: listOf(address), notReadyAddresses: listOf(address), ports: listOf(port) })),
  },
  columns: [column("Endpoints", printed), age],
});

const endpoint = fields({
  "addresses!": { ...texts, "x-kubernetes-list-type": "set" },
  conditions: fields({ ready: bool, serving: bool, terminating: bool }),
  hostname: text,
  targetRef: objectReference,
  deprecatedTopology: textMap,
  nodeName: text,
  zone: text,
  hints: fields({ forZones: listOf(fields({ "name!": text })), forNodes: listOf(fields({ "name!": text })) }),
});

export const endpointSlice: ServedResource = serve({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  generationCounts: ["labels", "annotations"],
  description: "Some of the addresses behind a Service.",
  namespaced: true,
  hasGeneration: true,
  members: {
    addressType: about("IPv4, IPv6 or FQDN.", oneOf("IPv4", "IPv6", "FQDN")),
    endpoints: listOf(endpoint),
    ports: listOf(
      atomic({ name: withDefault(text, ""), protocol: withDefault(text, "TCP"), port: int32, appProtocol: text }),
    ),
  },
  required: ["addressType", "endpoints"],
  columns: [
    column("AddressType", (object) => String(object.addressType ?? "")),
    column("Ports", (object) =>
      firstThree(
        objectsAt(object, "ports").map((p) => String(p.port ?? "*")),
        "<unset>",
      ),
    ),
    column("Endpoints", (object) =>
      firstThree(
        objectsAt(object, "endpoints").flatMap((e) => textsAt(e, "addresses")),
        "<unset>",
      ),
    ),
    age,
  ],
});

function printed(object: Body): string {
  const all = objectsAt(object, "subsets").flatMap((subset) => {
    const ips = objectsAt(subset, "addresses").map((a) => String(a.ip));
    const ports = objectsAt(subset, "ports");
    return ports.length === 0 ? ips : ports.flatMap((p) => ips.map((ip) => `${ip}:${p.port}`));
  });
  return firstThree(all, "<none>");
}

function firstThree(items: readonly string[], none: string): string {
  if (items.length === 0) return none;
  const more = items.length > 3 ? ` + ${items.length - 3} more...` : "";
  return `${items.slice(0, 3).join(",")}${more}`;
}
