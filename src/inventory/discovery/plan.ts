/** What becomes of a machine that was seen on the network. Pure. */

import type { Draft } from "@slipway/kube";
import type { BareMetalHost, BareMetalHostStatus } from "../../kinds/metal3/bare-metal-host.ts";
import type { HardwareDetails } from "../../kinds/metal3/hardware.ts";
import type { Host } from "../../netboot/hosts/host.ts";
import { type Standing, waitsFor } from "../../netboot/hosts/trust.ts";
import { fingerprint } from "../../netboot/protocol/key.ts";
import { DISCOVERED_LABEL, isDiscovered } from "./declaration.ts";
import { hardwareOf } from "./hardware.ts";
import { twinsOf } from "./twins.ts";

/** Where the management controller answers, as the machine says. Credentials are for a person to add. */
const BMC_ANNOTATION = "slipway.dev/bmc-address";

/** A machine that was silent for longer is not made an object of: one that was deleted while it is off stays away. */
export const RECENT_MS = 10 * 60_000;

export interface Discovery {
  namespace: string;
  /** Discovered hosts there may be; further machines are logged once, and wait until one of them is deleted. */
  most: number;
}

export type DiscoveryStep =
  /** `because`: nothing to do, or not now. */
  | { do: "nothing"; because: "declared" | "silent" | "full" | "current" }
  | { do: "create"; host: Draft<BareMetalHost> }
  /** The machine has several objects: this one is deleted, which nobody uses, and `into` goes on. */
  | { do: "merge"; host: BareMetalHost; into: BareMetalHost }
  | { do: "report"; host: BareMetalHost; status: BareMetalHostStatus }
  | { do: "describe"; name: string; hardware: HardwareDetails };

export interface Observed {
  now: number;
  /** How far the machine is trusted. */
  standing: Standing;
  /** Metal3's own definition has no place for what is known of the agent. */
  keepsAgent: boolean;
  /** BareMetalHosts of any namespace with one of the machine's cards, and the one with its name. */
  known: readonly BareMetalHost[];
  /** Discovered hosts that there are. */
  count: number;
  /** What the HardwareData of this name holds. */
  described(name: string): HardwareDetails | undefined;
}

/** The next step for a machine; the same again until it says `nothing`. */
export function planDiscovery(host: Host, seen: Observed, { namespace, most }: Discovery): DiscoveryStep {
  const twins = twinsOf(seen.known, namespace);
  if (twins !== undefined) return { do: "merge", ...twins };
  const own = seen.known.find(({ metadata }) => metadata.namespace === namespace && isDiscovered(metadata));
  if (own === undefined) {
    if (seen.known.length > 0) return { do: "nothing", because: "declared" };
    if (seen.now - host.lastSeen > RECENT_MS) return { do: "nothing", because: "silent" };
    if (seen.count >= most) return { do: "nothing", because: "full" };
    return { do: "create", host: hostObject(host, namespace) };
  }
  const hardware = host.inventory && hardwareOf(host.inventory);
  const agent = seen.keepsAgent ? agentOf(host, seen.standing) : undefined;
  const status = statusOf(own.status, { hardware, agent }, seen.now);
  if (status !== undefined) return { do: "report", host: own, status };
  const { name } = own.metadata;
  if (hardware !== undefined && !holds(hardware, seen.described(name))) return { do: "describe", name, hardware };
  return { do: "nothing", because: "current" };
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

/** What is known of the agent on a machine; undefined: none has registered. */
function agentOf(host: Host, standing: Standing): BareMetalHostStatus["agent"] {
  const { session, agentKey, tpm } = host;
  if (session === undefined) return undefined;
  const waiting = waitsFor(host, standing);
  return {
    address: session.address,
    trust: standing.trust,
    registeredAt: new Date(session.registeredAt).toISOString(),
    ...(agentKey !== undefined && { keyFingerprint: fingerprint(agentKey) }),
    ...(waiting !== undefined && { waitsFor: waiting }),
    ...(tpm !== undefined && { tpm }),
  };
}

/** The status to write; undefined when it says all that already. A state other than `unmanaged` belongs to another engine; only the agent's part is ours. */
function statusOf(
  is: BareMetalHostStatus | undefined,
  { hardware, agent }: { hardware: HardwareDetails | undefined; agent: BareMetalHostStatus["agent"] },
  now: number,
): BareMetalHostStatus | undefined {
  const state = is?.provisioning?.state ?? "";
  const isAgentTold = agent === undefined || (holds(agent, is?.agent) && holds(is?.agent, agent));
  if (is !== undefined && state !== "" && state !== "unmanaged") return isAgentTold ? undefined : { ...is, agent };
  const isReported = is?.operationalStatus === "discovered" && (hardware === undefined || holds(hardware, is.hardware));
  if (isReported && isAgentTold) return undefined;
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
    ...(agent !== undefined && { agent }),
  };
}

/** Whether the API holds what would be written: it may hold more, and in another order. */
export function holds(wanted: unknown, held: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null) return wanted === held;
  if (typeof held !== "object" || held === null) return false;
  if (Array.isArray(wanted) && wanted.length !== (held as unknown[]).length) return false;
  return Object.entries(wanted).every(([key, value]) => holds(value, (held as Record<string, unknown>)[key]));
}
