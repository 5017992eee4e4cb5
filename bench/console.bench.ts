/**
 * The console: how long it takes from a change's write to its event at a page, how fast a page gets what there is, and what that costs. An
 * embedded API and a console on sockets of this process. Run: `node bench/console.bench.ts [--objects 10000] [--changes 500]`.
 */
import { request } from "node:http";
import { parseArgs } from "node:util";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, json, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { startConsole } from "../src/console/server/console.ts";
import { transportOf } from "../src/console/server/credentials.ts";
import { printMachine, report, residentMiB } from "./table.ts";

const { values } = parseArgs({
  options: { objects: { type: "string", default: "10000" }, changes: { type: "string", default: "500" } },
});
const [OBJECTS, CHANGES] = [Number(values.objects), Number(values.changes)];
const PATH = "/api/v1/namespaces/default/configmaps";
const FILLER = "x".repeat(1_000);
const TOKEN = "token-of-the-benchmark";

printMachine(`${OBJECTS} objects of 1 KB, ${CHANGES} changes one after the other`);
const tokens = { [TOKEN]: { name: "admin", groups: ["system:masters"] } };
const server = await createApiServer({ clock, random, log, tokens });
const { port } = await server.listen({});
const api = server.transport();
const page = async () => ({ index: "", files: new Map() });
const console = await startConsole(
  {
    ...{ clock, random, log, page, http: async () => json(404, {}) },
    transport: (credentials) => transportOf({ server: `http://127.0.0.1:${port}` }, credentials),
  },
  { port: 0 },
);
for (let i = 0; i < OBJECTS; i++)
  await api.request({ method: "POST", path: PATH, body: { metadata: { name: `m${i}` }, data: { FILLER } } });

const signIn = await fetch(`${console.url}/console/session`, {
  method: "POST",
  headers: { "content-type": "application/json", origin: console.url },
  body: JSON.stringify({ token: TOKEN }),
});
const cookie = signIn.headers.get("set-cookie")!.split(";")[0]!;

/** When each object's event with this version came; `synced` once everything is there. */
const arrived = new Map<string, number>();
const synced = Promise.withResolvers<number>();
let bytes = 0;
let news = (): void => {};
const began = performance.now();
const before = residentMiB();
const stream = request(
  `${console.url}/console/events?kinds=configmaps&namespace=default`,
  { headers: { cookie } },
  (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (chunk: string) => {
      bytes += chunk.length;
      const events = (text + chunk).split("\n\n");
      text = events.pop()!;
      for (const event of events) take(event);
      news();
    });
    response.on("error", () => {});
  },
);
stream.on("error", () => {});
stream.end();
report("a page has everything after", (await synced.promise) - began, "ms");
report("of that, text", bytes / 2 ** 20, "MiB");
report("memory that it took", residentMiB() - before, "MiB");

const waits: number[] = [];
for (let change = 0; change < CHANGES; change++) {
  const value = `c${change}`;
  const at = performance.now();
  const patch = {
    method: "PATCH",
    path: `${PATH}/m${change % OBJECTS}`,
    contentType: "application/merge-patch+json",
  } as const;
  await api.request({ ...patch, body: { data: { mark: value } } });
  while (!arrived.has(value)) {
    const { promise, resolve } = Promise.withResolvers<void>();
    news = resolve;
    await promise;
  }
  waits.push(arrived.get(value)! - at);
}
waits.sort((a, b) => a - b);
report("from write to event, median", waits[Math.floor(waits.length / 2)]!, "ms", 100);
report("from write to event, 99 of 100", waits[Math.floor(waits.length * 0.99)]!, "ms", 100);
report("from write to event, longest", waits.at(-1)!, "ms");
stream.destroy();
await console.close();
await server.close();

function take(event: string): void {
  const now = performance.now();
  const data = /^event: \w+\ndata: (.*)$/s.exec(event)?.[1];
  if (data === undefined) return;
  const { state, changes = [] } = JSON.parse(data) as {
    state?: string;
    changes?: { object: { data?: { mark?: string } } }[];
  };
  if (state === "synced") synced.resolve(now);
  for (const { object } of changes) if (object.data?.mark !== undefined) arrived.set(object.data.mark, now);
}
