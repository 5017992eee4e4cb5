import { parseTime } from "@slipway/base";
import type { Event } from "@slipway/kube/core";

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

/** An Event of core/v1 as a row, also one that was written by the newer API and has its times in other fields. Pure. */
export function eventRow(event: Event): EventRow {
  const { involvedObject: on, type = "Normal", reason = "", message = "", count, metadata } = event;
  const { eventTime, series } = event as { eventTime?: string; series?: { count?: number; lastObservedTime?: string } };
  const made = parseTime(event.firstTimestamp) ?? parseTime(eventTime) ?? parseTime(metadata.creationTimestamp);
  return {
    ...{ type, reason, message },
    ...{ kind: on.kind ?? "", namespace: on.namespace, name: on.name ?? "" },
    from: event.source?.component || event.reportingComponent || "",
    count: count ?? series?.count ?? 1,
    first: made,
    last: parseTime(event.lastTimestamp) ?? parseTime(series?.lastObservedTime) ?? made,
  };
}
