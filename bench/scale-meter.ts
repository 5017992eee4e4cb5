/** Counts what a run of `scale.ts` costs: requests, bytes and CPU, phase by phase. */
import type { Clock, Http } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { HOUR } from "../test/system/world.ts";
import { Counts, countedTransport } from "./counts.ts";
import { cpuSeconds, report, residentMiB } from "./table.ts";

const SHOWN = 8;

/** What has been counted so far. */
interface Read {
  requests: ReadonlyMap<string, number>;
  calls: ReadonlyMap<string, number>;
  bytes: { sent: number; received: number; watched: number; cloud: number };
  cpu: number;
}

/** Counts what passes it. */
export class ScaleMeter {
  readonly #requests = new Counts();
  readonly #calls = new Counts();
  readonly #bytes = { sent: 0, received: 0, watched: 0, cloud: 0 };

  /** Does the work of one phase, and prints what it cost for each of so many units, which are known at its end. */
  async phase(
    what: string,
    { unit, clock }: { unit: string; clock: Pick<Clock, "monotonic"> },
    work: () => Promise<number>,
  ): Promise<void> {
    const before = this.#read();
    const began = clock.monotonic();
    const units = await work();
    const after = this.#read();
    console.log(`${what}: ${((clock.monotonic() - began) / HOUR).toFixed(2)} hours of virtual time`);
    const each = (name: string, value: number, of: string): void =>
      report(`${what}: ${name} per ${unit}`, value / units, of);
    const kilobytes = (name: string, of: keyof Read["bytes"]): void =>
      each(`KB ${name}`, (after.bytes[of] - before.bytes[of]) / 1000, "KB");
    each("CPU of everything", (after.cpu - before.cpu) * 1000, "ms");
    each("requests to the Kubernetes API", sum(after.requests) - sum(before.requests), "");
    each("calls to the cloud", sum(after.calls) - sum(before.calls), "");
    kilobytes("sent to the Kubernetes API", "sent");
    kilobytes("received from it", "received");
    kilobytes("of watched events", "watched");
    kilobytes("of the cloud's answers", "cloud");
    report(`${what}: resident memory at its end`, residentMiB(), "MiB");
    if (globalThis.gc !== undefined) {
      globalThis.gc();
      report(`${what}: of it in use`, process.memoryUsage().heapUsed / 2 ** 20, "MiB");
    }
    for (const kind of ["requests", "calls"] as const)
      for (const [name, count] of risen(before[kind], after[kind]).slice(0, SHOWN))
        console.log(`    ${name}: ${(count / units).toFixed(3)}`);
  }

  /** The same way to the Kubernetes API, counted and weighed as JSON. */
  transport(inner: Transport): Transport {
    const counted = countedTransport(inner, this.#requests);
    const bytes = this.#bytes;
    return {
      async request(request) {
        bytes.sent += weight(request.body);
        const answer = await counted.request(request);
        bytes.received += weight(answer.body);
        return answer;
      },
      async watch(request) {
        const stream = await counted.watch(request);
        if ("status" in stream) return stream;
        return (async function* () {
          for await (const event of stream) {
            bytes.watched += weight(event);
            yield event;
          }
        })();
      },
      close: () => inner.close(),
    };
  }

  /** The same way to the clouds; calls are counted by method and path, ids left out. */
  http(inner: Http): Http {
    return async (request) => {
      const path = new URL(request.url).pathname.replace(/[0-9a-f-]{16,}/g, "ID");
      this.#calls.add(`${request.method} ${path}`);
      const answer = await inner(request);
      this.#bytes.cloud += answer.body.length;
      return answer;
    };
  }

  #read(): Read {
    const [requests, calls] = [this.#requests.snapshot(), this.#calls.snapshot()];
    return { requests, calls, bytes: { ...this.#bytes }, cpu: cpuSeconds() };
  }
}

function weight(value: unknown): number {
  return value === undefined ? 0 : JSON.stringify(value).length;
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

/** By how much each count has risen, the most first. */
function risen(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): [string, number][] {
  const all = [...after].map(([name, count]): [string, number] => [name, count - (before.get(name) ?? 0)]);
  return all.filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a);
}
