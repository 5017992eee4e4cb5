import { isoTime } from "@slipway/base";
import { type Context, type StatusFields, StatusRecord } from "@slipway/kube";
import { Instance, type InstanceStatus } from "../../kinds/harvester/instance.ts";
import type { Claimant, Entry, Job, Purchase } from "../../machines/claimant.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Capabilities, Concern, Machine } from "../../machines/machine.ts";
import { bootField, installField, purchaseField, writeBesideMachine } from "../../machines/status-journal.ts";
import { unrecorded } from "./adoption.ts";
import { announce } from "./announce.ts";
import { claimOf, orderOf, placementsOf, specConcerns } from "./claim.ts";
import type { Harvester } from "./harvester.ts";
import { journalOf } from "./journal.ts";
import { releaseOf } from "./release-entry.ts";

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

/** About a script of the user's own, where nothing could hand it its configuration. */
const UNREADABLE: Concern = {
  field: "spec.ipxeScriptUrl",
  message: "such a script reads its configuration from user data, and the provider has no service for that",
  fatal: true,
};

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

  concerns({ userData }: Pick<Capabilities, "userData">) {
    const { spec } = this.#instance;
    return [...specConcerns(spec), ...(spec.ipxeScriptUrl && !userData ? [UNREADABLE] : [])];
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
    if (entry.is !== "bought" && entry.is !== "booted") await this.#record.write(this.#fields(entry));
    else
      await writeBesideMachine(this.#record, {
        ...{ entry, on: this.on },
        journal: () => this.journal,
        note: () => this.#note(entry),
      });
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
    return { ...purchaseField(purchase), ...(onDemand && { onDemand }) };
  }

  #fields(entry: Entry): StatusFields<Instance> {
    const { status } = this.#instance;
    switch (entry.is) {
      case "ordering":
        return {
          purchase: this.#purchase(entry.purchase),
          boot: bootField(entry.boot, false),
          install: installField(status?.install, entry.boot),
        };
      case "orderFailed":
        return { purchase: entry.purchase && this.#purchase(entry.purchase) };
      case "orderRefused":
        return { purchase: this.#purchase(entry.purchase) };
      case "bought":
        return boughtFields(status, entry.machine, entry.provider);
      case "booting":
        return {
          boot: bootField(entry.boot, true),
          install: installField(status?.install, entry.boot),
          status: entry.boot.pass === 2 ? "reinstalling" : (status?.status ?? ""),
        };
      case "booted":
        return { boot: bootField(entry.boot, true) };
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
