/** Where the tenant of a control plane is: in this cluster, or in another one. The controller knows no difference. */
import { type Context, controllerReference, type Ref } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { KamajiControlPlane } from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { FIELD_MANAGER } from "./names.ts";

/** What is applied of a tenant. */
export type TenantManifest = Pick<TenantControlPlane, "apiVersion" | "kind"> & {
  metadata: { name: string; namespace: string } & Partial<TenantControlPlane["metadata"]>;
  spec: object;
};

export interface TenantHome {
  readonly ref: Required<Ref>;
  find(): Promise<TenantControlPlane | undefined>;
  /** A Secret beside the tenant. */
  secret(name: string): Promise<Secret | undefined>;
  apply(body: TenantManifest): Promise<TenantControlPlane>;
  /** Resolves when the deletion is accepted, also where there is none. */
  remove(tenant: TenantControlPlane): Promise<void>;
  /** What the tenant has of its control plane beside the fields of `tenantOf`. */
  readonly ownerReferences: TenantControlPlane["metadata"]["ownerReferences"];
  /** Annotations that say whose it is, where owners can't. */
  readonly mark?: Readonly<Record<string, string>>;
  /** Whether a tenant without any such annotation is its own, too: the original provider writes none (B51). */
  readonly isUnmarkedOurs?: boolean;
}

/** Whether the tenant was made for the control plane of this home. */
export function isOurs(
  { ownerReferences, mark, isUnmarkedOurs = false }: TenantHome,
  { metadata: { annotations = {}, ...metadata } }: TenantControlPlane,
): boolean {
  if (mark !== undefined)
    return Object.entries(mark).every(([key, value]) => (annotations[key] ?? (isUnmarkedOurs ? value : "")) === value);
  const [owner] = ownerReferences ?? [];
  return owner !== undefined && metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) === true;
}

/** This cluster: the tenant has the control plane's name and is owned by it. */
export function localHome({ cache, client }: Context, controlPlane: KamajiControlPlane): TenantHome {
  const { name, namespace = "" } = controlPlane.metadata;
  const ref = { name, namespace };
  return {
    ref,
    find: async () => cache.get(TenantControlPlane, ref),
    secret: async (secret) => cache.get(Secret, { namespace, name: secret }),
    apply: (body) =>
      client.patch(TenantControlPlane, ref, { type: "apply", body, fieldManager: FIELD_MANAGER, force: true }),
    remove: ({ metadata: { uid } }) => client.delete(TenantControlPlane, ref, { uid }),
    ownerReferences: [controllerReference(KamajiControlPlane, controlPlane)],
  };
}
