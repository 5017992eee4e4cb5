/** What was left at a provider when an object went that stood for it: an entry in a ConfigMap, which stays until the user deletes it. */
import { isFault, isoTime } from "@slipway/base";
import type { Access, Context } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";

/** ConfigMap in the operator's namespace. Only the user removes an entry. */
export const ABANDONED_MACHINES = "slipway-abandoned-machines";

/** The rights that `writeAbandoned` needs. */
export const abandonedAccess = (namespace: string): readonly Access[] => [
  { resource: ConfigMap, verbs: ["create"], namespace },
  { resource: ConfigMap, verbs: ["patch"], namespace, names: [ABANDONED_MACHINES] },
];

/** Writes the entry `key`. Rejects when it can't be written; the finalizer must not go then. Resolves with where it is. */
export async function writeAbandoned(
  { clean, client, clock }: Pick<Context, "clean" | "client" | "clock">,
  namespace: string,
  { key, record }: { key: string; record: object },
): Promise<string> {
  const ref = { namespace, name: ABANDONED_MACHINES };
  const data = { [key]: JSON.stringify(clean({ ...record, abandonedAt: isoTime(clock.now()) })) };
  try {
    await client.create(ConfigMap, { metadata: ref, data });
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
    await client.patch(ConfigMap, ref, { type: "merge", body: { data } });
  }
  return `ConfigMap ${namespace}/${ABANDONED_MACHINES}`;
}
