import type { ConfigMap, Deployment, Secret, Service } from "@slipway/kube/core";
import type { Manifest } from "../../../tenants/deployment/wanted.ts";

/** The objects of one entry of `spec.services`. */
export interface Rendered {
  service: Manifest<Service>;
  secrets: readonly Manifest<Secret>[];
  configMaps: readonly Manifest<ConfigMap>[];
  deployment: Manifest<Deployment>;
  /** Addresses that are balanced over; undefined: it is no load balancer. */
  servers?: readonly string[];
}
