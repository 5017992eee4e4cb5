/** kube-apiserver with a tenant's PKI: it serves with it, knows its users by their certificates, signs and reads tokens with its key. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { systemClock } from "@slipway/base";
import { assetsFolder, findAssets } from "../../src/kubernetes/assets.ts";
import { startControlPlane } from "../../src/kubernetes/control-plane.ts";
import type { KeyAlgorithm } from "../../src/pki/keys.ts";
import { apiServerHosts } from "../../src/pki/tenant/hosts.ts";
import { makePki } from "../../src/pki/tenant/make.ts";
import { PARTS } from "../../src/pki/tenant/parts.ts";
import { duePki } from "../../src/pki/tenant/plan.ts";

const skip = await findAssets(process.env, ["etcd", "kube-apiserver", "kubectl"]).then(
  () => false,
  (fault: Error) => `${fault.message}: make kube-assets`,
);
/** Where the server is becomes known when it is started. */
const SERVER = "https://127.0.0.1:1";
const algorithms: readonly KeyAlgorithm[] = ["ECDSA-P256", "RSA-2048"];

for (const algorithm of algorithms)
  test(`kube-apiserver takes a tenant's PKI with ${algorithm}`, { skip }, async (t) => {
    const dir = await mkdtemp(join(tmpdir(), "slipway-tenant-pki-"));
    t.after(() => rm(dir, { recursive: true, force: true }));
    const file = (name: string): string => join(dir, name);
    const texts = await tenantTexts(algorithm);
    for (const [name, text] of Object.entries(texts)) await writeFile(file(name), text, { mode: 0o600 });
    const plane = await startControlPlane({
      assets: assetsFolder(process.env),
      clock: systemClock,
      identity: {
        serving: { cert: texts["apiserver.crt"]!, key: texts["apiserver.key"]!, clientCa: texts["ca.crt"]! },
        kubeconfig: (url) => texts["super-admin.conf"]!.replace(SERVER, url),
      },
      apiServerFlags: [
        `--service-account-key-file=${file("sa.pub")}`,
        `--service-account-signing-key-file=${file("sa.key")}`,
        `--kubelet-client-certificate=${file("apiserver-kubelet-client.crt")}`,
        `--kubelet-client-key=${file("apiserver-kubelet-client.key")}`,
        `--proxy-client-cert-file=${file("front-proxy-client.crt")}`,
        `--proxy-client-key-file=${file("front-proxy-client.key")}`,
        `--requestheader-client-ca-file=${file("front-proxy-ca.crt")}`,
        "--requestheader-allowed-names=front-proxy-client",
      ],
    });
    t.after(() => plane.close());

    const kubectl = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)(join(assetsFolder(process.env), "kubectl"), args)).stdout.trim();
    const user = (...args: string[]): Promise<string> =>
      kubectl(...args, "auth", "whoami", "-o=jsonpath={.status.userInfo.username}");

    const users: string[] = [];
    for (const name of ["admin.conf", "controller-manager.conf", "scheduler.conf"]) {
      await writeFile(file(name), texts[name]!.replace(SERVER, plane.url));
      users.push(await user("--kubeconfig", file(name)));
    }
    assert.deepEqual(users, ["kubernetes-admin", "system:kube-controller-manager", "system:kube-scheduler"]);

    const admin = ["--kubeconfig", plane.kubeconfigFile];
    await kubectl(...admin, "create", "serviceaccount", "robot");
    const token = await kubectl(...admin, "create", "token", "robot");
    const robot = ["--server", plane.url, "--certificate-authority", file("ca.crt"), "--token", token];
    assert.equal(await user(...robot), "system:serviceaccount:default:robot");
  });

/** What a new tenant's Secrets hold, by key. */
async function tenantTexts(algorithm: KeyAlgorithm): Promise<Record<string, string>> {
  const [name, namespace, clusterDomain] = ["tenant", "team", "cluster.local"];
  const facts = {
    now: systemClock.now(),
    leftMs: 0,
    parts: PARTS,
    held: {},
    hosts: apiServerHosts({ name, namespace, clusterDomain, serviceCidrs: ["10.96.0.0/16"], others: [] }),
    clusterName: name,
    servers: { endpoint: SERVER, service: SERVER, local: SERVER },
    requested: new Set<string>(),
  };
  const made = await makePki(duePki(facts), facts, { clock: systemClock, algorithm });
  return Object.assign({}, ...Object.values(made)) as Record<string, string>;
}
