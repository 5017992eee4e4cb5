/**
 * Discovery documents: which groups, versions and resources the server has. Pure functions of what is served;
 * callers keep the results until the registry changes.
 */
import { createHash } from "node:crypto";
import type { ServedResource } from "../model/served.ts";
import { compareVersions } from "./versions.ts";

/** `GET /api`. The oldest documents do not name their version. */
export function apiVersions(): object {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "" }],
  };
}

/** `GET /apis`: all groups but the core one. */
export function apiGroupList(resources: readonly ServedResource[]): object {
  return {
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: groupsOf(resources)
      .filter((group) => group !== "")
      .map((group) => groupDocument(resources, group)),
  };
}

/** `GET /apis/<group>`; undefined when nothing of the group is served. */
export function apiGroup(resources: readonly ServedResource[], group: string): object | undefined {
  if (!resources.some((r) => r.group === group)) return undefined;
  return { kind: "APIGroup", apiVersion: "v1", ...groupDocument(resources, group) };
}

/** `GET /api/v1`, `GET /apis/<group>/<version>`, subresources included; undefined when nothing is served there. */
export function apiResourceList(
  resources: readonly ServedResource[],
  group: string,
  version: string,
): object | undefined {
  const served = within(resources, group, version);
  if (served.length === 0) return undefined;
  return {
    kind: "APIResourceList",
    ...(group !== "" && { apiVersion: "v1" }),
    groupVersion: groupVersionOf({ group, version }),
    resources: served.flatMap((resource) => [
      resourceEntry(resource),
      ...subresourcesOf(resource).map(subresourceEntry),
    ]),
  };
}

/** `GET /api` or `/apis` as `apidiscovery.k8s.io/v2 APIGroupDiscoveryList`: everything in one document. */
export function aggregatedDiscovery(resources: readonly ServedResource[], root: "api" | "apis"): object {
  const groups = groupsOf(resources).filter((group) => (group === "") === (root === "api"));
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map((group) => ({
      metadata: group === "" ? {} : { name: group },
      versions: versionsOf(resources, group).map((version) => ({
        version,
        resources: within(resources, group, version).map(aggregatedEntry),
        freshness: "Current",
      })),
    })),
  };
}

/** The order in which clients prefer groups where a short name is in several of them. */
const PREFERENCE = [
  "",
  "apiregistration.k8s.io",
  "apps",
  "events.k8s.io",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "networking.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "storage.k8s.io",
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "scheduling.k8s.io",
  "coordination.k8s.io",
  "node.k8s.io",
  "discovery.k8s.io",
  "resource.k8s.io",
  "flowcontrol.apiserver.k8s.io",
];

/** Groups in the order of preference: Kubernetes' own, then the others by name. */
export function groupsOf(resources: readonly ServedResource[]): string[] {
  const rank = (group: string): number => {
    const at = PREFERENCE.indexOf(group);
    return at < 0 ? PREFERENCE.length : at;
  };
  return [...new Set(resources.map((r) => r.group))].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** The versions of a group, the preferred one first: v2, v1, v1beta1, v1alpha1. */
export function versionsOf(resources: readonly ServedResource[], group: string): string[] {
  const versions = new Set(resources.filter((r) => r.group === group).map((r) => r.version));
  return [...versions].sort(compareVersions);
}

/** `v1`, or `GROUP/VERSION`. */
export function groupVersionOf(resource: Pick<ServedResource, "group" | "version">): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

function within(resources: readonly ServedResource[], group: string, version: string): ServedResource[] {
  return resources
    .filter((r) => r.group === group && r.version === version)
    .sort((a, b) => (a.plural < b.plural ? -1 : 1));
}

function groupDocument(
  resources: readonly ServedResource[],
  group: string,
): { name: string } & Record<string, unknown> {
  const versions = versionsOf(resources, group).map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions, preferredVersion: versions[0] };
}

interface Subresource {
  of: ServedResource;
  name: string;
  kind: string;
  group: string;
  version: string;
  verbs: readonly string[];
}

const CHANGES = ["get", "patch", "update"];

/** Subresources that one kind alone has, by `plural.group`. What they stand for is the kind itself unless said. */
const OWN: Readonly<Record<string, readonly (Pick<Subresource, "name" | "verbs"> & Partial<Subresource>)[]>> = {
  "pods.": [
    { name: "binding", kind: "Binding", verbs: ["create"] },
    { name: "eviction", group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] },
  ],
  "namespaces.": [{ name: "finalize", verbs: ["update"] }],
  "serviceaccounts.": [
    { name: "token", group: "authentication.k8s.io", version: "v1", kind: "TokenRequest", verbs: ["create"] },
  ],
  "certificatesigningrequests.certificates.k8s.io": [{ name: "approval", verbs: CHANGES }],
};

/** The subresources of a resource in upstream's order: by name, but a defined kind's status first. */
export function subresourcesOf(resource: ServedResource): Subresource[] {
  const { group, version, kind, plural, builtIn } = resource;
  const base = { of: resource, group, version, kind };
  const own = (builtIn && OWN[`${plural}.${group}`]) || [];
  const found: Subresource[] = own.map((more) => ({ ...base, ...more }));
  if (resource.scale)
    found.push({ of: resource, name: "scale", group: "autoscaling", version: "v1", kind: "Scale", verbs: CHANGES });
  const status = { ...base, name: "status", verbs: CHANGES };
  if (resource.status && builtIn) found.push(status);
  return resource.status && !builtIn ? [status, ...found] : found;
}

function resourceEntry(r: ServedResource): object {
  return {
    name: r.plural,
    singularName: r.singular,
    namespaced: r.namespaced,
    kind: r.kind,
    verbs: r.verbs,
    ...(r.shortNames.length > 0 && { shortNames: r.shortNames }),
    ...(r.categories.length > 0 && { categories: r.categories }),
    ...(r.verbs.includes("list") && { storageVersionHash: storageHash(r) }),
  };
}

function subresourceEntry(s: Subresource): object {
  const foreign = s.group !== s.of.group || s.version !== s.of.version;
  return {
    name: `${s.of.plural}/${s.name}`,
    singularName: "",
    namespaced: s.of.namespaced,
    ...(foreign && { group: s.group, version: s.version }),
    kind: s.kind,
    verbs: s.verbs,
  };
}

function aggregatedEntry(r: ServedResource): object {
  // Kubernetes' own kinds name their group and version only where these are foreign.
  const place = (of: { group: string; version: string }): { group: string; version: string } =>
    r.builtIn && groupVersionOf(of) === groupVersionOf(r) ? { group: "", version: "" } : of;
  const subresources = subresourcesOf(r).map(({ name, group, version, kind, verbs }) => ({
    subresource: name,
    responseKind: { ...place({ group, version }), kind },
    verbs,
  }));
  return {
    resource: r.plural,
    responseKind: { ...place({ group: r.group, version: r.version }), kind: r.kind },
    scope: r.namespaced ? "Namespaced" : "Cluster",
    singularResource: r.singular,
    verbs: r.verbs,
    ...(r.shortNames.length > 0 && { shortNames: r.shortNames }),
    ...(r.categories.length > 0 && { categories: r.categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}

/** A text that changes with the version that objects are stored in; upstream's, since tools compare it between servers. */
function storageHash({ storageVersion, kind }: ServedResource): string {
  const place = storageVersion.includes("/") ? storageVersion : `/${storageVersion}`;
  return createHash("sha256").update(`${place}/${kind}`).digest().subarray(0, 8).toString("base64");
}
