import type { Clock } from "../base/clock.ts";
import { Fault } from "../base/fault.ts";
import { crdOf, type WebhookClientConfig } from "../kinds/crd.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Client } from "../kube/client.ts";
import { isTrue } from "../kube/conditions.ts";
import { CustomResourceDefinition } from "../kube/core.ts";
import { KINDS } from "./kinds.ts";

const FIELD_MANAGER = "slipway";
const ESTABLISHED_MS = 30_000;
const LOOK_MS = 50;

export interface CrdsToInstall {
  /** Slipway's own unless given. */
  kinds?: readonly (readonly Kind[])[];
  /** Definitions that exist and that somebody else wrote stay as they are: for kinds whose owner may be installed too. */
  yields?: boolean;
  /** What converts between versions of a kind, where the API server does not do so itself. */
  webhook?: WebhookClientConfig | undefined;
}

/** Applies the CRDs of all kinds and waits until the API serves them. Objects that exist are left as they are. */
export async function installCrds(
  client: Client,
  clock: Clock,
  signal: AbortSignal,
  { kinds = KINDS, yields = false, webhook }: CrdsToInstall = {},
): Promise<void> {
  const wanted = kinds.map((versions) => crdOf(versions, webhook));
  await Promise.all(
    wanted.map(async (crd) => {
      if (yields && (await isForeign(client, crd.metadata.name, signal))) return;
      await install(client, clock, signal, crd);
    }),
  );
}

/** Whether there is such a definition and none of its fields is ours. */
async function isForeign(client: Client, name: string, signal: AbortSignal): Promise<boolean> {
  const held = await client.find(CustomResourceDefinition, { name }, { signal });
  const written = (held?.metadata.managedFields ?? []) as { manager?: string }[];
  return held !== undefined && !written.some(({ manager }) => manager === FIELD_MANAGER);
}

async function install(
  client: Client,
  clock: Clock,
  signal: AbortSignal,
  crd: ReturnType<typeof crdOf>,
): Promise<void> {
  const ref = { name: crd.metadata.name };
  await client.patch(
    CustomResourceDefinition,
    ref,
    { type: "apply", body: crd, fieldManager: FIELD_MANAGER, force: true },
    { signal },
  );
  const until = clock.now() + ESTABLISHED_MS;
  for (;;) {
    const held = await client.get(CustomResourceDefinition, ref, { signal });
    if (isTrue(held.status?.conditions, "Established")) return;
    if (clock.now() >= until) {
      const why = held.status?.conditions?.find((condition) => condition.status === "False");
      throw new Fault(
        "Timeout",
        `CustomResourceDefinition/${ref.name}`,
        `not established: ${why?.message ?? "no reason was given"}`,
      );
    }
    await clock.sleep(LOOK_MS, signal);
  }
}
