import { isoTime } from "@slipway/base";
import type { Context, StatusFields, StatusRecord } from "@slipway/kube";
import type { PacketMachine, PacketMachineStatus } from "../../kinds/packet/packet-machine.ts";
import type { Claimant, Entry, Job } from "../../machines/claimant.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Machine } from "../../machines/machine.ts";
import { bootField, installField, purchaseField, writeBesideMachine } from "../../machines/status-journal.ts";
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
class MachineClaimant implements Claimant {
  readonly #packet: Packet;
  readonly #context: Context;
  readonly #parts: JobParts;

  constructor(packet: Packet, context: Context, parts: JobParts) {
    this.#packet = packet;
    this.#context = context;
    this.#parts = parts;
  }

  get #machine(): PacketMachine {
    return this.#parts.record.object;
  }

  get #wanted(): Wanted {
    return { ...this.#parts.wanted, machine: this.#machine };
  }

  get on() {
    return nameOf(this.#machine);
  }

  get claim() {
    return claimOf(this.#wanted, this.#packet.pollMs);
  }

  get journal() {
    const { fleet, joined } = this.#parts;
    return journalOf(this.#machine, { reports: fetchesBoot(fleet.driver), joined });
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
    return await this.#packet.boots.prepare(this.#context, this.#machine, { driver: fleet.driver, data: await data() });
  }

  async discardBoot() {
    await this.#packet.boots.remove(this.#context, this.#machine);
  }

  /** A machine that the original had bought when it died, before it wrote that down. */
  async unmarked(fleet: Fleet) {
    const { names } = this.#wanted;
    const sets = [machineTags(names), oldMachineTags(names)];
    const isOurs = ({ claim, tags = [], phase }: Machine): boolean =>
      claim === undefined && phase !== "releasing" && sets.some((wanted) => wanted.every((tag) => tags.includes(tag)));
    return (await fleet.all(0)).filter(isOurs);
  }

  async flush() {
    await this.#parts.record.write();
  }

  async write(entry: Entry) {
    const { record } = this.#parts;
    if (entry.is !== "bought" && entry.is !== "booted") await record.write(this.#fields(entry));
    else
      await writeBesideMachine(record, {
        ...{ entry, on: this.on },
        journal: () => this.journal,
        note: () => this.#note(entry),
      });
  }

  #note(entry: Entry): void {
    const { record, describe } = this.#parts;
    record.note(this.#fields(entry));
    if (entry.is === "bought") record.note(describe(entry.machine));
  }

  normal(reason: string, message: string) {
    this.#context.events.normal(this.#machine, reason, message);
  }

  warning(reason: string, message: string) {
    this.#context.events.warning(this.#machine, reason, message);
  }

  #fields(entry: Entry): StatusFields<PacketMachine> {
    const { status } = this.#machine;
    switch (entry.is) {
      case "ordering":
        return {
          account: this.#parts.account,
          purchase: purchaseField(entry.purchase),
          boot: bootField(entry.boot, false),
          install: installField(status?.install, entry.boot),
        };
      case "orderFailed":
        return { purchase: entry.purchase && purchaseField(entry.purchase) };
      case "orderRefused":
        return { purchase: purchaseField(entry.purchase) };
      case "bought":
        return boughtFields(status, entry, this.claim.placements[status?.purchase?.placement ?? 0]?.reservation);
      case "booting":
        return { boot: bootField(entry.boot, true), install: installField(status?.install, entry.boot) };
      case "booted":
        return { boot: bootField(entry.boot, true) };
      case "bootDiscarded":
        return { boot: undefined };
      case "lost":
        return { failureReason: entry.reason, failureMessage: entry.message };
      case "released": {
        const now = isoTime(this.#context.clock.now());
        return { release: { reason: "Deleted", at: now, ...status?.release, accepted: true } };
      }
    }
  }
}

function boughtFields(
  status: PacketMachine["status"],
  { machine, provider }: Entry & { is: "bought" },
  reservation: string | undefined,
): StatusFields<PacketMachine> {
  const { purchase, boot } = status ?? {};
  const { id, plan, metro } = machine;
  return {
    instanceID: id,
    provider,
    placement: {
      ...(plan !== undefined && { machineType: plan }),
      ...(metro !== undefined && { metro }),
      ...(reservation !== undefined && { reservation }),
    },
    ...(purchase !== undefined && { purchase: { ...purchase, state: "Done" as const } }),
    ...(boot !== undefined && { boot: { ...boot, sent: true } }),
  };
}
