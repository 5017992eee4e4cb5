import type { Context, StatusFields, StatusRecord } from "@slipway/kube";
import type { PacketMachine, PacketMachineStatus } from "../../kinds/packet/packet-machine.ts";
import type { Claimant, Entry, Job } from "../../machines/claimant.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Machine } from "../../machines/machine.ts";
import { StatusClaimant } from "../../machines/status-claimant.ts";
import type { AccountName } from "./account.ts";
import { fetchesBoot } from "./boots.ts";
import { claimOf, orderOf, specConcerns, type Wanted } from "./claim.ts";
import { journalOf } from "./journal.ts";
import { machineTags, nameOf, oldMachineTags } from "./names.ts";
import type { Packet } from "./shared.ts";

export type MachineRecord = StatusRecord<PacketMachine>;

export interface JobParts {
  record: MachineRecord;
  wanted: Omit<Wanted, "machine">;
  fleet: Fleet;
  account: AccountName;
  joined: boolean;
  /** The bootstrap data, read when they are needed. */
  data: () => Promise<string>;
  /** The status as it should read with a machine that was just bought. */
  describe: (machine: Machine) => PacketMachineStatus;
}

/** One step for a PacketMachine's machine. */
export function jobOf(packet: Packet, context: Context, parts: JobParts): Job & { monotonic: () => number } {
  const { clock, signal } = context;
  const claimant = new MachineClaimant(packet, context, parts);
  return { claimant, fleet: parts.fleet, clock, signal, monotonic: () => clock.monotonic() };
}

/** A PacketMachine as the executor sees it: its journal is its status. */
class MachineClaimant extends StatusClaimant<PacketMachine> {
  readonly #packet: Packet;
  readonly #parts: JobParts;

  constructor(packet: Packet, context: Context, parts: JobParts) {
    super(context, parts.record, parts.describe as (machine: Machine) => StatusFields<PacketMachine>);
    this.#packet = packet;
    this.#parts = parts;
  }

  get #wanted(): Wanted {
    return { ...this.#parts.wanted, machine: this.object };
  }

  get on() {
    return nameOf(this.object);
  }

  get claim() {
    return claimOf(this.#wanted, this.#packet.pollMs);
  }

  get journal() {
    const { fleet, joined } = this.#parts;
    return journalOf(this.object, { reports: fetchesBoot(fleet.driver), joined });
  }

  concerns() {
    return specConcerns(this.#wanted);
  }

  order({ placement, boot }: Parameters<Claimant["order"]>[0]) {
    const { fleet, account } = this.#parts;
    // Other providers know nothing of the project that the manifest names.
    const project =
      fleet.driver.type === "equinix" ? (account.project ?? this.#wanted.cluster?.spec.projectID) : undefined;
    return orderOf(this.#wanted, { placement, boot, projectId: project || undefined });
  }

  async prepareBoot() {
    const { fleet, data } = this.#parts;
    return await this.#packet.boots.prepare(this.context, this.object, { driver: fleet.driver, data: await data() });
  }

  async discardBoot() {
    await this.#packet.boots.remove(this.context, this.object);
  }

  /** A machine that the original had bought when it died, before it wrote that down. */
  async unmarked(fleet: Fleet) {
    const { names } = this.#wanted;
    const sets = [machineTags(names), oldMachineTags(names)];
    const isOurs = ({ claim, tags = [], phase }: Machine): boolean =>
      claim === undefined && phase !== "releasing" && sets.some((wanted) => wanted.every((tag) => tags.includes(tag)));
    return (await fleet.all(0)).filter(isOurs);
  }

  protected ordering() {
    return { account: this.#parts.account };
  }

  protected bought({ machine, provider }: Entry & { is: "bought" }) {
    const { id, plan, metro } = machine;
    const { reservation } = this.claim.placements[this.object.status?.purchase?.placement ?? 0] ?? {};
    return {
      instanceID: id,
      provider,
      placement: {
        ...(plan !== undefined && { machineType: plan }),
        ...(metro !== undefined && { metro }),
        ...(reservation !== undefined && { reservation }),
      },
    };
  }
}
