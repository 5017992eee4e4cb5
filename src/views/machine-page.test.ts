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

test("a tenant's row has its datastore and its certificates", () => {
  const status = {
    ...{ controlPlaneEndpoint: "10.0.0.1:6443", storage: { driver: "etcd", dataStoreName: "main" } },
    certificates: { ca: { secretName: "a-ca", lastUpdate: at(1) }, sa: {}, etcd: { ca: {} } },
  };
  const { endpoint, dataStore, certificates } = tenantRow(written("TenantControlPlane", "a", { status }));
  assert.deepEqual([endpoint, dataStore], ["10.0.0.1:6443", "main"]);
  assert.deepEqual(certificates, [{ name: "ca", secret: "a-ca", writtenAt: Date.parse(at(1)) }]);
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
