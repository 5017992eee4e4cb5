/** Where a host finds the addresses of what it boots, or of its bootstrap data: they are the keys to those, so they stand in a Secret. */
import { isFault } from "@slipway/base";
import type { Access, Client } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import type { Claimed } from "../../machine.ts";
import type { BootTexts } from "./operating-system.ts";

/** What the driver does to Secrets beside hosts. `namespace`: of the hosts; unset: wherever they are. */
export const scriptSecretAccess = (namespace?: string): Access => ({
  resource: Secret,
  verbs: ["create", "patch", "delete"],
  ...(namespace !== undefined && { namespace }),
});

/** The name of a claim's Secret, in the namespace of its host. */
export function scriptSecretName(claim: string): string {
  return `script-${claim}`;
}

/** Writes the claim's script, in the place of any earlier one. It goes with the claimant, should nobody remove it before. */
export async function putScript(
  client: Client,
  namespace: string,
  { claim, claimant, texts }: { claim: string; claimant?: Claimed; texts: BootTexts },
): Promise<void> {
  const name = scriptSecretName(claim);
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
  // An object of another namespace can't own it.
  const isOwner = claimant !== undefined && (claimant.namespace === undefined || claimant.namespace === namespace);
  const { apiVersion, kind, name: ownerName } = claimant ?? {};
  const ownerReferences = isOwner
    ? [{ apiVersion: apiVersion!, kind: kind!, name: ownerName!, uid: claim }]
    : undefined;
  try {
    const metadata = { name, namespace, ...(ownerReferences !== undefined && { ownerReferences }) };
    await client.create(Secret, { metadata, type: "Opaque", data });
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
    await client.patch(Secret, { name, namespace }, { type: "merge", body: { data } });
  }
}

/** Removes the claim's script; resolves also where there is none. */
export async function dropScript(client: Client, namespace: string, claim: string): Promise<void> {
  await client.delete(Secret, { name: scriptSecretName(claim), namespace });
}
