/** Every page of the console for the objects of the small world, with a text that stands there once it is shown. */
export const PAGES = [
  { path: "/", title: "Overview", shows: "workers" },
  { path: "/machines", title: "Machines", shows: "node-1" },
  { path: "/machines/baremetalhosts.metal3.io/slipway-hosts/node-1", title: "node-1", shows: "Zen" },
  { path: "/machines/instances.equinix.harvesterhci.io/-/workers-1", title: "workers-1", shows: "Node joined" },
  { path: "/object/instancepools.equinix.harvesterhci.io/-/workers", title: "workers", shows: "1 drifted" },
  { path: "/pools", title: "Pools and clusters", shows: "workers-2" },
  { path: "/network", title: "Network", shows: "node-1" },
  { path: "/rack", title: "Racks", shows: "U7" },
  { path: "/tenants", title: "Tenants", shows: "team-a-api-server" },
  { path: "/objects", title: "Objects", shows: "TenantControlPlane" },
] as const;
