import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Decrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { AGENT_IDENTITY, inventoryOf, machinesAt, someHosts } from "../hosts/testing.ts";
import { Capabilities } from "../http/boot-capability.ts";
import { PrivateFiles } from "../http/private-files.ts";
import { Images } from "../images/images.ts";
import type { Inventory } from "../protocol/messages.ts";
import type { UserOrder } from "../protocol/order.ts";
import { giveOrder } from "./give-order.ts";

const A = "52:54:00:00:00:0a";
const HOST = "host-52-54-00-00-00-0a";
const ADDRESS = "10.0.0.5";
const HERE = { address: ADDRESS, proof: "lease" } as const;

const URL_OF_SERVER = "https://10.0.0.1:8443";
const folder = mkdtempSync(join(tmpdir(), "slipway-orders-"));
after(() => rmSync(folder, { recursive: true }));
const image = join(folder, "disk.img");
writeFileSync(image, "an image");

function stage() {
  const clock = new VirtualClock();
  const hosts = someHosts(clock);
  const capabilities = new Capabilities(new Uint8Array(32), clock);
  const files = new PrivateFiles({ hosts, capabilities, presences: machinesAt({ [ADDRESS]: A }), clock });
  const convert = async (_: string, to: string): Promise<void> => writeFileSync(to, "converted");
  const images = new Images({ folder: join(folder, "cache"), clock, convert, fetch: () => assert.fail("fetched") });
  const ask = (wanted: UserOrder) => giveOrder(HOST, wanted, { hosts, files, images, url: URL_OF_SERVER });
  /** To a host that is approved. */
  const give = async (wanted: UserOrder) => {
    if (hosts.get(HOST) !== undefined) hosts.approve(HOST);
    await ask(wanted);
    const order = hosts.get(HOST)?.order?.is;
    assert.ok(order?.order === "write");
    return order;
  };
  const read = async (url: string): Promise<string | undefined> => {
    assert.ok(url.startsWith(`${URL_OF_SERVER}/private/`), url);
    const file = await files.open(new URL(url).pathname.slice(1), { address: ADDRESS });
    const bytes = await file?.read(0, file.size);
    await file?.close();
    return bytes && Buffer.from(bytes).toString("latin1");
  };
  return { hosts, ask, give, read };
}

/** The report of an agent with another key, or none. */
function keyless(key?: string): Inventory {
  const { key: _usual, ...agent } = inventoryOf(A).agent;
  return { ...inventoryOf(A), agent: key === undefined ? agent : { ...agent, key } };
}

async function opened(served: string | undefined): Promise<string> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(AGENT_IDENTITY);
  return decrypter.decrypt(Buffer.from(served ?? "", "latin1"), "text");
}

test("an image of the server's and the first-boot data are offered to the host, for this order", async () => {
  const { hosts, give, read } = stage();
  hosts.register(inventoryOf(A), A, HERE);
  const order = await give({ order: "write", image, checksum: "sha256:ab", data: { "user-data": "#cloud-config" } });

  const { disk, format, checksum, data } = order;
  assert.deepEqual(
    { disk, format, checksum },
    { disk: "ata-1", format: "raw", checksum: { type: "sha256", value: "ab" } },
  );
  assert.equal(await read(order.url), "an image");
  const [file] = data!.files;
  assert.deepEqual(
    [data?.label, file?.path, await opened(await read(file!.url))],
    ["cidata", "user-data", "#cloud-config"],
  );
  hosts.result(HOST, order.id, { ok: true, message: "" });
  assert.equal(await read(order.url), undefined);
});

test("first-boot data always, and an image that is secret, are served encrypted to the agent's key only", async () => {
  const { hosts, give, read } = stage();
  hosts.register(inventoryOf(A), A, HERE);
  const order = await give({ order: "write", image, secret: true, data: { "user-data": "#cloud-config" } });

  assert.deepEqual([order.sealed, order.data?.files[0]?.sealed], [true, true]);
  for (const [url, plain] of [
    [order.url, "an image"],
    [order.data!.files[0]!.url, "#cloud-config"],
  ] as const) {
    const served = await read(url);
    assert.match(served!, /^age-encryption\.org\/v1\n-> X25519 /);
    assert.equal(await opened(served), plain);
  }
  hosts.result(HOST, order.id, { ok: true, message: "" });
  assert.equal((await give({ order: "write", image })).sealed, undefined);
});

test("what is served is encrypted to the key that the agent has then, not when the order was given", async () => {
  const { hosts, give, read } = stage();
  hosts.register(inventoryOf(A), A, HERE);
  const order = await give({ order: "write", image, data: { "user-data": "#cloud-config" } });
  const { url } = order.data!.files[0]!;
  hosts.register(keyless(await identityToRecipient(await generateX25519Identity())), A, HERE);
  await assert.rejects(opened(await read(url)), /no identity matched/);
  hosts.register(inventoryOf(A), A, HERE);
  assert.equal(await opened(await read(url)), "#cloud-config");
});

test("no secret goes to an agent without a key, and an image by its URL is none that could be encrypted", async () => {
  const { hosts, give, read } = stage();
  hosts.register(keyless(), A, HERE);
  for (const secrets of [{ secret: true }, { data: { "user-data": "#cloud-config" } }])
    await assert.rejects(give({ order: "write", image, ...secrets }), (error) => {
      assert.ok(isFault(error, "Conflict"));
      assert.match(
        error.advice,
        /agent has none that secrets could be encrypted to; wait a minute when it has just registered/,
      );
      return true;
    });
  assert.equal(await read((await give({ order: "write", image })).url), "an image");

  const remote = stage();
  remote.hosts.register(inventoryOf(A), A, HERE);
  for (const url of ["https://images.example/debian.raw", "http://images.example/debian.qcow2"])
    await assert.rejects(remote.give({ order: "write", image: url, secret: true }), (error) => {
      assert.ok(isFault(error, "Invalid"));
      assert.match(error.advice, /not encrypted by this server; fetch it, and give it as a file/);
      return true;
    });
});

test("a qcow2 image is converted first, and goes with the checksum of what it became", async () => {
  const { hosts, give, read } = stage();
  hosts.register(inventoryOf(A), A, HERE);
  const header = Buffer.alloc(512);
  header.writeUInt32BE(0x514649fb, 0);
  header.writeUInt32BE(3, 4);
  writeFileSync(join(folder, "cloud.img"), header);
  const order = await give({ order: "write", image: join(folder, "cloud.img") });

  assert.deepEqual([order.format, order.checksum?.type, await read(order.url)], ["raw", "sha256", "converted"]);
});

test("an image that the host fetches by itself is not asked for here", async () => {
  const { hosts, give } = stage();
  hosts.register(inventoryOf(A), A, HERE);
  const url = "http://images.example/debian.raw.zst?x=1";
  const order = await give({ order: "write", image: url, disk: "/dev/vda" });

  assert.deepEqual([order.url, order.format, order.disk], [url, "zst", "/dev/vda"]);
});

test("without a disk in the order the smallest of 4 GiB or more is written, read-only ones never, smaller ones where there is no other", async () => {
  const chosen = async (...sizes: readonly (readonly [name: string, bytes: number, readOnly?: boolean])[]) => {
    const { hosts, give } = stage();
    const disks = sizes.map(([name, bytes, readOnly = false]) => ({
      ...{ name, byId: [], bytes, rotational: false, readOnly, logicalBlock: 512 },
    }));
    hosts.register({ ...inventoryOf(A), disks }, A, HERE);
    return (await give({ order: "write", image })).disk;
  };
  const GIB = 2 ** 30;
  assert.equal(
    await chosen(["big", 9 * GIB], ["least", 4 * GIB], ["stick", 4 * GIB - 512], ["cd", 5 * GIB, true]),
    "least",
  );
  assert.equal(await chosen(["stick", 2 * GIB], ["less", GIB], ["cd", 9 * GIB, true]), "less");
});

test("a host that has not reported its disks is not written to", async () => {
  const { hosts, give } = stage();
  hosts.seen({ mac: A });

  await assert.rejects(give({ order: "write", image }), (error) => isFault(error, "Conflict"));
});

test("N1 a host that nobody declared or approved is not written to, and nothing is offered to it", async () => {
  const { hosts, ask } = stage();
  hosts.register(inventoryOf(A), A, HERE);

  const wanted: UserOrder = { order: "write", image, data: { "user-data": "#cloud-config" } };
  await assert.rejects(ask(wanted), (error) => isFault(error, "Forbidden"));
  assert.equal(hosts.get(HOST)?.order, undefined);
});
