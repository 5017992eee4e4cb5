/** What the agents on the nodes may do: read VinoNodes, write their status, and read exactly the Secrets that VinoNodes name. Pure. */
import type { KubeObject, OwnerReference, Resource } from "@slipway/kube";
import { VinoNode } from "../../../kinds/vino/vino-node.ts";
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "../objects.ts";

/** The agents' ServiceAccount. */
export interface AgentAccount {
  namespace: string;
  name: string;
}

interface Wanted {
  resource: Resource;
  body: Omit<KubeObject, "metadata"> & { metadata: object };
}

const RBAC = "rbac.authorization.k8s.io";
const API = { apiVersion: `${RBAC}/v1` };
const GROUPS = { apiGroups: [VinoNode.group] };

const subjects = ({ namespace, name }: AgentAccount) => [{ kind: "ServiceAccount", name, namespace }];

/** For all agents: their VinoNodes, which hold no secrets. */
export function agentClusterRights(account: AgentAccount): Wanted[] {
  const { name } = account;
  const rules = [
    { ...GROUPS, resources: [VinoNode.plural], verbs: ["get", "list", "watch"] },
    { ...GROUPS, resources: [`${VinoNode.plural}/status`], verbs: ["patch", "update"] },
  ];
  return [
    { resource: ClusterRole, body: { ...API, kind: "ClusterRole", metadata: { name }, rules } as Wanted["body"] },
    {
      resource: ClusterRoleBinding,
      body: {
        ...{ ...API, kind: "ClusterRoleBinding", metadata: { name } },
        ...{ roleRef: { apiGroup: RBAC, kind: "ClusterRole", name }, subjects: subjects(account) },
      } as Wanted["body"],
    },
  ];
}

/** For one VinoNode: the Secrets that it names. */
export function agentRights(
  account: AgentAccount,
  {
    namespace,
    name,
    owner,
    secrets,
  }: { namespace: string; name: string; owner: OwnerReference; secrets: readonly string[] },
): Wanted[] {
  const metadata = { namespace, name, ownerReferences: [owner] };
  // A rule without names would be one for all of them.
  const rules =
    secrets.length === 0
      ? []
      : [{ apiGroups: [""], resources: ["secrets"], resourceNames: [...secrets], verbs: ["get"] }];
  return [
    { resource: Role, body: { ...API, kind: "Role", metadata, rules } as Wanted["body"] },
    {
      resource: RoleBinding,
      body: {
        ...{ ...API, kind: "RoleBinding", metadata },
        ...{ roleRef: { apiGroup: RBAC, kind: "Role", name }, subjects: subjects(account) },
      } as Wanted["body"],
    },
  ];
}
