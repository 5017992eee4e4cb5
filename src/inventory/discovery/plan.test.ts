import assert from "node:assert/strict";
import { test } from "node:test";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { Host } from "../../netboot/hosts/host.ts";
import { hardwareOf } from "./hardware.ts";
import { type Discovery, type DiscoveryStep, holds, type Observed, planDiscovery, RECENT_MS } from "./plan.ts";
import { INVENTORY, MAC } from "./testing.ts";

const NOW = Date.UTC(2026, 0, 1, 12);
const NAME = "host-52-54-00-12-34-56";
const DISCOVERED = { "slipway.dev/discovered": "true" };
const hardware = hardwareOf(INVENTORY);
const discovery: Discovery = { namespace: "rack", most: 2 };

const seenHost = (more: Partial<Host> = {}): Host =>
  ({ name: NAME, mac: MAC, macs: [MAC], firstSeen: NOW, lastSeen: NOW, boot: "agent", ...more }) as Host;
const own = (status: object | undefined, metadata: object = {}): BareMetalHost =>
  ({
    metadata: { namespace: "rack", name: NAME, uid: "u", labels: DISCOVERED, ...metadata },
    spec: { online: true, bootMACAddress: MAC },
    ...(status && { status }),
  }) as unknown as BareMetalHost;

function next(host: Host, seen: Partial<Observed> = {}): DiscoveryStep {
  const standing = { trust: "declared", because: "" } as Observed["standing"];
  const observed = { now: NOW, standing, keepsAgent: true, known: [], count: 0, described: () => undefined };
  return planDiscovery(host, { ...observed, ...seen }, discovery);
}
const why = (step: DiscoveryStep) => (step.do === "nothing" ? step.because : step.do);

test("an object is made of a machine that was seen in the last ten minutes, while there is room for one", () => {
  assert.equal(why(next(seenHost())), "create");
  assert.equal(why(next(seenHost({ lastSeen: NOW - RECENT_MS }))), "create");
  assert.equal(why(next(seenHost({ lastSeen: NOW - RECENT_MS - 1 }))), "silent");
  assert.deepEqual([why(next(seenHost(), { count: 1 })), why(next(seenHost(), { count: 2 }))], ["create", "full"]);
  const declared = own(undefined, { labels: {}, name: "node-1" });
  assert.equal(why(next(seenHost({ lastSeen: 0 }), { known: [declared], count: 9 })), "declared");
  assert.equal(why(next(seenHost(), { known: [own(undefined, { namespace: "other" })] })), "declared");
});

test("what is made of a machine says what it showed: boot mode, architecture and where its BMC is", () => {
  const made = (more: Partial<Host> = {}) => {
    const step = next(seenHost(more));
    assert.ok(step.do === "create");
    return step.host;
  };
  assert.deepEqual(made({ inventory: INVENTORY }), {
    metadata: {
      ...{ name: NAME, namespace: "rack", labels: DISCOVERED },
      annotations: { "slipway.dev/bmc-address": "10.1.0.9" },
    },
    spec: {
      ...{ online: true, bootMACAddress: MAC, automatedCleaningMode: "metadata" },
      ...{ bootMode: "UEFISecureBoot", architecture: "x86_64" },
    },
  });
  const bare = made();
  assert.deepEqual(
    [bare.spec.bootMode, "architecture" in bare.spec, "annotations" in bare.metadata],
    ["UEFI", false, false],
  );
  assert.equal(made({ firmware: "bios" }).spec.bootMode, "legacy");
  assert.equal(made({ firmware: "uefi", architecture: "aarch64" }).spec.architecture, "aarch64");
  const plain = { ...INVENTORY, firmware: { kind: "uefi" as const, secureBoot: false } };
  assert.equal(made({ inventory: plain, firmware: "bios" }).spec.bootMode, "UEFI", "the agent knows better");
});

test("the status says discovered until another engine has the host, then the agent's part alone", () => {
  const report = (status: object | undefined, more: Partial<Host> = {}, seen: Partial<Observed> = {}) => {
    const step = next(seenHost(more), { known: [own(status)], ...seen });
    return step.do === "report" ? step.status : why(step);
  };
  const fresh = {
    ...{ errorCount: 0, errorMessage: "", provisioningFailCount: 0, operationalStatus: "discovered", poweredOn: true },
    ...{ provisioning: { ID: "", state: "unmanaged" }, lastUpdated: "2026-01-01T12:00:00.000Z" },
  };
  assert.deepEqual(report(undefined), fresh);
  assert.deepEqual(report({ errorMessage: "" }), fresh, "a status without a state");
  assert.equal(report(fresh), "current");
  assert.deepEqual(report(fresh, { inventory: INVENTORY }), { ...fresh, hardware });
  const told = { ...fresh, hardware };
  assert.equal(report(told, { inventory: INVENTORY }), "describe");
  assert.equal(report(told, { inventory: INVENTORY }, { described: () => hardware }), "current");
  const managed = { ...fresh, operationalStatus: "OK", provisioning: { ID: "", state: "available" } };
  assert.equal(report(managed, { inventory: INVENTORY }, { described: () => hardware }), "current");
});

test("what is known of the agent is on the host where there is a place for it", () => {
  const session = { address: "10.0.0.9", registeredAt: NOW - 1_000 } as NonNullable<Host["session"]>;
  const managed = { operationalStatus: "OK", provisioning: { ID: "", state: "available" } };
  const agent = (more: Partial<Host>, seen: Partial<Observed> = {}, status: object = managed) => {
    const step = next(seenHost({ session, ...more }), { known: [own(status)], ...seen });
    return step.do === "report" ? step.status.agent : why(step);
  };
  const shown = {
    address: "10.0.0.9",
    trust: "declared",
    registeredAt: "2026-01-01T11:59:59.000Z",
    waitsFor: "an order",
  };
  assert.deepEqual(agent({}), shown);
  assert.equal(agent({}, {}, { ...managed, agent: shown }), "current");
  assert.deepEqual(agent({}, {}, { ...managed, agent: { ...shown, tpm: {} } }), shown, "it has proven no TPM any more");
  assert.equal(agent({}, { keepsAgent: false }), "current");
  const tpm = { endorsementKey: "e".repeat(64), pcrs: {} };
  assert.partialDeepStrictEqual(agent({ tpm, agentKey: "a".repeat(44) }), { ...shown, tpm });
  assert.ok("keyFingerprint" in (agent({ agentKey: "a".repeat(44) }) as object));
});

test("what the API holds may be more and in another order, but no list may have another length", () => {
  assert.equal(holds({ a: 1 }, { b: 2, a: 1 }), true);
  assert.equal(holds({ a: { b: [1, 2] } }, { a: { b: [1, 2] } }), true);
  for (const [wanted, held] of [
    [{ a: 1 }, { a: "1" }],
    [{ a: 1 }, undefined],
    [{ a: {} }, { a: null }],
    [[1], [1, 2]],
    [[1, 2], [1]],
    [null, {}],
    [{ a: {} }, { a: 7 }],
  ])
    assert.equal(holds(wanted, held), false, JSON.stringify([wanted, held]));
  assert.equal(holds(null, null), true);
});
