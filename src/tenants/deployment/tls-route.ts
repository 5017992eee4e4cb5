/** Routes of the Gateway API to a tenant's Service, with Kamaji's names: TLS is passed through, tenants differ by their names. */
import type { KubeObject, Resource } from "@slipway/kube";
import type { GatewayStatus } from "../../kinds/kamaji/gateway.ts";
import { type Manifest, metadataOf, type Wanted } from "./wanted.ts";

interface ParentReference {
  name: string;
  port?: number;
  sectionName?: string;
}

export interface TlsRoute extends KubeObject {
  spec?: {
    parentRefs?: ParentReference[];
    hostnames?: string[];
    rules: { backendRefs: { name: string; port: number }[] }[];
  };
  status?: { parents?: NonNullable<GatewayStatus>["parents"] };
}

/** `v1` is Gateway API 1.5 and later; those before have the others in their experimental channel. The fields that are used are the same. */
export const ROUTE_VERSIONS = ["v1", "v1alpha3", "v1alpha2"] as const;

/** The kind TLSRoute in this version. */
export const tlsRouteAt = (version: string): Resource<TlsRoute> => ({
  ...{ group: "gateway.networking.k8s.io", version, kind: "TLSRoute", plural: "tlsroutes", namespaced: true },
});

/** Of rights: these know no versions. */
export const TlsRoute = tlsRouteAt(ROUTE_VERSIONS[0]);

type Routed = Pick<Wanted, "tenant" | "spec">;

/** The routes that are asked for, those to kube-apiserver first. None without a host by which the tenant would be told from others. */
export function tlsRoutesOf({ tenant, spec }: Routed): Manifest<TlsRoute>[] {
  const { name } = tenant.metadata;
  const { gateway } = spec.controlPlane;
  const hostname = gateway?.hostname;
  if (hostname === undefined) return [];
  const route = (of: string, section: string, port: number): Manifest<TlsRoute> => ({
    apiVersion: `gateway.networking.k8s.io/${ROUTE_VERSIONS[0]}`,
    kind: "TLSRoute",
    metadata: metadataOf(tenant, "gateway", { name: of, additional: gateway?.additionalMetadata }),
    spec: {
      // A Gateway is shared by tenants: its listeners differ by name and port, which a user may choose.
      parentRefs: (gateway?.parentRefs ?? []).map((parent) => ({
        ...parent,
        port: parent.port ?? port,
        sectionName: parent.sectionName ?? section,
      })),
      hostnames: [hostname],
      rules: [{ backendRefs: [{ name, port }] }],
    },
  });
  const tunnel = spec.addons?.konnectivity?.server.port;
  return [
    route(name, "kube-apiserver", spec.networkProfile.port),
    ...(tunnel === undefined ? [] : [route(tunnelRouteName(name), "konnectivity-server", tunnel)]),
  ];
}

/** The route to konnectivity's server. */
export function tunnelRouteName(tenant: string): string {
  return `${tenant}-konnectivity`;
}

/** A route as a tenant's status has it; undefined until a Gateway says something of it. Pure. */
export function gatewayStatusOf({ metadata, spec, status }: TlsRoute): GatewayStatus {
  // The definition takes no parent without a condition.
  const parents = (status?.parents ?? []).filter(({ conditions }) => conditions.length > 0);
  const isAccepted = parents.some(({ conditions }) =>
    conditions.some(({ type, status }) => type === "Accepted" && status === "True"),
  );
  const [hostname = ""] = spec?.hostnames ?? [];
  const ports = [...new Set((spec?.parentRefs ?? []).map(({ port }) => port ?? 0))];
  // Names with a star are many.
  const accessPoints =
    isAccepted && !hostname.startsWith("*")
      ? ports.map((port) => ({
          ...{ type: "Hostname", value: hostname, port },
          urls: [`https://${hostname}:${port}`],
        }))
      : [];
  return { parents, routeRef: { name: metadata.name }, ...(accessPoints.length > 0 && { accessPoints }) };
}
