import { type Random, rfc3339 } from "@slipway/base";
import type { Occurrences } from "./event-series.ts";
import { type KubeObject, refOf } from "./object.ts";

/** Lengths that the API accepts (events.k8s.io validation: reason 128, note 1024). */
const LONGEST_REASON = 128;
export const LONGEST_MESSAGE = 1024;
const LONGEST_NAME = 253;

/** What an Event reports of: as much of the object as the Event names. */
export interface EventSubject {
  /** Where the Event is: `default` for objects without a namespace, as upstream's. */
  namespace: string;
  type: "Normal" | "Warning";
  reason: string;
  involvedObject: ReturnType<typeof involved>;
}

/** The subject of an event, without the rest of the object. */
export function subjectOf(on: KubeObject, type: EventSubject["type"], reason: string): EventSubject {
  const { namespace = "default" } = on.metadata;
  return { namespace, type, reason: reason.slice(0, LONGEST_REASON), involvedObject: involved(on) };
}

/** A new core/v1 Event of the occurrences. */
export function eventDraft(
  { namespace, type, reason, involvedObject }: EventSubject,
  { message, count, firstMs, lastMs }: Occurrences,
  { component, random }: { component: string; random: Random },
) {
  const suffix = `.${Buffer.from(random.bytes(8)).toString("hex")}`;
  return {
    metadata: { name: `${involvedObject.name.slice(0, LONGEST_NAME - suffix.length)}${suffix}`, namespace },
    involvedObject,
    type,
    reason,
    message,
    count,
    firstTimestamp: rfc3339(firstMs),
    lastTimestamp: rfc3339(lastMs),
    source: { component },
    reportingComponent: component,
  };
}

function involved(on: KubeObject) {
  const { namespace, uid, resourceVersion } = on.metadata;
  return {
    apiVersion: on.apiVersion,
    kind: on.kind,
    name: refOf(on).name,
    uid,
    resourceVersion,
    ...(namespace !== undefined && { namespace }),
  };
}
