import type { Secret } from "@slipway/kube/core";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { KamajiControlPlane } from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";

const KUBEADM = { replicas: 2, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 2, unavailableReplicas: 0 };

/** A KamajiControlPlane as its API has it, with defaults and nothing special about it but what is given. For tests. */
export function aControlPlane(
  spec: object = {},
  { status, annotations }: { status?: object; annotations?: Record<string, string> } = {},
): KamajiControlPlane {
  return {
    apiVersion: `${KamajiControlPlane.group}/${KamajiControlPlane.version}`,
    kind: KamajiControlPlane.kind,
    metadata: { name: "plane", namespace: "shop", uid: "uid-1", generation: 4, ...(annotations && { annotations }) },
    spec: { replicas: 2, version: "1.34.2", network: { serviceType: "LoadBalancer" }, ...spec },
    ...(status && { status }),
  } as KamajiControlPlane;
}

/** A tenant whose API answers with two replicas. For tests. */
export function aTenant(status: object = {}, metadata: object = {}): TenantControlPlane {
  return {
    apiVersion: `${TenantControlPlane.group}/${TenantControlPlane.version}`,
    kind: TenantControlPlane.kind,
    metadata: { name: "plane", namespace: "shop", uid: "uid-t", ...metadata },
    spec: {},
    status: {
      kubernetesResources: {
        version: { version: "v1.34.2", status: "Ready" },
        deployment: { ...KUBEADM, selector: "app=plane" },
      },
      ...status,
    },
  } as unknown as TenantControlPlane;
}

/** A Secret of these texts. For tests. */
export function aSecret(name: string, texts: Record<string, string>, metadata: object = {}): Secret {
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
  return { metadata: { name, namespace: "shop", uid: `uid-${name}`, ...metadata }, data } as Secret;
}
