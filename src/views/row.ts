import { parseTime } from "@slipway/base";
import { controllerOf, type KubeObject } from "@slipway/kube";
import { at } from "../kinds/cluster-api/field-path.ts";
import { type Failure, failureOf, isReady, stateOf, waitOf } from "./standing.ts";

/** What objects of a kind are to a user. A system says it of its kinds (`System.shows`). */
export type Role = "machines" | "pools" | "clusters";
export const ROLES: readonly Role[] = ["machines", "pools", "clusters"];

/** One object in a listing. Times are milliseconds since 1970. */
export interface Row {
  apiVersion: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
  state: string;
  ready: boolean;
  /** Members that are ready, of those wanted: of pools. */
  members?: { ready: number; wanted: number } | undefined;
  /** What it belongs to, `Kind/name`. */
  owner?: string | undefined;
  address?: string | undefined;
  /** The machine behind it, as its provider or its BMC names it. */
  machine?: string | undefined;
  node?: string | undefined;
  version?: string | undefined;
  waitsFor?: string | undefined;
  waitsSince?: number | undefined;
  waitsUntil?: number | undefined;
  failure?: Failure | undefined;
  created?: number | undefined;
}

/** The row of an object of any kind. Pure. */
export function rowOf(object: KubeObject): Row {
  const { apiVersion, kind, metadata } = object;
  const wait = waitOf(object);
  return {
    ...{ apiVersion, kind, namespace: metadata.namespace, name: metadata.name },
    ...{ state: stateOf(object), ready: isReady(object), members: membersOf(object), owner: ownerOf(object) },
    address: addressOf(object),
    machine: first(object, "status.instanceID", "spec.providerID", "spec.bmc.address"),
    node: first(object, "status.nodeRef.name"),
    version: first(object, "status.kubernetesResources.version.version", "spec.version", "spec.kubernetes.version"),
    ...{ waitsFor: wait?.for, waitsSince: wait?.since, waitsUntil: wait?.until },
    failure: failureOf(object),
    created: parseTime(metadata.creationTimestamp),
  };
}

/** Rows by kind, namespace and name. */
export function byName(a: Row, b: Row): number {
  const [left, right] = [a, b].map(({ kind, namespace = "", name }) => `${kind}\0${namespace}\0${name}`) as [
    string,
    string,
  ];
  return left < right ? -1 : Number(left > right);
}

/** The first of these fields that holds a text. */
function first(object: KubeObject, ...paths: string[]): string | undefined {
  return paths
    .map((path) => at(object, path))
    .find((value): value is string => typeof value === "string" && value !== "");
}

function ownerOf(object: KubeObject): string | undefined {
  const owner = controllerOf(object);
  if (owner !== undefined) return `${owner.kind}/${owner.name}`;
  const [kind, name] = [first(object, "spec.consumerRef.kind"), first(object, "spec.consumerRef.name")];
  return kind !== undefined && name !== undefined ? `${kind}/${name}` : undefined;
}

function addressOf(object: KubeObject): string | undefined {
  const plain = first(object, "status.publicIP", "status.privateIP", "status.controlPlaneEndpoint");
  if (plain !== undefined) return plain;
  const host = first(object, "spec.controlPlaneEndpoint.host");
  if (host !== undefined) return `${host}:${String(at(object, "spec.controlPlaneEndpoint.port") ?? "")}`;
  const listed = at(object, "status.addresses");
  const address = at(Array.isArray(listed) ? listed[0] : undefined, "address");
  return typeof address === "string" ? address : undefined;
}

/** Pools count their members under their own names; numbers may be texts. */
function membersOf(object: KubeObject): Row["members"] {
  const number = (...paths: string[]): number | undefined => {
    const found = paths.map((path) => at(object, path)).find((value) => value !== undefined && value !== "");
    return found === undefined || typeof found === "boolean" || Number.isNaN(Number(found)) ? undefined : Number(found);
  };
  const wanted = number("spec.count", "spec.replicas", "status.requested");
  if (wanted === undefined) return undefined;
  return { wanted, ready: number("status.readyReplicas", "status.ready") ?? 0 };
}
