import { Fault, isFault } from "@slipway/base";
import type { BootChoice, BootDevice, BootMode, BootSeen } from "../bmc.ts";
import { carryOut, type Effect, type Span } from "../effect.ts";
import { at, type Body, listed, textAt, textsAt } from "./body.ts";
import { change } from "./change.ts";
import type { RedfishConnection, Resource } from "./connection.ts";
import type { Look } from "./power.ts";
import { applyTime, settingsOf } from "./settings.ts";
import { taskIn } from "./tasks.ts";

/** BootSourceOverrideTarget for each device, the best first. */
const TARGETS: Readonly<Record<BootDevice, readonly string[]>> = {
  pxe: ["Pxe"],
  "uefi-http": ["UefiHttp"],
  "virtual-media": ["Cd", "UsbCd", "Usb"],
  disk: ["Hdd"],
  default: ["None"],
};
const ALLOWED = "BootSourceOverrideTarget@Redfish.AllowableValues";
const MODES: Readonly<Record<BootMode, string>> = { UEFI: "UEFI", legacy: "Legacy" };

export interface BootRequest extends BootChoice {
  device: BootDevice;
}

/** Where BMCs keep the boot override. */
interface Places {
  system: Resource;
  /** Where changes wait for the next start, if the BMC has such a resource. */
  settings: Resource | undefined;
}

/** Sets the boot override, where this BMC keeps it, in the words that it takes, and waits until it is seen. */
export async function bootFrom(
  connection: RedfishConnection,
  look: Look,
  request: BootRequest,
  span: Span,
): Promise<BootSeen> {
  const { device, once } = request;
  const system = await look(span.signal);
  const settings = await settingsOf(connection, system, span.signal);
  const places: Places = { system, settings };
  const wanted = wantedFor(connection.origin, request, places);
  const isExact = device === "default" || seenIn(system).once === once;
  if (isExact && isSet(bootIn(system), wanted)) return seenIn(system);
  let last: Resource = system;
  const effect: Effect = {
    on: connection.origin,
    what: `boot from ${device}`,
    async seen(signal) {
      last = await look(signal);
      if (isSet(bootIn(last), wanted)) return true;
      // What waits for the next start stands in the settings until then.
      if (settings === undefined) return false;
      last = await connection.get(settings.path, signal);
      return isSet(bootIn(last), wanted);
    },
  };
  await carryOut(span, effect, () => write(connection, places, wanted, span.signal));
  return seenIn(last);
}

interface Wanted {
  target: string;
  enabled: "Once" | "Continuous" | "Disabled";
  mode: string | undefined;
  /** Null: none, and one that is there is removed. Undefined: it is of no account. */
  uri: string | null | undefined;
}

function wantedFor(on: string, { device, once, mode, httpBootUri }: BootRequest, places: Places): Wanted {
  const { system, settings } = places;
  const target = targetFor(on, device, places);
  const current = textAt(bootIn(settings ?? system), "HttpBootUri");
  if (httpBootUri !== undefined && ![system, settings].some(takesUri))
    throw new Fault("Unsupported", on, "the BMC takes no address to boot from by HTTP");
  return {
    target,
    enabled: device === "default" ? "Disabled" : once ? "Once" : "Continuous",
    mode: mode === undefined ? undefined : MODES[mode],
    uri: device === "uefi-http" ? (httpBootUri ?? (current === undefined ? undefined : null)) : undefined,
  };
}

function targetFor(on: string, device: BootDevice, { system, settings }: Places): string {
  const offered = textsAt(bootIn(system), ALLOWED) ?? textsAt(settings && bootIn(settings), ALLOWED);
  // Supermicro shows virtual media as a CD at the USB port, and offers both.
  const isUsb = device === "virtual-media" && /supermicro/i.test(textAt(system.body, "Manufacturer") ?? "");
  const candidates = isUsb ? ["UsbCd", ...TARGETS[device]] : TARGETS[device];
  if (offered === undefined || device === "default") return TARGETS[device][0]!;
  const target = candidates.find((one) => offered.includes(one));
  if (target !== undefined) return target;
  throw new Fault("Unsupported", on, `the BMC can't boot the machine from ${device}, only from ${listed(offered)}`, {
    remedy:
      device === "uefi-http"
        ? "use an address that boots by PXE or virtual media"
        : "look whether the device is enabled in the firmware",
  });
}

/** The order in the words that BMCs take: some demand the mode, some refuse it though it is the same. */
function spellings(wanted: Wanted, boot: unknown): Body[] {
  const current = textAt(boot, "BootSourceOverrideMode");
  const mode = wanted.mode ?? current;
  const core = {
    BootSourceOverrideEnabled: wanted.enabled,
    BootSourceOverrideTarget: wanted.target,
    ...(wanted.uri !== undefined && { HttpBootUri: wanted.uri }),
  };
  const bodies: Body[] = mode === undefined ? [core] : [{ ...core, BootSourceOverrideMode: mode }];
  if (mode !== undefined && (wanted.mode === undefined || current === wanted.mode)) bodies.push(core);
  if (wanted.enabled === "Disabled") bodies.push({ BootSourceOverrideEnabled: "Disabled" });
  return bodies;
}

/** Where the override is kept: in the settings resource where that has one (iDRAC10, AMI), else at the machine. */
async function write(connection: RedfishConnection, { system, settings }: Places, wanted: Wanted, signal: AbortSignal) {
  const ownFirst = settings === undefined || at(bootIn(settings), "BootSourceOverrideTarget") === undefined;
  const places = [system, ...(settings === undefined ? [] : [settings])];
  if (!ownFirst) places.reverse();
  let refused: unknown;
  for (const place of places) {
    const extra = place === settings ? applyTime(system.body) : {};
    const bodies = spellings(wanted, bootIn(place)).map((Boot) => ({ Boot, ...extra }));
    try {
      return taskIn(connection, await change(connection, place, bodies, signal));
    } catch (error) {
      if (!isFault(error, "Unsupported", "NotFound")) throw error;
      refused ??= error;
    }
  }
  throw refused;
}

/** A BMC that takes an address shows the property, if it is null. */
function takesUri(resource: Resource | undefined): boolean {
  const boot = resource && bootIn(resource);
  return typeof boot === "object" && boot !== null && "HttpBootUri" in boot;
}

function bootIn({ body }: Resource): unknown {
  return at(body, "Boot");
}

/** A single boot also counts where the BMC made a lasting one of it. */
function isSet(boot: unknown, { target, enabled, mode, uri }: Wanted): boolean {
  const set = textAt(boot, "BootSourceOverrideEnabled");
  if (enabled === "Disabled") return set === "Disabled" || textAt(boot, "BootSourceOverrideTarget") === "None";
  if (set === "Disabled" || (enabled === "Continuous" && set === "Once")) return false;
  const now = textAt(boot, "BootSourceOverrideMode");
  const at = textAt(boot, "HttpBootUri");
  return (
    textAt(boot, "BootSourceOverrideTarget") === target &&
    (mode === undefined || now === undefined || now === mode) &&
    (uri === undefined || (at ?? null) === uri)
  );
}

function seenIn(resource: Resource): BootSeen {
  return { once: textAt(bootIn(resource), "BootSourceOverrideEnabled") !== "Continuous" };
}
