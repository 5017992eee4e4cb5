import { asFault, isFault } from "@slipway/base";
import {
  addFinalizer,
  type Context,
  type Controller,
  controllerOf,
  controllerReference,
  DONE,
  keyOf,
  type Outcome,
  refOf,
  removeFinalizer,
  StatusRecord,
  source,
} from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { Vino } from "../../kinds/vino/vino.ts";
import { NODE_LABEL, nodeLabelValue, VinoNode } from "../../kinds/vino/vino-node.ts";
import { agentsOf, DAEMON_SET } from "./agent/daemon-set.ts";
import {
  FINALIZER,
  labelValue,
  NODE_FINALIZER,
  VINO,
  VINO_NAME,
  VINO_NAMESPACE,
  vinoNodeName,
  withVino,
} from "./names.ts";
import { BY_OWNER, INDEXES, isSelected } from "./node-view.ts";
import { DaemonSet } from "./objects.ts";
import { STORAGE_POOL } from "./plan/node-spec.ts";
import { readSpecification } from "./plan/specification.ts";
import { statusOf, type Verdict, verdictOf } from "./vino-status.ts";

const WAITING_MS = 60_000;

/** Selects the nodes of each Vino, gives each a VinoNode, and keeps the Vino's status true. `namespace`: where the agents' DaemonSet is. */
export function vinoController(namespace: string): Controller {
  return {
    name: "vino",
    system: VINO,
    owner: withVino,
    sources: [
      source({ resource: Vino, when: (vino, before) => asks(vino) !== asks(before) }),
      source({
        resource: VinoNode,
        indexes: INDEXES,
        keys: (node) => vinoes(node),
      }),
      source({
        resource: Node,
        when: (node, before) => labels(node) !== labels(before),
        // One that selects it now, or did before.
        keys: (node, before, cache) =>
          cache
            .list(Vino)
            .filter((vino) => isSelected(vino, node) || (before !== undefined && isSelected(vino, before)))
            .map(refOf),
      }),
      source({ resource: DaemonSet, namespace, keys: (_, __, cache) => cache.list(Vino).map(refOf) }),
    ],
    access: [
      { resource: Vino, verbs: ["get", "patch"] },
      { resource: Vino, verbs: ["update"], subresource: "status" },
      { resource: VinoNode, verbs: ["get", "list", "create"] },
    ],
    async reconcile(ref, context) {
      const vino = context.cache.get(Vino, ref);
      if (vino === undefined) return DONE;
      if (vino.metadata.deletionTimestamp !== undefined) return await end(context, vino);
      if (!vino.metadata.finalizers?.includes(FINALIZER)) {
        await addFinalizer(context.client, Vino, vino, FINALIZER);
        return DONE;
      }
      return await keep(context, vino, namespace);
    },
  };
}

async function keep(context: Context, vino: Vino, namespace: string): Promise<Outcome> {
  const { cache, client, clock, events } = context;
  const selected = cache.list(Node).filter((node) => isSelected(vino, node));
  const nodes = nodesOf(context, vino);
  let verdict: Verdict;
  try {
    readSpecification(vino);
    const known = new Set(nodes.map(({ spec }) => spec.nodeName));
    for (const { metadata } of selected) if (!known.has(metadata.name)) await plan(context, vino, metadata.name);
    verdict = verdictOf(vino, nodes, selected.length);
  } catch (error) {
    if (!isFault(error, "Invalid")) throw error;
    const message = asFault(error, "spec").advice;
    verdict = { reason: "ReconciliationFailed", message, waitsFor: message };
  }
  const agents = agentsOf(cache.get(DaemonSet, { namespace, name: DAEMON_SET }));
  const status = statusOf(vino, { nodes, selected: selected.length, verdict, agents, now: clock.now() });
  announce(events, vino, verdict, status.ignored);
  await new StatusRecord({ client, clean: context.clean }, Vino, vino).write(status as never);
  return verdict.reason === "ReconciliationSucceeded" ? DONE : { againAfterMs: WAITING_MS };
}

function announce(
  events: Context["events"],
  vino: Vino,
  { reason, message }: Verdict,
  ignored: readonly string[] | undefined,
): void {
  const before = vino.status?.conditions?.find(({ type }) => type === "Ready");
  if (before?.reason !== reason && reason === "ReconciliationSucceeded")
    events.normal(vino, reason, "all nodes have their machines, and all hosts are offered");
  if (reason === "ReconciliationFailed" && before?.message !== message) events.warning(vino, reason, message);
  if (ignored !== undefined && ignored.join() !== vino.status?.ignored?.join())
    events.warning(vino, "Ignored", `fields without an effect: ${ignored.join(", ")}`);
}

/** An empty VinoNode: what the node must have is written by its own controller. */
async function plan({ client, events }: Context, vino: Vino, nodeName: string): Promise<void> {
  const { namespace = "", name } = vino.metadata;
  try {
    await client.create(VinoNode, {
      metadata: {
        ...{ namespace, name: vinoNodeName(vino, nodeName), finalizers: [NODE_FINALIZER] },
        labels: { [NODE_LABEL]: nodeLabelValue(nodeName), [VINO_NAME]: labelValue(name), [VINO_NAMESPACE]: namespace },
        ownerReferences: [controllerReference(Vino, vino)],
      },
      spec: { nodeName, storagePool: { ...STORAGE_POOL }, networks: [], domains: [] },
    });
    events.normal(vino, "NodeJoined", nodeName);
  } catch (error) {
    // It leaves, and comes anew when it is gone.
    if (!isFault(error, "AlreadyExists")) throw error;
  }
}

function nodesOf({ cache }: Context, vino: Vino): VinoNode[] {
  return cache
    .byIndex(VinoNode, BY_OWNER, keyOf(refOf(vino)))
    .filter((node) => controllerOf(node)?.uid === vino.metadata.uid);
}

/** The finalizer goes when nothing is left of it. The API is asked, too: a node that was planned last may not be in the cache yet. */
async function end(context: Context, vino: Vino): Promise<Outcome> {
  if (!vino.metadata.finalizers?.includes(FINALIZER)) return DONE;
  const { client, clock } = context;
  const { namespace = "", name, uid } = vino.metadata;
  const labelSelector = `${VINO_NAME}=${labelValue(name)},${VINO_NAMESPACE}=${namespace}`;
  const { items } = await client.list(VinoNode, { namespace, labelSelector });
  const left = items.filter((node) => controllerOf(node)?.uid === uid);
  if (left.length === 0) {
    await removeFinalizer(client, Vino, vino, FINALIZER);
    return DONE;
  }
  const first = left[0]!;
  const why = first.status?.operator?.waitingFor ?? "to be given back";
  const waitsFor = `${left.length} nodes to be given back: ${first.spec.nodeName}: ${why}`;
  const verdict: Verdict = { reason: "Progressing", message: `being deleted; waits for ${waitsFor}`, waitsFor };
  const status = statusOf(vino, { nodes: left, selected: 0, verdict, agents: undefined, now: clock.now() });
  await new StatusRecord(context, Vino, vino).write(status as never);
  return { againAfterMs: WAITING_MS };
}

const asks = ({ metadata }: Vino): string =>
  JSON.stringify([metadata.uid, metadata.generation, metadata.deletionTimestamp, metadata.finalizers]);

const labels = ({ metadata }: Node): string =>
  JSON.stringify([metadata.uid, metadata.labels, metadata.deletionTimestamp]);

function vinoes(node: VinoNode) {
  const owner = controllerOf(node);
  return owner?.kind === Vino.kind ? [{ namespace: node.metadata.namespace!, name: owner.name }] : [];
}
