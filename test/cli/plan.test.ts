/** `slipway plan` as a person meets it, against what `slipway up` runs. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { quietLog, Secrets } from "@slipway/base";
import { MachineDeployment } from "../../src/kinds/cluster-api/machine-deployment.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { PacketMachine } from "../../src/kinds/packet/packet-machine.ts";
import { applyObjects } from "../../src/laptop/apply.ts";
import { type Laptop, startLaptop } from "../../src/laptop/laptop.ts";
import { readManifests } from "../../src/laptop/manifests.ts";

let laptop: Laptop;
let dir: string;
before(async () => {
  laptop = await startLaptop({
    ...{ kubernetes: "embedded", dir: undefined, host: "127.0.0.1", port: 0, speed: 400, counterparts: [] },
    ...{ log: quietLog, secrets: new Secrets() },
  });
  dir = await mkdtemp(join(tmpdir(), "slipway-plan-"));
  await writeFile(join(dir, "kubeconfig"), laptop.identity.kubeconfig(laptop.url), { mode: 0o600 });
});
after(async () => {
  await laptop.close();
  await rm(dir, { recursive: true });
});

function plan(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { equinix, latitude } = laptop.metal;
  const env = {
    ...process.env,
    ...{ KUBECONFIG: join(dir, "kubeconfig"), EQUINIX_ENDPOINT: equinix.url, LATITUDE_ENDPOINT: latitude.url },
  };
  return new Promise((done) => {
    execFile("bin/slipway", ["plan", ...args], { env, timeout: 120_000 }, (error, out, err) =>
      done({ code: Number(error?.code ?? 0), out, err }),
    );
  });
}

async function file(name: string, text: string): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, text);
  return path;
}

/** Cells of a table's row. */
const cells = (out: string, start: RegExp): string[] | undefined =>
  out
    .split("\n")
    .find((line) => start.test(line))
    ?.split(/ {2,}/);

test("B50 the Packet example: what is made, on which machines, at what price; nothing is created", async () => {
  const { code, out, err } = await plan("-f", "examples/packet-kamaji");
  assert.deepEqual([code, err], [0, ""]);
  assert.deepEqual(cells(out, /^create +MachineDeployment/)?.slice(1), [
    "MachineDeployment/default/capi-quickstart-worker-a",
    "1 MachineSet, 3 Machine, 3 PacketMachine, 3 KubeadmConfig",
  ]);
  assert.deepEqual(cells(out, /KamajiControlPlane/)?.[2], "1 TenantControlPlane");
  assert.deepEqual(cells(out, /^3 /), [
    ...["3", "MachineDeployment/default/capi-quickstart-worker-a", "equinix", "c3.medium.x86", "sg"],
    ...["1.50 USD/h", "4.50 USD/h"],
  ]);
  assert.match(out, /^3 machines more: 4\.50 USD an hour, 3285\.00 USD in a month of 730 hours\.$/m);
  assert.deepEqual((await laptop.client.list(MachineDeployment)).items, []);
  assert.deepEqual((await laptop.client.list(PacketMachine)).items, []);
  assert.deepEqual(laptop.metal.equinix.sim.devices(), []);
});

test("B50 pools at two providers, as JSON: the price of each by plan and site", async () => {
  const { code, out } = await plan("-f", "examples/harvester", "-o", "json");
  assert.equal(code, 0);
  const { machines, total } = JSON.parse(out);
  const byPool = Object.fromEntries(machines.map((one: { of: string }) => [one.of, one]));
  assert.deepEqual(byPool["InstancePool/harvester-pxe-worker"].price, { hourly: 0.75, currency: "USD" });
  const latitude = byPool["InstancePool/harvester-latitude-worker"];
  assert.deepEqual([latitude.provider, latitude.price], ["latitude", { hourly: 0.25, currency: "USD" }]);
  assert.deepEqual(total, { moreMachines: 4, hourly: 2, monthly: 1460, currency: "USD", withoutPrice: 0 });
  assert.deepEqual((await laptop.client.list(InstancePool)).items, []);
});

test("B50 what would be refused has its file and line, and the plan ends with 1", async () => {
  const example = await readFile("examples/packet-kamaji/cluster.yaml", "utf8");
  const account = await readFile("examples/packet-kamaji/account.yaml", "utf8");
  const lineOf = (text: string, what: RegExp): number => text.split("\n").findIndex((line) => what.test(line)) + 1;

  const words = await file("words.yaml", example.replace("\n  replicas: 3", "\n  replicas: three"));
  const first = await plan("-f", words);
  assert.equal(first.code, 1);
  const line = lineOf(await readFile(words, "utf8"), /replicas: three/);
  assert.ok(first.err.startsWith(`${words}:${line}: MachineDeployment/`), first.err);
  assert.match(first.err, /spec\.replicas: .*expected numeric/);

  const cycle = await file("cycle.yaml", `${account}---\n${example.replace("hourly", "never")}`);
  const second = await plan("-f", cycle);
  assert.equal(second.code, 1);
  const at = lineOf(await readFile(cycle, "utf8"), /billingCycle: never/);
  assert.ok(second.err.includes(`${cycle}:${at}: PacketMachineTemplate/`), second.err);
  assert.match(second.err, /spec\.template\.spec\.billingCycle/);

  const strange = await file("strange.yaml", "apiVersion: nowhere.example/v1\nkind: Thing\nmetadata: {name: x}\n");
  assert.match((await plan("-f", strange)).err, /strange\.yaml:2: Thing\/x: the API serves no such kind/);
  const nowhere = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  namespace: missing\n";
  assert.match((await plan("-f", await file("nowhere.yaml", nowhere))).err, /:5: ConfigMap\/missing\/c: .*not found/);
  const broken = await plan("-f", await file("broken.yaml", "a: [1\n"));
  assert.equal(broken.code, 2);
  assert.match(broken.err, /broken\.yaml:2: not YAML/);
});

test("B50 a template or an account that is missing is said; the rest of the plan stands", async () => {
  const example = await readFile("examples/packet-kamaji/cluster.yaml", "utf8");
  const documents = example.split("\n---\n");
  const bare = documents.filter((text) => !/kind: PacketMachineTemplate\nmetadata/.test(text)).join("\n---\n");
  const { code, out } = await plan("-f", await file("bare.yaml", bare));
  assert.equal(code, 0);
  assert.match(
    out,
    /bare\.yaml:\d+: MachineDeployment\/\S+: there is no PacketMachineTemplate capi-quickstart-worker-a/,
  );
  const keyless = await plan("-f", await file("keyless.yaml", example));
  assert.match(keyless.out, /3 machines more; the price of 3 is not known\./);
  assert.match(keyless.out, /no API key in PACKET_API_KEY/);
});

test("B50 what exists already is kept or changed, and only the difference costs", async () => {
  await applyObjects(laptop, await readManifests("examples/packet-kamaji"));
  const same = await plan("-f", "examples/packet-kamaji");
  assert.match(same.out, /^keep +MachineDeployment/m);
  assert.match(same.out, /^No machine more and none less\.$/m);

  const example = await readFile("examples/packet-kamaji/cluster.yaml", "utf8");
  const five = await plan("-f", await file("five.yaml", example.replace("\n  replicas: 3", "\n  replicas: 5")));
  assert.match(five.out, /^change +MachineDeployment/m);
  assert.equal(cells(five.out, /→/)?.[0], "3 → 5");
  assert.match(five.out, /^2 machines more: 3\.00 USD an hour/m);
  const other = example.replace("version: v1.27.0\n", "version: v1.28.0\n");
  const rolled = await plan("-f", await file("rolled.yaml", other));
  assert.match(rolled.out, /its template has changed: the 3 machines that are there are replaced/);
});
