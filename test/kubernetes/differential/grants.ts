import { type Step, step } from "./step.ts";

/** Rules, roles and bindings in few words, for the families about rights. */

export const RBAC = "/apis/rbac.authorization.k8s.io/v1";
export const CLUSTER_ROLES = `${RBAC}/clusterroles`;
export const CLUSTER_BINDINGS = `${RBAC}/clusterrolebindings`;

/** A rule of a role; lists are separated by commas. */
export const rule = (verbs: string, resources: string, more: object = {}) => ({
  apiGroups: [""],
  resources: resources.split(","),
  verbs: verbs.split(","),
  ...more,
});
/** A Role or ClusterRole with these rules. */
export const role = (name: string, ...rules: object[]) => ({ metadata: { name }, rules });
/** A binding of subjects to a role. */
export const grant = (name: string, kind: string, roleName: string, ...subjects: object[]) => ({
  metadata: { name },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: roleName },
  subjects,
});
/** A subject: a user. */
export const user = (name: string) => ({ kind: "User", apiGroup: "rbac.authorization.k8s.io", name });
/** A subject: a group. */
export const group = (name: string) => ({ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name });
/** A subject: a ServiceAccount. */
export const ofAccount = (name: string, namespace?: string) => ({
  kind: "ServiceAccount",
  name,
  ...(namespace && { namespace }),
});

/** Authorizers see changes a moment later: asks until the answer has this status, and compares that one. */
export const soon = (ask: Step["ask"], status: number): Step =>
  step(ask, { until: (answer) => answer.status === status });
