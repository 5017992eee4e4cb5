import { type Account, ROLES, type Role } from "./accounts.ts";
import { collection, type Described, link } from "./answer.ts";
import { BASE } from "./messages.ts";
import type { Session, Sessions } from "./sessions.ts";

/** Root, accounts, sessions and registries: what a Redfish service has whatever it manages. */
export const ROOT = "/redfish/v1";
const ACCOUNTS = `${ROOT}/AccountService`;
const SESSIONS = `${ROOT}/SessionService`;
const REGISTRIES = `${ROOT}/Registries`;

/** The service root (DSP2046, ServiceRoot). `uuid`: the service's own. */
export function rootBody(uuid: string): Described {
  return {
    ...link(`${ROOT}/`),
    "@odata.type": "#ServiceRoot.v1_17_0.ServiceRoot",
    Id: "RootService",
    Name: "Slipway's Redfish service",
    RedfishVersion: "1.20.0",
    UUID: uuid,
    Vendor: "Slipway",
    Product: "Slipway",
    Systems: link(`${ROOT}/Systems`),
    Managers: link(`${ROOT}/Managers`),
    Tasks: link(`${ROOT}/TaskService`),
    SessionService: link(SESSIONS),
    AccountService: link(ACCOUNTS),
    Registries: link(REGISTRIES),
    Links: { Sessions: link(`${SESSIONS}/Sessions`) },
  };
}

/** SessionService; its time limit is shown in seconds. */
export function sessionServiceBody({ timeoutMs }: Sessions): Described {
  return {
    ...link(SESSIONS),
    "@odata.type": "#SessionService.v1_1_9.SessionService",
    Id: "SessionService",
    Name: "Session Service",
    ServiceEnabled: true,
    SessionTimeout: Math.round(timeoutMs / 1000),
    Sessions: link(`${SESSIONS}/Sessions`),
  };
}

/** The collection of open sessions. */
export function sessionsBody(sessions: readonly Session[]): Described {
  return collection(`${SESSIONS}/Sessions`, "SessionCollection", "Sessions", sessions.map(pathOfSession));
}

/** Path of a session: where it is looked at and ended. */
export function pathOfSession({ id }: Session): string {
  return `${SESSIONS}/Sessions/${id}`;
}

/** One session. Its password is null, as the schema wants it. */
export function sessionBody(session: Session): Described {
  return {
    ...link(pathOfSession(session)),
    "@odata.type": "#Session.v1_7_1.Session",
    Id: session.id,
    Name: "User Session",
    UserName: session.account.username,
    Password: null,
  };
}

/** TaskService: an action that outlasts its answer is a task of it. */
export function taskServiceBody(): Described {
  return {
    ...link(`${ROOT}/TaskService`),
    "@odata.type": "#TaskService.v1_2_1.TaskService",
    Id: "TaskService",
    Name: "Task Service",
    ServiceEnabled: true,
    Tasks: link(`${ROOT}/TaskService/Tasks`),
  };
}

/** Accounts are shown, and changed where they come from: not here. */
export function accountServiceBody(): Described {
  return {
    ...link(ACCOUNTS),
    "@odata.type": "#AccountService.v1_15_1.AccountService",
    Id: "AccountService",
    Name: "Account Service",
    ServiceEnabled: true,
    HTTPBasicAuth: "Enabled",
    Accounts: link(`${ACCOUNTS}/Accounts`),
    Roles: link(`${ACCOUNTS}/Roles`),
  };
}

/** The collection of accounts, numbered from 1 in their order. */
export function accountsBody(accounts: readonly Account[]): Described {
  const paths = accounts.map((_, i) => `${ACCOUNTS}/Accounts/${i + 1}`);
  return collection(`${ACCOUNTS}/Accounts`, "ManagerAccountCollection", "Accounts", paths);
}

/** One account without its password; undefined where there is none of that number. */
export function accountBody(accounts: readonly Account[], id: string): Described | undefined {
  const account = /^[1-9]\d{0,5}$/.test(id) ? accounts[Number(id) - 1] : undefined;
  return (
    account && {
      ...link(`${ACCOUNTS}/Accounts/${id}`),
      "@odata.type": "#ManagerAccount.v1_12_1.ManagerAccount",
      Id: id,
      Name: "User Account",
      UserName: account.username,
      Password: null,
      RoleId: account.role,
      Enabled: true,
      Locked: false,
      AccountTypes: ["Redfish"],
      Links: { Role: link(`${ACCOUNTS}/Roles/${account.role}`) },
    }
  );
}

/** The collection of roles. */
export function rolesBody(): Described {
  const paths = Object.keys(ROLES).map((role) => `${ACCOUNTS}/Roles/${role}`);
  return collection(`${ACCOUNTS}/Roles`, "RoleCollection", "Roles", paths);
}

/** One role and its privileges; undefined where there is none of that name. */
export function roleBody(id: string): Described | undefined {
  if (!Object.hasOwn(ROLES, id)) return undefined;
  return {
    ...link(`${ACCOUNTS}/Roles/${id}`),
    "@odata.type": "#Role.v1_3_2.Role",
    Id: id,
    Name: "User Role",
    RoleId: id,
    IsPredefined: true,
    AssignedPrivileges: ROLES[id as Role],
  };
}

/** The collection of message registries: Base alone. */
export function registriesBody(): Described {
  return collection(REGISTRIES, "MessageRegistryFileCollection", "Registries", [`${REGISTRIES}/${BASE}`]);
}

/** Where the Base registry is to be had; undefined for any other. */
export function registryBody(id: string): Described | undefined {
  if (id !== BASE) return undefined;
  return {
    ...link(`${REGISTRIES}/${BASE}`),
    "@odata.type": "#MessageRegistryFile.v1_1_4.MessageRegistryFile",
    Id: BASE,
    Name: "Base Message Registry File",
    Registry: BASE,
    Languages: ["en"],
    Location: [{ Language: "en", PublicationUri: `https://redfish.dmtf.org/registries/${BASE}.0.json` }],
  };
}
