/** Records as versions left them that made one of each card. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { fingerprint } from "../protocol/key.ts";
import type { HostChange } from "./host.ts";
import { openHostStore } from "./host-store.ts";
import { pack } from "./packed-inventory.ts";
import { AGENT_KEY_TEXT, inventoryOf, someHosts } from "./testing.ts";

const [A, B] = ["52:54:00:00:00:0a", "52:54:00:00:00:0b"] as const;
const NAME = { a: "host-52-54-00-00-00-0a", b: "host-52-54-00-00-00-0b" };
const LATER = 120_000;

/** A file with two records: `first` was seen first, and both name both cards. */
function left(t: TestContext, more: { b?: object; inventory?: object } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-twins-"));
  const file = join(folder, "hosts.db");
  const store = openHostStore(file);
  const record = (name: string, mac: string, firstSeen: number) => {
    const host = { name, mac, macs: [mac], firstSeen, lastSeen: firstSeen, boot: "agent" as const, inventoryAt: 1 };
    return { host, bootChosen: false };
  };
  const [a, b] = [record(NAME.a, A, 2_000), record(NAME.b, B, 1_000)];
  const packed = [NAME.a, NAME.b].map((name) => {
    const inventory = { ...inventoryOf(A, B), ...(name === NAME.b && more.inventory) };
    return [name, pack(inventory, name)] as const;
  });
  store.write([a, { ...b, host: { ...b.host, ...more.b } }], [], new Map(packed));
  store.close();
  const clock = new VirtualClock();
  const hosts = someHosts(clock, { file });
  const news: HostChange[] = [];
  hosts.onChange((change) => void news.push(change));
  t.after(() => {
    hosts.close();
    rmSync(folder, { recursive: true });
  });
  return { clock, hosts, news };
}

test("two records of one machine are one as soon as its agent has spoken by both cards", async (t) => {
  const { clock, hosts, news } = left(t);
  await clock.run(LATER);
  const { token } = hosts.register(inventoryOf(A, B), A);
  hosts.join(NAME.a, B);
  assert.deepEqual(
    hosts.list().map(({ name, macs, firstSeen }) => ({ name, macs, firstSeen })),
    [{ name: NAME.a, macs: [A, B], firstSeen: 1_000 }],
  );
  assert.equal(hosts.byToken(token)?.name, NAME.a, "its agent goes on");
  assert.ok(news.some((change) => change.is === "gone" && change.name === NAME.b && change.into === NAME.a));
});

test("what a user approved of either stays; a key that was demanded goes before", async (t) => {
  const { clock, hosts } = left(t, { b: { approval: { at: 1 } } });
  await clock.run(LATER);
  hosts.register(inventoryOf(A, B), A);
  hosts.join(NAME.a, B);
  assert.equal(hosts.standing(NAME.a).trust, "approved");

  const key = { ...left(t, { b: { approval: { at: 1, key: "0000-0000-0000-0000-0000-0000" } } }) };
  await key.clock.run(LATER);
  key.hosts.register(inventoryOf(A, B), A);
  key.hosts.approve(NAME.a);
  key.hosts.join(NAME.a, B);
  assert.match(key.hosts.standing(NAME.a).because, /approved for the key 0000/);
  assert.notEqual(fingerprint(AGENT_KEY_TEXT), "0000-0000-0000-0000-0000-0000");
});

const OTHERS: Record<string, Parameters<typeof left>[1]> = {
  "whose report does not name the card": { inventory: { cards: inventoryOf(B).cards } },
  "that is another system": { inventory: { system: { manufacturer: "QEMU", product: "Standard PC", serial: "2" } } },
  "that is in the middle of an order": { b: { order: { is: { id: "1", order: "wipe" }, givenAt: 1 } } },
  "that is being installed": { b: { install: { id: "1", givenAt: 1, reports: true, hasFiles: true } } },
};
for (const [which, more] of Object.entries(OTHERS))
  test(`N1 a record ${which} stays, and is reported`, async (t) => {
    const { clock, hosts, news } = left(t, more);
    await clock.run(LATER);
    hosts.register(inventoryOf(A, B), A);
    assert.throws(
      () => hosts.join(NAME.a, B),
      (error) => isFault(error, "Conflict"),
    );
    assert.equal(hosts.list().length, 2);
    assert.ok(news.some(({ is }) => is === "refused"));
  });

test("N1 a record whose agent speaks is another machine's", async (t) => {
  const { clock, hosts } = left(t);
  await clock.run(LATER);
  hosts.register(inventoryOf(A, B), A);
  hosts.register(inventoryOf(A, B), B);
  assert.throws(
    () => hosts.join(NAME.a, B),
    (error) => isFault(error, "Conflict"),
  );
});
