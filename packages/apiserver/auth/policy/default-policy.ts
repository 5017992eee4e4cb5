import type { PolicyRule } from "../rbac/policy-rule.ts";
import { COMPONENT_ROLES } from "./component-roles.ts";
import { CONTROLLER_ROLES } from "./controller-roles.ts";
import { type RoleTable, ruleOf } from "./rule-text.ts";
import { AGGREGATED_ROLES, USER_ROLES } from "./user-roles.ts";

/** An object of the default policy, without what the server adds to every object. */
export interface PolicyObject {
  plural: "clusterroles" | "clusterrolebindings" | "roles" | "rolebindings";
  name: string;
  /** Empty for those of the whole cluster. */
  namespace: string;
  labels?: Readonly<Record<string, string>>;
  content: Readonly<Record<string, unknown>>;
}

const GROUP = "rbac.authorization.k8s.io";
const AGGREGATE_TO = `${GROUP}/aggregate-to-`;

/** `User x`, `Group x`, or `namespace/x` for a ServiceAccount, by the name of the role that all bindings here share with it. */
const CLUSTER_GRANTS: Readonly<Record<string, readonly string[]>> = {
  "cluster-admin": ["Group system:masters"],
  "system:monitoring": ["Group system:monitoring"],
  "system:discovery": ["Group system:authenticated"],
  "system:basic-user": ["Group system:authenticated"],
  "system:public-info-viewer": ["Group system:authenticated", "Group system:unauthenticated"],
  "system:node-proxier": ["User system:kube-proxy"],
  "system:kube-controller-manager": ["User system:kube-controller-manager"],
  "system:kube-dns": ["kube-system/kube-dns"],
  "system:kube-scheduler": ["User system:kube-scheduler"],
  "system:volume-scheduler": ["User system:kube-scheduler"],
  "system:node": [],
  "system:service-account-issuer-discovery": ["Group system:serviceaccounts"],
};

const SYSTEM_ROLES: RoleTable = {
  "extension-apiserver-authentication-reader": ["get,list,watch configmaps named extension-apiserver-authentication"],
  "system:controller:bootstrap-signer": ["get,list,watch secrets"],
  "system:controller:cloud-provider": ["create,get,list,watch configmaps"],
  "system:controller:token-cleaner": [
    "delete,get,list,watch secrets",
    "create,patch,update events in core,events.k8s.io",
  ],
  "system::leader-locking-kube-controller-manager": leaderLocking(),
  "system::leader-locking-kube-scheduler": leaderLocking(),
};

const PUBLIC_ROLES: RoleTable = {
  "system:controller:bootstrap-signer": [
    "get,list,watch configmaps",
    "update configmaps named cluster-info",
    "create,patch,update events in core,events.k8s.io",
  ],
};

/** The ClusterRoles, Roles and bindings that every cluster of Kubernetes 1.36 starts with. */
export function defaultPolicy(): PolicyObject[] {
  return [
    ...clusterRoles(USER_ROLES),
    ...clusterRoles(AGGREGATED_ROLES),
    ...aggregates(),
    ...clusterRoles(COMPONENT_ROLES),
    ...clusterRoles(CONTROLLER_ROLES, "system:controller:"),
    ...Object.entries(CLUSTER_GRANTS).map(([name, subjects]) => clusterBinding(name, subjects)),
    ...Object.keys(CONTROLLER_ROLES).map((name) =>
      clusterBinding(`system:controller:${name}`, [`kube-system/${name}`]),
    ),
    ...roles(SYSTEM_ROLES, "kube-system"),
    ...roles(PUBLIC_ROLES, "kube-public"),
    binding(
      "system::extension-apiserver-authentication-reader",
      "kube-system",
      ["User system:kube-controller-manager", "User system:kube-scheduler"],
      "extension-apiserver-authentication-reader",
    ),
    binding("system::leader-locking-kube-controller-manager", "kube-system", [
      "User system:kube-controller-manager",
      "kube-system/kube-controller-manager",
      "kube-system/leader-election-controller",
    ]),
    binding("system::leader-locking-kube-scheduler", "kube-system", [
      "User system:kube-scheduler",
      "kube-system/kube-scheduler",
    ]),
    binding("system:controller:bootstrap-signer", "kube-system", ["kube-system/bootstrap-signer"]),
    binding("system:controller:cloud-provider", "kube-system", ["kube-system/cloud-provider"]),
    binding("system:controller:token-cleaner", "kube-system", ["kube-system/token-cleaner"]),
    binding("system:controller:bootstrap-signer", "kube-public", ["kube-system/bootstrap-signer"]),
  ];
}

function leaderLocking(): string[] {
  return ["leases", "leasecandidates"].map((what) => `create,get,list,update,watch ${what} in coordination.k8s.io`);
}

function clusterRoles(table: RoleTable, prefix = ""): PolicyObject[] {
  return Object.entries(table).map(([name, lines]) => ({
    plural: "clusterroles",
    name: prefix + name,
    namespace: "",
    ...(name.startsWith("system:aggregate-to-") && {
      labels: { [`${GROUP}/${name.slice("system:".length)}`]: "true" },
    }),
    content: { rules: lines.map(ruleOf) },
  }));
}

/** `view` is part of `edit`, and `edit` of `admin`; their rules are those of all that carry their label, in the order of names. */
function aggregates(): PolicyObject[] {
  const parts = { view: ["view"], edit: ["edit", "view"], admin: ["edit", "view", "admin"] };
  return Object.entries(parts).map(([name, from]) => {
    const wider = { view: "edit", edit: "admin" }[name];
    return {
      plural: "clusterroles",
      name,
      namespace: "",
      ...(wider !== undefined && { labels: { [AGGREGATE_TO + wider]: "true" } }),
      content: {
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [AGGREGATE_TO + name]: "true" } }] },
        rules: from.flatMap((part) => AGGREGATED_ROLES[`system:aggregate-to-${part}`]!.map(ruleOf)),
      },
    };
  });
}

function roles(table: RoleTable, namespace: string): PolicyObject[] {
  return Object.entries(table).map(([name, lines]) => ({
    plural: "roles",
    name,
    namespace,
    content: { rules: lines.map(ruleOf) satisfies PolicyRule[] },
  }));
}

function clusterBinding(name: string, subjects: readonly string[]): PolicyObject {
  const roleRef = { apiGroup: GROUP, kind: "ClusterRole", name };
  return { plural: "clusterrolebindings", name, namespace: "", content: { roleRef, ...subjectsOf(subjects) } };
}

function binding(name: string, namespace: string, subjects: readonly string[], role = name): PolicyObject {
  const roleRef = { apiGroup: GROUP, kind: "Role", name: role };
  return { plural: "rolebindings", name, namespace, content: { roleRef, ...subjectsOf(subjects) } };
}

function subjectsOf(texts: readonly string[]): { subjects?: unknown } {
  if (texts.length === 0) return {};
  const subjects = texts.map((text) => {
    const [kind = "", name] = text.split(" ");
    const [namespace, account] = kind.split("/");
    return account === undefined
      ? { apiGroup: GROUP, kind, name }
      : { kind: "ServiceAccount", name: account, namespace };
  });
  return { subjects };
}
