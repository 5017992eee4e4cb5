import type { User } from "../../model/request.ts";
import type { Body } from "../../model/served.ts";
import type { Store } from "../../storage/store.ts";

const GROUP = "rbac.authorization.k8s.io";
const CLUSTER_BINDINGS = `${GROUP}/clusterrolebindings`;
const BINDINGS = `${GROUP}/rolebindings`;

interface Subject {
  kind: string;
  name: string;
  namespace?: string;
}

/** A binding as decisions need it. */
export interface Grant {
  binding: Body;
  /** The namespace it holds in; empty: everywhere. */
  namespace: string;
  role: { kind: string; name: string };
}

/**
 * Which bindings speak of whom, kept in step with the store: finding those of a user costs a look-up for the user and
 * one for each group, however many bindings there are.
 */
export class Grants {
  /** By namespace and subject, then by the binding's key. */
  readonly #bySubject = new Map<string, Map<string, Grant>>();

  constructor(store: Store) {
    for (const collection of [CLUSTER_BINDINGS, BINDINGS]) {
      for (const [, binding] of store.collection(collection).range("", "")) this.#add(binding);
      store.listen(collection, ({ type, object, before }) => {
        if (before !== undefined) this.#remove(before);
        if (type !== "DELETED") this.#add(object);
      });
    }
  }

  /** The grants of a user: those of the whole cluster, then those of the namespace unless it is empty. */
  *of(user: User, namespace: string): Generator<Grant> {
    const seen = new Set<Grant>();
    const subjects = [`User ${user.name}`, ...user.groups.map((group) => `Group ${group}`)];
    for (const scope of namespace === "" ? [""] : ["", namespace])
      for (const subject of subjects)
        for (const grant of this.#bySubject.get(`${scope} ${subject}`)?.values() ?? []) {
          if (seen.has(grant)) continue;
          seen.add(grant);
          yield grant;
        }
  }

  #add(binding: Body): void {
    const { namespace = "" } = binding.metadata;
    const grant: Grant = { binding, namespace, role: binding.roleRef as Grant["role"] };
    for (const key of keysOf(binding)) {
      const grants = this.#bySubject.get(key) ?? new Map<string, Grant>();
      this.#bySubject.set(key, grants.set(binding.metadata.name, grant));
    }
  }

  #remove(binding: Body): void {
    for (const key of keysOf(binding)) {
      const grants = this.#bySubject.get(key);
      grants?.delete(binding.metadata.name);
      if (grants?.size === 0) this.#bySubject.delete(key);
    }
  }
}

/** The grant as the reason of a decision names it: through which of the binding's subjects it holds for the user. */
export function describe({ binding, namespace, role }: Grant, user: User): string {
  const subject = subjectsOf(binding).find((candidate) => {
    const key = keyOf(candidate, namespace);
    return key === `User ${user.name}` || user.groups.some((group) => key === `Group ${group}`);
  });
  const { kind = "", name = "" } = subject ?? {};
  const who = kind === "ServiceAccount" ? `${name}/${subject?.namespace || namespace}` : name;
  const [what, where] =
    namespace === ""
      ? ["ClusterRoleBinding", binding.metadata.name]
      : ["RoleBinding", `${binding.metadata.name}/${namespace}`];
  return `${what} ${JSON.stringify(where)} of ${role.kind} ${JSON.stringify(role.name)} to ${kind} ${JSON.stringify(who)}`;
}

function subjectsOf(binding: Body): readonly Subject[] {
  return (binding.subjects as readonly Subject[] | undefined) ?? [];
}

function keysOf(binding: Body): string[] {
  const { namespace = "" } = binding.metadata;
  return subjectsOf(binding).flatMap((subject) => {
    const key = keyOf(subject, namespace);
    return key === undefined ? [] : [`${namespace} ${key}`];
  });
}

/** A ServiceAccount is the user of its name; without a namespace of its own it is one of the binding's. */
function keyOf({ kind, name, namespace }: Subject, bindingNamespace: string): string | undefined {
  if (kind === "User" || kind === "Group") return `${kind} ${name}`;
  const home = namespace || bindingNamespace;
  return kind === "ServiceAccount" && home !== "" ? `User system:serviceaccount:${home}:${name}` : undefined;
}
