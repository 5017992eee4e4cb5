/** Secrets by names that a tenant's users know: one that is there already may be foreign. */
import { Fault, isFault } from "@slipway/base";
import type { Client, Draft } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { PROJECT, TENANT_LABEL } from "./names.ts";

/** Creates it. Rejects with `AlreadyExists`, and what to do, where one of this name has none of the labels by which a tenant's are known. */
export async function createOwn(
  client: Client,
  tenant: string,
  secret: Draft<Secret> & { metadata: { name: string } },
): Promise<Secret> {
  try {
    return await client.create(Secret, { ...secret, type: "Opaque" });
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
    const labels = Object.entries({ ...PROJECT, [TENANT_LABEL]: tenant }).map(([key, value]) => `${key}=${value}`);
    throw new Fault("AlreadyExists", `Secret/${secret.metadata.name}`, "it is there, and is not this tenant's", {
      remedy: `delete it, or have the tenant take it over by the labels ${labels.join(" and ")}`,
      cause: error,
    });
  }
}
