import { isoTime } from "@slipway/base";
import { type Context, ownerReference, refOf, setCondition } from "@slipway/kube";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HostFirmwareSettings } from "../../kinds/metal3/host-firmware-settings.ts";
import type { FirmwareSetting } from "../bmc/bmc.ts";

/** What etcd takes in one object is 1.5 MiB, and managed fields name each setting once more. */
const MOST = 2_000;
const MOST_LETTERS = 256;

/** The values as Metal3 shows them, as texts. Passwords are left out, whatever the BMC shows for them. */
export function settingsOf(settings: readonly FirmwareSetting[]): Record<string, string> {
  const shown = settings.filter(
    ({ name, type, value }) => type !== "Password" && value !== null && !/password/i.test(name),
  );
  return Object.fromEntries(
    shown.slice(0, MOST).map(({ name, value }) => [name.slice(0, MOST_LETTERS), String(value).slice(0, MOST_LETTERS)]),
  );
}

/** Writes down what the BMC shows of the firmware's settings, beside the host, with which it goes. */
export async function writeFirmwareSettings(
  host: BareMetalHost,
  read: readonly FirmwareSetting[],
  { client, clock }: Pick<Context, "client" | "clock">,
): Promise<void> {
  if (read.length === 0) return;
  const ref = refOf(host);
  const metadata = { ...ref, ownerReferences: [ownerReference(BareMetalHost, host)] };
  const held =
    (await client.find(HostFirmwareSettings, ref)) ??
    (await client.create(HostFirmwareSettings, { metadata, spec: { settings: {} } }));
  const now = clock.now();
  const settings = settingsOf(read);
  const wanted = Object.entries(held.spec.settings);
  const other = wanted.filter(([name, value]) => settings[name] !== String(value)).map(([name]) => name);
  const said = [
    [
      "ChangeDetected",
      other.length > 0,
      other.length > 0 ? "NotAsWanted" : "AsWanted",
      other.join(", ").slice(0, 1024),
    ],
    [
      "Valid",
      wanted.length === 0,
      wanted.length === 0 ? "Success" : "ReadOnly",
      READ_ONLY[wanted.length === 0 ? 0 : 1],
    ],
  ] as const;
  let conditions = held.status?.conditions ?? [];
  for (const [type, isTrue, reason, message] of said) {
    const observedGeneration = held.metadata.generation ?? 0;
    const condition = { type, status: isTrue ? ("True" as const) : ("False" as const), reason, message };
    conditions = setCondition(conditions, { ...condition, observedGeneration }, now);
  }
  await client.updateStatus(HostFirmwareSettings, {
    ...held,
    status: { ...held.status, settings, conditions, lastUpdated: isoTime(now) },
  });
}

const READ_ONLY = ["", "Slipway reads the firmware's settings and writes none"] as const;
