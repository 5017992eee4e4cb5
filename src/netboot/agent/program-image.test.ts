/** A raw image is written in steps, and the checksum is of what was written: as the agent does it, on files in the place of disks. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { seededRandom } from "@slipway/base";
import { FakeMachine } from "./testing.ts";

const missing = ["curl", "jq"].filter((name) => !existsSync(`/usr/bin/${name}`));
const skip = missing.length > 0 && `not installed: ${missing.join(" ")}`;

const MIB = 1 << 20;
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

interface Writing {
  image: Buffer;
  checksum?: object;
  /** Of a step. */
  step?: number;
  /** What the machine does otherwise. */
  instead?: string;
  /** The connection breaks after so many bytes, once. */
  breaksAfter?: number;
}

/** Has a machine write an image to a disk of noise, and says how it ended. */
async function write({ image, checksum, step = 2 * MIB, instead = "", breaksAfter }: Writing) {
  const machine = new FakeMachine();
  machine.disk("vda", "virtual/vda", { bytes: 16 * MIB, content: Buffer.alloc(16 * MIB, 0xa5) });
  let breaks = breaksAfter;
  const server = createServer((request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const rest = image.subarray(from);
    const range = from > 0 && { "content-range": `bytes ${from}-${image.length - 1}/${image.length}` };
    response.writeHead(from > 0 ? 206 : 200, { "content-length": rest.length, ...range });
    if (breaks === undefined) return void response.end(rest);
    response.write(rest.subarray(0, breaks), () => response.destroy());
    breaks = undefined;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/image`;
  const order = { id: "order-1", order: "write", disk: "/dev/vda", format: "raw", url, ...(checksum && { checksum }) };
  machine.file("run/order", JSON.stringify(order));
  try {
    await machine.sh(`
      SERVER=${url} PIN='' STEP_BYTES=${step}
      progress() { :; }
      watch_stream() { :; }
      pause() { :; }
      ${instead}
      result=$RUN/result
      carry_out write`);
    const result = JSON.parse(readFileSync(join(machine.folder, "run/result"), "utf8")) as object;
    return { result, disk: readFileSync(join(machine.folder, "dev/vda")) };
  } finally {
    server.close();
    machine.close();
  }
}

const random = seededRandom(5);
const imageOf = (bytes: number): Buffer => Buffer.from(random.bytes(bytes));

for (const bytes of [1, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 4 * MIB, 5 * MIB + 77])
  test(`an image of ${bytes} bytes is written whole in steps of 2 MiB, and nothing behind it`, { skip }, async () => {
    const image = imageOf(bytes);
    const checksum = { type: "sha256", value: sha256(image) };
    for (const given of [{ image }, { image, checksum }]) {
      const { result, disk } = await write(given);
      const message = `wrote ${bytes} bytes to /dev/vda${"checksum" in given ? ", sha256 as ordered" : ""}`;
      assert.deepEqual(result, { ok: true, message });
      assert.ok(disk.subarray(0, bytes).equals(image));
      assert.ok(disk.subarray(bytes + 2 * MIB, 13 * MIB).every((byte) => byte === 0xa5 || byte === 0));
    }
  });

test("the checksum is of what the disk holds: a disk that keeps something else is found out", { skip }, async () => {
  const image = imageOf(5 * MIB);
  const checksum = { type: "sha256", value: sha256(image) };
  // What is read again differs in one byte from what was written.
  const instead = `read_steps() { cat >/dev/null; printf x | dd of="$1" bs=1 seek=3000000 conv=notrunc 2>/dev/null; head -c 5242880 "$1"; }`;
  const { result, disk } = await write({ image, checksum, instead });
  assert.deepEqual(result, { ok: false, message: "the image has another sha256 than ordered" });
  assert.ok(disk.subarray(0, MIB).every((byte) => byte === 0));
});

test("a step that can't be written ends it, with the system's reason, and the image is not started", {
  skip,
}, async () => {
  const image = imageOf(5 * MIB);
  const says = "dd: error writing '/dev/vda': No space left on device";
  const instead = `dd() { case "$*" in *seek=2097152*) echo "${says}" >&2; return 1 ;; *) command dd "$@" ;; esac; }`;
  for (const checksum of [undefined, { type: "sha256", value: sha256(image) }]) {
    const { result, disk } = await write({ image, instead, ...(checksum && { checksum }) });
    const message = `the image is larger than /dev/vda with its ${16 * MIB} bytes`;
    assert.deepEqual(result, { ok: false, message });
    assert.ok(disk.subarray(0, MIB).every((byte) => byte === 0));
  }
});

test("an image that does not reach the disk at the end is no success", { skip }, async () => {
  const image = imageOf(3 * MIB);
  const instead = `dd() { case "$*" in *conv=fsync*count=0* | *count=0*conv=fsync*) echo "dd: fsync failed: Input/output error" >&2; return 1 ;; *) command dd "$@" ;; esac; }`;
  const { result } = await write({ image, instead });
  assert.deepEqual(result, {
    ok: false,
    message: "/dev/vda could not be written: dd: fsync failed: Input/output error",
  });
});

test("an image whose connection breaks in a step goes on where it broke", { skip }, async () => {
  const image = imageOf(5 * MIB);
  const checksum = { type: "sha256", value: sha256(image) };
  const { result, disk } = await write({ image, checksum, breaksAfter: 3 * MIB });
  assert.deepEqual(result, { ok: true, message: `wrote ${5 * MIB} bytes to /dev/vda, sha256 as ordered` });
  assert.ok(disk.subarray(0, image.length).equals(image));
});
