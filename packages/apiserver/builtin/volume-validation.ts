import { forbidden, required } from "../model/field-error.ts";
import { textAt } from "../model/read.ts";
import type { FieldError } from "../model/served.ts";

type Volume = Record<string, unknown>;

/** Kinds of sources in the order in which upstream looks at them; the second of a volume is refused. */
const SOURCES = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "flocker",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "quobyte",
  "downwardAPI",
  "fc",
  "flexVolume",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "azureDisk",
  "portworxVolume",
  "storageos",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image",
];

/** Fields that a source must have. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  hostPath: ["path"],
  secret: ["secretName"],
  configMap: ["name"],
  nfs: ["server", "path"],
  persistentVolumeClaim: ["claimName"],
  csi: ["driver"],
};

/** The kinds of sources that a volume has. */
export function sourcesOf(volume: Volume): string[] {
  return SOURCES.filter((name) => volume[name] !== undefined && volume[name] !== null);
}

/** What is wrong with where a volume comes from: one source, with what it needs. */
export function validateSource(volume: Volume, path: string, [first, ...more]: readonly string[]): FieldError[] {
  const missing = (REQUIRED[first ?? ""] ?? []).filter((name) => textAt(volume, `${first}.${name}`) === "");
  return [
    ...missing.map((name) => required(`${path}.${first}.${name}`)),
    ...more.map((name) => forbidden(`${path}.${name}`, "may not specify more than 1 volume type")),
  ];
}
