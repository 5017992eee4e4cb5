import { load } from "js-yaml";
import { Instance, type InstanceSpec } from "../../kinds/harvester/instance.ts";
import type { Context } from "../../kube/controller.ts";
import type { Harvester } from "./harvester.ts";
import { ADDON_ANNOTATIONS, ADOPTED, FINALIZER } from "./names.ts";

/** Whether an Instance still carries what only harvester-equinix-addon wrote: secrets in the clear, among others. */
export function needsAdoption(instance: Instance): boolean {
  const annotations = instance.metadata.annotations ?? {};
  return Object.values(ADDON_ANNOTATIONS).some((name) => annotations[name] !== undefined);
}

/**
 * Takes an Instance of the addon over: its password moves into a Secret, the API key and the join token go, and so does the script
 * of the first of its two boots. State and machine stay as they are.
 */
export async function adopt(harvester: Harvester, context: Context, instance: Instance): Promise<void> {
  const { metadata, spec } = instance;
  const password = metadata.annotations?.[ADDON_ANNOTATIONS.password];
  if (password !== undefined) await harvester.boots.keepPassword(context, instance, password);
  const finalizers = metadata.finalizers ?? [];
  const body = {
    metadata: {
      resourceVersion: metadata.resourceVersion,
      annotations: {
        ...Object.fromEntries(Object.values(ADDON_ANNOTATIONS).map((name) => [name, null])),
        [ADOPTED]: "harvester-equinix-addon",
      },
      finalizers: finalizers.includes(FINALIZER) ? finalizers : [...finalizers, FINALIZER],
    },
    spec: adoptedSpec(spec, metadata.annotations?.[ADDON_ANNOTATIONS.reconfigure]),
  };
  await context.client.patch(Instance, { name: metadata.name }, { type: "merge", body });
  context.events.normal(
    instance,
    "Adopted",
    "taken over from harvester-equinix-addon; its secrets were moved out of the object",
  );
}

/** The second script was the one that mattered; the addon's own default is replaced by Slipway's. */
function adoptedSpec(
  spec: InstanceSpec,
  secondScript: string | undefined,
): Record<keyof Pick<InstanceSpec, "userdata" | "ipxeScriptUrl" | "isoUrl">, string | null> {
  const own = secondScript !== undefined && !secondScript.includes("/custom_pxe/") ? secondScript : null;
  return { userdata: null, ipxeScriptUrl: own, isoUrl: spec.isoUrl ?? isoOf(spec.userdata) };
}

/** The ISO stands only in the configuration that the addon rendered. */
function isoOf(userdata: string | null | undefined): string | null {
  try {
    const config = load(userdata ?? "") as { install?: { isourl?: unknown } } | undefined;
    return typeof config?.install?.isourl === "string" ? config.install.isourl : null;
  } catch {
    return null;
  }
}
