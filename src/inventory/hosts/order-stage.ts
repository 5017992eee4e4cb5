import { isoTime } from "@slipway/base";
import { waitFor } from "@slipway/kube";
import { type GivenOrder, openOrder } from "../../netboot/hosts/host.ts";
import { needsTrust } from "../../netboot/hosts/trust.ts";
import type { Result } from "../../netboot/protocol/messages.ts";
import { untilApproved } from "./approval.ts";
import { type Facts, type Operation, SILENT_MS } from "./facts.ts";
import { failed, progressed } from "./moves.ts";
import type { HostStep, OrderName } from "./step.ts";

/** An agent that works reports how far it is; one that says nothing new for so long is given up. */
const ORDER_MS = 60 * 60_000;
/** Between two phases that are written to the status. */
const PHASE_MS = 5_000;
const TRUST_MS = 5 * 60_000;

/** What is left to do until the agent has carried the order out; or what came of it. The agent is there. */
export function carryOut(at: Facts, operation: Operation, name: OrderName): HostStep | { result: Result } {
  const { id = at.newId } = operation;
  const given = at.machine?.order;
  if (given?.is.id !== id) return give(at, name, id);
  if (given.result !== undefined) return { result: given.result };
  // Another process gave it: what it names is offered again.
  if (!at.isOffered(id)) return { do: "order", name, id, announce: progressed(at, {}) };
  return waitForEnd(at, name, given);
}

function give(at: Facts, name: OrderName, id: string): HostStep {
  const { machine, standing, now } = at;
  const other = machine && openOrder(machine);
  if (other !== undefined)
    return { do: "wait", forWhat: `the order "${other.is.order}" to end, which a user gave`, recheckMs: TRUST_MS };
  if (standing?.trust === "discovered" && needsTrust({ order: name }))
    return { do: "wait", forWhat: untilApproved(standing), recheckMs: TRUST_MS };
  const waiting = waitFor(at.host.status, { what: awaited(name), deadline: now + ORDER_MS, now });
  return { do: "order", name, id, announce: progressed(at, { id, orderedAt: isoTime(now) }, waiting) };
}

function awaited(name: OrderName): string {
  return `the agent to end "${name}"`;
}

function waitForEnd(at: Facts, name: OrderName, { takenAt, givenAt, progress }: GivenOrder): HostStep {
  const { now } = at;
  const deadline = (takenAt ?? givenAt) + ORDER_MS;
  if (now >= deadline) return orderFailed(at, `the agent has not ended "${name}" in ${ORDER_MS / 60_000} minutes`);
  const forWhat = `${awaited(name)}${progress === undefined ? "" : ` (${progress.phase})`}`;
  // An agent may say as much as it likes.
  const left = told(at, name, forWhat);
  if (left !== undefined) return { do: "wait", forWhat: at.host.status!.waitingFor!, recheckMs: left, deadline };
  // By then an agent that has gone is known to have.
  return { do: "wait", forWhat, recheckMs: Math.min(deadline - now, SILENT_MS), deadline };
}

/** How long the phase that was written last stays, in ms; undefined: another one may be written. */
function told({ host: { status }, now }: Facts, name: OrderName, forWhat: string): number | undefined {
  const { waitingFor = "", waitingSince } = status ?? {};
  if (waitingSince === undefined || waitingFor === forWhat || !waitingFor.startsWith(`${awaited(name)} (`))
    return undefined;
  const left = Date.parse(waitingSince) + PHASE_MS - now;
  return left > 0 ? left : undefined;
}

/** The order has failed: the operation begins anew after a while. */
export function orderFailed(at: Facts, message: string): HostStep {
  return {
    do: "write",
    fields: failed(at, message),
    event: { type: "Warning", reason: "OrderFailed", message },
  };
}
