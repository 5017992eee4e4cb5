import { parseTime } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { at, isRecord } from "../kinds/cluster-api/field-path.ts";

/** Something that a machine has come to. */
export interface Mark {
  what: string;
  /** Milliseconds since 1970. */
  at: number;
  /** Since the mark before; 0 for the first. */
  tookMs: number;
  isFailure: boolean;
}

export interface Timeline {
  marks: readonly Mark[];
  /** From the first mark to Ready; undefined: it is not Ready. */
  readyAfterMs?: number | undefined;
}

/** Moments in statuses, in the order of a machine's life. */
const MOMENTS: readonly (readonly [path: string, what: string])[] = [
  ["metadata.creationTimestamp", "created"],
  ["status.agent.registeredAt", "agent registered"],
  ["status.operationHistory.register.start", "registration began"],
  ["status.operationHistory.register.end", "registered"],
  ["status.operationHistory.inspect.start", "inspection began"],
  ["status.operationHistory.inspect.end", "inspected"],
  ["status.purchase.at", "machine ordered"],
  ["status.boot.at", "boot prepared"],
  ["status.operation.poweredAt", "power switched"],
  ["status.operationHistory.provision.start", "provisioning began"],
  ["status.install.scriptFetched", "boot script fetched"],
  ["status.install.configFetched", "configuration fetched"],
  ["status.install.started", "installer started"],
  ["status.operation.writtenAt", "disks written"],
  ["status.install.succeeded", "installed"],
  ["status.install.failed", "installation failed"],
  ["status.operation.restartedAt", "started from its disk"],
  ["status.operationHistory.provision.end", "provisioned"],
  ["status.node.joined", "Node joined"],
  ["status.failure.at", "given up"],
  ["status.release.at", "release began"],
  ["status.operationHistory.deprovision.start", "wipe began"],
  ["status.operationHistory.deprovision.end", "wiped"],
  ["metadata.deletionTimestamp", "deletion asked for"],
];

const FAILURES = new Set(["installation failed", "given up"]);

/** Conditions that are steps of a Cluster API machine's life. */
const STEPS: Readonly<Record<string, string>> = {
  InfrastructureReady: "infrastructure ready",
  BootstrapConfigReady: "bootstrap data ready",
  NodeReady: "Node ready",
  NodeHealthy: "Node healthy",
  Ready: "Ready",
};

/** A machine's way, from what its object says of it. Pure. */
export function timelineOf(object: KubeObject): Timeline {
  const moments = MOMENTS.flatMap(([path, what]) => marked(at(object, path), what));
  const conditions = at(object, "status.conditions");
  const steps = (Array.isArray(conditions) ? conditions : []).flatMap((condition: unknown) =>
    isRecord(condition) && condition.status === "True" && Object.hasOwn(STEPS, String(condition.type))
      ? marked(condition.lastTransitionTime, STEPS[String(condition.type)]!)
      : [],
  );
  const sorted = [...moments, ...steps].sort((a, b) => a.at - b.at);
  const marks = sorted.map(({ what, at: moment }, index) => ({
    ...{ what, at: moment, isFailure: FAILURES.has(what) },
    tookMs: index === 0 ? 0 : moment - sorted[index - 1]!.at,
  }));
  const ready = marks.findLast(({ what }) => what === "Ready");
  return { marks, readyAfterMs: ready && ready.at - marks[0]!.at };
}

function marked(value: unknown, what: string): { what: string; at: number }[] {
  const moment = typeof value === "string" ? parseTime(value) : undefined;
  return moment === undefined ? [] : [{ what, at: moment }];
}
