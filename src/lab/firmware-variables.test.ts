import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { bootNextFrom } from "./firmware-variables.ts";

const URL = "http://10.77.0.1:8080/once/a/shimx64.efi";
const STORE = 0x48;
const FIRST = STORE + 28;

/** A volume with an empty store, as a firmware's package brings it. */
function blank(storeBytes = 1024): Buffer {
  const bytes = Buffer.alloc(STORE + storeBytes + 64, 0xff);
  bytes.fill(0, 0, FIRST);
  bytes.write("_FVH", 40, "latin1");
  bytes.writeUInt16LE(STORE, 48);
  Buffer.from("782cf3aa7b949a43a1802e144ec37792", "hex").copy(bytes, STORE);
  bytes.writeUInt32LE(storeBytes, STORE + 16);
  return bytes;
}

/** Every variable: its state, name and data in hexadecimal digits. */
function variables(bytes: Buffer): [state: number, name: string, data: string][] {
  const all: [number, string, string][] = [];
  for (let at = FIRST; bytes.readUInt16LE(at) === 0x55aa; at = Math.ceil(at / 4) * 4) {
    const [name, data] = [bytes.readUInt32LE(at + 36), bytes.readUInt32LE(at + 40)];
    const text = bytes.toString("utf16le", at + 60, at + 60 + name - 2);
    all.push([bytes[at + 2]!, text, bytes.toString("hex", at + 60 + name, at + 60 + name + data)]);
    at += 60 + name + data;
  }
  return all;
}

test("the boot that comes next is an option with the URL, and BootNext with its number", () => {
  const written = bootNextFrom(blank(), URL);
  const [option, next, ...others] = variables(written);
  assert.deepEqual(next, [0x3f, "BootNext", "5053"]);
  assert.deepEqual(others, []);
  assert.deepEqual(option!.slice(0, 2), [0x3f, "Boot5350"]);
  const data = Buffer.from(option![2], "hex");
  assert.equal(data.readUInt32LE(0), 1, "active");
  const description = Buffer.from("Management controller\0", "utf16le");
  assert.ok(data.subarray(6).subarray(0, description.length).equals(description));
  const path = data.subarray(6 + description.length);
  assert.equal(data.readUInt16LE(4), path.length);
  // Messaging device path, URI; then the end of the whole path.
  assert.equal(path.subarray(0, 2).toString("hex"), "0318");
  assert.equal(path.readUInt16LE(2), 4 + URL.length);
  assert.equal(path.subarray(4, -4).toString(), URL);
  assert.equal(path.subarray(-4).toString("hex"), "7fff0400");
  // Boot services and systems read both without power: EFI_VARIABLE_NON_VOLATILE, BOOTSERVICE_ACCESS, RUNTIME_ACCESS.
  assert.equal(written.readUInt32LE(FIRST + 4), 7);
  assert.equal(written.toString("hex", FIRST + 44, FIRST + 60), "61dfe48bca93d211aa0d00e098032b8c");
});

test("another URL takes the place of the one before; without one nothing of ours is in force, and what the firmware has stays", () => {
  const first = bootNextFrom(blank(), URL);
  const second = bootNextFrom(first, `${URL}2`);
  assert.deepEqual(
    variables(second).map(([state, name]) => [state, name]),
    [
      [0x3d, "Boot5350"],
      [0x3d, "BootNext"],
      [0x3f, "Boot5350"],
      [0x3f, "BootNext"],
    ],
  );
  assert.ok(bootNextFrom(second, undefined).length === second.length);
  assert.deepEqual(
    variables(bootNextFrom(second, undefined)).map(([state]) => state),
    [0x3d, 0x3d, 0x3d, 0x3d],
  );
  // The system's own choice of what comes next.
  const others = Buffer.from(first);
  const next = others.indexOf(Buffer.from("BootNext\0", "utf16le"));
  others.writeUInt16LE(7, next + 18);
  assert.deepEqual(
    variables(bootNextFrom(others, undefined)).map(([state, name]) => [state, name]),
    [
      [0x3d, "Boot5350"],
      [0x3f, "BootNext"],
    ],
  );
  assert.deepEqual(
    variables(bootNextFrom(others, URL))
      .filter(([state, name]) => state === 0x3f && name === "BootNext")
      .map(([, , data]) => data),
    ["5053"],
  );
});

test("what is no such file, or is full, is refused", () => {
  const refused = (file: Uint8Array, why: RegExp): void =>
    assert.throws(
      () => bootNextFrom(file, URL),
      (error) => isFault(error, "Invalid") && why.test(error.message),
    );
  refused(new Uint8Array(10), /no volume/);
  const other = blank();
  other[STORE] = 0;
  refused(other, /no volume/);
  refused(blank(200), /no room/);
  const cut = blank();
  cut.writeUInt32LE(1 << 20, STORE + 16);
  refused(cut, /larger than the file/);
  const damaged = bootNextFrom(blank(), URL);
  damaged.writeUInt32LE(1 << 20, FIRST + 40);
  refused(damaged, /behind its store/);
});
