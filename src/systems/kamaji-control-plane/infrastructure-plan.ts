/**
 * What the infrastructure cluster needs to know of the endpoint. Any kind is served by one rule: an endpoint that is not there is written,
 * one that is there and differs is reported. Annotation `slipway.dev/control-plane-endpoint` on the object or on the control plane chooses
 * another way; an object that is managed from outside (`cluster.x-k8s.io/managed-by`) is also reported as provisioned, since nobody else
 * does (contract InfraCluster). Pure.
 */
import type { KubeObject } from "@slipway/kube";
import { ANNOTATIONS } from "../../cluster-api/names.ts";
import { ENDPOINT_ANNOTATION } from "./names.ts";

/**
 * `provision`: endpoint and readiness are written. `write`: the endpoint alone. `check`: nothing is written, the endpoint must be there and
 * the same. `skip`: the object is left alone.
 */
export const ENDPOINT_WAYS = ["provision", "write", "check", "skip"] as const;
export type EndpointWay = (typeof ENDPOINT_WAYS)[number];

export interface Endpoint {
  host: string;
  port: number;
}

export type InfrastructureStep =
  | { do: "nothing" }
  | { do: "patch"; spec?: object; status?: object }
  | { do: "report"; problem: string; remedy: string };

/** Ways of kinds for which the original has another one than `write`. */
const WAYS: Readonly<Record<string, EndpointWay>> = {
  PacketCluster: "provision",
  KubevirtCluster: "provision",
  NutanixCluster: "provision",
  Metal3Cluster: "check",
  MetalStackCluster: "check",
};

type Infrastructure = KubeObject & {
  spec?: { controlPlaneEndpoint?: Partial<Endpoint>; apiServerFixedIP?: string; apiServerPort?: number };
  status?: { ready?: boolean; initialization?: { provisioned?: boolean } };
};

/** The way that an infrastructure cluster gets the endpoint. Undefined: an annotation names one that there is not. */
export function wayOf(infrastructure: KubeObject, controlPlane: KubeObject): EndpointWay | undefined {
  const named =
    infrastructure.metadata.annotations?.[ENDPOINT_ANNOTATION] ??
    controlPlane.metadata.annotations?.[ENDPOINT_ANNOTATION];
  if (named !== undefined) return ENDPOINT_WAYS.find((way) => way === named);
  const isManagedOutside = infrastructure.metadata.annotations?.[ANNOTATIONS.managedBy] !== undefined;
  return isManagedOutside ? "provision" : (WAYS[infrastructure.kind] ?? "write");
}

/** The next step for an infrastructure cluster, which may be given at any time. */
export function infrastructureStep(
  object: KubeObject,
  way: EndpointWay | undefined,
  endpoint: Endpoint,
): InfrastructureStep {
  const { kind, metadata, spec = {}, status } = object as Infrastructure;
  if (way === undefined)
    return {
      do: "report",
      problem: `annotation ${ENDPOINT_ANNOTATION} names no way that there is`,
      remedy: `use one of ${ENDPOINT_WAYS.join(", ")}`,
    };
  if (way === "skip") return { do: "nothing" };
  const held = heldEndpoint(kind, spec);
  const isSet = held.host !== "" && held.port !== 0;
  const isSame = held.host === endpoint.host && held.port === endpoint.port;
  const name = `${kind}/${metadata.name}`;
  if (way === "check" && !isSet)
    return {
      do: "report",
      problem: `${name} has no endpoint`,
      remedy: `set its spec.controlPlaneEndpoint to ${endpoint.host}:${endpoint.port}, as its provider asks for it beforehand`,
    };
  if (isSet && !isSame && way !== "provision")
    return {
      do: "report",
      problem: `${name} has the endpoint ${held.host}:${held.port}, and the control plane is at ${endpoint.host}:${endpoint.port}`,
      remedy: `correct spec.controlPlaneEndpoint of ${name}, or give the control plane that address (spec.network.serviceAddress)`,
    };
  const isProvisioned = status?.ready === true && status.initialization?.provisioned === true;
  const reported = way === "provision" && !isProvisioned;
  if (isSame && !reported) return { do: "nothing" };
  return {
    do: "patch",
    ...(!isSame && { spec: endpointFields(kind, endpoint) }),
    ...(reported && { status: { ready: true, initialization: { ...status?.initialization, provisioned: true } } }),
  };
}

/** OpenStack's provider has fields of its own for it. */
function heldEndpoint(kind: string, spec: NonNullable<Infrastructure["spec"]>): Endpoint {
  if (kind === "OpenStackCluster") return { host: spec.apiServerFixedIP ?? "", port: spec.apiServerPort ?? 0 };
  const { host = "", port = 0 } = spec.controlPlaneEndpoint ?? {};
  return { host, port };
}

function endpointFields(kind: string, { host, port }: Endpoint): object {
  return kind === "OpenStackCluster"
    ? { apiServerFixedIP: host, apiServerPort: port }
    : { controlPlaneEndpoint: { host, port } };
}
