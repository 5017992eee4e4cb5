import { isDeepStrictEqual } from "node:util";
import { asFault, isFault } from "@slipway/base";
import {
  type Context,
  type Controller,
  controllerOf,
  controllerReference,
  DONE,
  type KubeObject,
  keyOf,
  type Outcome,
  refOf,
  removeFinalizer,
  source,
} from "@slipway/kube";
import { Node, Secret } from "@slipway/kube/core";
import { IPPool } from "../../kinds/ipam/ip-pool.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { Vino } from "../../kinds/vino/vino.ts";
import { VinoNode, type VinoNodeSpec, type VinoNodeStatus } from "../../kinds/vino/vino-node.ts";
import { bridgeOwner, type Given, ownerIn } from "./addresses/book.ts";
import { Pools, poolAccess } from "./addresses/pools.ts";
import { type AgentAccount, agentRights } from "./agent/rights.ts";
import { giveBackHosts, isTidy, type Kept, keepHosts, type Placed, usernameOf } from "./host-keeper.ts";
import { hostName, NODE_FINALIZER, ownerOf, VINO, VINO_NAME, withVino } from "./names.ts";
import { BY_NODE, BY_OWNER, INDEXES, type NodeView, viewOf, vinoRef } from "./node-view.ts";
import { Role, RoleBinding } from "./objects.ts";
import { interfacesOf, nodeSpec } from "./plan/node-spec.ts";
import { readSpecification, type Specification } from "./plan/specification.ts";
import { MachineSecrets } from "./secrets.ts";

const WAITING_MS = 30_000;
const RESTING_MS = 10 * 60_000;

const NOTHING: Specification = { networks: [], machines: [], bootUrl: undefined };

export interface NodeControllerOf {
  /** Where the pools are. */
  namespace: string;
  /** Of the agents. */
  account: AgentAccount;
  onSecret(value: string): void;
}

/** Gives each node what its Vino says: addresses, a VinoNode's specification, Secrets, BareMetalHosts; and takes all of it back. A node waits for no other. */
export function vinoNodeController({ namespace, account, onSecret }: NodeControllerOf): Controller {
  const pools = new Pools(namespace);
  const secrets = new MachineSecrets(onSecret);
  const rights = new Map<string, string>();
  return {
    name: "vino-node",
    system: VINO,
    owner(ref, cache) {
      const vinoNode = cache.get(VinoNode, ref);
      return withVino((vinoNode && vinoRef(vinoNode)) ?? ref);
    },
    left: (ref) => void rights.delete(keyOf(ref)),
    sources: [
      source({
        resource: VinoNode,
        indexes: INDEXES,
        when: (node, before) => matters(node) !== matters(before),
      }),
      source({
        resource: Vino,
        when: (vino, before) => asks(vino) !== asks(before),
        keys: (vino, _, cache) => cache.byIndex(VinoNode, BY_OWNER, keyOf(refOf(vino))).map(refOf),
      }),
      source({
        resource: Node,
        when: (node, before) => place(node) !== place(before),
        keys: (node, _, cache) => cache.byIndex(VinoNode, BY_NODE, node.metadata.name).map(refOf),
      }),
      source({
        resource: BareMetalHost,
        optional: true,
        labelSelector: VINO_NAME,
        indexes: { [BY_OWNER]: (host: BareMetalHost) => ownerKeys(host).map(keyOf) },
        when: (host: BareMetalHost, before: BareMetalHost) => state(host) !== state(before),
        keys: (host: BareMetalHost) => ownerKeys(host),
      }),
      source({
        resource: IPPool,
        namespace,
        keys: (_, __, cache) =>
          cache
            .list(VinoNode)
            .filter(({ status }) => status?.operator?.message !== undefined)
            .map(refOf),
      }),
    ],
    access: [
      { resource: VinoNode, verbs: ["get", "patch", "delete"] },
      { resource: VinoNode, verbs: ["patch", "update"], subresource: "status" },
      { resource: BareMetalHost, verbs: ["get", "create", "patch", "delete"] },
      { resource: Secret, verbs: ["get", "create", "patch", "delete"] },
      { resource: Role, verbs: ["get", "create", "patch"] },
      { resource: RoleBinding, verbs: ["get", "create", "patch"] },
      poolAccess(namespace),
    ],
    async reconcile(ref, context) {
      const vinoNode = context.cache.get(VinoNode, ref);
      if (vinoNode === undefined) return DONE;
      const view = viewOf(context.cache, vinoNode);
      let specification = NOTHING;
      try {
        if (view.vino !== undefined) specification = readSpecification(view.vino);
      } catch (error) {
        if (!isFault(error, "Invalid")) throw error;
        // What the node has stays as it is until the specification is mended.
        await tell(
          context,
          view,
          { hosts: view.hosts.length, problems: [asFault(error, "spec").advice], waits: [] },
          specification,
        );
        return DONE;
      }
      return await keepNode({ pools, secrets, account, rights }, context, view, specification);
    },
  };
}

interface Keepers {
  pools: Pools;
  secrets: MachineSecrets;
  account: AgentAccount;
  /** By key: the rights that were last applied for a VinoNode, and its uid. */
  rights: Map<string, string>;
}

async function keepNode(
  keepers: Keepers,
  context: Context,
  view: NodeView,
  specification: Specification,
): Promise<Outcome> {
  const { vino, vinoNode } = view;
  const { nodeName } = vinoNode.spec;
  const wanted = new Set(
    vino === undefined ? [] : specification.machines.map(({ id }) => hostName(vino, nodeName, id)),
  );
  const leaving = await giveBackHosts(context, view, wanted);
  const waits = [...leaving.values()];
  const there = new Set(
    vinoNode.spec.domains.map(({ host }) => host).filter((host) => waits.some((wait) => wait.startsWith(`${host} `))),
  );
  const given = await addressesOf(keepers, context, view, { specification, there });
  const spec = nodeSpec({ vino, node: vinoNode, specification, given, hosts: there });
  await keepSecrets(keepers, context, view, spec);
  const written = await writeSpec(context, vinoNode, spec);
  const kept: Kept = { hosts: 0, problems: [...given.missing], waits };
  if (vino !== undefined) {
    const placed = specification.machines.flatMap((machine): Placed[] => {
      const domain = written.spec.domains.find(({ host }) => host === hostName(vino, nodeName, machine.id));
      return domain === undefined ? [] : [{ machine, domain }];
    });
    const found = await keepHosts(
      context,
      { ...view, vino, vinoNode: written },
      { specification, placed, secrets: keepers.secrets, onNode: written.spec.networks },
    );
    kept.hosts = found.hosts;
    kept.problems.push(...found.problems);
    kept.waits.push(...found.waits);
  } else if (isEmpty(vinoNode.spec)) kept.waits.push(...(await leave(context, { ...view, vinoNode: written })));
  for (const { name, ready, message } of written.status?.networks ?? [])
    if (!ready) kept.waits.push(`network ${name}${message ? `: ${message}` : ""}`);
  if (vino !== undefined && !isTidy({ ...view, vinoNode: written }))
    kept.waits.push("the node's agent to follow the specification");
  await tell(context, { ...view, vinoNode: written }, kept, specification);
  const isDone = kept.waits.length === 0 && kept.problems.length === 0;
  return { againAfterMs: (isDone ? RESTING_MS : WAITING_MS) * (1 - context.random.fraction() / 4) };
}

/** Addresses are taken back when the node has nothing left of what it no longer is to have. */
async function addressesOf(
  { pools }: Keepers,
  context: Context,
  view: NodeView,
  { specification, there }: { specification: Specification; there: ReadonlySet<string> },
): Promise<Given> {
  const { vino, vinoNode } = view;
  const { nodeName, domains, networks } = vinoNode.spec;
  const ref = vinoRef(vinoNode) ?? vinoNode.metadata;
  const owner = ownerOf({ namespace: vinoNode.metadata.namespace!, name: ref.name }, nodeName);
  const isDone = isTidy(view);
  const leaving = new Set(domains.filter(({ host }) => there.has(host)).map(({ host }) => `${owner}/${host}/`));
  const bridges = new Set(networks.map(({ name }) => bridgeOwner(owner, name)));
  const staysAnyway = (of: string): boolean => [...leaving].some((prefix) => of.startsWith(prefix)) || bridges.has(of);
  const interfaces =
    vino === undefined ? new Map<string, string[]>() : interfacesOf(vino, nodeName, specification.machines);
  const wished = new Set([
    ...[...interfaces.values()].flat(),
    ...specification.networks.map(({ name }) => bridgeOwner(owner, name)),
  ]);
  return await pools.settle(context, {
    owner,
    networks: specification.networks,
    interfaces,
    // What is in the specification has its addresses until it has been written without it, where the node is gone, too: it may come back.
    keeps: (of) => !wished.has(of) && (!isDone || staysAnyway(of) || isOfDomain(of, owner, vinoNode.spec)),
    isTold: (of) => isOfDomain(of, owner, vinoNode.spec) || bridges.has(of),
  });
}

const isOfDomain = (of: string, owner: string, { domains }: VinoNodeSpec): boolean =>
  domains.some(({ host, interfaces }) => interfaces.some(({ name }) => of === ownerIn(owner, host, name)));

/** Passwords are there before the domain is asked for, and go when its host is gone. */
async function keepSecrets(
  { secrets, account, rights }: Keepers,
  context: Context,
  { vino, vinoNode }: NodeView,
  spec: VinoNodeSpec,
): Promise<void> {
  for (const { host } of vinoNode.spec.domains)
    if (!spec.domains.some((each) => each.host === host)) await secrets.drop(context, vinoNode, host);
  if (vino !== undefined)
    for (const domain of spec.domains) {
      await secrets.credentials(context, vinoNode, domain, {
        username: usernameOf(vino),
        ca: vinoNode.status?.redfish?.ca,
      });
      if (domain.vnc !== undefined) await secrets.vnc(context, vinoNode, domain.vnc.name);
    }
  const names = spec.domains.flatMap(({ bmc, vnc }) => [bmc.name, ...(vnc ? [vnc.name] : [])]).toSorted();
  const { uid, namespace, name } = vinoNode.metadata;
  const [key, told] = [keyOf(refOf(vinoNode)), [uid, ...names].join()];
  if (vinoNode.metadata.deletionTimestamp !== undefined || rights.get(key) === told) return;
  const owner = controllerReference(VinoNode, vinoNode);
  for (const { resource, body } of agentRights(account, { namespace: namespace!, name, owner, secrets: names }))
    await context.client.patch(
      resource,
      { namespace: namespace!, name },
      { type: "apply", body, fieldManager: "slipway", force: true },
    );
  rights.set(key, told);
}

async function writeSpec({ client }: Context, vinoNode: VinoNode, spec: VinoNodeSpec): Promise<VinoNode> {
  if (isDeepStrictEqual(spec, vinoNode.spec)) return vinoNode;
  const { resourceVersion } = vinoNode.metadata;
  const body = { metadata: { resourceVersion }, spec: { ...spec, cpuExclude: spec.cpuExclude ?? null } };
  return await client.patch(VinoNode, refOf(vinoNode), { type: "merge", body });
}

const isEmpty = ({ domains, networks }: VinoNodeSpec): boolean => domains.length + networks.length === 0;

/** The end of a node's part in a Vino, a step at each call, once its addresses are free. Resolves with what is waited for. */
async function leave({ client }: Context, view: NodeView): Promise<string[]> {
  const { vinoNode, node } = view;
  const { spec, status, metadata } = vinoNode;
  if (!isTidy(view))
    return [`the agent of node ${spec.nodeName} to remove what it has; delete the Node if it never comes back`];
  if (metadata.deletionTimestamp === undefined) {
    await client.delete(VinoNode, refOf(vinoNode), { uid: metadata.uid });
    return [];
  }
  if (node !== undefined && status?.removed !== true) return [`the agent of node ${spec.nodeName} to let go`];
  await removeFinalizer(client, VinoNode, vinoNode, NODE_FINALIZER);
  return [];
}

type Told = NonNullable<VinoNodeStatus["operator"]>;

async function tell(
  { client }: Context,
  { vino, vinoNode }: NodeView,
  { hosts, problems, waits }: Kept,
  { machines }: Specification,
): Promise<void> {
  const told: Told = {
    ...(vino?.metadata.generation !== undefined && { observedGeneration: vino.metadata.generation }),
    hosts,
    wanted: vino === undefined ? 0 : machines.length,
    ...(problems.length > 0 && { message: problems.join("; ").slice(0, 4_000) }),
    ...(waits.length > 0 && { waitingFor: waits.slice(0, 20).join("; ").slice(0, 4_000) }),
  };
  const before = vinoNode.status?.operator;
  if (isDeepStrictEqual(told, before)) return;
  const gone = Object.fromEntries(
    Object.keys(before ?? {})
      .filter((key) => !(key in told))
      .map((key) => [key, null]),
  );
  const body = { status: { operator: { ...gone, ...told } } };
  await client
    .patch(VinoNode, refOf(vinoNode), { type: "merge", body }, { subresource: "status" })
    .catch((error: unknown) => {
      if (!isFault(error, "NotFound")) throw error;
    });
}

/** What of a VinoNode wakes this controller: all but what this controller writes into its status. */
function matters({ metadata, status }: VinoNode): string {
  const { operator: _, conditions: __, waitingFor: ___, waitingSince: ____, ...seen } = status ?? {};
  return JSON.stringify([metadata.uid, metadata.generation, metadata.deletionTimestamp, metadata.finalizers, seen]);
}

const asks = ({ metadata }: Vino): string =>
  JSON.stringify([metadata.uid, metadata.generation, metadata.deletionTimestamp]);

const place = ({ metadata, status }: Node): string =>
  JSON.stringify([metadata.uid, metadata.labels, metadata.deletionTimestamp, status?.addresses]);

const state = ({ metadata, spec, status }: BareMetalHost): string =>
  JSON.stringify([
    metadata.labels,
    metadata.annotations,
    metadata.deletionTimestamp,
    spec,
    status?.operationalStatus,
    status?.provisioning?.state,
  ]);

function ownerKeys(object: KubeObject) {
  const owner = controllerOf(object);
  return owner?.kind === VinoNode.kind ? [{ namespace: object.metadata.namespace!, name: owner.name }] : [];
}
