/** What a machine's TPM has proven of its boot, on the HardwareData of its host: annotations, since Metal3's specification has no place for it. */
import { type Context, refOf } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../kinds/metal3/hardware-data.ts";
import type { TpmIdentity } from "../../netboot/tpm/identify.ts";
import { certificateLine } from "../../netboot/tpm/maker-certificate.ts";

/** SHA-256 of the endorsement key's public area. */
export const TPM_ANNOTATION = "slipway.dev/tpm";
/** A line for each register, its number and its value: `kubectl describe` cuts long lines off, and shows many. */
export const PCRS_ANNOTATION = "slipway.dev/pcrs";

/** What the TPM's maker says of it, on one line. */
export const CERTIFICATE_ANNOTATION = "slipway.dev/tpm-certificate";

/** What is measured into each register (TCG PC Client Platform Firmware Profile §3.3.4; 14 is shim's). Others differ from boot to boot. */
const MEASURED: Readonly<Record<string, string>> = {
  0: "firmware",
  1: "firmware settings",
  2: "option ROMs",
  3: "option ROMs' settings",
  4: "boot loaders",
  5: "boot loaders' settings, partition tables",
  6: "the maker's own",
  7: "Secure Boot's state and keys",
  14: "shim's keys",
};

/** What was proven at the boot before, as its annotations have it. */
type Annotations = Readonly<Record<string, string>>;

/** The annotations of a proven boot. Pure. */
export function annotationsOf({ endorsementKey, pcrs, certificate }: TpmIdentity): Annotations {
  const numbers = Object.keys(pcrs).sort((a, b) => Number(a) - Number(b));
  const lines = numbers.map((number) => `${number}: ${pcrs[number]}`);
  return {
    ...{ [TPM_ANNOTATION]: endorsementKey, [PCRS_ANNOTATION]: lines.join("\n") },
    ...(certificate !== undefined && { [CERTIFICATE_ANNOTATION]: certificateLine(certificate) }),
  };
}

/** What differs from the boot before, in words; undefined: nothing that stays the same from boot to boot, or nothing was known. Pure. */
export function changeSince(before: Annotations, now: TpmIdentity): string | undefined {
  const key = before[TPM_ANNOTATION];
  if (key === undefined) return undefined;
  if (key !== now.endorsementKey) return `it has another TPM: ${now.endorsementKey}, before it was ${key}`;
  const held = new Map((before[PCRS_ANNOTATION] ?? "").split("\n").map((line) => line.split(": ") as [string, string]));
  const changed = Object.keys(MEASURED).filter(
    (number) => held.has(number) && number in now.pcrs && held.get(number) !== now.pcrs[number],
  );
  if (changed.length === 0) return undefined;
  return `PCRs differ from the boot before: ${changed.map((number) => `${number} (${MEASURED[number]})`).join(", ")}`;
}

/**
 * Writes what was proven to the host's HardwareData, if there is one that says something else, and an event about what has changed. Rejects as the
 * API does: of two that write at once, one finds a `Conflict`, and at its next look nothing to do.
 */
export async function noteBoot(host: BareMetalHost, tpm: TpmIdentity | undefined, context: Context): Promise<void> {
  const { cache, client, events } = context;
  const held = tpm && cache.get(HardwareData, refOf(host));
  if (tpm === undefined || held === undefined) return;
  const before = held.metadata.annotations ?? {};
  const proven = annotationsOf(tpm);
  if (Object.entries(proven).every(([name, value]) => before[name] === value)) return;
  await client.update(HardwareData, {
    ...held,
    metadata: { ...held.metadata, annotations: { ...before, ...proven } },
  });
  const change = changeSince(before, tpm);
  if (change !== undefined) events.warning(host, "BootChanged", change);
}
