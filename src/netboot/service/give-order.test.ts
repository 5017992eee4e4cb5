import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isFault } from "../../base/fault.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { UserOrder } from "../agent/order.ts";
import { inventoryOf, someHosts } from "../hosts/testing.ts";
import { Capabilities } from "../http/capability.ts";
import { PrivateFiles } from "../http/private-files.ts";
import { Images } from "../images/images.ts";
import { giveOrder } from "./give-order.ts";

const A = "52:54:00:00:00:0a";
const HOST = "host-52-54-00-00-00-0a";
const URL_OF_SERVER = "https://10.0.0.1:8443";
const folder = mkdtempSync(join(tmpdir(), "slipway-orders-"));
after(() => rmSync(folder, { recursive: true }));
const image = join(folder, "disk.img");
writeFileSync(image, "an image");

function stage() {
  const clock = new VirtualClock();
  const hosts = someHosts(clock);
  const capabilities = new Capabilities(new Uint8Array(32), clock);
  const files = new PrivateFiles({ hosts, capabilities, whoIs: async () => undefined, clock });
  const convert = async (_: string, to: string): Promise<void> => writeFileSync(to, "converted");
  const images = new Images({ folder: join(folder, "cache"), clock, convert, fetch: () => assert.fail("fetched") });
  const give = async (wanted: UserOrder) => {
    await giveOrder(HOST, wanted, { hosts, files, images, url: URL_OF_SERVER });
    const order = hosts.get(HOST)?.order?.is;
    assert.ok(order?.order === "write");
    return order;
  };
  const read = async (url: string): Promise<string | undefined> => {
    assert.ok(url.startsWith(`${URL_OF_SERVER}/private/`), url);
    const file = await files.open(new URL(url).pathname.slice(1), { address: "" });
    const bytes = await file?.read(0, file.size);
    await file?.close();
    return bytes && Buffer.from(bytes).toString();
  };
  return { hosts, give, read };
}

test("an image of the server's and the first-boot data are offered to the host, for this order", async () => {
  const { hosts, give, read } = stage();
  hosts.register(inventoryOf(A), A);
  const order = await give({ order: "write", image, checksum: "sha256:ab", data: { "user-data": "#cloud-config" } });

  const { disk, format, checksum, data } = order;
  assert.deepEqual(
    { disk, format, checksum },
    { disk: "ata-1", format: "raw", checksum: { type: "sha256", value: "ab" } },
  );
  assert.equal(await read(order.url), "an image");
  assert.deepEqual(
    [data?.label, data?.files[0]?.path, await read(data!.files[0]!.url)],
    ["cidata", "user-data", "#cloud-config"],
  );
  hosts.result(HOST, order.id, { ok: true, message: "" });
  assert.equal(await read(order.url), undefined);
});

test("a qcow2 image is converted first, and goes with the checksum of what it became", async () => {
  const { hosts, give, read } = stage();
  hosts.register(inventoryOf(A), A);
  const header = Buffer.alloc(512);
  header.writeUInt32BE(0x514649fb, 0);
  header.writeUInt32BE(3, 4);
  writeFileSync(join(folder, "cloud.img"), header);
  const order = await give({ order: "write", image: join(folder, "cloud.img") });

  assert.deepEqual([order.format, order.checksum?.type, await read(order.url)], ["raw", "sha256", "converted"]);
});

test("an image that the host fetches by itself is not asked for here", async () => {
  const { hosts, give } = stage();
  hosts.register(inventoryOf(A), A);
  const url = "http://images.example/debian.raw.zst?x=1";
  const order = await give({ order: "write", image: url, disk: "/dev/vda" });

  assert.deepEqual([order.url, order.format, order.disk], [url, "zst", "/dev/vda"]);
});

test("a host that has not told its disks is not written to", async () => {
  const { hosts, give } = stage();
  hosts.heard({ mac: A });

  await assert.rejects(give({ order: "write", image }), (error) => isFault(error, "Conflict"));
});
