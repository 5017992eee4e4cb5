import { isFault } from "@slipway/base";
import {
  addFinalizer,
  type Context,
  type Controller,
  DONE,
  type Outcome,
  StatusRecord,
  setCondition,
  source,
} from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { bootStoreAccess } from "../../bootstrap/boot-store.ts";
import { isPaused, pausedCondition } from "../../cluster-api/pause.ts";
import { byClusterOf } from "../../cluster-api/shard-owner.ts";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { Machine } from "../../kinds/cluster-api/machine.ts";
import { PacketCluster } from "../../kinds/packet/packet-cluster.ts";
import { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import { awaitsKnownCapacity, withoutOldRefusal } from "../../machines/capacity.ts";
import { type Tried, tryStep } from "../../machines/executor.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Machine as Metal } from "../../machines/machine.ts";
import { TRIAL_BOOT } from "../../machines/purchase.ts";
import { asReported } from "../../machines/status-journal.ts";
import { announce } from "../infrastructure/announce.ts";
import { bootstrapData } from "../infrastructure/bootstrap-data.ts";
import { guarded } from "../infrastructure/guarded.ts";
import { abandonedAccess } from "../providers/abandoned.ts";
import { type AccountName, accountSource, machineAccount } from "./account.ts";
import { fetchesBoot } from "./boots.ts";
import { claimOf, orderOf, placementsOf } from "./claim.ts";
import { jobOf, type MachineRecord } from "./claimant.ts";
import { journalOf } from "./journal.ts";
import { type MachinePlan, pausedFields, planMachine } from "./machine-plan.ts";
import { releaseMachine } from "./machine-release.ts";
import { MACHINE_FINALIZER, nameOf, PACKET, providerIDOf } from "./names.ts";
import type { Packet } from "./shared.ts";
import {
  clusterNameOf,
  gateOf,
  hasJoined,
  refOf,
  type Surroundings,
  surroundingsOf,
  wantedOf,
} from "./surroundings.ts";
import { seeToVip, vipSteps } from "./vip.ts";

/** Orders one machine for each PacketMachine, gives it its bootstrap data, reports it to Cluster API, and gives it back when the object goes. */
export function machineController(packet: Packet): Controller {
  return {
    name: "packetmachine",
    system: PACKET,
    workers: 32,
    owner: byClusterOf(PacketMachine),
    sources: [
      source({
        resource: PacketMachine,
        indexes: { cluster: (machine) => clusterKey(machine.metadata.namespace, clusterNameOf(machine, undefined)) },
      }),
      source({ resource: Machine, optional: true, keys: machinesOf }),
      source({
        resource: Cluster,
        optional: true,
        when: (cluster, before) => newsOf(cluster) !== newsOf(before),
        keys: ({ metadata }, _, cache) =>
          inCluster(cache.byIndex(PacketMachine, "cluster", `${metadata.namespace}/${metadata.name}`)),
      }),
      source({
        resource: PacketCluster,
        indexes: { cluster: (cluster) => clusterKey(cluster.metadata.namespace, clusterNameOf(cluster, undefined)) },
        keys: (cluster, _, cache) =>
          clusterKey(cluster.metadata.namespace, clusterNameOf(cluster, undefined)).flatMap((key) =>
            inCluster(cache.byIndex(PacketMachine, "cluster", key)),
          ),
      }),
    ],
    access: [
      { resource: PacketMachine, verbs: ["get", "update", "patch"] },
      { resource: PacketMachine, verbs: ["get", "update", "patch"], subresource: "status" },
      { resource: MachineProvider, verbs: ["get"] },
      // Bootstrap data and credentials stand beside the objects, in any namespace.
      { resource: Secret, verbs: ["get"] },
      ...bootStoreAccess(packet.own.namespace),
      ...abandonedAccess(packet.own.namespace),
    ],
    async reconcile(ref, context) {
      const machine = context.cache.get(PacketMachine, ref);
      if (machine === undefined) return DONE;
      const record: MachineRecord = new StatusRecord(context, PacketMachine, machine, (before, after) =>
        announce(context.events, before, after),
      );
      const around = surroundingsOf(context.cache, machine);
      const isDeleted = machine.metadata.deletionTimestamp !== undefined;
      const isHeld = machine.metadata.finalizers?.includes(MACHINE_FINALIZER) === true;
      if (isDeleted && !isHeld) return DONE;
      if (isPaused(machine, around.cluster)) return await pause(context, record, around);
      if (!isHeld) {
        await addFinalizer(context.client, PacketMachine, machine, MACHINE_FINALIZER);
        return DONE;
      }
      const account = machineAccount(machine, around.packetCluster);
      return await guarded(context, record, {
        on: nameOf(machine),
        refused: () => {
          if (account !== undefined) packet.accounts.refused(accountSource(account, context.client, packet.own).name);
        },
        work: () =>
          isDeleted
            ? releaseMachine(packet, context, record, around)
            : keep(packet, context, { record, around, account }),
      });
    },
  };
}

function clusterKey(namespace: string | undefined, name: string | undefined): string[] {
  return name === undefined ? [] : [`${namespace}/${name}`];
}

function inCluster(machines: readonly PacketMachine[]) {
  return machines.map(refOf);
}

/** By the reference that the Machine has: names need not be the same. */
function machinesOf({ metadata, spec }: Machine) {
  const { kind, name } = spec.infrastructureRef;
  return kind === PacketMachine.kind ? [{ namespace: metadata.namespace!, name }] : [];
}

/** What of a Cluster a machine acts upon. */
function newsOf({ spec, status }: Cluster): string {
  return JSON.stringify([spec.paused, spec.controlPlaneEndpoint, status?.initialization?.infrastructureProvisioned]);
}

async function pause(context: Context, record: MachineRecord, { cluster }: Surroundings): Promise<Outcome> {
  const machine = record.object;
  const now = context.clock.now();
  const conditions = setCondition(machine.status?.conditions, pausedCondition(machine, cluster), now);
  await record.write(pausedFields(machine.status ?? {}, conditions, now, "the Cluster or the object to be unpaused"));
  return DONE;
}

interface Kept {
  record: MachineRecord;
  around: Surroundings;
  account: AccountName | undefined;
}

async function keep(packet: Packet, context: Context, kept: Kept): Promise<Tried> {
  const { record, around, account } = kept;
  const gate = gateOf(around);
  if (account === undefined) {
    await record.write(gated(packet, context, kept));
    return DONE;
  }
  const machine = record.object;
  // Nothing is asked of a provider before something is to be ordered.
  if (gate !== undefined && !isOrdered(machine)) {
    await record.write(gated(packet, context, kept));
    return DONE;
  }
  const fleet = await packet.accounts.fleet(accountSource(account, context.client, packet.own));
  return await step(packet, context, { ...kept, account, fleet });
}

function isOrdered(machine: PacketMachine): boolean {
  const { machineId, purchase } = journalOf(machine, { reports: false, joined: false });
  return machineId !== undefined || purchase !== undefined;
}

/** The status of a machine that nothing is ordered for yet. */
function gated(packet: Packet, context: Context, { record, around }: Kept) {
  const machine = record.object;
  const wanted = { ...wantedOf(machine, around), machine };
  const { conditions = [], ...status } = planMachine({
    ...{ machine, claim: claimOf(wanted, packet.pollMs), sight: undefined, named: false, now: context.clock.now() },
    journal: journalOf(machine, { reports: false, joined: false }),
    gate: gateOf(around) ?? { reason: "WaitingForPacketCluster", what: "the cluster's PacketCluster to exist" },
  }).status;
  return { ...status, conditions: unpaused(machine, around, conditions, context) };
}

/** The conditions, Paused with them. */
function unpaused(
  machine: PacketMachine,
  { cluster }: Surroundings,
  conditions: Parameters<typeof setCondition>[0],
  { clock }: Context,
) {
  return [...setCondition(conditions, pausedCondition(machine, cluster), clock.now())];
}

async function step(
  packet: Packet,
  context: Context,
  kept: Kept & { account: AccountName; fleet: Fleet },
): Promise<Tried> {
  const { record, around, account, fleet } = kept;
  const { pollMs, patience } = packet;
  const machine = record.object;
  const wanted = wantedOf(machine, around);
  const joined = hasJoined(around);
  const reports = fetchesBoot(fleet.driver);
  const journal = await withoutOldRefusal({
    ...{ journal: journalOf(machine, { reports, joined }), driver: fleet.driver, pollMs, now: context.clock.now() },
    orders: () =>
      placementsOf({ ...wanted, machine }).map((placement) =>
        orderOf({ ...wanted, machine }, { placement, boot: TRIAL_BOOT, projectId: undefined }),
      ),
  });
  const seen =
    journal.machineId === undefined
      ? undefined
      : await fleet.look(journal.machineId, joined ? fleet.restMs(2 * pollMs) : pollMs);
  const sight = seen === undefined || seen === "gone" || !reports ? seen : asReported(seen, journal);
  const known = sight === "gone" ? undefined : sight;
  if (known !== undefined) {
    if (await nameMachine(context, machine, providerIDFor(machine, fleet, known))) return { againAfterMs: 0 };
    await mark(context, fleet, machine, known);
  }
  const planFor = (seen: Metal | "gone" | undefined): MachinePlan => {
    const now = record.object;
    const plan = planMachine({
      ...{ machine: now, claim: claimOf({ ...wanted, machine: now }, pollMs), sight: seen, now: context.clock.now() },
      journal: seen === sight ? journal : journalOf(now, { reports, joined }),
      gate: gateOf(around),
      named: now.spec.providerID !== undefined && now.spec.providerID !== "",
    });
    return { ...plan, status: { ...plan.status, conditions: unpaused(now, around, plan.status.conditions, context) } };
  };
  if (known?.phase === "running" && !(await vipIsSeenTo(context, kept, known))) return { againAfterMs: 0 };
  const plan = planFor(sight);
  record.note(plan.status);
  const job = jobOf(packet, context, {
    ...{ record, wanted, fleet, account, joined },
    data: () => bootstrapData(context.client, around.owner!, around.cluster!),
    describe: (bought) => planFor(bought).status,
  });
  const outcome = await tryStep(job, {
    ...{ step: plan.step, machine: known, version: machine.metadata.generation, patience },
  });
  if (!awaitsKnownCapacity(journal, fleet.driver) || "done" in outcome) return outcome;
  return { ...outcome, againAfterMs: Math.min(outcome.againAfterMs, pollMs) };
}

/** The id that the machine's Node will name it by: as the machine knows itself. Where Slipway serves its meta data, that is the claim. */
function providerIDFor({ metadata }: PacketMachine, { driver }: Fleet, { id }: Metal): string {
  return providerIDOf(fetchesBoot(driver) ? metadata.uid : id);
}

/** Writes the machine's name into the specification, where Cluster API looks for it. True: it was written now. */
async function nameMachine({ client }: Context, machine: PacketMachine, providerID: string): Promise<boolean> {
  if (machine.spec.providerID) return false;
  const { resourceVersion } = machine.metadata;
  await client.patch(PacketMachine, refOf(machine), {
    type: "merge",
    body: { metadata: { resourceVersion }, spec: { providerID } },
  });
  return true;
}

/** Lets a machine that the original ordered, or that an object of another cluster stood for, carry this object's mark. A refusal is tried again at a later look. */
async function mark(
  { signal }: Context,
  fleet: Fleet,
  { metadata, status }: PacketMachine,
  machine: Metal,
): Promise<void> {
  if (machine.claim === metadata.uid || machine.phase === "releasing" || status?.purchase !== undefined) return;
  try {
    await fleet.driver.tag?.(machine.id, metadata.uid, signal);
    fleet.note({ ...machine, claim: metadata.uid });
  } catch (error) {
    signal.throwIfAborted();
    if (!isFault(error)) throw error;
  }
}

/** False: something was done for the control plane's address, and written down. */
async function vipIsSeenTo(
  context: Context,
  { record, around, fleet }: Kept & { fleet: Fleet },
  machine: Metal,
): Promise<boolean> {
  const { packetCluster: cluster } = around;
  const held = record.object.status?.vip;
  const { isControlPlane } = wantedOf(record.object, around);
  const [next] = vipSteps({ cluster, isControlPlane, held });
  if (next === undefined) return true;
  const done = await seeToVip(context, fleet.driver, { step: next, machine: machine.id, cluster: cluster! });
  await record.write({ vip: { ...held, ...done } });
  return false;
}
