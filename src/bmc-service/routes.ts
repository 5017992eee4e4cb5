import type { HttpAnswer } from "@slipway/base";
import { type Account, accountOf, isSameAccount, ROLES } from "./accounts.ts";
import { type Described, nothing, resource } from "./answer.ts";
import { unauthorized } from "./authenticate.ts";
import { isWebUrl, patchSystem } from "./boot-patch.ts";
import type { ManagedMachine, ResetType } from "./machine.ts";
import { COMMON, refuse } from "./messages.ts";
import { metadataDocument, odataDocument } from "./metadata.ts";
import {
  accountBody,
  accountServiceBody,
  accountsBody,
  pathOfSession,
  ROOT,
  registriesBody,
  registryBody,
  roleBody,
  rolesBody,
  rootBody,
  sessionBody,
  sessionServiceBody,
  sessionsBody,
  taskServiceBody,
} from "./root.ts";
import type { Session, Sessions } from "./sessions.ts";
import {
  cardBody,
  cardsBody,
  managerBody,
  managersBody,
  mediaBody,
  mediasBody,
  RESETS,
  systemBody,
  systemsBody,
} from "./systems.ts";
import type { Tasks } from "./tasks.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

export interface Asked {
  /** What stood at the colons of the pattern. */
  names: readonly string[];
  body: Readonly<Record<string, unknown>>;
  /** Undefined: nobody, on an open route. */
  account: Account | undefined;
}

export interface Route {
  /** Methods that nobody has to log in for. */
  open?: readonly Method[];
  GET?: (asked: Asked) => HttpAnswer | undefined;
  POST?: (asked: Asked) => Promise<HttpAnswer> | HttpAnswer | undefined;
  PATCH?: (asked: Asked) => Promise<HttpAnswer> | undefined;
  DELETE?: (asked: Asked) => HttpAnswer | undefined;
}

export interface RouteWorld {
  uuid: string;
  machines(): readonly ManagedMachine[];
  accounts(): readonly Account[];
  sessions: Sessions;
  tasks: Tasks;
}

type Maybe = Described | undefined;

const shown = (body: Maybe): HttpAnswer | undefined => body && resource(body);
const document = (type: string, body: string): HttpAnswer => ({
  status: 200,
  headers: { ...COMMON, "content-type": type },
  body,
});

/** Every path of the service. An answer of undefined is 404. */
export function routesOf(world: RouteWorld): Readonly<Record<string, Route>> {
  return { ...openRoutes(world), ...serviceRoutes(world), ...sessionRoutes(world), ...machineRoutes(world) };
}

function openRoutes({ uuid }: RouteWorld): Record<string, Route> {
  const open = ["GET"] as const;
  const root: Route = { open, GET: () => shown(rootBody(uuid)) };
  return {
    "/redfish": { open, GET: () => document("application/json", JSON.stringify({ v1: `${ROOT}/` })) },
    [ROOT]: root,
    [`${ROOT}/odata`]: { open, GET: () => document("application/json", JSON.stringify(odataDocument())) },
    [`${ROOT}/$metadata`]: { open, GET: () => document("application/xml", metadataDocument()) },
  };
}

/** An account of some machines alone sees no other account. */
function seenAccounts(all: readonly Account[], account: Account | undefined): readonly Account[] {
  return account?.machines === undefined ? all : [account];
}

/** The machines that an account sees. */
function seenMachines(all: readonly ManagedMachine[], account: Account | undefined): readonly ManagedMachine[] {
  const { machines } = account ?? {};
  return machines === undefined ? all : all.filter(({ id }) => machines.includes(id));
}

function serviceRoutes({ accounts, tasks }: RouteWorld): Record<string, Route> {
  return {
    [`${ROOT}/AccountService`]: { GET: () => shown(accountServiceBody()) },
    [`${ROOT}/AccountService/Accounts`]: {
      GET: ({ account }) => shown(accountsBody(seenAccounts(accounts(), account))),
    },
    [`${ROOT}/AccountService/Accounts/:`]: {
      GET: ({ names: [id], account }) => shown(accountBody(seenAccounts(accounts(), account), id!)),
    },
    [`${ROOT}/AccountService/Roles`]: { GET: () => shown(rolesBody()) },
    [`${ROOT}/AccountService/Roles/:`]: { GET: ({ names: [id] }) => shown(roleBody(id!)) },
    [`${ROOT}/Registries`]: { GET: () => shown(registriesBody()) },
    [`${ROOT}/Registries/:`]: { GET: ({ names: [id] }) => shown(registryBody(id!)) },
    [`${ROOT}/TaskService`]: { GET: () => shown(taskServiceBody()) },
    [`${ROOT}/TaskService/Tasks`]: { GET: ({ account }) => shown(tasks.list(account?.machines)) },
    [`${ROOT}/TaskService/Tasks/:`]: { GET: ({ names: [id], account }) => shown(tasks.get(id!, account?.machines)) },
    [`${ROOT}/TaskService/TaskMonitors/:`]: {
      GET: ({ names: [id], account }) => tasks.monitor(id!, account?.machines),
    },
  };
}

function sessionRoutes({ sessions, accounts }: RouteWorld): Record<string, Route> {
  const path = `${ROOT}/SessionService/Sessions`;
  const POST = ({ body: { UserName, Password } }: Asked): HttpAnswer => {
    for (const [name, value] of Object.entries({ UserName, Password }))
      if (typeof value !== "string") return refuse(400, "CreateFailedMissingReqProperties", name);
    const account = accountOf(accounts(), UserName as string, Password as string);
    if (account === undefined) return unauthorized();
    const session = sessions.open(account);
    if (session === undefined) return refuse(503, "CreateLimitReachedForResource");
    return resource(sessionBody(session), 201, { location: pathOfSession(session), "x-auth-token": session.token });
  };
  const sees = (one: Session, account: Account | undefined): boolean =>
    account?.machines === undefined || isSameAccount(one.account, account);
  const seen = (id: string, account: Account | undefined): Session | undefined => {
    const session = sessions.get(id);
    return session !== undefined && sees(session, account) ? session : undefined;
  };
  const mayEnd = (id: string, account: Account | undefined): boolean =>
    sessions.get(id)?.account.username === account?.username || account?.role === "Administrator";
  return {
    [`${ROOT}/SessionService`]: { GET: () => shown(sessionServiceBody(sessions)) },
    [path]: {
      open: ["POST"],
      GET: ({ account }) => shown(sessionsBody(sessions.list().filter((one) => sees(one, account)))),
      POST,
    },
    [`${path}/Members`]: { open: ["POST"], POST },
    [`${path}/:`]: {
      GET({ names: [id], account }) {
        const session = seen(id!, account);
        return session && shown(sessionBody(session));
      },
      DELETE({ names: [id], account }) {
        if (seen(id!, account) === undefined) return undefined;
        if (!mayEnd(id!, account)) return refuse(403, "InsufficientPrivilege");
        sessions.close(id!);
        return nothing();
      },
    },
  };
}

function machineRoutes({ uuid, machines, tasks }: RouteWorld): Record<string, Route> {
  const system = `${ROOT}/Systems/:`;
  const media = `${system}/VirtualMedia/Cd`;
  const of = (read: (machine: ManagedMachine, id: string) => Maybe): NonNullable<Route["GET"]> => {
    return ({ names: [id, second = ""], account }) => {
      const machine = find(id!, account);
      return machine && shown(read(machine, second));
    };
  };
  const find = (id: string, account: Account | undefined): ManagedMachine | undefined =>
    seenMachines(machines(), account).find((one) => one.id === id);
  const act = (run: (machine: ManagedMachine, asked: Asked) => Promise<HttpAnswer>) => (asked: Asked) => {
    const { account } = asked;
    const machine = find(asked.names[0]!, account);
    const mayAct = account !== undefined && (ROLES[account.role] as readonly string[]).includes("ConfigureComponents");
    if (machine !== undefined && !mayAct) return Promise.resolve(refuse(403, "InsufficientPrivilege"));
    return machine && run(machine, asked);
  };
  return {
    [`${ROOT}/Systems`]: { GET: ({ account }) => shown(systemsBody(seenMachines(machines(), account))) },
    [system]: { GET: of(systemBody), PATCH: act((machine, { body }) => patchSystem(machine, body)) },
    [`${system}/Actions/ComputerSystem.Reset`]: { POST: act((machine, { body }) => reset(tasks, machine, body)) },
    [`${system}/EthernetInterfaces`]: { GET: of(cardsBody) },
    [`${system}/EthernetInterfaces/:`]: { GET: of(cardBody) },
    [`${system}/VirtualMedia`]: { GET: of(mediasBody) },
    [media]: { GET: of(mediaBody) },
    [`${media}/Actions/VirtualMedia.InsertMedia`]: { POST: act((machine, { body }) => insert(tasks, machine, body)) },
    [`${media}/Actions/VirtualMedia.EjectMedia`]: {
      POST: act((machine) => tasks.run("Eject media", machine.setMedia(null), machine.id)),
    },
    [`${ROOT}/Managers`]: { GET: ({ account }) => shown(managersBody(seenMachines(machines(), account))) },
    [`${ROOT}/Managers/:`]: { GET: of((machine) => managerBody(machine, uuid)) },
  };
}

async function reset(tasks: Tasks, machine: ManagedMachine, body: Asked["body"]): Promise<HttpAnswer> {
  const { ResetType: type } = body;
  if (type === undefined) return refuse(400, "ActionParameterMissing", "ComputerSystem.Reset", "ResetType");
  if (!RESETS.includes(type as ResetType))
    return refuse(400, "ActionParameterValueNotInList", String(type), "ResetType", "ComputerSystem.Reset");
  return await tasks.run(`Reset ${String(type)}`, machine.reset(type as ResetType), machine.id);
}

/** What is understood of InsertMedia; what has only one sensible value is taken with that. */
const INSERT: Readonly<Record<string, readonly unknown[]>> = {
  Inserted: [true],
  WriteProtected: [true],
  TransferMethod: ["Stream"],
  TransferProtocolType: ["HTTP", "HTTPS"],
  MediaType: ["CD", "DVD"],
};

async function insert(tasks: Tasks, machine: ManagedMachine, body: Asked["body"]): Promise<HttpAnswer> {
  const { Image: image, ...others } = body;
  if (image === undefined) return refuse(400, "ActionParameterMissing", "VirtualMedia.InsertMedia", "Image");
  if (!isWebUrl(image))
    return refuse(400, "ActionParameterValueNotInList", String(image), "Image", "VirtualMedia.InsertMedia");
  for (const [name, value] of Object.entries(others)) {
    if (!Object.hasOwn(INSERT, name))
      return refuse(400, "ActionParameterNotSupported", name, "VirtualMedia.InsertMedia");
    if (!INSERT[name]!.includes(value))
      return refuse(400, "ActionParameterValueNotInList", String(value), name, "VirtualMedia.InsertMedia");
  }
  return await tasks.run("Insert media", machine.setMedia(image), machine.id);
}
