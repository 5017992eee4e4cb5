import type { Ingress } from "@slipway/kube/core";
import { type Manifest, metadataOf, type Wanted } from "./wanted.ts";

/** The Ingress before a tenant's Service; undefined where none is asked for, or without a host by which the tenant would be told from others. */
export function ingressOf({ tenant, spec }: Pick<Wanted, "tenant" | "spec">): Manifest<Ingress> | undefined {
  const { ingress } = spec.controlPlane;
  if (!ingress?.hostname) return undefined;
  const { name } = tenant.metadata;
  const backend = { service: { name, port: { number: spec.networkProfile.port } } };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: metadataOf(tenant, "ingress", { additional: ingress.additionalMetadata }),
    spec: {
      ...(ingress.ingressClassName && { ingressClassName: ingress.ingressClassName }),
      // Its host may come with the port at which clients reach it.
      rules: [
        {
          host: ingress.hostname.replace(/:\d+$/, ""),
          http: { paths: [{ path: "/", pathType: "Prefix", backend }] },
        },
      ],
    },
  };
}
