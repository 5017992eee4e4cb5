import { type Clock, Fault, sameJson } from "@slipway/base";
import { type Client, isTrue } from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { crdOf } from "./crd.ts";
import type { Kind } from "./kind.ts";

const FIELD_MANAGER = "slipway";
const ESTABLISHED_MS = 30_000;
/** An embedded API has served a definition after a millisecond, a real one after some tens. */
const FIRST_LOOK_MS = 2;
const LAST_LOOK_MS = 250;

/**
 * Applies the CRDs of the kinds, each given with all its versions, and waits until the API serves them. One that is there as it would be applied is left alone, which takes
 * a fifth of the time of a start. Objects that exist are left as they are, and so is what a definition says of conversion.
 */
export async function installCrds(
  client: Client,
  clock: Clock,
  signal: AbortSignal,
  kinds: readonly (readonly Kind[])[],
): Promise<void> {
  await Promise.all(kinds.map((versions) => install(client, clock, signal, crdOf(versions))));
}

/** As `installCrds`, but foreign definitions stay as they are: for kinds whose owner may be installed too. */
export async function installOwnCrds(
  client: Client,
  clock: Clock,
  signal: AbortSignal,
  kinds: readonly (readonly Kind[])[],
): Promise<void> {
  const foreign = await Promise.all(kinds.map(([kind]) => isForeign(client, `${kind!.plural}.${kind!.group}`, signal)));
  await installCrds(
    client,
    clock,
    signal,
    kinds.filter((_, at) => !foreign[at]),
  );
}

/** On definitions of ours that others write: those of the components that clusterctl installs. */
const OWN_LABEL = { key: "app.kubernetes.io/name", value: "slipway" };

/** Whether none of a definition's fields is ours, and nothing on it says that it is. */
export function isForeignDefinition({ metadata }: CustomResourceDefinition): boolean {
  if (metadata.labels?.[OWN_LABEL.key] === OWN_LABEL.value) return false;
  const written = (metadata.managedFields ?? []) as { manager?: string }[];
  return !written.some(({ manager }) => manager === FIELD_MANAGER);
}

/** Whether there is such a definition and none of its fields is ours. */
async function isForeign(client: Client, name: string, signal: AbortSignal): Promise<boolean> {
  const held = await client.find(CustomResourceDefinition, { name }, { signal });
  return held !== undefined && isForeignDefinition(held);
}

/** Whether we have applied this very definition, and nothing of it was changed since. */
function isInstalled({ metadata, spec }: CustomResourceDefinition, crd: ReturnType<typeof crdOf>): boolean {
  const applied = (metadata.managedFields ?? []) as { manager?: string; operation?: string }[];
  if (!applied.some(({ manager, operation }) => manager === FIELD_MANAGER && operation === "Apply")) return false;
  const { conversion: _, ...held } = spec as { conversion?: unknown };
  return sameJson(metadata.labels ?? {}, crd.metadata.labels ?? {}) && sameJson(held, crd.spec);
}

async function install(
  client: Client,
  clock: Clock,
  signal: AbortSignal,
  crd: ReturnType<typeof crdOf>,
): Promise<void> {
  const ref = { name: crd.metadata.name };
  const before = await client.find(CustomResourceDefinition, ref, { signal });
  if (before === undefined || !isInstalled(before, crd))
    await client.patch(
      CustomResourceDefinition,
      ref,
      { type: "apply", body: crd, fieldManager: FIELD_MANAGER, force: true },
      { signal },
    );
  const until = clock.monotonic() + ESTABLISHED_MS;
  for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(LAST_LOOK_MS, lookMs * 2)) {
    const held = await client.get(CustomResourceDefinition, ref, { signal });
    if (isTrue(held.status?.conditions, "Established")) return;
    if (clock.monotonic() >= until) {
      const why = held.status?.conditions?.find((condition) => condition.status === "False");
      throw new Fault(
        "Timeout",
        `CustomResourceDefinition/${ref.name}`,
        `not established: ${why?.message ?? "no reason was given"}`,
      );
    }
    await clock.sleep(lookMs, signal);
  }
}
