/** What a Vino's status says. Pure. */
import { type ConditionUpdate, setCondition, waitFor } from "@slipway/kube";
import type { Vino, VinoStatus } from "../../kinds/vino/vino.ts";
import type { VinoNode } from "../../kinds/vino/vino-node.ts";
import { ignoredFields } from "./plan/specification.ts";

/** Reasons of the conditions; the words are the original's. */
export type Reason = "Progressing" | "ReconciliationSucceeded" | "ReconciliationFailed";

export interface Verdict {
  reason: Reason;
  message: string;
  waitsFor?: string | undefined;
}

/** Whether the agents run. Undefined: nobody here sees to them. */
export interface Agents {
  isReady: boolean;
  message: string;
}

const MOST_PROBLEMS = 50;

/** What a node is short of; undefined: it is as specified. */
export function shortOf({ metadata, status }: VinoNode, vino: Vino): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return status?.operator?.waitingFor ?? "it leaves";
  const told = status?.operator;
  if (told === undefined || (told.observedGeneration ?? 0) < (vino.metadata.generation ?? 0))
    return "the operator to look at it";
  if (told.message !== undefined) return told.message;
  return told.waitingFor ?? status?.message;
}

/** How a Vino is, by its nodes. `selected`: how many nodes it selects. */
export function verdictOf(vino: Vino, nodes: readonly VinoNode[], selected: number): Verdict {
  if (selected === 0) {
    const labels = Object.entries(vino.spec.nodeSelector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
    const waitsFor =
      labels.length === 0 ? "spec.nodeSelector to name labels of nodes" : `a node with the labels ${labels.join(", ")}`;
    return { reason: "Progressing", message: `waits for ${waitsFor}`, waitsFor };
  }
  const short = nodes.flatMap((node) => {
    const why = shortOf(node, vino);
    return why === undefined ? [] : [{ node, why }];
  });
  const missing = selected - nodes.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
  if (short.length === 0 && missing <= 0) return { reason: "ReconciliationSucceeded", message: "" };
  const bad = short.find(({ node }) => node.status?.operator?.message !== undefined) ?? short[0];
  const waitsFor = bad === undefined ? `${missing} nodes to be planned` : `node ${bad.node.spec.nodeName}: ${bad.why}`;
  const more = short.length > 1 ? `, and ${short.length - 1} more nodes` : "";
  const isBad = bad?.node.status?.operator?.message !== undefined;
  return {
    reason: isBad ? "ReconciliationFailed" : "Progressing",
    message: `${waitsFor}${more}`,
    waitsFor: `${waitsFor}${more}`,
  };
}

/** The fields of the status. */
export function statusOf(
  vino: Vino,
  {
    nodes,
    selected,
    verdict,
    agents,
    now,
  }: { nodes: readonly VinoNode[]; selected: number; verdict: Verdict; agents: Agents | undefined; now: number },
): VinoStatus {
  const { generation: observedGeneration = 0 } = vino.metadata;
  const ready: ConditionUpdate = {
    type: "Ready",
    status: verdict.reason === "ReconciliationSucceeded" ? "True" : "False",
    ...{ reason: verdict.reason, message: verdict.message.slice(0, 4_000), observedGeneration },
  };
  let conditions = setCondition(vino.status?.conditions, ready, now);
  if (agents !== undefined) {
    const { isReady, message } = agents;
    const reason: Reason = isReady ? "ReconciliationSucceeded" : "Progressing";
    const status = isReady ? ("True" as const) : ("False" as const);
    conditions = setCondition(conditions, { type: "DaemonSetReady", status, reason, message, observedGeneration }, now);
  }
  const problems = nodes.flatMap((node) => {
    const message = shortOf(node, vino);
    return message === undefined ? [] : [{ node: node.spec.nodeName, message: message.slice(0, 1_000) }];
  });
  const live = nodes.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const hosts = nodes.reduce((sum, { status }) => sum + (status?.operator?.hosts ?? 0), 0);
  const wanted = live.reduce((sum, { status }) => sum + (status?.operator?.wanted ?? 0), 0);
  const ignored = ignoredFields(vino);
  const { waitingFor, waitingSince } = waitFor(vino.status, { what: verdict.waitsFor, now });
  return {
    observedGeneration,
    nodes: `${live.length - problems.filter(({ node }) => live.some(({ spec }) => spec.nodeName === node)).length}/${selected}`,
    hosts: `${hosts}/${wanted}`,
    problems: problems.length > 0 ? problems.slice(0, MOST_PROBLEMS) : undefined,
    ignored: ignored.length > 0 ? ignored : undefined,
    conditions: [...conditions],
    ...{ waitingFor, waitingSince },
  } as unknown as VinoStatus;
}
