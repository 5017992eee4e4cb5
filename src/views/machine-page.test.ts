import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { growthOf } from "./growth.ts";
import { hardwareOf, sizeText } from "./hardware.ts";
import { locationOf, racksOf } from "./location.ts";
import { driftOf, rolloutOf } from "./rollout.ts";
import { tenantRow } from "./tenant.ts";
import { written } from "./testing.ts";
import { timelineOf } from "./timeline.ts";

const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`;
const MINUTE = 60_000;

test("a machine's timeline has its marks in order, how long each took, and the way to Ready", () => {
  const status = {
    purchase: { at: at(1) },
    install: { scriptFetched: at(6), failed: null, succeeded: at(15) },
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: at(20) }],
  };
  const { marks, readyAfterMs } = timelineOf(written("Instance", "a", { status }));
  assert.deepEqual(
    marks.map(({ what, tookMs }) => [what, tookMs / MINUTE]),
    [
      ["created", 0],
      ["machine ordered", 1],
      ["boot script fetched", 5],
      ["installed", 9],
      ["Ready", 5],
    ],
  );
  assert.equal(readyAfterMs, 20 * MINUTE);
  const failed = timelineOf(written("Instance", "a", { status: { failure: { at: at(3) } } }));
  assert.deepEqual([failed.marks.at(-1)!.isFailure, failed.readyAfterMs], [true, undefined]);
});

test("a host's timeline has each moment of its registration, its look, its installation and its wipe, in the order of its life", () => {
  const span = (start: number) => ({ start: at(start), end: at(start + 1) });
  const status = {
    agent: { registeredAt: at(1) },
    operationHistory: {
      register: span(2),
      inspect: span(4),
      provision: { start: at(8), end: at(15) },
      deprovision: span(20),
    },
    boot: { at: at(6) },
    operation: { poweredAt: at(7), writtenAt: at(12), restartedAt: at(14) },
    install: { configFetched: at(9), started: at(10), failed: at(13) },
    ...{ node: { joined: at(16) }, failure: { at: at(17) }, release: { at: at(18) } },
  };
  const host = written("BareMetalHost", "a", { metadata: { deletionTimestamp: at(19) }, status });
  const { marks } = timelineOf(host);
  assert.deepEqual(
    marks.map(({ what }) => what),
    [
      ...["created", "agent registered", "registration began", "registered", "inspection began", "inspected"],
      ...["boot prepared", "power switched", "provisioning began", "configuration fetched", "installer started"],
      ...["disks written", "installation failed", "started from its disk", "provisioned", "Node joined", "given up"],
      ...["release began", "deletion asked for", "wipe began", "wiped"],
    ],
  );
  assert.deepEqual(
    marks.filter(({ isFailure }) => isFailure).map(({ what }) => what),
    ["installation failed", "given up"],
  );
});

test("steps of a Cluster API machine are marks once they are true; other conditions and those without a time are none", () => {
  const types = ["InfrastructureReady", "BootstrapConfigReady", "NodeReady", "NodeHealthy", "Paused"];
  const conditions: object[] = types.map((type, index) => ({
    type,
    status: "True",
    lastTransitionTime: at(index + 1),
  }));
  conditions.push({ type: "Ready", status: "False", lastTransitionTime: at(9) }, { type: "Ready", status: "True" });
  const { marks } = timelineOf(written("Machine", "a", { status: { conditions } }));
  assert.deepEqual(
    marks.map(({ what }) => what),
    ["created", "infrastructure ready", "bootstrap data ready", "Node ready", "Node healthy"],
  );
});

test("durations of a timeline are never negative and sum up to its length, whatever the moments", () => {
  const moment = fc
    .date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString());
  const install = fc.record({
    scriptFetched: moment,
    started: moment,
    succeeded: fc.option(moment),
    failed: fc.string(),
  });
  fc.assert(
    fc.property(install, (found) => {
      const { marks } = timelineOf(written("Instance", "a", { status: { install: found } }));
      assert.ok(marks.every(({ tookMs }) => tookMs >= 0));
      assert.equal(
        marks.reduce((sum, { tookMs }) => sum + tookMs, 0),
        marks.at(-1)!.at - marks[0]!.at,
      );
    }),
  );
});

test("hardware comes from HardwareData, else from the host itself; power says what is wanted where that differs", () => {
  const hardware = { ramMebibytes: 65_536, storage: [{ name: "/dev/sda" }] };
  const host = written("BareMetalHost", "a", { spec: { online: false }, status: { poweredOn: true, hardware } });
  const facts = new Map(hardwareOf(host).facts);
  assert.deepEqual([facts.get("Memory"), facts.get("Power")], ["64 GiB", "on, is to be off"]);
  const data = written("HardwareData", "a", { spec: { hardware: { nics: [{ name: "eth0" }] } } });
  assert.deepEqual([hardwareOf(host, data).disks.length, hardwareOf(host, data).nics.length], [0, 1]);
  assert.deepEqual(
    [sizeText(480e9), sizeText(0), sizeText(undefined), sizeText(1.92e12)],
    ["480 GB", "0 B", "", "1.92 TB"],
  );
});

test("a host's facts are those of its hardware, its firmware, its BMC and its agent; what nobody knows is left out", () => {
  const hardware = {
    systemVendor: { manufacturer: "Ada", productName: "R1", serialNumber: "S-7" },
    cpu: { count: 8, model: "EPYC", arch: "x86_64" },
    firmware: { bios: { vendor: "AMI", version: "", date: "2026" } },
  };
  const agent = { trust: "approved", keyFingerprint: "3f2a", tpm: { endorsementKey: "9b1c" } };
  const host = written("BareMetalHost", "a", {
    spec: {
      bootMode: "UEFI",
      bootMACAddress: "52:54:00:00:00:01",
      bmc: { address: "redfish://10.0.0.1" },
      online: true,
    },
    status: { hardware, agent, provisioning: { bootMode: "legacy" } },
  });
  assert.deepEqual(hardwareOf(host).facts, [
    ...[
      ["Maker", "Ada"],
      ["Product", "R1"],
      ["Serial number", "S-7"],
      ["Processors", "8 EPYC x86_64"],
    ],
    ...[
      ["Firmware", "AMI 2026"],
      ["Boot mode", "legacy"],
      ["Boots from", "52:54:00:00:00:01"],
    ],
    ...[
      ["BMC", "redfish://10.0.0.1"],
      ["Power", "is to be on"],
    ],
    ...[
      ["Trusted because", "approved"],
      ["Agent's key", "3f2a"],
      ["TPM's endorsement key", "9b1c"],
    ],
  ]);
  assert.deepEqual(hardwareOf(written("BareMetalHost", "new")), { facts: [], disks: [], nics: [] });
  const power = (online: boolean | undefined, poweredOn: boolean) =>
    new Map(hardwareOf(written("BareMetalHost", "a", { spec: { online }, status: { poweredOn } })).facts).get("Power");
  assert.deepEqual([power(true, true), power(undefined, false), power(true, false)], ["on", "off", "off, is to be on"]);
});

test("racks are drawn from labels, the highest unit first; what has no rack is last", () => {
  const machine = (name: string, labels: object) => ({
    name,
    location: locationOf(written("BareMetalHost", name, { metadata: { labels } })),
  });
  const racks = racksOf([
    machine("none", {}),
    machine("low", { "topology.kubernetes.io/rack": "r10", "example.com/unit": "2" }),
    machine("high", { rack: "r10", position: "U41" }),
    machine("other", { rack: "r9" }),
  ]);
  assert.deepEqual(
    racks.map(({ rack, members }) => [rack, members.map(({ member, unit }) => [member.name, unit])]),
    [
      ["r9", [["other", undefined]]],
      [
        "r10",
        [
          ["high", 41],
          ["low", 2],
        ],
      ],
      ["", [["none", undefined]]],
    ],
  );
});

test("a roll-out is done when all members are there, ready and of today's specification", () => {
  const pool = (status: object) => rolloutOf(written("InstancePool", "a", { spec: { count: 3 }, status }));
  assert.deepEqual(pool({ replicas: 3, ready: 2, drifted: 1 }), {
    wanted: 3,
    upToDate: 2,
    ready: 2,
    drifted: 1,
    isDone: false,
  });
  assert.equal(pool({ replicas: 3, ready: 3 })?.isDone, true);
  assert.equal(rolloutOf(written("Cluster", "a", { spec: {} })), undefined);
  assert.deepEqual(driftOf(written("Instance", "a", { status: { drift: ["plan", 3] } })), ["plan"]);
});

test("a roll-out counts as Cluster API's kinds and as tenants do; it is not done while one of yesterday is left over", () => {
  const set = { spec: { replicas: 2 }, status: { replicas: 3, upToDateReplicas: 2, readyReplicas: 2 } };
  assert.deepEqual(rolloutOf(written("MachineDeployment", "a", set)), {
    ...{ wanted: 2, upToDate: 2, ready: 2, drifted: 0, isDone: false },
  });
  const deployment = { replicas: 2, updatedReplicas: 1, readyReplicas: 2 };
  const tenant = rolloutOf(
    written("TenantControlPlane", "a", {
      spec: { controlPlane: { deployment: { replicas: 2 } } },
      status: { kubernetesResources: { deployment } },
    }),
  );
  assert.deepEqual(tenant, { wanted: 2, upToDate: 1, ready: 2, drifted: 0, isDone: false });
  assert.deepEqual(driftOf(written("Instance", "a")), []);
});

test("a tenant's row has its datastore and its certificates", () => {
  const status = {
    ...{ controlPlaneEndpoint: "10.0.0.1:6443", storage: { driver: "etcd", dataStoreName: "main" } },
    certificates: { ca: { secretName: "a-ca", lastUpdate: at(1) }, sa: {}, etcd: { ca: {} } },
  };
  const { endpoint, driver, dataStore, certificates } = tenantRow(written("TenantControlPlane", "a", { status }));
  assert.deepEqual([endpoint, driver, dataStore], ["10.0.0.1:6443", "etcd", "main"]);
  assert.deepEqual(certificates, [{ name: "ca", secret: "a-ca", writtenAt: Date.parse(at(1)) }]);
});

test("until its database is set up, a tenant's row has what it asks for; the datastore's certificate is one of its own", () => {
  const status = { storage: { dataStoreName: "", certificate: { secretName: "a-db" } } };
  const row = tenantRow(
    written("TenantControlPlane", "a", { spec: { dataStore: "main", dataStoreSchema: "s" }, status }),
  );
  assert.deepEqual([row.endpoint, row.driver, row.dataStore, row.schema], ["", "", "main", "s"]);
  assert.deepEqual(row.certificates, [{ name: "datastore", secret: "a-db", writtenAt: undefined }]);
});

test("growth of many objects is thinned out, and still ends at all of them", () => {
  const made = (second: number): string => new Date(Date.parse(at(0)) + second * 1000).toISOString();
  const { times, made: counts } = growthOf(
    Array.from({ length: 1200 }, (_, i) => written("Instance", `i${i}`, { metadata: { creationTimestamp: made(i) } })),
  );
  const first = Date.parse(at(0)) / 1000;
  assert.deepEqual([times.length, times[1]! - first, times.at(-1)! - first], [401, 3, 1199]);
  assert.deepEqual([counts[0], counts[1], counts.at(-1)], [1, 4, 1200]);
});

test("growth counts up to all that there are, with rising times", () => {
  const status = { observedGeneration: 1, conditions: [{ type: "Ready", status: "True", lastTransitionTime: at(9) }] };
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }), (ready) => {
      const {
        times,
        made,
        ready: good,
      } = growthOf(ready.map((is, index) => written("Instance", `i${index}`, is ? { status } : {})));
      assert.deepEqual([made.at(-1), good.at(-1)], [ready.length, ready.filter(Boolean).length]);
      assert.deepEqual(
        times,
        [...new Set(times)].sort((a, b) => a - b),
      );
    }),
  );
});
