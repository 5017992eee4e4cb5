import type { Timer } from "@slipway/base";
import type { Hardware, Powered, Progress } from "../hardware.ts";
import type { PlanFacts } from "./catalog.ts";

export type DeviceState =
  | "queued"
  | "provisioning"
  | "deprovisioning"
  | "reinstalling"
  | "active"
  | "inactive"
  | "failed"
  | "powering_on"
  | "powering_off"
  | "deleted";

/** A device as the simulated cloud keeps it. To be read by anyone, written only by this folder. */
export interface SimDevice {
  readonly id: string;
  /** Which addresses are its. */
  readonly slot: number;
  readonly projectId: string;
  readonly plan: PlanFacts;
  readonly metro: string;
  readonly facility: string;
  /** Ids of the keys that were put on it. */
  readonly sshKeys: readonly string[];
  readonly operatingSystem: string;
  readonly billingCycle: string;
  readonly createdAt: number;
  /** Lists and tag look-ups don't show it before. */
  readonly listedAt: number;
  readonly spot: boolean;
  readonly reservation: string | undefined;
  readonly order: Readonly<Record<string, unknown>>;
  readonly hardware: Hardware;
  readonly ports: readonly SimPort[];
  hostname: string;
  description: string | undefined;
  state: DeviceState;
  tags: readonly string[];
  userData: string;
  scriptUrl: string;
  alwaysPxe: boolean;
  customData: unknown;
  locked: boolean;
  networkFrozen: boolean;
  terminatesAt: number | undefined;
  updatedAt: number;
  addresses: readonly SimAddress[];
  events: readonly SimEvent[];
  /** The newest stage that the machine itself reached; undefined: it never had power. */
  stage: Progress["stage"] | undefined;
  /** What it runs by now: what the network gave it, or what is installed on its disk; undefined: it has no power. Outlives the process. */
  runs: "network" | "disk" | undefined;
  /** The machine runs. A killed one does not, whatever `state` says. */
  powered: Powered | undefined;
  /** The next thing that happens to it. */
  timer: Timer | undefined;
  /** Ends the machine at its termination time; outlives other timers. */
  revocation: Timer | undefined;
  /** Stands for the current boot; progress of an earlier one is ignored. */
  boot: object | undefined;
  reinstallPending: boolean;
  /** It will never run again. */
  dead: boolean;
  /** JSON as it was last shown, per kind of view; dropped at each change. */
  shown: Map<string, string>;
}

export interface SimPort {
  readonly id: string;
  readonly device: SimDevice;
  readonly name: string;
  readonly kind: "bond" | "physical";
  readonly mac: string | undefined;
  /** The bond a physical port belongs to, in it or not. */
  readonly bond: SimPort | undefined;
  /** Of a physical port. */
  bonded: boolean;
  /** Of a bond. */
  layer: 2 | 3;
  vlans: readonly SimVlan[];
  native: SimVlan | undefined;
}

export interface SimVlan {
  readonly id: string;
  readonly projectId: string;
  readonly metro: string;
  readonly vxlan: number;
  readonly description: string;
}

/** A router between a VLAN and a block of addresses. */
export interface SimGateway {
  readonly id: string;
  readonly projectId: string;
  readonly vlanId: string;
  readonly blockId: string;
  /** The block was reserved with it, and goes with it. */
  readonly ownsBlock: boolean;
  readonly createdAt: number;
}

/** An order of several machines at one price. */
export interface SimSpotRequest {
  readonly id: string;
  readonly projectId: string;
  readonly metro: string;
  readonly least: number;
  readonly most: number;
  readonly price: number;
  readonly endsAt: number | undefined;
  readonly createdAt: number;
  readonly devices: readonly string[];
}

export interface SimAddress {
  readonly id: string;
  readonly address: string;
  readonly family: 4 | 6;
  readonly public: boolean;
  readonly cidr: number;
  readonly gateway: string;
}

export interface SimEvent {
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly state: string | undefined;
  readonly at: number;
}

/** The physical ports of a bond, bonded at the moment or not. */
export function membersOf(bond: SimPort): readonly SimPort[] {
  return bond.device.ports.filter((port) => port.bond === bond);
}

/** The document's `network_type`, of a bond or of the bond a port belongs to. */
export function networkType(port: SimPort): string {
  const bond = port.bond ?? port;
  const whole = membersOf(bond).every((member) => member.bonded);
  if (bond.layer === 2) return whole ? "layer2-bonded" : "layer2-individual";
  if (!whole) return "hybrid";
  return bond.vlans.length > 0 ? "hybrid-bonded" : "layer3";
}
