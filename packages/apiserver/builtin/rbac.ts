import { objectsAt, textAt } from "../model/read.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { validateClusterRole, validateClusterRoleBinding, validateRole, validateRoleBinding } from "./rbac-rules.ts";
import { age, column, createdAt, serve, wide } from "./serve.ts";

const GROUP = "rbac.authorization.k8s.io";

export const role: ServedResource = serve({
  apiVersion: `${GROUP}/v1`,
  kind: "Role",
  createsOnUpdate: true,
  description: "Permissions within a namespace.",
  namespaced: true,
  columns: [{ ...createdAt, type: "date" }],
  validate: validateRole,
  toStorage: withoutEmptyRules,
});

export const clusterRole: ServedResource = serve({
  apiVersion: `${GROUP}/v1`,
  kind: "ClusterRole",
  createsOnUpdate: true,
  description: "Permissions in the whole cluster, or to be granted in any namespace.",
  namespaced: false,
  columns: [{ ...createdAt, type: "date" }],
  validate: validateClusterRole,
  toStorage: withoutEmptyRules,
});

export const roleBinding: ServedResource = binding("RoleBinding", true, "Grants a role within a namespace.");
export const clusterRoleBinding: ServedResource = binding(
  "ClusterRoleBinding",
  false,
  "Grants a ClusterRole in the whole cluster.",
);

function binding(kind: string, namespaced: boolean, description: string): ServedResource {
  return serve({
    apiVersion: `${GROUP}/v1`,
    kind,
    createsOnUpdate: true,
    description,
    namespaced,
    columns: [
      column("Role", (object) => `${textAt(object, "roleRef.kind")}/${textAt(object, "roleRef.name")}`),
      age,
      wide("Users", (object) => named(object, "User")),
      wide("Groups", (object) => named(object, "Group")),
      wide("ServiceAccounts", (object) => named(object, "ServiceAccount")),
    ],
    setDefaults: fillIn,
    validate: namespaced ? validateRoleBinding : validateClusterRoleBinding,
  });
}

function named(object: Body, kind: string): string {
  return objectsAt(object, "subjects")
    .filter((subject) => subject.kind === kind)
    .map((subject) => (kind === "ServiceAccount" ? `${subject.namespace}/${subject.name}` : String(subject.name)))
    .join(", ");
}

function fillIn(object: Body): void {
  const reference = object.roleRef;
  if (typeof reference === "object" && reference !== null && textAt(reference, "apiGroup") === "") {
    (reference as Record<string, unknown>).apiGroup = GROUP;
  }
  for (const subject of objectsAt(object, "subjects")) {
    if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup ||= GROUP;
  }
}

/** Storage keeps no empty list: it is the same as none. */
function withoutEmptyRules(object: Body): Body {
  if (!Array.isArray(object.rules) || object.rules.length > 0) return object;
  const { rules: _, ...rest } = object;
  return rest as Body;
}
