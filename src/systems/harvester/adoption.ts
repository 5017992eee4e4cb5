import { isFault, isoTime } from "@slipway/base";
import { type Context, type StatusFields, StatusRecord, setCondition } from "@slipway/kube";
import { load } from "js-yaml";
import { Instance, type InstanceSpec } from "../../kinds/harvester/instance.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Machine } from "../../machines/machine.ts";
import type { Harvester } from "./harvester.ts";
import { NETWORK_READY } from "./journal.ts";
import { ADDON_ANNOTATIONS, ADDON_FRAMEWORK_FINALIZER, ADOPTED, FINALIZER } from "./names.ts";

/** Whether an Instance still carries what only harvester-equinix-addon wrote: secrets in the clear, among others. */
export function needsAdoption(instance: Instance): boolean {
  const annotations = instance.metadata.annotations ?? {};
  return Object.values(ADDON_ANNOTATIONS).some((name) => annotations[name] !== undefined);
}

/**
 * Takes an Instance of the addon over: its password moves into a Secret, the API key and the join token go, and so does the script
 * of the first of its two boots. The machine stays as it is; what is known of it is written into the journal first.
 *
 * In service (`managed`): it counts as joined, so a Node that is not Ready just now is no reason to buy another. Installing (`reinstalling`,
 * `ready`): it goes on. Before that (`queued` and the provider's other words): it waits for ever in a firmware shell that
 * nobody answers; it is in the first of two passes, and the second installs it.
 */
export async function adopt(harvester: Harvester, context: Context, instance: Instance): Promise<void> {
  const { metadata, spec } = instance;
  const password = metadata.annotations?.[ADDON_ANNOTATIONS.password];
  if (password !== undefined) await harvester.boots.keepPassword(context, instance, password);
  const record = new StatusRecord(context, Instance, instance);
  const written = await record.write(journalOfAddon(instance, context.clock.now()));
  const finalizers = metadata.finalizers ?? [];
  // An object that is being deleted takes no new finalizer; the addon's framework left its own.
  const complete = finalizers.includes(FINALIZER) || metadata.deletionTimestamp !== undefined;
  const body = {
    metadata: {
      resourceVersion: written.metadata.resourceVersion,
      annotations: {
        ...Object.fromEntries(Object.values(ADDON_ANNOTATIONS).map((name) => [name, null])),
        [ADOPTED]: "harvester-equinix-addon",
      },
      finalizers: complete ? finalizers : [...finalizers, FINALIZER],
    },
    spec: {
      ...adoptedSpec(spec, metadata.annotations?.[ADDON_ANNOTATIONS.reconfigure]),
      ...(isAddons(instance) && { installMode: GOES_ON.has(instance.status?.status ?? "") ? "OneBoot" : "TwoPass" }),
    },
  };
  await context.client.patch(Instance, { name: metadata.name }, { type: "merge", body });
  context.events.normal(
    instance,
    "Adopted",
    "taken over from harvester-equinix-addon; its secrets were moved out of the object",
  );
}

/** Whether the machine of this Instance must still be released: the addon left one finalizer or the other, by when it died. */
export function isHeld({ metadata }: Instance): boolean {
  const finalizers = metadata.finalizers ?? [];
  const adopted = metadata.annotations?.[ADOPTED] !== undefined;
  return finalizers.includes(FINALIZER) || (adopted && finalizers.includes(ADDON_FRAMEWORK_FINALIZER));
}

/** A machine that the addon had bought for this Instance when it died, before it wrote that down: it has the Instance's name and no mark. */
export async function unrecorded(fleet: Fleet, { metadata }: Instance): Promise<readonly Machine[]> {
  if (metadata.annotations?.[ADOPTED] === undefined) return [];
  const all = await fleet.all(0);
  return all.filter((machine) => machine.claim === undefined && machine.hostname === metadata.name);
}

/** Lets the addon's machine carry the mark that Slipway's own have from their order on. Nothing rests on it: a refusal is tried again at a later look. */
export async function mark({ signal }: Context, fleet: Fleet, { metadata }: Instance, machine: Machine): Promise<void> {
  if (metadata.annotations?.[ADOPTED] === undefined || machine.claim !== undefined || machine.phase === "releasing")
    return;
  try {
    await fleet.driver.tag?.(machine.id, metadata.uid, signal);
    fleet.note({ ...machine, claim: metadata.uid });
  } catch (error) {
    signal.throwIfAborted();
    if (!isFault(error)) throw error;
  }
}

/** The addon's words for machines that go on by themselves. */
const GOES_ON: ReadonlySet<string> = new Set(["reinstalling", "ready", "managed"]);

/** It bought this machine, and Slipway has not booted it. That the journal is written already says nothing: its writer may have died since. */
function isAddons({ status }: Instance): boolean {
  return Boolean(status?.instanceID) && status?.boot === undefined;
}

function journalOfAddon(instance: Instance, now: number): StatusFields<Instance> {
  if (!isAddons(instance) || instance.status?.purchase !== undefined) return {};
  const at = isoTime(now);
  // Deadlines begin now: what the addon knew of time is not written anywhere.
  const purchase = { attempt: 1, at, state: "Done" as const, placement: 0 };
  const as = instance.status?.status ?? "";
  const takenOver = { from: "harvester-equinix-addon", as, at };
  if (as !== "managed") return { purchase, takenOver };
  const network = {
    type: NETWORK_READY,
    status: "True" as const,
    reason: "TakenOver",
    message: "the ports were left as harvester-equinix-addon had set them",
    observedGeneration: instance.metadata.generation ?? 0,
  };
  return { purchase, takenOver, conditions: [...setCondition(instance.status?.conditions, network, now)] };
}

/** The second script was the one that mattered; the addon's own default is replaced by Slipway's. */
function adoptedSpec(
  spec: InstanceSpec,
  secondScript: string | undefined,
): Record<keyof Pick<InstanceSpec, "userdata" | "ipxeScriptUrl" | "isoUrl">, string | null> {
  const own = secondScript !== undefined && !secondScript.includes("/custom_pxe/") ? secondScript : null;
  const iso = spec.isoUrl ?? isoOf(spec.userdata);
  return { userdata: null, ipxeScriptUrl: own, isoUrl: iso === ADDON_ISO ? null : iso };
}

/** The release that the addon took where the pool named none; it never was one. */
const ADDON_ISO = "https://releases.rancher.com/harvester/master/harvester-master-amd64.iso";

/** The ISO stands only in the configuration that the addon rendered. */
function isoOf(userdata: string | null | undefined): string | null {
  try {
    const config = load(userdata ?? "") as { install?: { isourl?: unknown } } | undefined;
    return typeof config?.install?.isourl === "string" ? config.install.isourl : null;
  } catch {
    return null;
  }
}
