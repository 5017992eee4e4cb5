/** What becomes of a machine that was heard on the network. Pure. */
import type { BareMetalHost, BareMetalHostStatus } from "../../kinds/metal3/bare-metal-host.ts";
import type { HardwareDetails } from "../../kinds/metal3/hardware.ts";
import type { Draft } from "../../kube/object.ts";
import type { Host } from "../../netboot/hosts/host.ts";
import { hardwareOf } from "./hardware.ts";

/** On hosts that discovery made; those that were declared are never touched by it. */
const DISCOVERED_LABEL = "slipway.dev/discovered";
/** Where the management controller answers, as the machine says. Credentials are for a person to add. */
const BMC_ANNOTATION = "slipway.dev/bmc-address";

/** A machine that was silent for longer is not made an object of: one that was deleted while it is off stays away. */
export const RECENT_MS = 10 * 60_000;

export interface Discovery {
  namespace: string;
  /** Discovered hosts there may be; what is heard beyond is told once, and waits for one of them to go. */
  most: number;
}

export type DiscoveryStep =
  /** `because`: nothing to do, or not now. */
  | { do: "nothing"; because: "declared" | "silent" | "full" | "current" }
  | { do: "create"; host: Draft<BareMetalHost> }
  | { do: "tell"; host: BareMetalHost; status: BareMetalHostStatus }
  | { do: "describe"; name: string; hardware: HardwareDetails };

export interface Observed {
  now: number;
  /** BareMetalHosts of any namespace with one of the machine's cards, and the one with its name. */
  known: readonly BareMetalHost[];
  /** Discovered hosts that there are. */
  count: number;
  /** What the HardwareData of this name holds. */
  described(name: string): HardwareDetails | undefined;
}

/** The next step for a machine; the same again until it says `nothing`. */
export function planDiscovery(host: Host, seen: Observed, { namespace, most }: Discovery): DiscoveryStep {
  const own = seen.known.find(({ metadata }) => metadata.namespace === namespace && isDiscovered(metadata));
  if (own === undefined) {
    if (seen.known.length > 0) return { do: "nothing", because: "declared" };
    if (seen.now - host.lastSeen > RECENT_MS) return { do: "nothing", because: "silent" };
    if (seen.count >= most) return { do: "nothing", because: "full" };
    return { do: "create", host: hostObject(host, namespace) };
  }
  const hardware = host.inventory && hardwareOf(host.inventory);
  const status = statusOf(own.status, hardware, seen.now);
  if (status !== undefined) return { do: "tell", host: own, status };
  const { name } = own.metadata;
  if (hardware !== undefined && !isSame(hardware, seen.described(name))) return { do: "describe", name, hardware };
  return { do: "nothing", because: "current" };
}

/** Whether discovery made the object with these labels. */
export function isDiscovered({ labels }: { labels?: Readonly<Record<string, string>> }): boolean {
  return labels?.[DISCOVERED_LABEL] !== undefined;
}

/** Every card by which a BareMetalHost is known, in lower case. */
export function macsOf({ spec, status }: BareMetalHost): string[] {
  // A host may be declared by its name alone.
  const declared = (spec as BareMetalHost["spec"] | undefined)?.bootMACAddress;
  const found = status?.hardware?.nics?.map(({ mac }) => mac) ?? [];
  return [...new Set([declared, ...found].filter((mac) => mac !== undefined).map((mac) => mac.toLowerCase()))];
}

function hostObject({ name, mac, inventory, architecture, firmware }: Host, namespace: string): Draft<BareMetalHost> {
  const address = inventory?.bmc?.address ?? inventory?.bmc?.addressV6;
  const arch = inventory?.architecture ?? architecture;
  return {
    metadata: {
      name,
      namespace,
      labels: { [DISCOVERED_LABEL]: "true" },
      ...(address !== undefined && { annotations: { [BMC_ANNOTATION]: address } }),
    },
    spec: {
      online: true,
      bootMACAddress: mac,
      automatedCleaningMode: "metadata",
      bootMode: bootModeOf(inventory?.firmware ?? (firmware && { kind: firmware })),
      ...(arch !== undefined && { architecture: arch }),
    },
  };
}

function bootModeOf(firmware?: {
  kind: "bios" | "uefi";
  secureBoot?: boolean | undefined;
}): BareMetalHost["spec"]["bootMode"] {
  if (firmware?.kind === "bios") return "legacy";
  return firmware?.secureBoot === true ? "UEFISecureBoot" : "UEFI";
}

/** The status to write; undefined when it says all that already. Another state than `unmanaged` is somebody else's to tell. */
function statusOf(
  is: BareMetalHostStatus | undefined,
  hardware: HardwareDetails | undefined,
  now: number,
): BareMetalHostStatus | undefined {
  const state = is?.provisioning?.state ?? "";
  if (state !== "" && state !== "unmanaged") return undefined;
  const isTold = is?.operationalStatus === "discovered" && (hardware === undefined || isSame(hardware, is.hardware));
  if (isTold) return undefined;
  return {
    errorCount: 0,
    errorMessage: "",
    provisioningFailCount: 0,
    ...is,
    operationalStatus: "discovered",
    // It speaks to us.
    poweredOn: true,
    provisioning: { ID: "", ...is?.provisioning, state: "unmanaged" },
    lastUpdated: new Date(now).toISOString(),
    ...(hardware !== undefined && { hardware }),
  };
}

/** Whether the API holds what would be written: it may hold more, and in another order. */
function isSame(wanted: unknown, held: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null) return wanted === held;
  if (typeof held !== "object" || held === null) return false;
  if (Array.isArray(wanted) && wanted.length !== (held as unknown[]).length) return false;
  return Object.entries(wanted).every(([key, value]) => isSame(value, (held as Record<string, unknown>)[key]));
}
