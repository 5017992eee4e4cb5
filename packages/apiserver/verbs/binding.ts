import { rfc3339 } from "@slipway/base";
import type { Call } from "../core/call.ts";
import { copyJson } from "../json/value.ts";
import { objectsAt, textAt } from "../model/read.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { badRequest, conflict, type Status, unreasoned } from "../model/status.ts";
import { readTyped } from "./typed-body.ts";
import { rewrite } from "./update.ts";

/** POST pods/x/binding: what a scheduler does with a Pod, once. Throws Conflict for a Pod that has its Node. */
export async function bind(call: Call): Promise<Status> {
  const binding = readTyped(call, { group: "", version: "v1", kind: "Binding" });
  if (binding.metadata.name !== call.name) throw badRequest("name in URL does not match name in Binding object");
  const kind = textAt(binding, "target.kind");
  if (kind !== "" && kind !== "Node")
    throw unreasoned(`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`);
  const node = textAt(binding, "target.name");
  if (node === "") throw unreasoned("target.name: Required value");
  await rewrite(call, (live) => bound(call, live, binding, node), { subresource: "binding", managed: true });
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

function bound(call: Call, pod: Body, binding: Body, node: string): Body {
  const refuse = (why: string) =>
    conflict({ ...call.resource, plural: "pods/binding" } as ServedResource, call.name, why);
  const was = textAt(pod, "spec.nodeName");
  if (pod.metadata.deletionTimestamp !== undefined)
    throw refuse(`pod ${call.name} is being deleted, cannot be assigned to a host`);
  if (was !== "") throw refuse(`pod ${call.name} is already assigned to node ${JSON.stringify(was)}`);
  if (objectsAt(pod, "spec.schedulingGates").length > 0)
    throw refuse(`pod ${call.name} has non-empty .spec.schedulingGates`);
  const next = copyJson(pod);
  const { annotations, labels } = binding.metadata;
  if (annotations !== undefined) next.metadata.annotations = { ...next.metadata.annotations, ...annotations };
  if (labels !== undefined) next.metadata.labels = { ...next.metadata.labels, ...labels };
  const scheduled = {
    type: "PodScheduled",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: rfc3339(call.core.clock.now()),
  };
  const others = objectsAt(next, "status.conditions").filter(({ type }) => type !== scheduled.type);
  return {
    ...next,
    spec: { ...(next.spec as object), nodeName: node },
    status: { ...(next.status as object), conditions: [...others, scheduled] },
  };
}
