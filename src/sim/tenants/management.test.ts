/** What a simulated management cluster makes of Services and Deployments, with real sockets of loopback. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ADMIN, createApiServer } from "@slipway/apiserver";
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient, type KubeObject, type Resource } from "@slipway/kube";
import { ConfigMap, Deployment, Namespace, Secret, Service } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { createAuthority, issueClient, issueServer } from "../../pki/authority.ts";
import { SimulatedManagement } from "./management.ts";
import { type Container, type PodSpec, readPodEnv, readPodFile } from "./pod-files.ts";

const namespace = "t";
const at = (name: string) => ({ namespace, name });
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const NOW = "2026-01-01T00:00:00Z";

async function rig(t: TestContext) {
  const clock = new VirtualClock(Date.parse(NOW));
  const ports = { clock, random: seededRandom(1), log: quietLog };
  const api = await createApiServer(ports);
  t.after(() => api.close());
  const client = createClient(api.transport(ADMIN), ports);
  const turn = async (): Promise<void> => {
    await clock.run(50);
    for (let turns = 0; turns < 5; turns++) await setImmediate();
  };
  const until = async <T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> => {
    for (let tries = 0; tries < 1_000; tries++) {
      const found = await look();
      if (found !== undefined) return found;
      await turn();
    }
    assert.fail(`not in time: ${look}`);
  };
  const done = async <T>(work: Promise<T>): Promise<T> => {
    let isDone = false;
    const watched = work.finally(() => {
      isDone = true;
    });
    watched.catch(() => {});
    await until(() => isDone || undefined);
    return watched;
  };
  await done(client.create(Namespace, { metadata: { name: namespace } }));
  const secret = (name: string, data: Record<string, string>) =>
    done(
      client.create(Secret, {
        metadata: at(name),
        data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])),
      }),
    );
  /** What an object is once it is so. */
  const become = <T extends KubeObject>(resource: Resource<T>, name: string, what: (object: T) => boolean) =>
    until(async () => {
      const found = await client.find(resource, at(name));
      return found !== undefined && what(found) ? found : undefined;
    });
  return { clock, client, ports, done, secret, until, become, turn };
}

test("a container's file is what is mounted deepest there: a key of a Secret or ConfigMap, or what is projected", async (t) => {
  const { client, done, secret } = await rig(t);
  await secret("s", { key: "of s", other: "other of s" });
  await secret("p", { deep: "of p" });
  await done(client.create(ConfigMap, { metadata: at("c"), data: { key: "of c" } }));
  const pod: PodSpec = {
    containers: [],
    volumes: [
      { name: "secret", secret: { secretName: "s" } },
      { name: "config", configMap: { name: "c" } },
      {
        name: "projected",
        projected: {
          sources: [
            {},
            { secret: { name: "p" } },
            {
              secret: {
                name: "p",
                items: [
                  { key: "deep", path: "d/e" },
                  { key: "none", path: "none" },
                ],
              },
            },
          ],
        },
      },
      { name: "empty" },
      { name: "lost", secret: { secretName: "none" } },
    ],
  };
  const container: Container = {
    ...{ name: "x", image: "i" },
    volumeMounts: [
      { name: "secret", mountPath: "/etc" },
      { name: "config", mountPath: "/etc/config" },
      { name: "projected", mountPath: "/etc/projected" },
      { name: "secret", mountPath: "/etc/one", subPath: "other" },
      { name: "empty", mountPath: "/empty" },
      { name: "lost", mountPath: "/lost" },
      { name: "nowhere", mountPath: "/nowhere" },
    ],
  };
  const read = (path: string, of: Container = container, from: PodSpec = pod) =>
    done(readPodFile(client, namespace, from, { container: of, path }));
  for (const [path, text] of [
    ["/etc/key", "of s"],
    ["/etc/none", undefined],
    ["/etc/config/key", "of c"],
    ["/etc/config/none", undefined],
    ["/etc/configuration", undefined],
    ["/etc/projected/d/e", "of p"],
    ["/etc/projected/deep", undefined],
    ["/etc/projected/none", undefined],
    ["/etc/one", "other of s"],
    ["/empty/key", undefined],
    ["/lost/key", undefined],
    ["/nowhere/key", undefined],
    ["/other", undefined],
  ] as const)
    assert.equal(await read(path), text, path);
  assert.equal(await read("/etc/key", { name: "x", image: "i" }), undefined);
  assert.equal(await read("/etc/key", container, { containers: [] }), undefined);

  const env = (variable: string, of: Container["env"]) =>
    done(readPodEnv(client, namespace, { name: "x", image: "i", ...(of && { env: of }) }, variable));
  const from = (name: string, key: string) => [
    { name: "A" },
    { name: "V", valueFrom: { secretKeyRef: { name, key } } },
  ];
  assert.equal(await env("V", from("s", "key")), "of s");
  assert.equal(await env("V", from("s", "none")), undefined);
  assert.equal(await env("V", from("none", "key")), undefined);
  assert.equal(await env("A", from("s", "key")), undefined);
  assert.equal(await env("V", undefined), undefined);
});

/** A port of this address that nobody has now. */
async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A tenant's files, and the Pods that have them. */
async function plane({ secret, clock }: Awaited<ReturnType<typeof rig>>, port: number) {
  const authority = await createAuthority({ commonName: "kubernetes", clock });
  const server = await issueServer(authority, { commonName: "api", hosts: ["127.0.0.2"], clock });
  const admin = await issueClient(authority, { commonName: "admin", organizations: ["system:masters"], clock });
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await secret("pki", {
    ...{ "ca.crt": authority.certificatePem, "tls.crt": server.certificatePem, "tls.key": server.keyPem },
    "sa.key": privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  });
  const file = (name: string): string => `/etc/kubernetes/pki/${name}`;
  const args = [
    `--client-ca-file=${file("ca.crt")}`,
    `--tls-cert-file=${file("tls.crt")}`,
    `--tls-private-key-file=${file("tls.key")}`,
    `--service-account-signing-key-file=${file("sa.key")}`,
    "--service-account-issuer=https://issuer.example",
    "--service-cluster-ip-range=10.97.0.0/16",
    "--etcd-prefix=/a",
    "--etcd-cafile=/elsewhere/none",
    `--secure-port=${port}`,
  ];
  const container = (image = "registry.example/kube-apiserver:v1.35.1", more: string[] = []) => ({
    ...{ name: "kube-apiserver", image, args: [...args, ...more] },
    volumeMounts: [{ name: "pki", mountPath: "/etc/kubernetes/pki" }],
  });
  const deployment = (containers: object[], spec: object = {}) => ({
    metadata: at("a"),
    spec: {
      ...{ replicas: 2, selector: { matchLabels: { app: "a" } } },
      template: {
        metadata: { labels: { app: "a" } },
        spec: { containers, volumes: [{ name: "pki", secret: { secretName: "pki" } }] },
      },
      ...spec,
    },
  });
  const connection = {
    ...{ server: `https://127.0.0.2:${port}`, ca: authority.certificatePem },
    ...{ cert: admin.certificatePem, key: admin.keyPem },
  };
  return { container, deployment, connection };
}
const service = (spec: object = { type: "LoadBalancer" }, name = "a") =>
  ({ metadata: at(name), spec: { ports: [{ port: 6443 }], ...spec } }) as never;
const isSeen = ({ status, metadata }: Deployment) => status?.observedGeneration === metadata.generation;
const troubleOf = ({ status }: Deployment): string | undefined =>
  (status?.conditions?.[0] as { message?: string } | undefined)?.message;

test("Services of load balancers get addresses of loopback, one each, unless another class is to serve them", async (t) => {
  const { client, ports, done, become, turn } = await rig(t);
  const management = new SimulatedManagement({ client, ...ports });
  t.after(() => done(management.close()));
  for (const [name, spec] of [
    ["a", { type: "LoadBalancer" }],
    ["b", { type: "LoadBalancer", loadBalancerClass: "example.com/other" }],
    ["c", { type: "ClusterIP" }],
    ["d", { type: "LoadBalancer" }],
  ] as const)
    await done(client.create(Service, service(spec, name)));
  const has = ({ status }: Service) => status?.loadBalancer?.ingress !== undefined;
  assert.deepEqual((await become(Service, "d", has)).status?.loadBalancer, { ingress: [{ ip: "127.0.0.3" }] });
  assert.deepEqual((await become(Service, "a", has)).status?.loadBalancer, { ingress: [{ ip: "127.0.0.2" }] });
  await turn();
  for (const name of ["b", "c"])
    assert.equal((await client.get(Service, at(name))).status?.loadBalancer?.ingress, undefined, name);
});

test("a tenant's Deployment runs an API by its flags and files, which outlives its Pods; it ends with them", async (t) => {
  const world = await rig(t);
  const { client, ports, done, become } = world;
  const management = new SimulatedManagement({ client, ...ports });
  t.after(() => done(management.close()));
  const port = await freePort("127.0.0.2");
  const { container, deployment, connection } = await plane(world, port);
  await done(client.create(Deployment, deployment([container()]) as never));
  await done(client.create(Service, service()));
  const ready = (replicas: number) => (one: Deployment) =>
    one.status?.readyReplicas === replicas && one.status.observedGeneration === one.metadata.generation;
  const { status, metadata } = await become(Deployment, "a", ready(2));
  assert.deepEqual(status, {
    ...{ observedGeneration: metadata.generation, replicas: 2, updatedReplicas: 2 },
    ...{ readyReplicas: 2, availableReplicas: 2 },
    conditions: [
      {
        ...{ type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" },
        ...{ lastTransitionTime: NOW, lastUpdateTime: NOW },
      },
    ],
  });

  const asks = async <T>(what: (tenant: ReturnType<typeof createClient>) => Promise<T>): Promise<T> => {
    const transport = createHttpTransport(connection);
    try {
      return await done(what(createClient(transport, ports)));
    } finally {
      await transport.close();
    }
  };
  const version = async (): Promise<string> => {
    const transport = createHttpTransport(connection);
    try {
      const { body } = await done(transport.request({ method: "GET", path: "/version" }));
      return (typeof body === "string" ? JSON.parse(body) : body).gitVersion;
    } finally {
      await transport.close();
    }
  };
  assert.equal(await version(), "v1.35.1+slipway");
  await asks((tenant) => tenant.create(ConfigMap, { metadata: { namespace: "default", name: "mine" } }));
  const made = await asks((tenant) =>
    tenant.create(Service, { metadata: { namespace: "default", name: "s" }, spec: { ports: [{ port: 1 }] } } as never),
  );
  assert.match(String((made.spec as { clusterIP?: string }).clusterIP), /^10\.97\./);

  const change = (body: object) => done(client.patch(Deployment, at("a"), { type: "merge", body }));
  await change({
    spec: { template: deployment([container("registry.example/kube-apiserver:v1.35.2")]).spec.template },
  });
  await become(Deployment, "a", ready(2));
  assert.equal(await version(), "v1.35.2+slipway");
  await asks((tenant) => tenant.get(ConfigMap, { namespace: "default", name: "mine" }));

  await change({ spec: { replicas: 0 } });
  const asleep = await become(
    Deployment,
    "a",
    ({ status, metadata: { generation } }) => status?.observedGeneration === generation,
  );
  assert.deepEqual(
    [asleep.status?.replicas, asleep.status?.readyReplicas, asleep.status?.unavailableReplicas],
    [0, 0, 0].map(() => undefined),
  );
  await assert.rejects(version());
  await change({ spec: { replicas: 1 } });
  await become(Deployment, "a", ready(1));
  await asks((tenant) => tenant.get(ConfigMap, { namespace: "default", name: "mine" }));
  await done(client.delete(Deployment, at("a")));
  await world.until(async () => (await version().catch(() => "gone")) === "gone" || undefined);
});

test("a Deployment says what its Pods lack: an address, a file, a database, or a port that is free", async (t) => {
  const world = await rig(t);
  const { client, ports, done, become, secret } = world;
  const management = new SimulatedManagement({ client, ...ports });
  t.after(() => done(management.close()));
  const port = await freePort("127.0.0.2");
  const { container, deployment } = await plane(world, port);
  const api = container();
  await done(
    client.create(Deployment, deployment([container(undefined, ["--kubelet-client-key=/etc/kubernetes/no"])]) as never),
  );
  await done(client.create(Service, service({ type: "ClusterIP" })));
  const says = (message: string) => become(Deployment, "a", (one) => isSeen(one) && troubleOf(one) === message);
  const { status, metadata } = await says("no address of this host");
  const {
    lastTransitionTime: _,
    lastUpdateTime: __,
    ...condition
  } = status!.conditions![0] as never as Record<string, unknown>;
  assert.deepEqual(
    { ...status, conditions: [condition] },
    {
      ...{ observedGeneration: metadata.generation, replicas: 2, updatedReplicas: 2, unavailableReplicas: 2 },
      conditions: [
        {
          ...{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" },
          message: "no address of this host",
        },
      ],
    },
  );
  await done(client.patch(Service, at("a"), { type: "merge", body: { spec: { type: "LoadBalancer" } } }));
  await says("kube-apiserver has no file /etc/kubernetes/no (--kubelet-client-key)");
  const runs = (containers: object[]) =>
    done(client.patch(Deployment, at("a"), { type: "merge", body: { spec: deployment(containers).spec } }));
  const other = { name: "other", image: "i", args: ["-kubeconfig=/etc/kubernetes/x.conf"] };
  await runs([api, other]);
  await says("other has no file /etc/kubernetes/x.conf (--kubeconfig)");
  const unknown = "kine does not know its database (KINE_ENDPOINT)";
  const kine = (args?: string[]) => ({
    ...{ name: "kine", image: "i", ...(args && { args }) },
    env: [{ name: "KINE_ENDPOINT", valueFrom: { secretKeyRef: { name: "kine", key: "endpoint" } } }],
  });
  const heard = container(undefined, ["--etcd-servers=unix:///k.sock"]);
  await runs([heard, kine(["--listen-address=unix:///k.sock"])]);
  await says(unknown);
  await secret("kine", { endpoint: "mysql://u:p@db/a" });
  await runs([heard, kine(["--listen-address=unix:///other.sock"])]);
  await says(unknown);
  await runs([heard, kine()]);
  await says(unknown);
  const squatter = createServer().listen(port, "127.0.0.2");
  t.after(() => squatter.close());
  await new Promise((resolve) => squatter.once("listening", resolve));
  await runs([heard, kine(["--listen-address=unix:///k.sock"])]);
  const taken = await become(Deployment, "a", (one) => isSeen(one) && !/^kine/.test(troubleOf(one) ?? ""));
  assert.equal(troubleOf(taken), `api server: can't listen on 127.0.0.2:${port}`);
  assert.equal(taken.status?.unavailableReplicas, 2);
  await new Promise((resolve) => squatter.close(resolve));
  await become(Deployment, "a", (one) => one.status?.readyReplicas === 2);
});
