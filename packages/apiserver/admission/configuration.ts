import type { Body, ServedResource } from "../model/served.ts";
import type { Store } from "../storage/store.ts";
import type { ClientConfig } from "../webhook/target.ts";

/** One webhook of a configuration, its defaults filled in. */
export interface Hook {
  /** Identifies a webhook among those of all configurations. */
  id: string;
  name: string;
  clientConfig: ClientConfig;
  rules: readonly Rule[];
  failurePolicy: "Fail" | "Ignore";
  matchPolicy: "Exact" | "Equivalent";
  namespaceSelector: Record<string, unknown>;
  objectSelector: Record<string, unknown>;
  sideEffects: "None" | "NoneOnDryRun" | "Some" | "Unknown";
  timeoutSeconds: number;
  admissionReviewVersions: readonly string[];
  matchConditions: readonly MatchCondition[];
  /** Mutating webhooks only. */
  reinvocationPolicy: "Never" | "IfNeeded";
}

export interface Rule {
  operations: readonly string[];
  apiGroups: readonly string[];
  apiVersions: readonly string[];
  resources: readonly string[];
  scope: "*" | "Cluster" | "Namespaced";
}

export interface MatchCondition {
  name: string;
  expression: string;
}

const GROUP = "admissionregistration.k8s.io";
export const MUTATING = `${GROUP}/mutatingwebhookconfigurations`;
export const VALIDATING = `${GROUP}/validatingwebhookconfigurations`;

const read = new WeakMap<Body, readonly Hook[]>();

/** The webhooks of all stored configurations of one kind: configurations by name, each one's webhooks as it lists them. */
export function hooksOf(store: Store, kind: typeof MUTATING | typeof VALIDATING): Hook[] {
  const hooks: Hook[] = [];
  for (const [, configuration] of store.collection(kind).range("", "")) {
    let own = read.get(configuration);
    if (own === undefined) {
      own = hooksIn(configuration);
      read.set(configuration, own);
    }
    hooks.push(...own);
  }
  return hooks;
}

function hooksIn(configuration: Body): readonly Hook[] {
  const webhooks = (configuration.webhooks ?? []) as Partial<Hook>[];
  return webhooks.map((webhook, i) => ({
    name: "",
    clientConfig: {},
    rules: [],
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    namespaceSelector: {},
    objectSelector: {},
    sideEffects: "Unknown",
    timeoutSeconds: 10,
    admissionReviewVersions: [],
    matchConditions: [],
    reinvocationPolicy: "Never",
    ...webhook,
    id: `${configuration.metadata.name}/${i}`,
  }));
}

/** Webhooks have no say about the objects that configure admission, or nobody could get rid of them. */
export function isExempt(resource: ServedResource): boolean {
  return resource.group === GROUP;
}
