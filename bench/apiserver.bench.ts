/** The embedded API with 10 000 objects of 3 KB: create, list by pages, fan-out to 100 watchers; in memory and durable. Run: `node bench/apiserver.bench.ts`. */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createApiServer } from "../src/apiserver/server.ts";
import { systemClock } from "../src/base/clock.ts";
import { quietLog } from "../src/base/log.ts";
import { cryptoRandom } from "../src/base/random.ts";
import type { Transport, WatchStream } from "../src/kube/transport.ts";

const OBJECTS = 10_000;
const WATCHERS = 100;
const CONCURRENT = 50;
const PATH = "/api/v1/namespaces/default/configmaps";
const FILLER = "x".repeat(3000);

console.log(
  `node ${process.version}, ${process.platform}/${process.arch}, ${cpus().length} cpus, ${cpus()[0]?.model ?? ""}`,
);
console.log(
  `command: ${process.argv.slice(0, 2).join(" ")} ${process.execArgv.join(" ")}; ${OBJECTS} objects of 3 KB, ${CONCURRENT} requests at once, direct transport`,
);
await measure("memory");
const folder = mkdtempSync(join(tmpdir(), "slipway-bench-"));
try {
  await measure("durable", { file: join(folder, "db") });
} finally {
  rmSync(folder, { recursive: true });
}

async function measure(label: string, storage?: { file: string }): Promise<void> {
  const server = await createApiServer({
    clock: systemClock,
    random: cryptoRandom,
    log: quietLog,
    ...(storage && { storage }),
  });
  const api = server.transport();
  let at = performance.now();
  let next = 0;
  const creator = async (): Promise<void> => {
    while (next < OBJECTS) {
      const name = `c-${next++}`;
      const answer = await api.request({
        method: "POST",
        path: PATH,
        body: { metadata: { name }, data: { x: FILLER + name } },
      });
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, creator));
  tell(label, "create", OBJECTS / seconds(at), "objects/s");

  at = performance.now();
  let token = "";
  let pages = 0;
  do {
    const query = { limit: "500", ...(token === "" ? {} : { continue: token }) };
    const answer = await api.request({ method: "GET", path: PATH, query });
    token = (answer.body as { metadata: { continue?: string } }).metadata.continue ?? "";
    pages++;
  } while (token !== "");
  tell(label, `list ${pages} pages of 500`, seconds(at) * 1000, "ms");

  await fanOut(label, api);
  globalThis.gc?.();
  tell(label, "resident memory", process.memoryUsage.rss() / 2 ** 20, "MiB");
  await server.close();
}

async function fanOut(label: string, api: Transport): Promise<void> {
  const version = (
    (await api.request({ method: "GET", path: PATH, query: { limit: "1" } })).body as {
      metadata: { resourceVersion: string };
    }
  ).metadata;
  const changes = 500;
  const watchers = await Promise.all(
    Array.from({ length: WATCHERS }, async () => {
      const stream = (await api.watch({
        method: "GET",
        path: PATH,
        query: { resourceVersion: version.resourceVersion },
      })) as WatchStream;
      return async (): Promise<void> => {
        let seen = 0;
        for await (const _ of stream) if (++seen === changes) return;
      };
    }),
  );
  const at = performance.now();
  const done = Promise.all(watchers.map((run) => run()));
  for (let i = 0; i < changes; i++) {
    const body = { data: { y: String(i) } };
    await api.request({ method: "PATCH", path: `${PATH}/c-${i}`, contentType: "application/merge-patch+json", body });
  }
  await done;
  tell(label, `${changes} patches to ${WATCHERS} watchers`, (changes * WATCHERS) / seconds(at), "events/s");
}

function seconds(since: number): number {
  return (performance.now() - since) / 1000;
}

function tell(label: string, what: string, value: number, unit: string): void {
  console.log(`${label.padEnd(8)} ${what.padEnd(36)} ${value.toFixed(value < 100 ? 1 : 0).padStart(9)} ${unit}`);
}
