/**
 * How long one of the largest requests keeps all others waiting: the longest turn of the event loop while it is answered, in CPU time of this
 * thread, so that other load on the machine does not count. The bodies are those of the doubling tests, grown to the limit.
 * Run: `node bench/fairness.bench.ts [part of a name]`.
 */

import { ADMIN, createApiServer } from "@slipway/apiserver";
import { ALL_DOUBLINGS, type Doubling } from "@slipway/apiserver/doubling";
import { EXTRAS } from "@slipway/apiserver/extras";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import type { ApiRequest } from "@slipway/kube";
import { printMachine, report } from "./table.ts";

const LIMIT = 3 * 1024 * 1024;
const BUDGET_MS = 50;

const pattern = process.argv[2] ?? "";
printMachine("longest turn of the event loop while a request of 3 MiB is answered, and all its turns, in ms of CPU");
for (const doubling of ALL_DOUBLINGS.filter(({ name }) => name.includes(pattern))) await measure(doubling);

/** The worst of the largest input that is answered, and of the smallest that was seen refused for its size. */
async function measure(doubling: Doubling): Promise<void> {
  let n = largest(doubling);
  let seen = await at(doubling, n);
  let refused: Seen | undefined;
  // What it builds on may have limits of its own, as annotations do.
  while ((seen === undefined && n > doubling.n) || (seen?.status === 413 && doubling.status !== 413)) {
    refused = seen ?? refused;
    n = Math.floor(n * 0.8);
    seen = await at(doubling, n);
  }
  if (seen === undefined) return void console.log(`${doubling.name}: not measured, what it builds on is refused`);
  const worst = refused !== undefined && refused.longest > seen.longest ? refused : seen;
  report(doubling.name.slice(0, 46), worst.longest, `of ${worst.all.toFixed(0)}, answered ${worst.status}`, BUDGET_MS);
}

interface Seen {
  longest: number;
  all: number;
  status: number;
}

/** Undefined: what it builds on is refused, and not for its size. */
async function at(doubling: Doubling, n: number): Promise<Seen | undefined> {
  const api = await createApiServer({
    extras: EXTRAS,
    clock,
    random,
    log,
    ...(doubling.webhooks && { webhooks: doubling.webhooks(n) }),
  });
  const transport = api.transport(ADMIN);
  const answered = async (request: ApiRequest): Promise<number> => {
    const { status, body } = await transport.request(request);
    JSON.stringify(body);
    return status;
  };
  try {
    for (const given of doubling.given?.(n) ?? []) {
      const { body } = given;
      // As clients send it, so that the limits of bodies hold for it too.
      const isText = typeof body === "string" || body instanceof Uint8Array;
      const status = await answered(isText ? given : { ...given, body: JSON.stringify(body) });
      if (status >= 300) return status === 413 ? { longest: 0, all: 0, status } : undefined;
    }
    return await turnsOf(answered, doubling, n);
  } finally {
    await transport.close();
    await api.close();
  }
}

async function turnsOf(
  answered: (request: ApiRequest) => Promise<number>,
  doubling: Doubling,
  n: number,
): Promise<Seen> {
  let best = { longest: Number.POSITIVE_INFINITY, all: 0, status: 0 };
  for (let run = 0; run < 2; run++) {
    const request = doubling.request(n, run);
    let isOver = false;
    let longest = 0;
    const started = process.threadCpuUsage();
    const answer = answered(request).finally(() => {
      isOver = true;
    });
    for (let before = started; !isOver; ) {
      await new Promise(setImmediate);
      const now = process.threadCpuUsage();
      longest = Math.max(longest, milliseconds(before, now));
      before = now;
    }
    const status = await answer;
    const all = milliseconds(started, process.threadCpuUsage());
    if (longest < best.longest) best = { longest, all, status };
  }
  return best;
}

function milliseconds(from: NodeJS.CpuUsage, to: NodeJS.CpuUsage): number {
  return (to.user + to.system - from.user - from.system) / 1000;
}

/** As many as make a body that is just within the limit. */
function largest(doubling: Doubling): number {
  const lengthOf = (n: number): number => String(doubling.request(n, 0).body).length;
  let n = doubling.n;
  // What does not grow with its body, but with what is there before or answered by webhooks.
  if (lengthOf(1) === lengthOf(1000)) return 10_000;
  while (lengthOf(2 * n) < LIMIT && n < 4_000_000) n *= 2;
  for (let step = n; step >= 1; step = Math.floor(step / 2)) if (lengthOf(n + step) < LIMIT) n += step;
  return n;
}
