import { Fault, isFault, isoTime } from "@slipway/base";
import { type Context, type StatusFields, StatusRecord } from "@slipway/kube";
import { Instance, type InstanceStatus } from "../../kinds/harvester/instance.ts";
import type { BootEntry, Claimant, Entry, Job, Purchase } from "../../machines/claimant.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Journal } from "../../machines/lifecycle.ts";
import type { Machine } from "../../machines/machine.ts";
import { unrecorded } from "./adoption.ts";
import { announce } from "./announce.ts";
import { claimOf, orderOf, placementsOf, specConcerns } from "./claim.ts";
import type { Harvester } from "./harvester.ts";
import { journalOf } from "./journal.ts";
import { releaseOf } from "./release-entry.ts";

const TRIES = 5;

/** What an Instance's reconcile writes to its status. */
export type InstanceRecord = StatusRecord<Instance>;

/** The record of an Instance's status; what became true is reported as events. */
export function recordOf(context: Context, instance: Instance): InstanceRecord {
  return new StatusRecord(context, Instance, instance, (before, after) => announce(context.events, before, after));
}

/** One step for an Instance's machine. `describe`: the status as it should read with a machine that was just bought. */
export function jobOf(
  harvester: Harvester,
  context: Context,
  {
    record,
    fleet,
    describe,
  }: { record: InstanceRecord; fleet: Fleet; describe?: (machine: Machine) => InstanceStatus },
): Job & { monotonic: () => number } {
  const { clock, signal } = context;
  const claimant = new InstanceClaimant(harvester, context, record, describe);
  return { claimant, fleet, clock, signal, monotonic: () => clock.monotonic() };
}

/** Whether the step that an entry is of is still the one under way. */
function stands(entry: Entry, before: Journal, now: Journal): boolean {
  if (before.boot?.id !== now.boot?.id) return false;
  return entry.is !== "bought" || (isSame(before.purchase, now.purchase) && now.machineId === undefined);
}

/** What must still stand on the object for the entry to be written: the boot and, for a machine that was bought, the order that waits for it. */
function guardOf({ is }: Entry, { status }: Instance): Record<string, unknown> {
  const { boot, purchase } = status ?? {};
  return {
    ...(boot !== undefined && { "/status/boot/id": boot.id }),
    ...(is === "bought" && purchase !== undefined && { "/status/purchase": purchase }),
  };
}

/** An Instance as the executor sees it: its journal is its status. */
class InstanceClaimant implements Claimant {
  readonly #harvester: Harvester;
  readonly #context: Context;
  readonly #record: InstanceRecord;
  readonly #describe: ((machine: Machine) => InstanceStatus) | undefined;

  constructor(
    harvester: Harvester,
    context: Context,
    record: InstanceRecord,
    describe: ((machine: Machine) => InstanceStatus) | undefined,
  ) {
    this.#harvester = harvester;
    this.#context = context;
    this.#record = record;
    this.#describe = describe;
  }

  get #instance(): Instance {
    return this.#record.object;
  }

  get on() {
    return `Instance/${this.#instance.metadata.name}`;
  }

  get claim() {
    return claimOf(this.#instance, this.#harvester.pollMs);
  }

  get journal() {
    return journalOf(this.#instance.status);
  }

  concerns() {
    return specConcerns(this.#instance.spec);
  }

  order({ placement, attempt, boot }: Parameters<Claimant["order"]>[0]) {
    return orderOf(this.#instance, { placement, boot, onDemand: this.#isOnDemand(attempt) });
  }

  async prepareBoot(wanted: Parameters<Claimant["prepareBoot"]>[0]) {
    if (this.#instance.spec.ipxeScriptUrl && wanted.machine === undefined) {
      this.warning(
        "SecretsInUserData",
        "spec.ipxeScriptUrl: your script reads the configuration, join token included, from the provider's user data; it is cleared once the machine has joined",
      );
    }
    return await this.#harvester.boots.prepare(this.#context, this.#instance, wanted);
  }

  async discardBoot(fleet: Fleet) {
    await this.#harvester.boots.discard(this.#context, fleet, this.#instance);
  }

  async unmarked(fleet: Fleet) {
    return await unrecorded(fleet, this.#instance);
  }

  async flush() {
    await this.#record.write();
  }

  async write(entry: Entry) {
    if (entry.is === "bought" || entry.is === "booted") await this.#writeBesideMachine(entry);
    else await this.#record.write(this.#fields(entry));
  }

  /**
   * The machine reports on the same object, at the same time: what it wrote stays. What is guarded is the step of the entry. Should the
   * object have changed in another way, the entry is written again while its step is the one under way.
   */
  async #writeBesideMachine(entry: Entry): Promise<void> {
    const before = this.journal;
    for (let tries = 1; ; tries++) {
      try {
        const guard = guardOf(entry, this.#instance);
        this.#note(entry);
        await this.#record.writeBeside(guard);
        return;
      } catch (cause) {
        if (!isFault(cause, "Conflict", "Invalid") || tries === TRIES) throw cause;
        if (!(await this.#record.reread())) return;
        if (!stands(entry, before, this.journal))
          throw new Fault("Conflict", this.on, "another step is under way", { cause });
      }
    }
  }

  #note(entry: Entry): void {
    this.#record.note(this.#fields(entry));
    if (entry.is === "bought" && this.#describe !== undefined) this.#record.note(this.#describe(entry.machine));
  }

  normal(reason: string, message: string) {
    this.#context.events.normal(this.#instance, reason, message);
  }

  warning(reason: string, message: string) {
    this.#context.events.warning(this.#instance, reason, message);
  }

  /** The provider's price is taken once every placement had no capacity at the spot price. */
  #isOnDemand(attempt: number): boolean {
    const { spec } = this.#instance;
    return spec.spotFallback === "OnDemand" && attempt > placementsOf(spec).length;
  }

  #purchase(purchase: Purchase): InstanceStatus["purchase"] {
    const onDemand = this.#isOnDemand(purchase.attempt);
    return { ...purchase, at: isoTime(purchase.at), ...(onDemand && { onDemand }) };
  }

  #fields(entry: Entry): StatusFields<Instance> {
    const { status } = this.#instance;
    switch (entry.is) {
      case "ordering":
        return {
          purchase: this.#purchase(entry.purchase),
          boot: bootOf(entry.boot, false),
          install: installOf(status, entry.boot),
        };
      case "orderFailed":
        return { purchase: entry.purchase && this.#purchase(entry.purchase) };
      case "orderRefused":
        return { purchase: this.#purchase(entry.purchase) };
      case "bought":
        return boughtFields(status, entry.machine, entry.provider);
      case "booting":
        return {
          boot: bootOf(entry.boot, true),
          install: installOf(status, entry.boot),
          status: entry.boot.pass === 2 ? "reinstalling" : (status?.status ?? ""),
        };
      case "booted":
        return { boot: bootOf(entry.boot, true) };
      case "bootDiscarded":
        return { boot: undefined };
      case "lost": {
        const { reason, message, at } = entry;
        return { failure: { reason, message, at: isoTime(at) }, status: "failed" };
      }
      case "released":
        return { release: { ...releaseOf(this.#instance, this.#context.clock.now()), accepted: true } };
    }
  }
}

/** `sent` stands in the status only where it was asked for: of an order, its machine is the proof. */
function bootOf({ id, pass, at, sent }: BootEntry, withSent: boolean): InstanceStatus["boot"] {
  return { id, pass, at: isoTime(at), ...(withSent && { sent }) };
}

/** Where the signals of this boot go. It is announced with the boot, so a signal is one write that needs nothing but the boot's name. */
function installOf(status: Instance["status"], { id }: BootEntry): InstanceStatus["install"] {
  return status?.install?.bootID === id ? status.install : { bootID: id };
}

function isSame(a: Purchase | undefined, b: Purchase | undefined): boolean {
  return a?.attempt === b?.attempt && a?.at === b?.at;
}

function boughtFields(status: Instance["status"], machine: Machine, provider: string): StatusFields<Instance> {
  const { purchase, boot } = status ?? {};
  const { id, phase, providerState, plan, metro } = machine;
  return {
    instanceID: id,
    status: phase === "running" ? "provisioning" : providerState,
    machineState: providerState,
    provider,
    ...(plan !== undefined && { placement: { plan, ...(metro !== undefined && { metro }) } }),
    ...(purchase !== undefined && { purchase: { ...purchase, state: "Done" as const } }),
    ...(boot !== undefined && { boot: { ...boot, sent: true } }),
  };
}
