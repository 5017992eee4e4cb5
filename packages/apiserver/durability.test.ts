import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { cryptoRandom, quietLog, systemClock } from "@slipway/base";
import type { Body } from "./model/served.ts";
import { createApiServer } from "./server.ts";
import { CONFIG_MAPS } from "./testing.ts";

const WRITERS = 8;
const ENOUGH = 400;
const headers = { authorization: "Bearer t" };

/** A whole server in a process of its own; says its address on its output. */
const script = (file: string): string => `
  import { createApiServer } from ${JSON.stringify(import.meta.resolve("./server.ts"))};
  import { systemClock, quietLog, cryptoRandom } from ${JSON.stringify(import.meta.resolve("@slipway/base"))};
  const server = await createApiServer({
    clock: systemClock, random: cryptoRandom, log: quietLog,
    storage: { file: ${JSON.stringify(file)} },
    tokens: { t: { name: "admin", groups: ["system:masters"] } },
  });
  console.log((await server.listen({})).url);`;

test("a server that can't start with what it was given leaves its file to the next one", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-refused-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const options = { clock: systemClock, random: cryptoRandom, log: quietLog, storage: { file: join(folder, "db") } };
  await assert.rejects(createApiServer({ ...options, serviceCidrs: ["no range"] }), /no range/);
  // Of a family that the only range does not have: the API's own Service can't be made.
  await assert.rejects(createApiServer({ ...options, serviceCidrs: ["192.0.2.1/32"] }), /clusterIPs/);
  await (await createApiServer(options)).close();
});

test("a server killed under write load keeps every create, change and delete that it acknowledged", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-kill-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "db");
  const child = spawn(process.execPath, ["--input-type=module", "-e", script(file)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const gone = once(child, "exit");
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];

  /** What is known to be true of each object; undefined: its deletion was acknowledged. A write without an answer leaves it open. */
  const known = new Map<string, string | undefined>();
  let acknowledged = 0;
  const write = async (method: string, name: string, data?: string): Promise<boolean> => {
    const path = method === "POST" ? CONFIG_MAPS : `${CONFIG_MAPS}/${name}`;
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const body = data === undefined ? null : JSON.stringify({ metadata: { name }, data: { n: data } });
    known.delete(name);
    try {
      const answer = await fetch(`${url}${path}`, { method, headers: { ...headers, "content-type": type }, body });
      assert.ok(answer.ok, `${method} ${name}: ${answer.status}`);
      await answer.arrayBuffer();
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return false;
    }
    known.set(name, data);
    if (++acknowledged === ENOUGH) child.kill("SIGKILL");
    return true;
  };
  const writer = async (w: number): Promise<void> => {
    for (let i = 0; ; i++) {
      const name = `w${w}-${i}`;
      if (!(await write("POST", name, "created"))) return;
      if (i % 2 === 0 && !(await write("PATCH", name, "changed"))) return;
      if (i % 3 === 0 && !(await write("DELETE", name))) return;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, w) => writer(w)));
  await gone;
  assert.ok(acknowledged >= ENOUGH);

  const again = await createApiServer({ clock: systemClock, random: cryptoRandom, log: quietLog, storage: { file } });
  const list = (await again.transport().request({ method: "GET", path: CONFIG_MAPS })).body as { items: Body[] };
  const found = new Map(list.items.map((o) => [o.metadata.name, (o.data as { n: string }).n]));
  for (const [name, data] of known) assert.equal(found.get(name), data, name);
  await again.close();
});
