/**
 * The embedded API and kube-apiserver with etcd under the same load, one after the other: each in processes of its own, over TLS,
 * from clients in this process. Where the clients are what limits, the server's CPU time tells more than the rate. Run: `node bench/apiserver.bench.ts [--objects 10000] [--seconds 5] [--clients 16]`.
 */
import { parseArgs } from "node:util";
import { systemClock as clock } from "@slipway/base";
import type { ApiRequest, Transport, WatchStream } from "@slipway/kube";
import { loadConnection } from "@slipway/kube/http";
import { Agent, request } from "undici";
import { keep } from "./record.ts";
import { realIsHere, type Server, startServer } from "./servers.ts";
import { printMachine } from "./table.ts";

const { values } = parseArgs({
  options: {
    objects: { type: "string", default: "10000" },
    seconds: { type: "string", default: "5" },
    clients: { type: "string", default: "16" },
  },
});
const [OBJECTS, SECONDS, CLIENTS] = [Number(values.objects), Number(values.seconds), Number(values.clients)];
const WATCHERS = 100;
const CHANGES = Math.min(500, OBJECTS);
const PAGE = 500;
const PATH = "/api/v1/namespaces/default/configmaps";
const FILLER = "x".repeat(3000);

/** What one server did: figures by name. */
type Figures = Map<string, { value: number; unit: string; more: "better" | "worse" }>;

printMachine(`${OBJECTS} ConfigMaps of 3 KB, ${CLIENTS} clients at once for ${SECONDS} s a row, ${WATCHERS} watchers`);
const servers = [() => startServer("embedded", false), () => startServer("embedded", true)];
if (await realIsHere()) servers.push(() => startServer("real", true));
else console.log("kube-apiserver is not here (make kube-assets): no comparison");
const results: { name: string; figures: Figures }[] = [];
for (const start of servers) {
  const server = await start();
  try {
    results.push({ name: server.name, figures: await measure(server) });
  } finally {
    await server.close();
  }
}
print();

async function measure(server: Server): Promise<Figures> {
  const figures: Figures = new Map();
  const report = (what: string, value: number, unit: string, more: "better" | "worse"): void => {
    figures.set(what, { value, unit, more });
  };
  /** A row's rate, its slowest and what each took of the server's CPU. */
  const row = async (what: string, run: () => Promise<[times: number[], seconds: number]>): Promise<void> => {
    const before = server.cpuSeconds();
    const [times, seconds] = await run();
    const sorted = [...times].sort((a, b) => a - b);
    report(what, times.length / seconds, "requests/s", "better");
    report(`${what}, p99`, sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN, "ms", "worse");
    report(`${what}, CPU`, ((server.cpuSeconds() - before) / times.length) * 1000, "ms each", "worse");
  };
  const api = await server.transport();
  report("ready after", server.readySeconds, "s", "worse");
  await row("create", () => create(api));
  let at = 0;
  const one = (): string => `${PATH}/c-${at++ % OBJECTS}`;
  const text = (): string => `v-${at}`;
  await row("get", () => load(api, () => ({ method: "GET", path: one() })));
  // Read to the end, not parsed: reading a page's JSON costs this process more than writing it costs the server.
  const { ca, cert, key, server: base } = await loadConnection({ kubeconfig: server.kubeconfigFile, env: {}, clock });
  const agent = new Agent({ connect: { ca, cert, key } as object, connections: CLIENTS });
  const page = `${base}${PATH}?limit=${PAGE}`;
  await row(`list ${PAGE}`, () => repeat(() => read(page, agent)));
  await agent.close();
  const merge = "application/merge-patch+json";
  const patched = (): ApiRequest => ({
    ...{ method: "PATCH", path: one(), contentType: merge, body: { data: { y: text() } } },
  });
  await row("patch", () => load(api, patched));
  const applied = (): ApiRequest => {
    const path = one();
    const body = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: path.slice(PATH.length + 1) },
      data: { z: text() },
    };
    const query = { fieldManager: "bench", force: "true" };
    return { method: "PATCH", path, contentType: "application/apply-patch+yaml", body, query };
  };
  await row("apply", () => load(api, applied));
  const before = server.cpuSeconds();
  const spread = `fan-out to ${WATCHERS} watches`;
  report(spread, await fanOut(api), "events/s", "better");
  report(`${spread}, CPU`, ((server.cpuSeconds() - before) / (CHANGES * WATCHERS)) * 1000, "ms each", "worse");
  report(`resident memory at ${OBJECTS} objects`, server.residentMiB(), "MiB", "worse");
  await api.close();
  return figures;
}

function created(name: string): ApiRequest {
  return { method: "POST", path: PATH, body: { metadata: { name }, data: { x: FILLER + name } } };
}

async function create(api: Transport): Promise<[number[], number]> {
  const times: number[] = [];
  const began = performance.now();
  let made = 0;
  const creator = async (): Promise<void> => {
    while (made < OBJECTS) times.push(await timed(api, created(`c-${made++}`)));
  };
  await Promise.all(Array.from({ length: CLIENTS }, creator));
  return [times, (performance.now() - began) / 1000];
}

async function timed(api: Transport, asked: ApiRequest): Promise<number> {
  const began = performance.now();
  const answer = await api.request(asked);
  if (answer.status >= 300) throw new Error(`${asked.method} ${asked.path}: ${JSON.stringify(answer.body)}`);
  return performance.now() - began;
}

async function read(url: string, dispatcher: Agent): Promise<number> {
  const began = performance.now();
  const { statusCode, body } = await request(url, { dispatcher });
  for await (const _ of body);
  if (statusCode !== 200) throw new Error(`${url}: ${statusCode}`);
  return performance.now() - began;
}

function load(api: Transport, next: () => ApiRequest): Promise<[number[], number]> {
  return repeat(() => timed(api, next()));
}

/** Every client does it again and again; how long each time took, and the whole in seconds. */
async function repeat(once: () => Promise<number>): Promise<[number[], number]> {
  const times: number[] = [];
  const began = performance.now();
  const client = async (): Promise<void> => {
    while (performance.now() - began < SECONDS * 1000) times.push(await once());
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return [times, (performance.now() - began) / 1000];
}

async function fanOut(api: Transport): Promise<number> {
  const list = await api.request({ method: "GET", path: PATH, query: { limit: "1" } });
  const { resourceVersion } = (list.body as { metadata: { resourceVersion: string } }).metadata;
  const watchers = await Promise.all(
    Array.from({ length: WATCHERS }, async () => {
      const stream = (await api.watch({
        method: "GET",
        path: PATH,
        query: { watch: "true", resourceVersion },
      })) as WatchStream;
      return async (): Promise<void> => {
        let seen = 0;
        for await (const _ of stream) if (++seen === CHANGES) return;
      };
    }),
  );
  const began = performance.now();
  const done = Promise.all(watchers.map((run) => run()));
  for (let i = 0; i < CHANGES; i++)
    await timed(api, {
      method: "PATCH",
      path: `${PATH}/c-${i}`,
      contentType: "application/merge-patch+json",
      body: { data: { w: `${i}` } },
    });
  await done;
  return (CHANGES * WATCHERS) / ((performance.now() - began) / 1000);
}

/** A row per figure, a column per server, and how the durable embedded one compares with the real one. */
function print(): void {
  const [first] = results;
  const real = results.find(({ name }) => name.startsWith("kube"));
  console.log(
    `\n${"".padEnd(36)}${results.map(({ name }) => name.padStart(38)).join("")}${real ? "    real/embedded" : ""}`,
  );
  for (const [what, { unit, more }] of first!.figures) {
    for (const { name, figures } of results) keep(`${what}, ${name}`, figures.get(what)!.value, unit);
    const cells = results.map(({ figures }) => `${digits(figures.get(what)!.value)} ${unit}`.padStart(38));
    const ours = results[1]!.figures.get(what)!.value;
    const theirs = real?.figures.get(what)?.value;
    const ratio =
      theirs === undefined ? "" : `${(more === "better" ? ours / theirs : theirs / ours).toFixed(1)} × better`;
    console.log(`${what.padEnd(36)}${cells.join("")}${ratio.padStart(17)}`);
  }
}

function digits(value: number): string {
  return value.toFixed(value < 0.1 ? 4 : value < 10 ? 2 : value < 100 ? 1 : 0);
}
