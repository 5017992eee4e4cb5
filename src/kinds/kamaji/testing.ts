import type { World } from "@slipway/apiserver/testing";
import { DEFINITIONS, world } from "@slipway/apiserver/testing";
import { crdOf } from "../crd.ts";
import { KAMAJI_KINDS } from "./kinds.ts";
import { TenantControlPlane } from "./tenant-control-plane.ts";

/** An API that serves Kamaji's kinds, in virtual time. Closed by the caller. */
export async function kamajiApi(): Promise<World> {
  const api = await world();
  for (const versions of KAMAJI_KINDS) await api.ask("POST", DEFINITIONS, crdOf(versions));
  return api;
}

/** The spec of a tenant as a user writes the shortest one. */
export const shortestTenant = {
  controlPlane: { service: { serviceType: "LoadBalancer" } },
  kubernetes: { version: "v1.34.2", kubelet: {} },
};

/** A plain value laid over another: objects field by field, undefined removes, all else replaces. */
export function overlaid(base: unknown, over: unknown): unknown {
  if (!isObject(base) || !isObject(over)) return over;
  const out: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined) delete out[key];
    else out[key] = key in base ? overlaid(base[key], value) : value;
  }
  return out;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A tenant as the API gives it: `shortestTenant` with `over` laid over it, and defaults. */
export function tenant(over: object = {}, name = "a"): TenantControlPlane {
  return {
    apiVersion: `${TenantControlPlane.group}/${TenantControlPlane.version}`,
    kind: TenantControlPlane.kind,
    metadata: {
      name,
      namespace: "default",
      uid: "5b4c7a52-6f0e-4c0a-9a51-0f6d0a6a7c11",
      resourceVersion: "1",
      creationTimestamp: "2026-01-01T00:00:00Z",
    },
    spec: TenantControlPlane.spec.parse(overlaid(shortestTenant, over)) as TenantControlPlane["spec"],
  };
}
