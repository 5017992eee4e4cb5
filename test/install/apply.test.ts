/**
 * What the README and docs/install.md say, by kubectl and Helm, on the embedded API and on kube-apiserver; then the operator as its Deployment starts it, with
 * the token of its ServiceAccount.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { systemClock as clock, Fault, quietLog, cryptoRandom as random } from "@slipway/base";
import { loadConnection } from "@slipway/kube/http";
import { findAssets } from "../../src/kubernetes/assets.ts";
import { laptopIdentity } from "../../src/laptop/identity.ts";
import { KUBERNETES, type KubernetesChoice, startKubernetes } from "../../src/laptop/kubernetes.ts";
import { installedObjects } from "../../src/operator/install/files.ts";
import { withValues } from "../../src/operator/install/testing.ts";
import { DEFAULT_VALUES } from "../../src/operator/install/values.ts";
import { kubeconfig } from "../../src/pki/kubeconfig.ts";
import { findProgram } from "./programs.ts";

const ROOT = join(import.meta.dirname, "../..");
const INSTALL = ["-f", "deploy/slipway.yaml"];
const NAMESPACE = "harvester-system";
const OURS = [
  "deploy,svc,sa,pdb,netpol,role,rolebinding,clusterrole,clusterrolebinding",
  "--all-namespaces",
  "--selector=app.kubernetes.io/name=slipway",
];
const POOL_CRD = /instancepools\.equinix\.harvesterhci\.io/;
const READY_MS = 30_000;

const kubectl = findProgram("kubectl");
const helm = findProgram("helm");
const real = await findAssets(process.env).then(
  () => undefined,
  (error: unknown) => (error instanceof Fault ? `${error.message}; ${error.remedy}` : Promise.reject(error)),
);
const lacking = { embedded: undefined, real };

for (const which of KUBERNETES) {
  const skip =
    kubectl === undefined ? "no kubectl: make kube-assets, or put one on the PATH" : (lacking[which] ?? false);

  test(`${which} API: one command installs, twice is once, and the operator runs with the rights it was given`, {
    skip,
  }, async (t) => {
    const { dir, admin, run } = await cluster(which, t);
    const ask = (...args: string[]): Promise<string> => run(kubectl!, args);

    const dry = await ask("apply", "--dry-run=client", ...INSTALL);
    assert.match(dry, /^deployment\.apps\/slipway created \(dry run\)$/m);
    const applied = await ask("apply", ...INSTALL);
    assert.match(applied, /^deployment\.apps\/slipway created$/m);
    assert.equal(applied.replaceAll(" created", " created (dry run)"), dry);
    // What kubectl says of budgets and policies is "configured" each time; their generation shows the truth.
    assert.doesNotMatch(await ask("apply", "--dry-run=server", "-k", "deploy"), / created/);
    assert.doesNotMatch(await ask("apply", ...INSTALL), / created/);
    const generations = "jsonpath={.items[*].metadata.generation}";
    assert.equal(await ask("get", "deploy,pdb,netpol", "-n", NAMESPACE, "-o", generations), "1 1 1");

    const operator = await operatorAsDeployed(dir, admin, await ask("create", "token", "slipway", "-n", NAMESPACE));
    try {
      await operator.ready;
      const metrics = await fetch(`${operator.health}/metrics`);
      assert.match(await metrics.text(), /^# TYPE slipway_instances gauge$/m);
      const boot = await fetch(`${operator.boot}/boot/nobody/knows/ipxe`);
      assert.equal(boot.status, 404);
    } finally {
      operator.process.kill("SIGTERM");
    }
    assert.deepEqual(await operator.exited, [0, null]);

    await ask("delete", ...OURS, "--wait=false");
    assert.equal(await ask("get", ...OURS, "--ignore-not-found"), "");
    assert.match(await ask("get", "crd", "-o", "name"), POOL_CRD);
  });

  const without = helm === undefined && "no helm: make kube-assets NAMES=helm, or put one on the PATH";
  test(`${which} API: Helm installs, upgrades and removes, and leaves the definitions`, {
    skip: skip || without,
  }, async (t) => {
    const { run } = await cluster(which, t);
    const release = ["slipway", "--namespace", NAMESPACE];
    await run(kubectl!, ["create", "namespace", NAMESPACE]);
    await run(kubectl!, ["create", "namespace", "fleet-local"]);

    await run(helm!, ["install", ...release, "deploy/chart"]);
    const installed = await run(kubectl!, ["get", ...OURS, "-o", "name"]);
    assert.match(installed, /^deployment\.apps\/slipway$/m);
    await run(helm!, ["upgrade", ...release, "deploy/chart", "--set", "replicas=3,podDisruptionBudget.enabled=false"]);
    const replicas = ["get", "deploy", "slipway", "-n", NAMESPACE, "-o", "jsonpath={.spec.replicas}"];
    assert.equal(await run(kubectl!, replicas), "3");
    assert.equal(await run(kubectl!, ["get", "pdb", "-A", "-o", "name"]), "");
    await run(helm!, ["uninstall", ...release]);
    assert.equal(await run(kubectl!, ["get", ...OURS, "--ignore-not-found"]), "");
    assert.match(await run(kubectl!, ["get", "crd", "-o", "name"]), POOL_CRD);
  });
}

interface Cluster {
  /** A folder that goes with it. */
  dir: string;
  /** The administrator's kubeconfig. */
  admin: string;
  /** What a program prints, run as the administrator; a warning fails. */
  run(program: string, args: readonly string[]): Promise<string>;
}

async function cluster(which: KubernetesChoice, t: TestContext): Promise<Cluster> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-install-test-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const identity = await laptopIdentity(undefined, "127.0.0.1", clock);
  const place = { dir: undefined, host: "127.0.0.1", port: 0 };
  const kubernetes = await startKubernetes(which, { ...place, identity, clock, random, log: quietLog });
  t.after(() => kubernetes.close());
  const admin = join(dir, "admin.kubeconfig");
  await writeFile(admin, identity.kubeconfig(kubernetes.url), { mode: 0o600 });
  const env = { PATH: process.env.PATH, HOME: dir, KUBECONFIG: admin };
  return {
    dir,
    admin,
    async run(program, args) {
      const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: ROOT, env });
      assert.equal(stderr, "", `${basename(program)} ${args.join(" ")} warns`);
      return stdout;
    },
  };
}

interface Deployed {
  process: ChildProcess;
  health: string;
  boot: string;
  ready: Promise<void>;
  exited: Promise<unknown[]>;
}

interface Deployment {
  kind: string;
  spec: { template: { spec: { containers: [{ args: string[] }] } } };
}

/** The bundle with the arguments that the Deployment has, listening on loopback. */
async function operatorAsDeployed(dir: string, admin: string, token: string): Promise<Deployed> {
  const { server, ca } = await loadConnection({ kubeconfig: admin, env: {}, clock });
  const account = join(dir, "operator.kubeconfig");
  const trust = ca === undefined ? {} : { caPem: ca };
  await writeFile(account, kubeconfig({ name: "slipway", server, ...trust, token: token.trim() }), { mode: 0o600 });
  const [bootPort, healthPort] = [await freePort(), await freePort()];
  const chosen = {
    listen: "127.0.0.1",
    "boot.port": bootPort,
    "health.port": healthPort,
    "boot.url": "http://b.example",
  };
  const objects = installedObjects(withValues(DEFAULT_VALUES, chosen)) as unknown as Deployment[];
  const { args } = objects.find(({ kind }) => kind === "Deployment")!.spec.template.spec.containers[0];
  const child = spawn(process.execPath, [join(ROOT, "dist/bundle/slipway.mjs"), ...args], {
    env: { KUBECONFIG: account, NAMESPACE },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const health = `http://127.0.0.1:${healthPort}`;
  // Nothing after `ok` but Metal3's hosts, whose definition is not installed: every other kind was listed under the rights that were installed.
  const isReady = async (): Promise<boolean> => {
    const [first, ...more] = (
      await fetch(`${health}/readyz`).then(
        (answer) => answer.text(),
        () => "",
      )
    )
      .trimEnd()
      .split("\n");
    return (
      first === "ok" && more.every((line) => /baremetalhosts\S* not served by the API, .* \(optional\)$/.test(line))
    );
  };
  const ready = async (): Promise<void> => {
    const until = clock.now() + READY_MS;
    while (!(await isReady())) {
      assert.ok(child.exitCode === null && clock.now() < until, `the operator is not ready: ${said}`);
      await clock.sleep(100);
    }
  };
  return { process: child, health, boot: `http://127.0.0.1:${bootPort}`, ready: ready(), exited: once(child, "exit") };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
