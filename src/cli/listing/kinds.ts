import { Fault } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import type { Kind } from "../../kinds/kind.ts";
import type { System } from "../../systems/system.ts";
import { ROLES, type Role } from "../../views/row.ts";

/** A kind of some system that the cluster serves, in the version that is read of it. */
export interface ServedKind {
  kind: Kind;
  /** What it is to the user; undefined: neither machine, nor pool, nor cluster. */
  role?: Role | undefined;
}

interface ApiGroupList {
  groups?: { name: string; versions: { version: string }[] }[];
}

/** The systems' kinds that the API serves, each in the first of its versions that both know. One request. */
export async function servedKinds(transport: Transport, systems: readonly System[]): Promise<ServedKind[]> {
  const { body } = await transport.request({ method: "GET", path: "/apis" });
  const groups = new Map(
    ((body as ApiGroupList).groups ?? []).map(({ name, versions }) => [name, versions.map(({ version }) => version)]),
  );
  return systems.flatMap((system) =>
    system.kinds.flatMap((versions) => {
      const kind = versions.find(({ group, version, served }) => served && groups.get(group)?.includes(version));
      return kind === undefined ? [] : [{ kind, role: roleOf(kind, system) }];
    }),
  );
}

function roleOf({ group, kind }: Kind, { shows = {} }: System): Role | undefined {
  return ROLES.find((role) => shows[role]?.some((shown) => shown.group === group && shown.kind === kind));
}

/** The names under which kubectl knows a kind, lower-case. */
export function namesOfKind({ kind, plural, singular, shortNames }: Kind): string[] {
  return [...new Set([singular, plural, ...shortNames, kind.toLowerCase()])];
}

/** An object as the user names it. */
export interface NamedObject {
  resource: Kind;
  namespace: string | undefined;
  name: string;
}

/**
 * The object in `KIND/NAME` or `KIND/NAMESPACE/NAME`. Throws a `Fault`: `BadRequest` for what is no such name, `NotFound` for a kind that the
 * cluster does not serve.
 */
export function namedObject(
  text: string,
  { served, systems, namespace }: { served: readonly ServedKind[]; systems: readonly System[]; namespace: string },
): NamedObject {
  const [kindName = "", ...rest] = text.split("/");
  if (rest.length === 0 || rest.length > 2 || rest.includes(""))
    throw new Fault("BadRequest", text, "it names no object", { remedy: "write KIND/NAME or KIND/NAMESPACE/NAME" });
  const found = kindNamed(kindName, { served, systems }, text);
  return {
    resource: found,
    namespace: found.namespaced ? (rest.length === 2 ? rest[0] : namespace) : undefined,
    name: rest.at(-1)!,
  };
}

/** The kind that kubectl knows by this name. Throws a `Fault` on `text`: `BadRequest` where no system has it, `NotFound` where the cluster does not serve it. */
export function kindNamed(
  name: string,
  { served, systems }: { served: readonly ServedKind[]; systems: readonly System[] },
  text: string,
): Kind {
  const isIt = (kind: Kind): boolean => namesOfKind(kind).includes(name.toLowerCase());
  const found = served.find(({ kind }) => isIt(kind))?.kind;
  if (found === undefined) {
    const known = systems.some(({ kinds }) => kinds.flat().some(isIt));
    throw new Fault(
      known ? "NotFound" : "BadRequest",
      text,
      known ? "the cluster does not serve this kind" : "there is no such kind",
      {
        remedy: known
          ? "install its system's definitions, see docs/install.md"
          : `write KIND/NAME or KIND/NAMESPACE/NAME; kinds are: ${[...new Set(served.map(({ kind }) => kind.singular))].sort().join(", ") || "none; the cluster serves none of Slipway's"}`,
      },
    );
  }
  return found;
}
