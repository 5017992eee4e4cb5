/** konnectivity-server as a process beside a tenant's API server: agents of each tenant find their own. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient, type Resource, type Transport } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { findAssets, TENANT_BINARIES } from "../../src/kubernetes/assets.ts";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";
import { credentialsOf } from "../../src/pki/tenant/credentials.ts";
import { AGENT, AGENT_NAMESPACE } from "../../src/tenants/konnectivity/server.ts";
import { NAMESPACE, stateOf, type TenantsWorld, tenantsWorld } from "../system/tenants-world.ts";
import { agentHere, agentToken, fakeKubelet, logOf, podOf, podOnNode } from "./far-node.ts";
import { freePort } from "./free-port.ts";
import { until } from "./live.ts";

const programs = ["etcd", ...TENANT_BINARIES, "proxy-server", "proxy-agent"];
const assets = await findAssets(process.env, programs).catch((error: Error) => error);
const skip =
  assets instanceof Error ? `${assets.message}; run \`make kube-assets NAMES="proxy-server proxy-agent"\`` : false;

const DAEMON_SETS: Resource = {
  group: "apps",
  version: "v1",
  kind: "DaemonSet",
  plural: "daemonsets",
  namespaced: true,
};
const WITH_TUNNEL = { addons: { konnectivity: { server: { port: 39_132 }, agent: {} } } };

test("B25 a tenant's API server reaches a node by agents alone, two tenants each by their own, before and after a restart", {
  skip,
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-agents-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const world = await tenantsWorld(t, String(assets));
  await world.apply("a", WITH_TUNNEL);
  await world.apply("b", WITH_TUNNEL);
  const [a, b] = await Promise.all(["a", "b"].map((name) => world.until(name, (one) => stateOf(one) === "Ready")));
  const [portA, portB] = [a, b].map((tenant) => tenant!.status!.addons!.konnectivity!.service!.port!);
  assert.deepEqual([portA, portB].sort(), [39_132, 39_133]);

  const way = await wayInto(t, world, "a");
  const inside = createClient(way.transport, { clock, random, log });
  await podOnNode(inside, await fakeKubelet(t, way));
  assert.doesNotMatch(await logOf(way.transport), /^200/, "without an agent there is no way");

  const found = await agentOf(world, "a");
  assert.ok(found.args.includes(`--proxy-server-port=${portA}`));
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const here = {
    caFile: file("ca.pem", way.ca),
    tokenFile: file("token", await agentToken(way.transport, found.token)),
    ...{ adminPort: await freePort(), healthPort: await freePort() },
  };
  const agent = new KeptProcess({
    ...{ command: join(String(assets), "proxy-agent"), args: agentHere(found.args, here) },
    ...{ logFile: join(dir, "agent.log"), orphaned: "KILL" },
  });
  t.after(() => agent.stop("KILL"));
  const arrives = async (): Promise<boolean> => (await logOf(way.transport)) === "200 from the node";
  const story = async (): Promise<string> => `${await agent.lastWords(5)}\n${await logOf(way.transport)}`;
  await until("the log comes from the node", arrives, 60_000, story);

  await world.restart();
  await world.until("a", (one) => stateOf(one) === "Ready");
  // Its rights are there a moment after its answers.
  const isSame = async (): Promise<boolean> =>
    (await agentOf(world, "a").catch(() => undefined))?.args.join() === found.args.join();
  await until("agents are told the same as before", isSame, 60_000, story);
  await until("the log comes after a restart", arrives, 60_000, story);

  await world.apply("a", { addons: { kubeProxy: {} } });
  await world.until("a", (one) => stateOf(one) === "Ready" && one.status?.addons?.konnectivity === undefined);
  await until("the node is reached directly", arrives, 60_000, story);
});

/** The administrator's way into a tenant, and a pair that a kubelet may serve with. */
async function wayInto(t: TestContext, world: TenantsWorld, name: string) {
  const secret = await world.client.get(Secret, { namespace: NAMESPACE, name: `${name}-admin-kubeconfig` });
  const found = credentialsOf(Buffer.from(secret.data!["admin.conf"]!, "base64").toString())!;
  const { server, caPem: ca, certificatePem: cert, keyPem: key } = found;
  const transport: Transport = createHttpTransport({ server, ca, cert, key });
  t.after(() => transport.close());
  return { transport, ca, cert, key };
}

/** The flags and the token of the agents that the tenant holds. */
async function agentOf(world: TenantsWorld, name: string) {
  return await world.inTenant(name, async (inside) =>
    podOf(await inside.get(DAEMON_SETS as never, { namespace: AGENT_NAMESPACE, name: AGENT })),
  );
}
