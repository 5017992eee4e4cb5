import { asFault, Fault, isFault } from "@slipway/base";
import {
  addFinalizer,
  type Context,
  type Controller,
  DONE,
  type Outcome,
  refOf,
  StatusRecord,
  setCondition,
  source,
} from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { bootStoreAccess } from "../../bootstrap/boot-store.ts";
import { ownerOf } from "../../cluster-api/owners.ts";
import { isPaused, pausedCondition } from "../../cluster-api/pause.ts";
import { byClusterOf } from "../../cluster-api/shard-owner.ts";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { Machine } from "../../kinds/cluster-api/machine.ts";
import { IPAddress } from "../../kinds/ipam/ip-address.ts";
import { IPAddressClaim } from "../../kinds/ipam/ip-address-claim.ts";
import { PlunderCluster } from "../../kinds/plunder/plunder-cluster.ts";
import { PlunderMachine, type PlunderMachineStatus } from "../../kinds/plunder/plunder-machine.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import { awaitsKnownCapacity, withoutOldRefusal } from "../../machines/capacity.ts";
import { type Tried, tryStep } from "../../machines/executor.ts";
import type { Journal } from "../../machines/lifecycle.ts";
import { TRIAL_BOOT } from "../../machines/purchase.ts";
import { asReported } from "../../machines/status-journal.ts";
import type { Gate } from "../../machines/wanted-step.ts";
import { announce } from "../infrastructure/announce.ts";
import { guarded } from "../infrastructure/guarded.ts";
import { netbootAccount, providerOf, providerSource, refuseClouds } from "./account.ts";
import { claimedAddress, type MachineAddress } from "./address.ts";
import { adopted, isAdopted } from "./adoption.ts";
import { bootstrapDataOf, joinToken, type Member, needsToken, ownDataGate } from "./bootstrap/bootstrap-data.ts";
import { isInitialized } from "./bootstrap/initialized.ts";
import { claimOf, orderOf } from "./claim.ts";
import { jobOf } from "./claimant.ts";
import { journalOf } from "./journal.ts";
import { type MachinePlan, planMachine } from "./machine-plan.ts";
import { releaseMachine } from "./machine-release.ts";
import { heldBy, MACHINE_FINALIZER, nameOf, PLUNDER, providerIDOf } from "./names.ts";
import { announceOld } from "./old-events.ts";
import type { MachineRecord, Plunder } from "./shared.ts";
import { clusterNameOf, gateOf, hasJoined, type Surroundings, surroundingsOf, wantedOf } from "./surroundings.ts";

/** Takes a host for each PlunderMachine, gives it its bootstrap data, reports it to Cluster API, and has it wiped when the object goes. */
export function machineController(plunder: Plunder): Controller {
  return {
    name: "plundermachine",
    system: PLUNDER,
    workers: 32,
    owner: byClusterOf(PlunderMachine),
    sources: [
      source({
        resource: PlunderMachine,
        indexes: {
          cluster: (machine) => clusterKey(machine.metadata.namespace, clusterNameOf(machine)),
          providerID: ({ spec }) => (spec.providerID ? [spec.providerID] : []),
        },
      }),
      source({ resource: Machine, optional: true, keys: machinesOf }),
      source({
        resource: Cluster,
        optional: true,
        when: (cluster, before) => newsOf(cluster) !== newsOf(before),
        keys: ({ metadata }, _, cache) =>
          cache.byIndex(PlunderMachine, "cluster", `${metadata.namespace}/${metadata.name}`).map(refOf),
      }),
      source({ resource: PlunderCluster, keys: () => [] }),
      source({ resource: IPAddressClaim, optional: true, keys: ownersOf }),
      source({ resource: IPAddress, optional: true, keys: () => [] }),
    ],
    access: [
      { resource: PlunderMachine, verbs: ["get", "update", "patch"] },
      { resource: PlunderMachine, verbs: ["get", "update", "patch"], subresource: "status" },
      { resource: MachineProvider, verbs: ["get"] },
      { resource: IPAddressClaim, verbs: ["get", "create"] },
      // Bootstrap data stand beside the objects, in any namespace.
      { resource: Secret, verbs: ["get", "create", "patch"] },
      ...bootStoreAccess(plunder.own.namespace),
    ],
    async reconcile(ref, context) {
      const machine = context.cache.get(PlunderMachine, ref);
      if (machine === undefined) return DONE;
      const around = surroundingsOf(context.cache, machine);
      const { isControlPlane } = wantedOf(machine, around);
      const record: MachineRecord = new StatusRecord(context, PlunderMachine, machine, (before, after) => {
        announce(context.events, before, after);
        announceOld(context.events, before, after, isControlPlane);
      });
      const isDeleted = machine.metadata.deletionTimestamp !== undefined;
      const isHeld = heldBy(machine).length > 0;
      if (isDeleted && !isHeld) return DONE;
      if (isPaused(machine, around.cluster)) return await pause(context, record, around);
      if (!isHeld) {
        await addFinalizer(context.client, PlunderMachine, machine, MACHINE_FINALIZER);
        return DONE;
      }
      return await guarded(context, record, {
        on: nameOf(machine),
        // A certificate that was exchanged is read at once.
        refused: () => plunder.accounts.refused(netbootAccount(ref.namespace ?? "")),
        work: () =>
          isDeleted ? releaseMachine(plunder, context, record, around) : keep(plunder, context, record, around),
      });
    },
  };
}

/** The machine that an address is claimed for. */
function ownersOf(claim: IPAddressClaim) {
  const owner = ownerOf(claim, { group: PlunderMachine.group, kind: PlunderMachine.kind });
  return owner === undefined ? [] : [{ namespace: claim.metadata.namespace!, name: owner.name }];
}

function clusterKey(namespace: string | undefined, name: string | undefined): string[] {
  return name === undefined ? [] : [`${namespace}/${name}`];
}

/** By the reference that the Machine has: names need not be the same. */
function machinesOf({ metadata, spec }: Machine) {
  const { kind, name } = spec.infrastructureRef;
  return kind === PlunderMachine.kind ? [{ namespace: metadata.namespace!, name }] : [];
}

/** What of a Cluster a machine acts upon. */
function newsOf(cluster: Cluster): string {
  return JSON.stringify([
    cluster.spec.paused,
    cluster.spec.controlPlaneEndpoint,
    cluster.status?.initialization,
    isInitialized(cluster),
  ]);
}

async function pause(context: Context, record: MachineRecord, { cluster }: Surroundings): Promise<Outcome> {
  const machine = record.object;
  const now = context.clock.now();
  const conditions = [...setCondition(machine.status?.conditions, pausedCondition(machine, cluster), now)];
  await record.write({ conditions, waitingFor: "the Cluster or the object to be unpaused", deadline: undefined });
  return DONE;
}

async function keep(plunder: Plunder, context: Context, record: MachineRecord, around: Surroundings): Promise<Tried> {
  const machine = record.object;
  if (isAdopted(machine)) {
    await record.write(unpaused(context, machine, around, adopted(machine, hasJoined(around), context.clock.now())));
    return DONE;
  }
  const journal = journalOf(machine, hasJoined(around));
  const { owner, cluster } = around;
  const address = await claimedAddress(context.client, context.cache, machine, wantedOf(machine, around).clusterName);
  const member = owner && cluster && { owner, cluster };
  const gate =
    gateOf(around) ??
    (address.is === "waits" ? address.gate : undefined) ??
    (member && ownDataGate(context.cache, member));
  if (gate !== undefined && journal.machineId === undefined && journal.purchase === undefined) {
    const now = context.clock.now();
    const claim = claimOf(wantedOf(machine, around), plunder.pollMs);
    const { status } = planMachine({ machine, claim, journal, sight: undefined, gate, address: undefined, now });
    await record.write(unpaused(context, machine, around, status));
    return DONE;
  }
  if (member !== undefined) await keepJoinToken(plunder, context, member, journal);
  return await step(plunder, context, record, {
    ...around,
    gate,
    address: address.is === "had" ? address.of : undefined,
  });
}

/** A machine that joins by a token made here must still find it valid, however long its installation takes (N39). */
async function keepJoinToken(plunder: Plunder, context: Context, member: Member, journal: Journal): Promise<void> {
  if (!needsToken(member, journal)) return;
  try {
    await joinToken(plunder, context, member, { hasJoined: journal.joined, isWritten: true });
  } catch (error) {
    // The host's own life does not wait for the workload cluster.
    if (!isFault(error) || isFault(error, "NotLeader", "Undeclared")) throw error;
    context.log.info({ error: asFault(error, "join token").message }, "the join token can't be kept now");
  }
}

function unpaused(
  { clock }: Context,
  machine: PlunderMachine,
  { cluster }: Surroundings,
  status: PlunderMachineStatus,
): PlunderMachineStatus {
  const conditions = [...setCondition(status.conditions, pausedCondition(machine, cluster), clock.now())];
  return { ...status, conditions };
}

interface Place extends Surroundings {
  gate: Gate | undefined;
  /** From a pool. */
  address: MachineAddress | undefined;
}

async function step(plunder: Plunder, context: Context, record: MachineRecord, around: Place): Promise<Tried> {
  const { pollMs, patience } = plunder;
  const machine = record.object;
  const provider = await providerOf(machine, around.plunderCluster, context.client);
  const fleet = await plunder.accounts.fleet(providerSource(provider, machine, context.client, plunder.own));
  refuseClouds(fleet, provider);
  const wanted = wantedOf(machine, around);
  const joined = hasJoined(around);
  const journal = await withoutOldRefusal({
    ...{
      journal: await knownJournal(plunder, context, machine, joined),
      driver: fleet.driver,
      pollMs,
      now: context.clock.now(),
    },
    orders: () =>
      claimOf(wanted, pollMs).placements.map((placement) => orderOf(wanted, { placement, boot: TRIAL_BOOT })),
  });
  const seen =
    journal.machineId === undefined
      ? undefined
      : await fleet.look(journal.machineId, joined ? fleet.restMs(2 * pollMs) : pollMs);
  // What can't be installed anew has its data from then on, whatever its netboot says.
  const hasRunForGood = !fleet.driver.capabilities.reinstall && journal.runningSince !== undefined;
  const sight =
    seen === undefined || seen === "gone" ? seen : asReported(seen, { ...journal, joined: joined || hasRunForGood });
  const known = sight === "gone" ? undefined : sight;
  if (known?.phase === "running" && (await nameMachine(context, machine, known.bootMac))) return { againAfterMs: 0 };
  const planFor = (seen: typeof sight): MachinePlan => {
    const now = record.object;
    const plan = planMachine({
      ...{
        machine: now,
        claim: claimOf({ ...wanted, machine: now }, pollMs),
        sight: seen,
        gate: around.gate,
        address: around.address?.address,
      },
      ...{ journal: seen === sight ? journal : journalOf(now, joined), now: context.clock.now() },
    });
    return { ...plan, status: unpaused(context, now, around, plan.status) };
  };
  const plan = planFor(sight);
  record.note(plan.status);
  const address = around.address?.address ?? machine.spec.ipAddress;
  const job = jobOf(plunder, context, {
    ...{ record, wanted, fleet, provider, joined, address: around.address },
    data: () => bootstrapDataOf(plunder, context, { owner: around.owner!, cluster: around.cluster!, address }),
    describe: (taken) => planFor(taken).status,
  });
  const version = machine.metadata.generation;
  const outcome = await tryStep(job, { step: plan.step, machine: known, version, patience });
  if (!awaitsKnownCapacity(journal, fleet.driver) || "done" in outcome) return outcome;
  return { ...outcome, againAfterMs: Math.min(outcome.againAfterMs, pollMs) };
}

/** The journal, with a fetch of the bootstrap data of which no signal has come. */
async function knownJournal(
  { fetched }: Plunder,
  { client, clock }: Context,
  machine: PlunderMachine,
  joined: boolean,
): Promise<Journal> {
  const journal = journalOf(machine, joined);
  const { machineId, boot, signals } = journal;
  if (joined || machineId === undefined || boot === undefined || signals.configFetched !== undefined) return journal;
  const now = clock.monotonic();
  const configFetched = await fetched.at(client, machine.metadata.uid, { bootId: boot.id, now });
  return configFetched === undefined ? journal : { ...journal, signals: { ...signals, configFetched } };
}

/** Writes the host's name into the specification, where Cluster API looks for it: once it runs what it is to run (N32). True: it was written now. */
async function nameMachine(
  { client, cache }: Context,
  machine: PlunderMachine,
  mac: string | undefined,
): Promise<boolean> {
  if (machine.spec.providerID || mac === undefined) return false;
  const providerID = providerIDOf(mac);
  // Two netboots, or one that lies, may name the same machine.
  const other = cache
    .byIndex(PlunderMachine, "providerID", providerID)
    .find(({ metadata }) => metadata.uid !== machine.metadata.uid);
  if (other !== undefined)
    throw new Fault(
      "AlreadyExists",
      nameOf(machine),
      `its machine is to be ${mac}, which is that of ${nameOf(other)}`,
      {
        remedy: "find out which netboot serves that machine; then delete this object's Machine",
      },
    );
  const { resourceVersion } = machine.metadata;
  const body = { metadata: { resourceVersion }, spec: { providerID } };
  await client.patch(PlunderMachine, refOf(machine), { type: "merge", body });
  return true;
}
