/** Rows and trees of what is known, computed once for each version of an object. */
import { computed, type ReadonlySignal } from "@preact/signals";
import type { KubeObject } from "@slipway/kube";
import type { Event } from "@slipway/kube/core";
import { type EventRow, eventRow } from "../../views/event-row.ts";
import { FOLLOWED, type FollowedKind } from "../../views/followed-kinds.ts";
import { type MachineRow, machineRow } from "../../views/machine-list.ts";
import { overviewOf } from "../../views/overview.ts";
import { now } from "./clock.ts";
import { objectsOf } from "./store.ts";

function remembered<T>(make: (object: KubeObject) => T): (object: KubeObject) => T {
  const made = new WeakMap<KubeObject, { value: T }>();
  return (object) => {
    let one = made.get(object);
    if (one === undefined) {
      one = { value: make(object) };
      made.set(object, one);
    }
    return one.value;
  };
}

const rowOfMachine = remembered((object) => ({ ...machineRow(object), object }));
const rowOfEvent = remembered((object) => eventRow(object as Event));

export type ListedMachine = MachineRow & { object: KubeObject };

const named = (role: FollowedKind["role"]): FollowedKind[] => FOLLOWED.filter((kind) => kind.role === role);
const all = (of: readonly FollowedKind[]): KubeObject[] => of.flatMap(({ name }) => objectsOf(name).value);

/** Every machine of every driver, and every host. */
export const machines: ReadonlySignal<readonly ListedMachine[]> = computed(() =>
  all(named("machines")).map(rowOfMachine),
);
export const pools = computed(() => all(named("pools")));
export const clusters = computed(() => all(named("clusters")));
/** All that is known but events. */
export const everything = computed(() => all(FOLLOWED.filter(({ name }) => name !== "events")));
/** The latest first. */
export const events: ReadonlySignal<readonly EventRow[]> = computed(() =>
  objectsOf("events")
    .value.map(rowOfEvent)
    .sort((a, b) => (b.last ?? 0) - (a.last ?? 0)),
);

const HALF_MINUTE_MS = 30_000;
const recently = computed(() => Math.floor(now.value / HALF_MINUTE_MS) * HALF_MINUTE_MS);

export const overview = computed(() => {
  const shown = FOLLOWED.filter(({ name, role }) => role !== undefined && name !== "events").map(
    ({ name, kind, role }) => ({ kind, role, objects: objectsOf(name).value }),
  );
  return overviewOf(shown, events.value, recently.value);
});
