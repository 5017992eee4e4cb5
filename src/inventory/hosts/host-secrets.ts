import { Fault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { DriveSecrets, SecretTexts } from "./config-drive.ts";

/**
 * The texts of the Secret that a field of the host names; undefined: the field is not set. It is one of the host's own namespace: a reference
 * into another is refused. Rejects with a `Fault` that names the field.
 */
export async function hostSecret(
  { metadata, spec }: BareMetalHost,
  field: keyof DriveSecrets,
  client: Client,
): Promise<SecretTexts | undefined> {
  const { name, namespace, on } = referenceOf(spec, field);
  if (name === undefined) return undefined;
  if (namespace !== undefined && namespace !== "" && namespace !== metadata.namespace)
    throw new Fault("Forbidden", on, "the Secret must be in the host's own namespace", { remedy: "copy it there" });
  const secret = await client.find(Secret, { name, ...(metadata.namespace && { namespace: metadata.namespace }) });
  if (secret === undefined)
    throw new Fault("MissingInput", on, `Secret ${metadata.namespace}/${name} is not there`, { remedy: "create it" });
  return secretTexts(secret);
}

/** As with Metal3, the network of a system that has no `networkData` is the one that `preprovisioningNetworkDataName` describes. */
function referenceOf(spec: BareMetalHost["spec"], field: keyof DriveSecrets) {
  const instead = field === "networkData" && spec.networkData === undefined && spec.preprovisioningNetworkDataName;
  if (instead) return { name: instead, namespace: undefined, on: "spec.preprovisioningNetworkDataName" };
  const { name, namespace } = spec[field] ?? {};
  return { name, namespace, on: `spec.${field}` };
}

/** Whether anything is given for the first boot of what is installed. */
export function hasFirstBootData({ spec }: BareMetalHost): boolean {
  return (["userData", "metaData", "networkData"] as const).some(
    (field) => referenceOf(spec, field).name !== undefined,
  );
}

/** What a Secret holds, decoded. */
export function secretTexts({ data = {} }: Secret): SecretTexts {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
}
