import { isDeepStrictEqual } from "node:util";
import type { Node } from "@slipway/kube/core";
import type { Instance } from "../../kinds/harvester/instance.ts";
import type { Machine } from "../../machines/machine.ts";
import { NODE_CLAIM_LABEL } from "./names.ts";

/** Whether a Node of the Instance's name is its machine. `stranger`: it only shares the name. */
export type Identity = "ours" | "stranger";

/**
 * Proves more than the name (H7): the claim that the machine registered its Node with, else the uid of the Node known from before, else an
 * address that only this machine has. A Node that carries another claim is a stranger whatever its addresses.
 */
export function identify(node: Node, instance: Instance, machine: Machine | undefined): Identity {
  const claim = node.metadata.labels?.[NODE_CLAIM_LABEL];
  if (claim !== undefined) return claim === instance.metadata.uid ? "ours" : "stranger";
  if (instance.status?.node?.uid === node.metadata.uid) return "ours";
  const { publicIP, privateIP } = instance.status ?? {};
  const known = new Set([publicIP, privateIP, ...(machine?.addresses.map((a) => a.address) ?? [])].filter(Boolean));
  const addresses = node.status?.addresses ?? [];
  return addresses.some(({ type, address }) => type !== "Hostname" && known.has(address)) ? "ours" : "stranger";
}

/** The Node's Ready condition. */
export function readiness(node: Node): { ready: boolean; since: string | undefined; message: string } {
  const condition = node.status?.conditions?.find((c) => c.type === "Ready");
  return {
    ready: condition?.status === "True",
    since: condition?.lastTransitionTime,
    message: condition === undefined ? "the Node has not reported yet" : (condition.message ?? condition.reason ?? ""),
  };
}

/** Whether a Node changed in more than the times of its kubelet's reports: thousands of kubelets report every few minutes. */
export function isNews(node: Node, before: Node): boolean {
  return !isDeepStrictEqual(facts(node), facts(before));
}

function facts({ metadata, spec, status }: Node): unknown[] {
  const { labels, annotations, finalizers, deletionTimestamp } = metadata;
  const conditions = status?.conditions?.map(({ lastHeartbeatTime, ...lasting }) => lasting);
  return [labels, annotations, finalizers, deletionTimestamp, spec, status?.addresses, conditions];
}

const CONTROL_PLANE_LABELS = [
  "node-role.kubernetes.io/control-plane",
  "node-role.kubernetes.io/etcd",
  "node-role.kubernetes.io/master",
];

function isControlPlane(node: Node): boolean {
  return CONTROL_PLANE_LABELS.some(
    (label) => node.metadata.labels?.[label] === "true" || node.metadata.labels?.[label] === "",
  );
}

/**
 * Whether the control plane keeps its etcd quorum when `leaving` goes: of the n members as they are, more than half must stay Ready.
 * The last member never leaves.
 */
export function keepsQuorum(leaving: Node, nodes: readonly Node[]): boolean {
  if (!isControlPlane(leaving)) return true;
  const members = nodes.filter(isControlPlane);
  const left = members.filter((node) => node.metadata.name !== leaving.metadata.name && readiness(node).ready).length;
  return left >= Math.floor(members.length / 2) + 1;
}
