/** Kubernetes' own controllers on the embedded API, each with an account, a token and the rights of its default role. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { EXTRAS } from "@slipway/apiserver/extras";
import { systemClock as clock, quietLog, cryptoRandom as random } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { findAssets } from "../../src/kubernetes/assets.ts";
import { controllerManagerFlags } from "../../src/kubernetes/flags.ts";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";
import { laptopIdentity } from "../../src/laptop/identity.ts";
import { whyNotHere } from "./cluster.ts";

const skip = (await whyNotHere()) ?? false;
const PATIENCE_MS = 60_000;
const DEFAULT = "/apis/apps/v1/namespaces/default";

test("deployments roll out by controllers that have no more than their default roles", { skip }, async (t) => {
  const assets = await findAssets(process.env);
  const dir = await mkdtemp(join(tmpdir(), "slipway-controllers-"));
  const file = (name: string): string => join(dir, name);
  t.after(() => rm(dir, { recursive: true, force: true }));
  const identity = await laptopIdentity(undefined, "127.0.0.1", clock);
  const authority = identity.serving.clientCa!;
  const api = await createApiServer({ extras: EXTRAS, clock, random, log: quietLog, authority });
  t.after(() => api.close());
  const { url } = await api.listen({ tls: identity.serving });
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await writeFile(file("kubeconfig"), identity.kubeconfig(url), { mode: 0o600 });
  await writeFile(file("ca.crt"), authority);
  await writeFile(file("sa.key"), privateKey.export({ type: "pkcs1", format: "pem" }), { mode: 0o600 });

  const names = ["deployment-controller", "replicaset-controller"];
  const controllers = new KeptProcess({
    command: join(assets, "kube-controller-manager"),
    args: controllerManagerFlags({ file, port: await freePort() }, names),
    logFile: file("controllers.log"),
  });
  t.after(() => controllers.stop());

  const transport = api.transport();
  t.after(() => transport.close());
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
  const deployment = { metadata: { name: "web" }, spec: { replicas: 3, selector: { matchLabels: labels }, template } };
  await transport.request({ method: "POST", path: `${DEFAULT}/deployments`, body: deployment });

  const pods = async () => await namesAt(transport, "/api/v1/namespaces/default/pods");
  const end = clock.now() + PATIENCE_MS;
  while ((await pods()).length < 3) {
    assert.ok(clock.now() < end, `no three Pods within ${PATIENCE_MS / 1000} s\n${await controllers.lastWords()}`);
    assert.ok(controllers.running, await controllers.lastWords());
    await clock.sleep(100);
  }
  const accounts = await namesAt(transport, "/api/v1/namespaces/kube-system/serviceaccounts");
  for (const name of names) assert.ok(accounts.includes(name), `${name} has an account: ${accounts}`);
});

async function namesAt(transport: Transport, path: string): Promise<string[]> {
  const { body } = await transport.request({ method: "GET", path });
  return (body as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}
