import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { netbootSettings } from "../settings.ts";
import { openMemory } from "./memory.ts";
import { Parts } from "./parts.ts";

const A = "52:54:00:00:00:0a";

function memoryFor(t: TestContext, settings: object, dir = mkdtempSync(join(tmpdir(), "slipway-memory-"))) {
  const parts = new Parts(quietLog);
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const ports = { parts, clock: new VirtualClock(), random: seededRandom(1), log: quietLog };
  return {
    dir,
    parts,
    ...openMemory({ dir, settings: netbootSettings({ dhcp: { mode: "off" }, ...settings }, "test") }, ports),
  };
}

test("a machine that nobody knows boots the script of the settings, else what they say of unknown machines", async (t) => {
  const url = "http://10.0.0.2/own.ipxe";
  for (const [boot, expected] of [
    [{ script: url, unknown: "disk" }, { chain: url }],
    [{ unknown: "disk" }, "disk"],
    [{}, "agent"],
  ] as const) {
    const { hosts, parts } = memoryFor(t, { boot });
    assert.deepEqual(hosts.bootOf(A), expected);
    await parts.close();
  }
});

test("hosts outlive the process, and their trust is that of the settings", async (t) => {
  const first = memoryFor(t, {});
  first.hosts.seen({ mac: A });
  await first.parts.close();
  const second = memoryFor(t, { trust: "first-seen" }, first.dir);
  const [host] = second.hosts.list();
  assert.equal(host?.mac, A);
  assert.equal(second.hosts.unread, 0);
  await second.parts.close();
});
