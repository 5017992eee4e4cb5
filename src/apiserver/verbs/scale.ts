import type { Call } from "../core.ts";
import { copyJson, isRecord, valueAt, withValueAt } from "../json-value.ts";
import type { Body } from "../served.ts";
import { badRequest, invalid } from "../status.ts";
import { decodeWire } from "../wire/decode.ts";
import { wireTypeOf } from "../wire/wire-types.ts";
import { get } from "./list.ts";
import { patcher } from "./patch.ts";
import { readTyped } from "./typed-body.ts";
import { requireName, rewrite } from "./update.ts";

/** The `scale` subresource (autoscaling/v1 Scale): the replicas of an object, whatever its kind. */
export async function scale(call: Call, verb: string): Promise<unknown> {
  if (verb === "get") return scaleOf(call, await get(call));
  // An apply of a Scale reduces to a merge: replicas are all it can hold.
  const asApply = { ...call, contentType: "application/merge-patch+json" };
  const whole = verb === "update" ? readScale(call) : undefined;
  const change =
    whole !== undefined
      ? () => whole
      : patcher(call.contentType.includes("apply") ? asApply : call, { type: "object" });
  const path = call.resource.scale!.specReplicasPath;
  const object = await rewrite(
    call,
    (live) => {
      const wanted = change(scaleOf(call, live));
      const replicas = replicasOf(call, wanted);
      const given = isRecord(wanted) && isRecord(wanted.metadata) ? wanted.metadata.resourceVersion : undefined;
      const next = copyJson(withValueAt(live, path, replicas));
      if (typeof given === "string" && given !== "") next.metadata.resourceVersion = given;
      return next;
    },
    {
      subresource: "",
      trackedAs: "scale",
      shown: {
        kind: SCALE,
        of: (whole) => scaleOf(call, whole) as Body,
        back: (next, shown) => withValueAt(next, path, replicasOf(call, shown)),
      },
    },
  );
  return scaleOf(call, object);
}

const SCALE = { group: "autoscaling", version: "v1", kind: "Scale" };

function readScale(call: Call): unknown {
  const scale = readTyped(call, SCALE);
  requireName(call);
  if (scale.metadata.name !== call.name)
    throw badRequest(
      `the name of the object (${scale.metadata.name}) does not match the name on the URL (${call.name})`,
    );
  return scale;
}

function replicasOf(call: Call, wanted: unknown): number {
  if (!isRecord(wanted)) throw badRequest("the body holds no Scale");
  const replicas = valueAt(wanted, "spec.replicas") ?? 0;
  if (typeof replicas === "number" && Number.isInteger(replicas) && replicas >= 0) return replicas;
  const message = `Invalid value: ${JSON.stringify(replicas)}: must be greater than or equal to 0`;
  throw invalid({ group: "autoscaling", plural: "scales", kind: "Scale" }, call.name, [
    { field: "spec.replicas", reason: "FieldValueInvalid", message },
  ]);
}

function scaleOf(call: Call, object: Body): unknown {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = call.resource.scale!;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = labelSelectorPath === undefined ? undefined : selectorText(valueAt(object, labelSelectorPath));
  const scale = {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: { replicas: valueAt(object, specReplicasPath) ?? 0 },
    status: { replicas: valueAt(object, statusReplicasPath) ?? 0, ...(selector === undefined ? {} : { selector }) },
  };
  return decodeWire(wireTypeOf("autoscaling", "Scale")!, scale).value;
}

/** Custom resources keep the selector as text, built-in kinds as a LabelSelector. */
function selectorText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  // ReplicationControllers select by a plain map.
  const plain = isRecord(value) && value.matchLabels === undefined && value.matchExpressions === undefined;
  const labels = plain ? value : isRecord(value) ? value.matchLabels : undefined;
  return isRecord(labels)
    ? Object.entries(labels)
        .map(([k, v]) => `${k}=${String(v)}`)
        .sort()
        .join(",")
    : undefined;
}
