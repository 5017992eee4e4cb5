import { rfc3339 } from "@slipway/base";
import { at, membersAt, objectsAt, textAt, textsAt } from "../model/read.ts";
import { type Body, METADATA_FIELDS, type ServedResource } from "../model/served.ts";
import { age, column, serve, wide } from "./serve.ts";
import {
  validateAttachment,
  validateClaim,
  validateCsiDriver,
  validateCsiNode,
  validateStorageClass,
  validateVolume,
} from "./storage-validation.ts";

const MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function modes(object: Body, path: string): string {
  return textsAt(object, path)
    .map((mode) => MODES[mode] ?? mode)
    .join(",");
}

export const persistentVolume: ServedResource = serve({
  apiVersion: "v1",
  kind: "PersistentVolume",
  validate: validateVolume,
  answersDeleted: true,
  description: "Storage that claims are bound to.",
  shortNames: ["pv"],
  namespaced: false,
  status: true,
  columns: [
    column("Capacity", (object) => String(at(object, "spec.capacity.storage") ?? "")),
    column("Access Modes", (object) => modes(object, "spec.accessModes")),
    column("Reclaim Policy", (object) => textAt(object, "spec.persistentVolumeReclaimPolicy")),
    column("Status", (object) =>
      at(object, "metadata.deletionTimestamp") === undefined ? textAt(object, "status.phase") : "Terminating",
    ),
    column("Claim", (object) => {
      const name = textAt(object, "spec.claimRef.name");
      return name === "" ? "" : `${textAt(object, "spec.claimRef.namespace")}/${name}`;
    }),
    column("StorageClass", (object) => textAt(object, "spec.storageClassName")),
    column("VolumeAttributesClass", (object) => textAt(object, "spec.volumeAttributesClassName") || "<unset>"),
    column("Reason", (object) => textAt(object, "status.reason")),
    age,
    wide("VolumeMode", (object) => textAt(object, "spec.volumeMode") || "<unset>"),
  ],
  setDefaults(object) {
    object.status = { phase: "Pending", ...membersAt(object, "status") };
  },
  prepareCreate(object, now) {
    object.status = { phase: "Pending", lastPhaseTransitionTime: rfc3339(now) };
  },
});

export const persistentVolumeClaim: ServedResource = serve({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  validate: validateClaim,
  answersDeleted: true,
  description: "A request for storage.",
  shortNames: ["pvc"],
  namespaced: true,
  status: true,
  columns: [
    column("Status", (object) =>
      at(object, "metadata.deletionTimestamp") === undefined ? textAt(object, "status.phase") : "Terminating",
    ),
    column("Volume", (object) => textAt(object, "spec.volumeName")),
    column("Capacity", (object) => String(at(object, "status.capacity.storage") ?? "")),
    column("Access Modes", (object) => modes(object, "status.accessModes")),
    column("StorageClass", (object) => textAt(object, "spec.storageClassName")),
    column("VolumeAttributesClass", (object) => textAt(object, "spec.volumeAttributesClassName") || "<unset>"),
    age,
    wide("VolumeMode", (object) => textAt(object, "spec.volumeMode") || "<unset>"),
  ],
  setDefaults(object) {
    object.status = { phase: "Pending", ...membersAt(object, "status") };
  },
  prepareCreate(object) {
    object.status = { phase: "Pending" };
  },
});

export const storageClass: ServedResource = serve({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  validate: validateStorageClass,
  answersDeleted: true,
  description: "A way in which volumes are made.",
  plural: "storageclasses",
  shortNames: ["sc"],
  namespaced: false,
  columns: [
    column("Name", (object) => object.metadata.name + (isDefault(object) ? " (default)" : ""), { format: "name" }),
    column("Provisioner", (object) => textAt(object, "provisioner")),
    column("ReclaimPolicy", (object) => textAt(object, "reclaimPolicy") || "Delete"),
    column("VolumeBindingMode", (object) => textAt(object, "volumeBindingMode") || "Immediate"),
    column("AllowVolumeExpansion", (object) => at(object, "allowVolumeExpansion") === true),
    age,
  ],
});

export const volumeAttachment: ServedResource = serve({
  apiVersion: "storage.k8s.io/v1",
  kind: "VolumeAttachment",
  validate: validateAttachment,
  answersDeleted: true,
  needsVersion: true,
  description: "A volume that is, or is to be, attached to a Node.",
  namespaced: false,
  status: true,
  statusKeeps: METADATA_FIELDS,
  columns: [
    column("Attacher", (object) => textAt(object, "spec.attacher"), { format: "name" }),
    column("PV", (object) => textAt(object, "spec.source.persistentVolumeName")),
    column("Node", (object) => textAt(object, "spec.nodeName")),
    column("Attached", (object) => at(object, "status.attached") === true, { type: "boolean" }),
    age,
  ],
});

export const csiNode: ServedResource = serve({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSINode",
  validate: validateCsiNode,
  answersDeleted: true,
  needsVersion: true,
  description: "The storage drivers of a Node.",
  namespaced: false,
  columns: [column("Drivers", (object) => objectsAt(object, "spec.drivers").length, { type: "integer" }), age],
});

export const csiDriver: ServedResource = serve({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIDriver",
  validate: validateCsiDriver,
  answersDeleted: true,
  needsVersion: true,
  description: "A storage driver and what it can do.",
  namespaced: false,
  columns: [
    column("AttachRequired", (object) => at(object, "spec.attachRequired") !== false, { type: "boolean" }),
    column("PodInfoOnMount", (object) => at(object, "spec.podInfoOnMount") === true, { type: "boolean" }),
    column("StorageCapacity", (object) => at(object, "spec.storageCapacity") === true, { type: "boolean" }),
    column("TokenRequests", (object) =>
      at(object, "spec.tokenRequests") === undefined
        ? "<unset>"
        : objectsAt(object, "spec.tokenRequests")
            .map(({ audience }) => audience)
            .join(","),
    ),
    column("RequiresRepublish", (object) => at(object, "spec.requiresRepublish") === true, { type: "boolean" }),
    column("Modes", (object) => textsAt(object, "spec.volumeLifecycleModes").join(",") || "<none>"),
    age,
  ],
});

function isDefault({ metadata: { annotations = {} } }: Body): boolean {
  return ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"].some(
    (name) => annotations[name] === "true",
  );
}
