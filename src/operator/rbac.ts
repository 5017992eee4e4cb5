import { cryptoRandom, Fault, quietLog, systemClock } from "@slipway/base";
import {
  type Access,
  createClient,
  DEFINITIONS_ACCESS,
  type PolicyRule,
  type RbacRules,
  rulesOf,
  runtimeAccess,
} from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import type { Kind } from "../kinds/kind.ts";
import { DISCOVERY_NAMESPACE } from "../netboot/settings.ts";
import { nodeAgentAccess } from "../node-agent/controller.ts";
import type { System } from "../systems/system.ts";
import { conversionAccess } from "./conversion-server.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET } from "./defaults.ts";
import { KINDS } from "./kinds.ts";
import { systemPorts, systemsOf } from "./operator.ts";
import { type SystemSettings, settingsOf } from "./settings.ts";

export const SERVICE_ACCOUNT = "slipway";
export const NETBOOT_ACCOUNT = "slipway-netboot";
export const NODE_AGENT_ACCOUNT = "slipway-node-agent";
/** Where ViNO's objects are, as upstream has it. */
const VINO_NAMESPACE = "vino-system";

/** Only for `--install-crds`: without that option this role is not needed. */
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

/** The least rules under which the operator works, from what its systems and its conversion webhook declare. */
export function operatorRules(
  namespace = DEFAULT_NAMESPACE,
  kinds: Kinds = KINDS,
  systems: readonly System[] = systemsOf(),
): RbacRules {
  const own = [...runtimeAccess({ namespace }), DEFINITIONS_ACCESS, ...conversionAccess(namespace, kinds)];
  return systemRules(systems, namespace, own);
}

/** The operator's ServiceAccount and all that is bound to it, in the order in which it is applied. */
export function rbacObjects(
  namespace = DEFAULT_NAMESPACE,
  kinds: Kinds = KINDS,
  systems: readonly System[] = systemsOf(),
): RbacObject[] {
  return [...operatorObjects(namespace, kinds, systems), ...crdInstallerObjects(namespace, kinds)];
}

/** The same without the right to install CRDs. */
export function operatorObjects(
  namespace = DEFAULT_NAMESPACE,
  kinds: Kinds = KINDS,
  systems: readonly System[] = systemsOf(),
): RbacObject[] {
  return accountObjects({ name: SERVICE_ACCOUNT, namespace }, operatorRules(namespace, kinds, systems));
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

/** The account of the agents on nodes with virtual machines: VinoNodes and Secrets of one namespace, and no more. */
export function nodeAgentObjects(namespace = VINO_NAMESPACE): RbacObject[] {
  const account = { name: NODE_AGENT_ACCOUNT, namespace };
  const { roles } = rulesOf([], nodeAgentAccess(namespace));
  // Nothing of the cluster as a whole: no role for it.
  return accountObjects(account, { clusterRules: [], roles }).filter(({ kind }) => !kind.startsWith("Cluster"));
}

/** What the operator's account needs beside its own roles where netboot runs within the operator. */
export function netbootInOperatorObjects(namespace = DISCOVERY_NAMESPACE, operator = DEFAULT_NAMESPACE): RbacObject[] {
  const account = { name: SERVICE_ACCOUNT, namespace: operator };
  // There the hosts are driven, too.
  const engine = { openBmc: nobody, http: nobody };
  return boundRules(`${SERVICE_ACCOUNT}-hosts`, netbootRules(namespace, [], engine), account);
}

/** What the operator's account needs beside its own roles for a system that runs only where its settings are given. */
export function systemInOperatorObjects(system: System, operator = DEFAULT_NAMESPACE): RbacObject[] {
  const definitions = [...crdAccess(system.kinds), ...conversionAccess(operator, system.kinds)];
  const rules = systemRules([system], operator, definitions);
  return boundRules(`${SERVICE_ACCOUNT}-${system.name}`, rules, { name: SERVICE_ACCOUNT, namespace: operator });
}

/** What netboot declares, and Metal3's definitions where they are missing. */
function netbootRules(namespace: string, more: readonly Access[] = [], engine: object = {}): RbacRules {
  const netboot = systemsOf(["netboot"]);
  const settings = { netboot: { discovery: { namespace, most: 0, perSecond: 1 }, start: nobody, ...engine } };
  return systemRules(netboot, namespace, [...more, ...crdAccess(netboot.flatMap(({ kinds }) => kinds))], settings);
}

const nobody = async (): Promise<never> => {
  throw new Fault("Bug", "rbac", "what was made for its declaration was run");
};

/** The rules of what systems declare. They are put together and never run. */
function systemRules(
  systems: readonly System[],
  namespace: string,
  more: readonly Access[],
  of: SystemSettings = {},
): RbacRules {
  const random = cryptoRandom;
  const client = createClient(
    { request: nobody, watch: nobody, close: nobody },
    { clock: systemClock, random, log: quietLog },
  );
  const ports = systemPorts(
    { client, clock: systemClock, random, log: quietLog, http: () => nobody, readNodeFile: nobody },
    { namespace, secret: DEFAULT_SECRET, bootUrl: "http://boot.invalid", pollMs: 1000, leaderElection: { namespace } },
    systems,
  );
  const parts = systems.map((system) => system.parts(ports, settingsOf(system, of)));
  return rulesOf(
    parts.flatMap(({ controllers }) => controllers),
    [...more, ...parts.flatMap(({ access = [] }) => access)],
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
