import type { Body, FieldError, ServedResource } from "../served.ts";
import { duplicateField, immutableField, invalidField, requiredField } from "./field-errors.ts";
import { validateLabel, validateLabelKey, validateLabelValue } from "./name-rules.ts";
import { validatePort } from "./pod-validation.ts";
import { at, membersAt, objectsAt, textAt, textsAt } from "./read.ts";
import {
  about,
  anyObject,
  bool,
  conditions,
  fields,
  int32,
  intOrString,
  keyed,
  listOf,
  oneOf,
  text,
  textMap,
  texts,
  withDefault,
} from "./schema-words.ts";
import { age, column, serve, wide } from "./serve.ts";

/** Gives out a cluster IP for a new Service: the one asked for, or a free one. Throws a `Fault` where it can't. */
export type AllocateClusterIp = (wanted: string | undefined, service: Body) => string;

const port = fields({
  name: text,
  protocol: withDefault(oneOf("TCP", "UDP", "SCTP"), "TCP"),
  appProtocol: text,
  "port!": int32,
  targetPort: intOrString,
  nodePort: int32,
});

const spec = about(
  "Which Pods the Service stands for, and how it is reached.",
  fields({
    ports: about("Ports that the Service offers.", keyed(port, "port", "protocol")),
    selector: about("Labels of the Pods that serve it.", { ...textMap, "x-kubernetes-map-type": "atomic" }),
    clusterIP: about("Its address inside the cluster; None for a headless Service.", text),
    clusterIPs: texts,
    type: withDefault(oneOf("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"), "ClusterIP"),
    externalIPs: texts,
    sessionAffinity: withDefault(oneOf("ClientIP", "None"), "None"),
    loadBalancerIP: text,
    loadBalancerSourceRanges: texts,
    externalName: text,
    externalTrafficPolicy: text,
    healthCheckNodePort: int32,
    publishNotReadyAddresses: bool,
    sessionAffinityConfig: fields({ clientIP: fields({ timeoutSeconds: int32 }) }),
    ipFamilies: texts,
    ipFamilyPolicy: text,
    allocateLoadBalancerNodePorts: bool,
    loadBalancerClass: text,
    internalTrafficPolicy: text,
    trafficDistribution: text,
  }),
);

const status = fields({
  loadBalancer: fields({
    ingress: listOf(fields({ ip: text, hostname: text, ipMode: text, ports: listOf(anyObject) })),
  }),
  conditions: conditions({ observedGeneration: { type: "integer", format: "int64" } }),
});

/** Services. Cluster IPs come from `allocate`; without it they are told apart by their names' hash in 10.96.0.0/16. */
export function service(allocate: AllocateClusterIp = hashedClusterIp): ServedResource {
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
    members: { spec, status },
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
      if (given.clusterIP !== "None") {
        given.clusterIP = allocate(textAt(given, "clusterIP") || undefined, object);
      }
      given.clusterIPs ??= [given.clusterIP];
      given.ipFamilies ??= [textAt(given, "clusterIP").includes(":") ? "IPv6" : "IPv4"];
      given.ipFamilyPolicy ??= "SingleStack";
    },
    prepareUpdate(object, old) {
      const given = membersAt(object, "spec");
      if (given.type === "ExternalName" || textAt(old, "spec.type") === "ExternalName") return;
      // A write that says nothing of the addresses keeps them.
      for (const name of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
        if (given[name] === undefined || given[name] === "") given[name] = membersAt(old, "spec")[name];
        if (given[name] === undefined) delete given[name];
      }
    },
    validate: validateService,
  });
}

function defaultSpec(given: Record<string, unknown>): void {
  given.type ||= "ClusterIP";
  given.sessionAffinity ||= "None";
  if (given.type !== "ExternalName") given.internalTrafficPolicy ??= "Cluster";
  if (given.type === "NodePort" || given.type === "LoadBalancer") given.externalTrafficPolicy ??= "Cluster";
  if (given.type === "LoadBalancer") given.allocateLoadBalancerNodePorts ??= true;
  if (given.sessionAffinity === "ClientIP") given.sessionAffinityConfig ??= { clientIP: { timeoutSeconds: 10800 } };
  for (const entry of objectsAt(given, "ports")) {
    entry.protocol ||= "TCP";
    entry.targetPort ||= entry.port;
  }
}

function hashedClusterIp(wanted: string | undefined, object: Body): string {
  if (wanted !== undefined) return wanted;
  let hash = 0x811c9dc5;
  for (const char of `${object.metadata.namespace}/${object.metadata.name}`) {
    hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193) >>> 0;
  }
  const host = 16 + (hash % 65_000);
  return `10.96.${host >> 8}.${host & 0xff}`;
}

function validateService(object: Body, old?: Body): FieldError[] {
  const type = textAt(object, "spec.type");
  const errors: FieldError[] = [];
  const entries = objectsAt(object, "spec.ports");
  const headless = textAt(object, "spec.clusterIP") === "None";
  if (entries.length === 0 && type !== "ExternalName" && !headless) errors.push(requiredField("spec.ports"));
  const names = new Set<unknown>();
  for (const [i, entry] of entries.entries()) {
    const path = `spec.ports[${i}]`;
    errors.push(...validatePort(entry.port, `${path}.port`), ...validatePort(entry.targetPort, `${path}.targetPort`));
    if (entries.length > 1 && textAt(entry, "name") === "") errors.push(requiredField(`${path}.name`));
    else if (textAt(entry, "name") !== "") {
      errors.push(...validateLabel(entry.name, `${path}.name`));
      if (names.has(entry.name)) errors.push(duplicateField(`${path}.name`, entry.name));
    }
    names.add(entry.name);
  }
  for (const [key, value] of Object.entries(membersAt(object, "spec.selector"))) {
    errors.push(...validateLabelKey(key, "spec.selector"), ...validateLabelValue(value, "spec.selector"));
  }
  if (type === "ExternalName" && textAt(object, "spec.externalName") === "") {
    errors.push(requiredField("spec.externalName"));
  }
  if (headless && (type === "NodePort" || type === "LoadBalancer")) {
    errors.push(invalidField("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`));
  }
  if (old !== undefined && type !== "ExternalName" && textAt(old, "spec.type") !== "ExternalName") {
    const before = textAt(old, "spec.clusterIP");
    if (before !== "" && before !== textAt(object, "spec.clusterIP")) {
      errors.push(immutableField("spec.clusterIPs[0]", textAt(object, "spec.clusterIP")));
    }
  }
  return errors;
}

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
