/**
 * SIMULATION of the Harvester cluster that machines join: its Nodes, their kubelets' beats and Pods, the control plane's reaction
 * to silence, Harvester's promotion of managers and its Cluster API Machines. Lives in a Kubernetes API through a `Client`.
 */
import { type Clock, isFault, rfc3339, type Timer } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Node, type NodeCondition, Pod } from "@slipway/kube/core";
import { CapiMachine, ensureMachine, ensureMachineKind } from "./capi-machine.ts";
import { follow } from "./follow.ts";
import { type Heartbeats, heartbeats } from "./heartbeats.ts";
import { machineStatuses } from "./machine-status.ts";
import {
  FLEET_LOCAL,
  type JoinRequest,
  kubeletConditions,
  MACHINE_ANNOTATION,
  machineNameOf,
  nodeDraft,
  nodeStatus,
  silentConditions,
} from "./node-object.ts";
import { type PodKeeper, podKeeper } from "./pods.ts";
import { promoter } from "./promotion.ts";

export interface SiteOptions {
  client: Client;
  clock: Clock;
  /** What a joining machine must know. */
  joinToken: string;
  vip: string;
  /** A kubelet's status period. Kubernetes: 5 minutes while nothing changes. */
  beatMs?: number;
  /** After how long without a sign of life a Node's state is Unknown. Kubernetes: 40 s. */
  silentMs?: number;
  podStopMs?: number;
  promotionMs?: number;
}

export type Joined = { is: "joined" } | { is: "refused"; reason: string };

export interface Site {
  /** Fills the caches; call once before machines join. */
  start(): Promise<void>;
  /** A machine's system asks to join, at its first start and at each later one. */
  join(request: JoinRequest): Promise<Joined>;
  /** The machine lost its power. */
  powerLost(machineId: string): void;
  /** From now on the kubelet reports that it is not ready, and goes on reporting; or it is well again. */
  sicken(hostname: string, sick: boolean): Promise<void>;
  close(): void;
}

interface Member {
  request: JoinRequest;
  running: boolean;
  sick: boolean;
  silence: Timer | undefined;
  /** Armed while its Node is gone and it is about to register it again. */
  again: Timer | undefined;
}

const REGISTER_AGAIN_MS = 10_000;

/** A simulated cluster; nothing is requested before `start`. */
export function createHarvesterSite(options: SiteOptions): Site {
  const { client, clock, silentMs = 40_000 } = options;
  const members = new Map<string, Member>();
  const nodes = new Map<string, Node>();
  const stopping = new AbortController();
  /** The machine that bears a name now: no other may join under it while its Node is there. */
  const named = new Map<string, Member>();
  const running = (hostname: string): Member | undefined => {
    const member = named.get(hostname);
    return member?.running && (member.request.reachable?.() ?? true) ? member : undefined;
  };

  const pods: PodKeeper = podKeeper({
    client,
    clock,
    stopMs: options.podStopMs ?? 2_000,
    runs: (node) => running(node) !== undefined,
    addressOf: (node) => running(node)?.request.addresses[0]?.address,
  });
  const promotions = promoter({ client, clock, durationMs: options.promotionMs ?? 120_000 });
  const machines = machineStatuses({ client, clock });
  const beats: Heartbeats<Member> = heartbeats({
    clock,
    everyMs: options.beatMs ?? 300_000,
    beat: async (due) => {
      for (const member of due) if (member.running) await beat(member);
    },
  });

  /** Writes the kubelet's report; a Node that is not there any more is registered anew, as kubelets do. */
  async function beat(member: Member): Promise<void> {
    const { request, sick } = member;
    const held = nodes.get(request.hostname);
    const conditions = merged(
      held?.status?.conditions,
      kubeletConditions(sick ? "container runtime is down" : undefined, clock.now()),
      clock.now(),
    );
    const patch = { type: "merge", body: { status: { conditions } } } as const;
    if (request.reachable?.() === false) return goSilent(member);
    try {
      await client.patch(Node, { name: request.hostname }, patch, { subresource: "status" });
    } catch (error) {
      if (isFault(error, "NotFound") && member.running) await register(request);
    }
  }

  async function register(request: JoinRequest): Promise<void> {
    const draft = nodeDraft(request);
    try {
      await client.create(Node, draft);
    } catch (error) {
      if (!isFault(error, "AlreadyExists")) throw error;
    }
    const body = { status: nodeStatus(request, clock.now()) };
    await client.patch(Node, { name: request.hostname }, { type: "merge", body }, { subresource: "status" });
  }

  function nodeChanged(node: Node): void {
    nodes.set(node.metadata.name, node);
    promotions.changed(node);
    machines.changed(node);
  }

  function nodeGone(node: Node): void {
    const { name, annotations } = node.metadata;
    nodes.delete(name);
    promotions.gone(name);
    machines.gone(node);
    pods.collect(name);
    const machine = annotations?.[MACHINE_ANNOTATION];
    if (machine !== undefined) client.delete(CapiMachine, { namespace: FLEET_LOCAL, name: machine }).catch(() => {});
    const member = running(name);
    // A kubelet that still runs registers its Node again: if the Node is deleted before the machine, it comes back.
    const owner = named.get(name);
    if (owner?.running === false) forget(owner);
    if (member !== undefined) {
      member.again?.cancel();
      member.again = clock.after(REGISTER_AGAIN_MS, () => void (member.running && beat(member).catch(() => {})));
    }
  }

  /** A machine that is off and whose Node is gone: nothing of it is left here. */
  function forget(member: Member): void {
    member.silence?.cancel();
    const { machineId, hostname } = member.request;
    if (members.get(machineId) === member) members.delete(machineId);
    if (named.get(hostname) === member) named.delete(hostname);
  }

  function goSilent(member: Member): void {
    const { hostname: name, machineId } = member.request;
    // Another machine may bear the name by now.
    if (nodes.get(name)?.status?.nodeInfo?.systemUUID !== machineId) return;
    const conditions = merged(nodes.get(name)?.status?.conditions, silentConditions(clock.now()), clock.now());
    client
      .patch(Node, { name }, { type: "merge", body: { status: { conditions } } }, { subresource: "status" })
      .catch(() => {});
  }

  return {
    async start() {
      await ensureMachineKind(client, clock);
      const { signal } = stopping;
      const whole = (): void => promotions.consider();
      void follow({ client, clock, signal, resource: Node, changed: nodeChanged, gone: nodeGone, whole });
      void follow({
        client,
        clock,
        signal,
        resource: Pod,
        changed: (pod) => pods.changed(pod),
        gone: (pod) => pods.gone(pod),
      });
    },

    async join(request) {
      const problem = refusal(request, options, await client.find(Node, { name: request.hostname }));
      if (problem !== undefined) return { is: "refused", reason: problem };
      const before = members.get(request.machineId);
      before?.silence?.cancel();
      before?.again?.cancel();
      if (before !== undefined) beats.remove(before);
      const member: Member = { request, running: true, sick: false, silence: undefined, again: undefined };
      members.set(request.machineId, member);
      named.set(request.hostname, member);
      await ensureMachine(client, request);
      await register(request);
      // The power may have gone while the cluster answered.
      if (member.running) beats.add(member);
      pods.resume(request.hostname);
      return { is: "joined" };
    },

    powerLost(machineId) {
      const member = members.get(machineId);
      if (member === undefined || !member.running) return;
      member.running = false;
      member.again?.cancel();
      beats.remove(member);
      member.silence = clock.after(silentMs, () => goSilent(member));
    },

    async sicken(hostname, sick) {
      const member = running(hostname);
      if (member === undefined) throw new RangeError(`no running simulated node ${hostname}`);
      member.sick = sick;
      await beat(member);
    },

    close() {
      stopping.abort();
      beats.close();
      pods.close();
      promotions.close();
      for (const member of members.values()) {
        member.silence?.cancel();
        member.again?.cancel();
      }
    },
  };
}

/** Why the cluster would not let this machine in: what a person reads on its console. */
function refusal(
  request: JoinRequest,
  { joinToken, vip }: SiteOptions,
  existing: Node | undefined,
): string | undefined {
  const url = URL.parse(request.serverUrl);
  if (url?.hostname.replaceAll(/[[\]]/g, "") !== vip) return `no cluster answers at ${request.serverUrl}`;
  if (request.token !== joinToken) return "the join token is not this cluster's";
  if (existing !== undefined && !isOf(request.machineId, existing))
    return `a node named ${request.hostname} is in the cluster already`;
  return undefined;
}

/** Whether this machine registered the Node. Until its first report is written, only the annotation shows it. */
function isOf(machineId: string, { metadata, status }: Node): boolean {
  const reported = status?.nodeInfo?.systemUUID;
  return reported ? reported === machineId : metadata.annotations?.[MACHINE_ANNOTATION] === machineNameOf(machineId);
}

/** The reported conditions; the time of the last transition stays where the status does. */
function merged(
  held: readonly NodeCondition[] | undefined,
  reported: readonly NodeCondition[],
  now: number,
): NodeCondition[] {
  return reported.map((condition) => {
    const before = held?.find((c) => c.type === condition.type);
    const same = before?.status === condition.status ? before.lastTransitionTime : undefined;
    const heartbeat = condition.lastHeartbeatTime ?? before?.lastHeartbeatTime;
    return {
      ...condition,
      lastTransitionTime: same ?? rfc3339(now),
      ...(heartbeat !== undefined && { lastHeartbeatTime: heartbeat }),
    };
  });
}
