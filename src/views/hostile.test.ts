/** Whatever a machine, a cloud or another version of a kind puts into an object: every view of it is made, and no text of it becomes anything but text. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import type { Event } from "@slipway/kube/core";
import fc from "fast-check";
import { smallWorld } from "../../test/browser/objects.ts";
import { actionsOf, scaleOf, scaleTo } from "./actions/actions.ts";
import { eventRow } from "./event-row.ts";
import { followedKindOf } from "./followed-kinds.ts";
import { growthOf } from "./growth.ts";
import { hardwareOf, sizeText } from "./hardware.ts";
import { changedLines, lineDiff } from "./line-diff.ts";
import { racksOf } from "./location.ts";
import { hostOf } from "./machine-host.ts";
import { COLUMNS, type Column, machineRow, searched, sortedBy } from "./machine-list.ts";
import { bootsOf, leasesOf, subnetsOf, unleasedHosts } from "./network.ts";
import { overviewOf } from "./overview.ts";
import { ownerTree } from "./owner-tree.ts";
import { driftOf, rolloutOf } from "./rollout.ts";
import { rowOf } from "./row.ts";
import { yamlOf } from "./shown-object.ts";
import { doingOf } from "./standing.ts";
import { tenantRow } from "./tenant.ts";
import { hostileWorld } from "./testing.ts";
import { timelineOf } from "./timeline.ts";

const NOW = Date.UTC(2026, 0, 1, 2);

/** All that is shown of these, as the pages and the command make it. */
function everyView(objects: readonly KubeObject[]): unknown[] {
  const [events, others] = [
    objects.filter(({ kind }) => kind === "Event"),
    objects.filter(({ kind }) => kind !== "Event"),
  ];
  const rows = events.map((event) => eventRow(event as Event));
  const machines = others.map(machineRow);
  const shown = [...Map.groupBy(others, (object) => object.kind)].map(([kind, some]) => ({
    ...{ kind, role: followedKindOf(some[0]!)?.role, objects: some },
  }));
  const leases = leasesOf(others, others);
  const overview = overviewOf(shown, rows, NOW);
  return [
    ...[rows, machines, overview, leases, subnetsOf(leases, NOW), unleasedHosts(others), bootsOf(others)],
    ...[racksOf(machines), growthOf(others), searched(machines, "is:failed -a state:r rack:")],
    ...(Object.keys(COLUMNS) as Column[]).map((column) => sortedBy(machines, column, true)),
    ...others.map((object) => {
      const { facts, disks, nics } = hardwareOf(hostOf(object, others) ?? object);
      const yaml = yamlOf(object);
      return [
        ...[
          rowOf(object),
          tenantRow(object),
          timelineOf(object),
          facts,
          disks.map(({ sizeBytes }) => sizeText(sizeBytes)),
        ],
        ...[nics.map(({ mac, lldp }) => [mac, lldp?.portID]), ownerTree(object, others), rolloutOf(object)],
        ...[driftOf(object), doingOf(object), changedLines(lineDiff(yaml, `${yaml}x`)), scaleOf(object)],
        ...[actionsOf(object), scaleTo(object, 1, others)],
      ];
    }),
  ];
}

test("every view is made of objects with hostile texts and shapes in any field", () => {
  fc.assert(
    fc.property(hostileWorld(smallWorld("2026-01-01T01:59:00Z")), (objects) => {
      everyView(objects);
    }),
    { numRuns: 300 },
  );
});

test("rows hold texts, numbers and flags where they say so, and moments of which a Date can be made", () => {
  fc.assert(
    fc.property(hostileWorld(smallWorld("2026-01-01T01:59:00Z")), (objects) => {
      for (const object of objects) {
        const { location, failure, members, ...row } = machineRow(object);
        const { at: failed, ...failureTexts } = failure ?? {};
        const texts = {
          ...row,
          ...location,
          ...failureTexts,
          ...members,
          ...(object.kind === "Event" && eventRow(object as Event)),
        };
        for (const [field, value] of Object.entries(texts))
          assert.ok(typeof value !== "object", `${field} is ${JSON.stringify(value)}`);
        const marks = timelineOf(object).marks.map(({ at }) => at);
        for (const at of [row.created, row.waitsSince, row.waitsUntil, failed, ...marks])
          if (at !== undefined) new Date(at).toISOString();
      }
    }),
  );
});

test("states are counted by their words, also by those that every JavaScript object has", () => {
  const states = ["__proto__", "constructor", "toString", "constructor"];
  const objects = states.map((status, at) => ({
    ...{ apiVersion: "equinix.harvesterhci.io/v1", kind: "Instance", status: { status } },
    metadata: { name: `i${at}`, uid: `${at}`, resourceVersion: "1", generation: 1 },
  })) as unknown as KubeObject[];
  const [count] = overviewOf([{ kind: "Instance", role: "machines", objects }], [], NOW).machines;
  assert.deepEqual(Object.entries(count!.states).sort(), [
    ["__proto__", 1],
    ["constructor", 2],
    ["toString", 1],
  ]);
});
