import { type HttpHandler, json, plain } from "@slipway/base";
import { z } from "zod";

const hex = (digits: number): z.ZodString => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${digits}}$`));
const nanoseconds = z.string().regex(/^[1-9]\d{17,18}$/, "a moment of this century, in nanoseconds");
const attributes = z.array(
  z.strictObject({ key: z.string().min(1), value: z.strictObject({ stringValue: z.string() }) }),
);
const span = z
  .strictObject({
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: hex(16).optional(),
    name: z.string().min(1),
    kind: z.int().min(0).max(5),
    startTimeUnixNano: nanoseconds,
    endTimeUnixNano: nanoseconds,
    attributes,
    status: z.strictObject({ code: z.int().min(0).max(2).optional(), message: z.string().optional() }),
  })
  .refine((one) => BigInt(one.startTimeUnixNano) <= BigInt(one.endTimeUnixNano), "it ends before it begins");
const request = z.strictObject({
  resourceSpans: z
    .array(
      z.strictObject({
        resource: z.strictObject({ attributes }),
        scopeSpans: z.array(
          z.strictObject({ scope: z.strictObject({ name: z.string(), version: z.string() }), spans: z.array(span) }),
        ),
      }),
    )
    .min(1),
});

export type CollectedSpan = z.infer<typeof span>;

/**
 * STAND-IN for a collector of OpenTelemetry that takes traces as OTLP over HTTP in JSON (opentelemetry-proto 1.x, "JSON Protobuf Encoding"): it
 * takes what has the right shape, keeps it, and refuses the rest with 400. Fields that the protocol does not have are refused, too.
 */
export class OtlpCollector {
  /** In the order in which they came. */
  readonly spans: CollectedSpan[] = [];
  readonly resources: Record<string, string>[] = [];
  /** What was refused, and why. */
  readonly refused: string[] = [];
  readonly headers: Readonly<Record<string, string>>[] = [];
  /** Answers with it in the place of taking anything. */
  status = 200;

  readonly handler: HttpHandler = async ({ method, url, headers = {}, body = "" }) => {
    if (method !== "POST" || new URL(url, "http://collector").pathname !== "/v1/traces") return plain(404, "no\n");
    if (this.status !== 200) return plain(this.status, "not now\n");
    if (headers["content-type"] !== "application/json") return this.#refuse(`content-type ${headers["content-type"]}`);
    const read = request.safeParse(JSON.parse(body));
    if (!read.success) return this.#refuse(z.prettifyError(read.error));
    this.headers.push(headers);
    for (const { resource, scopeSpans } of read.data.resourceSpans) {
      this.resources.push(Object.fromEntries(resource.attributes.map(({ key, value }) => [key, value.stringValue])));
      this.spans.push(...scopeSpans.flatMap(({ spans }) => spans));
    }
    return json(200, {});
  };

  #refuse(why: string): ReturnType<typeof plain> {
    this.refused.push(why);
    return plain(400, why);
  }
}
