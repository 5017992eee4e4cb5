/** What is done next for a machine whose claim was given up: its disks are wiped, and it waits for the next one. Pure. */
import { wipeProof } from "../../inventory/hosts/wipe-proof.ts";
import { type Host, openInstall, openOrder } from "../../netboot/hosts/host.ts";
import type { ClaimedDeployment } from "./claims.ts";

export type ReleaseStep =
  | { do: "wait"; for: string; again?: number }
  /** Nothing of the deployment is served any more, and the machine boots the agent. */
  | { do: "withdraw" }
  | { do: "wipe"; id: string }
  /** The system that was installed is asked to restart. */
  | { do: "askRestart" }
  | { do: "wiped"; proof: string }
  | { do: "wipeFailed"; message: string };

/** After an attempt that failed. */
const AGAIN_MS = 10 * 60_000;
/** An agent that runs speaks more often. */
const SILENT_MS = 5 * 60_000;

export interface ReleaseMoment {
  now: number;
  /** When the system was asked to restart last; `never`: nobody here can ask it. */
  askedAt?: number | "never";
}

/** Undefined: the wipe is to be ordered as soon as no other order is open. */
export function releaseStep(kept: ClaimedDeployment, host: Readonly<Host>, at: ReleaseMoment): ReleaseStep | undefined {
  const isUnderWay = openInstall(host) !== undefined || openOrder(host)?.is.id === kept.id;
  if (host.boot !== "agent" || isUnderWay) return { do: "withdraw" };
  const { order } = host;
  const { failed } = kept.claim.release!;
  if (order?.is.id === wipeStep(kept).id) {
    if (order.result === undefined) return waitFor(kept, host, at);
    const proven = wipeProof(order.result, host.inventory?.disks);
    return "proof" in proven ? { do: "wiped", ...proven } : { do: "wipeFailed", message: proven.problem };
  }
  const left = failed === undefined ? 0 : failed.at + AGAIN_MS - at.now;
  if (left > 0) return { do: "wait", for: `the next attempt to wipe it: ${failed!.message}`, again: left };
  return undefined;
}

/** The order of the attempt that is due. */
export function wipeStep({ id, claim: { release } }: ClaimedDeployment): Extract<ReleaseStep, { do: "wipe" }> {
  return { do: "wipe", id: `${id}-wipe-${release!.attempt}` };
}

function waitFor({ ended }: ClaimedDeployment, host: Readonly<Host>, { now, askedAt }: ReleaseMoment): ReleaseStep {
  const { session, order, install } = host;
  if (order?.takenAt !== undefined) return { do: "wait", for: "its disks to be wiped" };
  const spokeAt = session?.spokeAt ?? 0;
  const silentIn = spokeAt < (install?.endedAt ?? 0) ? 0 : spokeAt + SILENT_MS - now;
  if (silentIn > 0) return { do: "wait", for: "its agent to wipe it", again: silentIn };
  const forWhat = "somebody to restart it from the network, where it is wiped";
  if (askedAt === "never" || ended?.ok !== true) return { do: "wait", for: forWhat };
  const left = askedAt === undefined ? 0 : askedAt + AGAIN_MS - now;
  return left > 0 ? { do: "wait", for: forWhat, again: left } : { do: "askRestart" };
}
