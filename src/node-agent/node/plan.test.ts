import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import type { VinoNode } from "../../kinds/vino/vino-node.ts";
import { CAPABILITIES, domain, emptied, FakeLibvirt, handsOn, node } from "../testing.ts";
import { readDomain } from "../xml/domain.ts";
import { converge, type Standing } from "./converge.ts";
import { type SecretsRead, subject, wishOf } from "./wish.ts";

const CONTEXT = { settings: { vncListen: "127.0.0.1", emulated: true }, filling: new Set<string>() };
const NO_SECRETS: SecretsRead = new Map();

async function apply(libvirt: FakeLibvirt, nodes: readonly VinoNode[], secrets = NO_SECRETS): Promise<Standing> {
  return await converge(handsOn(libvirt), wishOf(nodes, secrets), CONTEXT);
}

function coresOf(libvirt: FakeLibvirt): Record<string, readonly number[]> {
  const reads = [...libvirt.domainsByUuid.values()].map(({ next }) => readDomain(next));
  return Object.fromEntries(reads.map(({ name, cores }) => [name, cores]));
}

test("VINO-6 what a node has follows its VinoNode, and with an empty one nothing is left", async () => {
  const libvirt = new FakeLibvirt();
  await apply(libvirt, [node("a", [domain("w0"), domain("w1")])]);
  assert.deepEqual(libvirt.inventory(), [
    ...["domain w0", "domain w1", "network slipway-br0", "pool deep", "volume deep/w0-vda", "volume deep/w1-vda"],
  ]);
  assert.deepEqual(coresOf(libvirt), { w0: [0], w1: [1] });
  await libvirt.startDomain((await libvirt.domains())[0]!);

  await apply(libvirt, [node("a", [domain("w1"), domain("w2")])]);
  // The first one's core was not free yet when the third one got its own.
  assert.deepEqual(coresOf(libvirt), { w1: [1], w2: [2] });
  assert.ok(!libvirt.inventory().includes("volume deep/w0-vda"));

  const { leftovers } = await apply(libvirt, [emptied("a")]);
  assert.deepEqual(libvirt.inventory(), []);
  assert.deepEqual(leftovers, []);
});

test("VINO-8 two VinoNodes share a bridge and a pool, and neither gets the other's names, cores or volumes", async () => {
  const libvirt = new FakeLibvirt();
  const other = node("b", [domain("x0"), domain("w0", { uuid: "00000000-0000-4000-8000-0000000000ff" })], {
    networks: [
      { name: "oam", bridge: "br0", mac: "02:00:00:00:00:09", addresses: ["10.9.0.1/24"] },
      { name: "management", bridge: "br1", mac: "02:00:00:00:00:0a", addresses: ["10.8.0.1/24"] },
    ],
  });
  const { problems } = await apply(libvirt, [other, node("a", [domain("w0")])]);
  assert.match(libvirt.networksByName.get("slipway-br0")!.xml, /10\.0\.0\.1[\s\S]*10\.9\.0\.1/);
  assert.equal(problems.get(subject.domain("vino-system/b", "w0")), "name w0 is taken by vino-system/a's w0");
  assert.deepEqual(coresOf(libvirt), { w0: [0], x0: [1] });

  await apply(libvirt, [other, emptied("a")]);
  assert.doesNotMatch(libvirt.networksByName.get("slipway-br0")!.xml, /10\.0\.0\.1"/);
  // The one that was second may have the name now.
  assert.deepEqual(Object.keys(coresOf(libvirt)).sort(), ["w0", "x0"]);
  assert.deepEqual([...libvirt.domainsByUuid.keys()].includes("00000000-0000-4000-8000-0000000000ff"), true);
});

test("what is not the agent's is never touched, and what stands in the way is named", async () => {
  const libvirt = new FakeLibvirt();
  await libvirt.defineDomain("<domain><name>w0</name><uuid>10000000-0000-4000-8000-000000000000</uuid></domain>");
  await libvirt.defineNetwork("<network><name>other</name><uuid>u</uuid><bridge name='br0'/></network>");
  await libvirt.defineDomain("<domain><name>w2</name><uuid>20000000-0000-4000-8000-000000000000</uuid></domain>");
  const before = libvirt.inventory();
  const { problems } = await apply(libvirt, [node("a", [domain("w0"), domain("w1")])]);
  assert.match(
    problems.get(subject.domain("vino-system/a", "w0"))!,
    /a domain w0 \(1000.*is not the agent's|not the agent's/,
  );
  assert.match(problems.get(subject.bridge("br0"))!, /libvirt's network other has the bridge/);
  const { leftovers } = await apply(libvirt, [emptied("a")]);
  assert.deepEqual(leftovers, []);
  assert.deepEqual(libvirt.inventory(), before);

  await libvirt.definePool(
    "<pool><name>deep</name><uuid>theirs</uuid><target><path>/var/lib/libvirt/deep</path></target></pool>",
  );
  const second = await apply(libvirt, [node("a", [domain("w1")])]);
  assert.match(
    second.problems.get(subject.domain("vino-system/a", "w1"))!,
    /storage pool deep is on the node that is not the agent's/,
  );
  await apply(libvirt, [emptied("a")]);
  assert.deepEqual(libvirt.inventory(), [...before, "pool deep"].sort());
});

test("an agent of one namespace leaves domains of others alone, and who has a name keeps it", async () => {
  const libvirt = new FakeLibvirt();
  await apply(libvirt, [node("b", [domain("w0")])]);
  await converge(handsOn(libvirt), wishOf([], NO_SECRETS, { scope: "other" }), CONTEXT);
  assert.ok(libvirt.inventory().includes("volume deep/w0-vda"));
  const rival = node("a", [domain("w0", { uuid: "00000000-0000-4000-8000-0000000000ff" })]);
  const { problems } = await apply(libvirt, [rival, node("b", [domain("w0")])]);
  assert.match(problems.get(subject.domain("vino-system/a", "w0"))!, /vino-system\/b has a domain of this name/);
  assert.deepEqual([...libvirt.domainsByUuid.keys()], [domain("w0").uuid]);
  // Nobody wants anything any more: nothing is left.
  await converge(handsOn(libvirt), wishOf([emptied("b")], NO_SECRETS, { scope: "vino-system" }), CONTEXT);
  assert.deepEqual(libvirt.inventory(), []);
});

test("a volume of the same name that nobody said is the domain's is no disk of it", async () => {
  const libvirt = new FakeLibvirt();
  await apply(libvirt, [node("a", [])]);
  libvirt.poolsByName.get("deep")!.volumes.set("w0-vda", 7n);
  const { problems } = await apply(libvirt, [node("a", [domain("w0")])]);
  assert.match(problems.get(subject.domain("vino-system/a", "w0"))!, /a volume w0-vda is in the storage pool deep/);
  await apply(libvirt, [emptied("a")]);
  assert.equal(libvirt.inventory().includes("domain w0"), false);
});

test("VINO-9 a change of a running machine waits for its next start, and grows disks only while it is off", async () => {
  const libvirt = new FakeLibvirt();
  await apply(libvirt, [node("a", [domain("w0")])]);
  await libvirt.startDomain((await libvirt.domains())[0]!);
  const larger = domain("w0", {
    memoryMiB: 1024,
    disks: [{ volume: "w0-vda", sizeGiB: 3, sparse: true, device: "vda" }],
  });
  const about = subject.domain("vino-system/a", "w0");
  const first = await apply(libvirt, [node("a", [larger])]);
  assert.equal(first.waits.get(about), "a disk is grown when it is switched off");
  libvirt.stopped(larger.uuid);
  const second = await apply(libvirt, [node("a", [larger])]);
  assert.equal(second.waits.get(about), undefined);
  assert.equal(libvirt.poolsByName.get("deep")!.volumes.get("w0-vda"), 3n * 2n ** 30n);
});

test("what fails keeps only itself from going on", async () => {
  const libvirt = new FakeLibvirt();
  libvirt.refuse = (what) => (what === "create volume w0-vda" ? "no space left" : undefined);
  const { problems, again } = await apply(libvirt, [node("a", [domain("w0"), domain("w1")])]);
  assert.equal(problems.get(subject.domain("vino-system/a", "w0")), "libvirt: no space left");
  assert.equal(again, true);
  assert.ok(libvirt.inventory().includes("volume deep/w1-vda"));
});

test("VINO-17 cores of cpuExclude are given to nobody, whichever VinoNode excludes them", async () => {
  const libvirt = new FakeLibvirt();
  await apply(libvirt, [node("a", [domain("w0")]), node("b", [domain("x0")], { cpuExclude: "0-1" })]);
  assert.deepEqual(coresOf(libvirt), { w0: [2], x0: [3] });
});

test("another UUID is another machine, and a disk that is not wanted goes when the machine is off", async () => {
  const libvirt = new FakeLibvirt();
  const second = { volume: "w0-vdb", sizeGiB: 1, sparse: true, device: "vdb" };
  const two = domain("w0", { disks: [...domain("w0").disks, second] });
  await apply(libvirt, [node("a", [two])]);
  await libvirt.startDomain((await libvirt.domains())[0]!);
  const about = subject.domain("vino-system/a", "w0");
  const { waits } = await apply(libvirt, [node("a", [domain("w0")])]);
  assert.equal(waits.get(about), "a disk is removed when it is switched off");
  assert.ok(libvirt.inventory().includes("volume deep/w0-vdb"));
  libvirt.stopped(two.uuid);
  await apply(libvirt, [node("a", [domain("w0")])]);
  assert.ok(!libvirt.inventory().includes("volume deep/w0-vdb"));
  const uuid = "00000000-0000-4000-8000-0000000000ff";
  await apply(libvirt, [node("a", [domain("w0", { uuid })])]);
  assert.deepEqual([...libvirt.domainsByUuid.keys()], [uuid]);
});

test("a running machine that lost its bridge is plugged in again, and a foreign network of the name is named", async () => {
  const libvirt = new FakeLibvirt();
  await apply(libvirt, [node("a", [domain("w0")])]);
  await libvirt.startDomain((await libvirt.domains())[0]!);
  const running = libvirt.domainsByUuid.get(domain("w0").uuid)!;
  running.live = running.live!.replace(/(<source network[^>]*>)/, '$1<target dev="vnet0"/>');
  libvirt.devices.set("vnet0", undefined);
  await apply(libvirt, [node("a", [domain("w0")])]);
  assert.equal(libvirt.devices.get("vnet0"), "br0");

  const other = new FakeLibvirt();
  await other.defineNetwork("<network><name>slipway-br0</name><uuid>u</uuid><bridge name='brx'/></network>");
  const { problems } = await apply(other, [node("a", [])]);
  assert.match(problems.get(subject.bridge("br0"))!, /libvirt's network slipway-br0 has the bridge or the name/);
});

test("a physical device becomes a port of the bridge, and again after the network was started anew", async () => {
  const libvirt = new FakeLibvirt();
  const wired = (addresses: string[]) =>
    node("a", [], {
      networks: [{ name: "m", bridge: "br0", mac: "02:00:00:00:00:01", addresses, physicalInterface: "eth1" }],
    });
  const first = await apply(libvirt, [wired(["10.0.0.1/24"])]);
  assert.equal(first.problems.get(subject.bridge("br0")), "the node has no network device eth1");
  libvirt.devices.set("eth1", undefined);
  await apply(libvirt, [wired(["10.0.0.1/24"])]);
  assert.equal(libvirt.devices.get("eth1"), "br0");
  await apply(libvirt, [wired(["10.0.0.1/24", "fd00::1/64"])]);
  assert.equal(libvirt.devices.get("eth1"), "br0");
});

test("a Secret that is missing makes no domain, and unmakes none", async () => {
  const libvirt = new FakeLibvirt();
  const seen = node("a", [domain("w0", { vnc: { name: "screen" } })]);
  const { problems } = await apply(libvirt, [seen]);
  assert.match(
    problems.get(subject.domain("vino-system/a", "w0"))!,
    /Secret screen with the key password.* is missing/,
  );
  const secrets = new Map([["vino-system/screen", { version: "1", data: { password: "12345678" } }]]);
  await apply(libvirt, [seen], secrets);
  assert.ok(libvirt.inventory().includes("domain w0"));
  await apply(libvirt, [seen]);
  assert.ok(libvirt.inventory().includes("volume deep/w0-vda"));
});

test("VINO-10 a processor that runs no machines, or no firmware of the sort, makes no domain, and says so", async () => {
  const said = async (architecture: string, firmware: "bios" | "uefi") => {
    const libvirt = new FakeLibvirt();
    libvirt.capabilities = async () => CAPABILITIES.replaceAll("x86_64", architecture);
    const { problems } = await apply(libvirt, [node("a", [domain("w0", { firmware })])]);
    assert.equal(libvirt.inventory().includes("domain w0"), problems.size === 0);
    return problems.get(subject.domain("vino-system/a", "w0"));
  };
  assert.equal(await said("aarch64", "uefi"), undefined);
  assert.equal(await said("aarch64", "bios"), "aarch64 has no bios firmware: only uefi");
  assert.equal(await said("x86_64", "bios"), undefined);
  assert.match((await said("riscv64", "uefi"))!, /neither x86_64 nor aarch64/);
});

/** Begins to remove everything, and dies at one change after the other. */
async function dieOften(libvirt: FakeLibvirt): Promise<void> {
  for (let dieAfter = 0; dieAfter < 20; dieAfter += 3) {
    libvirt.dieAfter = dieAfter;
    await apply(libvirt, [emptied("a")]).catch(() => {});
  }
}

/** Switches on all that is the agent's. */
async function startAll(libvirt: FakeLibvirt): Promise<void> {
  const off = (await libvirt.domains()).filter(({ id, name }) => id < 0 && name !== "theirs");
  for (const one of off) await libvirt.startDomain(one);
}

test("killed at any change, the next agent ends where one that lived would have, and foreign things are as they were", async () => {
  const names = fc.uniqueArray(fc.constantFrom("w0", "w1", "w2", "x0"), { maxLength: 4 });
  const history = fc.array(fc.record({ names, dieAfter: fc.nat(12), running: fc.boolean() }), {
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(history, async (rounds) => {
      const libvirt = new FakeLibvirt();
      await libvirt.defineDomain(
        "<domain><name>theirs</name><uuid>10000000-0000-4000-8000-000000000000</uuid></domain>",
      );
      for (const { names: wanted, dieAfter, running } of rounds) {
        const nodes = [
          node(
            "a",
            wanted.map((name) => domain(name)),
          ),
        ];
        libvirt.dieAfter = dieAfter;
        await apply(libvirt, nodes).catch((error: unknown) => assert.ok(isFault(error, "LostAnswer"), String(error)));
        libvirt.dieAfter = undefined;
        await apply(libvirt, nodes);
        const expected = wanted.flatMap((name) => [`domain ${name}`, `volume deep/${name}-vda`]);
        assert.deepEqual(
          libvirt.inventory(),
          [...expected, "domain theirs", "network slipway-br0", "pool deep"].sort(),
        );
        const cores = Object.values(coresOf(libvirt)).flat();
        assert.equal(new Set(cores).size, cores.length);
        if (running) await startAll(libvirt);
      }
      await dieOften(libvirt);
      libvirt.dieAfter = undefined;
      await apply(libvirt, [emptied("a")]);
      assert.deepEqual(libvirt.inventory(), ["domain theirs"]);
    }),
    { numRuns: 60 },
  );
});
