import { at, numberAt, textAt } from "../model/read.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { validateCoreEvent, validateNewEvent } from "./event-validation.ts";
import { ageOf, column, serve, wide } from "./serve.ts";

/** Fields by which Events are selected, in the shape of core Events: `kubectl describe` asks by them. */
const selectable: Record<string, (object: Body) => string> = {
  ...Object.fromEntries(
    ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map((name) => [
      `involvedObject.${name}`,
      (object: Body) => textAt(object, `involvedObject.${name}`),
    ]),
  ),
  reason: (object) => textAt(object, "reason"),
  type: (object) => textAt(object, "type"),
  source: (object) => textAt(object, "source.component") || textAt(object, "reportingComponent"),
  reportingComponent: (object) => textAt(object, "reportingComponent"),
};

const columns = [
  column("Last Seen", lastSeen),
  column("Type", (object) => textAt(object, "type")),
  column("Reason", (object) => textAt(object, "reason")),
  column("Object", (object) => {
    const kind = textAt(object, "involvedObject.kind").toLowerCase();
    const name = textAt(object, "involvedObject.name");
    return kind === "" ? name : `${kind}/${name}`;
  }),
  wide("Subobject", (object) => textAt(object, "involvedObject.fieldPath")),
  wide("Source", (object) => {
    const component = textAt(object, "source.component") || textAt(object, "reportingComponent");
    return [component, textAt(object, "source.host") || textAt(object, "reportingInstance")].filter(Boolean).join(", ");
  }),
  column("Message", (object) => textAt(object, "message").trim()),
  wide("First Seen", (object, now) => ageOf(textAt(object, "firstTimestamp") || textAt(object, "eventTime"), now)),
  wide("Count", (object) => numberAt(object, "series.count") || numberAt(object, "count") || 1),
  { ...wide("Name", (object) => object.metadata.name), format: "name" },
];

/** Core Events: the stored shape. */
export const coreEvent: ServedResource = serve({
  apiVersion: "v1",
  kind: "Event",
  createsOnUpdate: true,
  description: "A report of something that happened to an object.",
  shortNames: ["ev"],
  namespaced: true,
  storageKey: "events",
  selectableFields: selectable,
  columns,
  validate: (object, old) => (old === undefined ? validateCoreEvent(object, "reportingComponent") : []),
});

/** The same Events in the shape of events.k8s.io/v1. */
export const event: ServedResource = serve({
  apiVersion: "events.k8s.io/v1",
  kind: "Event",
  createsOnUpdate: true,
  description: "A report of something that happened to an object.",
  shortNames: ["ev"],
  namespaced: true,
  storageKey: "events",
  storageVersion: "v1",
  selectableFields: Object.fromEntries(
    Object.entries(selectable)
      .filter(([name]) => name !== "source")
      .map(([name, value]) => [
        name.replace("involvedObject", "regarding").replace("reportingComponent", "reportingController"),
        (object) => value(toCore(object)),
      ]),
  ),
  columns: columns.map((c) => ({
    ...c,
    value: (object: Body, now: number) => c.value(toCore(object), now),
  })),
  toStorage: toCore,
  fromStorage: toEvents,
  validate: (object, old) => (old === undefined ? validateNewEvent(toCore(object)) : []),
});

/** core/v1 name → events.k8s.io/v1 name, where they differ. */
const NAMES: readonly (readonly [string, string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["reportingComponent", "reportingController"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
];
const TO_EVENTS = new Map(NAMES);
const TO_CORE = new Map(NAMES.map(([core, events]) => [events, core]));

function toCore(object: Body): Body {
  return renamed(object, TO_CORE, "v1");
}

function toEvents(object: Body): Body {
  return renamed(object, TO_EVENTS, "events.k8s.io/v1");
}

function renamed(object: Body, names: ReadonlyMap<string, string>, apiVersion: string): Body {
  const members = Object.entries(object).map(([name, value]) => [names.get(name) ?? name, value]);
  return { ...Object.fromEntries(members), apiVersion } as Body;
}

function lastSeen(object: Body, now: number): string {
  const last =
    textAt(object, "series.lastObservedTime") || textAt(object, "lastTimestamp") || textAt(object, "eventTime");
  const first = textAt(object, "firstTimestamp") || textAt(object, "eventTime");
  const count = numberAt(object, "series.count") || numberAt(object, "count");
  const seen = ageOf(last, now);
  return at(object, "series") !== undefined && count > 1 ? `${seen} (x${count} over ${ageOf(first, now)})` : seen;
}
