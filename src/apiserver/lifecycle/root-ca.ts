import type { Core } from "../core.ts";
import { copyJson, sameJson } from "../json-value.ts";
import { create } from "../verbs/create.ts";
import { rewrite } from "../verbs/update.ts";
import { ownCall, Work } from "./work.ts";

const NAMESPACES = "/namespaces";
const CONFIG_MAPS = "/configmaps";
const NAME = "kube-root-ca.crt";
const ABOUT = {
  "kubernetes.io/description":
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
};

/** Keeps the certificate (PEM) that clients in Pods trust in a ConfigMap of each namespace. */
export function rootCaPublisher(core: Core, pem: string): { close(): Promise<void> } {
  const work = new Work<string>(core, "root certificate", (namespace) => publish(core, namespace, pem));
  const stop = core.store.listen("*", ({ collection, object, type }) => {
    if (collection === NAMESPACES && type === "ADDED") work.add(object.metadata.name);
    if (collection === CONFIG_MAPS && object.metadata.name === NAME) work.add(object.metadata.namespace ?? "");
  });
  for (const [name] of core.store.collection(NAMESPACES).range("", "")) work.add(name);
  return {
    close: () => {
      stop();
      return work.close();
    },
  };
}

async function publish(core: Core, namespace: string, pem: string): Promise<void> {
  const home = core.store.get(NAMESPACES, namespace);
  if (home === undefined || home.metadata.deletionTimestamp !== undefined) return;
  const found = core.store.get(CONFIG_MAPS, `${namespace}/${NAME}`);
  const data = { "ca.crt": pem };
  const call = ownCall(core, core.registry.find("", "v1", "configmaps")!, namespace, found === undefined ? "" : NAME);
  if (found === undefined) await create({ ...call, body: { metadata: { name: NAME, annotations: ABOUT }, data } });
  else if (!sameJson(found.data, data)) await rewrite(call, (live) => ({ ...copyJson(live), data }));
}
