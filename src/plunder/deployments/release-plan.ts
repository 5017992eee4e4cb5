/** What is done next for a machine whose claim was given up: its disks are wiped, and it waits for the next one. Pure. */
import { wipeProof } from "../../inventory/hosts/wipe-proof.ts";
import { type Host, openInstall } from "../../netboot/hosts/host.ts";
import type { ClaimedDeployment } from "./claims.ts";

export type ReleaseStep =
  | { do: "wait"; for: string; again?: number }
  /** Nothing of the deployment is served any more, and the machine boots the agent. */
  | { do: "withdraw" }
  | { do: "wipe"; id: string }
  | { do: "wiped"; proof: string }
  | { do: "wipeFailed"; message: string };

/** After an attempt that failed. */
const AGAIN_MS = 10 * 60_000;
/** An agent that runs speaks more often. */
const SILENT_MS = 5 * 60_000;

/** Undefined: the wipe is to be ordered as soon as no other order is open. */
export function releaseStep(kept: ClaimedDeployment, host: Readonly<Host>, now: number): ReleaseStep | undefined {
  if (host.boot !== "agent" || openInstall(host) !== undefined) return { do: "withdraw" };
  const { order } = host;
  const { failed } = kept.claim.release!;
  if (order?.is.id === wipeStep(kept).id) {
    if (order.result === undefined) return waitFor(host, order.takenAt !== undefined, now);
    const proven = wipeProof(order.result, host.inventory?.disks);
    return "proof" in proven ? { do: "wiped", ...proven } : { do: "wipeFailed", message: proven.problem };
  }
  const left = failed === undefined ? 0 : failed.at + AGAIN_MS - now;
  if (left > 0) return { do: "wait", for: `the next attempt to wipe it: ${failed!.message}`, again: left };
  return undefined;
}

/** The order of the attempt that is due. */
export function wipeStep({ id, claim: { release } }: ClaimedDeployment): Extract<ReleaseStep, { do: "wipe" }> {
  return { do: "wipe", id: `${id}-wipe-${release!.attempt}` };
}

function waitFor({ session }: Readonly<Host>, isTaken: boolean, now: number): ReleaseStep {
  if (isTaken) return { do: "wait", for: "its disks to be wiped" };
  const isSilent = session === undefined || now - session.spokeAt > SILENT_MS;
  return {
    do: "wait",
    for: isSilent ? "somebody to restart it from the network, where it is wiped" : "its agent to wipe it",
  };
}
