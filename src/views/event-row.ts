import { parseTime } from "@slipway/base";
import type { Event } from "@slipway/kube/core";
import { conforming } from "./conformed.ts";

/** One event of an object. Times are milliseconds since 1970. */
export interface EventRow {
  type: string;
  reason: string;
  message: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
  /** Who wrote it. */
  from: string;
  count: number;
  first?: number | undefined;
  last?: number | undefined;
}

const conformed = conforming<Partial<Event> & Newer>({
  ...{ type: "text", reason: "text", message: "text", count: "number", reportingComponent: "text" },
  ...{ firstTimestamp: "text", lastTimestamp: "text", eventTime: "text" },
  ...{ source: { component: "text" }, series: { count: "number", lastObservedTime: "text" } },
  involvedObject: { kind: "text", namespace: "text", name: "text" },
});

interface Newer {
  eventTime?: string;
  series?: { count?: number; lastObservedTime?: string };
}

/** An Event of core/v1 as a row, also one that was written by the newer API and has its times in other fields. Pure. */
export function eventRow(written: Event): EventRow {
  const event = conformed(written);
  const { involvedObject: on = {}, type = "Normal", reason = "", message = "", count, eventTime, series } = event;
  const made = parseTime(event.firstTimestamp) ?? parseTime(eventTime) ?? parseTime(written.metadata.creationTimestamp);
  return {
    ...{ type, reason, message },
    ...{ kind: on.kind ?? "", namespace: on.namespace, name: on.name ?? "" },
    from: event.source?.component || event.reportingComponent || "",
    count: count ?? series?.count ?? 1,
    first: made,
    last: parseTime(event.lastTimestamp) ?? parseTime(series?.lastObservedTime) ?? made,
  };
}
