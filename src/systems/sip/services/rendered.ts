import type { ConfigMap, Deployment, Secret, Service } from "@slipway/kube/core";
import type { Manifest } from "../../../tenants/deployment/wanted.ts";
import type { OidcClient } from "./auth/oidc-settings.ts";

/** The objects of one entry of `spec.services`. */
export interface Rendered {
  service: Manifest<Service>;
  secrets: readonly Manifest<Secret>[];
  configMaps: readonly Manifest<ConfigMap>[];
  deployment: Manifest<Deployment>;
  /** Of a provider: what an API server must know of it. */
  oidc?: OidcClient;
  /** Addresses that are balanced over; undefined: it is no load balancer. */
  servers?: readonly string[];
}
