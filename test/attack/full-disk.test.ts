/** The disk under `slipway up` fills up while it runs: it says so, stays readable, goes on by itself, and ends at Ctrl-C. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";

const MAPS = "/api/v1/namespaces/default/configmaps";
const FILLER = "x".repeat(100_000);

interface Answer {
  status: number;
  body: { message?: string; items?: unknown[] };
}

/** `slipway up` on a disk of 24 MiB in a mount namespace of its own; this process reaches the disk by way of /proc. */
async function upOnSmallDisk(t: TestContext) {
  const disk = mkdtempSync(join(tmpdir(), "slipway-full-"));
  t.after(() => rmSync(disk, { recursive: true }));
  const script = 'mount -t tmpfs -o size=24m,mode=755 none "$0" && exec bin/slipway up --port 0 --dir "$0/state"';
  const child = spawn("unshare", ["-m", "/bin/sh", "-c", script, disk], { stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  const log: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => log.push(line));
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith("kubeconfig")) break;
  child.stdout.resume();
  const seen = `/proc/${child.pid}/root${disk}`;
  const transport = createHttpTransport(
    await loadConnection({ kubeconfig: join(seen, "state", "kubeconfig"), env: {}, clock }),
  );
  t.after(() => transport.close());
  const filler = join(seen, "filler");
  return {
    transport,
    log,
    fill() {
      for (let size = 2 ** 20; size >= 1; size = Math.floor(size / 2))
        for (let full = false; !full; )
          try {
            writeFileSync(filler, Buffer.alloc(size), { flag: "a" });
          } catch {
            full = true;
          }
    },
    free: () => rmSync(filler),
    async ended() {
      const end = once(child, "exit");
      child.kill("SIGINT");
      return await Promise.race([
        end,
        clock.sleep(20_000).then(() => assert.fail("Ctrl-C did not end it within 20 s")),
      ]);
    },
  };
}

const create = (api: Transport, name: string): Promise<Answer> =>
  api.request({ method: "POST", path: MAPS, body: { metadata: { name }, data: { x: FILLER } } }) as Promise<Answer>;

const get = (api: Transport, path: string): Promise<Answer> => api.request({ method: "GET", path }) as Promise<Answer>;

async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const end = clock.monotonic() + 60_000;
  while (!(await holds())) {
    if (clock.monotonic() > end) assert.fail(`not within a minute: ${what}`);
    await clock.sleep(100);
  }
}

test("with a full disk `up` reads, refuses writes by the disk's name, says so once, and goes on when there is room", async (t) => {
  if (process.geteuid?.() !== 0 || spawnSync("unshare", ["-m", "true"]).status !== 0)
    return t.skip("only root can mount a disk of its own (unshare -m)");
  const { transport, log, fill, free, ended } = await upOnSmallDisk(t);
  for (let i = 0; i < 20; i++) assert.equal((await create(transport, `before-${i}`)).status, 201);
  fill();
  let kept = 0;
  let refused: Answer | undefined;
  await until("a write is refused", async () => {
    const answer = await create(transport, `full-${kept}`);
    if (answer.status === 201) kept++;
    else refused = answer;
    return refused !== undefined;
  });
  assert.equal(refused!.status, 500);
  assert.match(refused!.body.message ?? "", /the disk of \/.*\/state is full \(.* of 24 MiB free\)/);
  const named = async (): Promise<number> =>
    (await get(transport, MAPS)).body.items!.filter((o) =>
      /^(before|full)-/.test((o as { metadata: { name: string } }).metadata.name),
    ).length;
  assert.equal(await named(), 20 + kept, "what was refused is not there, everything else is");
  assert.equal((await get(transport, "/readyz")).status, 500);
  for (let i = 0; i < 50; i++) assert.equal((await create(transport, "never")).status, 500);
  assert.equal(await named(), 20 + kept);

  free();
  await until("it is ready again", async () => (await get(transport, "/readyz")).status === 200);
  assert.equal((await create(transport, "after")).status, 201);
  assert.equal(log.filter((line) => line.includes("objects can be read only")).length, 1, log.join("\n"));
  assert.equal(log.filter((line) => line.includes("the disk takes writes again")).length, 1);
  assert.deepEqual(await ended(), [0, null]);
});

test("with a full disk `up` ends at Ctrl-C", async (t) => {
  if (process.geteuid?.() !== 0 || spawnSync("unshare", ["-m", "true"]).status !== 0)
    return t.skip("only root can mount a disk of its own (unshare -m)");
  const { transport, log, fill, ended } = await upOnSmallDisk(t);
  fill();
  await until("a write is refused", async () => (await create(transport, `full-${clock.monotonic()}`)).status === 500);
  const [code, signal] = await ended();
  assert.equal(signal, null);
  // Where the simulated providers had news to keep, that is lost, and said.
  if (code !== 0) assert.match(log.at(-1) ?? "", /the state could not be saved: .* is full/);
});
