import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import type { Inventory } from "../../netboot/protocol/messages.ts";
import { orderOf } from "./order-of.ts";
import { factsOf } from "./testing.ts";

const sum = "a".repeat(64);
const image = { url: "http://images/a.raw", checksum: sum, checksumType: "sha256" };
const disk = {
  name: "/dev/vda",
  byId: ["virtio-1"],
  bytes: 10e9,
  rotational: true,
  readOnly: false,
  logicalBlock: 512,
};
const inventory = { disks: [disk] } as unknown as Inventory;
const SECRETS: Record<string, Record<string, string>> = {
  user: { userData: "#cloud-config" },
  net: { networkData: "links: []" },
};

const client = {
  find: async (_: unknown, { name }: { name: string }) => {
    const data = Object.entries(SECRETS[name] ?? {}).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
    return SECRETS[name] && { data: Object.fromEntries(data) };
  },
} as unknown as Client;

const ordered = (
  name: Parameters<typeof orderOf>[0],
  spec: object = { image },
  held: Inventory | undefined = inventory,
) =>
  orderOf(name, factsOf("provisioning", { spec }).host, held, {
    client,
    http: async () => assert.fail("nothing is fetched"),
  });

test("all orders but a write are the same for each host; a wipe is of all disks", async () => {
  assert.deepEqual(await ordered("wipe"), { order: "wipe", how: "metadata", disks: "all" });
  assert.deepEqual(await ordered("inspect", {}, undefined), { order: "inspect" });
  assert.deepEqual(await ordered("reboot", {}, undefined), { order: "reboot" });
});

test("a write names the image, its checksum and the disk; data for the first boot only where there are any", async () => {
  const plain = { order: "write", image: image.url, checksum: `sha256:${sum}`, disk: "virtio-1" };
  assert.deepEqual(await ordered("write"), plain);
  assert.deepEqual(await ordered("write", { image: { ...image, format: "qcow2" } }), { ...plain, format: "qcow2" });
  const given = await ordered("write", { image, userData: { name: "user" }, networkData: { name: "net" } });
  assert.ok(given.order === "write" && given.data !== undefined);
  assert.equal(given.label, "config-2");
  const texts = JSON.stringify(given.data);
  assert.match(texts, /#cloud-config/);
  assert.match(texts, /metal3-name.*node-1/);
  assert.match(texts, /metal3-namespace.*metal/);
  assert.match(texts, /uid-1/);
  assert.match(texts, /links/);
});

test("what can't be written is refused before anything is sent, by its field", async () => {
  const refused = async (code: string, text: RegExp, spec: object, held: Inventory | undefined = inventory) =>
    assert.rejects(
      orderOf("write", factsOf("provisioning", { spec }).host, held, { client, http: async () => assert.fail() }),
      (error) => {
        assert.ok(isFault(error));
        assert.equal(error.code, code);
        assert.match(error.advice, text);
        return true;
      },
    );
  await assert.rejects(
    orderOf("write", factsOf("provisioning", { spec: { image } }).host, undefined, {
      client,
      http: async () => assert.fail(),
    }),
    (error) => isFault(error, "Conflict") && /has not reported its disks/.test(error.message),
  );
  await refused("Invalid", /spec\.image: nothing says what/, {});
  await refused("Invalid", /only http and https.*web server/, { image: { ...image, url: "file:///etc/passwd" } });
  await refused("Invalid", /spec\.image\.format: vmdk.*raw or qcow2/, { image: { ...image, format: "vmdk" } });
  await refused("MissingInput", /Secret metal\/none is not there/, { image, metaData: { name: "none" } });
  await refused("Invalid", /no disk to install to/, { image, rootDeviceHints: { deviceName: "/dev/sdz" } });
});
