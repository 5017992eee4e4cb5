/** What runtime `deployment` renders, judged by kube-apiserver: every field known, every value valid. And applied there: unchanged, it is written once. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createManager, type KubeObject, pathOf, type Resource } from "@slipway/kube";
import { ConfigMap, Deployment, Ingress, Namespace, Secret, Service } from "@slipway/kube/core";
import { installCrds } from "../../src/kinds/install.ts";
import { KAMAJI_KINDS } from "../../src/kinds/kamaji/kinds.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { dataStoreController } from "../../src/systems/kamaji/data-store-controller.ts";
import { Runtimes } from "../../src/systems/kamaji/runtimes.ts";
import { Stores } from "../../src/systems/kamaji/stores.ts";
import { tenantController } from "../../src/systems/kamaji/tenant-controller.ts";
import { Applied, covers } from "../../src/tenants/deployment/applied.ts";
import { deploymentOf } from "../../src/tenants/deployment/deployment.ts";
import { DeploymentRuntime } from "../../src/tenants/deployment/deployment-runtime.ts";
import { ingressOf } from "../../src/tenants/deployment/ingress.ts";
import { storeAuthorityOf } from "../../src/tenants/deployment/kine.ts";
import { egressOf } from "../../src/tenants/deployment/konnectivity.ts";
import { serviceOf } from "../../src/tenants/deployment/service.ts";
import { wantedOf } from "../../src/tenants/deployment/testing.ts";
import type { Manifest } from "../../src/tenants/deployment/wanted.ts";
import { agentObjects } from "../../src/tenants/konnectivity/agent.ts";
import type { PlaneStore } from "../../src/tenants/plane.ts";
import { managementCluster, NO_DATABASE } from "../system/management-cluster.ts";
import { stateOf } from "../system/tenants-world.ts";
import { type Cluster, startCluster, whyNotHere } from "./cluster.ts";
import { shippedRbac } from "./grants.ts";
import { until } from "./live.ts";
import { operatorTransport, prepare } from "./operator-account.ts";
import { CONTROLLERS } from "./stage.ts";

const skip = (await whyNotHere()) ?? false;
let cluster: Cluster;
before(async () => {
  if (!skip) cluster = await startCluster({ controllers: CONTROLLERS });
});
after(() => cluster?.close());

const each = (value: unknown) => ({ apiServer: value, controllerManager: value, scheduler: value });
const metadata = { labels: { mine: "a" }, annotations: { mine: "a" } };
const selector = { matchLabels: { a: "b" } };
/** Every field that there is, with a value that the API takes. */
const everything = {
  controlPlane: {
    deployment: {
      replicas: 3,
      registrySettings: { registry: "mirror.example", tagSuffix: "-fips" },
      extraArgs: each(["--v=4"]),
      resources: each({ requests: { cpu: "1000m", memory: 1_048_576 }, limits: { cpu: 2 } }),
      probes: { liveness: { timeoutSeconds: 3 }, apiServer: { startup: { failureThreshold: 90 } } },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: "50%" } },
      nodeSelector: { a: "b" },
      runtimeClassName: "gvisor",
      tolerations: [{ key: "a", operator: "Exists", effect: "NoSchedule" }],
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: "kubernetes.io/hostname", labelSelector: selector },
          ],
        },
      },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway" },
      ],
      serviceAccountName: "tenants",
      automountServiceAccountToken: false,
      podSecurityContext: { runAsNonRoot: true, runAsUser: 65_532 },
      containerSecurityContexts: each({ allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } }),
      additionalMetadata: metadata,
      podAdditionalMetadata: metadata,
      additionalInitContainers: [{ name: "first", image: "busybox" }],
      additionalContainers: [{ name: "beside", image: "busybox", ports: [{ name: "mine", containerPort: 9000 }] }],
      additionalVolumes: [{ name: "mine", emptyDir: {} }],
      additionalVolumeMounts: each([{ name: "mine", mountPath: "/mine" }]),
    },
    service: {
      serviceType: "LoadBalancer",
      additionalMetadata: metadata,
      additionalPorts: [{ name: "mine", port: 9000, targetPort: "mine", appProtocol: "kubernetes.io/h2c" }],
      allocateLoadBalancerNodePorts: false,
    },
    ingress: { hostname: "a.example:443", ingressClassName: "nginx", additionalMetadata: metadata },
  },
  networkProfile: {
    address: "192.0.2.7",
    loadBalancerClass: "example.com/lb",
    loadBalancerSourceRanges: ["192.0.2.0/24"],
  },
  addons: {
    konnectivity: {
      server: { port: 8132, resources: { requests: { cpu: "100m" } }, securityContext: { runAsUser: 1 } },
      agent: { mode: "Deployment", replicas: 2, hostNetwork: true },
    },
  },
};
const external = { address: "192.0.2.7", allowAddressAsExternalIP: true, port: 31_443 };
const variants: Record<string, object> = {
  "the shortest": {},
  "every field": everything,
  "recreated, inside": {
    controlPlane: { deployment: { strategy: { type: "Recreate" } }, service: { serviceType: "ClusterIP" } },
    addons: { konnectivity: { server: { port: 8132 }, agent: {} } },
  },
  "on nodes' ports": { controlPlane: { service: { serviceType: "NodePort" } }, networkProfile: external },
};

/** The same in a database that is no etcd. */
const ON_KINE: PlaneStore = {
  endpoints: [],
  prefix: "/registry",
  kine: {
    endpoint: "mysql://u:p@tcp(db)/u",
    secret: { name: "a-datastore-config", key: "KINE_ENDPOINT" },
    ca: "CA",
    extraArgs: ["--slow-sql-threshold=2s"],
  },
};

async function objectsOf(over: object, store?: PlaneStore): Promise<[Resource, Manifest][]> {
  const onEtcd = await wantedOf(over);
  const wanted = store === undefined ? onEtcd : { ...onEtcd, plane: { ...onEtcd.plane, store } };
  const authority = storeAuthorityOf(wanted);
  const ingress = ingressOf(wanted);
  const { konnectivity } = wanted.spec.addons ?? {};
  const inTenant =
    konnectivity === undefined ? [] : agentObjects({ version: "v1.34.2", host: "192.0.2.7", konnectivity });
  return [
    [Service, serviceOf(wanted)],
    [Deployment, deploymentOf(wanted)],
    [ConfigMap, egressOf(wanted)],
    ...(authority === undefined ? [] : [[Secret, authority] as [Resource, Manifest]]),
    ...(ingress === undefined ? [] : [[Ingress, ingress] as [Resource, Manifest]]),
    ...inTenant.map((manifest) => [resourceOf(manifest.kind), manifest] as [Resource, Manifest]),
  ];
}

function resourceOf(kind: string): Resource {
  const [group, version, plural, namespaced] = {
    ClusterRoleBinding: ["rbac.authorization.k8s.io", "v1", "clusterrolebindings", false] as const,
    ServiceAccount: ["", "v1", "serviceaccounts", true] as const,
    DaemonSet: ["apps", "v1", "daemonsets", true] as const,
    Deployment: ["apps", "v1", "deployments", true] as const,
  }[kind]!;
  return { group, version, kind, plural, namespaced };
}

for (const [name, over] of Object.entries(variants))
  test(`kube-apiserver knows every field and takes every value: ${name}`, { skip }, async () => {
    for (const [resource, body] of [...(await objectsOf(over)), ...(await objectsOf(over, ON_KINE))]) {
      const { namespace } = body.metadata;
      const path = pathOf(resource, namespace === undefined ? {} : { namespace });
      const query = { dryRun: "All", fieldValidation: "Strict" };
      const answer = await cluster.transport.request({ method: "POST", path, query, body });
      assert.equal(answer.status, 201, `${body.kind}: ${JSON.stringify(answer.body)}`);
    }
  });

test("B26 what is applied is written once, also where the API spells a value otherwise", { skip }, async () => {
  const { client } = cluster;
  const applied = new Applied();
  const live = new Map<string, KubeObject>();
  const cache = { get: (resource: Resource) => live.get(resource.kind), list: () => [], byIndex: () => [] };
  let writes = 0;
  const counting = {
    ...client,
    patch: (...args: Parameters<typeof client.patch>) => {
      writes++;
      return client.patch(...args);
    },
  };
  const keep = async (): Promise<string[]> => {
    const versions: string[] = [];
    for (const [resource, body] of (await objectsOf(everything)).slice(0, 4)) {
      const object = await applied.keep({ client: counting, cache } as never, resource, body);
      live.set(resource.kind, object);
      versions.push(object.metadata.resourceVersion);
    }
    return versions;
  };
  const first = await keep();
  assert.equal(writes, 4);
  assert.deepEqual(await keep(), first);
  assert.equal(writes, 4);
  const [, wanted] = (await objectsOf(everything))[1]!;
  assert.equal(covers(live.get("Deployment"), wanted), false, "1000m is 1 there");
  // Another operator applies what it can't compare, and changes nothing by it.
  const other = new Applied();
  const again = await other.keep({ client: counting, cache } as never, Deployment, wanted as never);
  assert.equal(writes, 5);
  assert.equal(again.metadata.resourceVersion, first[1]);
});

test("a tenant lives, changes and goes with the rights that are shipped, and leaves nothing", { skip }, async (t) => {
  const { client } = cluster;
  await prepare(cluster, [...(await shippedRbac()), ...(await shippedRbac("kamaji-in-operator.yaml"))]);
  await installCrds(client, clock, new AbortController().signal, KAMAJI_KINDS);
  await client.create(Namespace, { metadata: { name: "tenants" } });
  const management = await managementCluster(client);
  const stores = new Stores({ clock, log, open: async () => NO_DATABASE });
  const runtimes = new Runtimes({ wanted: "deployment", start: async () => new DeploymentRuntime() });
  const transport = await operatorTransport(cluster);
  const manager = createManager({ transport, clock, random, log, leaderElection: false });
  manager.add(tenantController(runtimes, stores, { inCluster: true }));
  manager.add(dataStoreController(stores));
  await manager.start();
  t.after(async () => {
    await manager.stop();
    await transport.close();
    await stores.close();
    await management.close();
  });
  const ref = { namespace: "tenants", name: "a" };
  const story = async () => JSON.stringify((await client.find(TenantControlPlane, ref))?.status);
  const isSo = (what: string, holds: (one: TenantControlPlane | undefined) => boolean) =>
    until(what, async () => holds(await client.find(TenantControlPlane, ref)), 60_000, story);
  await client.create(TenantControlPlane, {
    metadata: ref,
    spec: {
      controlPlane: {
        deployment: { replicas: 1 },
        service: { serviceType: "LoadBalancer" },
        ingress: { hostname: "a.example" },
      },
      kubernetes: { version: "v1.36.3", kubelet: {} },
      networkProfile: { port: 37_443 },
      addons: { konnectivity: { server: { port: 8132 }, agent: {} } },
    } as never,
  });
  await isSo("the tenant is ready", (one) => one !== undefined && stateOf(one) === "Ready");
  const made = await client.get(TenantControlPlane, ref);
  assert.deepEqual(made.status!.kubernetesResources!.ingress!.name, "a");
  const body = { spec: { addons: null, controlPlane: { ingress: null, deployment: { replicas: 0 } } } };
  await client.patch(TenantControlPlane, ref, { type: "merge", body });
  await isSo("it sleeps", (one) => one !== undefined && stateOf(one) === "Sleeping");
  assert.equal(await client.find(Ingress, ref), undefined);
  await client.delete(TenantControlPlane, ref);
  await isSo("the tenant is gone", (one) => one === undefined);
  const left = async (): Promise<string[]> => {
    const kinds = [Deployment, Service, Secret, ConfigMap, Ingress] as Resource[];
    const lists = await Promise.all(kinds.map((one) => client.list(one, { namespace: "tenants" })));
    const names = lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.name));
    return names.filter((name) => name !== "kube-root-ca.crt");
  };
  await until(
    "nothing is left",
    async () => (await left()).length === 0,
    60_000,
    async () => (await left()).join(),
  );
});
