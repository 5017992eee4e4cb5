import { Fault, isFault } from "@slipway/base";
import type { GatewayStatus } from "../../kinds/kamaji/gateway.ts";
import type { Home } from "../runtime.ts";
import type { Applied } from "./applied.ts";
import {
  gatewayStatusOf,
  ROUTE_VERSIONS,
  type TlsRoute,
  tlsRouteAt,
  tlsRoutesOf,
  tunnelRouteName,
} from "./tls-route.ts";
import type { Manifest, Wanted } from "./wanted.ts";

/** What became of a tenant's routes. */
export interface RoutesSeen {
  gateway?: GatewayStatus;
  tunnel?: GatewayStatus;
}

/**
 * Keeps tenants' routes of the Gateway API in the version that the cluster serves. They are read at each look instead of watched: which
 * version is there is not known before, and few tenants have any.
 */
export class Routes {
  readonly #applied: Applied;
  #version: string = ROUTE_VERSIONS[0];

  constructor(applied: Applied) {
    this.#applied = applied;
  }

  /** Brings a tenant's routes to what is wanted. Rejects with `Unsupported` where the cluster serves none. */
  async keep(home: Home, wanted: Wanted): Promise<RoutesSeen> {
    const rendered = tlsRoutesOf(wanted);
    const [own, tunnel] = await Promise.all(rendered.map((route) => this.#keepOne(home, route)));
    await this.#dropOthers(home, new Set(rendered.map(({ metadata }) => metadata.name)));
    return {
      ...(own !== undefined && { gateway: gatewayStatusOf(own) }),
      ...(tunnel !== undefined && { tunnel: gatewayStatusOf(tunnel) }),
    };
  }

  async #keepOne(home: Home, route: Manifest<TlsRoute>): Promise<TlsRoute> {
    const { namespace, name } = route.metadata;
    for (const version of new Set([this.#version, ...ROUTE_VERSIONS])) {
      const resource = tlsRouteAt(version);
      const body = { ...route, apiVersion: `${resource.group}/${version}` };
      try {
        const live = await home.client.find(resource, { namespace, name });
        const cache = { ...home.cache, get: () => live as never };
        const kept = await this.#applied.keep({ client: home.client, cache }, resource, body);
        this.#version = version;
        return kept;
      } catch (error) {
        if (!isFault(error, "NotFound")) throw error;
      }
    }
    throw new Fault("Unsupported", `TLSRoute/${name}`, "this cluster serves no TLSRoutes", {
      remedy: "install the Gateway API with TLSRoute, or remove spec.controlPlane.gateway",
    });
  }

  /** Of those that the status says there were, what is no longer wanted goes. */
  async #dropOthers({ tenant, client }: Home, wanted: ReadonlySet<string>): Promise<void> {
    const { name, namespace, uid } = tenant.metadata;
    const { status } = tenant;
    const before = [
      ...(status?.kubernetesResources?.gateway === undefined ? [] : [name]),
      ...(status?.addons?.konnectivity?.gateway === undefined ? [] : [tunnelRouteName(name)]),
    ];
    for (const one of before.filter((name) => !wanted.has(name)))
      for (const version of ROUTE_VERSIONS) {
        const resource = tlsRouteAt(version);
        const live = await client.find(resource, { namespace: namespace!, name: one });
        if (live?.metadata.ownerReferences?.some((owner) => owner.controller && owner.uid === uid) !== true) continue;
        await client.delete(resource, { namespace: namespace!, name: one }, { uid: live.metadata.uid });
      }
  }
}
