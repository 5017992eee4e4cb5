import type { Span } from "./spans.ts";

/** `Span.SpanKind` and `Status.StatusCode` of OTLP. */
const INTERNAL = 1;
const ERROR = 2;

/** The body of a request to `/v1/traces`, in OTLP's JSON: ids in hexadecimal digits, times as texts of nanoseconds. Pure. */
export function otlpOf(spans: readonly Span[], resource: Readonly<Record<string, string>>, version: string): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: "slipway", version }, spans: spans.map(spanOf) }],
      },
    ],
  };
}

function spanOf({ traceId, spanId, parentSpanId, name, start, end, isFailure, attributes }: Span): object {
  return {
    ...{ traceId, spanId, ...(parentSpanId !== undefined && { parentSpanId }), name, kind: INTERNAL },
    ...{ startTimeUnixNano: nanoseconds(start), endTimeUnixNano: nanoseconds(end) },
    attributes: attributesOf(attributes),
    status: isFailure ? { code: ERROR, message: name } : {},
  };
}

function attributesOf(values: Readonly<Record<string, string>>): object[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: { stringValue: value } }));
}

/** Milliseconds as nanoseconds, which no number holds. */
function nanoseconds(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds)) * 1_000_000n);
}
