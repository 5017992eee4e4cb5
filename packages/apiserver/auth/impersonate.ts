import { type Fault, isFault } from "@slipway/base";
import { dnsSubdomain } from "@slipway/cel/formats";
import type { Attributes } from "../core/attributes.ts";
import type { Authorize } from "../core/authorize.ts";
import { denied, permit } from "../core/denial.ts";
import type { User } from "../model/request.ts";
import { ANONYMOUS, accountGroups, accountOfUserName, nodeOfUserName } from "./identity.ts";
import { type Impersonate, wantedUser } from "./impersonation-headers.ts";

/** One way in which impersonation may be permitted (KEP-5284); the last one is as old as impersonation itself and knows no limits. */
type Mode = "associated-node" | "arbitrary-node" | "serviceaccount" | "user-info" | "legacy";

const MODES: readonly Mode[] = ["associated-node", "arbitrary-node", "serviceaccount", "user-info", "legacy"];
/** With so many values or more, the right to all of them is asked for first. */
const MANY = 4;
const REMEMBERED = 10_000;

/**
 * Impersonation by the `Impersonate-*` headers. The modes are tried in order, the one that worked last for the same user first;
 * when none permits it, the first refusal is answered.
 */
export function impersonation(authorize: Authorize): Impersonate {
  const workedFor = new Map<string, Mode>();
  return async (asked, headers) => {
    const wanted = wantedUser(headers);
    if (wanted === undefined) return asked.user;
    const last = workedFor.get(asked.user.name);
    const order = last === undefined ? MODES : [last, ...MODES.filter((mode) => mode !== last)];
    let refusal: Fault | undefined;
    for (const mode of order.filter((candidate) => suits(candidate, wanted, asked.user))) {
      const refused = await refusalOf(mode, wanted, asked, authorize);
      refusal ??= refused;
      if (refused !== undefined) continue;
      if (workedFor.size >= REMEMBERED) workedFor.clear();
      workedFor.set(asked.user.name, mode);
      return whole(mode, wanted);
    }
    throw refusal;
  };
}

function suits(mode: Mode, wanted: User, requestor: User): boolean {
  const nameOnly = wanted.uid === undefined && wanted.groups.length === 0 && wanted.extra === undefined;
  const node = nodeOfUserName(wanted.name);
  const account = accountOfUserName(wanted.name);
  switch (mode) {
    case "associated-node": {
      const nodes = requestor.extra?.["authentication.kubernetes.io/node-name"] ?? [];
      const isAccount = accountOfUserName(requestor.name) !== undefined;
      return nameOnly && node !== undefined && isAccount && nodes.length === 1 && nodes[0] === node;
    }
    case "arbitrary-node":
      return nameOnly && node !== undefined;
    case "serviceaccount":
      return nameOnly && account !== undefined;
    case "user-info":
      return node === undefined && account === undefined;
    case "legacy":
      return true;
  }
}

async function refusalOf(
  mode: Mode,
  wanted: User,
  asked: Attributes,
  authorize: Authorize,
): Promise<Fault | undefined> {
  try {
    await demand(mode, wanted, asked, authorize);
    return undefined;
  } catch (error) {
    if (isFault(error, "Forbidden")) return error;
    throw error;
  }
}

/** Asks for each right that the mode demands. Throws the first refusal. */
async function demand(mode: Mode, wanted: User, asked: Attributes, authorize: Authorize): Promise<void> {
  const limited = mode !== "legacy";
  const verb = limited ? `impersonate:${mode}` : "impersonate";
  const old = {
    ...asked,
    verb,
    group: "",
    version: "v1",
    plural: "",
    subresource: "",
    namespace: "",
    name: "",
    path: "",
  };
  const young = { ...old, group: "authentication.k8s.io" };
  const base = limited ? young : old;

  if (limited) await permit({ ...asked, verb: `impersonate-on:${mode}:${asked.verb}` }, authorize);
  await permit({ ...base, ...whomToActAs(mode, wanted.name) }, authorize);
  if (wanted.uid !== undefined) await permit({ ...young, plural: "uids", name: wanted.uid }, authorize);

  const groups = { ...base, plural: "groups" };
  if (limited && wanted.groups.includes(""))
    throw denied(groups, "impersonating the empty string group is not allowed");
  if (limited && wanted.groups.includes("system:masters"))
    throw denied({ ...groups, name: "system:masters" }, "impersonating the system:masters group is not allowed");
  const each = wanted.groups.map((name) => ({ ...groups, name }));
  await permitAll(each, limited ? { ...groups, name: "*" } : undefined, authorize);

  const extras = { ...young, plural: "userextras" };
  const values = Object.entries(wanted.extra ?? {}).flatMap(([subresource, names]) =>
    names.map((name) => ({ ...extras, subresource, name })),
  );
  const wrong = limited ? wrongExtra(wanted.extra ?? {}) : undefined;
  if (wrong !== undefined) throw denied(extras, wrong);
  await permitAll(values, limited ? { ...extras, subresource: "*", name: "*" } : undefined, authorize);
}

function whomToActAs(mode: Mode, userName: string): { plural: string; namespace?: string; name: string } {
  const account = accountOfUserName(userName);
  if (account !== undefined) return { plural: "serviceaccounts", ...account };
  const node = mode === "legacy" ? undefined : nodeOfUserName(userName);
  if (node === undefined) return { plural: "users", name: userName };
  return { plural: "nodes", name: mode === "associated-node" ? "*" : node };
}

async function permitAll(
  each: readonly Attributes[],
  all: Attributes | undefined,
  authorize: Authorize,
): Promise<void> {
  if (all !== undefined && each.length >= MANY && (await authorize(all)).allowed) return;
  for (const one of each) await permit(one, authorize);
}

/** Why such extra values may not be taken on in a limited mode. */
function wrongExtra(extra: Readonly<Record<string, readonly string[]>>): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === "") return "impersonating the empty string key in extra is not allowed";
    if (values.includes("")) return "impersonating the empty string value in extra is not allowed";
    const wrong = keyFaults(key);
    if (wrong.length > 0)
      return `impersonating an invalid key in extra is not allowed: ${wrong.length === 1 ? wrong[0] : `[${wrong.join(", ")}]`}`;
  }
  return undefined;
}

const HTTP_PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** A key is a path below a domain. */
function keyFaults(key: string): string[] {
  const [host = "", path = ""] = key.split(/\/(.*)/s);
  const wrong = (value: string, why: string) => `extra.key: Invalid value: ${JSON.stringify(value)}: ${why}`;
  if (host === "" || path === "") return [wrong(key, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const faults = dnsSubdomain(host).map((why) => wrong(host, why));
  return HTTP_PATH.test(path)
    ? faults
    : [...faults, wrong(path, `Invalid path (regex used for validation is '${HTTP_PATH.source.slice(1, -1)}')`)];
}

/** The user with the groups that follow from the name and from having been let in. */
function whole(mode: Mode, wanted: User): User {
  const account = accountOfUserName(wanted.name);
  let { groups } = wanted;
  if (mode !== "legacy" && nodeOfUserName(wanted.name) !== undefined) groups = ["system:nodes"];
  if (account !== undefined && groups.length === 0) groups = accountGroups(account.namespace);
  const isStranger = wanted.name === ANONYMOUS.name;
  const due =
    isStranger || groups.includes("system:unauthenticated") ? "system:unauthenticated" : "system:authenticated";
  return { ...wanted, groups: groups.includes(due) ? groups : [...groups, due] };
}
