/** The status of a VinoNode, from how the node is. Pure. */
import { isoTime } from "@slipway/base";
import { type Condition, type StatusFields, setCondition } from "@slipway/kube";
import type { Domain, DomainStatus, VinoNode } from "../kinds/vino/vino-node.ts";
import type { Stop } from "./guard/stop.ts";
import type { Standing } from "./node/converge.ts";
import type { FoundDomain } from "./node/found.ts";
import { CONFIRM_ANNOTATION, isEmptied, networkName, ownerOf, subject } from "./node/wish.ts";

export interface Seen {
  standing: Standing;
  redfish: { url: string; ca: string };
  /** Domains whose users are known: who may order them. */
  orderable: ReadonlySet<string>;
  now: number;
}

const SYSTEMS = "/redfish/v1/Systems";

/** The fields that the agent writes. `operator` is not among them. */
export function statusOf(node: VinoNode, seen: Seen): StatusFields<VinoNode> {
  const owner = ownerOf(node);
  const { problems, waits } = seen.standing;
  const networks = node.spec.networks.map(({ name, bridge }) => {
    const message =
      problems.get(subject.network(owner, name)) ??
      problems.get(subject.bridge(bridge)) ??
      waits.get(subject.bridge(bridge));
    const found = seen.standing.found.networks.find(({ ref }) => ref.name === networkName(bridge));
    const ready = message === undefined && found?.active === true;
    return { name, ready, ...(message !== undefined && { message }) };
  });
  const domains = [
    ...node.spec.domains.map((domain) => domainStatus(node, domain, seen)),
    ...leftOf(node, seen).map((domain) => leavingStatus(owner, domain, seen)),
  ];
  const message = problems.get(subject.node(owner)) ?? problems.get(subject.pool(node.spec.storagePool.name));
  const waiting: string[] = [
    ...networks.filter(({ ready }) => !ready).map(({ name }) => `network ${name}`),
    ...domains.filter(({ state }) => state !== "Ready").map(({ name }) => `domain ${name}`),
  ];
  const { leftovers } = seen.standing;
  const removed = isEmptied(node) && domains.length === 0 && leftovers.length === 0;
  const left = isEmptied(node) ? leftovers[0] : undefined;
  const isReady = message === undefined && waiting.length === 0 && left === undefined;
  return {
    ...{ observedGeneration: node.metadata.generation, redfish: seen.redfish, networks, domains, message },
    ...waitFields(node, isReady || removed ? undefined : (waiting[0] ?? left ?? message), seen.now),
    removed: removed ? true : undefined,
    conditions: ready(node, { isReady, message: message ?? left ?? waitingText(waiting) }, seen.now),
  };
}

/** The fields where libvirt can't be asked: what was reported before is left as it was. */
export function unreachedStatus(node: VinoNode, message: string, now: number): StatusFields<VinoNode> {
  return {
    message,
    ...waitFields(node, "libvirt", now),
    conditions: ready(node, { isReady: false, message, reason: "LibvirtUnavailable" }, now),
  };
}

/** The fields where the guard has stopped the agent: what was reported before is left as it was. */
export function stoppedStatus(node: VinoNode, { code, reason }: Stop, now: number): StatusFields<VinoNode> {
  const { namespace, name } = node.metadata;
  const command = `kubectl annotate --overwrite vinonode -n ${namespace} ${name} ${CONFIRM_ANNOTATION}=${code}`;
  const message = `${reason}. Nothing on the node is changed until this is confirmed. If the node was moved here or the cluster restored, and these machines may be changed and removed with their disks: ${command}`;
  return {
    message,
    ...waitFields(node, "confirmation", now),
    conditions: ready(node, { isReady: false, message, reason: "UnknownMachines" }, now),
  };
}

function ready(
  { metadata, status }: VinoNode,
  { isReady, message, reason = "NotReady" }: { isReady: boolean; message: string; reason?: string },
  now: number,
): Condition[] {
  const update = {
    type: "Ready",
    status: isReady ? ("True" as const) : ("False" as const),
    reason: isReady ? "Ready" : reason,
    message: isReady ? "" : message,
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
  };
  return setCondition(status?.conditions, update, now);
}

function waitFields({ status }: VinoNode, waitingFor: string | undefined, now: number): StatusFields<VinoNode> {
  if (waitingFor === undefined) return { waitingFor: undefined, waitingSince: undefined };
  const isSame = status?.waitingFor === waitingFor && status.waitingSince !== undefined;
  return { waitingFor, waitingSince: isSame ? status.waitingSince : isoTime(now) };
}

function waitingText(waiting: readonly string[]): string {
  const shown = waiting.slice(0, 3).join(", ");
  return waiting.length > 3 ? `not ready: ${shown} and ${waiting.length - 3} more` : `not ready: ${shown}`;
}

function domainStatus(node: VinoNode, { name, uuid, bootMAC, bmc, interfaces }: Domain, seen: Seen): DomainStatus {
  const about = subject.domain(ownerOf(node), name);
  const { found, problems, waits } = seen.standing;
  const there = found.domains.find(({ ref, next }) => ref.uuid === uuid && next.record?.owner === ownerOf(node));
  const problem = problems.get(about);
  if (there === undefined)
    return { name, state: problem === undefined ? "Pending" : "Failed", ...text(problem ?? waits.get(about)) };
  const { cores, numaNode, cards } = there.next;
  const boot = bootMAC ?? interfaces[0]?.mac;
  const isKnown = seen.orderable.has(name);
  const unordered = isKnown
    ? undefined
    : `Secret ${bmc.name} with username and password is missing: nobody may order it`;
  const network = interfaces.map((one) => one.network).find((one) => isBadNetwork(node, one, seen));
  const missing = network === undefined ? unordered : `the network ${network} is not ready`;
  const state = problem !== undefined ? "Failed" : missing !== undefined ? "Pending" : "Ready";
  return {
    ...{ name, state, system: `${SYSTEMS}/${name}` },
    ...(boot !== undefined && cards.some(({ mac }) => mac === boot) && { bootMAC: boot }),
    ...(cores.length > 0 && { cores: [...cores] }),
    ...(numaNode !== undefined && { numaNode }),
    ...text(problem ?? missing ?? waits.get(about)),
  };
}

function isBadNetwork(node: VinoNode, name: string, { standing: { problems, found } }: Seen): boolean {
  const network = node.spec.networks.find((one) => one.name === name);
  if (network === undefined || problems.has(subject.network(ownerOf(node), name))) return true;
  if (problems.has(subject.bridge(network.bridge))) return true;
  return !found.networks.some(({ ref, active }) => active && ref.name === networkName(network.bridge));
}

/** Domains of the VinoNode that it does not want any more. */
function leftOf(node: VinoNode, { standing: { found } }: Seen): readonly FoundDomain[] {
  const wanted = new Set(node.spec.domains.map(({ name }) => name));
  return found.domains.filter(({ ref, next: { record } }) => record?.owner === ownerOf(node) && !wanted.has(ref.name));
}

function leavingStatus(owner: string, { ref }: FoundDomain, { standing: { problems } }: Seen): DomainStatus {
  return { name: ref.name, state: "Removing", ...text(problems.get(subject.domain(owner, ref.name))) };
}

function text(message: string | undefined): { message?: string } {
  return message === undefined ? {} : { message };
}
