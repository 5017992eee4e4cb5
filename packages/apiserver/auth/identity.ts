import { dnsLabel, dnsSubdomain } from "@slipway/cel/formats";
import type { User } from "../model/request.ts";

const PREFIX = "system:serviceaccount:";

/** The user name of a ServiceAccount. */
export function accountUserName(namespace: string, name: string): string {
  return `${PREFIX}${namespace}:${name}`;
}

/** The groups that every ServiceAccount of a namespace is in, beside `system:authenticated`. */
export function accountGroups(namespace: string): string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}

/** Whose user name it is; undefined when it is no ServiceAccount's. */
export function accountOfUserName(userName: string): { namespace: string; name: string } | undefined {
  if (!userName.startsWith(PREFIX)) return undefined;
  const [namespace = "", name = "", ...more] = userName.slice(PREFIX.length).split(":");
  const isOne = more.length === 0 && dnsLabel(namespace).length === 0 && dnsSubdomain(name).length === 0;
  return isOne ? { namespace, name } : undefined;
}

/** The Node whose kubelet has this user name; undefined when it is none's. */
export function nodeOfUserName(userName: string): string | undefined {
  const name = userName.startsWith("system:node:") ? userName.slice("system:node:".length) : "";
  return dnsSubdomain(name).length === 0 ? name : undefined;
}

/** The user with `system:authenticated` among its groups. */
export function authenticated(user: User): User {
  if (user.groups.includes("system:authenticated")) return user;
  return { ...user, groups: [...user.groups, "system:authenticated"] };
}

/** Who asks without credentials. */
export const ANONYMOUS: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };
