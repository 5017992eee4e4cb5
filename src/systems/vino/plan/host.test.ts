import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "@slipway/kube/core";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import type { NodeSet, Vino } from "../../../kinds/vino/vino.ts";
import type { Domain, VinoNode } from "../../../kinds/vino/vino-node.ts";
import { bmcAddress, type HostOf, hostChange, hostDraft, hostWish, labelsOf } from "./host.ts";

const APPLIED = "slipway.dev/vino-applied";
const DOMAIN = {
  ...{ name: "d-1", host: "h-1", role: "worker", bootMAC: "02:00:00:00:00:01", bmc: { name: "h-1-credentials" } },
  interfaces: [{ network: "oam" }, { network: "pxe" }],
} as unknown as Domain;
const VINO_NODE = {
  metadata: { namespace: "ns", name: "v-n1", uid: "u" },
  spec: { nodeName: "n1" },
  status: {
    redfish: { url: "https://10.0.0.5:8443", ca: "CA" },
    domains: [
      { name: "d-0", system: "/redfish/v1/Systems/d-0" },
      { name: "d-1", system: "/redfish/v1/Systems/d-1" },
    ],
  },
} as unknown as VinoNode;
const node = (...addresses: string[]) =>
  ({
    metadata: { name: "n1", labels: { zone: "a", rack: "r" } },
    status: { addresses: addresses.map((address) => ({ type: "InternalIP", address })) },
  }) as unknown as Node;
const at = (url: string, system = "/redfish/v1/Systems/d-1") =>
  ({ ...VINO_NODE, status: { redfish: { url }, domains: [{ name: "d-1", system }] } }) as unknown as VinoNode;

const of = (set: Partial<NodeSet> = {}, vino: Partial<Vino["spec"]> = {}): HostOf => ({
  vino: { metadata: { namespace: "ns", name: "v" }, spec: vino } as Vino,
  ...{ node: node("10.0.0.4", "10.0.0.5"), vinoNode: VINO_NODE, domain: DOMAIN },
  machine: {
    id: "worker-0",
    set: { ...set, name: set.name ?? "worker" },
    interfaces: [],
    bootInterface: undefined,
    disks: [],
  },
});

test("a host's labels: where, what for, its networks, the node's that are asked for, and the Vino's own above those", () => {
  const fixed = {
    ...{ "vino.airshipit.org/role": "worker", "vino.airshipit.org/host": "n1" },
    ...{ "vino.airshipit.org/network-oam": "true", "vino.airshipit.org/network-pxe": "true" },
    ...{ "vino.airshipit.org/cr-name": "v", "vino.airshipit.org/cr-namespace": "ns", "slipway.dev/node": "n1" },
  };
  assert.deepEqual(labelsOf(of()), fixed);
  const asked = { nodeLabelKeysToCopy: ["zone", "missing", "rack"] };
  assert.deepEqual(labelsOf(of({ bmhLabels: { rack: "own", long: "x".repeat(63), none: "" } }, asked)), {
    ...{ ...fixed, zone: "a", rack: "own", long: "x".repeat(63), none: "" },
  });
  assert.deepEqual(labelsOf({ ...of({}, asked), node: undefined }), fixed);
  for (const value of ["x".repeat(64), "a b", "-a", "a-"])
    assert.throws(
      () => labelsOf(of({ bmhLabels: { key: value } })),
      /spec\.nodes\.worker\.bmhLabels\.key: .* can't be a label/,
    );
});

test("a host is ordered at its node's own address, whatever its family and spelling", () => {
  const found = (url: string, ...addresses: string[]) => bmcAddress(at(url), DOMAIN, node(...addresses));
  assert.equal(found("https://10.0.0.5:8443", "10.0.0.5"), "redfish+https://10.0.0.5:8443/redfish/v1/Systems/d-1");
  assert.equal(bmcAddress(VINO_NODE, DOMAIN, node("10.0.0.5")), "redfish+https://10.0.0.5:8443/redfish/v1/Systems/d-1");
  assert.equal(found("https://[fd00::5]", "FD00:0:0::5"), "redfish+https://[fd00::5]/redfish/v1/Systems/d-1");
  assert.equal(
    found("https://n1.example:1", "10.0.0.5", "N1.example"),
    "redfish+https://n1.example:1/redfish/v1/Systems/d-1",
  );
});

test("an agent that serves elsewhere, in plain text, or names no system is refused", () => {
  const own = node("10.0.0.5");
  for (const [vinoNode, known, message] of [
    [at("https://10.0.0.6:8443"), own, /10\.0\.0\.6 is no address of the node/],
    [at("https://10.0.0.5:8443"), undefined, /is no address of the node/],
    [at("https://10.0.0.5:8443"), node(), /is no address of the node/],
    [at("http://10.0.0.5"), own, /it is no https address/],
    [at("x"), own, /it is no https address/],
    [{ ...VINO_NODE, status: undefined }, own, /it is no https address/],
    [at("https://10.0.0.5", "/redfish/v1/Systems/a/b"), own, /d-1 has no path of a Redfish system/],
    [at("https://10.0.0.5", "/x/redfish/v1/Systems/a"), own, /d-1 has no path/],
    [{ ...VINO_NODE, status: { redfish: { url: "https://10.0.0.5" } } } as VinoNode, own, /d-1 has no path/],
  ] as const)
    assert.throws(() => bmcAddress(vinoNode as VinoNode, DOMAIN, known), message);
});

test("what a host is to be, by default and as the Vino says", () => {
  const wish = hostWish(of());
  assert.deepEqual(
    { ...wish, labels: Object.keys(wish.labels).length },
    {
      labels: 7,
      bmc: { address: "redfish+https://10.0.0.5:8443/redfish/v1/Systems/d-1", credentialsName: "h-1-credentials" },
      ...{ bootMACAddress: "02:00:00:00:00:01", bootMode: "UEFI", deviceName: "/dev/vda" },
      ...{ networkData: "h-1-network-data", online: false },
    },
  );
  const other = hostWish(of({ bootMode: "legacy", rootDeviceName: "/dev/disk/by-id/a", online: true }));
  assert.deepEqual([other.bootMode, other.deviceName, other.online], ["legacy", "/dev/disk/by-id/a", true]);
  assert.equal(hostWish(of({ rootDeviceName: "" })).deviceName, "/dev/vda");
  for (const rootDeviceName of ["vda", "/dev/a b", `/dev/${"x".repeat(201)}`])
    assert.throws(() => hostWish(of({ rootDeviceName })), /spec\.nodes\.worker\.rootDeviceName: .* is no device/);
});

test("a new host says all of it, and what was written", () => {
  const wish = hostWish(of());
  const draft = hostDraft(wish, of());
  assert.deepEqual(draft.spec, {
    ...{ online: false, bmc: wish.bmc, bootMode: "UEFI", automatedCleaningMode: "metadata" },
    bootMACAddress: "02:00:00:00:00:01",
    ...{ rootDeviceHints: { deviceName: "/dev/vda" }, networkData: { name: "h-1-network-data" } },
  });
  const { ownerReferences, ...metadata } = draft.metadata;
  assert.deepEqual(metadata, {
    ...{ name: "h-1", namespace: "ns", labels: wish.labels },
    annotations: { [APPLIED]: JSON.stringify(wish), "slipway.dev/vino-machine": "worker-0" },
  });
  assert.deepEqual(
    ownerReferences!.map(({ uid, controller }) => [uid, controller]),
    [["u", true]],
  );
  const { bootMACAddress: _, ...without } = wish;
  assert.equal("bootMACAddress" in hostDraft({ ...without, bootMACAddress: undefined }, of()).spec, false);
});

/** A host as it was written, with what is given changed since. */
function live(
  spec: object = {},
  labels: Record<string, string> = {},
  annotations?: Record<string, string>,
): BareMetalHost {
  const draft = hostDraft(hostWish(of()), of());
  return {
    ...draft,
    metadata: {
      ...{ ...draft.metadata, resourceVersion: "7", labels: { ...draft.metadata.labels, ...labels } },
      ...(annotations && { annotations }),
    },
    spec: { ...draft.spec, ...spec },
  } as unknown as BareMetalHost;
}
const changed = (host: BareMetalHost, wish = hostWish(of())) => {
  const change = hostChange(host, wish) as
    | { metadata: { labels?: object; resourceVersion: string }; spec?: object }
    | undefined;
  if (change !== undefined) assert.equal(change.metadata.resourceVersion, "7");
  return change && [change.metadata.labels, change.spec];
};

test("a host that is as wished is not written; what differs is, with what was ours and is no more", () => {
  const wish = hostWish(of());
  assert.equal(changed(live()), undefined);
  assert.equal(changed(live({}, { users: "own" })), undefined);
  assert.deepEqual(changed(live({ bootMACAddress: "02:00:00:00:00:09" })), [
    undefined,
    { bootMACAddress: "02:00:00:00:00:01" },
  ]);
  assert.equal(changed(live({ bootMACAddress: "02:00:00:00:00:01".toUpperCase() })), undefined);
  for (const bmc of [undefined, { ...wish.bmc, address: "x" }, { ...wish.bmc, credentialsName: "x" }])
    assert.deepEqual(changed(live({ bmc })), [undefined, { bmc: wish.bmc }]);
  assert.deepEqual(changed(live({}, { "vino.airshipit.org/role": "x" })), [
    { "vino.airshipit.org/role": "worker" },
    undefined,
  ]);
  const { "vino.airshipit.org/network-pxe": _, ...fewer } = wish.labels;
  assert.deepEqual(changed(live(), { ...wish, labels: fewer }), [
    { "vino.airshipit.org/network-pxe": null },
    undefined,
  ]);
  const usersOwn = live({}, { "vino.airshipit.org/network-pxe": "mine" });
  assert.deepEqual(changed(usersOwn, { ...wish, labels: fewer }), [undefined, undefined]);
});

test("what users may set otherwise is written where the Vino has changed, and only while nobody uses the host", () => {
  const wish = hostWish(of());
  const users = { online: true, bootMode: "legacy", rootDeviceHints: { deviceName: "/dev/sda" } };
  assert.equal(changed(live(users)), undefined);
  assert.deepEqual(changed(live({ networkData: undefined })), [
    undefined,
    { networkData: { name: "h-1-network-data" } },
  ]);
  assert.equal(changed(live({ networkData: { name: "own" } })), undefined);
  const next = { ...wish, online: true, bootMode: "UEFISecureBoot" as const, deviceName: "/dev/vdb" };
  const all = { rootDeviceHints: { deviceName: "/dev/vdb" }, bootMode: "UEFISecureBoot", online: true };
  assert.deepEqual(changed(live(), next), [undefined, all]);
  assert.deepEqual(changed(live(all), next), [undefined, undefined]);
  for (const used of [{ consumerRef: { name: "x" } }, { image: { url: "x" } }, { customDeploy: { method: "x" } }])
    assert.deepEqual(changed(live({ ...used, networkData: undefined }), next), [undefined, undefined]);
  // Whoever damaged the note of what was written has it written anew.
  for (const text of ["", "null", "{", "1"])
    assert.deepEqual(changed(live(users, {}, { [APPLIED]: text })), [
      undefined,
      { rootDeviceHints: { deviceName: "/dev/vda" }, bootMode: "UEFI", online: false },
    ]);
});
