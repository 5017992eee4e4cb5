/** What is known of a host when its next step is decided. */
import type { Fault } from "@slipway/base";
import type { BareMetalHost, BareMetalHostStatus } from "../../kinds/metal3/bare-metal-host.ts";
import type { HardwareDetails } from "../../kinds/metal3/hardware.ts";
import type { Host } from "../../netboot/hosts/host.ts";
import type { Standing } from "../../netboot/hosts/trust.ts";

/** The operation that is under way on a host, as its status keeps it. */
export type Operation = NonNullable<BareMetalHostStatus["operation"]>;

/** What the management controller says; read by who asks for the next step. */
export type BmcView =
  /** It answers with the credentials of the Secret, whose resourceVersion this is. `macs`: of the system's cards, where it names them. */
  | { is: "answers"; power: "on" | "off" | "turning-on" | "turning-off"; credentials: string; macs: readonly string[] }
  /** It can't be asked: no credentials, no answer, a refusal. `credentials`: what was tried. */
  | { is: "fails"; fault: Fault; credentials?: string };

export interface Facts {
  /** ms since 1970. */
  now: number;
  host: BareMetalHost;
  /** What was seen of the machine on the network; undefined: nothing. */
  machine: Host | undefined;
  /** How far the machine is trusted. */
  standing: Standing | undefined;
  /** Another BareMetalHost that the machine belongs to as well, as `namespace/name`: then nothing is done with the machine for either. */
  rival: string | undefined;
  /** Another BareMetalHost knows the machine, whatever becomes of either. */
  isShared: boolean;
  /** Undefined: `spec.bmc` is not set. */
  bmc: BmcView | undefined;
  /** What HardwareData says of the hardware. */
  recorded: HardwareDetails | undefined;
  /** HardwareData holds what the agent reported. */
  isDescribed: boolean;
  /** The firmware's settings were read in this inspection, or can't be. */
  isFirmwareRead: boolean;
  /** There is room for another host that is worked on. */
  hasRoom: boolean;
  /** Whether this process offers the files that the order with this id names. */
  isOffered(id: string): boolean;
  /** Whether this process has made the start that was announced for this moment; another may have died before it. */
  isStarted(announcedAt: string): boolean;
  /** For what is begun now: never given before. */
  newId: string;
}

/** An agent asks for orders every 55 s at least; who was silent for longer than this is not in it any more. */
export const SILENT_MS = 90_000;

/** An agent that still speaks so long after its machine was to leave it has not left. */
const LEAVING_MS = 30_000;

/** Whether the machine is in Slipway's agent now. The agent that left for the disk does not count, however recently it spoke, nor that of a machine that is off. */
export function isInAgent({ host, machine, bmc, now }: Pick<Facts, "host" | "machine" | "bmc" | "now">): boolean {
  const session = machine?.session;
  if (bmc?.is === "answers" && bmc.power === "off") return false;
  if (session === undefined || now - session.spokeAt >= SILENT_MS) return false;
  const left = host.status?.operationHistory?.provision?.end;
  if (left === undefined || left === null) return true;
  return session.registeredAt > Date.parse(left) || session.spokeAt > Date.parse(left) + LEAVING_MS;
}

/** Whether the agent has begun anew after `since` (ms since 1970). */
export function hasBegunSince({ machine }: Pick<Facts, "machine">, since: number): boolean {
  return machine?.session !== undefined && machine.session.registeredAt > since;
}
