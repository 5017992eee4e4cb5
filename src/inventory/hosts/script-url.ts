import { Fault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";

/** In the Secret of `spec.userData`: where the boot loader fetches the script. Its address may be what keeps it secret. */
export const SCRIPT_URL_KEY = "scriptURL";

/** The script that a host with the method `ipxe` boots once. Rejects with a `Fault` that names the field or the key and never holds the address. */
export async function scriptUrl({ metadata, spec }: BareMetalHost, client: Client): Promise<string> {
  const { name, namespace } = spec.userData ?? {};
  if (name === undefined)
    throw new Fault("Invalid", "spec.userData", "the method ipxe needs a Secret with the script", {
      remedy: `name a Secret with the key ${SCRIPT_URL_KEY}`,
    });
  if (namespace !== undefined && namespace !== "" && namespace !== metadata.namespace)
    throw new Fault("Forbidden", "spec.userData", "the Secret must be in the host's own namespace", {
      remedy: "copy it there",
    });
  const on = `Secret ${metadata.namespace}/${name}`;
  const secret = await client.find(Secret, { name, ...(metadata.namespace && { namespace: metadata.namespace }) });
  if (secret === undefined) throw new Fault("MissingInput", on, "it is not there", { remedy: "create it" });
  const url = Buffer.from(secret.data?.[SCRIPT_URL_KEY] ?? "", "base64")
    .toString("utf8")
    .trim();
  if (!/^https?:\/\/\S+$/.test(url))
    throw new Fault("Invalid", on, `its key ${SCRIPT_URL_KEY} is no address`, { remedy: "use http:// or https://" });
  return url;
}
