import { at, membersAt, objectsAt, textAt, textsAt } from "../model/read.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { age, column, serve, wide } from "./serve.ts";
import { allocate, type Family, keepAllocated, type ServiceRanges } from "./service-allocation.ts";
import { isExposed, validateService } from "./service-validation.ts";

/** Services. Addresses and ports come from `ranges`. */
export function service(ranges: ServiceRanges = HASHED): ServedResource {
  return serve({
    apiVersion: "v1",
    kind: "Service",
    createsOnUpdate: true,
    answersDeleted: true,
    description: "One address for a set of Pods.",
    shortNames: ["svc"],
    categories: ["all"],
    namespaced: true,
    status: true,
    selectableFields: {
      "spec.clusterIP": (object) => textAt(object, "spec.clusterIP"),
      "spec.type": (object) => textAt(object, "spec.type"),
    },
    columns: [
      column("Type", (object) => textAt(object, "spec.type")),
      column("Cluster-IP", (object) => textAt(object, "spec.clusterIP") || "<none>"),
      column("External-IP", externalIp),
      column("Port(s)", ports),
      age,
      wide("Selector", (object) => labelText(membersAt(object, "spec.selector"))),
    ],
    setDefaults: (object) => defaultSpec(membersAt(object, "spec")),
    prepareCreate(object) {
      const given = membersAt(object, "spec");
      if (given.type === "ExternalName") return;
      if (textAt(given, "clusterIP") === "") given.clusterIP = textsAt(given, "clusterIPs")[0] ?? "";
      if (textAt(given, "clusterIP") !== "") given.clusterIPs ??= [given.clusterIP];
      // Without address and selector nothing says which family it is.
      if (given.clusterIP === "None" && given.selector === undefined && given.ipFamilyPolicy === undefined) {
        given.ipFamilies ??= ["IPv4", "IPv6"];
        given.ipFamilyPolicy = "RequireDualStack";
      }
      given.ipFamilies ??= familiesOf(given, ranges);
      given.ipFamilyPolicy ??= textsAt(given, "ipFamilies").length > 1 ? "RequireDualStack" : "SingleStack";
    },
    prepareUpdate: keepAllocated,
    validate: validateService,
    warnings: (object) =>
      textsAt(object, "spec.externalIPs").length > 0
        ? ["spec.externalIPs is deprecated and may no longer be implemented in some clusters"]
        : [],
    allocate: (object) => allocate(ranges, object),
  });
}

/** Of the addresses that are asked for; else the cluster's own. */
function familiesOf(given: Record<string, unknown>, { families: [own = "IPv4"] }: ServiceRanges): Family[] {
  const asked = textsAt(given, "clusterIPs").filter((ip) => ip !== "None" && ip !== "");
  return asked.length === 0 ? [own] : asked.map((ip) => (ip.includes(":") ? "IPv6" : "IPv4"));
}

function defaultSpec(given: Record<string, unknown>): void {
  given.type ||= "ClusterIP";
  given.sessionAffinity ||= "None";
  if (given.type !== "ExternalName") given.internalTrafficPolicy ??= "Cluster";
  if (isExposed(given)) given.externalTrafficPolicy ??= "Cluster";
  if (given.type === "LoadBalancer") given.allocateLoadBalancerNodePorts ??= true;
  if (given.sessionAffinity === "ClientIP") given.sessionAffinityConfig ??= { clientIP: { timeoutSeconds: 10800 } };
  if (given.sessionAffinity === "None") delete given.sessionAffinityConfig;
  for (const entry of objectsAt(given, "ports")) {
    entry.protocol ||= "TCP";
    entry.targetPort ||= entry.port;
  }
}

/** For resources that no server keeps: addresses that are derived from their names' hash, which two Services may share. */
const HASHED: ServiceRanges = {
  families: ["IPv4"],
  address(_, wanted, object) {
    if (wanted !== undefined) return { is: wanted };
    let hash = 0x811c9dc5;
    for (const char of `${object.metadata.namespace}/${object.metadata.name}`) {
      hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193) >>> 0;
    }
    const host = 16 + (hash % 65_000);
    return { is: `10.96.${host >> 8}.${host & 0xff}` };
  },
  port: (wanted) => ({ is: wanted ?? 30_000 }),
};

function externalIp(object: Body): string {
  const own = textsAt(object, "spec.externalIPs");
  const balanced = objectsAt(object, "status.loadBalancer.ingress").map(
    (i) => textAt(i, "ip") || textAt(i, "hostname"),
  );
  switch (textAt(object, "spec.type")) {
    case "ExternalName":
      return textAt(object, "spec.externalName");
    case "LoadBalancer":
      return [...balanced, ...own].join(",") || "<pending>";
    default:
      return own.join(",") || "<none>";
  }
}

function ports(object: Body): string {
  const printed = objectsAt(object, "spec.ports").map((entry) => {
    const nodePort = at(entry, "nodePort");
    const mapped = typeof nodePort === "number" && nodePort > 0 ? `:${nodePort}` : "";
    return `${entry.port}${mapped}/${entry.protocol}`;
  });
  return printed.join(",") || "<none>";
}

/** Labels as one text; `<none>` without any. */
export function labelText(labels: Record<string, unknown>): string {
  const texts = Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key]}`);
  return texts.join(",") || "<none>";
}
