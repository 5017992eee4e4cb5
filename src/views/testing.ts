/** Objects for tests of views. */
import type { KubeObject } from "@slipway/kube";

export interface Written {
  apiVersion?: string;
  metadata?: object;
  spec?: object;
  status?: object;
  data?: object;
}

/** An object with these fields; a host unless its version says otherwise. */
export function written(kind: string, name: string, { apiVersion, metadata, ...rest }: Written = {}): KubeObject {
  return {
    ...{ apiVersion: apiVersion ?? "metal3.io/v1alpha1", kind },
    metadata: {
      ...{ name, namespace: "hosts", uid: `${kind}-${name}`, resourceVersion: "1", generation: 1 },
      ...{ creationTimestamp: "2026-01-01T00:00:00Z", ...metadata },
    },
    ...rest,
  };
}
