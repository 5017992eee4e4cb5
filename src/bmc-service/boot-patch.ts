import type { HttpAnswer } from "@slipway/base";
import { resource } from "./answer.ts";
import { type BootOverride, type BootTarget, type ManagedMachine, takesBootUri } from "./machine.ts";
import { errorAnswer, message } from "./messages.ts";
import { systemBody } from "./systems.ts";

const ENABLED = ["Once", "Continuous", "Disabled"] as const;

/**
 * A PATCH of a machine (DSP0266, PATCH). What can be changed is changed; with the rest refused, the answer is 200 and says so; with nothing
 * to change it is 400.
 */
export async function patchSystem(
  machine: ManagedMachine,
  body: Readonly<Record<string, unknown>>,
): Promise<HttpAnswer> {
  const known = systemBody(machine) as unknown as Record<string, unknown>;
  const { Boot: boot, ...others } = body;
  const names = Object.keys(others).filter((name) => !name.startsWith("@"));
  const refused = names.map((name) =>
    message(Object.hasOwn(known, name) ? "PropertyNotWritable" : "PropertyUnknown", name),
  );
  const changes: Changes = { override: machine.boot(), refused, changed: false };
  if (typeof boot === "object" && boot !== null && !Array.isArray(boot)) {
    for (const [name, value] of Object.entries(boot)) if (!name.startsWith("@")) change(machine, changes, name, value);
  } else if (boot !== undefined) refused.push(message("PropertyValueTypeError", JSON.stringify(boot), "Boot"));
  if (!changes.changed) return errorAnswer(400, refused.length > 0 ? refused : [message("NoOperation")]);
  await machine.setBoot(settled(changes.override));
  const now = systemBody(machine);
  return resource(refused.length === 0 ? now : { ...now, "@Message.ExtendedInfo": refused });
}

interface Changes {
  override: BootOverride;
  refused: object[];
  changed: boolean;
}

/** An override that is off has no target, and one without a target is off. */
function settled({ httpBootUri, ...override }: BootOverride): BootOverride {
  if (override.enabled === "Disabled" || override.target === "None")
    return { ...override, enabled: "Disabled", target: "None" };
  return override.target === "UefiHttp" && httpBootUri !== undefined ? { ...override, httpBootUri } : override;
}

function change(machine: ManagedMachine, changes: Changes, name: string, value: unknown): void {
  const { override, refused } = changes;
  const allowed: Readonly<Record<string, readonly unknown[]>> = {
    BootSourceOverrideEnabled: ENABLED,
    BootSourceOverrideTarget: ["None", ...machine.bootTargets],
    BootSourceOverrideMode: machine.bootModes,
  };
  const property = `Boot/${name}`;
  if (name === "HttpBootUri" && takesBootUri(machine)) {
    if (value !== null && !isWebUrl(value))
      return void refused.push(message("PropertyValueTypeError", String(value), property));
    const { httpBootUri: _, ...rest } = override;
    changes.override = typeof value === "string" ? { ...rest, httpBootUri: value } : rest;
  } else if (!Object.hasOwn(allowed, name)) return void refused.push(message("PropertyUnknown", property));
  else if (!allowed[name]!.includes(value))
    return void refused.push(message("PropertyValueNotInList", String(value), property));
  else if (name === "BootSourceOverrideEnabled") override.enabled = value as BootOverride["enabled"];
  else if (name === "BootSourceOverrideTarget") override.target = value as BootTarget;
  else override.mode = value as BootOverride["mode"];
  changes.changed = true;
}

/** Whether a value is an HTTP URL of at most 2,048 characters. */
export function isWebUrl(value: unknown): value is string {
  return typeof value === "string" && value.length <= 2048 && /^https?:\/\//.test(value) && URL.canParse(value);
}
