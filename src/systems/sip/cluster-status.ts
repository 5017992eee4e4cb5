/** What a SIPCluster's status says. Pure. */
import { type Condition, setCondition, waitFor } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { CLAIMED_AT } from "../../kinds/sip/labels.ts";
import type { ScheduledHost, SIPCluster, SIPClusterStatus } from "../../kinds/sip/sip-cluster.ts";
import { userOf } from "./hosts/belonging.ts";
import type { Schedule } from "./schedule/schedule.ts";
import { wishOf } from "./schedule/wish.ts";
import type { Kept } from "./services/keep.ts";

/** Reasons of the condition Ready; the words are the original's. */
export type Reason =
  | "Progressing"
  | "Unschedulable"
  | "InfraServiceFailure"
  | "UnableToApplyLabels"
  | "UnableToDecommission"
  | "ReconciliationSucceeded";

export interface Verdict {
  reason: Reason;
  message: string;
  /** What the next step waits for. */
  waitsFor?: string | undefined;
}

const MOST_PASSED = 50;

/** Why it can't be scheduled, with how many hosts for each reason. */
export function shortage({ short, passed }: Schedule): string {
  return short
    .map(({ role, wanted, found }) => {
      const counts = new Map<string, number>();
      for (const one of passed) if (one.role === role) counts.set(one.reason, (counts.get(one.reason) ?? 0) + 1);
      const reasons = [...counts].sort(([, a], [, b]) => b - a).map(([reason, count]) => `${count}: ${reason}`);
      const shown = reasons.slice(0, 5).join(", ") || "there are none";
      return `role ${role} has ${found} of ${wanted} hosts; others were passed over: ${shown}`;
    })
    .join("; ");
}

/** The cluster's hosts as its status has them, the first come of each role first. */
export function hostsOf(
  cluster: SIPCluster,
  { keep, take }: Schedule,
  found: ReadonlyMap<string, { host: BareMetalHost; addresses: Readonly<Record<string, string>> }>,
): ScheduledHost[] {
  const roles = wishOf(cluster).roles;
  return roles.flatMap(({ role }) => {
    const active = cluster.spec.nodes?.[role]?.count?.active ?? 0;
    const ids = [...(keep.get(role) ?? []), ...take.filter((each) => each.role === role).map((each) => each.host)];
    return ids.flatMap((id, at): ScheduledHost[] => {
      const one = found.get(id);
      if (one === undefined) return [];
      const { metadata, spec } = one.host;
      const claimedAt = metadata.annotations?.[CLAIMED_AT];
      const usedBy = userOf(one.host, cluster);
      return [
        {
          ...{ name: metadata.name, namespace: metadata.namespace ?? "", role },
          standing: at < active ? "active" : "standby",
          ...(claimedAt !== undefined && { claimedAt }),
          ...(usedBy !== undefined && { usedBy }),
          addresses: { ...one.addresses },
          ...(spec.bmc !== undefined && { bmc: spec.bmc.address }),
        },
      ];
    });
  });
}

/** How it is, once its hosts are there. */
export function verdictOf({ endpoints, problems }: Kept, leaving: readonly string[]): Verdict {
  if (problems.length > 0)
    return { reason: "InfraServiceFailure", message: problems.join("; "), waitsFor: problems[0] };
  const away = endpoints.filter(({ available }) => !available).map(({ service }) => `Deployment ${service}`);
  if (away.length > 0) {
    const message = `${away.join(", ")} to be available`;
    return { reason: "Progressing", message: `waits for ${message}`, waitsFor: message };
  }
  const waitsFor = leaving.length === 0 ? undefined : leaving.join("; ");
  return { reason: "ReconciliationSucceeded", message: "", waitsFor };
}

/** The fields of the status by which users see how it is. */
export function reported(
  cluster: SIPCluster,
  { reason, message, waitsFor }: Verdict,
  now: number,
): Pick<SIPClusterStatus, "conditions" | "waitingFor" | "waitingSince" | "observedGeneration"> {
  const observedGeneration = cluster.metadata.generation ?? 0;
  const condition: Omit<Condition, "lastTransitionTime"> = {
    type: "Ready",
    status: reason === "ReconciliationSucceeded" ? "True" : "False",
    ...{ reason, message: message.slice(0, 4_000), observedGeneration },
  };
  const { waitingFor, waitingSince } = waitFor(cluster.status, { what: waitsFor, now });
  const conditions = setCondition(cluster.status?.conditions, condition, now);
  return { observedGeneration, conditions: [...conditions], waitingFor, waitingSince } as never;
}

/** Hosts that were not taken, as many as a status may hold. */
export function passedOf({ passed }: Schedule): SIPClusterStatus["passedOver"] | undefined {
  return passed.length === 0 ? undefined : passed.slice(0, MOST_PASSED);
}
