/** The walk of cluster-api-plunder's README, with a real kubectl: from the manifests of 2019 to Nodes, and to wiped machines that wait again. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { quietLog as log, Secrets } from "@slipway/base";
import { startLaptop } from "../../src/laptop/laptop.ts";
import { hardware } from "../../src/systems/netboot/simulated.ts";
import { STAND_IN_LOGIN, STAND_IN_SERVERS, standInBmc } from "../../src/systems/netboot/stand-in.ts";
import { until } from "../kubernetes/live.ts";

const KUBECTL = process.env.KUBECTL ?? "kubectl";
const WITHIN_MS = 120_000;
const HOSTS = "-n slipway-hosts";

type Kubectl = (command: string | readonly string[]) => Promise<string>;

/** A laptop with a simulated rack, and kubectl against it. */
async function laptop(t: TestContext): Promise<Kubectl> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-walk-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const running = await startLaptop({
    ...{ kubernetes: "embedded", dir: undefined, host: "127.0.0.1", port: 0, counterparts: [], log },
    ...{ secrets: new Secrets(), speed: 2_000, hardware: { netboot: hardware } },
  });
  t.after(() => running.close());
  const kubeconfig = join(dir, "kubeconfig");
  await writeFile(kubeconfig, running.identity.kubeconfig(running.url), { mode: 0o600 });
  const env = { PATH: process.env.PATH, HOME: dir, KUBECONFIG: kubeconfig };
  return async (command) => {
    const words = typeof command === "string" ? command.split(" ") : [...command];
    return (await promisify(execFile)(KUBECTL, words, { env, timeout: 60_000 })).stdout;
  };
}

/** As docs/plunder.md says: trust whoever is seen, and name the machines' BMCs. Resolves once all are offered. */
async function offered(kubectl: Kubectl): Promise<void> {
  await kubectl("annotate namespace slipway-hosts slipway.dev/trust=first-seen");
  const login = Object.entries(STAND_IN_LOGIN).map(([key, value]) => `--from-literal=${key}=${value}`);
  await kubectl(["create", "secret", "generic", "bmc", ...HOSTS.split(" "), ...login]);
  const names = async () => (await kubectl(`get baremetalhosts ${HOSTS} -o name`)).trim().split("\n").toSorted();
  await until("all hosts are seen", async () => (await names()).length === STAND_IN_SERVERS.length, WITHIN_MS);
  for (const [at, name] of (await names()).entries()) {
    const spec = { bmc: { address: standInBmc(at), credentialsName: "bmc" }, online: true };
    await kubectl(["patch", name, ...HOSTS.split(" "), "--type=merge", "-p", JSON.stringify({ spec })]);
  }
  await untilFree(kubectl);
}

const untilFree = (kubectl: Kubectl): Promise<unknown> =>
  until(
    "all hosts are available",
    async () => {
      const states = await kubectl([
        ...["get", "baremetalhosts", ...HOSTS.split(" ")],
        ...["-o", "jsonpath={.items[*].status.provisioning.state}"],
      ]);
      return states.split(" ").every((state) => state === "available");
    },
    WITHIN_MS,
  );

test("N46 kubectl creates the manifests of 2019 as they are, shows the columns and events of the original's README, and deletes them all", async (t) => {
  const kubectl = await laptop(t);
  await offered(kubectl);
  await kubectl("create -f examples/plunder/provider.yaml");
  await kubectl("create -f examples/plunder/2019/cluster.yaml -f examples/plunder/2019/machine.yaml");
  const machines = () => kubectl("get machines.v1alpha2.cluster.x-k8s.io");
  const [heads] = (await machines()).split("\n");
  assert.match(heads!, /^NAME +PROVIDERID +PHASE *$/);
  const seen = new Set<string>();
  await until(
    "both run",
    async () => {
      const phases = (await machines())
        .trim()
        .split("\n")
        .slice(1)
        .map((row) => row.split(/ +/).at(-1)!);
      for (const phase of phases) seen.add(phase);
      return phases.length === 2 && phases.every((phase) => phase === "running");
    },
    WITHIN_MS,
  );
  assert.ok(
    [...seen].every((phase) => ["pending", "provisioning", "provisioned", "running"].includes(phase)),
    [...seen].join(),
  );
  const rows = (await machines()).trim().split("\n").slice(1).toSorted();
  for (const [at, name] of ["controlplane", "worker"].entries())
    assert.match(rows[at]!, new RegExp(`^${name} +plunder://([0-9a-f]{2}:){5}[0-9a-f]{2} +running$`));
  await kubectl("delete machines --all");
  await until(
    "no PlunderMachine is left",
    async () => (await kubectl("get plundermachines -o name")) === "",
    WITHIN_MS,
  );
  const events = await kubectl("get events");
  for (const words of [
    /Normal +PlunderProvision +plundermachine\/worker +Plunder has begun provisioning the Operating System/,
    /Normal +PlunderInstall +plundermachine\/controlplane +Kubernetes Control Plane installation has begun/,
    /Normal +PlunderInstall +plundermachine\/worker +Kubernetes worker installation has begun/,
    /Normal +PlunderDelete +plundermachine\/worker +Machine removed succesfully/,
  ])
    assert.match(events, words);
  await untilFree(kubectl);
});
