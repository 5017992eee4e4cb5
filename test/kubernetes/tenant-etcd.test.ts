/** The etcd that tenants share on one machine: who may come as a client, and who as a peer. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock as clock, deadline, quietLog as log } from "@slipway/base";
import { EtcdClient } from "../../src/datastores/etcd/client.ts";
import { findAssets } from "../../src/kubernetes/assets.ts";
import { etcdFlags } from "../../src/kubernetes/flags.ts";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";
import { startSharedEtcd } from "../../src/tenants/process/shared-etcd.ts";
import { freePort } from "./free-port.ts";

const assets = await findAssets(process.env, ["etcd"]).catch((error: Error) => error);
const skip = assets instanceof Error ? `${assets.message}; run \`make kube-assets\`` : false;

test("peers of the tenants' etcd need a certificate that no tenant has, also where its data are of a time without", {
  skip,
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-etcd-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const port = await freePort();
  const before = new KeptProcess({
    command: join(String(assets), "etcd"),
    args: etcdFlags({ dir: join(dir, "data"), port, peerPort: await freePort() }),
    logFile: join(dir, "before.log"),
  });
  t.after(() => before.stop("KILL"));
  const { signal, done } = deadline(clock, 60_000);
  const client = new EtcdClient({ driver: "etcd", endpoints: [`http://127.0.0.1:${port}`], clock, log });
  // It has its data when it answers; one that is ended before has but half of them.
  const answers = () =>
    client.authEnabled(signal).then(
      () => true,
      () => signal.aborted,
    );
  while (!(await answers())) await clock.sleep(50);
  assert.ok(!signal.aborted, await before.lastWords());
  client.close();
  done();
  await before.stop();

  const peerPort = await freePort();
  const etcd = await startSharedEtcd({ clock, log, dir, assets: String(assets), port, peerPort });
  t.after(() => etcd.close());
  const asked = (more: object): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get({
        host: "127.0.0.1",
        port: peerPort,
        path: "/members",
        ca: readFileSync(join(dir, "pki/peer-ca.pem")),
        ...more,
      })
        .on("response", (answer) => resolve(answer.resume().statusCode))
        .on("error", reject);
    });
  const tls = (name: string): object => ({
    cert: readFileSync(join(dir, `pki/${name}.pem`)),
    key: readFileSync(join(dir, `pki/${name}-key.pem`)),
  });
  const plain = await fetch(`http://127.0.0.1:${peerPort}/members`).catch(() => undefined);
  assert.notEqual(plain?.ok, true);
  await assert.rejects(asked({}), /ALERT|ECONNRESET|socket hang up|certificate required/i);
  await assert.rejects(asked(tls("root")), /ALERT|ECONNRESET|socket hang up|certificate/i);
});
