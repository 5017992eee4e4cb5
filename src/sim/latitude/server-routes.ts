import { json } from "@slipway/base";
import { OPERATING_SYSTEMS, PLANS, SITES } from "./catalog.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { missing, unprocessable } from "./refused.ts";
import { type Asked, pageOf, type Route } from "./router.ts";
import { deployConfigView, serverView } from "./views.ts";
import type { SimServer, World } from "./world.ts";

const POWER = ["power_on", "power_off", "reboot"] as const;

/** Servers: order, look, change, give back. */
export function serverRoutes(lifecycle: Lifecycle): readonly Route[] {
  const one = (status: number, { world }: Asked, server: SimServer) =>
    json(status, { data: serverView(world, server), meta: {} });
  return [
    {
      operation: "get-servers",
      method: "GET",
      pattern: "/servers",
      answer: (asked) => pageOf(asked, filtered(asked), (server) => serverView(asked.world, server)),
    },
    {
      operation: "create-server",
      method: "POST",
      pattern: "/servers",
      answer(asked) {
        const server = sell(asked);
        lifecycle.deploy(server);
        return one(201, asked, server);
      },
    },
    {
      operation: "get-server",
      method: "GET",
      pattern: "/servers/:id",
      answer: (asked) => one(200, asked, named(asked)),
    },
    {
      operation: "update-server",
      method: "PATCH",
      pattern: "/servers/:id",
      answer(asked) {
        const server = unlocked(asked);
        server.hostname = string(asked, "hostname") ?? server.hostname;
        return one(200, asked, server);
      },
    },
    {
      operation: "destroy-server",
      method: "DELETE",
      pattern: "/servers/:id",
      answer(asked) {
        lifecycle.release(unlocked(asked));
        return { status: 204, headers: {}, body: "" };
      },
    },
    {
      operation: "create-server-action",
      method: "POST",
      pattern: "/servers/:id/actions",
      answer(asked) {
        const action = POWER.find((name) => name === asked.attributes.action);
        if (action === undefined)
          throw unprocessable("INVALID_ACTION", "action is none of power_on, power_off, reboot");
        lifecycle.power(unlocked(asked), action);
        return json(201, {
          data: { id: asked.world.newId("act"), type: "actions", attributes: { status: action } },
          meta: {},
        });
      },
    },
    {
      operation: "create-server-reinstall",
      method: "POST",
      pattern: "/servers/:id/reinstall",
      answer(asked) {
        const server = unlocked(asked);
        const wish = installation(asked);
        lifecycle.reinstall(server);
        Object.assign(server, wish, { hostname: string(asked, "hostname") ?? server.hostname });
        return json(201, {});
      },
    },
    {
      operation: "get-server-deploy-config",
      method: "GET",
      pattern: "/servers/:id/deploy_config",
      answer: (asked) => json(200, { data: deployConfigView(asked.world, named(asked)) }),
    },
    {
      operation: "update-server-deploy-config",
      method: "PATCH",
      pattern: "/servers/:id/deploy_config",
      answer(asked) {
        const server = unlocked(asked);
        server.ipxe = string(asked, "ipxe_url") ?? server.ipxe;
        server.userData = knownUserData(asked) ?? server.userData;
        return json(200, { data: deployConfigView(asked.world, server) });
      },
    },
    {
      operation: "server-lock",
      method: "POST",
      pattern: "/servers/:id/lock",
      answer: (asked) => one(200, asked, lock(asked, true)),
    },
    {
      operation: "server-unlock",
      method: "POST",
      pattern: "/servers/:id/unlock",
      answer: (asked) => one(200, asked, lock(asked, false)),
    },
  ];
}

function sell(asked: Asked): SimServer {
  const { world, attributes } = asked;
  const { project } = world;
  if (attributes.project !== project.id && attributes.project !== project.slug)
    throw missing("Project", String(attributes.project));
  const plan = oneOf(asked, "plan", PLANS);
  const site = oneOf(asked, "site", SITES);
  const hostname = string(asked, "hostname");
  if (!hostname) throw unprocessable("HOSTNAME_REQUIRED", "hostname can't be blank");
  const wish = installation(asked);
  const place = `${site}/${plan}`;
  const left = world.stock.get(place);
  if (left === 0) throw unprocessable("INSUFFICIENT_STOCK", `Plan ${plan} is out of stock in ${site}`);
  if (left !== undefined) world.stock.set(place, left - 1);

  const id = world.newId("sv");
  const hardware = world.rack(id, hostname, plan);
  const server: SimServer = {
    id,
    label: hardware.serial,
    hostname,
    plan,
    site,
    billing: string(asked, "billing") ?? "hourly",
    ...wish,
    status: "off",
    locked: false,
    leaving: false,
    createdAt: world.clock.now(),
    hardware,
    runs: undefined,
    acting: undefined,
    powered: undefined,
    progress: undefined,
  };
  world.servers.set(id, server);
  world.purchases.push({ id, hostname, plan, site, at: server.createdAt });
  return server;
}

/** What a server is to be installed with, checked as the API checks it. */
function installation(asked: Asked): Pick<SimServer, "operatingSystem" | "ipxe" | "userData" | "sshKeys"> {
  const operatingSystem = oneOf(asked, "operating_system", OPERATING_SYSTEMS);
  const ipxe = string(asked, "ipxe") ?? "";
  if (operatingSystem === "ipxe" && !/^https?:\/\//.test(ipxe)) {
    throw unprocessable("IPXE_REQUIRED", "ipxe must be a URL when the operating system is ipxe");
  }
  const keys = asked.attributes.ssh_keys;
  return {
    operatingSystem,
    ipxe,
    userData: knownUserData(asked),
    sshKeys: Array.isArray(keys) ? keys.map(String) : [],
  };
}

function knownUserData(asked: Asked): string | undefined {
  const id = string(asked, "user_data");
  if (id !== undefined && !asked.world.userData.has(id))
    throw unprocessable("USER_DATA_NOT_FOUND", `User data ${id} does not exist`);
  return id;
}

function filtered({ world, query }: Asked): SimServer[] {
  const wanted = (name: string, ...values: string[]): boolean => {
    const value = query.get(`filter[${name}]`);
    return value === null || values.includes(value);
  };
  if (!wanted("project", world.project.id, world.project.slug)) return [];
  const match = ({ hostname, site, plan, status, label }: SimServer) =>
    wanted("hostname", hostname) &&
    wanted("region", site) &&
    wanted("plan", plan) &&
    wanted("status", status) &&
    wanted("label", label);
  return [...world.servers.values()].filter(match);
}

function named({ world, id }: { world: World; id: string }): SimServer {
  const server = world.servers.get(id);
  if (server === undefined) throw missing("Server", id);
  return server;
}

function unlocked(asked: Asked): SimServer {
  const server = named(asked);
  if (server.locked) throw unprocessable("SERVER_LOCKED", "Server is locked");
  return server;
}

function lock(asked: Asked, locked: boolean): SimServer {
  return Object.assign(named(asked), { locked });
}

function string({ attributes }: Asked, name: string): string | undefined {
  const value = attributes[name];
  return typeof value === "string" ? value : undefined;
}

function oneOf(asked: Asked, name: string, allowed: readonly string[]): string {
  const value = string(asked, name);
  if (value !== undefined && allowed.includes(value)) return value;
  throw unprocessable("VALIDATION_ERROR", `${name} is not one the service knows: ${String(asked.attributes[name])}`);
}
