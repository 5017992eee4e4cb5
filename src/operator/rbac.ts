import { systemClock } from "../base/clock.ts";
import { Fault } from "../base/fault.ts";
import { quietLog } from "../base/log.ts";
import { discoveryController } from "../inventory/discovery/controller.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Access, Controller } from "../kube/controller.ts";
import { CustomResourceDefinition, Namespace } from "../kube/core.ts";
import { runtimeAccess } from "../kube/manager.ts";
import { type PolicyRule, type RbacRules, rulesOf } from "../kube/rbac.ts";
import { DISCOVERY_NAMESPACE } from "../netboot/settings.ts";
import { bootSignalAccess } from "../systems/harvester/boot-signals.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET } from "../systems/harvester/names.ts";
import { conversionAccess } from "./conversion-server.ts";
import { KINDS, METAL3_KINDS } from "./kinds.ts";
import { sharedLeasesAccess } from "./netboot.ts";
import { controllers } from "./operator.ts";

export const SERVICE_ACCOUNT = "slipway";
export const NETBOOT_ACCOUNT = "slipway-netboot";

/** Only for `--install-crds`: whoever applies the CRDs otherwise may leave this role out. */
const crdAccess = (kinds: Kinds): readonly Access[] => [
  { resource: CustomResourceDefinition, verbs: ["create"] },
  {
    resource: CustomResourceDefinition,
    verbs: ["get", "patch"],
    names: kinds.map(([kind]) => `${kind!.plural}.${kind!.group}`),
  },
];

interface Account {
  name: string;
  namespace: string;
}

type Kinds = readonly (readonly Kind[])[];

/** An object of rbac.authorization.k8s.io/v1, or the ServiceAccount they speak of. */
export interface RbacObject {
  apiVersion: string;
  kind: "ServiceAccount" | "ClusterRole" | "Role" | "ClusterRoleBinding" | "RoleBinding";
  metadata: { name: string; namespace?: string };
  rules?: PolicyRule[];
  roleRef?: { apiGroup: string; kind: string; name: string };
  subjects?: { kind: string; name: string; namespace: string }[];
}

/** The least rules under which the operator works, from what its controllers, its boot service and its conversion webhook declare. */
export function operatorRules(namespace = DEFAULT_NAMESPACE, kinds: Kinds = KINDS): RbacRules {
  const more = [...runtimeAccess({ namespace }), ...bootSignalAccess(namespace), ...conversionAccess(namespace, kinds)];
  return rulesOf(declared(namespace), more);
}

/** The operator's ServiceAccount and all that is bound to it, in the order in which it is applied. */
export function rbacObjects(namespace = DEFAULT_NAMESPACE, kinds: Kinds = KINDS): RbacObject[] {
  return [...operatorObjects(namespace, kinds), ...crdInstallerObjects(namespace, kinds)];
}

/** The same without the right to install CRDs. */
export function operatorObjects(namespace = DEFAULT_NAMESPACE, kinds: Kinds = KINDS): RbacObject[] {
  return accountObjects({ name: SERVICE_ACCOUNT, namespace }, operatorRules(namespace, kinds));
}

/** An account, its rules as roles, and the bindings. */
function accountObjects(account: Account, rules: RbacRules): RbacObject[] {
  const { name, namespace } = account;
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
    ...boundRules(name, rules, account),
  ];
}

function boundRules(name: string, { clusterRules, roles }: RbacRules, account: Account): RbacObject[] {
  return [
    ...bound("ClusterRole", { name }, clusterRules, account),
    ...roles.flatMap((role) => bound("Role", { name, namespace: role.namespace }, role.rules, account)),
  ];
}

/** The right to install CRDs, bound to the operator's ServiceAccount. */
export function crdInstallerObjects(namespace = DEFAULT_NAMESPACE, kinds: Kinds = KINDS): RbacObject[] {
  const { clusterRules } = rulesOf([], crdAccess(kinds));
  const account = { name: SERVICE_ACCOUNT, namespace };
  return bound("ClusterRole", { name: `${SERVICE_ACCOUNT}-crds` }, clusterRules, account);
}

/** The account of a netboot that runs by itself beside the machines, with its lease. */
export function netbootObjects(namespace = DISCOVERY_NAMESPACE): RbacObject[] {
  return accountObjects({ name: NETBOOT_ACCOUNT, namespace }, netbootRules(namespace, runtimeAccess({ namespace })));
}

/** What the operator's account needs beside its own roles where netboot runs within the operator. */
export function netbootInOperatorObjects(namespace = DISCOVERY_NAMESPACE, operator = DEFAULT_NAMESPACE): RbacObject[] {
  const account = { name: SERVICE_ACCOUNT, namespace: operator };
  return boundRules(`${SERVICE_ACCOUNT}-hosts`, netbootRules(namespace), account);
}

/** Discovery, what replicas share, and Metal3's definitions and the namespace where they lack. */
function netbootRules(namespace: string, more: readonly Access[] = []): RbacRules {
  const hosts = { get: () => undefined, list: () => [], onChange: () => () => {} };
  const controller = discoveryController({ hosts, namespace, most: 0, perSecond: 1 });
  const own: Access = { resource: Namespace, verbs: ["get"], names: [namespace] };
  return rulesOf([controller], [...more, ...sharedLeasesAccess(namespace), ...crdAccess(METAL3_KINDS), own]);
}

/** The controllers as they declare themselves; none of them ever runs. */
function declared(namespace: string): Controller[] {
  const nobody = async (): Promise<never> => {
    throw new Fault("Bug", "rbac", "controllers that were made for their declarations were run");
  };
  return controllers(
    { clock: systemClock, log: quietLog, http: () => nobody, readNodeFile: nobody },
    {
      namespace,
      secret: DEFAULT_SECRET,
      bootUrl: "http://boot.invalid",
      pollMs: 1000,
      leaderElection: { namespace },
    },
  );
}

const GROUP = "rbac.authorization.k8s.io";

function bound(
  kind: "ClusterRole" | "Role",
  metadata: RbacObject["metadata"],
  rules: PolicyRule[],
  account: Account,
): RbacObject[] {
  return [
    { apiVersion: `${GROUP}/v1`, kind, metadata, rules },
    {
      apiVersion: `${GROUP}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: GROUP, kind, name: metadata.name },
      subjects: [{ kind: "ServiceAccount", ...account }],
    },
  ];
}
