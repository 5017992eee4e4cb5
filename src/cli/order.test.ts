import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { SOCKET } from "../netboot/service/place.ts";
import { verb as order } from "./order.ts";
import { spoken } from "./testing.ts";

/** A netboot that takes every order; what it was given. */
async function netboot(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), "slipway-order-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const given: object[] = [];
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join("");
    if (request.method === "POST") given.push(JSON.parse(body));
    response.end(JSON.stringify({ id: `o-${given.length}` }));
  }).listen(join(dir, SOCKET));
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const slipway = async (...args: string[]) =>
    (await spoken(t, order, "order", ...args, "--no-wait", "--dir", dir)).out;
  return { given, slipway };
}

test("order wipe takes each way to erase, all disks or those that are named, and a word that what is on them is lost", async (t) => {
  const { given, slipway } = await netboot(t);
  assert.equal(await slipway("wipe", "host/host-1", "--yes"), "o-1\n");
  for (const how of ["metadata", "discard", "full", "secure"])
    await slipway("wipe", "host-1", "--yes", "--how", how, "--disk", "/dev/sda");
  const wipe = (how: string, disks: unknown) => ({ order: "wipe", how, disks });
  assert.deepEqual(given, [
    wipe("metadata", "all"),
    ...["metadata", "discard", "full", "secure"].map((how) => wipe(how, ["/dev/sda"])),
  ]);
  await assert.rejects(slipway("wipe", "host-1"), /--yes/);
  await assert.rejects(slipway("wipe", "host-1", "--yes", "--how", "shred"), /metadata, discard, full, secure/);
  assert.equal(given.length, 5);
});

test("order inspect, reboot and poweroff give the order of their name", async (t) => {
  const { given, slipway } = await netboot(t);
  for (const name of ["inspect", "reboot", "poweroff"]) await slipway(name, "host-1");
  assert.deepEqual(given, [{ order: "inspect" }, { order: "reboot" }, { order: "poweroff" }]);
});
