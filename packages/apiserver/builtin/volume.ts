import type { Schema } from "../served.ts";
import { fieldSelector, resourceFieldSelector } from "./container.ts";
import {
  about,
  anyObject,
  atomic,
  bool,
  fields,
  int32,
  int64,
  labelSelector,
  listOf,
  localReference,
  mapOf,
  objectReference,
  oneOf,
  quantities,
  quantity,
  text,
  textMap,
  texts,
  withDefault,
} from "./schema-words.ts";

const items = listOf(fields({ "key!": text, "path!": text, mode: int32 }));
const defaultMode = withDefault(int32, 0o644);
const fieldFile = fields({
  "path!": text,
  fieldRef: fieldSelector,
  resourceFieldRef: resourceFieldSelector,
  mode: int32,
});

const projection = fields({
  secret: fields({ name: withDefault(text, ""), items, optional: bool }),
  configMap: fields({ name: withDefault(text, ""), items, optional: bool }),
  downwardAPI: fields({ items: listOf(fieldFile) }),
  serviceAccountToken: fields({
    audience: text,
    expirationSeconds: withDefault(int64, 3600),
    "path!": text,
  }),
  clusterTrustBundle: fields({ name: text, signerName: text, labelSelector, optional: bool, "path!": text }),
  podCertificate: anyObject,
});

/** Sources that both Volumes and PersistentVolumes have, as far as they differ in nothing. */
const shared: Readonly<Record<string, Schema>> = {
  hostPath: fields({ "path!": text, type: withDefault(text, "") }),
  nfs: fields({ "server!": text, "path!": text, readOnly: bool }),
  fc: fields({ targetWWNs: texts, lun: int32, fsType: text, readOnly: bool, wwids: texts }),
  gcePersistentDisk: fields({ "pdName!": text, fsType: text, partition: int32, readOnly: bool }),
  awsElasticBlockStore: fields({ "volumeID!": text, fsType: text, partition: int32, readOnly: bool }),
};

const iscsi = {
  "targetPortal!": text,
  "iqn!": text,
  "lun!": int32,
  iscsiInterface: withDefault(text, "default"),
  fsType: text,
  readOnly: bool,
  portals: listOf(text),
  chapAuthDiscovery: bool,
  chapAuthSession: bool,
  initiatorName: text,
};

/** `v1.PersistentVolumeClaimSpec`. */
export const claimSpec: Schema = fields({
  accessModes: about("Ways in which the volume is to be mounted.", texts),
  selector: labelSelector,
  resources: fields({ limits: quantities, requests: quantities }),
  volumeName: about("The bound volume.", text),
  storageClassName: text,
  volumeMode: withDefault(text, "Filesystem"),
  dataSource: atomic({ apiGroup: text, "kind!": text, "name!": text }),
  dataSourceRef: fields({ apiGroup: text, "kind!": text, "name!": text, namespace: text }),
  volumeAttributesClassName: text,
});

/** `v1.Volume`; plugins that left Kubernetes long ago are taken as they come. */
export const volume: Schema = fields({
  "name!": about("Name by which the containers mount it.", text),
  emptyDir: fields({ medium: text, sizeLimit: quantity }),
  secret: fields({ secretName: text, items, defaultMode, optional: bool }),
  configMap: fields({ name: withDefault(text, ""), items, defaultMode, optional: bool }),
  downwardAPI: fields({ items: listOf(fieldFile), defaultMode }),
  projected: fields({ sources: listOf(projection), defaultMode }),
  persistentVolumeClaim: fields({ "claimName!": text, readOnly: bool }),
  csi: fields({
    "driver!": text,
    readOnly: bool,
    fsType: text,
    volumeAttributes: textMap,
    nodePublishSecretRef: localReference,
  }),
  ephemeral: fields({
    volumeClaimTemplate: fields({ metadata: anyObject, "spec!": claimSpec }),
  }),
  image: fields({ reference: text, pullPolicy: text }),
  iscsi: fields({ ...iscsi, secretRef: localReference }),
  ...shared,
  ...Object.fromEntries(
    [
      "gitRepo",
      "glusterfs",
      "rbd",
      "flexVolume",
      "cinder",
      "cephfs",
      "flocker",
      "azureFile",
      "vsphereVolume",
      "quobyte",
      "azureDisk",
      "photonPersistentDisk",
      "portworxVolume",
      "scaleIO",
      "storageos",
    ].map((name) => [name, anyObject]),
  ),
});

/** `v1.PersistentVolumeSpec`. */
export const persistentVolumeSpec: Schema = fields({
  capacity: quantities,
  accessModes: texts,
  claimRef: objectReference,
  persistentVolumeReclaimPolicy: withDefault(oneOf("Retain", "Delete", "Recycle"), "Retain"),
  storageClassName: text,
  mountOptions: texts,
  volumeMode: withDefault(text, "Filesystem"),
  nodeAffinity: fields({ required: anyObject }),
  volumeAttributesClassName: text,
  local: fields({ "path!": text, fsType: text }),
  csi: fields({
    "driver!": text,
    "volumeHandle!": text,
    readOnly: bool,
    fsType: text,
    volumeAttributes: mapOf(text),
    controllerPublishSecretRef: atomic({ name: text, namespace: text }),
    nodeStageSecretRef: atomic({ name: text, namespace: text }),
    nodePublishSecretRef: atomic({ name: text, namespace: text }),
    controllerExpandSecretRef: atomic({ name: text, namespace: text }),
    nodeExpandSecretRef: atomic({ name: text, namespace: text }),
  }),
  iscsi: fields({ ...iscsi, secretRef: atomic({ name: text, namespace: text }) }),
  ...shared,
  ...Object.fromEntries(
    [
      "glusterfs",
      "rbd",
      "flexVolume",
      "cinder",
      "cephfs",
      "flocker",
      "azureFile",
      "vsphereVolume",
      "quobyte",
      "azureDisk",
      "photonPersistentDisk",
      "portworxVolume",
      "scaleIO",
      "storageos",
    ].map((name) => [name, anyObject]),
  ),
});
