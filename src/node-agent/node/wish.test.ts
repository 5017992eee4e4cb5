import assert from "node:assert/strict";
import { test } from "node:test";
import type { VinoNode } from "../../kinds/vino/vino-node.ts";
import { domain, node } from "../testing.ts";
import { type SecretsRead, subject, wishOf } from "./wish.ts";

const DISK = domain("w0").disks[0]!;
const NONE: SecretsRead = new Map();

/** Why a domain is not made; undefined: it is. */
const reason = (more: Parameters<typeof domain>[1], of: Partial<VinoNode["spec"]> = {}): string | undefined => {
  const made = { ...domain("w0"), ...more };
  const { domains, problems } = wishOf([node("a", [made], of)], NONE);
  const said = problems.get(subject.domain("vino-system/a", made.name));
  assert.equal(domains.length, said === undefined ? 1 : 0);
  return said;
};

test("VINO-10 a domain that no libvirt should have is refused by what is wrong with it", () => {
  assert.equal(reason({}), undefined);
  assert.match(reason({ name: "a b" })!, /^its name has other characters than letters, digits, dots/);
  assert.match(reason({ name: "a".repeat(64) })!, /^its name/);
  assert.match(reason({ uuid: "NOT-ONE" })!, /^UUID NOT-ONE is none in lower case/);
  assert.match(reason({ disks: [{ ...DISK, device: "vda1" }] })!, /^disk vda1: its device is none such as vda/);
  assert.match(reason({ disks: [{ ...DISK, volume: "../x" }] })!, /its volume \.\.\/x is no plain name/);
  assert.equal(reason({ disks: [DISK, { ...DISK, volume: "other" }] }), "two disks have the same device");
  assert.match(reason({ disks: [DISK, { ...DISK, device: "vdb" }] })!, /^volume .* is taken by itself/);
  const card = { ...domain("w0").interfaces[0]!, name: "eth9", network: "nowhere" };
  assert.match(reason({ interfaces: [card] })!, /^interface eth9: there is no network nowhere in the VinoNode/);
  assert.match(reason({ vnc: { name: "screen" } })!, /^Secret screen with the key password/);
});

test("VINO-8 of two VinoNodes that contradict each other the first by name is heard, and the other is told why", () => {
  const pool = { storagePool: { name: "deep", path: "/elsewhere" } };
  const { pools, problems } = wishOf([node("b", [], pool), node("a", [])], NONE);
  assert.deepEqual(
    pools.map(({ path }) => path),
    ["/var/lib/libvirt/deep"],
  );
  assert.match(problems.get(subject.node("vino-system/b"))!, /^storage pool deep is at .* for another VinoNode/);
  const twice = wishOf([node("b", [domain("w0")]), node("a", [domain("w0")])], NONE);
  assert.deepEqual(
    twice.domains.map(({ owner }) => owner),
    ["vino-system/a"],
  );
  assert.match(twice.problems.get(subject.domain("vino-system/b", "w0"))!, /^name w0 is taken by vino-system\/a's w0/);
});

test("VINO-17 cores that can't be read are excluded for nobody, and the VinoNode says so", () => {
  const { excluded, problems } = wishOf(
    [node("a", [], { cpuExclude: "0-x" }), node("b", [], { cpuExclude: "2,4-5" })],
    NONE,
  );
  assert.deepEqual(excluded, [2, 4, 5]);
  assert.match(problems.get(subject.node("vino-system/a"))!, /^cpuExclude: /);
});

test("VINO-6 confirmations are those of the agent's call and of all VinoNodes", () => {
  const confirmed = node("a", []);
  confirmed.metadata.annotations = { "slipway.dev/confirm-removal": "c-1" };
  const { confirmations, scope } = wishOf([confirmed, node("b", [])], NONE, { scope: "s", confirmations: ["c-0"] });
  assert.deepEqual([[...confirmations], scope], [["c-0", "c-1"], "s"]);
});

type Network = VinoNode["spec"]["networks"][number];
const network = (more: Partial<Network>): Network => ({ ...node("a", []).spec.networks[0]!, ...more }) as Network;
const wired = (name: string, ...networks: Network[]): VinoNode => node(name, [], { networks });

test("VINO-8 a bridge of two VinoNodes has what both want of it, each once", () => {
  const dhcp = { start: "10.0.0.100", stop: "10.0.0.199" };
  const first = network({ dhcp, dnsServers: ["10.0.0.53"], physicalInterface: "eth1" });
  const second = network({
    ...{ mac: "02:00:00:00:00:09", addresses: ["10.0.0.1/24", "fd00::1/64"], dnsServers: ["10.0.0.53", "fd00::53"] },
    ...{ dhcp, bootUrl: "http://10.0.0.1/boot", physicalInterface: "eth2" },
  });
  const { networks, problems } = wishOf([wired("a", first), wired("b", second)], NONE);
  assert.deepEqual([...problems], []);
  const [{ name, uuid: _, ...bridge }] = networks as [(typeof networks)[number]];
  assert.deepEqual(bridge, {
    ...{ bridge: "br0", mac: "02:00:00:00:00:01", addresses: ["10.0.0.1/24", "fd00::1/64"] },
    ...{ dhcp: [dhcp], dnsServers: ["10.0.0.53", "fd00::53"], bootUrl: "http://10.0.0.1/boot" },
    physicalInterfaces: ["eth1", "eth2"],
  });
});

test("VINO-8 what two VinoNodes can't have of one bridge is refused for the second, and the bridge stays the first one's", () => {
  const v4 = network({ dhcp: { start: "10.0.0.100", stop: "10.0.0.199" }, bootUrl: "http://10.0.0.1/a" });
  const about = subject.network("vino-system/b", "management");
  const refused = (second: Network): string | undefined => {
    const { networks, problems } = wishOf([wired("a", v4), wired("b", second)], NONE);
    const said = problems.get(about);
    if (said !== undefined) assert.deepEqual(networks, wishOf([wired("a", v4)], NONE).networks);
    return said;
  };
  const other = { addresses: ["10.9.0.1/24"], dhcp: { start: "10.9.0.100", stop: "10.9.0.199" } };
  assert.match(refused(network(other))!, /DHCP in one IPv4 and one IPv6 network only/);
  const v6 = { addresses: ["fd00::1/64"], dhcp: { start: "fd00::100", stop: "fd00::199" } };
  assert.equal(refused(network(v6)), undefined);
  assert.match(
    refused(network({ bootUrl: "http://10.0.0.1/b" }))!,
    /^bridge br0 boots machines from http:\/\/10.0.0.1\/a/,
  );
  assert.equal(refused(network({ bootUrl: "" })), undefined);
  assert.match(refused(network({ addresses: ["10.0.0.1"] }))!, /no address with a prefix/);
});
