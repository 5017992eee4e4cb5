/** Sends what is over of machines' lives to a collector of OpenTelemetry, as OTLP over HTTP in JSON. It looks at objects; nothing waits for it. */
import { asFault, type Clock, type Http, type Log, VERSION } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { otlpOf } from "./otlp.ts";
import type { TraceSettings } from "./settings.ts";
import { type Span, spansOf } from "./spans.ts";

export interface TracerPorts {
  clock: Clock;
  http: Http;
  log: Log;
  /** All machines that are known, and whether it is for this process to speak of them. */
  machines: () => readonly { object: KubeObject; isLed: boolean }[];
}

const LOOK_MS = 5_000;
/** What ended so long before it is first seen is sent, too: the process that led before may have ended first. The ids are the same. */
const LATE_MS = 5 * 60_000;
const MOST_AT_ONCE = 500;
const MOST_WAITING = 10_000;
/** The collector is busy, or away for a moment (OTLP 1.x, "Retryable response codes"). */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);

interface Known {
  object: KubeObject;
  isLed: boolean;
  /** Ids of the spans that were sent, or wait to be. */
  taken: Set<string>;
}

/** Looks and sends until `signal` is aborted, then sends what waits. Never rejects. */
export async function runTracer(ports: TracerPorts, settings: TraceSettings, signal: AbortSignal): Promise<void> {
  const tracer = new Tracer(ports, settings);
  while (!signal.aborted) {
    tracer.look();
    await tracer.send();
    await ports.clock.sleep(LOOK_MS, signal).catch(() => {});
  }
  await tracer.send();
}

class Tracer {
  readonly #ports: TracerPorts;
  readonly #settings: TraceSettings;
  readonly #known = new Map<string, Known>();
  #waiting: Span[] = [];
  #isReached = true;

  constructor(ports: TracerPorts, settings: TraceSettings) {
    this.#ports = ports;
    this.#settings = settings;
  }

  /** Takes what is new. */
  look(): void {
    const now = this.#ports.clock.now();
    const seen = new Set<string>();
    for (const { object, isLed } of this.#ports.machines()) {
      const uid = object.metadata.uid ?? "";
      seen.add(uid);
      const known = this.#known.get(uid);
      // Nothing has changed: a look at thousands of machines costs nothing.
      if (known?.object === object && known.isLed === isLed) continue;
      const taken = known?.taken ?? new Set<string>();
      this.#known.set(uid, { object, isLed, taken });
      if (isLed) this.#take(spansOf(object), taken, now);
    }
    for (const [uid, { object, isLed, taken }] of this.#known) {
      if (seen.has(uid)) continue;
      this.#known.delete(uid);
      if (isLed) this.#take(spansOf(object, now), taken, now);
    }
    const lost = this.#waiting.length - MOST_WAITING;
    if (lost <= 0) return;
    this.#waiting = this.#waiting.slice(lost);
    this.#ports.log.warn({ lost }, "spans are lost: the collector takes none, and too many wait");
  }

  /** Sends what waits, until the collector does not take it. */
  async send(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, MOST_AT_ONCE);
      if (!(await this.#isDone(batch))) return;
      this.#waiting = this.#waiting.slice(batch.length);
    }
  }

  #take(spans: readonly Span[], taken: Set<string>, now: number): void {
    for (const span of spans) {
      if (!taken.has(span.spanId) && span.end >= now - LATE_MS) this.#waiting.push(span);
      taken.add(span.spanId);
    }
  }

  /** Whether the batch is done with: taken, or refused for good. */
  async #isDone(batch: readonly Span[]): Promise<boolean> {
    const { url, headers, resource, timeoutMs } = this.#settings;
    const { http, log } = this.#ports;
    const body = JSON.stringify(otlpOf(batch, resource, VERSION));
    try {
      const sent = { ...headers, "content-type": "application/json" };
      const { status } = await http({ method: "POST", url, headers: sent, body, timeoutMs });
      if (RETRIED.has(status)) return this.#unreached(`it answers ${status}`);
      this.#isReached = true;
      if (status >= 300) log.warn({ status, spans: batch.length }, "the collector refuses spans");
      return true;
    } catch (error) {
      return this.#unreached(asFault(error, "collector").message);
    }
  }

  /** Said once, until it is reached again. */
  #unreached(why: string): false {
    if (this.#isReached) this.#ports.log.warn({ error: why }, "the collector of traces is not reached; spans wait");
    this.#isReached = false;
    return false;
  }
}
