/**
 * Discovery documents: which groups, versions and resources the server has. Pure functions of what is served;
 * callers keep the results until the registry changes.
 */
import type { ServedResource } from "../served.ts";
import { compareVersions } from "./versions.ts";

/** `GET /api`. */
export function apiVersions(): object {
  return {
    kind: "APIVersions",
    apiVersion: "v1",
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
export function apiResourceList(resources: readonly ServedResource[], groupVersion: string): object | undefined {
  const served = resources.filter((r) => groupVersionOf(r) === groupVersion);
  if (served.length === 0) return undefined;
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion,
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
      metadata: group === "" ? { creationTimestamp: null } : { name: group, creationTimestamp: null },
      versions: versionsOf(resources, group).map((version) => ({
        version,
        resources: resources.filter((r) => r.group === group && r.version === version).map(aggregatedEntry),
        freshness: "Current",
      })),
    })),
  };
}

/** Groups in the order in which clients prefer them: as they were registered. */
export function groupsOf(resources: readonly ServedResource[]): string[] {
  return [...new Set(resources.map((r) => r.group))];
}

/** The versions of a group, the preferred one first: v2, v1, v1beta1, v1alpha1. */
export function versionsOf(resources: readonly ServedResource[], group: string): string[] {
  const versions = new Set(resources.filter((r) => r.group === group).map((r) => r.version));
  return [...versions].sort(compareVersions);
}

export function groupVersionOf(resource: Pick<ServedResource, "group" | "version">): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
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

/** The subresources of a resource: status, scale, and what belongs to pods. */
export function subresourcesOf(resource: ServedResource): Subresource[] {
  const found: Subresource[] = [];
  const { group, version, kind } = resource;
  const verbs = ["get", "patch", "update"];
  if (resource.status) found.push({ of: resource, name: "status", group, version, kind, verbs });
  if (resource.scale)
    found.push({ of: resource, name: "scale", group: "autoscaling", version: "v1", kind: "Scale", verbs });
  if (group === "" && resource.plural === "pods")
    found.push({ of: resource, name: "eviction", group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] });
  return found;
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
    storageVersionHash: hash(`${r.storageVersion}/${r.kind}`),
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
  const subresources = subresourcesOf(r).map((s) => ({
    subresource: s.name,
    responseKind: { group: s.group, version: s.version, kind: s.kind },
    verbs: s.verbs,
  }));
  return {
    resource: r.plural,
    responseKind: { group: r.group, version: r.version, kind: r.kind },
    scope: r.namespaced ? "Namespaced" : "Cluster",
    singularResource: r.singular,
    verbs: r.verbs,
    ...(r.shortNames.length > 0 && { shortNames: r.shortNames }),
    ...(r.categories.length > 0 && { categories: r.categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}

/** An opaque text that changes with the storage version (FNV-1a, 64 bits). */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes.toString("base64");
}
