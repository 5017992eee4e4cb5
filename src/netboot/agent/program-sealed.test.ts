import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { seededRandom } from "@slipway/base";
import { fingerprint } from "../protocol/key.ts";
import { FakeMachine, sealedTo } from "./testing.ts";

const missing = ["age", "curl", "jq", "zstd"].filter((name) => !existsSync(`/usr/bin/${name}`));
const skip = missing.length > 0 && `not installed: ${missing.join(" ")}`;

const MIB = 1 << 20;
const IMAGE = Buffer.from(seededRandom(7).bytes(3 * MIB + 12_345));
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** A machine with a disk of noise that has made its key. */
async function machineWithKey(): Promise<{ machine: FakeMachine; key: string }> {
  const machine = new FakeMachine();
  machine.disk("vda", "virtual/vda", { bytes: 20 * MIB, content: Buffer.alloc(20 * MIB, 0xa5) });
  await machine.sh("umask 077; make_key");
  return { machine, key: readFileSync(join(machine.folder, "run/key.public"), "utf8").trim() };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Carries out an order to write against a server that gives these answers by path, and says how it ended. */
async function write(machine: FakeMachine, order: object, answers: Record<string, Answer>) {
  const server = createServer((request, response) => {
    const answer = answers[request.url!];
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const text = JSON.stringify({ id: "order-1", order: "write", disk: "/dev/vda", url: `${url}/image`, ...order });
  machine.file("run/order", text.replaceAll("SERVER", url));
  try {
    await machine.sh(`
      SERVER=${url} PIN=''
      progress() { :; }
      watch_stream() { :; }
      pause() { :; }
      result=$RUN/result
      carry_out write`);
  } finally {
    server.close();
  }
  const result = JSON.parse(readFileSync(join(machine.folder, "run/result"), "utf8")) as {
    ok: boolean;
    message: string;
  };
  return { ...result, disk: readFileSync(join(machine.folder, "dev/vda")), said: machine.said() };
}

const whole =
  (bytes: Uint8Array): Answer =>
  (_, response) =>
    void response.writeHead(200, { "content-length": bytes.length }).end(bytes);

test("the key lies in memory for its owner only, its fingerprint is shown, and it is made once a boot", {
  skip,
}, async () => {
  const { machine, key } = await machineWithKey();
  try {
    assert.match(key, /^age1[02-9ac-hj-np-z]{58}$/);
    assert.equal(statSync(join(machine.folder, "run/key")).mode & 0o777, 0o600);
    await machine.sh("make_key; say_key; say_key");
    assert.equal(machine.said(), `this boot's key: ${fingerprint(key)}\n`.repeat(2));
    const reported = JSON.parse(await machine.sh("BOOT_MAC=52:54:00:00:00:0a; inventory")) as {
      agent: { key: string };
    };
    assert.equal(reported.agent.key, key);
  } finally {
    machine.close();
  }
});

test("a machine that can make no key says why, and reports none", { skip }, async () => {
  const machine = new FakeMachine();
  try {
    machine.file("bin/age-keygen", "#!/bin/sh\necho no randomness >&2; exit 1\n");
    const bin = `${machine.folder}/bin`;
    const said = await machine.sh(`chmod +x ${bin}/*; PATH=${bin}:$PATH; make_key; say_key; BOOT_MAC=x; inventory`);
    assert.equal(machine.said(), "this boot has no key, so it gets no first-boot data: no randomness\n");
    assert.equal("key" in (JSON.parse(said) as { agent: object }).agent, false);
  } finally {
    machine.close();
  }
});

test("a sealed image is opened as it streams; the checksum is of what lies at the server", { skip }, async () => {
  const { machine, key } = await machineWithKey();
  try {
    const packed = zstdCompressSync(IMAGE);
    const checksum = { type: "sha256", value: sha256(packed) };
    const order = { format: "zst", sealed: true, checksum };
    const { ok, message, disk, said } = await write(machine, order, { "/image": whole(await sealedTo(key, packed)) });
    assert.deepEqual([ok, message], [true, `wrote ${IMAGE.length} bytes to /dev/vda, sha256 as ordered`]);
    assert.equal(sha256(disk.subarray(0, IMAGE.length)), sha256(IMAGE));
    assert.equal(said, "");
  } finally {
    machine.close();
  }
});

const CHANGED = /^the sealed image could not be opened: it was changed or cut off on its way, or is for another key$/;
const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

test("a sealed image that was changed, cut off, or is for another machine fails, and none of it can be started", {
  skip,
}, async () => {
  const { machine, key } = await machineWithKey();
  const other = await machineWithKey();
  try {
    const good = await sealedTo(key, IMAGE);
    const changed = Buffer.from(good);
    changed[2 * MIB]! ^= 1;
    const bad = {
      changed,
      "cut off in a chunk": good.subarray(0, -1),
      "cut off at a chunk's border": good.subarray(0, good.length - (IMAGE.length % 65_536) - 16),
      "without its start": good.subarray(1),
      "not sealed": IMAGE,
      "for another machine": await sealedTo(other.key, IMAGE),
    };
    // Without a checksum: what is sealed vouches for itself.
    for (const [name, bytes] of Object.entries(bad)) {
      const { ok, message, disk } = await write(machine, { format: "raw", sealed: true }, { "/image": whole(bytes) });
      assert.equal(ok, false, name);
      assert.match(message, CHANGED, name);
      assert.ok(isZero(disk.subarray(0, 4 * MIB)), name);
    }
    const { ok, message } = await write(
      machine,
      { format: "raw", sealed: true, checksum: { type: "sha256", value: "0".repeat(64) } },
      { "/image": whole(good) },
    );
    assert.deepEqual([ok, message], [false, "the image has another sha256 than ordered"]);
    const gz = await write(machine, { format: "gz", sealed: true }, { "/image": whole(good) });
    assert.deepEqual([gz.ok, gz.message], [false, "the image could not be unpacked as gz"]);
  } finally {
    machine.close();
    other.machine.close();
  }
});

test("a sealed image whose connection breaks begins anew, since every answer is sealed anew", { skip }, async () => {
  const { machine, key } = await machineWithKey();
  try {
    const ranges: (string | undefined)[] = [];
    const breaks = [MIB, 2 * MIB];
    const image: Answer = (request, response) =>
      void (async () => {
        ranges.push(request.headers.range);
        const bytes = await sealedTo(key, IMAGE);
        const after = breaks.shift();
        response.writeHead(200, { "content-length": bytes.length });
        if (after === undefined) response.end(bytes);
        else response.write(bytes.subarray(0, after), () => response.destroy());
      })();
    const order = { format: "raw", sealed: true, checksum: { type: "sha256", value: sha256(IMAGE) } };
    const { ok, message, disk, said } = await write(machine, order, { "/image": image });
    assert.deepEqual([ok, message], [true, `wrote ${IMAGE.length} bytes to /dev/vda, sha256 as ordered`]);
    assert.equal(sha256(disk.subarray(0, IMAGE.length)), sha256(IMAGE));
    assert.deepEqual(ranges, [undefined, undefined, undefined]);
    assert.equal(said, "the image's connection broke; a sealed image begins anew\n".repeat(2));
  } finally {
    machine.close();
  }
});

test("first-boot data that can't be fetched or opened leaves the disk as it was: nothing is written before it is there", {
  skip,
}, async () => {
  const { machine, key } = await machineWithKey();
  try {
    const good = await sealedTo(key, Buffer.from("#cloud-config\n"));
    const files = [{ path: "user-data", url: "SERVER/user-data", sealed: true }];
    const order = { format: "raw", data: { label: "cidata", files } };
    const bad = { cut: good.subarray(0, -1), plain: Buffer.from("#cloud-config\n") };
    for (const [name, bytes] of Object.entries(bad)) {
      const answers = { "/image": whole(IMAGE), "/user-data": whole(bytes) };
      const { ok, message, disk } = await write(machine, order, answers);
      assert.equal(ok, false, name);
      assert.match(message, /^user-data of the first-boot data could not be opened: it was changed or cut off/, name);
      assert.ok(
        disk.every((byte) => byte === 0xa5),
        name,
      );
    }
    const { message, disk } = await write(machine, order, { "/image": whole(IMAGE) });
    assert.match(message, /^user-data of the first-boot data could not be fetched: .*404/);
    assert.ok(disk.every((byte) => byte === 0xa5));
  } finally {
    machine.close();
  }
});

test("sealed first-boot data are opened in memory, and go to the disk as they were", { skip }, async () => {
  const { machine, key } = await machineWithKey();
  try {
    const files = ["user-data", "openstack/latest/meta_data.json"].map((path) => ({
      path,
      url: `SERVER/${path}`,
      sealed: true,
    }));
    const answers = Object.fromEntries(
      await Promise.all(
        files.map(async ({ path }) => [`/${path}`, whole(await sealedTo(key, Buffer.from(path)))] as const),
      ),
    );
    // What a partition is laid by needs a kernel; here it is shown what would go onto it.
    const lay = `${machine.folder}/laid`;
    machine.file(
      "program/data.sh",
      `${readFileSync(join(machine.folder, "program/data.sh"), "utf8")}
lay_data() { cp -r "$RUN/work/data" ${lay}; }
`,
    );
    const order = { format: "raw", data: { label: "cidata", files } };
    const { ok, message, said } = await write(machine, order, { "/image": whole(IMAGE), ...answers });
    assert.deepEqual([ok, message], [true, `wrote ${IMAGE.length} bytes to /dev/vda`]);
    for (const { path } of files) assert.equal(readFileSync(join(lay, path), "utf8"), path);
    assert.equal(said, "");
  } finally {
    machine.close();
  }
});
