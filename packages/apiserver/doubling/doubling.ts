/**
 * Requests of any size for every way from a body to an answer, and how much work one is. What an account may send must cost work in
 * proportion to its bytes: twice the input may not cost more than `MAX_GROWTH` times the work.
 */
import { MAX_GROWTH, memoryGrowth } from "@slipway/base/testing";
import type { ApiRequest, Transport } from "@slipway/kube";
import type { User } from "../model/request.ts";
import { world } from "../testing.ts";
import type { WebhookHttp } from "../webhook/http.ts";

/** One kind of input. `n` counts whatever repeats in it. */
export interface Doubling {
  /** What repeats, and where: the end of the test's name. */
  name: string;
  /** How many make the work measurable, and few enough for `make test`. */
  n: number;
  /** Who sends it; an administrator unless said. */
  as?: User;
  /** What must be there before. */
  given?(n: number): readonly ApiRequest[];
  /** The request that is measured; `run` counts its repetitions, for names. */
  request(n: number, run: number): ApiRequest;
  /** What the webhooks that it calls answer. */
  webhooks?(n: number): WebhookHttp;
  /** The answer's status; at some sizes it may be another refusal, never a defect. */
  status: number;
}

const RUNS = 2;
const ATTEMPTS = 6;

/** The growth of work too small to measure, at the largest input there may be, counts for nothing. */
const MEASURABLE_MS = 20;
/** From here on a measurement that says too much is believed. */
const SURE_MS = 100;
const LARGEST_BODY = 3 * 1024 * 1024;
/** Requests that are still too small to measure with so many times what their case asks for do not grow. */
const MOST_TIMES = 4096;

/**
 * How the work grows when the input doubles. Where one doubling seems to cost too much, two of them are measured, and the smallest of some
 * attempts counts: other load, and memory that is being cleared up, only add; a small input that still seems to cost too much is judged by a larger one. Inputs that are too large to be taken are not measured.
 * Rejects with the case's name where no input can be measured: its work stays tiny however many there are, or not even one is taken.
 */
export async function growthOf(doubling: Doubling, n = doubling.n): Promise<{ growth: number; n: number; ms: number }> {
  if (n < 1) throw new Error(`${doubling.name}: not even one is taken`);
  if (n > MOST_TIMES * doubling.n) throw new Error(`${doubling.name}: ${n} cost too little to measure`);
  const once = await workOf(doubling, n);
  const twice = await workOf(doubling, 2 * n);
  if (once === undefined || twice === undefined) return growthOf(doubling, Math.floor(n / 2));
  const isTaken = async (): Promise<boolean> =>
    lengthOf(doubling, 4 * n) <= LARGEST_BODY && (await workOf(doubling, 4 * n)) !== undefined;
  if (twice < MEASURABLE_MS) return (await isTaken()) ? growthOf(doubling, 2 * n) : { growth: 0, n, ms: twice };
  let growth = twice / once;
  const from = growth <= MAX_GROWTH || (await isTaken()) ? n : Math.ceil(n / 2);
  for (let again = 1; again < ATTEMPTS && growth > MAX_GROWTH; again++) {
    const [less, more] = [await workOf(doubling, from), await workOf(doubling, 4 * from)];
    growth = Math.min(growth, Math.sqrt(more! / less!));
  }
  if (growth > MAX_GROWTH) growth /= memoryGrowth();
  // So little work says nothing for sure. What grows too fast does so at four times the size all the more.
  if (growth > MAX_GROWTH && twice < SURE_MS && (await isTaken())) return growthOf(doubling, 4 * n);
  return { growth, n, ms: twice };
}

/** Letters of the largest body and query. */
function lengthOf(doubling: Doubling, n: number): number {
  const lengths = [...(doubling.given?.(n) ?? []), doubling.request(n, 0)].map(({ body, query = {} }) => {
    const inBody = body instanceof Uint8Array || typeof body === "string" ? body.length : 0;
    return Object.values(query).reduce((length, text) => length + text.length, inBody);
  });
  return Math.max(...lengths);
}

/**
 * Milliseconds of this thread's CPU from the request to the text of its answer: the least of some runs. Undefined: there are more values than a
 * body may hold.
 */
export async function workOf(doubling: Doubling, n: number): Promise<number | undefined> {
  const w = await world(doubling.webhooks && { webhooks: doubling.webhooks(n) });
  const [administrator, sender] = [w.server.transport(), w.server.transport(doubling.as)];
  try {
    for (const request of doubling.given?.(n) ?? [])
      if ((await sent(administrator, request, (status) => status === 201 || status === 413)) === 413) return undefined;
    let least = Number.POSITIVE_INFINITY;
    for (let run = 0; run < RUNS; run++) {
      const request = doubling.request(n, run);
      const before = process.threadCpuUsage();
      const status = await sent(sender, request, (status) => status < 500 || status === doubling.status);
      if (status === 413 && doubling.status !== 413) return undefined;
      const { user, system } = process.threadCpuUsage(before);
      least = Math.min(least, (user + system) / 1000);
    }
    return least;
  } finally {
    await administrator.close();
    await sender.close();
    await w.close();
  }
}

async function sent(transport: Transport, request: ApiRequest, fits: (status: number) => boolean): Promise<number> {
  const answer = await transport.request(request);
  const text = JSON.stringify(answer.body);
  if (!fits(answer.status)) throw new Error(`answered ${answer.status}: ${text.slice(0, 1000)}`);
  return answer.status;
}

/** `n` texts, joined. */
export function repeated(n: number, make: (i: number) => string, separator = ","): string {
  return Array.from({ length: n }, (_, i) => make(i)).join(separator);
}
