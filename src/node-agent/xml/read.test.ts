/** What is read of libvirt's descriptions, which the agent did not all write itself. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readCapabilities } from "./capabilities.ts";
import { readDomain } from "./domain.ts";
import { element, textElement, write } from "./element.ts";
import { readNetwork } from "./network.ts";
import { readXml } from "./read.ts";

const domain = (inside: string) => readDomain(`<domain><name>a</name>${inside}</domain>`);

for (const [amount, kib] of [
  ["<memory>2048</memory>", 2048],
  ["<memory unit='KiB'>2048</memory>", 2048],
  ["<memory unit='k'>2048</memory>", 2048],
  ["<memory unit='b'>1025</memory>", 2],
  ["<memory unit='bytes'>1024</memory>", 1],
  ["<memory unit='KB'>1024</memory>", 1000],
  ["<memory unit='MB'>1024</memory>", 1_000_000],
  ["<memory unit='M'>3</memory>", 3 * 1024],
  ["<memory unit='MiB'>3</memory>", 3 * 1024],
  ["<memory unit='GB'>1024</memory>", 1_000_000_000],
  ["<memory unit='G'>3</memory>", 3 * 1024 ** 2],
  ["<memory unit='GiB'>3</memory>", 3 * 1024 ** 2],
  ["<memory unit='TB'>1024</memory>", 1_000_000_000_000],
  ["<memory unit='T'>3</memory>", 3 * 1024 ** 3],
  ["<memory unit='TiB'>3</memory>", 3 * 1024 ** 3],
  ["", 0],
] as const)
  test(`a domain's memory is read in libvirt's unit: ${amount || "none"}`, () => {
    assert.equal(domain(amount).memoryKiB, kib);
  });

test("a domain that says little has one processor, ordinary memory, and is pinned nowhere", () => {
  const { vcpus, cores, pinned, hugepageKiB, numaNode, cards, drives } = domain("");
  assert.deepEqual(
    [vcpus, cores, pinned, hugepageKiB, numaNode, cards, drives],
    [1, [], [], undefined, undefined, [], []],
  );
});

test("cores are a domain's own by processor only where each processor has one; all that it is pinned to is kept from others", () => {
  const pins = (...sets: string[]) =>
    domain(
      `<cputune>${sets
        .map((set, vcpu) => `<vcpupin vcpu='${vcpu}' cpuset='${set}'/>`)
        .reverse()
        .join("")}</cputune>`,
    );
  assert.deepEqual(pins("6", "4").cores, [6, 4]);
  const { cores, pinned } = pins("6", "4-5");
  assert.deepEqual([cores, pinned.toSorted()], [[], [4, 5, 6]]);
});

test("huge pages without a size are those of the system, and memory of several nodes is of none", () => {
  const backing = (page: string) => domain(`<memoryBacking><hugepages>${page}</hugepages></memoryBacking>`).hugepageKiB;
  assert.deepEqual(
    [backing(""), backing("<page size='2' unit='MiB'/>"), backing("<page size='2048'/>")],
    [0, 2048, 2048],
  );
  const node = (set: string) => domain(`<numatune><memory nodeset='${set}'/></numatune>`).numaNode;
  assert.deepEqual([node("0"), node("12"), node("0-1")], [0, 12, undefined]);
});

test("cards and drives of any sort are read with what they have", () => {
  const { cards, drives } = domain(`<devices>
    <interface type='bridge'><mac address='52:54:00:00:00:01'/><source bridge='br9'/><target dev='vnet3'/><alias name='net0'/></interface>
    <interface type='user'/>
    <disk type='volume'><source pool='deep' volume='w0-vda'/><target dev='vda'/><alias name='virtio-disk0'/></disk>
    <disk type='file'><source file='/a'/></disk></devices>`);
  assert.deepEqual(cards, [{ mac: "52:54:00:00:00:01", bridge: "br9", tap: "vnet3", alias: "net0" }, { mac: "" }]);
  assert.deepEqual(drives, [{ device: "vda", alias: "virtio-disk0", pool: "deep", volume: "w0-vda" }, { device: "" }]);
});

test("a network of others need have no bridge", () => {
  assert.deepEqual(readNetwork("<network><name>n</name></network>"), { name: "n", uuid: "" });
});

const capabilities = (arch: string, guests: string, cells = ""): ReturnType<typeof readCapabilities> =>
  readCapabilities(
    `<capabilities><host><cpu><arch>${arch}</arch></cpu><topology><cells>${cells}</cells></topology></host>${guests}</capabilities>`,
  );
const guest = (arch: string, ...types: string[]): string =>
  `<guest><arch name='${arch}'>${types.map((type) => `<domain type='${type}'/>`).join("")}</arch></guest>`;

test("a node's machines are accelerated where KVM runs guests of the node's own architecture", () => {
  const sorts = (arch: string, guests: string) => {
    const { architecture, accelerated } = capabilities(arch, guests);
    return [architecture, accelerated];
  };
  assert.deepEqual(sorts("x86_64", guest("i686", "qemu") + guest("x86_64", "qemu", "kvm")), ["x86_64", true]);
  assert.deepEqual(sorts("aarch64", guest("aarch64", "qemu") + guest("x86_64", "kvm")), ["aarch64", false]);
  assert.deepEqual(sorts("riscv64", guest("riscv64", "kvm")), [undefined, true]);
  assert.deepEqual(sorts("x86_64", ""), ["x86_64", false]);
});

test("a NUMA node's cores and huge pages are read; ordinary memory is none of these", () => {
  const cell = `<cell id='1'><pages unit='KiB' size='4'>1000</pages><pages unit='KiB' size='1024'>7</pages>
    <pages unit='KiB' size='2048'>512</pages><cpus num='2'><cpu id='4'/><cpu id='6'/></cpus></cell>`;
  assert.deepEqual(capabilities("x86_64", "", cell).nodes, [
    { id: 1, cores: [4, 6], hugepages: { 1024: 7, 2048: 512 } },
  ]);
});

test("what is undefined is left out of an element, and a text is in the place of children", () => {
  const inside = [undefined, false as const, element("c")];
  assert.equal(write(element("a", { b: undefined, n: 0 }, ...inside)), '<a n="0">\n  <c/>\n</a>\n');
  assert.equal(write(textElement("a", 0, { b: "" })), '<a b="">0</a>\n');
  assert.equal(write(textElement("a", "")), "<a/>\n");
});

test("characters of any notation are read, one beyond Unicode is refused, and what names nothing stays as it is", () => {
  const text = (inside: string) => readXml(`<a>${inside}</a>`).text;
  assert.equal(text("&lt;&#65;&#x1F600;&apos;&other;&"), "<A\u{1F600}'&other;&");
  assert.equal(text("&#x10FFFF;"), "\u{10FFFF}");
  assert.throws(() => text("&#x110000;"), { code: "Invalid" });
});

test("elements are 64 deep at most", () => {
  const deep = (count: number): string => "<a>".repeat(count) + "</a>".repeat(count);
  readXml(deep(64));
  assert.throws(() => readXml(deep(65)), { code: "Invalid", message: /too deep/ });
});
