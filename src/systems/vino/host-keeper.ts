/** Has the BareMetalHosts of a node be as the Vino says: makes those whose domains are ready, changes what differs, and gives back those that are no longer wanted. */
import { asFault, Fault, isFault, isoTime } from "@slipway/base";
import { type Context, isControlledBy, refOf } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { secretTexts } from "../../inventory/hosts/host-secrets.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { Vino } from "../../kinds/vino/vino.ts";
import type { Domain, VinoNodeSpec } from "../../kinds/vino/vino-node.ts";
import { domainsThere, type NodeView } from "./node-view.ts";
import { hostChange, hostDraft, hostWish } from "./plan/host.ts";
import { networkData } from "./plan/network-data.ts";
import type { Machine, Specification } from "./plan/specification.ts";
import type { MachineSecrets } from "./secrets.ts";

const DETACHED = "baremetalhost.metal3.io/detached";
/** On a host whose node is gone: since when it has been detached. */
const DETACHED_AT = "slipway.dev/vino-detached-at";
/** How long a host whose node is gone may take to be detached before it is deleted all the same. */
const DETACHING_MS = 2 * 60_000;
const AT_REST = new Set(["", "unmanaged", "registering", "externally provisioned"]);

/** What came of a node's hosts. */
export interface Kept {
  /** That are offered. */
  hosts: number;
  problems: string[];
  waits: string[];
}

/** The machine of a domain on the node. */
export interface Placed {
  machine: Machine;
  domain: Domain;
}

/** Makes or mends the BareMetalHost of each machine that the node's agent has made. What is in the way of one is among the problems, and the others are kept. */
export async function keepHosts(
  context: Context,
  view: NodeView & { vino: Vino },
  of: {
    specification: Specification;
    placed: readonly Placed[];
    secrets: MachineSecrets;
    onNode: VinoNodeSpec["networks"];
  },
): Promise<Kept> {
  const kept: Kept = { hosts: 0, problems: [], waits: [] };
  for (const one of of.placed) {
    const waits = notReady(view, one.domain);
    if (waits !== undefined) {
      kept.waits.push(waits);
      if (view.hosts.some(({ metadata }) => metadata.name === one.domain.host)) kept.hosts++;
      continue;
    }
    try {
      await keepHost(context, view, { ...of, ...one });
      kept.hosts++;
    } catch (error) {
      if (!isFault(error, "Invalid", "MissingInput", "AlreadyExists")) throw error;
      kept.problems.push(asFault(error, one.domain.host).advice);
    }
  }
  return kept;
}

/** What is waited for before the domain can be a host; undefined: nothing. */
function notReady({ vinoNode: { status } }: NodeView, { name, host }: Domain): string | undefined {
  const seen = status?.domains?.find((each) => each.name === name);
  if (seen?.state === "Failed") return `${host}: the node could not make it: ${seen.message ?? "no reason is given"}`;
  if (seen?.state !== "Ready") return `the node's agent to make ${host}${seen?.message ? `: ${seen.message}` : ""}`;
  return status?.redfish === undefined ? "the node's agent to serve Redfish" : undefined;
}

async function keepHost(
  context: Context,
  view: NodeView & { vino: Vino },
  {
    specification: { networks },
    machine,
    domain,
    secrets,
    onNode,
  }: Placed & { specification: Specification; secrets: MachineSecrets; onNode: VinoNodeSpec["networks"] },
): Promise<void> {
  const { vino, vinoNode, node } = view;
  const of = { vino, node, vinoNode, machine, domain };
  const wish = hostWish(of);
  const { template, at } = await templateOf(context, vino, machine);
  const text = networkData({ machine, domain, networks, onNode }, template, at);
  await secrets.credentials(context, vinoNode, domain, {
    username: usernameOf(vino),
    ca: vinoNode.status?.redfish?.ca,
  });
  await secrets.networkData(context, vinoNode, domain.host, text);
  const { client, events } = context;
  const ref = { namespace: vinoNode.metadata.namespace!, name: domain.host };
  const live = context.cache.get(BareMetalHost, ref) ?? (await client.find(BareMetalHost, ref));
  if (live === undefined) {
    await client.create(BareMetalHost, hostDraft(wish, of));
    events.normal(vino, "HostOffered", `${domain.host} on node ${vinoNode.spec.nodeName}`);
    return;
  }
  if (!isControlledBy(live, vinoNode)) throw foreign(ref.name);
  if (live.metadata.deletionTimestamp !== undefined) return;
  const change = hostChange(live, wish);
  if (change !== undefined) await client.patch(BareMetalHost, ref, { type: "merge", body: change });
}

const foreign = (name: string): Fault =>
  new Fault("Invalid", `BareMetalHost ${name}`, "it exists, and is not this Vino's", {
    remedy: "delete it, or name the Vino otherwise",
  });

/** The user of the machines' BMCs: the one that the Vino names, else `admin`. */
export const usernameOf = ({ spec }: Vino): string => spec.bmcCredentials?.username || "admin";

async function templateOf(
  { client }: Context,
  vino: Vino,
  { set }: Machine,
): Promise<{ template: string | undefined; at: string }> {
  const { name = "", namespace = "" } = set.networkDataTemplate ?? {};
  const own = vino.metadata.namespace ?? "";
  const at = `Secret ${own}/${name}`;
  if (name === "") return { template: undefined, at };
  const field = `spec.nodes.${set.name}.networkDataTemplate`;
  if (namespace !== "" && namespace !== own)
    throw new Fault("Invalid", field, `${namespace} is another namespace than the Vino's`, {
      remedy: "copy the Secret beside the Vino",
    });
  const secret = await client.find(Secret, { namespace: own, name });
  const template = secret === undefined ? undefined : secretTexts(secret).template;
  if (template === undefined)
    throw new Fault("MissingInput", field, `${at} with the key template is not there`, { remedy: "create it" });
  return { template, at };
}

/** Gives back the hosts that are not among `wanted`. Resolves with those that are still there, each with what is waited for. */
export async function giveBackHosts(
  context: Context,
  { hosts, node, vinoNode }: NodeView,
  wanted: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const waits = new Map<string, string>();
  for (const host of hosts) {
    const { name, deletionTimestamp } = host.metadata;
    if (wanted.has(name)) continue;
    if (deletionTimestamp === undefined) await letGo(context, host, node === undefined);
    const { status } = host;
    waits.set(name, `${name} to be taken back${status?.waitingFor ? `, which waits for ${status.waitingFor}` : ""}`);
  }
  // One that the cache does not show yet.
  for (const { host } of vinoNode.spec.domains) {
    if (wanted.has(host) || hosts.some(({ metadata }) => metadata.name === host)) continue;
    const live = await context.client.find(BareMetalHost, { namespace: vinoNode.metadata.namespace!, name: host });
    if (live !== undefined && isControlledBy(live, vinoNode)) waits.set(host, `${host} to be taken back`);
  }
  return waits;
}

/** Deletes a host, which is taken back by whoever drives it. One whose node is gone has nothing left to be taken back: it is detached first. */
async function letGo({ client, clock }: Context, host: BareMetalHost, isNodeGone: boolean): Promise<void> {
  const { uid, annotations = {} } = host.metadata;
  const { operationalStatus, provisioning } = host.status ?? {};
  const isDetached = operationalStatus === "detached" || AT_REST.has(provisioning?.state ?? "");
  if (isNodeGone && !isDetached) {
    const since = Date.parse(annotations[DETACHED_AT] ?? "");
    if (Number.isNaN(since)) {
      const own = {
        [DETACHED]: JSON.stringify({ deleteAction: "delete", force: true }),
        [DETACHED_AT]: isoTime(clock.now()),
      };
      await client.patch(BareMetalHost, refOf(host), { type: "merge", body: { metadata: { annotations: own } } });
      return;
    }
    if (clock.now() - since < DETACHING_MS) return;
  }
  await client.delete(BareMetalHost, refOf(host), { uid }).catch(ignoreGone);
}

function ignoreGone(error: unknown): void {
  if (!isFault(error, "NotFound")) throw error;
}

/** Whether nothing of what the specification does not name is left on the node. */
export function isTidy({ vinoNode, node }: NodeView): boolean {
  if (node === undefined) return true;
  const { spec, status, metadata } = vinoNode;
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 1)) return false;
  const names = new Set(spec.domains.map(({ name }) => name));
  const networks = new Set(spec.networks.map(({ name }) => name));
  return (
    [...domainsThere(vinoNode)].every((name) => names.has(name)) &&
    (status?.networks ?? []).every(({ name }) => networks.has(name))
  );
}
