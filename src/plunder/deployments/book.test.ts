import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom } from "@slipway/base";
import { DeploymentBook } from "./book.ts";

const [A, B, C] = ["52:54:00:00:00:0a", "52:54:00:00:00:0b", "52:54:00:00:00:0c"] as const;
const boot = (configName: string) =>
  ({ configName, configType: "preseed", kernelPath: "k", initrdPath: "i", cmdline: "" }) as never;
const deployment = (mac: string, config: object = {}) =>
  ({
    mac,
    bootConfigName: "preseed",
    config: { address: `10.0.0.${mac.slice(-1) === "a" ? 10 : 11}`, ...config },
  }) as never;
const wanted = (mac: string, claim: string) => ({
  ...{ mac, bootConfigName: "preseed", claim, holder: `PlunderMachine/${claim}`, hostname: "w1" },
  seedUrl: "http://192.0.2.1/seed/",
});

/** A book, with what lies on the disk. */
async function opened(text?: string) {
  const disk = { text };
  const store = {
    read: async () => disk.text,
    write: async (next: string) => {
      disk.text = next;
    },
  };
  return { disk, book: await DeploymentBook.open(store, cryptoRandom) };
}
const again = async ({ disk }: Awaited<ReturnType<typeof opened>>) => (await opened(disk.text)).book;
const macs = (book: DeploymentBook): string[] => book.deployments.map((each) => each.deployment.mac);

test("N10 what is answered is on the disk; a file that holds something else is refused and left alone", async () => {
  const own = await opened();
  await own.book.addBootConfig(boot("preseed"));
  await own.book.add(deployment(A));
  const next = await again(own);
  assert.deepEqual([next.deployments, next.bootConfigs], [own.book.deployments, own.book.bootConfigs]);
  for (const text of ["", "{", "{}", '{"deployments":[]}'])
    await assert.rejects(opened(text), { code: "Invalid", on: "plunder's deployments" });
});

test("N10 a change that can't be written has not happened, and keeps no later one from it", async () => {
  let isFull = true;
  const store = {
    read: async () => undefined,
    write: async () => {
      if (isFull) throw new Error("no space left");
    },
  };
  const book = await DeploymentBook.open(store, cryptoRandom);
  await assert.rejects(book.add(deployment(A)), /no space left/);
  assert.deepEqual(book.deployments, []);
  isFull = false;
  await book.add(deployment(A));
  assert.deepEqual(macs(book), [A]);
});

test("a boot configuration is there once, and stays while a deployment names it", async () => {
  const { book } = await opened();
  await book.addBootConfig(boot("preseed"));
  await assert.rejects(book.addBootConfig(boot("preseed")), { code: "AlreadyExists" });
  await book.add(deployment(A));
  await assert.rejects(book.removeBootConfig("preseed"), { code: "Conflict", message: new RegExp(A) });
  await assert.rejects(book.removeBootConfig("other"), { code: "NotFound" });
  await assert.rejects(book.setBootConfigs([boot("other")]), { code: "Conflict", on: "preseed" });
  await assert.rejects(book.setBootConfigs([boot("preseed"), boot("preseed")]), { code: "Invalid" });
  await book.setBootConfigs([boot("other"), boot("preseed")]);
  await book.remove(A);
  await book.removeBootConfig("preseed");
  assert.deepEqual(
    book.bootConfigs.map(({ configName }) => configName),
    ["other"],
  );
  // A deployment may name one that is yet to come.
  await book.add(deployment(A));
  await book.setBootConfigs([]);
  assert.deepEqual(book.bootConfigs, []);
});

test("N30 a deployment is found by its machine's MAC address in any notation, and by the address that it gives", async () => {
  const { book } = await opened();
  await book.add(deployment(A));
  await book.add(deployment(B, { address: "" }));
  assert.equal(book.byMac("52-54-00-00-00-0A").deployment.mac, A);
  assert.equal(book.byAddress("10.0.0.10").deployment.mac, A);
  assert.throws(() => book.byAddress(""), { code: "NotFound" });
  assert.throws(() => book.byAddress("10.0.0.99"), { code: "NotFound", on: "10.0.0.99" });
  assert.throws(() => book.byMac(C), { code: "NotFound", on: C });
  assert.throws(() => book.byMac("no"), { code: "Invalid", message: "no: is no MAC address" });
  await assert.rejects(book.add(deployment(A)), { code: "AlreadyExists", on: A });
});

test("N10 what has ended stays so whatever takes its place; what has not is begun anew once it differs", async () => {
  const { book } = await opened();
  await book.add(deployment(A));
  const [first] = book.deployments;
  await book.replace(deployment(A));
  assert.equal(book.deployments[0]!.id, first!.id);
  await book.replace(deployment(A, { hostname: "x" }));
  const { id } = book.deployments[0]!;
  assert.notEqual(id, first!.id);
  await book.ended(first!.id, { ok: false, message: "of the one before", at: 1 });
  assert.equal(book.deployments[0]!.ended, undefined);
  const result = { ok: true, message: "done", at: 2 };
  await book.ended(id, result);
  await book.ended(id, { ok: false, message: "twice", at: 3 });
  await book.replaceAll({ globalConfig: {}, deployments: [deployment(A, { hostname: "y" }), deployment(B)] } as never);
  assert.deepEqual(
    book.deployments.map((each) => [each.deployment.mac, each.ended]),
    [
      [A, result],
      [B, undefined],
    ],
  );
  assert.equal(book.deployments[0]!.id, id);
  await assert.rejects(book.replace(deployment(C)), { code: "NotFound" });
});

test("all deployments at once: none is there twice, those that are missing are gone, and a claimed one stays as it is", async () => {
  const { book } = await opened();
  const all = (...deployments: never[]) => book.replaceAll({ globalConfig: {}, deployments } as never);
  await all(deployment(A), deployment(B));
  await assert.rejects(all(deployment(A), deployment(A)), { code: "Invalid", on: "deployments" });
  assert.deepEqual(macs(book), [A, B]);
  await book.claim(wanted(C, "c-1"), { macs: [C], now: 1 });
  await all(deployment(B));
  assert.deepEqual(macs(book).toSorted(), [B, C]);
  const own = book.find(C)!.deployment;
  await all(own as never);
  assert.deepEqual(macs(book), [C]);
  await assert.rejects(all(deployment(C)), { code: "Conflict", on: C });
  await assert.rejects(book.replace(deployment(C)), { code: "Conflict" });
  await assert.rejects(book.remove(C), { code: "Conflict", message: /PlunderMachine\/c-1/ });
});

test("passwords lie on the disk as hashes, the same one where the password is, and what is a hash already as it is", async () => {
  const own = await opened();
  const { book, disk } = own;
  const config = { password: "geheim" };
  await book.setGlobalConfig(config as never);
  const hash = book.globalConfig.password!;
  assert.match(hash, /^\$6\$/);
  await book.setGlobalConfig(config as never);
  assert.equal(book.globalConfig.password, hash);
  await book.setGlobalConfig({ password: hash } as never);
  assert.equal(book.globalConfig.password, hash);
  await book.replaceAll({ globalConfig: config, deployments: [deployment(A, config), deployment(B, config)] } as never);
  const [one, other] = book.deployments.map((each) => each.deployment.config.password);
  assert.equal(one, other);
  await book.replace(deployment(A, config));
  assert.equal(book.find(A)!.deployment.config.password, one);
  await book.replace(deployment(A, { password: "another" }));
  assert.notEqual(book.find(A)!.deployment.config.password, one);
  assert.doesNotMatch(disk.text!, /geheim|another/);
});

test("N38 a claim has one machine, and a machine one claim, however often it is asked for", async () => {
  const { book } = await opened();
  const claim = (mac: string, id: string, cards = [mac]) => book.claim(wanted(mac, id), { macs: cards, now: 1 });
  await claim(A, "c-1");
  const [kept] = book.deployments;
  await claim(A, "c-1");
  assert.deepEqual(book.deployments, [kept]);
  await assert.rejects(claim(B, "c-1"), { code: "AlreadyExists", message: new RegExp(A) });
  await assert.rejects(claim(A, "c-2"), { code: "AlreadyExists", on: A });
  await assert.rejects(claim(B, "c-2", [B, A]), { code: "AlreadyExists" }, "another card of the same machine");
  await claim(B, "c-2");
  assert.deepEqual(macs(book), [A, B]);
});

test("N34 a claim that is given back is wiped by attempts that are counted, and leaves its proof", async () => {
  const own = await opened();
  const { book } = own;
  await assert.rejects(book.release("c-1"), { code: "NotFound" });
  await book.claim(wanted(A, "c-1"), { macs: [A], now: 7 });
  await book.claim(wanted(B, "c-2"), { macs: [B], now: 7 });
  const release = () => book.find(A)?.claim?.release;
  await book.release("c-1");
  assert.deepEqual(release(), { attempt: 1 });
  await book.wipeFailed("c-1", { at: 9, message: "a disk" });
  await book.release("c-1");
  assert.deepEqual(release(), { attempt: 2, failed: { at: 9, message: "a disk" } });
  await assert.rejects(book.claim(wanted(A, "c-1"), { macs: [A], now: 8 }), { code: "AlreadyExists" });
  await book.wiped("c-1", "nvme format");
  await book.wiped("c-1", "twice");
  assert.deepEqual(macs(book), [B]);
  assert.equal(book.find(B)!.claim!.release, undefined);
  const proof = {
    claim: "c-1",
    holder: "PlunderMachine/c-1",
    mac: A,
    hostname: "w1",
    createdAt: 7,
    proof: "nvme format",
  };
  assert.deepEqual((await again(own)).wipedOf("c-1"), proof);
  assert.equal(book.wipedOf("c-2"), undefined);
  await assert.rejects(book.claim(wanted(A, "c-1"), { macs: [A], now: 8 }), { message: /was given back/ });
  await book.claim(wanted(A, "c-3"), { macs: [A], now: 8 });
});
