/** The node agent as a process, beside a real libvirtd: from a VinoNode to a machine that boots from the network, and back to nothing. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { type Client, createClient } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import type { Bmc } from "../../src/inventory/bmc/bmc.ts";
import { Bmcs } from "../../src/inventory/bmc/bmcs.ts";
import { installOwnCrds } from "../../src/kinds/install.ts";
import { VinoNode, type VinoNodeSpec } from "../../src/kinds/vino/vino-node.ts";
import { laptopIdentity } from "../../src/laptop/identity.ts";
import { ended, inside, startLibvirtd, until, virsh } from "./inside.ts";

const NODE = "leviathan";
const REF = { namespace: "vino-system", name: "deep-leviathan" };
const UUID = "5b1c2f0e-6a0f-4c58-9c3e-1d2a3b4c5d6e";
const GATEWAY = "10.66.0.1";
const PASSWORD = "an-unlikely-password";
const SCREEN = "unlikely";

inside(import.meta.url, (folder) => {
  test("VINO-6 VINO-7 VINO-9 a machine's life: made, booted from the network, adopted by the next agent and libvirtd, removed without a trace", async (t) => {
    const libvirtd = await startLibvirtd(t, folder);
    await foreign(folder);
    const before = await everything();
    const { client, kubeconfig } = await cluster(t, folder);
    const { asked, port } = await bootServer(t);
    await client.create(Secret, {
      metadata: { ...REF, name: "worker-0-bmc" },
      stringData: { username: "admin", password: PASSWORD },
    });
    await client.create(Secret, { metadata: { ...REF, name: "worker-1-vnc" }, stringData: { password: SCREEN } });
    await client.create(VinoNode, {
      metadata: { ...REF, labels: { "slipway.dev/node": NODE }, finalizers: ["slipway.dev/test"] },
      spec: specOf(port),
    });
    const first = startAgent(t, folder, kubeconfig);
    const made = await statusWith(client, "ready", isReady);
    const system = "/redfish/v1/Systems/worker-0";
    assert.deepEqual(made.domains, [
      { name: "worker-0", state: "Ready", system, bootMAC: "52:54:00:66:00:01", cores: [0], numaNode: 0 },
    ]);
    const bmc = await openBmc(t, made);
    await bootsOnce(bmc, asked);

    // An agent that was killed, and a libvirtd that was restarted, find what runs.
    await ended(first, "SIGKILL");
    const agent = startAgent(t, folder, kubeconfig);
    await until("the next agent answers", async () => (await bmc.readPower().catch(() => "")) === "on");
    await libvirtd.stop();
    await statusWith(client, "without libvirt", (status) => status?.waitingFor === "libvirt");
    await startLibvirtd(t, folder);
    await statusWith(client, "with libvirt again", isReady);
    assert.equal(await bmc.readPower(), "on");

    await takesCd(bmc, `http://127.0.0.1:${port}/image.iso`);
    await bmc.setPower("off");
    await follows(client, specOf(port));

    await patchSpec(client, { networks: [], domains: [] });
    await client.delete(VinoNode, REF);
    await statusWith(client, "removed", (status) => status?.removed);
    assert.deepEqual(await everything(), before);
    assert.deepEqual(readdirSync("/var/lib/libvirt/qemu/nvram"), []);
    assert.equal(readdirSync("/sys/class/net").includes("br66"), false);
    await ended(agent, "SIGTERM");
    assert.equal(agent.exitCode, 0);
    const words = said.join("") + JSON.stringify(await client.get(VinoNode, REF));
    assert.ok(!words.includes(PASSWORD) && !words.includes(SCREEN));
  });
});

function isReady(status: VinoNode["status"]): boolean {
  return status?.conditions?.[0]?.status === "True";
}

/** Over our own client, with the node's authority; another password is refused. */
async function openBmc(t: TestContext, { redfish, domains }: NonNullable<VinoNode["status"]>): Promise<Bmc> {
  assert.match(redfish!.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  const bmcs = new Bmcs({ clock });
  const open = (password: string): Bmc =>
    bmcs.open({
      address: `redfish+${redfish!.url}${domains![0]!.system}`,
      credentials: { username: "admin", password },
      trust: { ca: redfish!.ca },
    });
  const stranger = open("another-password");
  await assert.rejects(stranger.readPower(), { code: "BadCredentials" });
  await stranger.close();
  const bmc = open(PASSWORD);
  t.after(() => bmc.close());
  return bmc;
}

/** Its disk is empty: what it asks for, its firmware asks for. */
async function bootsOnce(bmc: Bmc, asked: readonly string[]): Promise<void> {
  assert.equal(await bmc.readPower(), "off");
  assert.deepEqual(await bmc.bootFrom("pxe", { once: true }), { once: true });
  await bmc.setPower("on");
  await until("the machine asks for its boot script", async () => asked.includes("/boot.ipxe"));
  await until(
    "the single boot is over",
    async () => !(await virsh("dumpxml", "--inactive", "worker-0")).out.includes("Once"),
  );
}

/** A CD in the running machine, and out again. */
async function takesCd(bmc: Bmc, url: string): Promise<void> {
  await bmc.insertMedia(url);
  assert.match((await virsh("domblklist", "worker-0")).out, /slipway-cd-/);
  await bmc.ejectMedia();
  assert.doesNotMatch((await virsh("vol-list", "deep")).out, /slipway-cd-/);
}

/** The network changes without a new agent, a second machine comes, the first one goes. */
async function follows(client: Client, { networks: [network], domains: [first] }: VinoNodeSpec): Promise<void> {
  const mac = "52:54:00:66:00:02";
  const second = {
    ...{
      ...first!,
      name: "worker-1",
      uuid: UUID.replace("5b", "6b"),
      firmware: "uefi-secure-boot" as const,
      bootMAC: mac,
    },
    ...{ vnc: { name: "worker-1-vnc" }, memoryMiB: 256 },
    disks: [{ ...first!.disks[0]!, volume: "worker-1-vda" }],
    interfaces: [{ ...first!.interfaces[0]!, mac }],
  };
  await patchSpec(client, {
    networks: [{ ...network!, addresses: [`${GATEWAY}/24`, "fd66::1/64"] }],
    domains: [second],
  });
  const changed = await statusWith(client, "changed", (status) =>
    status?.domains?.every(({ name, state }) => name === "worker-1" && state === "Ready"),
  );
  assert.deepEqual(
    changed.domains!.map(({ name, cores }) => [name, cores]),
    [["worker-1", [0]]],
  );
  assert.match((await virsh("net-dumpxml", "slipway-br66")).out, /fd66::1/);
  assert.equal((await virsh("vol-list", "deep")).out.includes("worker-0"), false);
  const started = await virsh("start", "worker-1");
  assert.equal(started.code, 0, started.out);
  assert.match((await virsh("vncdisplay", "worker-1")).out, /^127\.0\.0\.1:\d+/);
  assert.match((await virsh("dumpxml", "--security-info", "worker-1")).out, new RegExp(`passwd='${SCREEN}'`));
}

function specOf(port: number): VinoNodeSpec {
  return {
    nodeName: NODE,
    cpuExclude: "1-7",
    storagePool: { name: "deep", path: "/var/lib/libvirt/deep" },
    networks: [
      {
        ...{ name: "management", bridge: "br66", mac: "02:00:00:66:00:00", addresses: [`${GATEWAY}/24`] },
        dhcp: { start: "10.66.0.100", stop: "10.66.0.120" },
        bootUrl: `http://${GATEWAY}:${port}/boot.ipxe`,
        physicalInterface: "wire",
      },
    ],
    domains: [
      {
        ...{ name: "worker-0", uuid: UUID, host: "deep-worker-0", role: "worker", vcpus: 1, memoryMiB: 192 },
        ...{ pinned: true, hugepages: false, firmware: "bios", bmc: { name: "worker-0-bmc" } },
        disks: [{ volume: "worker-0-vda", sizeGiB: 1, sparse: true, device: "vda" }],
        interfaces: [{ name: "eth0", network: "management", mac: "52:54:00:66:00:01" }],
        bootMAC: "52:54:00:66:00:01",
      },
    ],
  };
}

/** Defines a domain and a network of somebody else's. The agent must leave both unchanged. */
async function foreign(folder: string): Promise<void> {
  const file = join(folder, "foreign.xml");
  const define = async (verb: string, xml: string): Promise<void> => {
    writeFileSync(file, xml);
    const { code, out } = await virsh(verb, file);
    assert.equal(code, 0, out);
  };
  await define(
    "define",
    "<domain type='qemu'><name>mine</name><memory>65536</memory><os><type>hvm</type></os></domain>",
  );
  await define("net-define", "<network><name>mine</name><bridge name='brmine'/></network>");
  await define(
    "pool-define",
    "<pool type='dir'><name>mine</name><target><path>/var/lib/libvirt/mine</path></target></pool>",
  );
}

async function everything(): Promise<string[]> {
  const lists = await Promise.all(
    [
      ["list", "--all", "--name"],
      ["net-list", "--all", "--name"],
      ["pool-list", "--all", "--name"],
    ].map((one) => virsh(...one)),
  );
  // libvirt itself makes a folder with its first network.
  const folders = readdirSync("/var/lib/libvirt").filter((name) => name !== "dnsmasq");
  return [...lists.map(({ out }) => out.trim()), ...folders.sort()];
}

async function cluster(t: TestContext, folder: string): Promise<{ client: Client; kubeconfig: string }> {
  const { createApiServer } = await import("@slipway/apiserver");
  const ports = { clock, random, log };
  const api = await createApiServer(ports);
  t.after(() => api.close());
  const identity = await laptopIdentity(undefined, "127.0.0.1", clock);
  const { url } = await api.listen({ tls: identity.serving });
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, identity.kubeconfig(url));
  const client = createClient(api.transport(), ports);
  await installOwnCrds(client, clock, new AbortController().signal, [[VinoNode]]);
  const { Namespace } = await import("@slipway/kube/core");
  await client.create(Namespace, { metadata: { name: REF.namespace } });
  return { client, kubeconfig };
}

/** What DHCP names, and an image. */
async function bootServer(t: TestContext): Promise<{ asked: string[]; port: number }> {
  const asked: string[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url!);
    if (url === "/image.iso") return void response.end(Buffer.alloc(1_000_000, 7));
    response.end("#!ipxe\nsleep 3600\n");
  });
  server.listen(0, "0.0.0.0");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  return { asked, port: (server.address() as { port: number }).port };
}

/** What agents have printed. */
const said: string[] = [];

function startAgent(t: TestContext, folder: string, kubeconfig: string): ChildProcess {
  const options = ["--node", NODE, "--address", "127.0.0.1", "--namespace", REF.namespace, "--kubeconfig", kubeconfig];
  const child = spawn(
    "bin/slipway",
    ["node-agent", ...options, "--redfish-port", "8443", "--dir", join(folder, "agent"), "--no-kvm"],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => {
      process.stdout.write(bytes);
      said.push(bytes.toString());
    });
  t.after(() => ended(child, "SIGKILL"));
  return child;
}

async function statusWith(
  client: Client,
  what: string,
  holds: (status: VinoNode["status"]) => boolean | undefined,
): Promise<NonNullable<VinoNode["status"]>> {
  let last: VinoNode["status"];
  try {
    return await until(what, async () => {
      last = (await client.get(VinoNode, REF)).status;
      return holds(last) ? last : undefined;
    });
  } catch (cause) {
    throw new Error(`${what}: ${JSON.stringify(last)}`, { cause });
  }
}

async function patchSpec(client: Client, spec: Partial<VinoNodeSpec>): Promise<void> {
  await client.patch(VinoNode, REF, { type: "merge", body: { spec } });
}
