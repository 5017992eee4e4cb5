/** konnectivity's real programs with our flags and objects, between a kube-apiserver and a kubelet that stands in for one. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { addons } from "../../src/kinds/kamaji/tenant-kubernetes.ts";
import { findAssets } from "../../src/kubernetes/assets.ts";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";
import { createAuthority, type Issued, issueClient, issueServer } from "../../src/pki/authority.ts";
import { kubeconfig } from "../../src/pki/kubeconfig.ts";
import { agentObjects } from "../../src/tenants/konnectivity/agent.ts";
import { egressSelectorConfiguration, SERVER_USER, serverFlags } from "../../src/tenants/konnectivity/server.ts";
import { startCluster } from "./cluster.ts";
import { agentHere, agentToken, fakeKubelet, logOf, podOf, podOnNode } from "./far-node.ts";
import { freePort } from "./free-port.ts";
import { until } from "./live.ts";
import { apply } from "./operator-account.ts";

const HOST = "127.0.0.1";
const assets = await findAssets(process.env, ["etcd", "kube-apiserver", "proxy-server", "proxy-agent"]).catch(
  (error: Error) => error,
);
const skip =
  assets instanceof Error ? `${assets.message}; run \`make kube-assets NAMES="proxy-server proxy-agent"\`` : false;

/** A control plane whose API server goes through a socket in `dir`, with the files of the server and the agent. */
async function rig(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), "slipway-tunnel-"));
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const ca = await createAuthority({ commonName: "kubernetes", clock });
  const serving = await issueServer(ca, { commonName: "kube-apiserver", hosts: [HOST], clock });
  const admin = await issueClient(ca, { commonName: "admin", organizations: ["system:masters"], clock });
  const server = await issueClient(ca, { commonName: SERVER_USER, organizations: [], clock });
  const conf = (url: string, user: Issued): string =>
    kubeconfig({
      ...{ name: "a", server: url, caPem: ca.certificatePem },
      ...{ clientCertPem: user.certificatePem, clientKeyPem: user.keyPem },
    });
  const socket = join(dir, "konnectivity.socket");
  const egress = file("egress.yaml", egressSelectorConfiguration(socket));
  const cluster = await startCluster({
    identity: {
      serving: { cert: serving.certificatePem, key: serving.keyPem, clientCa: ca.certificatePem },
      kubeconfig: (url) => conf(url, admin),
    },
    apiServerFlags: [`--egress-selector-config-file=${egress}`],
  });
  t.after(async () => {
    await cluster.close();
    rmSync(dir, { recursive: true });
  });
  return {
    ...{ dir, file, socket, cluster, serving },
    caFile: file("ca.pem", ca.certificatePem),
    serverConf: file("server.conf", conf(cluster.plane.url, server)),
  };
}

test("kube-apiserver reaches a node through the server and an agent that its token lets in, and no other way", {
  skip,
}, async (t) => {
  const { dir, file, socket, cluster, serving, caFile, serverConf } = await rig(t);
  const [agentPort, adminPort, healthPort, agentAdmin, agentHealth] = await Promise.all(
    Array.from({ length: 5 }, () => freePort()),
  );
  const { konnectivity } = addons.parse({ konnectivity: { server: { port: agentPort }, agent: {} } });
  const [binding, account, workload] = agentObjects({ version: "v1.36.3", host: HOST, konnectivity: konnectivity! });
  await apply(cluster.transport, binding as never);
  await apply(cluster.transport, account as never);
  const kubelet = await fakeKubelet(t, { cert: serving.certificatePem, key: serving.keyPem });
  await podOnNode(cluster.client, kubelet);
  const log = async () => await logOf(cluster.transport);
  const run = (name: string, args: string[]): KeptProcess => {
    const program = new KeptProcess({
      ...{ command: join(String(assets), name), args, logFile: join(dir, `${name}.log`), orphaned: "KILL" },
    });
    t.after(() => program.stop("KILL"));
    return program;
  };
  const server = run(
    "proxy-server",
    serverFlags({
      ...{ socket, agentPort: agentPort!, kubeconfig: serverConf, servers: 1 },
      ...{ adminPort: adminPort!, healthPort: healthPort! },
      certificate: { cert: file("tls.crt", serving.certificatePem), key: file("tls.key", serving.keyPem) },
    }),
  );

  // What the agent's Pod has, with the files and ports of this machine.
  const { args, token } = podOf(workload);
  const tokenFile = file("token", await agentToken(cluster.transport, token));
  const here = { caFile, tokenFile, adminPort: agentAdmin!, healthPort: agentHealth! };
  const agentArgs = agentHere(args, here);
  const agent = run("proxy-agent", agentArgs);
  const story = async (): Promise<string> =>
    `${await server.lastWords(5)}\n${await agent.lastWords(5)}\n${await log()}`;
  await until("the log comes from the node", async () => (await log()) === "200 from the node", 60_000, story);

  await agent.stop("KILL");
  await until("without an agent there is no way", async () => !(await log()).startsWith("200"), 30_000, story);

  writeFileSync(tokenFile, "forged");
  run("proxy-agent", agentArgs);
  const isRefused = async (): Promise<boolean> => /Client authentication failed/.test(await server.lastWords(40));
  await until("the server refuses a forged token", isRefused, 30_000, story);
  assert.ok(!(await log()).startsWith("200"));
});
