import { labelValue, qualifiedName } from "@slipway/cel/formats";
import { forbidden, invalid, required } from "../model/field-error.ts";
import { at, membersAt, objectsAt, textAt, textsAt } from "../model/read.ts";
import type { Body, FieldError, ServedResource } from "../model/served.ts";
import { named, oneOfField } from "../rules/value-rules.ts";
import { validateAmount } from "./container-validation.ts";
import { laterOnes } from "./later-ones.ts";
import { age, column, serve, wide } from "./serve.ts";
import { validateCidr } from "./service-validation.ts";
import { TAINT_EFFECTS } from "./toleration-validation.ts";

export const node: ServedResource = serve({
  apiVersion: "v1",
  kind: "Node",
  description: "A machine that runs Pods.",
  shortNames: ["no"],
  namespaced: false,
  status: true,
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
  validate: validateNode,
  setDefaults(object) {
    agreeOnCidrs(membersAt(object, "spec"));
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

/** Nodes; as upstream has it, errors of taints name them as metadata. */
function validateNode(object: Body, old?: Body): FieldError[] {
  const taints = validateTaints(objectsAt(object, "spec.taints"));
  const amounts = ["capacity", "allocatable"].flatMap((kind) =>
    Object.entries(membersAt(object, `status.${kind}`)).flatMap(([name, amount]) =>
      validateAmount(amount, `status.${kind}.${name}`),
    ),
  );
  if (old !== undefined) return [...amounts, ...validateKept(object, old), ...taints];
  const cidrs = textsAt(object, "spec.podCIDRs");
  const families = new Set(cidrs.map((cidr) => cidr.includes(":")));
  return [
    ...taints,
    ...amounts,
    ...cidrs.flatMap((cidr, i) => validateCidr(cidr, `spec.podCIDRs[${i}]`)),
    ...(families.size < cidrs.length
      ? [invalid("spec.podCIDRs", cidrs, "may specify no more than one CIDR for each IP family")]
      : []),
  ];
}

function validateKept(object: Body, old: Body): FieldError[] {
  const was = textsAt(old, "spec.podCIDRs");
  const moved = was.length > 0 && String(was) !== String(textsAt(object, "spec.podCIDRs"));
  const id = textAt(old, "spec.providerID");
  return [
    ...(moved ? [forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid')] : []),
    ...(id !== "" && id !== textAt(object, "spec.providerID")
      ? [forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid')]
      : []),
  ];
}

function validateTaints(taints: readonly Record<string, unknown>[]): FieldError[] {
  const again = laterOnes(taints.map(({ key, effect }) => JSON.stringify([key, effect])));
  return taints.flatMap((taint, i) => {
    const path = `metadata.taints[${i}]`;
    const [key, value, effect] = ["key", "value", "effect"].map((name) => textAt(taint, name)) as [
      string,
      string,
      string,
    ];
    const wrong = labelValue(value);
    const shown = JSON.stringify({ Key: key, Value: value, Effect: effect, TimeAdded: taint.timeAdded ?? null });
    const message = `Duplicate value: ${shown}: taints must be unique by key and effect pair`;
    return [
      ...named(key, `${path}.key`, qualifiedName),
      ...(wrong.length > 0 ? [invalid(`${path}.value`, value, wrong.join(";"))] : []),
      ...(effect === "" ? [required(`${path}.effect`)] : oneOfField(effect, `${path}.effect`, TAINT_EFFECTS)),
      ...(again.has(i) ? [{ field: path, reason: "FieldValueDuplicate" as const, message }] : []),
    ];
  });
}

/** The one range of old and the list of new say the same. */
function agreeOnCidrs(spec: Record<string, unknown>): void {
  const list = textsAt(spec, "podCIDRs");
  if (list.length > 0) spec.podCIDR = list[0];
  else if (textAt(spec, "podCIDR") !== "") spec.podCIDRs = [spec.podCIDR];
}
