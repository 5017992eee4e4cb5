import { createHash } from "node:crypto";
import type { KubeObject } from "@slipway/kube";
import { type Mark, timelineOf } from "../../views/timeline.ts";

/** A part of a machine's life that is over, as OpenTelemetry has it: one trace a machine. */
export interface Span {
  traceId: string;
  spanId: string;
  /** Undefined: the whole way to the end that its kind has. */
  parentSpanId?: string;
  name: string;
  /** Milliseconds since 1970. */
  start: number;
  end: number;
  isFailure: boolean;
  attributes: Readonly<Record<string, string>>;
}

/** What ends the way of a new machine; the first that its object has. A moment that a condition moves comes last. */
const ENDS = ["Node joined", "provisioned", "Ready"];

/**
 * The spans of a machine's life so far: a step for each mark of its timeline, from the mark before, and the whole way where its end is reached.
 * Pure: the same object gives the same ids, so a span that is sent twice is the same span. `goneAt`: when the object was seen to be gone.
 */
export function spansOf(object: KubeObject, goneAt?: number): Span[] {
  const { uid } = object.metadata;
  if (uid === undefined) return [];
  const { marks } = timelineOf(object);
  const [first] = marks;
  if (first === undefined) return [];
  const traceId = idOf(32, uid);
  const root = idOf(16, uid, "life");
  const attributes = attributesOf(object);
  const step = (name: string, start: number, end: number, isFailure: boolean): Span => ({
    ...{ traceId, spanId: idOf(16, uid, name, String(end)), parentSpanId: root },
    ...{ name, start, end, isFailure, attributes },
  });
  const steps = marks.slice(1).map(({ what, at, tookMs, isFailure }) => step(what, at - tookMs, at, isFailure));
  const last = marks.at(-1)!;
  if (goneAt !== undefined && object.metadata.deletionTimestamp !== undefined)
    steps.push(step("deleted", last.at, Math.max(last.at, goneAt), false));
  const end = endOf(marks);
  if (end === undefined) return steps;
  const name = `${object.kind} ${end.isFailure ? "given up" : "to ready"}`;
  const whole = { traceId, spanId: root, name, start: first.at, end: end.at, isFailure: end.isFailure, attributes };
  return [whole, ...steps];
}

function endOf(marks: readonly Mark[]): Mark | undefined {
  for (const what of ENDS) {
    const found = marks.find((mark) => mark.what === what);
    if (found !== undefined) return found;
  }
  return marks.find(({ isFailure }) => isFailure);
}

function attributesOf({ apiVersion, kind, metadata: { namespace, name, uid } }: KubeObject): Record<string, string> {
  return {
    "slipway.kind": kind,
    "slipway.api_version": apiVersion,
    "slipway.name": name,
    "slipway.uid": uid!,
    ...(namespace !== undefined && { "k8s.namespace.name": namespace }),
  };
}

/** An id of so many hexadecimal digits. */
function idOf(digits: number, ...of: readonly string[]): string {
  return createHash("sha256").update(of.join("\n")).digest("hex").slice(0, digits);
}
