import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock, Fault, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import type { Context, KubeObject } from "@slipway/kube";
import type { VinoNode } from "../kinds/vino/vino-node.ts";
import { startNodeAgent } from "./agent.ts";
import { domain, emptied, FakeLibvirt, node } from "./testing.ts";

interface SecretData {
  username?: string;
  password?: string;
}

/** An agent on a libvirt in memory, whose VinoNodes and Secrets are given by hand. */
async function world(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-agent-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const libvirt = new FakeLibvirt();
  const known: string[] = [];
  let down: Fault | undefined;
  const agent = await startNodeAgent({
    ...{ node: "leviathan", address: "127.0.0.1", port: 0, socket: "", folder, clock, random, log },
    settings: { vncListen: "127.0.0.1", emulated: true },
    links: libvirt.links,
    fetchImage: async () => {},
    onSecret: (value) => known.push(value),
    open: async ({ onEvent }) => {
      if (down !== undefined) throw down;
      return libvirt.open(onEvent!);
    },
  });
  t.after(() => agent.close());
  const nodes = new Map<string, VinoNode>();
  const secrets = new Map<string, SecretData>();
  let version = 0;
  const context = {
    cache: { list: () => [...nodes.values()] },
    client: {
      find: async (_: unknown, { name }: { name: string }) => {
        const data = secrets.get(name);
        if (data === undefined) return undefined;
        const encoded = Object.entries(data).map(([key, value]) => [
          key,
          Buffer.from(value as string).toString("base64"),
        ]);
        return { metadata: { uid: name, resourceVersion: String(version) }, data: Object.fromEntries(encoded) };
      },
      updateStatus: async (_: unknown, object: KubeObject) => {
        nodes.set(object.metadata.name, object as VinoNode);
        return object;
      },
    },
    clean: <T>(value: T): T => value,
    signal: new AbortController().signal,
    clock,
  } as unknown as Context;
  const http = undiciHttp({ clock, anyCertificate: true });
  t.after(() => http.close());
  return {
    ...{ agent, libvirt, known, secrets, folder },
    onDown: (fault: Fault | undefined) => {
      down = fault;
    },
    /** One reconcile with these VinoNodes; resolves with the first one's status. */
    async pass(...wanted: VinoNode[]) {
      version++;
      for (const one of wanted) {
        const status = nodes.get(one.metadata.name)?.status;
        nodes.set(one.metadata.name, {
          ...one,
          metadata: { ...one.metadata, generation: version },
          ...(status && { status }),
        });
      }
      await agent.controller.reconcile({ name: "leviathan" }, context);
      return nodes.get(wanted[0]!.metadata.name)!.status!;
    },
    async get(path: string, username: string, password: string): Promise<number> {
      const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
      const answer = await http({ method: "GET", url: `${agent.url}${path}`, headers: { authorization } });
      return answer.status;
    },
  };
}

test("a status says what is ready, where it is ordered, and what is missing", async (t) => {
  const { pass, secrets, agent } = await world(t);
  secrets.set("w0-bmc", { username: "admin", password: "password-of-w0" });
  const status = await pass(node("a", [domain("w0"), domain("w1")]));
  assert.equal(status.redfish?.url, agent.url);
  assert.match(status.redfish?.ca ?? "", /^-----BEGIN CERTIFICATE-----\n/);
  assert.deepEqual(status.networks, [{ name: "management", ready: true }]);
  assert.deepEqual(status.domains, [
    {
      name: "w0",
      state: "Ready",
      system: "/redfish/v1/Systems/w0",
      bootMAC: "52:54:00:00:00:b0",
      cores: [0],
      numaNode: 0,
    },
    {
      ...{ name: "w1", state: "Pending", system: "/redfish/v1/Systems/w1", bootMAC: "52:54:00:00:00:b1", cores: [1] },
      numaNode: 0,
      message: "Secret w1-bmc with username and password is missing: nobody may order it",
    },
  ]);
  assert.deepEqual(
    [status.waitingFor, status.conditions?.[0]?.status, status.conditions?.[0]?.message],
    ["domain w1", "False", "not ready: domain w1"],
  );
  secrets.set("w1-bmc", { username: "admin", password: "password-of-w1" });
  const ready = await pass(node("a", [domain("w0"), domain("w1")]));
  assert.deepEqual(
    [ready.waitingFor, ready.waitingSince, ready.conditions?.[0]?.status],
    [undefined, undefined, "True"],
  );
});

test("VINO-7 who has a machine's password orders it, sees no other, and ends with the password", async (t) => {
  const { pass, secrets, get, known, folder } = await world(t);
  secrets.set("w0-bmc", { username: "admin", password: "password-of-w0" });
  secrets.set("w1-bmc", { username: "admin", password: "password-of-w1" });
  const both = node("a", [domain("w0"), domain("w1")]);
  await pass(both);
  assert.equal(await get("/redfish/v1/Systems/w0", "admin", "password-of-w0"), 200);
  assert.equal(await get("/redfish/v1/Systems/w1", "admin", "password-of-w0"), 404);
  assert.equal(await get("/redfish/v1/Systems/w0", "admin", "password-of-w1"), 404);
  secrets.set("w0-bmc", { username: "admin", password: "another-of-w0" });
  await pass(both);
  assert.equal(await get("/redfish/v1/Systems/w0", "admin", "another-of-w0"), 200);
  assert.equal(await get("/redfish/v1/Systems/w0", "admin", "password-of-w0"), 401);
  assert.deepEqual(known, ["password-of-w0", "password-of-w1", "another-of-w0", "password-of-w1"]);
  assert.deepEqual(readdirSync(join(folder, "authority")).sort(), ["ca-key.pem", "ca.pem"]);
});

test("while libvirt does not answer the node says so, and keeps what it has said of the rest", async (t) => {
  const { pass, onDown, libvirt, secrets } = await world(t);
  secrets.set("w0-bmc", { username: "admin", password: "password-of-w0" });
  const wanted = node("a", [domain("w0")]);
  await pass(wanted);
  await libvirt.close();
  onDown(
    new Fault("Unavailable", "/run/libvirt/libvirt-sock", "libvirt does not answer: ENOENT", {
      remedy: "start libvirtd",
    }),
  );
  const status = await pass(wanted);
  assert.deepEqual(
    [status.waitingFor, status.message, status.conditions?.[0]?.reason, status.domains?.length],
    ["libvirt", "/run/libvirt/libvirt-sock: libvirt does not answer: ENOENT; start libvirtd", "LibvirtUnavailable", 1],
  );
  const since = status.waitingSince;
  assert.equal((await pass(wanted)).waitingSince, since);
  onDown(undefined);
  assert.equal((await pass(wanted)).conditions?.[0]?.status, "True");
});

test("VINO-6 a VinoNode is removed when nothing of it is left, and what is in the way is named", async (t) => {
  const { pass, libvirt, secrets } = await world(t);
  secrets.set("w0-bmc", { username: "admin", password: "password-of-w0" });
  await pass(node("a", [domain("w0")]));
  const theirs =
    "<domain><name>theirs</name><uuid>10000000-0000-4000-8000-000000000000</uuid><devices><interface type='network'><source network='slipway-br0'/></interface></devices></domain>";
  await libvirt.defineDomain(theirs);
  const stuck = await pass(emptied("a"));
  assert.equal(stuck.removed, undefined);
  assert.equal(stuck.waitingFor, "the bridge br0 is still on the node: the domain theirs is still plugged into it");
  await libvirt.undefineDomain((await libvirt.domains())[0]!);
  const gone = await pass(emptied("a"));
  assert.equal(gone.removed, true);
  assert.deepEqual([gone.networks, gone.domains, gone.waitingFor], [[], [], undefined]);
  assert.deepEqual(libvirt.inventory(), []);
});

test("VINO-10 what can't be is said of the domain, and the others are made", async (t) => {
  const { pass, secrets } = await world(t);
  for (const name of ["w0", "w1", "w2", "w3", "w4", "w5"])
    secrets.set(`${name}-bmc`, { username: "admin", password: `password-of-${name}` });
  const status = await pass(
    node("a", [
      domain("w0"),
      domain("w1", { name: "w1 <evil/>" }),
      domain("w2", { vcpus: 9 }),
      domain("w3", { interfaces: [{ name: "eth0", network: "other", mac: "52:54:00:00:00:03" }] }),
      domain("w4", { disks: [{ volume: "../w4", sizeGiB: 1, sparse: true, device: "vda" }] }),
      domain("w5", { hugepages: true, memoryMiB: 8192 }),
    ]),
  );
  assert.deepEqual(
    status.domains!.map(({ state, message }) => [state, message]),
    [
      ["Ready", undefined],
      ["Failed", "its name has other characters than letters, digits, dots, dashes and underscores"],
      ["Failed", "no NUMA node has 9 free cores"],
      ["Failed", "interface eth0: there is no network other in the VinoNode"],
      ["Failed", "disk vda: its device is none such as vda, or its volume ../w4 is no plain name"],
      ["Failed", "no NUMA node has 1 free cores and free huge pages for 8192 MiB"],
    ],
  );
});

test("a network that is not ready keeps its machines and its VinoNode from being ready", async (t) => {
  const { pass, secrets, libvirt } = await world(t);
  secrets.set("w0-bmc", { username: "admin", password: "password-of-w0" });
  libvirt.refuse = (what) => (what.startsWith("start network") ? "no such thing as a bridge" : undefined);
  const status = await pass(node("a", [domain("w0")]));
  assert.deepEqual(status.networks, [
    { name: "management", ready: false, message: "libvirt: no such thing as a bridge" },
  ]);
  assert.equal(status.domains?.[0]?.state, "Pending");
  assert.equal(status.domains?.[0]?.message, "the network management is not ready");
  assert.equal(status.waitingFor, "network management");
  libvirt.refuse = () => undefined;
  const networks = [{ name: "management", bridge: "br0", mac: "02:00:00:00:00:01", addresses: ["nonsense"] }];
  const bad = await pass(node("a", [domain("w0")], { networks }));
  assert.match(bad.networks?.[0]?.message ?? "", /"nonsense" is no address with a prefix/);
  assert.equal(bad.domains?.[0]?.state, "Pending");
  assert.equal((await pass(node("a", [], { networks }))).waitingFor, "network management");
});

test("a VinoNode whose cores or storage can't be read makes nothing new, and unmakes nothing", async (t) => {
  const { pass, secrets, libvirt } = await world(t);
  secrets.set("w0-bmc", { username: "admin", password: "password-of-w0" });
  await pass(node("a", [domain("w0")]));
  const status = await pass(node("a", [domain("w0"), domain("w1")], { cpuExclude: "none" }));
  assert.match(status.message ?? "", /cpuExclude: processors: "none" is neither a number nor a range/);
  assert.deepEqual(
    status.domains!.map(({ state }) => state),
    ["Failed", "Failed"],
  );
  assert.ok(libvirt.inventory().includes("volume deep/w0-vda"));
  assert.ok(!libvirt.inventory().includes("domain w1"));
});

test("VINO-6 VINO-7 an agent of another cluster says on its VinoNode why it does nothing and how that ends, and lets nobody else in", async (t) => {
  const { pass, secrets, libvirt, get } = await world(t);
  secrets.set("w0-bmc", { username: "admin", password: "password-of-w0" });
  await pass(node("a", [domain("w0")]));
  const before = libvirt.inventory();
  secrets.set("w0-bmc", { username: "admin", password: "of-another-cluster" });
  const theirs = node("a", [domain("w0", { uuid: "00000000-0000-4000-8000-0000000000ff" })]);
  theirs.metadata.uid = "theirs";
  const status = await pass(theirs);
  assert.deepEqual([status.waitingFor, status.conditions?.[0]?.reason], ["confirmation", "UnknownMachines"]);
  assert.equal(await get("/redfish/v1/Systems/w0", "admin", "of-another-cluster"), 401);
  assert.equal(await get("/redfish/v1/Systems/w0", "admin", "password-of-w0"), 200);
  assert.deepEqual(libvirt.inventory(), before);
  const told = /kubectl annotate --overwrite vinonode -n vino-system a (slipway\.dev\/confirm-removal)=([0-9a-f]{8})$/;
  const [, annotation, code] = told.exec(status.message ?? "")!;
  theirs.metadata.annotations = { [annotation!]: code! };
  assert.equal((await pass(theirs)).conditions?.[0]?.status, "True");
  assert.deepEqual([...libvirt.domainsByUuid.keys()], ["00000000-0000-4000-8000-0000000000ff"]);
  assert.equal(await get("/redfish/v1/Systems/w0", "admin", "of-another-cluster"), 200);
});
