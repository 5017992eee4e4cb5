/**
 * The contract between Cluster API's core and providers: which API version of a provider's kind is read, and where its fields are. The labels of a
 * kind's definition say it, so neither side needs to know the other's kinds. Pure.
 */
import { Fault } from "@slipway/base";
import type { Condition, KubeObject, Resource } from "@slipway/kube";
import { at } from "../kinds/cluster-api/field-path.ts";
import type { ContractReference } from "../kinds/cluster-api/fields.ts";

export type Contract = "v1beta2" | "v1beta1";
/** Contracts, the preferred one first. */
const CONTRACTS: readonly Contract[] = ["v1beta2", "v1beta1"];

/** A provider's kind as its definition describes it. */
export interface ContractKind {
  resource: Resource;
  contract: Contract;
}

/** Name of the definition of a kind: its English plural and the group. A definition with another name is not found. */
export const definitionName = ({ apiGroup, kind }: Pick<ContractReference, "apiGroup" | "kind">): string =>
  `${pluralOf(kind)}.${apiGroup}`;

/** English plural of a kind, in lower case. */
export function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (/(s|x|z|ch|sh)$/.test(word)) return `${word}es`;
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;
}

/**
 * How objects of a kind are read, by the labels of its definition. Throws a `Fault` (`Invalid`) where no label names a contract that is known.
 */
export function contractKindOf(
  reference: Pick<ContractReference, "apiGroup" | "kind">,
  labels: Readonly<Record<string, string>> | undefined,
): ContractKind {
  for (const contract of CONTRACTS) {
    const version = labels?.[`cluster.x-k8s.io/${contract}`]?.split("_").toSorted(byVersion)[0];
    if (version !== undefined && version !== "") return { contract, resource: resourceOf(reference, version) };
  }
  throw new Fault(
    "Invalid",
    `CustomResourceDefinition/${definitionName(reference)}`,
    `no label says which version follows contract ${CONTRACTS.join(" or ")}`,
    {
      remedy:
        "label it cluster.x-k8s.io/v1beta2=VERSION or cluster.x-k8s.io/v1beta1=VERSION, as its provider's release does",
    },
  );
}

const resourceOf = ({ apiGroup, kind }: Pick<ContractReference, "apiGroup" | "kind">, version: string): Resource => ({
  group: apiGroup,
  version,
  kind,
  plural: pluralOf(kind),
  namespaced: true,
});

/** Kubernetes' order of versions, the highest first: v2, v1, v1beta2, v1beta1, v1alpha1, others by name. */
export function byVersion(a: string, b: string): number {
  const [ka, kb] = [rankOf(a), rankOf(b)];
  if (ka === undefined || kb === undefined) return (ka ? -1 : 0) + (kb ? 1 : 0) || (a < b ? -1 : 1);
  return kb.stage - ka.stage || kb.major - ka.major || kb.minor - ka.minor;
}

function rankOf(version: string): { stage: number; major: number; minor: number } | undefined {
  const [, major, stage, minor] = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version) ?? [];
  if (major === undefined) return undefined;
  return { stage: ["alpha", "beta", undefined].indexOf(stage), major: Number(major), minor: Number(minor ?? 0) };
}

/** Host and port of an API; undefined unless both are said. */
export interface Endpoint {
  host: string;
  port: number;
}

const boolean = (object: KubeObject, path: string): boolean => at(object, path) === true;
const text = (object: KubeObject, path: string): string | undefined => {
  const value = at(object, path);
  return typeof value === "string" && value !== "" ? value : undefined;
};
const number = (object: KubeObject, path: string): number | undefined => {
  const value = at(object, path);
  return typeof value === "number" ? value : undefined;
};

/** An endpoint that is valid; undefined where host or port is missing. */
export function endpointOf(value: unknown): Endpoint | undefined {
  const { host, port } = (value ?? {}) as Partial<Endpoint>;
  return host && port ? { host, port } : undefined;
}

export interface FailureDomain {
  name: string;
  controlPlane?: boolean;
  attributes?: Record<string, string>;
}

/** What an InfraCluster says. */
export const infraClusterOf = (object: KubeObject, contract: Contract) => ({
  provisioned: boolean(object, contract === "v1beta2" ? "status.initialization.provisioned" : "status.ready"),
  endpoint: endpointOf(at(object, "spec.controlPlaneEndpoint")),
  failureDomains: failureDomainsOf(at(object, "status.failureDomains")),
  failure: failureOf(object, contract),
});

/** Failure domains, which v1beta1 has as a map. */
function failureDomainsOf(value: unknown): FailureDomain[] | undefined {
  if (Array.isArray(value)) return value as FailureDomain[];
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value as Record<string, Omit<FailureDomain, "name">>)
    .map(([name, of]) => ({ name, ...of }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** A terminal failure, which only v1beta1 has. */
const failureOf = (object: KubeObject, contract: Contract) =>
  contract === "v1beta1"
    ? { reason: text(object, "status.failureReason"), message: text(object, "status.failureMessage") }
    : { reason: undefined, message: undefined };

export interface MachineAddress {
  type: "Hostname" | "ExternalIP" | "InternalIP" | "ExternalDNS" | "InternalDNS";
  address: string;
}

/** What an InfraMachine says. */
export const infraMachineOf = (object: KubeObject, contract: Contract) => ({
  provisioned: boolean(object, contract === "v1beta2" ? "status.initialization.provisioned" : "status.ready"),
  providerID: text(object, "spec.providerID"),
  addresses: at(object, "status.addresses") as MachineAddress[] | undefined,
  failureDomain: text(object, "status.failureDomain") ?? text(object, "spec.failureDomain"),
  interruptible: boolean(object, "status.interruptible"),
  failure: failureOf(object, contract),
});

/** What a bootstrap configuration says. */
export const bootstrapOf = (object: KubeObject, contract: Contract) => ({
  created: boolean(object, contract === "v1beta2" ? "status.initialization.dataSecretCreated" : "status.ready"),
  dataSecretName: text(object, "status.dataSecretName"),
  failure: failureOf(object, contract),
});

/** What a control plane says. */
export const controlPlaneOf = (object: KubeObject, contract: Contract) => ({
  initialized: boolean(
    object,
    contract === "v1beta2" ? "status.initialization.controlPlaneInitialized" : "status.initialized",
  ),
  ready: boolean(object, "status.ready"),
  endpoint: endpointOf(at(object, "spec.controlPlaneEndpoint")),
  version: text(object, "spec.version"),
  /** Versions that run, the lowest first; empty while none is reported. */
  versions: runningVersions(object),
  isExternallyManaged: boolean(object, "status.externalManagedControlPlane"),
  /** Undefined: the control plane has no replicas. */
  desiredReplicas: number(object, "spec.replicas"),
  replicas: number(object, "status.replicas"),
  readyReplicas: number(object, "status.readyReplicas"),
  availableReplicas: number(object, "status.availableReplicas"),
  upToDateReplicas: number(object, contract === "v1beta2" ? "status.upToDateReplicas" : "status.updatedReplicas"),
  failure: failureOf(object, contract),
});

function runningVersions(object: KubeObject): string[] {
  const list = at(object, "status.versions");
  if (Array.isArray(list) && list.length > 0) return list.map(({ version }: { version: string }) => version);
  const version = text(object, "status.version");
  return version === undefined ? [] : [version];
}

/** Conditions of a provider's object as `metav1.Condition`: its own, or those that v1beta1 keeps in `status.v1beta2`. */
export function conditionsOf(object: KubeObject): readonly Condition[] | undefined {
  return (at(object, "status.v1beta2.conditions") ?? at(object, "status.conditions")) as Condition[] | undefined;
}
