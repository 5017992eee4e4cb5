import { createHash } from "node:crypto";
import { dump } from "js-yaml";
import type { Manifest } from "./join-facts.ts";

/** kubeadm takes a component's configuration with this for its own and may write it anew on an upgrade; one without is the user's. */
const HASH_ANNOTATION = "kubeadm.kubernetes.io/component-config.hash";

/** A configuration as YAML: keys in alphabetical order, as kubeadm writes them. */
export function yamlDocument(value: object): string {
  return dump(value, { sortKeys: true, lineWidth: -1, noRefs: true });
}

/** A ConfigMap. */
export function configMap(name: string, namespace: string, data: Record<string, string>): Manifest {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data };
}

/** The ConfigMap with kubeadm's mark on what it generated: the checksum of its texts, by the order of their keys. */
export function signed(manifest: Manifest & { data?: Record<string, string> }): Manifest {
  const hash = createHash("sha256");
  for (const [, text] of Object.entries(manifest.data ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))) hash.update(text);
  const annotations = { [HASH_ANNOTATION]: `sha256:${hash.digest("hex")}` };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}
