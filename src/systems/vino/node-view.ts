/** What is known of one node for one Vino, by what is in the cache. Pure. */
import { type Cache, controllerOf, keyOf, matchesLabels, type Ref } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { Vino } from "../../kinds/vino/vino.ts";
import type { VinoNode } from "../../kinds/vino/vino-node.ts";

/** Indexes of the caches. */
export const BY_NODE = "vino-node";
export const BY_OWNER = "vino-owner";

/** Of VinoNodes. */
export const INDEXES = {
  [BY_NODE]: ({ spec }: VinoNode): string[] => [spec.nodeName],
  [BY_OWNER]: (vinoNode: VinoNode): string[] =>
    [vinoRef(vinoNode)].flatMap((ref) => (ref === undefined ? [] : [keyOf(ref)])),
};

export interface NodeView {
  /** Undefined: it is gone, being deleted, or does not select the node any more. */
  vino: Vino | undefined;
  /** Undefined: it has left the cluster. */
  node: Node | undefined;
  vinoNode: VinoNode;
  hosts: BareMetalHost[];
}

/** Whether a Vino has its machines on a node. Without a selector it has them on none. */
export function isSelected({ spec, metadata }: Vino, node: Node): boolean {
  const labels = spec.nodeSelector?.matchLabels ?? {};
  if (metadata.deletionTimestamp !== undefined || node.metadata.deletionTimestamp !== undefined) return false;
  return Object.keys(labels).length > 0 && matchesLabels({ matchLabels: labels }, node.metadata.labels ?? {});
}

/** The Vino that a VinoNode is of. */
export function vinoRef(vinoNode: VinoNode): Ref | undefined {
  const owner = controllerOf(vinoNode);
  return owner?.kind === Vino.kind ? { namespace: vinoNode.metadata.namespace!, name: owner.name } : undefined;
}

/** A VinoNode with its Node, its hosts, and its Vino while that selects the Node. */
export function viewOf(cache: Cache, vinoNode: VinoNode): NodeView {
  const ref = vinoRef(vinoNode);
  const found = ref && cache.get(Vino, ref);
  const node = cache.get(Node, { name: vinoNode.spec.nodeName });
  const isOwn = found?.metadata.uid === controllerOf(vinoNode)?.uid;
  const isWanted =
    isOwn &&
    found !== undefined &&
    node !== undefined &&
    isSelected(found, node) &&
    vinoNode.metadata.deletionTimestamp === undefined;
  const hosts = cache.byIndex(
    BareMetalHost,
    BY_OWNER,
    keyOf({ namespace: vinoNode.metadata.namespace!, name: vinoNode.metadata.name }),
  );
  return {
    vino: isWanted ? found : undefined,
    node,
    vinoNode,
    hosts: hosts.filter((host) => controllerOf(host)?.uid === vinoNode.metadata.uid),
  };
}

/** Whether the agent has done what the specification says. */
export const isSeen = ({ metadata, status }: VinoNode): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 1);

/** Names of the domains that the node has, wanted or not. One that was never written is not there. */
export const domainsThere = ({ status }: VinoNode): Set<string> =>
  new Set((status?.domains ?? []).map(({ name }) => name));
