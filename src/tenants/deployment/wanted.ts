/**
 * A tenant's control plane as objects of the management cluster, with Kamaji's names. Rendering is pure: the same plane gives the same
 * bytes (B26). `deployment-runtime.ts` applies what is rendered, and only where something differs.
 */
import { controllerReference, type KubeObject, type ObjectMeta } from "@slipway/kube";
import type { CompleteSpec } from "../../kinds/kamaji/defaults.ts";
import { labelsOf, TENANT_LABEL } from "../../kinds/kamaji/labels.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { Plane } from "../plane.ts";

/** What objects are rendered of. */
export interface Wanted {
  tenant: TenantControlPlane;
  spec: CompleteSpec;
  plane: Plane;
  /** Of the kine before databases that are no etcd, where the user names none. */
  kineImage?: string;
}

/** An object to apply, without what a server adds. */
export type Manifest<T extends KubeObject = KubeObject> = Omit<T, "metadata" | "status"> & {
  metadata: Partial<ObjectMeta> & { name: string; namespace: string };
};

interface Additional {
  labels?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
}

/** Metadata of an object of the tenant's. Labels by which it is found are not the user's to change. */
export function metadataOf(
  tenant: TenantControlPlane,
  component: string,
  { name = tenant.metadata.name, additional }: { name?: string; additional?: Additional | undefined } = {},
): Manifest["metadata"] {
  return {
    name,
    namespace: tenant.metadata.namespace!,
    labels: { ...additional?.labels, ...labelsOf(tenant.metadata.name, component) },
    annotations: { ...additional?.annotations },
    ownerReferences: [controllerReference(TenantControlPlane, tenant)],
  };
}

/** By which a tenant's Pods are found. */
export function selectorOf(tenant: TenantControlPlane): Record<string, string> {
  return { [TENANT_LABEL]: tenant.metadata.name };
}
