/** How a tenant's users are kept from writing (`spec.writePermissions`): objects in the tenant's own cluster. Pure. */
import type { Manifest } from "../../bootstrap/kubeadm/join-facts.ts";
import { parseKubernetesVersion } from "../../kinds/kamaji/version.ts";

export interface WritePermissions {
  blockCreation?: boolean | undefined;
  blockUpdate?: boolean | undefined;
  blockDeletion?: boolean | undefined;
}

const NAME = "slipway-write-permissions";
const REGISTRATION = "admissionregistration.k8s.io/v1";

/** Kubernetes' own components work there, and go on working. */
const OPEN_NAMESPACES = ["kube-system", "kube-node-lease"];

/** Whoever runs the cluster may write: Slipway does as one of this group. */
const MATCH_CONDITIONS = [{ name: "not-its-operator", expression: "!('system:masters' in request.userInfo.groups)" }];

/** The first minors with `matchConditions` of webhooks and with ValidatingAdmissionPolicy, both without a feature gate. */
const FIRST_CONDITIONS = 28;
const FIRST_POLICIES = 30;

/** What a tenant must hold, and what it must not; `problem`: why its writes can't be blocked. */
export interface WriteBlock {
  wanted: readonly Manifest[];
  unwanted: readonly Manifest[];
  problem?: string;
}

/**
 * The objects that block writes in a tenant of this version. `hasPolicies`: its API server knows ValidatingAdmissionPolicy at all. Without
 * it a webhook does that nobody serves: what can't be asked is refused.
 */
export function writeBlock(permissions: WritePermissions, version: string, hasPolicies: boolean): WriteBlock {
  const operations = operationsOf(permissions);
  const minor = parseKubernetesVersion(version)?.minor ?? 0;
  const policy = [policyOf(operations), BINDING];
  const webhook = [webhookOf(operations)];
  if (operations.length === 0)
    return { wanted: [], unwanted: hasPolicies && minor >= FIRST_POLICIES ? policy : webhook };
  if (hasPolicies && minor >= FIRST_POLICIES) return { wanted: policy, unwanted: webhook };
  if (minor >= FIRST_CONDITIONS) return { wanted: webhook, unwanted: [] };
  return { wanted: [], unwanted: [], problem: `writePermissions need Kubernetes v1.${FIRST_CONDITIONS} or later` };
}

function operationsOf({ blockCreation, blockUpdate, blockDeletion }: WritePermissions): string[] {
  return [
    ...(blockCreation ? ["CREATE"] : []),
    ...(blockUpdate ? ["UPDATE"] : []),
    ...(blockDeletion ? ["DELETE"] : []),
  ];
}

/** All objects, without their subresources: nodes and pods go on reporting their status. */
function rulesOf(operations: readonly string[]) {
  return [{ operations, apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], scope: "*" }];
}

const namespaceSelector = {
  matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: OPEN_NAMESPACES }],
};

function policyOf(operations: readonly string[]): Manifest {
  const what = operations.map((operation) => operation.toLowerCase()).join(", ");
  return {
    apiVersion: REGISTRATION,
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: NAME },
    spec: {
      failurePolicy: "Fail",
      matchConstraints: { namespaceSelector, resourceRules: rulesOf(operations) },
      matchConditions: MATCH_CONDITIONS,
      validations: [
        {
          expression: "false",
          message: `this cluster's operator has blocked writes for now (${what}): see writePermissions of its TenantControlPlane`,
          reason: "Forbidden",
        },
      ],
    },
  };
}

const BINDING: Manifest = {
  apiVersion: REGISTRATION,
  kind: "ValidatingAdmissionPolicyBinding",
  metadata: { name: NAME },
  spec: { policyName: NAME, validationActions: ["Deny"] },
};

function webhookOf(operations: readonly string[]): Manifest {
  return {
    apiVersion: REGISTRATION,
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: NAME },
    webhooks: [
      {
        name: "writes-are-blocked.write-permissions.slipway.dev",
        // Nobody listens there, on purpose.
        clientConfig: { url: "https://127.0.0.1:1/writes-are-blocked" },
        rules: rulesOf(operations),
        failurePolicy: "Fail",
        matchPolicy: "Equivalent",
        namespaceSelector,
        matchConditions: MATCH_CONDITIONS,
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        timeoutSeconds: 1,
      },
    ],
  };
}
