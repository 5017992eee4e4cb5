import { parseQuantity, sameJson } from "@slipway/base";
import { dnsSubdomain } from "@slipway/cel/formats";
import { forbidden, immutable, invalid, required } from "../model/field-error.ts";
import { at, membersAt, objectsAt, textAt, textsAt } from "../model/read.ts";
import type { Body, FieldError } from "../model/served.ts";
import { named, oneOfField } from "../rules/value-rules.ts";
import { sourcesOf, validateSource } from "./volume-validation.ts";

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/** Rules for PersistentVolumes: capacity, access modes, one source. */
export function validateVolume(object: Body): FieldError[] {
  const spec = membersAt(object, "spec");
  const modes = textsAt(spec, "accessModes");
  const sources = sourcesOf(spec).filter((name) => name !== "emptyDir");
  return [
    ...(modes.length === 0 ? [required("spec.accessModes")] : []),
    ...modes.flatMap((mode) => oneOfField(mode, "spec.accessModes", ACCESS_MODES)),
    ...validateCapacity(spec),
    ...oneOfField(spec.persistentVolumeReclaimPolicy, "spec.persistentVolumeReclaimPolicy", [
      "Delete",
      "Recycle",
      "Retain",
    ]),
    ...(sources.length === 0 && spec.local === undefined
      ? [required("spec", "must specify a volume type")]
      : validateSource(spec, "spec", sources)),
    ...oneOfField(spec.volumeMode, "spec.volumeMode", ["Block", "Filesystem"]),
  ];
}

function validateCapacity(spec: Record<string, unknown>): FieldError[] {
  const amounts = Object.entries(membersAt(spec, "capacity"));
  const only = 'supported values: "storage"';
  const wrong = (shown: unknown): FieldError => ({
    field: "spec.capacity",
    reason: "FieldValueNotSupported",
    message: `Unsupported value: ${JSON.stringify(shown)}: ${only}`,
  });
  if (amounts.length === 0) return [required("spec.capacity"), wrong(null)];
  return [
    ...(amounts.length === 1 && amounts[0]![0] === "storage" ? [] : [wrong(spec.capacity)]),
    ...amounts.flatMap(([name, amount]) => validatePositive(amount, `spec.capacity[${name}]`)),
  ];
}

function validatePositive(amount: unknown, field: string): FieldError[] {
  if (typeof amount !== "string" || parseQuantity(amount).nano > 0n) return [];
  const below = parseQuantity(amount).nano < 0n && field.startsWith("spec.capacity");
  return [
    ...(below ? [invalid(field, Number(amount), "must be a valid resource quantity")] : []),
    invalid(field, amount, "must be greater than zero"),
  ];
}

/** Rules for PersistentVolumeClaims; with `old`, what may change of one: requests may grow. */
export function validateClaim(object: Body, old?: Body): FieldError[] {
  const spec = membersAt(object, "spec");
  const modes = textsAt(spec, "accessModes");
  const storage = at(spec, "resources.requests.storage");
  const errors = [
    ...(modes.length === 0 ? [required("spec.accessModes", "at least 1 access mode is required")] : []),
    ...modes.flatMap((mode) => oneOfField(mode, "spec.accessModes", ACCESS_MODES)),
    ...(storage === undefined
      ? [required("spec.resources[storage]")]
      : validatePositive(storage, "spec.resources[storage]")),
    ...(textAt(spec, "storageClassName") === ""
      ? []
      : named(spec.storageClassName, "spec.storageClassName", dnsSubdomain)),
    ...oneOfField(spec.volumeMode, "spec.volumeMode", ["Block", "Filesystem"]),
  ];
  if (old === undefined) return errors;
  const before = membersAt(old, "spec");
  const free = [
    "resources",
    "volumeAttributesClassName",
    ...(textAt(before, "volumeName") === "" ? ["volumeName"] : []),
  ];
  const names = new Set([...Object.keys(spec), ...Object.keys(before)]);
  const changed = [...names].filter(
    (name) => !free.includes(name) && !sameJson(spec[name] ?? null, before[name] ?? null),
  );
  if (changed.length === 0) return errors;
  const why =
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
  return [...errors, forbidden("spec", why)];
}

/** Rules for StorageClasses. With `old`: parameters, provisioner, reclaim policy and binding mode stay. */
export function validateStorageClass(object: Body, old?: Body): FieldError[] {
  const fixed = ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"];
  if (old !== undefined)
    return fixed
      .filter((field) => !sameJson(object[field] ?? null, old[field] ?? null))
      .map((field) =>
        field === "parameters"
          ? forbidden(field, `updates to ${field} are forbidden.`)
          : immutable(field, object[field] ?? null),
      );
  return [
    ...(textAt(object, "provisioner") === "" ? [required("provisioner")] : []),
    ...oneOfField(object.reclaimPolicy, "reclaimPolicy", ["Delete", "Retain"]),
    ...oneOfField(object.volumeBindingMode, "volumeBindingMode", ["Immediate", "WaitForFirstConsumer"]),
  ];
}

/** Rules for VolumeAttachments; the spec can't be changed. */
export function validateAttachment(object: Body, old?: Body): FieldError[] {
  const spec = membersAt(object, "spec");
  const source = membersAt(spec, "source");
  const given = ["inlineVolumeSpec", "persistentVolumeName"].filter((name) => source[name] !== undefined);
  const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  return [
    ...(textAt(spec, "attacher") === "" ? [required("spec.attacher")] : []),
    ...(given.length === 0 ? [required("spec.source", one)] : []),
    ...(given.length === 2 ? [forbidden("spec.source", one)] : []),
    ...named(spec.nodeName, "spec.nodeName", dnsSubdomain),
    ...(old !== undefined && !sameJson(object.spec, old.spec) ? [immutable("spec", object.spec)] : []),
  ];
}

/** Rules for CSINodes: each driver has a name and an ID of the Node. */
export function validateCsiNode(object: Body): FieldError[] {
  return objectsAt(object, "spec.drivers").flatMap((driver, i) =>
    ["name", "nodeID"]
      .filter((name) => textAt(driver, name) === "")
      .map((name) => required(`spec.drivers[${i}].${name}`)),
  );
}

/** Rules for CSIDrivers. */
export function validateCsiDriver(object: Body): FieldError[] {
  return [
    ...oneOfField(at(object, "spec.fsGroupPolicy"), "spec.fsGroupPolicy", ["File", "None", "ReadWriteOnceWithFSType"]),
    ...textsAt(object, "spec.volumeLifecycleModes").flatMap((mode) =>
      oneOfField(mode, "spec.volumeLifecycleModes", ["Persistent", "Ephemeral"]),
    ),
  ];
}
