import type { Body, Schema, ServedResource } from "../served.ts";
import { at, membersAt, objectsAt, textAt } from "./read.ts";
import {
  about,
  anyObject,
  bool,
  conditions,
  fields,
  int32,
  int64,
  listOf,
  objectReference,
  oneOf,
  quantities,
  setOf,
  text,
  texts,
  time,
} from "./schema-words.ts";
import { age, column, serve, wide } from "./serve.ts";

const taint = fields({
  "key!": text,
  value: text,
  "effect!": oneOf("NoSchedule", "PreferNoSchedule", "NoExecute"),
  timeAdded: time,
});

const nodeInfo = [
  "machineID",
  "systemUUID",
  "bootID",
  "kernelVersion",
  "osImage",
  "containerRuntimeVersion",
  "kubeletVersion",
  "kubeProxyVersion",
  "operatingSystem",
  "architecture",
];

const spec = about(
  "What is wanted of the Node.",
  fields({
    podCIDR: text,
    podCIDRs: setOf(text),
    providerID: about("The machine's name at its provider.", text),
    unschedulable: about("Keeps new Pods away.", bool),
    taints: about("Keep Pods away that do not tolerate them.", listOf(taint)),
    configSource: objectReference,
    externalID: text,
  }),
);

/** A Node may have several addresses of one type, so apply takes the list as a whole; patches go by the type all the same. */
const addresses: Schema = {
  ...listOf(fields({ "type!": text, "address!": text })),
  "x-kubernetes-patch-strategy": "merge",
  "x-kubernetes-patch-merge-key": "type",
};

const status = about(
  "What is known of the Node.",
  fields({
    capacity: quantities,
    allocatable: quantities,
    phase: text,
    conditions: conditions({ lastHeartbeatTime: time }),
    addresses,
    daemonEndpoints: fields({ kubeletEndpoint: fields({ "Port!": int32 }) }),
    nodeInfo: fields({
      ...Object.fromEntries(nodeInfo.map((name) => [name, text])),
      swap: fields({ capacity: int64 }),
    }),
    images: listOf(fields({ names: texts, sizeBytes: int64 })),
    volumesInUse: texts,
    volumesAttached: listOf(fields({ "name!": text, "devicePath!": text })),
    config: anyObject,
    runtimeHandlers: listOf(anyObject),
    features: fields({ supplementalGroupsPolicy: bool }),
    declaredFeatures: texts,
  }),
);

export const node: ServedResource = serve({
  apiVersion: "v1",
  kind: "Node",
  description: "A machine that runs Pods.",
  shortNames: ["no"],
  namespaced: false,
  status: true,
  members: { spec, status },
  selectableFields: { "spec.unschedulable": (object) => String(at(object, "spec.unschedulable") === true) },
  columns: [
    column("Status", nodeStatus, { description: "Whether the Node is ready and takes Pods." }),
    column("Roles", roles),
    age,
    column("Version", (object) => textAt(object, "status.nodeInfo.kubeletVersion")),
    wide("Internal-IP", (object) => address(object, "InternalIP")),
    wide("External-IP", (object) => address(object, "ExternalIP")),
    wide("OS-Image", (object) => textAt(object, "status.nodeInfo.osImage") || "<unknown>"),
    wide("Kernel-Version", (object) => textAt(object, "status.nodeInfo.kernelVersion") || "<unknown>"),
    wide("Container-Runtime", (object) => textAt(object, "status.nodeInfo.containerRuntimeVersion") || "<unknown>"),
  ],
  keepsStatus: true,
  setDefaults(object) {
    const status = membersAt(object, "status");
    if (status.capacity !== undefined) status.allocatable ??= { ...membersAt(status, "capacity") };
  },
});

function nodeStatus(object: Body): string {
  const ready = objectsAt(object, "status.conditions").find((condition) => condition.type === "Ready");
  const said = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return at(object, "spec.unschedulable") === true ? `${said},SchedulingDisabled` : said;
}

function roles(object: Body): string {
  const found = new Set<string>();
  for (const [label, value] of Object.entries(membersAt(object, "metadata.labels"))) {
    if (label.startsWith("node-role.kubernetes.io/")) found.add(label.slice("node-role.kubernetes.io/".length));
    else if (label === "kubernetes.io/role" && typeof value === "string") found.add(value);
  }
  found.delete("");
  return [...found].sort().join(",") || "<none>";
}

function address(object: Body, type: string): string {
  return (
    textAt(
      objectsAt(object, "status.addresses").find((a) => a.type === type),
      "address",
    ) || "<none>"
  );
}
