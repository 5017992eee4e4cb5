/**
 * The config drive of a BareMetalHost: what Metal3 puts on it for `spec.userData`, `spec.metaData` and `spec.networkData`. Pure; whoever
 * calls has read the Secrets.
 */
import { Fault } from "@slipway/base";
import { configDrive, type DriveFiles } from "../../bootstrap/cloud-init/config-drive.ts";
import { secretYaml } from "../../bootstrap/secret-yaml.ts";

/** A Secret's `data`, its values decoded. */
export type SecretTexts = Readonly<Record<string, string>>;

/** The Secrets that the host's fields name. Absent: the field is not set. */
export interface DriveSecrets {
  userData?: SecretTexts;
  metaData?: SecretTexts;
  networkData?: SecretTexts;
}

export interface DriveHost {
  name: string;
  namespace: string;
  uid: string;
}

type Field = keyof DriveSecrets;

/**
 * The drive's files. A text is under the key of its field's name, or under `value`. Metadata and network data are YAML or JSON mappings;
 * user data is given on as it is. Metadata has Metal3's defaults, each of which the Secret may replace.
 * Throws `Fault` (`Invalid`) that names field and key, and never holds what the Secret has.
 */
export function hostConfigDrive(host: DriveHost, secrets: DriveSecrets): DriveFiles {
  const userData = textOf("userData", secrets.userData);
  const networkData = mappingOf("networkData", secrets.networkData);
  return configDrive({
    metaData: { ...defaults(host), ...mappingOf("metaData", secrets.metaData) },
    ...(userData === undefined ? {} : { userData }),
    ...(networkData === undefined ? {} : { networkData }),
  });
}

/** Metal3's metadata for every host (baremetal-operator, `configDrive.MetaData`). */
function defaults({ name, namespace, uid }: DriveHost): Record<string, string> {
  return {
    uuid: uid,
    name,
    "metal3-name": name,
    "metal3-namespace": namespace,
    "local-hostname": name,
    local_hostname: name,
  };
}

/** Undefined also for an empty text, as with Metal3. */
function textOf(field: Field, secret: SecretTexts | undefined): string | undefined {
  if (secret === undefined) return undefined;
  const text = secret[field] ?? secret.value;
  if (text === undefined) throw wrong(field, `the Secret has neither the key ${field} nor the key value`);
  return text === "" ? undefined : text;
}

function mappingOf(field: Field, secret: SecretTexts | undefined): Record<string, unknown> | undefined {
  const text = textOf(field, secret);
  if (text === undefined) return undefined;
  const value = secretYaml(text, `spec.${field}`);
  if (value === undefined) return undefined;
  if (typeof value !== "object" || Array.isArray(value)) throw wrong(field, "is no mapping of names to values");
  return value as Record<string, unknown>;
}

function wrong(field: Field, why: string): Fault {
  return new Fault("Invalid", `spec.${field}`, why, { remedy: "correct the Secret" });
}
