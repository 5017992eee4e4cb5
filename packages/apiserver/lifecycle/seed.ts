import { addIp, formatIp, networkOf, parseCidr } from "@slipway/base";
import type { Core } from "../core/call.ts";
import { create } from "../verbs/create.ts";
import { SERVICE_CIDR } from "./service-ranges.ts";
import { ownCall } from "./work.ts";

const MANAGER = "kube-apiserver";

/** What every cluster has from its first second. */
const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** The API itself, as workloads find it: the first address of the range. */
const kubernetesService = (serviceCidr: string) => ({
  metadata: { name: "kubernetes", labels: { component: "apiserver", provider: "kubernetes" } },
  spec: {
    clusterIP: formatIp(addIp(networkOf(parseCidr(serviceCidr)).address, 1n)),
    ports: [{ name: "https", port: 443, targetPort: 6443 }],
  },
});

/** Pods without which a cluster, or a Node, is none. */
const PRIORITIES = [
  {
    metadata: { name: "system-node-critical" },
    value: 2_000_001_000,
    description: "Used for system critical pods that must not be moved from their current node.",
  },
  {
    metadata: { name: "system-cluster-critical" },
    value: 2_000_000_000,
    description:
      "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  },
];

/** Creates the default namespaces, the system's priorities and the API's own Service, that are not there yet. */
export async function seed(core: Core, [serviceCidr = SERVICE_CIDR]: readonly string[] = []): Promise<void> {
  const namespaces = core.registry.find("", "v1", "namespaces")!;
  for (const name of NAMESPACES) {
    if (core.store.get("/namespaces", name) !== undefined) continue;
    await create({ ...ownCall(core, namespaces, { manager: MANAGER }), body: { metadata: { name } } });
  }
  const services = core.registry.find("", "v1", "services")!;
  if (core.store.get("/services", "default/kubernetes") === undefined)
    await create({
      ...ownCall(core, services, { namespace: "default", manager: MANAGER }),
      body: kubernetesService(serviceCidr),
    });
  const classes = core.registry.find("scheduling.k8s.io", "v1", "priorityclasses");
  for (const body of PRIORITIES)
    if (classes !== undefined && core.store.get("scheduling.k8s.io/priorityclasses", body.metadata.name) === undefined)
      await create({ ...ownCall(core, classes, { manager: MANAGER }), body: structuredClone(body) });
  await core.store.durable();
}
