import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault, plain, quietLog, seededRandom } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { serveHttp } from "@slipway/base/http-server";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { netbootSettings } from "../settings.ts";
import type { NetbootPlace } from "./place.ts";
import { startNetboot } from "./service.ts";

const ports = { clock: new VirtualClock(), random: seededRandom(1), log: quietLog };

/** A place on an interface that is not there, so that nothing is ever served. */
function place(t: TestContext): NetbootPlace & { socket: string } {
  const dir = mkdtempSync(join(tmpdir(), "slipway-service-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const settings = netbootSettings({ interface: "none0", dhcp: { mode: "off" } }, "test");
  return { settings, assets: dir, dir, socket: join(dir, "netboot.sock") };
}

test("a folder whose socket is served by another process is not opened", async (t) => {
  const where = place(t);
  const other = await serveHttp(async () => plain(200, "other\n"), { socket: where.socket });
  t.after(() => other.close());
  await assert.rejects(startNetboot(where, ports), (error) => isFault(error, "AlreadyExists"));
  assert.deepEqual(readdirSync(where.dir), ["netboot.sock"]);
  const http = undiciHttp({ socket: where.socket });
  t.after(() => http.close());
  assert.equal((await http({ method: "GET", url: "http://localhost/" })).body, "other\n");
});

test("N6 a netboot that can't start gives its folder back, so that it can be tried again", async (t) => {
  const where = place(t);
  for (let time = 0; time < 2; time++)
    await assert.rejects(startNetboot(where, ports), /interface none0: there is none of this name/);
  assert.deepEqual(readdirSync(where.dir), []);
});
