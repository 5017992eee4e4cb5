/** A SIPCluster beside a hosted control plane of its name: what the control plane is run with follows the SIPCluster. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { systemClock as clock, deadline, isFault } from "@slipway/base";
import type { KubeObject, Resource } from "@slipway/kube";
import { Deployment, Secret } from "@slipway/kube/core";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { SIPCluster } from "../../src/kinds/sip/sip-cluster.ts";
import { METAL3_KINDS } from "../../src/systems/netboot/led-netboot.ts";
import { sipClusterController } from "../../src/systems/sip/cluster-controller.ts";
import { NAMESPACE, type TenantsWorld, tenantsWorld } from "./tenants-world.ts";

interface Binding extends KubeObject {
  roleRef: { name: string };
  subjects?: { kind: string; name: string }[];
}
const ClusterRoleBinding: Resource<Binding> = {
  ...{ group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRoleBinding" },
  ...{ plural: "clusterrolebindings", namespaced: false },
};
const BESIDE = { kinds: [...METAL3_KINDS, [SIPCluster]], controllers: () => [sipClusterController()] };
const ADDRESS = "192.0.2.10";
const NAME = { namespace: NAMESPACE, name: "a" };

const services = (groupBindings: object[], address: string | undefined = ADDRESS) => ({
  loadBalancerControlPlane: [{ image: "haproxy", nodePort: 30_001, nodeInterfaceId: "oam", clusterIP: address }],
  auth: [{ image: "dex", nodePort: 30_556, clusterIP: address, groupBindings }],
});

async function subCluster({ client }: TenantsWorld, services: object): Promise<void> {
  const body = { apiVersion: "airship.airshipit.org/v1", kind: "SIPCluster", metadata: NAME, spec: { services } };
  await client.patch(SIPCluster, NAME, { type: "apply", body, fieldManager: "t", force: true });
}

/** Resolves with what `look` finds once it is so. */
async function seen<T>(what: string, look: () => Promise<T>, holds: (found: T) => boolean): Promise<T> {
  const { signal, done } = deadline(clock, 240_000);
  try {
    for (;;) {
      const found = await look().catch((error: unknown) => {
        if (isFault(error)) return undefined;
        throw error;
      });
      if (found !== undefined && holds(found)) return found;
      if (signal.aborted) throw new Error(`not in time: ${what}: ${JSON.stringify(found)}`);
      await clock.sleep(50);
    }
  } finally {
    done();
  }
}

async function namesIn({ client }: TenantsWorld): Promise<string> {
  const { data } = await client.get(Secret, { namespace: NAMESPACE, name: "a-api-server-certificate" });
  return new X509Certificate(Buffer.from(data!["apiserver.crt"]!, "base64")).subjectAltName ?? "";
}

const bindings = (world: TenantsWorld) =>
  world.inTenant("a", async (inside) =>
    (await inside.list(ClusterRoleBinding, { labelSelector: "slipway.dev/bound-by=sipcluster" })).items.map(
      ({ roleRef, subjects = [] }) => `${roleRef.name}: ${subjects.map(({ name }) => name).join()}`,
    ),
  );

test("SIP-14 a hosted control plane takes over the load balancer's address, the provider and the groups' roles of the SIPCluster of its name, and gives them up again", async (t) => {
  const world = await tenantsWorld(t, "deployment", { beside: BESIDE });
  const { client } = world;
  await world.apply("a");
  await world.until("a", ({ status }) => status?.kubernetesResources?.version?.status === "Ready");
  assert.doesNotMatch(await namesIn(world), /192\.0\.2\.10/);

  await subCluster(
    world,
    services([
      { group: "admins", clusterRole: "cluster-admin" },
      { group: "readers", clusterRole: "view" },
    ]),
  );
  await seen(
    "the certificate names the load balancer",
    () => namesIn(world),
    (names) => names.includes(`IP Address:${ADDRESS}`),
  );
  const flagsOf = async (): Promise<string[]> => {
    const { spec } = await client.get(Deployment, NAME);
    const { containers } = spec!.template!.spec as unknown as { containers: { name: string; args: string[] }[] };
    return containers.find(({ name }) => name === "kube-apiserver")!.args.filter((flag) => flag.startsWith("--oidc"));
  };
  const flags = await seen("the provider's flags", flagsOf, (found) => found.length > 0);
  assert.deepEqual(flags, [
    "--oidc-ca-file=/etc/kubernetes/pki/oidc/ca.crt",
    "--oidc-client-id=kubernetes",
    "--oidc-groups-claim=groups",
    `--oidc-issuer-url=https://${ADDRESS}:30556/dex`,
    "--oidc-username-claim=email",
  ]);
  const bound = await seen(
    "the groups' roles",
    () => bindings(world),
    (found) => found.length === 2,
  );
  assert.deepEqual(bound.toSorted(), ["cluster-admin: admins", "view: readers"]);
  // The simulated kubelet runs a Pod only when it has every file that a flag names.
  await world.until(
    "a",
    ({ status }) =>
      status?.kubernetesResources?.deployment?.readyReplicas === status?.kubernetesResources?.deployment?.replicas,
  );

  const { status } = await client.get(TenantControlPlane, NAME);
  const cfg = await seen(
    "the load balancer leads to it",
    async () =>
      Buffer.from(
        (await client.get(Secret, { namespace: NAMESPACE, name: "loadbalancer-controlplane-a" })).data!["haproxy.cfg"]!,
        "base64",
      ).toString(),
    (text) => text.includes("  server "),
  );
  assert.ok(cfg.includes(`  server a ${status!.controlPlaneEndpoint}\n`), cfg);

  await subCluster(world, services([{ group: "operators", clusterRole: "view" }]));
  await seen(
    "other groups",
    () => bindings(world),
    (found) => found.join() === "view: operators",
  );

  await client.delete(SIPCluster, NAME);
  await seen(
    "no group has a role by it",
    () => bindings(world),
    (found) => found.length === 0,
  );
  await seen("no flags are left", flagsOf, (found) => found.length === 0);
});

test("SIP-14 who gives a control plane flags of users keeps them, and an embedded one says that it knows no provider", async (t) => {
  const world = await tenantsWorld(t, "embedded", { beside: BESIDE });
  await world.apply("a");
  await subCluster(world, services([]));
  const tenant = await world.until("a", (found) => JSON.stringify(found.status ?? {}).includes("OpenID Connect"));
  assert.match(JSON.stringify(tenant.status), /an embedded API knows no such users/);
});
