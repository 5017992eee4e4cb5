/** Tokens in a workload cluster, and upstream's provider beside us: on the embedded API, in virtual time. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { Fault, isFault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Client, createClient, type KubeObject } from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { ForeignProvider } from "../foreign-provider.ts";
import { UPSTREAM_SIGN } from "./names.ts";
import { aConfig } from "./testing.ts";
import { makeToken, removeTokens, renewToken, tokensOf } from "./tokens.ts";

const MINUTE = 60_000;

async function cluster(t: TestContext) {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const api = await createApiServer({ clock, random, log: quietLog });
  t.after(() => api.close());
  const client = createClient(api.transport(), { clock, random, log: quietLog });
  const isThere = await client.find(Namespace, { name: "kube-system" });
  if (isThere === undefined) await client.create(Namespace, { metadata: { name: "kube-system" } });
  const secrets: string[] = [];
  return { clock, client, secrets, ports: { clock, random, onSecret: (value: string) => void secrets.push(value) } };
}
const config = aConfig();
const other = { ...config, metadata: { ...config.metadata, uid: "uid-2" } };

test("a token is found again by its configuration alone, renewed for 15 minutes and removed", async (t) => {
  const { clock, client, secrets, ports } = await cluster(t);
  const token = await makeToken(client, config, ports);
  await makeToken(client, other, ports);
  assert.equal(secrets[0], token.split(".")[1]);
  const [held, ...more] = await tokensOf(client, config);
  assert.deepEqual([held?.token, more.length], [token, 0]);
  const whole = (ms: number) => Math.floor(ms / 1_000) * 1_000;
  assert.equal(held?.ends, whole(clock.now() + 15 * MINUTE));
  await clock.run(5 * MINUTE);
  await renewToken(client, held!, ports);
  const [renewed] = await tokensOf(client, config);
  assert.deepEqual([renewed?.token, renewed?.ends], [token, whole(clock.now() + 15 * MINUTE)]);
  await assert.rejects(renewToken(client, held!, ports), (error) => isFault(error, "Conflict"));
  await removeTokens(client, await tokensOf(client, config));
  assert.deepEqual([(await tokensOf(client, config)).length, (await tokensOf(client, other)).length], [0, 1]);
});

test("the token's Secret says whose it is, and that it is for joining", async (t) => {
  const { client, ports } = await cluster(t);
  await makeToken(client, config, ports);
  const [held] = await tokensOf(client, config);
  const { type, metadata, data } = await client.get(Secret, {
    namespace: "kube-system",
    name: held!.secret.metadata.name,
  });
  const text = (key: string) => Buffer.from(data![key]!, "base64").toString();
  assert.equal(type, "bootstrap.kubernetes.io/token");
  assert.equal(metadata.labels?.["slipway.dev/kubeadm-config-uid"], "uid-1");
  assert.equal(text("description"), "KubeadmConfig shop/worker-1");
});

/** A client that answers lists with these objects, and counts them. */
function lists(answers: { providers: KubeObject[] | Fault; deployments?: KubeObject[] }) {
  const asked: string[] = [];
  const client = {
    list: async ({ plural }: { plural: string }, { labelSelector }: { labelSelector?: string } = {}) => {
      asked.push(labelSelector === undefined ? plural : `${plural} ${labelSelector}`);
      if (plural !== "providers") return { items: answers.deployments ?? [] };
      if (answers.providers instanceof Fault) throw answers.providers;
      return { items: answers.providers };
    },
  } as unknown as Client;
  return { asked, client };
}
const object = (more: object): KubeObject =>
  ({ metadata: { namespace: "capi", name: "x" }, ...more }) as unknown as KubeObject;

test("upstream's bootstrap provider is seen by clusterctl's inventory or by its Deployment; others are none", async () => {
  const seen = async (answers: Parameters<typeof lists>[0]) =>
    await new ForeignProvider({
      client: lists(answers).client,
      clock: new VirtualClock(),
      sign: UPSTREAM_SIGN,
    }).found();
  const providers = [
    object({ type: "BootstrapProvider", providerName: "talos" }),
    object({ type: "ControlPlaneProvider", providerName: "kubeadm" }),
  ];
  assert.equal(await seen({ providers }), undefined);
  assert.equal(
    await seen({ providers: [...providers, object({ type: "BootstrapProvider", providerName: "kubeadm" })] }),
    "Provider capi/x of clusterctl",
  );
  const deployments = [object({})];
  assert.equal(await seen({ providers, deployments }), "Deployment capi/x");
  assert.equal(
    await seen({ providers: new Fault("NotFound", "providers", "no such kind"), deployments }),
    "Deployment capi/x",
  );
});

test("it is looked for at most once a minute, and again at once after a look that failed", async () => {
  const clock = new VirtualClock();
  const answers = { providers: [] as KubeObject[] | Fault };
  const { asked, client } = lists(answers);
  const foreign = new ForeignProvider({ client, clock, sign: UPSTREAM_SIGN });
  await Promise.all([foreign.found(), foreign.found()]);
  assert.deepEqual(asked, [
    "providers",
    "deployments cluster.x-k8s.io/provider=bootstrap-kubeadm,app.kubernetes.io/name!=slipway",
  ]);
  await clock.run(MINUTE - 1);
  await foreign.found();
  assert.equal(asked.length, 2);
  await clock.run(1);
  await foreign.found();
  assert.equal(asked.length, 4);
  await clock.run(MINUTE);
  answers.providers = new Fault("Unavailable", "api", "no answer");
  await assert.rejects(foreign.found(), (error) => isFault(error, "Unavailable"));
  answers.providers = [];
  assert.equal(await foreign.found(), undefined);
  assert.equal(asked.length, 7);
});
