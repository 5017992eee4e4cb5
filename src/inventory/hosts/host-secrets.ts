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
  const { name, namespace } = spec[field] ?? {};
  if (name === undefined) return undefined;
  const on = `spec.${field}`;
  if (namespace !== undefined && namespace !== "" && namespace !== metadata.namespace)
    throw new Fault("Forbidden", on, "the Secret must be in the host's own namespace", { remedy: "copy it there" });
  const secret = await client.find(Secret, { name, ...(metadata.namespace && { namespace: metadata.namespace }) });
  if (secret === undefined)
    throw new Fault("MissingInput", on, `Secret ${metadata.namespace}/${name} is not there`, { remedy: "create it" });
  return secretTexts(secret);
}

/** What a Secret holds, decoded. */
export function secretTexts({ data = {} }: Secret): SecretTexts {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
}
