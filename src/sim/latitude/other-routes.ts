import { json } from "@slipway/base";
import { PLANS, priceOf, SITES } from "./catalog.ts";
import { missing, unprocessable } from "./refused.ts";
import { type Asked, pageOf, type Route } from "./router.ts";
import { assignmentView, networkView, userDataView } from "./views.ts";

const NO_CONTENT = { status: 204, headers: {}, body: "" };

/** User data objects of the project. */
export const userDataRoutes: readonly Route[] = [
  {
    operation: "get-users-data",
    method: "GET",
    pattern: "/user_data",
    answer: (asked) => pageOf(asked, ofProject(asked, asked.world.userData), (item) => userDataView(asked.world, item)),
  },
  {
    operation: "post-user-data",
    method: "POST",
    pattern: "/user_data",
    answer(asked) {
      const { world, attributes } = asked;
      const now = world.clock.now();
      const description = required(asked, "description");
      const item = {
        id: world.newId("ud"),
        description,
        content: base64(attributes.content),
        createdAt: now,
        updatedAt: now,
      };
      world.userData.set(item.id, item);
      return json(201, { data: userDataView(world, item), meta: {} });
    },
  },
  {
    operation: "patch-user-data",
    method: "PATCH",
    pattern: "/user_data/:id",
    answer({ world, id, attributes }) {
      const item = world.userData.get(id);
      if (item === undefined) throw missing("User data", id);
      if (attributes.content !== undefined) item.content = base64(attributes.content);
      item.updatedAt = world.clock.now();
      return json(200, { data: userDataView(world, item), meta: {} });
    },
  },
  {
    operation: "delete-user-data",
    method: "DELETE",
    pattern: "/user_data/:id",
    answer({ world, id }) {
      if (!world.userData.delete(id)) throw missing("User data", id);
      return NO_CONTENT;
    },
  },
];

/** Virtual networks and which server is on which. */
export const networkRoutes: readonly Route[] = [
  {
    operation: "get-virtual-networks",
    method: "GET",
    pattern: "/virtual_networks",
    answer: (asked) => pageOf(asked, ofProject(asked, asked.world.networks), (item) => networkView(asked.world, item)),
  },
  {
    operation: "get-virtual-networks-assignments",
    method: "GET",
    pattern: "/virtual_networks/assignments",
    answer(asked) {
      const server = asked.query.get("filter[server]");
      const all = [...asked.world.assignments.values()].filter((one) => server === null || one.server === server);
      return pageOf(asked, all, (one) => assignmentView(asked.world, one));
    },
  },
  {
    operation: "assign-server-virtual-network",
    method: "POST",
    pattern: "/virtual_networks/assignments",
    answer(asked) {
      const { world } = asked;
      const server = world.servers.get(required(asked, "server_id"));
      if (server === undefined) throw missing("Server", String(asked.attributes.server_id));
      const network = world.networks.get(required(asked, "virtual_network_id"));
      if (network === undefined) throw missing("Virtual network", String(asked.attributes.virtual_network_id));
      if (server.locked) throw unprocessable("SERVER_LOCKED", "Server is locked");
      if (server.site !== network.site)
        throw unprocessable("SITE_MISMATCH", "Server and virtual network are in different sites");
      const there = [...world.assignments.values()].some(
        (one) => one.server === server.id && one.network === network.id,
      );
      if (there) throw unprocessable("ALREADY_ASSIGNED", "Server is already assigned to this virtual network");
      const one = { id: world.newId("vnasg"), network: network.id, server: server.id, createdAt: world.clock.now() };
      world.assignments.set(one.id, one);
      return json(201, { data: assignmentView(world, one), meta: {} });
    },
  },
  {
    operation: "delete-virtual-networks-assignments",
    method: "DELETE",
    pattern: "/virtual_networks/assignments/:id",
    answer({ world, id }) {
      if (!world.assignments.delete(id)) throw missing("Assignment", id);
      return NO_CONTENT;
    },
  },
];

/** What there is to order, and where. */
export const catalogRoutes: readonly Route[] = [
  {
    operation: "get-projects",
    method: "GET",
    pattern: "/projects",
    answer(asked) {
      const { id, ...attributes } = asked.world.project;
      const wanted = ["slug", "name"] as const;
      const match = wanted.every((key) => [null, attributes[key]].includes(asked.query.get(`filter[${key}]`)));
      return pageOf(asked, match ? [{ id, type: "projects", attributes }] : [], (project) => project);
    },
  },
  {
    operation: "get-plans",
    method: "GET",
    pattern: "/plans",
    answer: ({ world, query }) =>
      json(200, {
        data: PLANS.filter((slug) => [null, slug].includes(query.get("filter[slug]"))).map((slug) => ({
          ...{ id: `plan_${slug}`, type: "plans", attributes: planOf(slug, world) },
        })),
      }),
  },
  {
    operation: "get-regions",
    method: "GET",
    pattern: "/regions",
    answer: (asked) =>
      pageOf(asked, SITES, (slug) => ({
        id: `loc_${slug}`,
        type: "regions",
        attributes: { name: slug, slug, facility: slug, country: { name: "", slug: "" }, type: "core" },
      })),
  },
  {
    operation: "get-ssh-keys",
    method: "GET",
    pattern: "/ssh_keys",
    answer: (asked) => pageOf(asked, [], (key) => key),
  },
];

function planOf(slug: string, { stock }: Asked["world"]): object {
  const inStock = SITES.filter((site) => stock.get(`${site}/${slug}`) !== 0);
  const level = inStock.length === 0 ? "unavailable" : "high";
  const locations = { available: SITES, in_stock: inStock };
  const region = { name: "Simulated", locations, stock_level: level, pricing: { USD: priceOf(slug) } };
  return { slug, name: slug.replaceAll("-", "."), features: ["ssh", "raid", "user_data"], regions: [region] };
}

function ofProject<T>({ world, query }: Asked, items: ReadonlyMap<string, T>): T[] {
  const project = query.get("filter[project]");
  return project === null || project === world.project.id || project === world.project.slug ? [...items.values()] : [];
}

function required({ attributes }: Asked, name: string): string {
  const value = attributes[name];
  if (typeof value === "string" && value !== "") return value;
  throw unprocessable("VALIDATION_ERROR", `${name} can't be blank`);
}

function base64(value: unknown): string {
  if (typeof value === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(value)) return value;
  throw unprocessable("INVALID_CONTENT", "content is blank or not base64");
}
