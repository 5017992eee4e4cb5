/** What tests of tenant clusters' contents share: facts with nothing special about them. */
import type { JoinFacts, Manifest } from "./join-facts.ts";

export const FACTS: JoinFacts = {
  version: "v1.36.3",
  clusterName: "tenant",
  endpoint: { host: "10.0.0.5", port: 6443 },
  caPem: "CA",
  serviceCidrs: ["10.96.0.0/16"],
  podCidrs: ["10.244.0.0/16"],
  clusterDomain: "cluster.local",
  dnsServiceIPs: [],
  registry: "registry.k8s.io",
  kubelet: { cgroupDriver: "systemd", configurationJSONPatches: [] },
  coreDNS: {},
  kubeProxy: {},
};

/** Every minor that is rendered for, as a version of it. */
export const VERSIONS: readonly string[] = Array.from({ length: 10 }, (_, at) => `v1.${27 + at}.3`);

/** The one object of a kind and name. */
export function objectIn(objects: readonly Manifest[], kind: string, name: string): Manifest {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  if (found.length !== 1) throw new Error(`${found.length} objects are ${kind} ${name}`);
  return found[0]!;
}

/** A text in a ConfigMap. */
export function textIn(objects: readonly Manifest[], name: string, key: string): string {
  const { data } = objectIn(objects, "ConfigMap", name) as { data?: Record<string, string> };
  const text = data?.[key];
  if (text === undefined) throw new Error(`ConfigMap ${name} has no ${key}`);
  return text;
}
