import { Fault } from "@slipway/base";
import { everyPage, single } from "./pages.ts";
import type { Session } from "./session.ts";
import type {
  DeployConfig,
  OrderAttributes,
  PlanAttributes,
  ServerAttributes,
  UserDataAttributes,
  WireAssignment,
  WireNetwork,
  WirePlan,
  WireProject,
  WireServer,
  WireUserData,
} from "./wire.ts";

/** User data comes with its content, twice: fewer to a page keep the answer small. */
const USER_DATA_PAGE_SIZE = 100;
/** The mark needs an object even where it has no content, and the API wants content: an empty cloud-config. */
const NO_USER_DATA = "#cloud-config\n";

type Attributes<R extends { attributes?: unknown }> = Required<NonNullable<R["attributes"]>>;

/** The endpoints of the Latitude.sh API that the driver uses, with parameters and bodies as its OpenAPI document has them. */
export type LatitudeClient = ReturnType<typeof latitudeClient>;

/** The client of a session. Lists are read to their end. Calls fail with a coded `Fault`. */
export function latitudeClient(session: Session) {
  return {
    /** The servers of a project, or those of it with a hostname. */
    servers(project: string, hostname?: string, signal?: AbortSignal): Promise<readonly WireServer[]> {
      const query = { "filter[project]": project, ...(hostname === undefined ? {} : { "filter[hostname]": hostname }) };
      return everyPage<ServerAttributes>(session, { path: "/servers", query, on: `project ${project}`, signal });
    },
    plan: (slug: string, signal?: AbortSignal) => planOf(session, slug, signal),
    async server(id: string, signal?: AbortSignal): Promise<WireServer> {
      const on = `server ${id}`;
      return single<ServerAttributes>(await session({ method: "GET", path: `/servers/${part(id)}`, on, signal }), on);
    },
    async createServer(attributes: OrderAttributes, signal?: AbortSignal): Promise<WireServer> {
      const on = `server ${attributes.hostname}`;
      const body = { data: { type: "servers", attributes } };
      return single<ServerAttributes>(
        await session({ method: "POST", path: "/servers", body, on, signal }),
        on,
        "LostAnswer",
      );
    },
    async deleteServer(id: string, signal?: AbortSignal): Promise<void> {
      await session({ method: "DELETE", path: `/servers/${part(id)}`, on: `server ${id}`, signal });
    },
    async act(id: string, action: "power_on" | "power_off" | "reboot", signal?: AbortSignal): Promise<void> {
      const body = { data: { type: "actions", attributes: { action } } };
      await session({ method: "POST", path: `/servers/${part(id)}/actions`, body, on: `server ${id}`, signal });
    },
    async reinstall(id: string, attributes: { ipxe: string; user_data: string }, signal?: AbortSignal): Promise<void> {
      const body = { data: { type: "reinstalls", attributes: { operating_system: "ipxe", ...attributes } } };
      await session({ method: "POST", path: `/servers/${part(id)}/reinstall`, body, on: `server ${id}`, signal });
    },
    async deployConfig(id: string, signal?: AbortSignal): Promise<DeployConfig> {
      const path = `/servers/${part(id)}/deploy_config`;
      const body = await session({ method: "GET", path, on: `server ${id}`, signal });
      return (body as { data?: { attributes?: DeployConfig } } | undefined)?.data?.attributes ?? {};
    },
    async setDeployConfig(
      id: string,
      attributes: { ipxe_url?: string; user_data?: string },
      signal?: AbortSignal,
    ): Promise<void> {
      const path = `/servers/${part(id)}/deploy_config`;
      // The one body of the API that has no `data` around it.
      const body = { type: "deploy_config", attributes };
      await session({ method: "PATCH", path, body, on: `server ${id}`, signal });
    },

    userData(project: string, signal?: AbortSignal): Promise<readonly WireUserData[]> {
      const query = { "filter[project]": project };
      const listing = { path: "/user_data", query, pageSize: USER_DATA_PAGE_SIZE, on: `project ${project}`, signal };
      return everyPage<UserDataAttributes>(session, listing);
    },
    async createUserData(
      attributes: { project: string; description: string; content: string },
      signal?: AbortSignal,
    ): Promise<WireUserData> {
      const on = "user data";
      const body = { data: { type: "user_data", attributes: { ...attributes, content: base64(attributes.content) } } };
      return single<UserDataAttributes>(await session({ method: "POST", path: "/user_data", body, on, signal }), on);
    },
    async updateUserData(id: string, content: string, signal?: AbortSignal): Promise<void> {
      const body = { data: { id, type: "user_data", attributes: { content: base64(content) } } };
      await session({ method: "PATCH", path: `/user_data/${part(id)}`, body, on: `user data ${id}`, signal });
    },
    async deleteUserData(id: string, signal?: AbortSignal): Promise<void> {
      await session({ method: "DELETE", path: `/user_data/${part(id)}`, on: `user data ${id}`, signal });
    },

    networks(project: string, signal?: AbortSignal): Promise<readonly WireNetwork[]> {
      const query = { "filter[project]": project };
      const on = `project ${project}`;
      return everyPage<Attributes<WireNetwork>>(session, { path: "/virtual_networks", query, on, signal });
    },
    /** The assignments of one server, or of all of the account. */
    assignments(server?: string, signal?: AbortSignal): Promise<readonly WireAssignment[]> {
      const query: Record<string, string> = server === undefined ? {} : { "filter[server]": server };
      const on = server === undefined ? "virtual networks" : `server ${server}`;
      const path = "/virtual_networks/assignments";
      return everyPage<Attributes<WireAssignment>>(session, { path, query, on, signal });
    },
    async assign(server: string, network: string, signal?: AbortSignal): Promise<void> {
      const attributes = { server_id: server, virtual_network_id: network };
      const body = { data: { type: "virtual_network_assignment", attributes } };
      await session({ method: "POST", path: "/virtual_networks/assignments", body, on: `server ${server}`, signal });
    },
    async unassign(assignment: string, signal?: AbortSignal): Promise<void> {
      const path = `/virtual_networks/assignments/${part(assignment)}`;
      await session({ method: "DELETE", path, on: `assignment ${assignment}`, signal });
    },

    projects(filter: "name" | "slug", value: string, signal?: AbortSignal): Promise<readonly WireProject[]> {
      const query = { [`filter[${filter}]`]: value };
      return everyPage<Attributes<WireProject>>(session, { path: "/projects", query, on: `project ${value}`, signal });
    },
  };
}

/** The plan of a slug; undefined: there is none. */
async function planOf(session: Session, slug: string, signal?: AbortSignal): Promise<WirePlan | undefined> {
  const on = `plan ${slug}`;
  const body = await session({ method: "GET", path: "/plans", query: { "filter[slug]": slug }, on, signal });
  const { data } = (body ?? {}) as { data?: unknown };
  if (!Array.isArray(data)) throw new Fault("Unavailable", on, "the API answered a list without data");
  const plans: WirePlan[] = data.map((one) => single<PlanAttributes>({ data: one }, on));
  return plans.find(({ attributes }) => attributes?.slug === slug);
}

function part(id: string): string {
  return encodeURIComponent(id);
}

function base64(text: string): string {
  return Buffer.from(text === "" ? NO_USER_DATA : text, "utf8").toString("base64");
}
