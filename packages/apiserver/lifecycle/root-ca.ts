import { sameJson } from "@slipway/base";
import type { Core } from "../core/call.ts";
import { copyJson } from "../json/value.ts";
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

/** Where the authenticators of Kubernetes' own components look for what client certificates are judged by. */
const FOR_COMPONENTS = "extension-apiserver-authentication";

/**
 * Keeps the certificate (PEM) that clients in Pods trust in a ConfigMap of each namespace, and the one that client certificates
 * come from where Kubernetes' own components look for it.
 */
export function rootCaPublisher(core: Core, pem: string): { close(): Promise<void> } {
  const work = new Work<string>(core, "root certificate", (namespace) => publish(core, namespace, pem));
  const stop = core.store.listen("*", ({ collection, object, type }) => {
    if (collection === NAMESPACES && type === "ADDED") work.add(object.metadata.name);
    const { name, namespace = "" } = object.metadata;
    if (collection === CONFIG_MAPS && (name === NAME || name === FOR_COMPONENTS)) work.add(namespace);
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
  await keep(core, namespace, {
    name: NAME,
    annotations: ABOUT,
    data: { "ca.crt": pem },
    by: "kube-controller-manager",
  });
  if (namespace === "kube-system")
    await keep(core, namespace, { name: FOR_COMPONENTS, data: { "client-ca-file": pem }, by: "kube-apiserver" });
}

interface Kept {
  name: string;
  annotations?: Readonly<Record<string, string>>;
  data: Readonly<Record<string, string>>;
  by: string;
}

async function keep(core: Core, namespace: string, { name, annotations, data, by }: Kept): Promise<void> {
  const found = core.store.get(CONFIG_MAPS, `${namespace}/${name}`);
  const call = ownCall(core, core.registry.find("", "v1", "configmaps")!, {
    namespace,
    name: found === undefined ? "" : name,
    manager: by,
  });
  const metadata = { name, ...(annotations !== undefined && { annotations }) };
  if (found === undefined) await create({ ...call, body: { metadata, data } });
  else if (!sameJson(found.data, data)) await rewrite(call, (live) => ({ ...copyJson(live), data }));
}
