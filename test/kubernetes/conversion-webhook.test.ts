/**
 * The operator converts a kind of two versions for a real kube-apiserver, under the rights that are generated for it: objects in both
 * versions, failures, certificates that are renewed, replicas and restarts.
 */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { networkInterfaces } from "node:os";
import { after, before, test } from "node:test";
import { connect } from "node:tls";
import { type Clock, Fault, quietLog, cryptoRandom as random, Secrets, systemClock } from "@slipway/base";
import { type Client, createClient, type KubeObject, type Patch, type Transport } from "@slipway/kube";
import { CustomResourceDefinition, Secret } from "@slipway/kube/core";
import type { CustomResourceDefinition as Definition, WebhookClientConfig } from "../../src/kinds/crd.ts";
import { installCrds } from "../../src/kinds/install.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import { type Boat, boat, renaming } from "../../src/kinds/testing.ts";
import { KUBERNETES } from "../../src/laptop/kubernetes.ts";
import { startLaptop } from "../../src/laptop/laptop.ts";
import { CERTIFICATE_SECRET, keptCertificate } from "../../src/operator/conversion-certificate.ts";
import { type ConversionServer, serveConversion, WEBHOOK_SERVICE } from "../../src/operator/conversion-server.ts";
import { installedObjects } from "../../src/operator/install/files.ts";
import { DEFAULT_VALUES } from "../../src/operator/install/values.ts";
import { KINDS } from "../../src/operator/kinds.ts";
import { rbacObjects } from "../../src/operator/rbac.ts";
import { type Address, openAddress } from "./address.ts";
import { type Cluster, startCluster, whyNotHere } from "./cluster.ts";
import { handClock } from "./hand-clock.ts";
import { until } from "./live.ts";
import { operatorTransport, prepare } from "./operator-account.ts";

const skip = (await whyNotHere()) ?? false;
const NAMESPACE = "harvester-system";
const SECRET = { name: CERTIFICATE_SECRET, namespace: NAMESPACE };
const WITHIN_MS = 60_000;
const DAY_MS = 86_400_000;

/** Stored in the first; the second calls the same field otherwise. */
const V1 = boat("v1", "name");
const V1BETA1 = boat("v1beta1", "title", {
  conversion: renaming(
    "title",
    ({ metadata }) => new Fault("Invalid", `Boat/${metadata.name}`, "what has sunk has no title"),
  ),
});
const kinds: readonly (readonly Kind[])[] = [...KINDS, [V1, V1BETA1]];
const DEFINITION = { name: "boats.sea.example.org" };

let cluster: Cluster;
/** The administrator's. */
let client: Client;
let account: Transport;
let operator: Client;
/** The one that the definitions name. */
let address: Address;
let serving: ConversionServer | undefined;

before(async () => {
  if (skip) return;
  // There are no Pods' addresses here: the API server goes to a Service's endpoints itself.
  cluster = await startCluster({ apiServerFlags: ["--enable-aggregator-routing=true"] });
  client = cluster.client;
  await prepare(cluster, rbacObjects(NAMESPACE, kinds));
  account = await operatorTransport(cluster);
  operator = createClient(account, { clock: systemClock, random, log: quietLog });
  address = await openAddress();
});
after(async () => {
  await serving?.close();
  await address?.close();
  await account?.close();
  await cluster?.close();
});

async function listen(clock: Clock = systemClock, log = quietLog): Promise<ConversionServer> {
  const settings = { kinds, namespace: NAMESPACE, host: "127.0.0.1", port: 0, url: () => address.url };
  return (await serveConversion({ client: operator, clock, log }, settings))!;
}

/** As the operator starts, in place of the one there was. */
async function start(clock: Clock = systemClock): Promise<void> {
  await serving?.close();
  serving = await listen(clock);
  address.leadsTo = serving.port;
  await serving.prepare();
  await installCrds(operator, systemClock, new AbortController().signal, kinds);
  await serving.start();
}

/** The certificate that a new connection is shown. */
async function shown(port: number): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

async function conversionInDefinition(): Promise<NonNullable<Definition["spec"]["conversion"]>> {
  return ((await client.get(CustomResourceDefinition, DEFINITION)) as unknown as Definition).spec.conversion!;
}

const authorities = ({ caBundle = "" }: WebhookClientConfig): string[] =>
  Buffer.from(caBundle, "base64")
    .toString()
    .split(/(?=-----BEGIN)/);

/** Over connections of now; the client itself repeats what fails with 5xx. */
async function convertsFreshly(what: string): Promise<void> {
  address.cut();
  const read = async () => {
    const answer = await get("v1beta1", "argo");
    return answer.status === 200 && (answer.body as Boat).spec.title === "Argo";
  };
  const story = async () => JSON.stringify((await get("v1beta1", "argo")).body);
  await until(`objects are converted ${what}`, read, WITHIN_MS, story);
}

const get = (version: string, name: string) =>
  cluster.transport.request({
    method: "GET",
    path: `/apis/sea.example.org/${version}/namespaces/default/boats/${name}`,
  });

test("objects of one version are read, listed and watched in the other, and written in both", { skip }, async () => {
  await start();
  const namespace = "default";
  await until(
    "boats are served in both versions",
    async () => (await get("v1", "none")).status === 404 && (await get("v1beta1", "none")).status === 404,
    WITHIN_MS,
  );
  await client.create(V1, { metadata: { name: "argo", namespace }, spec: { name: "Argo" } });
  await client.create(V1BETA1, { metadata: { name: "rowboat", namespace }, spec: { title: "Row" } });

  assert.deepEqual((await client.get(V1BETA1, { name: "argo", namespace })).spec, { title: "Argo" });
  assert.deepEqual((await client.get(V1, { name: "rowboat", namespace })).spec, { name: "Row" });
  const { items, resourceVersion } = await client.list(V1BETA1, { namespace });
  assert.deepEqual(
    items.map(({ spec }) => spec),
    [{ title: "Argo" }, { title: "Row" }],
  );

  const ended = AbortSignal.timeout(WITHIN_MS);
  const watch = await client.watch(V1BETA1, { namespace, resourceVersion, signal: ended });
  await client.create(V1, { metadata: { name: "dinghy", namespace }, spec: { name: "Dinghy" } });
  for await (const { type, object } of watch) {
    if (type === "BOOKMARK") continue;
    assert.deepEqual(
      [type, (object as Boat).apiVersion, (object as Boat).spec],
      ["ADDED", "sea.example.org/v1beta1", { title: "Dinghy" }],
    );
    break;
  }
  assert.ok(!ended.aborted, "the watch told of the new boat");

  const patch: Patch = { type: "merge", body: { spec: { title: "Skiff" } } };
  await client.patch(V1BETA1, { name: "dinghy", namespace }, patch);
  assert.deepEqual((await client.get(V1, { name: "dinghy", namespace })).spec, { name: "Skiff" });
});

test("kinds of one version, and versions that differ in name only, get no webhook", { skip }, async () => {
  const settings = { kinds: KINDS, namespace: NAMESPACE, host: "127.0.0.1", port: 0 };
  assert.equal(await serveConversion({ client: operator, clock: systemClock, log: quietLog }, settings), undefined);
  for (const { metadata, spec } of (await client.list(CustomResourceDefinition)).items as unknown as Definition[])
    assert.equal(spec.conversion?.strategy, metadata.name === DEFINITION.name ? "Webhook" : "None", metadata.name);
});

test("what can't be converted is refused in the conversion's words", { skip }, async () => {
  const at = { name: "wreck", namespace: "default" };
  await client.create(V1, { metadata: at, spec: { name: "sunk" } });
  const { status, body } = await get("v1beta1", at.name);
  assert.equal(status, 500);
  const { message } = body as { message: string };
  assert.match(message, /conversion webhook for sea.example.org\/v1, Kind=Boat failed/);
  assert.match(message, /Boat\/wreck: what has sunk has no title/);
  await client.delete(V1, at);
});

test("replicas that start at the same time, and one that starts again, show the same certificate", {
  skip,
}, async () => {
  await serving?.close();
  await client.delete(Secret, SECRET);
  const replicas = await Promise.all([listen(), listen(), listen()]);
  const certificates = await Promise.all(replicas.map(({ port }) => shown(port)));
  for (const replica of replicas) await replica.close();
  assert.equal(new Set(certificates).size, 1);

  await start();
  assert.equal(await shown(serving!.port), certificates[0]);
  await convertsFreshly("after a restart");
  await start();
  assert.equal(await shown(serving!.port), certificates[0]);
  await convertsFreshly("after another restart");
});

test("a certificate that ends soon is followed by one whose authority was published a day before", {
  skip,
}, async () => {
  await serving?.close();
  await client.delete(Secret, SECRET);
  const longAgo = { now: () => systemClock.now() - 300 * DAY_MS };
  const made = await keptCertificate(client, longAgo, { namespace: NAMESPACE, hosts: ["127.0.0.1"] });
  const old = new X509Certificate(made.certificatePem);

  const { clock, look } = handClock();
  await start(clock);
  await look(DAY_MS / 2);
  assert.equal(await shown(serving!.port), old.fingerprint256);
  const told = (await conversionInDefinition()).webhook.clientConfig;
  assert.equal(authorities(told).length, 2);
  await convertsFreshly("with the old certificate");

  await look(DAY_MS);
  assert.notEqual(await shown(serving!.port), old.fingerprint256);
  assert.deepEqual((await conversionInDefinition()).webhook.clientConfig, told);
  await convertsFreshly("with the new certificate");
});

test("a lost Secret and a definition that somebody wrote over are mended while it runs, and nothing is written without need", {
  skip,
}, async () => {
  const { clock, look } = handClock();
  await start(clock);
  const written = async () => {
    const objects = [await client.get(Secret, SECRET), await client.get(CustomResourceDefinition, DEFINITION)];
    return objects.map(({ metadata }) => metadata.resourceVersion);
  };
  const held = await written();
  await look();
  assert.deepEqual(await written(), held);
  const first = await shown(serving!.port);

  await client.delete(Secret, SECRET);
  await look();
  assert.notEqual(await shown(serving!.port), first);
  await convertsFreshly("with the certificate of the new Secret");

  const ours = await conversionInDefinition();
  const none: Patch = { type: "merge", body: { spec: { conversion: { strategy: "None", webhook: null } } } };
  await client.patch(CustomResourceDefinition, DEFINITION, none);
  await look();
  assert.deepEqual(await conversionInDefinition(), ours);
  await convertsFreshly("by the mended definition");
});

const outside = Object.values(networkInterfaces())
  .flat()
  .find((at) => at?.family === "IPv4" && !at.internal)?.address;

test("through the Service that is installed for it", {
  skip: skip || (outside === undefined && "no address that an endpoint may have"),
}, async () => {
  await serving?.close();
  const settings = { kinds, namespace: NAMESPACE, host: outside!, port: 0 };
  serving = (await serveConversion({ client: operator, clock: systemClock, log: quietLog }, settings))!;
  const post = async (path: string, body: object) => {
    const answer = await cluster.transport.request({ method: "POST", path, body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
  };
  const objects = installedObjects(DEFAULT_VALUES, NAMESPACE, kinds) as KubeObject[];
  const service = objects.find(({ kind, metadata }) => kind === "Service" && metadata.name === WEBHOOK_SERVICE)!;
  await post(`/api/v1/namespaces/${NAMESPACE}/services`, service);
  await post(`/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`, {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: WEBHOOK_SERVICE, labels: { "kubernetes.io/service-name": WEBHOOK_SERVICE } },
    addressType: "IPv4",
    endpoints: [{ addresses: [outside], conditions: { ready: true } }],
    ports: [{ name: "webhook", port: serving.port, protocol: "TCP" }],
  });
  await serving.start();
  assert.equal((await conversionInDefinition()).webhook.clientConfig.service?.name, WEBHOOK_SERVICE);
  await convertsFreshly("through the Service");
});

test("an operator that may not install definitions names the one that is missing, and serves without it", {
  skip,
}, async () => {
  await serving?.close();
  await client.delete(CustomResourceDefinition, DEFINITION);
  await until(
    "the definition is gone",
    async () => (await client.find(CustomResourceDefinition, DEFINITION)) === undefined,
    WITHIN_MS,
  );
  const warned: object[] = [];
  serving = await listen(systemClock, { ...quietLog, warn: (fields) => void warned.push(fields) });
  await serving.start();
  assert.deepEqual(warned, [{ missing: [DEFINITION.name] }]);
});

for (const kubernetes of KUBERNETES)
  test(`a laptop with ${kubernetes} Kubernetes converts`, { skip }, async (t) => {
    const network = { host: "127.0.0.1", port: 0 };
    const secrets = new Secrets();
    const laptop = await startLaptop({
      ...network,
      kubernetes,
      kinds,
      dir: undefined,
      speed: 1000,
      counterparts: [],
      log: quietLog,
      secrets,
    });
    t.after(() => laptop.close());
    const at = { name: "argo", namespace: "default" };
    await laptop.client.create(V1, { metadata: at, spec: { name: "Argo" } });
    assert.deepEqual((await laptop.client.get(V1BETA1, at)).spec, { title: "Argo" });
  });
