/** What each sort of pools promises, what is written of that on the pool, and what of it is taken off again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { GlobalInClusterIPPool, InClusterIPPool } from "../../kinds/ipam/in-cluster-ip-pool.ts";
import { IPPool } from "../../kinds/ipam/ip-pool.ts";
import { PROMISED } from "./names.ts";
import { sortOf } from "./testing.ts";

const NO_MACS: ReadonlySet<bigint> = new Set();
const inCluster = (text?: string) =>
  ({
    metadata: { namespace: "quay", name: "berths", ...(text !== undefined && { annotations: { [PROMISED]: text } }) },
    spec: { addresses: ["10.0.0.1-10.0.0.3"], prefix: 24 },
  }) as unknown as KubeObject;
const VINOS: IPPool["spec"] = {
  ...{ subnet: "10.0.0.0/16", ranges: [{ start: "10.0.1.0", stop: "10.0.1.1" }] },
  ...{ macPrefix: "02:00:00:00:00:00", nextMAC: "02:00:00:00:00:05", allocatedIPs: [] },
};
const vinos = (spec: object = {}): KubeObject =>
  ({ metadata: { namespace: "quay", name: "berths" }, spec: { ...VINOS, ...spec } }) as unknown as KubeObject;
const A = { allocatedTo: "IPAddressClaim/quay/a", ip: "10.0.1.0", mac: "02:00:00:00:00:01" };

for (const resource of [InClusterIPPool, GlobalInClusterIPPool]) {
  const { promise, read, release, counts } = sortOf(resource);
  const promised = (text: string | undefined, held: readonly string[], waiting: readonly string[]) => {
    const given = promise(
      inCluster(text),
      held.map((claim, at) => ({ claim, address: `10.0.0.${at + 1}` })),
      waiting,
      NO_MACS,
    );
    const { metadata } = (given.body ?? {}) as { metadata?: { annotations: Record<string, string> } };
    return [Object.fromEntries(given.addresses), metadata?.annotations[PROMISED]];
  };

  test(`a promise is written once, for those alone whose IPAddress is yet to come: ${resource.kind}`, () => {
    const both = '{"quay/a":"10.0.0.1","quay/b":"10.0.0.2"}';
    assert.deepEqual(promised(undefined, [], ["quay/a", "quay/b"]), [JSON.parse(both), both]);
    assert.deepEqual(promised(both, [], ["quay/a", "quay/b"]), [JSON.parse(both), undefined]);
    assert.deepEqual(promised(both, ["quay/a"], ["quay/a", "quay/b"]), [JSON.parse(both), '{"quay/b":"10.0.0.2"}']);
    assert.deepEqual(promised(both, [], ["quay/b"]), [{ "quay/b": "10.0.0.2" }, '{"quay/b":"10.0.0.2"}']);
    assert.deepEqual(promised(both, [], ["quay/c"])[0], { "quay/c": "10.0.0.1" }, "who waits no more has none");
    assert.deepEqual(promised("{}", ["x", "y", "z"], ["quay/a"]), [{}, undefined], "none is free");
    assert.deepEqual([release(inCluster(both), new Set(["quay/a"])), counts], [undefined, true]);
  });

  test(`promises that are damaged are an error of the pool, and say how they are mended: ${resource.kind}`, () => {
    const damaged = { code: "Invalid", on: `annotation ${PROMISED}`, remedy: /^remove it, once every claim/ };
    for (const use of [() => read(inCluster("{")), () => promise(inCluster("{"), [], [], NO_MACS)])
      assert.throws(use, (error: typeof damaged & { remedy: string }) => {
        assert.deepEqual([error.code, error.on], [damaged.code, damaged.on]);
        assert.match(error.remedy, damaged.remedy);
        return true;
      });
    assert.equal(read(inCluster("{}")).prefix, 24);
  });
}

test("VINO-11 on ViNO's pool a promise is an entry with a MAC address that no other pool gives", () => {
  const { promise, counts } = sortOf(IPPool);
  const macs = new Set([0x02_00_00_00_00_05n]);
  const { addresses, body } = promise(vinos(), [], ["quay/a", "quay/b", "quay/c"], macs);
  assert.deepEqual(
    [...addresses],
    [
      ["quay/a", "10.0.1.0"],
      ["quay/b", "10.0.1.1"],
    ],
  );
  const entries = [
    { allocatedTo: "IPAddressClaim/quay/a", ip: "10.0.1.0", mac: "02:00:00:00:00:06" },
    { allocatedTo: "IPAddressClaim/quay/b", ip: "10.0.1.1", mac: "02:00:00:00:00:07" },
  ];
  assert.deepEqual(body, { spec: { allocatedIPs: entries, nextMAC: "02:00:00:00:00:08" } });
  const again = promise(vinos({ allocatedIPs: entries }), [], ["quay/b"], NO_MACS);
  assert.deepEqual([[...again.addresses], again.body], [[["quay/b", "10.0.1.1"]], undefined]);
  assert.equal(counts, false);
});

test("VINO-11 what a claim has of ViNO's pool is taken off with it, and nobody else's", () => {
  const { release, read } = sortOf(IPPool);
  const b = { ...A, allocatedTo: "vino/b", ip: "10.0.1.1", mac: "02:00:00:00:00:02" };
  assert.deepEqual(release(vinos({ allocatedIPs: [A, b] }), new Set(["quay/a"])), { spec: { allocatedIPs: [b] } });
  assert.equal(release(vinos({ allocatedIPs: [A, b] }), new Set(["quay/b"])), undefined);
  assert.throws(() => read(vinos({ allocatedIPs: [A, { ...b, mac: A.mac }] })), { code: "Invalid" });
  assert.throws(() => read(vinos({ ranges: [] })), { code: "NotFound" });
});

test("VINO-3 only what a claim of this promise has is taken back where another pool gives its MAC address", () => {
  const { withoutClashes } = sortOf(IPPool);
  const macs = new Set([0x02_00_00_00_00_01n]);
  assert.equal(withoutClashes!(vinos({ allocatedIPs: [A] }), ["quay/other"], macs), undefined);
  assert.deepEqual(withoutClashes!(vinos({ allocatedIPs: [A] }), ["quay/a"], macs), vinos());
  assert.equal(sortOf(InClusterIPPool).withoutClashes, undefined);
});
