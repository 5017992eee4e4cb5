import { admit, approve } from "../core/admit.ts";
import type { Call } from "../core/call.ts";
import type { Body } from "../model/served.ts";
import { badRequest, refusal, type Status, unreasoned } from "../model/status.ts";
import { removeObject } from "./delete.ts";
import { deleteOptions } from "./delete-options.ts";
import { get } from "./list.ts";
import { readTyped } from "./typed-body.ts";

const EVICTION = { group: "policy", version: "v1", kind: "Eviction" };

/** POST pods/x/eviction (policy/v1): a deletion that the disruption budgets must allow, else 429 with cause DisruptionBudget. */
export async function evict(call: Call): Promise<Status> {
  const eviction = readTyped(call, EVICTION);
  if (eviction.metadata.name !== call.name) throw badRequest("name in URL does not match name in Eviction object");
  const pod = await get(call);
  eviction.metadata.namespace = call.namespace;
  const write = { operation: "CREATE", object: eviction, kind: EVICTION } as const;
  await admit(call, write);
  await approve(call, write);
  const deletion: Call = { ...call, subresource: "", body: eviction.deleteOptions };
  const budgets = isDisrupted(pod) ? budgetsOf(call, pod) : [];
  if (budgets.length > 1) throw tooManyBudgets();
  for (const budget of budgets) spend(call, pod, budget);
  const asked = deleteOptions(deletion);
  await removeObject(deletion, { ...asked, uid: asked.uid ?? pod.metadata.uid, admitted: true });
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

function tooManyBudgets() {
  const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
  return unreasoned(message);
}

/** Finished and departing pods disrupt nothing. */
function isDisrupted(pod: Body): boolean {
  return pod.metadata.deletionTimestamp === undefined && !isFinished(pod);
}

function isFinished({ status }: Body): boolean {
  const { phase } = (status ?? {}) as { phase?: string };
  return phase === "Succeeded" || phase === "Failed";
}

interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

interface Budget {
  spec?: { selector?: LabelSelector; minAvailable?: number | string; maxUnavailable?: number | string };
  status?: {
    observedGeneration?: number;
    disruptionsAllowed?: number;
    desiredHealthy?: number;
    currentHealthy?: number;
  };
}

const BUDGETS = "policy/poddisruptionbudgets";

function budgetsOf(call: Call, pod: Body): Body[] {
  const budgets: Body[] = [];
  for (const [, budget] of call.core.store.collection(BUDGETS).range(`${call.namespace}/`, ""))
    if (selects((budget as Budget).spec?.selector, pod)) budgets.push(budget);
  return budgets;
}

function selects(selector: LabelSelector | undefined, pod: Body): boolean {
  if (selector === undefined) return false;
  const labels = pod.metadata.labels ?? {};
  const expressions = (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
    const value = labels[key];
    if (operator === "Exists") return value !== undefined;
    if (operator === "DoesNotExist") return value === undefined;
    const among = value !== undefined && values.includes(value);
    return operator === "In" ? among : !among;
  });
  return expressions && Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
}

/** What a controller has counted stands. */
function spendCounted(budget: Body): void {
  const { status = {} } = budget as Budget;
  if ((status.disruptionsAllowed ?? 0) > 0) return;
  const { desiredHealthy = 0, currentHealthy = 0 } = status;
  const message =
    currentHealthy <= desiredHealthy
      ? `The disruption budget ${budget.metadata.name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
      : `The disruption budget ${budget.metadata.name} does not allow evicting pods currently`;
  throw refusal("Throttled", "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: "DisruptionBudget", message }],
  });
}

/**
 * Refuses when the budget has nothing left. There is no disruption controller here, so what is left is counted from the pods
 * at the moment of asking: ready ones against `minAvailable` or `maxUnavailable` (percentages round up, as upstream's). A departing Pod is one
 * of those that there are to be, until it is gone, and is not healthy.
 */
function spend(call: Call, pod: Body, budget: Body): void {
  const { spec, status } = budget as Budget;
  if ((status?.observedGeneration ?? 0) >= (budget.metadata.generation ?? 1)) {
    spendCounted(budget);
    return;
  }
  const pods = [...call.core.store.collection("/pods").range(`${call.namespace}/`, "")]
    .map(([, p]) => p)
    .filter((p) => selects(spec?.selector, p) && !isFinished(p));
  const healthy = pods.filter((p) => isReady(p) && isDisrupted(p)).length;
  const of = (value: number | string): number =>
    typeof value === "number" ? value : Math.ceil((Number.parseFloat(value) / 100) * pods.length);
  const desired =
    spec?.maxUnavailable !== undefined ? pods.length - of(spec.maxUnavailable) : of(spec?.minAvailable ?? 1);
  if (isReady(pod) && healthy - 1 < desired) {
    const why = `The disruption budget ${budget.metadata.name} needs ${desired} healthy pods and has ${healthy} currently`;
    const causes = [{ reason: "DisruptionBudget", message: why }];
    throw refusal("Throttled", "Cannot evict pod as it would violate the pod's disruption budget.", { causes });
  }
}

function isReady(pod: Body): boolean {
  const status = pod.status as { conditions?: { type: string; status: string }[] } | undefined;
  return (status?.conditions ?? []).some((c) => c.type === "Ready" && c.status === "True");
}
