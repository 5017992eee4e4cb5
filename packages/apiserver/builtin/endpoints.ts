import { dnsLabel } from "@slipway/cel/formats";
import { immutable, invalid, required } from "../model/field-error.ts";
import { objectsAt, textAt, textsAt } from "../model/read.ts";
import type { Body, FieldError, ServedResource } from "../model/served.ts";
import { named, oneOfField, validatePort } from "../rules/value-rules.ts";
import { age, column, serve } from "./serve.ts";
import { validateIp } from "./service-validation.ts";

export const endpoints: ServedResource = serve({
  apiVersion: "v1",
  kind: "Endpoints",
  validate: validateEndpoints,
  createsOnUpdate: true,
  deprecation: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  description: "The addresses behind a Service.",
  plural: "endpoints",
  shortNames: ["ep"],
  namespaced: true,
  columns: [column("Endpoints", printed), age],
});

export const endpointSlice: ServedResource = serve({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  validate: validateSlice,
  generationCounts: ["labels", "annotations"],
  description: "Some of the addresses behind a Service.",
  namespaced: true,
  hasGeneration: true,
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

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

function validateEndpoints(object: Body): FieldError[] {
  return objectsAt(object, "subsets").flatMap((subset, i) => {
    const path = `subsets[${i}]`;
    const lists = ["addresses", "notReadyAddresses"];
    const none = lists.every((name) => objectsAt(subset, name).length === 0);
    const more = objectsAt(subset, "ports").length > 1;
    return [
      ...(none ? [required(path, "must specify `addresses` or `notReadyAddresses`")] : []),
      ...lists.flatMap((name) =>
        objectsAt(subset, name).flatMap(({ ip }, j) => {
          const field = `${path}.${name}[${j}].ip`;
          const wrong = validateIp(ip, field);
          return wrong.length === 0 ? [] : [...wrong, invalid(field, ip, "must be a valid IP address")];
        }),
      ),
      ...objectsAt(subset, "ports").flatMap((port, j) => [
        ...(textAt(port, "name") === ""
          ? more
            ? [required(`${path}.ports[${j}].name`)]
            : []
          : named(port.name, `${path}.ports[${j}].name`, dnsLabel)),
        ...validatePort(port.port, `${path}.ports[${j}].port`),
        ...oneOfField(port.protocol, `${path}.ports[${j}].protocol`, PROTOCOLS),
      ]),
    ];
  });
}

function validateSlice(object: Body, old?: Body): FieldError[] {
  const type = textAt(object, "addressType");
  return [
    ...(type === "" ? [required("addressType")] : oneOfField(type, "addressType", ["FQDN", "IPv4", "IPv6"])),
    ...objectsAt(object, "ports").flatMap((port, i) => [
      ...(textAt(port, "name") === "" ? [] : named(port.name, `ports[${i}].name`, dnsLabel)),
      ...oneOfField(port.protocol, `ports[${i}].protocol`, PROTOCOLS),
    ]),
    ...objectsAt(object, "endpoints").flatMap((endpoint, i) => {
      const addresses = textsAt(endpoint, "addresses");
      const path = `endpoints[${i}].addresses`;
      if (addresses.length === 0) return [required(path, "must contain at least 1 address")];
      return type === "FQDN" ? [] : addresses.flatMap((address, j) => validateIp(address, `${path}[${j}]`));
    }),
    ...(old !== undefined && old.addressType !== type ? [immutable("addressType", type)] : []),
  ];
}
