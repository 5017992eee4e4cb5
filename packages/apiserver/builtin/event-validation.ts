import { qualifiedName } from "@slipway/cel/formats";
import { invalid, required } from "../model/field-error.ts";
import { at, numberAt, textAt } from "../model/read.ts";
import type { Body, FieldError } from "../model/served.ts";
import { named } from "../rules/value-rules.ts";

/** Longest texts, in bytes, of the fields that Events with an `eventTime` must fill. */
const LIMITS = { reportingInstance: 128, action: 128, reason: 128, message: 1024 } as const;

/** An Event in its stored shape. Those with an `eventTime` must say who reports what; the older ones only where they belong. */
export function validateCoreEvent(event: Body, controllerField: string): FieldError[] {
  const own = event.metadata.namespace ?? "";
  const about = textAt(event, "involvedObject.namespace");
  const mismatch = [invalid("involvedObject.namespace", about, "does not match event.namespace")];
  if (textAt(event, "eventTime") === "") return own === about || (about === "" && own === "default") ? [] : mismatch;
  const reporter = textAt(event, "reportingComponent");
  return [
    ...(about === "" && own !== "default" && own !== "kube-system" ? mismatch : []),
    ...(reporter === "" ? [required(controllerField)] : []),
    ...named(reporter, controllerField, qualifiedName),
    ...Object.entries(LIMITS).flatMap(([field, limit]) => {
      const text = textAt(event, field);
      if (text === "" && field !== "message") return [required(field)];
      return Buffer.byteLength(text) > limit ? [invalid(field, "", `can have at most ${limit} characters`)] : [];
    }),
  ];
}

/** What the newer group asks of a new Event beside that. */
export function validateNewEvent(event: Body): FieldError[] {
  const type = textAt(event, "type");
  const unset = (field: string, isSet: boolean) => (isSet ? [invalid(field, "", "needs to be unset")] : []);
  return [
    ...validateCoreEvent(event, "reportingController"),
    ...validateSeries(event),
    ...(textAt(event, "eventTime") === "" ? [required("eventTime")] : []),
    ...(type === "Normal" || type === "Warning" ? [] : [invalid("type", "", `has invalid value: ${type}`)]),
    ...unset("firstTimestamp", textAt(event, "firstTimestamp") !== ""),
    ...unset("lastTimestamp", textAt(event, "lastTimestamp") !== ""),
    ...unset("count", numberAt(event, "count") !== 0),
    ...unset("source", textAt(event, "source.component") + textAt(event, "source.host") !== ""),
  ];
}

function validateSeries(event: Body): FieldError[] {
  if (at(event, "series") === undefined) return [];
  return [
    ...(numberAt(event, "series.count") < 2 ? [invalid("series.count", "", "should be at least 2")] : []),
    ...(textAt(event, "series.lastObservedTime") === "" ? [required("series.lastObservedTime")] : []),
  ];
}
