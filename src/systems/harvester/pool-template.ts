import { createHash } from "node:crypto";
import { LOWER_CASE } from "@slipway/base";
import { controllerReference, type Draft } from "@slipway/kube";
import type { Instance, InstanceSpec } from "../../kinds/harvester/instance.ts";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { needsAdoption } from "./adoption.ts";
import { managementPorts, priceOf } from "./claim.ts";
import { ADOPTED, FINALIZER, POOL_LABEL } from "./names.ts";

/** Fields that a machine is made with: a change of one reaches an existing machine only by replacing it. */
const MADE_WITH = [
  "plan",
  "plans",
  "metro",
  "metros",
  "facility",
  "providerRef",
  "billingCycle",
  "spotInstance",
  "spotPriceMax",
  "customData",
  "features",
  "usersshKeys",
  "projectsshKeys",
  "nosshKeys",
  "managementInterfaces",
  "managementBondingOptions",
  "ipxeScriptUrl",
  "isoUrl",
  "networkingConfiguration",
  "harvester",
  "installMode",
  "tags",
  "description",
  "hardwareReservation_id",
  "alwaysPxe",
  "publicIPv4SubnetSize",
] as const satisfies readonly (keyof InstanceSpec)[];

/** Fields that only say how Slipway treats a machine: a change reaches existing Instances at once. */
const TREATED_WITH = [
  "nodeCleanupWaitInterval",
  "provisionTimeout",
  "joinTimeout",
  "remediation",
  "nodeDeletionPolicy",
  "drain",
  "spotFallback",
] as const satisfies readonly (keyof InstanceSpec)[];

/** The specification of the pool's Instances. */
export function instanceSpecOf(pool: InstancePool): InstanceSpec {
  const { spec } = pool;
  const made: Record<string, unknown> = { operating_system: "custom_ipxe" };
  const from: Record<string, unknown> = { ...spec, managementInterfaces: spec.managementInterface };
  for (const field of [...MADE_WITH, ...TREATED_WITH]) if (!isEmpty(from[field])) made[field] = from[field];
  return made as InstanceSpec;
}

/** The Instance number `ordinal` of a pool. Its finalizer is there from the first moment, so no machine can outlive it unseen (H1). */
export function instanceDraft(pool: InstancePool, ordinal: number): Draft<Instance> {
  return {
    metadata: {
      name: instanceName(pool, ordinal),
      labels: { [POOL_LABEL]: pool.metadata.name },
      finalizers: [FINALIZER],
      ownerReferences: [controllerReference(InstancePool, pool)],
    },
    spec: instanceSpecOf(pool),
  };
}

/**
 * `<pool>-<8 letters>`, as the addon names them. The letters follow from pool and ordinal, so a creation that is
 * repeated after a lost answer meets its own object instead of making a second one (H2).
 */
export function instanceName(pool: InstancePool, ordinal: number): string {
  const digest = createHash("sha256").update(`${pool.metadata.uid}/${ordinal}`).digest();
  return `${pool.metadata.name}-${Array.from(digest.subarray(0, 8), (byte) => LOWER_CASE[byte % 26]).join("")}`;
}

/** Whether surely no machine was bought for it: it has no specification that it was made with yet. */
export function isUnordered({ status }: Instance): boolean {
  return !status?.instanceID && (status?.purchase === undefined || status.purchase.state === "Refused");
}

/** Names of the fields of its pool's `instanceSpecOf` that this Instance's machine was not made with (H28). */
export function driftOf(wanted: InstanceSpec, instance: Instance): string[] {
  // The addon's scripts stand where the pool's belong, until it is taken over.
  if (isUnordered(instance) || needsAdoption(instance)) return [];
  const adopted = instance.metadata.annotations?.[ADOPTED] !== undefined;
  return MADE_WITH.filter((field) => {
    // The addon did not write down everything that it made a machine with.
    if (adopted && (field === "installMode" || isEmpty(instance.spec[field]))) return false;
    return !sameWish(field, wanted, instance.spec);
  });
}

/** Whether a field says the same in both, in whichever of its spellings. */
function sameWish(field: (typeof MADE_WITH)[number], a: InstanceSpec, b: InstanceSpec): boolean {
  if (field === "spotPriceMax") return priceOf(a.spotPriceMax) === priceOf(b.spotPriceMax);
  if (field === "managementInterfaces") return same(managementPorts(a), managementPorts(b));
  return same(a[field], b[field]);
}

/**
 * The merge patch that brings an Instance in line with its pool's `instanceSpecOf`: how it is treated, and all of it while nothing was
 * ordered for it. Undefined when it is. Guarded by the version it was decided on, since an order may be about to go out.
 */
export function treatmentPatch(wanted: InstanceSpec, instance: Instance): object | undefined {
  if (needsAdoption(instance)) return undefined;
  const adopted = instance.metadata.annotations?.[ADOPTED] !== undefined;
  // What was taken over has its scripts from the addon's annotations.
  const made = MADE_WITH.filter((field) => !(adopted && (field === "ipxeScriptUrl" || field === "isoUrl")));
  const changed = [...TREATED_WITH, ...(isUnordered(instance) ? made : [])].filter(
    (field) => !same(wanted[field], instance.spec[field]),
  );
  if (changed.length === 0) return undefined;
  return {
    metadata: { resourceVersion: instance.metadata.resourceVersion },
    spec: Object.fromEntries(changed.map((field) => [field, replacing(wanted[field], instance.spec[field])])),
  };
}

/** Merge patches merge maps: what is missing in the new value must be removed by name. */
function replacing(wanted: unknown, held: unknown): unknown {
  if (isEmpty(wanted)) return null;
  if (!isMap(wanted) || !isMap(held)) return wanted;
  return { ...Object.fromEntries(Object.keys(held).map((key) => [key, null])), ...wanted };
}

/** The addon's manifests write null, "" and absence for the same thing. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) && Object.values(value).every(isEmpty);
}

function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) === isEmpty(b);
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => same(item, b[i]));
  if (!isMap(a) || !isMap(b)) return a === b;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => same(a[key], b[key]));
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
