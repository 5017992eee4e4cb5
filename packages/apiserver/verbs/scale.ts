import { rfc3339 } from "@slipway/base";
import { mediaType } from "../body/body.ts";
import type { Call } from "../core/call.ts";
import { allPasses, passesInTurns } from "../json/turns.ts";
import { copyJson, isRecord, valueAt, withValueAt } from "../json/value.ts";
import type { Body } from "../model/served.ts";
import { apiVersionOf } from "../model/served.ts";
import { badRequest, invalid } from "../model/status.ts";
import { applyInPasses } from "../patch/apply.ts";
import { trackUpdate } from "../patch/managed-fields.ts";
import { ownersAfterScale, SCALE_VERSION, type Scaled, scaleOwners, scaleSchema } from "../patch/scale-owners.ts";
import { decodeWire } from "../wire/decode.ts";
import { wireTypeOf } from "../wire/wire-types.ts";
import { configurationOf, reportDuplicates, typed } from "./apply.ts";
import { get } from "./list.ts";
import { managerOf, placed } from "./object.ts";
import { APPLY, patcher } from "./patch.ts";
import { readTyped } from "./typed-body.ts";
import { requireName, rewrite } from "./update.ts";
import { checkWriteOptions, readBoolean } from "./write-options.ts";

/** The `scale` subresource (autoscaling/v1 Scale): the replicas of an object, whatever its kind. */
export async function scale(call: Call, verb: string): Promise<unknown> {
  if (verb === "get") return scaleOf(call, await get(call));
  const isApply = mediaType(call.contentType) === APPLY;
  if (isApply) checkWriteOptions(call, "PatchOptions", true);
  const whole = verb === "update" ? readScale(call) : undefined;
  const change = whole !== undefined || isApply ? undefined : patcher(call, { type: "object" });
  const applied = isApply ? applier(call) : undefined;
  const path = call.resource.scale!.specReplicasPath;
  const object = await rewrite(
    call,
    async (live) => {
      const wanted = (await applied?.(live)) ?? whole ?? allPasses(change!(scaleOf(call, live)));
      const replicas = replicasOf(call, wanted);
      const given = isRecord(wanted) && isRecord(wanted.metadata) ? wanted.metadata.resourceVersion : undefined;
      const next = copyJson(withValueAt(live, path, replicas));
      // A path that the kind's schema does not know leads nowhere.
      if (!call.resource.builtIn) call.core.registry.compiled(call.resource).prune(next);
      const ofScale = isApply ? (wanted as Body).metadata.managedFields : ownersOfWrite(call, live, next);
      next.metadata.managedFields = ownersAfterScale(scaled(call, live), ofScale);
      if (typeof given === "string" && given !== "") next.metadata.resourceVersion = given;
      return next;
    },
    {
      subresource: "",
      managed: true,
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

/** The apply of a Scale: the Scale of an object with the call's configuration merged in, and its owners. */
function applier(call: Call): (live: Body) => Promise<Body> {
  const given = {
    config: configurationOf(call, { apiVersion: SCALE_VERSION, kind: SCALE.kind }),
    manager: call.query.get("fieldManager") ?? "",
    force: readBoolean(call.query.get("force")),
    subresource: "scale",
    apiVersion: SCALE_VERSION,
    time: rfc3339(call.core.clock.now()),
    schema: scaleSchema,
  };
  return async (live) => {
    const shown = scaleOf(call, live) as Body;
    const managedFields = scaleOwners(scaled(call, live));
    const was = { ...shown, metadata: { ...shown.metadata, managedFields } };
    const { object } = await typed(() => passesInTurns(call, applyInPasses({ ...given, live: was })));
    reportDuplicates(call);
    return placed(call, object);
  };
}

/** Who owns the replicas after a write other than an apply: as for any object, nobody new where nobody owned them. */
function ownersOfWrite(call: Call, live: Body, next: Body): unknown[] {
  const shown = scaleOf(call, live) as Body;
  const managedFields = scaleOwners(scaled(call, live));
  return trackUpdate({
    before: { ...shown, metadata: { ...shown.metadata, managedFields } },
    after: scaleOf(call, next) as Body,
    manager: managerOf(call),
    subresource: "scale",
    apiVersion: SCALE_VERSION,
    time: rfc3339(call.core.clock.now()),
    schema: scaleSchema,
  });
}

function scaled({ resource }: Call, live: Body): Scaled {
  const apiVersion = apiVersionOf(resource);
  const versions = [...(resource.versions?.keys() ?? [apiVersion])];
  return { managedFields: live.metadata.managedFields, path: resource.scale!.specReplicasPath, apiVersion, versions };
}

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
