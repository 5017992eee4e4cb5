import { Fault } from "@slipway/base";
import { PageBound } from "../page-bound.ts";
import type { Call, Session } from "./session.ts";
import type { WireAction, WireDevice, WireDevicePage, WireOrder, WirePlan, WireUpdate, WireVlan } from "./wire.ts";

export const PAGE_SIZE = 250;
/** A list whose total moved while it was read is read anew this often before it is handed out as it is. */
const LIST_ATTEMPTS = 3;

/** References that come whole, because their VLAN number is read, and wholes that come as references, because nothing of them is. */
const INCLUDE = "network_ports.virtual_networks,network_ports.native_virtual_network";
const EXCLUDE = "project,project_lite,ssh_keys,volumes,created_by,hardware_reservation";

/** The endpoints of the Metal API that the driver uses, with their parameters where the OpenAPI document has them. */
export interface MetalClient {
  /**
   * All devices of a project, or those with a tag, as `read` makes them; every page. Each page is read before the next is asked for: of
   * thousands of devices, never all are held as the API shows them.
   */
  devices<T>(project: string, wanted: Wanted<T>, signal?: AbortSignal): Promise<readonly T[]>;
  device(id: string, signal?: AbortSignal): Promise<WireDevice>;
  createDevice(project: string, order: WireOrder, signal?: AbortSignal): Promise<WireDevice>;
  updateDevice(id: string, update: WireUpdate, signal?: AbortSignal): Promise<void>;
  act(id: string, action: WireAction, signal?: AbortSignal): Promise<void>;
  deleteDevice(id: string, force: boolean, signal?: AbortSignal): Promise<void>;
  port(call: PortCall, signal?: AbortSignal): Promise<void>;
  vlans(project: string, metro: string, signal?: AbortSignal): Promise<readonly WireVlan[]>;
  createVlan(project: string, vlan: { metro: string; vxlan: number }, signal?: AbortSignal): Promise<WireVlan>;
  /** What the project may order, with prices. */
  plans(project: string, signal?: AbortSignal): Promise<readonly WirePlan[]>;
  /** Ids of the projects that bear the name. */
  projectsNamed(name: string, signal?: AbortSignal): Promise<readonly string[]>;
}

/** Which devices of a project, and what becomes of each. */
export interface Wanted<T> {
  tag?: string;
  read: (device: WireDevice) => T;
}

export type PortCall = { port: string } & PortAction;

/** One POST (or, for `clear-native`, DELETE) on a port. */
export type PortAction =
  | { do: "bond" }
  | { do: "disbond"; bulk: boolean }
  | { do: "layer-2" }
  | { do: "layer-3" }
  | { do: "assign"; vlan: string }
  | { do: "unassign"; vlan: string }
  | { do: "clear-native" };

/** The client of a session. Lists are read to their end. Calls fail with a coded `Fault`. */
export function metalClient(session: Session): MetalClient {
  return {
    devices: (project, wanted, signal) => allDevices(session, project, wanted, signal),
    async device(id, signal) {
      const query = { include: INCLUDE, exclude: EXCLUDE };
      return device(await session({ method: "GET", path: `/devices/${part(id)}`, query, on: `device ${id}`, signal }));
    },
    async createDevice(project, order, signal) {
      const path = `/projects/${part(project)}/devices`;
      const query = { include: INCLUDE, exclude: EXCLUDE };
      const body = await session({ method: "POST", path, query, body: order, on: `device ${order.hostname}`, signal });
      return device(body, "LostAnswer");
    },
    async updateDevice(id, update, signal) {
      await session({ method: "PUT", path: `/devices/${part(id)}`, body: update, on: `device ${id}`, signal });
    },
    async act(id, action, signal) {
      await session({
        method: "POST",
        path: `/devices/${part(id)}/actions`,
        body: action,
        mayBeDone: true,
        on: `device ${id}`,
        signal,
      });
    },
    async deleteDevice(id, force, signal) {
      const query = force ? { force_delete: true } : {};
      await session({
        method: "DELETE",
        path: `/devices/${part(id)}`,
        query,
        mayBeDone: true,
        on: `device ${id}`,
        signal,
      });
    },
    async port(call, signal) {
      await session({ ...portRequest(call), mayBeDone: true, on: `port ${call.port}`, signal });
    },
    async vlans(project, metro, signal) {
      const path = `/projects/${part(project)}/virtual-networks`;
      const body = await session({ method: "GET", path, query: { metro }, on: `VLANs in ${metro}`, signal });
      return listIn<WireVlan>(body, "virtual_networks");
    },
    async createVlan(project, vlan, signal) {
      const path = `/projects/${part(project)}/virtual-networks`;
      return (await session({
        method: "POST",
        path,
        body: vlan,
        mayBeDone: true,
        on: `VLAN ${vlan.vxlan} in ${vlan.metro}`,
        signal,
      })) as WireVlan;
    },
    async plans(project, signal) {
      const path = `/projects/${part(project)}/plans`;
      const query = { include: "available_in_metros" };
      return listIn<WirePlan>(
        await session({ method: "GET", path, query, on: `plans of ${project}`, signal }),
        "plans",
      );
    },
    async projectsNamed(name, signal) {
      const query = { name, per_page: PAGE_SIZE };
      const body = await session({ method: "GET", path: "/projects", query, on: `project ${name}`, signal });
      return listIn<{ id: string; name?: string }>(body, "projects")
        .filter((project) => project.name === name)
        .map((project) => project.id);
    },
  };
}

const LAYER_3_IPS = {
  request_ips: [
    { address_family: 4, public: true },
    { address_family: 4, public: false },
    { address_family: 6, public: true },
  ],
};

function portRequest(call: PortCall): Pick<Call, "method" | "path" | "query" | "body"> {
  const path = `/ports/${part(call.port)}`;
  switch (call.do) {
    case "bond":
      return { method: "POST", path: `${path}/bond`, query: { bulk_enable: false } };
    case "disbond":
      return { method: "POST", path: `${path}/disbond`, query: { bulk_disable: call.bulk } };
    case "layer-2":
      // The document requires a body, though nothing in it is meant for this call.
      return { method: "POST", path: `${path}/convert/layer-2`, body: {} };
    case "layer-3":
      return { method: "POST", path: `${path}/convert/layer-3`, body: LAYER_3_IPS };
    case "assign":
    case "unassign":
      return { method: "POST", path: `${path}/${call.do}`, body: { vnid: call.vlan } };
    case "clear-native":
      return { method: "DELETE", path: `${path}/native-vlan` };
  }
}

async function allDevices<T>(
  session: Session,
  project: string,
  { tag, read }: Wanted<T>,
  signal: AbortSignal | undefined,
): Promise<readonly T[]> {
  const page = async (number: number): Promise<WireDevicePage> => {
    const query = { tag, include: INCLUDE, exclude: EXCLUDE, page: number, per_page: PAGE_SIZE };
    const path = `/projects/${part(project)}/devices`;
    const body = await session({ method: "GET", path, query, on: `project ${project}`, signal });
    return { ...(body as object), devices: listIn<WireDevice>(body, "devices").map((one) => device(one)) };
  };
  for (let attempt = 1; ; attempt++) {
    const found = new Map<string, T>();
    const pages = new PageBound(`project ${project}`);
    let steady = true;
    let total: number | undefined;
    for (let number = 1, last = 1; number <= last; number++) {
      const { devices, meta } = await page(number);
      pages.read(devices.filter((one) => !found.has(one.id)).length, found.size);
      for (const one of devices) found.set(one.id, read(one));
      // Pages shift when a device comes or goes between two of them: one that stayed may then be on neither.
      if (total !== undefined && meta?.total !== total) steady = false;
      total = meta?.total;
      last = meta?.last_page ?? 1;
    }
    if (steady || attempt === LIST_ATTEMPTS) return [...found.values()];
  }
}

function part(id: string): string {
  return encodeURIComponent(id);
}

function device(body: unknown, code: "Unavailable" | "LostAnswer" = "Unavailable"): WireDevice {
  const one = body as WireDevice | null | undefined;
  if (typeof one?.id === "string" && one.id !== "") return one;
  throw new Fault(code, "the Metal API", "answered with a device that has no id");
}

function listIn<T>(body: unknown, name: string): readonly T[] {
  const items = (body as Record<string, unknown> | null | undefined)?.[name];
  if (Array.isArray(items)) return items as T[];
  throw new Fault("Unavailable", "the Metal API", `answered a list without ${name}`);
}
