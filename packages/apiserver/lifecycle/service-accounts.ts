import type { Core } from "../core/call.ts";
import type { Body } from "../model/served.ts";
import { create } from "../verbs/create.ts";
import { ownCall, Work } from "./work.ts";

const NAMESPACES = "/namespaces";
const ACCOUNTS = "/serviceaccounts";
const NAME = "default";

/** Gives each namespace the ServiceAccount that Pods run as when they name none, and gives it back when it is deleted. */
export function defaultAccounts(core: Core): { close(): Promise<void> } {
  const work = new Work<string>(core, "service accounts", (namespace) => provideDefaultAccount(core, namespace));
  const stop = core.store.listen("*", ({ collection, object, type }) => {
    if (collection === NAMESPACES && type === "ADDED") work.add(object.metadata.name);
    if (collection === ACCOUNTS && type === "DELETED" && object.metadata.name === NAME)
      work.add(object.metadata.namespace ?? "");
  });
  for (const [name] of core.store.collection(NAMESPACES).range("", "")) work.add(name);
  return {
    close: () => {
      stop();
      return work.close();
    },
  };
}

/** Makes the namespace's default ServiceAccount unless it is there, or the namespace is not. */
export async function provideDefaultAccount(core: Core, namespace: string): Promise<void> {
  if (!isOpen(core.store.get(NAMESPACES, namespace))) return;
  if (core.store.get(ACCOUNTS, `${namespace}/${NAME}`) !== undefined) return;
  const accounts = core.registry.find("", "v1", "serviceaccounts")!;
  await create({ ...ownCall(core, accounts, { namespace }), body: { metadata: { name: NAME } } });
}

function isOpen(namespace: Body | undefined): boolean {
  return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
}
