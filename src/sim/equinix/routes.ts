import { bgpRoutes } from "./bgp-routes.ts";
import { catalogRoutes } from "./catalog-routes.ts";
import { deviceRoutes } from "./device-routes.ts";
import { gatewayRoutes } from "./gateways.ts";
import { ipRoutes } from "./ip-routes.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { organizationRoutes } from "./organization-routes.ts";
import { portRoutes } from "./port-routes.ts";
import { projectRoutes } from "./project-routes.ts";
import type { Route } from "./router.ts";
import { spotRequestRoutes } from "./spot-requests.ts";

/** All that the simulated API serves. */
export function routesOf(lifecycle: Lifecycle): readonly Route[] {
  const devices = [...deviceRoutes(lifecycle), ...portRoutes, ...spotRequestRoutes(lifecycle)];
  return [
    ...devices,
    ...projectRoutes,
    ...ipRoutes,
    ...bgpRoutes,
    ...gatewayRoutes,
    ...catalogRoutes,
    ...organizationRoutes,
  ];
}

/** What is served, for a person to read: a path with its methods, in the order of paths. */
export function served(): string[] {
  const methods = new Map<string, Set<string>>();
  // Nothing is asked of it here.
  for (const { method, pattern } of routesOf(undefined as never)) {
    const path = pattern.replaceAll("/:", "/{id}");
    methods.set(path, (methods.get(path) ?? new Set()).add(method));
  }
  return [...methods].map(([path, all]) => `${path} ${[...all].join(", ")}`).sort();
}
