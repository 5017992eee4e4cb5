import type { Core } from "../core.ts";
import { create } from "../verbs/create.ts";
import { ownCall } from "./work.ts";

/** What every cluster has from its first second. */
const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** Creates the default namespaces that are not there yet. */
export async function seed(core: Core): Promise<void> {
  const namespaces = core.registry.find("", "v1", "namespaces")!;
  for (const name of NAMESPACES) {
    if (core.store.get("/namespaces", name) !== undefined) continue;
    await create({ ...ownCall(core, namespaces, "", "", "kube-apiserver"), body: { metadata: { name } } });
  }
  await core.store.durable();
}
