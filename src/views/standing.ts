/**
 * How an object stands, read from its status alone: every kind of every system says it by the same few fields. The first of the view models:
 * pure functions from objects to rows and trees, which the command and the console both show. Asks nothing and formats nothing.
 */
import { parseTime } from "@slipway/base";
import { isTrue, type KubeObject } from "@slipway/kube";
import { conforming } from "./conformed.ts";

/** What kinds' statuses have in common. */
interface CommonStatus {
  status?: unknown;
  waitingFor?: string;
  waitingSince?: string;
  deadline?: string;
  /** Of hosts. */
  provisioning?: { state?: string };
  operationalStatus?: string;
  errorType?: string;
  errorMessage?: string;
  /** Of Cluster API's objects. */
  phase?: string;
  failureReason?: string;
  failureMessage?: string;
  /** Of tenants. */
  kubernetesResources?: { version?: { status?: string } };
  /** Of Instances and what is made like them. */
  failure?: { reason?: string; message?: string; at?: string };
  observedGeneration?: number;
  conditions?: CommonCondition[];
  /** Of infrastructure that is Cluster API's, and has no condition where another provider sees to it. */
  ready?: unknown;
}

export interface CommonCondition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  observedGeneration?: number;
}

export interface Failure {
  reason: string;
  message: string;
  /** Milliseconds since 1970, where it is known. */
  at?: number | undefined;
}

const conformed = conforming<{ status?: CommonStatus }>({
  status: {
    ...{ waitingFor: "text", waitingSince: "text", deadline: "text", phase: "text", observedGeneration: "number" },
    ...{ provisioning: { state: "text" }, kubernetesResources: { version: { status: "text" } } },
    ...{ errorType: "text", errorMessage: "text", failureReason: "text", failureMessage: "text" },
    failure: { reason: "text", message: "text", at: "text" },
    conditions: [
      {
        ...{ type: "text", status: "text", reason: "text", message: "text", lastTransitionTime: "text" },
        observedGeneration: "number",
      },
    ],
  },
});

const statusOf = (object: KubeObject): CommonStatus => conformed(object).status ?? {};

/** Ready, or Available where a kind of Cluster API has no Ready. */
export function summaryOf(object: KubeObject): CommonCondition | undefined {
  const { conditions } = statusOf(object);
  return conditions?.find(({ type }) => type === "Ready") ?? conditions?.find(({ type }) => type === "Available");
}

/** Whether an object is ready at its current generation: by the condition that sums it up, else by the field of Cluster API's contract. */
export function isReady(object: KubeObject): boolean {
  const { observedGeneration, ready } = statusOf(object);
  const condition = summaryOf(object);
  if (condition === undefined) return ready === true;
  const seen = observedGeneration ?? condition.observedGeneration;
  return condition.status === "True" && seen === object.metadata.generation;
}

/** The word for an object's state, as its kind has it; undefined where it has none. */
export function wordOf(object: KubeObject): string | undefined {
  const { status, provisioning, phase, kubernetesResources } = statusOf(object);
  const word = typeof status === "string" ? status : undefined;
  return word || provisioning?.state || phase || kubernetesResources?.version?.status || undefined;
}

/** The word for an object's state, whatever its kind. */
export function stateOf(object: KubeObject): string {
  if (object.metadata.deletionTimestamp !== undefined) return wordOf(object) ?? "deleting";
  const word = wordOf(object);
  if (word !== undefined) return word;
  const summary = summaryOf(object);
  if (summary === undefined) return "new";
  return summary.status === "True" ? "ready" : summary.reason || "not ready";
}

const NOT_SEEN = "waiting for the operator to look at it";

/** What an object does or waits for, in one sentence. */
export function doingOf(object: KubeObject): string {
  const { conditions, waitingFor } = statusOf(object);
  if (isTrue(conditions, "Stalled")) return conditionMessage(object, "Stalled");
  if (waitingFor) return `waiting for ${waitingFor}`;
  const summary = summaryOf(object);
  return summary?.message?.replaceAll("\n", " ") || summary?.reason || (isReady(object) ? "ready" : NOT_SEEN);
}

/** What an object waits for, since when, and until when; undefined where it says none. Times are milliseconds since 1970. */
export function waitOf(
  object: KubeObject,
): { for: string; since?: number | undefined; until?: number | undefined } | undefined {
  const { conditions, waitingFor, waitingSince, deadline } = statusOf(object);
  const stalled = conditions?.find(({ type, status }) => type === "Stalled" && status === "True");
  const reason = stalled?.message || waitingFor;
  if (!reason) return undefined;
  return {
    for: reason,
    since: parseTime(waitingSince) ?? parseTime(stalled?.lastTransitionTime),
    until: parseTime(deadline),
  };
}

/** What has failed of an object for good or until somebody acts; undefined where nothing has. */
export function failureOf(object: KubeObject): Failure | undefined {
  const { failure, errorType, errorMessage, failureReason, failureMessage } = statusOf(object);
  if (failure) {
    const { reason = "failed", message = "", at } = failure;
    return { reason, message, at: parseTime(at) };
  }
  if (errorType || errorMessage) return { reason: errorType || "error", message: errorMessage ?? "" };
  if (failureReason || failureMessage) return { reason: failureReason || "failed", message: failureMessage ?? "" };
  return undefined;
}

function conditionMessage(object: KubeObject, type: string): string {
  return statusOf(object).conditions?.find((condition) => condition.type === type)?.message ?? "";
}
