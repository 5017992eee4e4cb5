import { type Http, isFault, NO_TALLIES, type Tallies } from "@slipway/base";
import {
  type Access,
  type Context,
  type Controller,
  DONE,
  keyOf,
  type Outcome,
  type Ref,
  refOf,
  StatusRecord,
  source,
} from "@slipway/kube";
import { ConfigMap, Secret } from "@slipway/kube/core";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../kinds/metal3/hardware-data.ts";
import { HostFirmwareSettings } from "../../kinds/metal3/host-firmware-settings.ts";
import { NETBOOT } from "../discovery/controller.ts";
import { bootMacOf } from "../discovery/declaration.ts";
import { noteBoot } from "../discovery/measured-boot.ts";
import { isPaused } from "./annotations.ts";
import { BmcViews, type OpenBmc } from "./bmc-views.ts";
import { carryOut } from "./carry-out.ts";
import type { Facts } from "./facts.ts";
import { HostCards } from "./host-cards.ts";
import { HostMemory } from "./host-memory.ts";
import { credentialsTally, hostTally, talliedOf } from "./host-tallies.ts";
import { look, WORK_LOOK_MS } from "./look.ts";
import type { Machines } from "./machines.ts";
import { type DrivenElsewhere, METAL3_OPERATOR_ACCESS } from "./metal3-operator.ts";
import { waiting } from "./moves.ts";
import { HOST_FINALIZER, needsNetboot, planHost } from "./plan.ts";
import { Room } from "./room.ts";
import { needsRoom, stateOf } from "./state.ts";
import type { HostStep } from "./step.ts";

export interface EngineOptions {
  machines: Machines;
  /** Whether another operator drives the hosts: then nothing is done here, and a host that nobody has begun with says so in an event. */
  drivenElsewhere: DrivenElsewhere;
  openBmc: OpenBmc;
  /** To the servers that images' checksums are on. */
  http: Http;
  /** Where discovery puts its hosts: what is there by a name that discovery gives is known by that name, too. */
  namespace: string;
  /** Hosts that are worked on at once. Default: 50. */
  most?: number;
  /** What has `HOST_TALLIES`. Default: nothing is counted. */
  tallies?: Tallies;
}

/** More steps than a host takes without waiting: a plan that never ends is a fault of ours. */
const MOST_STEPS = 20;
/** A BMC is asked for a boot device, for an end of the power and for its beginning, each with a wait of its own. */
const RECONCILE_MS = 15 * 60_000;
const ELSEWHERE_MS = 10_000;

const ACCESS: readonly Access[] = [
  { resource: BareMetalHost, verbs: ["get", "patch"] },
  { resource: BareMetalHost, verbs: ["update"], subresource: "status" },
  { resource: HardwareData, verbs: ["create", "update", "patch"] },
  { resource: HostFirmwareSettings, verbs: ["get", "create"] },
  { resource: HostFirmwareSettings, verbs: ["update"], subresource: "status" },
  { resource: Secret, verbs: ["get"] },
  { resource: ConfigMap, verbs: ["get"] },
  ...METAL3_OPERATOR_ACCESS,
];

/** Drives BareMetalHosts: each from its registration until it is deleted. */
export function hostController({
  machines,
  drivenElsewhere,
  openBmc,
  http,
  namespace,
  most = 50,
  tallies = NO_TALLIES,
}: EngineOptions): Controller {
  let views: BmcViews | undefined;
  const room = new Room(most);
  const memory = new HostMemory();
  const cards = new HostCards();
  /** Hosts that say that they are left alone, and by what was found. */
  const left = new Map<string, string>();

  return {
    name: "host",
    system: NETBOOT,
    // Each may wait for a BMC.
    workers: 256,
    reconcileMs: RECONCILE_MS,
    sources: [source({ resource: BareMetalHost, indexes: { mac: bootMacOf } }), source({ resource: HardwareData })],
    access: ACCESS,
    listen(wake) {
      const stop = machines.onChange((change) => {
        if (change.is === "gone") return;
        for (const ref of cards.of(change.host)) wake(ref);
      });
      return () => {
        stop();
        void views?.close();
      };
    },
    async reconcile(ref, context): Promise<Outcome> {
      const host = context.cache.get(BareMetalHost, ref);
      const elsewhere = await drivenElsewhere(context);
      if (elsewhere !== undefined) return leave(ref, host, elsewhere, context);
      if (host !== undefined && isHeldUp(host, machines, context)) return held(host, context);
      const key = keyOf(ref);
      views ??= new BmcViews(openBmc, context.clock);
      if (host === undefined) {
        room.leave(key);
        cards.forget(key);
        memory.forget(key);
        left.delete(key);
        tallies.forget(key);
        await views.forget(key);
        return DONE;
      }
      if (isPaused(host) || isGone(host)) return DONE;
      tallies.add(hostTally("metal3_reconcile_total", host));
      return drive(host, context, views).catch((error: unknown) => {
        // A decision on an old object is none, and neither is a process that ends.
        if (!context.signal.aborted && !isFault(error, "Conflict", "NotLeader"))
          tallies.add({ name: "metal3_reconcile_error_total" });
        throw error;
      });
    },
  };

  async function drive(host: BareMetalHost, context: Context, views: BmcViews): Promise<Outcome> {
    const record = recordOf(host, context);
    for (let steps = 0; steps < MOST_STEPS; steps++) {
      if (isHeldUp(record.object, machines, context)) return held(record.object, context);
      const facts = await look(record.object, context, { views, machines, room, memory, cards, namespace });
      if (steps === 0) await noteBoot(host, facts.machine?.tpm, context);
      const step = planHost(facts);
      count(room, facts, step);
      if (facts.bmc?.is === "fails" && isFailure(step, record.object)) tallies.add(credentialsTally(facts.bmc.fault));
      const outcome = await carryOut(step, facts, { context, record, machines, views, http, memory, tallies });
      if (outcome !== "again") return outcome;
    }
    return { againAfterMs: WORK_LOOK_MS };
  }

  function leave(ref: Ref, host: BareMetalHost | undefined, elsewhere: string, { events }: Context): Outcome {
    const key = keyOf(ref);
    if (host === undefined) left.delete(key);
    else if (isUntouched(host) && left.get(key) !== elsewhere) {
      left.set(key, elsewhere);
      events.normal(host, "DrivenElsewhere", `Slipway leaves the host alone, beside Metal3's operator: ${elsewhere}`);
    }
    return host === undefined ? DONE : { againAfterMs: ELSEWHERE_MS };
  }

  function held(host: BareMetalHost, context: Context): Promise<Outcome> {
    tallies.add({ name: "metal3_provisioner_not_ready_total" });
    return waitForNetboot(host, context);
  }

  function recordOf(host: BareMetalHost, context: Context): StatusRecord<BareMetalHost> {
    return new StatusRecord(context, BareMetalHost, host, (before, after) => {
      for (const tallied of talliedOf(before, after)) tallies.add(tallied);
    });
  }
}

/** Keeps count of the hosts that are worked on: before the step is written, so that no two take the last place. */
function count(room: Room, { host, now }: Facts, step: HostStep): void {
  const isMove = step.do === "write" && step.fields.provisioning !== undefined;
  const state = stateOf(isMove ? ({ status: step.fields } as BareMetalHost) : host);
  const againAt = isMove ? undefined : host.status?.operation?.againAt;
  // One that waits for another try leaves its place to others.
  const isAtRest = againAt !== undefined && now < Date.parse(againAt);
  const key = keyOf(refOf(host));
  if (needsRoom(state) && !isAtRest) room.take(key);
  else room.leave(key);
}

/** Whether nothing can be done for the host before netboot serves. */
function isHeldUp(host: BareMetalHost, machines: Pick<Machines, "isServing">, { clock }: Pick<Context, "clock">) {
  return !machines.isServing() && needsNetboot({ host, now: clock.now() });
}

/** Whether it was deleted, and nothing is left to do for it. */
function isGone({ metadata }: BareMetalHost): boolean {
  return metadata.deletionTimestamp !== undefined && !metadata.finalizers?.includes(HOST_FINALIZER);
}

/** Whether no operator has begun with the host. */
function isUntouched({ status }: BareMetalHost): boolean {
  return status?.operationalStatus === undefined || status.operationalStatus === "";
}

/** Whether the step writes a failure down that is new. */
function isFailure(step: HostStep, { status }: BareMetalHost): boolean {
  return step.do === "write" && (step.fields.errorCount ?? 0) > (status?.errorCount ?? 0);
}

/** Hosts that something is done with already are not written to each time that netboot starts, but for those whose deletion waits for it. */
async function waitForNetboot(host: BareMetalHost, context: Context): Promise<Outcome> {
  const isDeleted = host.metadata.deletionTimestamp !== undefined;
  if ((isDeleted || host.status?.operationalStatus === undefined) && !isPaused(host) && !isGone(host)) {
    const status = waiting(
      { host, now: context.clock.now() },
      "netboot to serve: the operator's log says why it does not",
    );
    await new StatusRecord(context, BareMetalHost, host).write(status);
  }
  return { againAfterMs: ELSEWHERE_MS };
}
