import { parseTime } from "@slipway/base";
import type { Node } from "@slipway/kube/core";
import type { Instance } from "../../kinds/harvester/instance.ts";
import type { Left } from "../../machines/executor.ts";
import type { Machine } from "../../machines/machine.ts";
import { durationOf } from "./claim.ts";
import { journalOf } from "./journal.ts";
import { FORCE_DELETE, PROTECT } from "./names.ts";
import { keepsQuorum, readiness } from "./node-identity.ts";

/** Everything the decision about an Instance that is being deleted rests on. */
export interface ReleaseView {
  instance: Instance;
  poolProtected: boolean;
  /** Its own Node; never one that merely shares the name. */
  node: Node | undefined;
  nodes: readonly Node[];
  machine: Left;
  now: number;
}

export type ReleaseStep =
  | { do: "hold"; reason: "Protected" | "QuorumAtRisk" | "Locked"; message: string }
  | { do: "look" }
  | { do: "drain"; deadline: number | undefined }
  | { do: "release" }
  | { do: "awaitGone" }
  | { do: "removeNode" }
  | { do: "finish" };

const DEFAULT_DRAIN_MS = 10 * 60_000;
/** Left of a spot market's notice when draining must end. */
const SPOT_MARGIN_MS = 15_000;

/**
 * The next step of giving a machine back: held where it must not go, drained, released, seen gone, and only then its
 * Node removed, so that no kubelet is left to register it again (H6, H8). Pure.
 */
export function planRelease(view: ReleaseView): ReleaseStep {
  const { instance, node, machine } = view;
  const force = instance.metadata.annotations?.[FORCE_DELETE] === "true";
  const accepted = instance.status?.release?.accepted === true;
  const held = accepted || force ? undefined : hold(view);
  if (held !== undefined) return held;
  if (machine === "unknown") return { do: "look" };
  if (machine === "none" || machine === "gone") return node === undefined ? { do: "finish" } : { do: "removeNode" };
  if (machine.phase === "releasing" || (accepted && machine.phase !== "running")) return { do: "awaitGone" };
  if (machine.locked) {
    return {
      do: "hold",
      reason: "Locked",
      message: `the provider holds a lock on machine ${machine.id}: unlock it there`,
    };
  }
  const deadline = drainDeadline(view, machine, force);
  return deadline === "over" ? { do: "release" } : { do: "drain", deadline };
}

function hold({ instance, poolProtected, node, nodes }: ReleaseView): ReleaseStep | undefined {
  if (instance.metadata.annotations?.[PROTECT] === "true" || poolProtected) {
    const whose = poolProtected ? "its pool has" : "it has";
    return {
      do: "hold",
      reason: "Protected",
      message: `${whose} the annotation ${PROTECT}: remove it, or set ${FORCE_DELETE}`,
    };
  }
  if (node !== undefined && !keepsQuorum(node, nodes)) {
    const message = `without Node ${node.metadata.name} etcd would lose its quorum: add control-plane nodes first, or set ${FORCE_DELETE}`;
    return { do: "hold", reason: "QuorumAtRisk", message };
  }
  return undefined;
}

/** When draining ends: a moment, never (undefined: it waits for the user), or `over`. */
function drainDeadline(view: ReleaseView, machine: Machine, force: boolean): number | undefined | "over" {
  const { instance, node, now } = view;
  const { release } = instance.status ?? {};
  const { joined } = journalOf(instance.status);
  if (force || release?.drained || instance.spec.drain?.skip || node === undefined || !joined) return "over";
  const since = parseTime(release?.at) ?? now;
  const limits: number[] = [];
  if (machine.terminatesAt !== undefined) limits.push(machine.terminatesAt - SPOT_MARGIN_MS);
  // A kubelet that does not answer ends no Pod: its evictions are asked for, not waited for.
  if (!readiness(node).ready) limits.push(since + 60_000);
  if (instance.spec.drain?.force) limits.push(since + drainTimeout(instance));
  const deadline = limits.length === 0 ? undefined : Math.min(...limits);
  return deadline !== undefined && now >= deadline ? "over" : deadline;
}

/** After which time a drain that does not end is reported as stuck. */
export function drainTimeout(instance: Instance): number {
  return durationOf(instance.spec.drain?.timeout) ?? DEFAULT_DRAIN_MS;
}
