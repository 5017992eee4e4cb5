import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Fault, isFault, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import { formatOf, qcow2Obstacle } from "./format.ts";
import { Images, type ReadyImage } from "./images.ts";
import { type Convert, qemuImg } from "./qemu-img.ts";

const folder = mkdtempSync(join(tmpdir(), "slipway-images-"));
after(() => rmSync(folder, { recursive: true }));
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const served = new Map<string, { bytes: Uint8Array; etag: string; cutAfter?: number }>();
const requests: string[] = [];
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? "", "http://x");
  requests.push(`${request.method} ${pathname}${request.headers.range ? " head" : ""}`);
  const file = served.get(pathname);
  if (file === undefined) response.writeHead(pathname === "/broken" ? 500 : 404).end();
  else {
    response.writeHead(200, { etag: file.etag, "content-length": file.bytes.length });
    if (file.cutAfter === undefined) response.end(file.bytes);
    else response.write(file.bytes.subarray(0, file.cutAfter), () => response.destroy());
  }
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => server.close());
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** A header of qcow2 version 3 with nothing behind it. */
function qcow2(change: (view: DataView) => void = () => {}): Uint8Array {
  const bytes = new Uint8Array(1024).fill(0);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x514649fb);
  view.setUint32(4, 3);
  view.setBigUint64(24, 1_000_000n);
  change(view);
  return bytes;
}

let serial = 0;
function someImages(
  options: { convert?: Convert; mostBytes?: number; cacheBytes?: number; clock?: VirtualClock } = {},
) {
  const convert: Convert = async (from, to) => writeFileSync(to, `raw of ${readFileSync(from).length}`);
  const clock = new VirtualClock();
  const own = join(folder, String(serial++));
  return { own, images: new Images({ folder: own, clock, convert, ...options }) };
}

async function contents(image: ReadyImage): Promise<string> {
  assert.equal(image.is, "local");
  const file = (await image.files.open("image", { address: "" }))!;
  try {
    return Buffer.from(await file.read(0, file.size)).toString("latin1");
  } finally {
    await file.close();
  }
}

test("what the agent unpacks by itself stays where it is, whatever it is called", async () => {
  const { images, own } = someImages();
  const checksum = { type: "sha512", value: "ab" } as const;
  for (const [name, head, format] of [
    ["/a.qcow2", "plain", "raw"],
    ["/b.img", "\x1f\x8b\x08", "gz"],
    ["/c", "\x28\xb5\x2f\xfd", "zst"],
    ["/d", "\xfd7zXZ\0", "xz"],
    ["/empty", "", "raw"],
  ] as const) {
    served.set(name, { bytes: Buffer.from(head, "latin1"), etag: '"1"' });
    const url = `${origin}${name}`;
    assert.deepEqual(await images.imageFor(url, checksum), { is: "remote", url, format, checksum });
  }
  assert.equal(existsSync(own), false);
});

test("a qcow2 image is fetched and converted once, however many ask, and again when it is another", async () => {
  const { images, own } = someImages();
  served.set("/disk", { bytes: qcow2(), etag: '"1"' });
  const url = `${origin}/disk`;
  requests.length = 0;
  const both = await Promise.all([images.imageFor(url), images.imageFor(url)]);

  assert.deepEqual([await contents(both[0]), await contents(both[1])], ["raw of 1024", "raw of 1024"]);
  assert.deepEqual(both[0].checksum, { type: "sha256", value: sha256(Buffer.from("raw of 1024")) });
  assert.equal(requests.filter((request) => request === "GET /disk").length, 1);
  const restarted = new Images({
    folder: own,
    clock: new VirtualClock(),
    convert: () => assert.fail("converted again"),
  });
  assert.equal(await contents(await restarted.imageFor(url)), "raw of 1024");
  served.set("/disk", { bytes: Buffer.concat([qcow2(), qcow2()]), etag: '"2"' });
  assert.equal(await contents(await images.imageFor(url)), "raw of 2048");
  await images.close();
});

test("by its checksum an image is known wherever it lies; one that is not what it says is refused and not kept", async () => {
  const { images, own } = someImages();
  const bytes = qcow2();
  served.set("/one", { bytes, etag: '"1"' });
  served.set("/two", { bytes, etag: '"2"' });
  const checksum = { type: "sha256", value: sha256(bytes).toUpperCase() } as const;
  await images.imageFor(`${origin}/one`, checksum);
  requests.length = 0;
  await images.imageFor(`${origin}/two`, checksum);
  assert.deepEqual(requests, ["GET /two head"]);

  const wrong = images.imageFor(`${origin}/one?token=secret`, { type: "md5", value: "00" });
  await assert.rejects(wrong, (error) => {
    assert.ok(isFault(error, "Invalid"));
    assert.match(error.message, /\/one: its md5 is [0-9a-f]{32}, not 00$/);
    return !error.message.includes("secret");
  });
  assert.deepEqual((await readdir(own)).map((name) => name.replace(/^\w+/, "")).sort(), [".raw", ".raw.sha256"]);
});

test("a file of this machine is converted as well, or given as it is", async () => {
  const { images } = someImages();
  const path = join(folder, "own.img");
  writeFileSync(path, qcow2());
  const right = { type: "sha256", value: sha256(qcow2()) } as const;

  assert.equal(await contents(await images.imageAt(path, right)), "raw of 1024");
  await assert.rejects(images.imageAt(path, { type: "sha256", value: "00" }), /its sha256 is .* not 00/);
  writeFileSync(path, "\x1f\x8b plain", "latin1");
  const plain = await images.imageAt(path, right);
  assert.deepEqual([plain.format, await contents(plain), plain.checksum], ["gz", "\x1f\x8b plain", right]);
  await assert.rejects(images.imageAt(join(folder, "absent")), (error) => isFault(error, "MissingInput"));
  writeFileSync(
    path,
    qcow2((view) => view.setBigUint64(8, 9n)),
  );
  await assert.rejects(images.imageAt(path), /backing file/);
});

test("an image that would have the server read another file, or fill its disk, is refused", async () => {
  const { images } = someImages({ mostBytes: 2_000_000 });
  const cases: [RegExp, (view: DataView) => void][] = [
    [/backing file/, (view) => view.setBigUint64(8, 0x70n)],
    [/data are in another file/, (view) => view.setBigUint64(72, 4n)],
    [/encrypted/, (view) => view.setUint32(32, 1)],
    [/version is 1/, (view) => view.setUint32(4, 1)],
    [/more than 2000000/, (view) => view.setBigUint64(24, 2n ** 60n)],
  ];
  for (const [why, change] of cases) {
    served.set("/bad", { bytes: qcow2(change), etag: '"1"' });
    await assert.rejects(images.imageFor(`${origin}/bad`), why);
  }
  served.set("/long", { bytes: Buffer.concat([qcow2(), new Uint8Array(2_000_000)]), etag: '"1"' });
  await assert.rejects(images.imageFor(`${origin}/long`), /longer than 2000000 bytes/);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      formatOf(bytes);
      qcow2Obstacle(bytes, 1_000);
    }),
  );
});

test("what a process that ended had begun is not taken for an image, and leaves", async () => {
  const { images, own } = someImages();
  served.set("/disk", { bytes: qcow2(), etag: '"1"' });
  await images.imageFor(`${origin}/disk`);
  for (const name of await readdir(own)) if (name.endsWith(".sha256")) writeFileSync(join(own, name), "");
  for (const part of ["x.qcow2.part", "x.raw.part"]) writeFileSync(join(own, part), "half");

  const image = await images.imageFor(`${origin}/disk`);
  assert.equal(image.checksum?.value, sha256(Buffer.from("raw of 1024")));
  assert.equal((await readdir(own)).length, 2);
  for (const name of await readdir(own)) if (name.endsWith(".raw")) rmSync(join(own, name));
  assert.equal(await contents(await images.imageFor(`${origin}/disk`)), "raw of 1024");
});

test("an image that is kept waits for no conversion of another", async () => {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let conversions = 0;
  const convert: Convert = async (_from, to) => {
    writeFileSync(to, "raw");
    if (++conversions === 1) return;
    begun.resolve();
    await end.promise;
  };
  const { images } = someImages({ convert });
  served.set("/kept", { bytes: qcow2(), etag: '"kept"' });
  served.set("/slow", { bytes: qcow2(), etag: '"slow"' });
  await images.imageFor(`${origin}/kept`);
  const slow = images.imageFor(`${origin}/slow`);
  await begun.promise;

  assert.equal(await contents(await images.imageFor(`${origin}/kept`)), "raw");
  end.resolve();
  await slow;
  assert.equal(conversions, 2);
});

test("an image whose server breaks off, and a disk that takes no more, are reported by name", async () => {
  const convert: Convert = async () => {
    throw Object.assign(new Error("no space left on device, write"), { code: "ENOSPC" });
  };
  const { images, own } = someImages({ convert });
  served.set("/broken-off", { bytes: qcow2(), etag: '"1"', cutAfter: 600 });
  await assert.rejects(images.imageFor(`${origin}/broken-off?token=secret`), (error) => {
    assert.ok(isFault(error, "Unavailable"));
    return /\/broken-off: broke off while it was fetched: (?!terminated)./.test(error.message);
  });
  served.set("/disk", { bytes: qcow2(), etag: '"1"' });
  await assert.rejects(images.imageFor(`${origin}/disk`), (error) => isFault(error, "Unavailable") && error.on === own);
  assert.deepEqual(await readdir(own), []);
  writeFileSync(join(folder, "no-folder"), "");
  const nowhere = new Images({ folder: join(folder, "no-folder"), clock: new VirtualClock(), convert });
  await assert.rejects(
    nowhere.imageFor(`${origin}/disk`),
    (error) => isFault(error, "Unavailable") && /EEXIST/.test(error.message),
  );
});

test("what can't be had is reported with a remedy", async () => {
  const { images } = someImages({ convert: qemuImg("/nonexistent/qemu-img") });
  served.set("/disk", { bytes: qcow2(), etag: '"1"' });

  await assert.rejects(
    images.imageFor(`${origin}/disk`),
    (error) => isFault(error, "MissingInput") && /qemu-utils/.test(error.advice),
  );
  await assert.rejects(
    images.imageFor("http://127.0.0.1:1/disk?token=secret"),
    (error) => isFault(error, "Unavailable") && /1\/disk: can't be fetched: .*(bad port|REFUSED)/.test(error.message),
  );
  await assert.rejects(images.imageFor(`${origin}/absent`), (error) => isFault(error, "NotFound"));
  await assert.rejects(images.imageFor(`${origin}/broken`), (error) => isFault(error, "Unavailable"));
  for (const url of ["file:///etc/passwd", "/etc/passwd", "ftp://x/y", ""])
    await assert.rejects(images.imageFor(url), (error) => isFault(error, "Invalid"));
});

test("converted images that nobody asked for within a day leave when there is no room", async () => {
  const clock = new VirtualClock(Date.UTC(2100, 0, 1));
  const { images, own } = someImages({ cacheBytes: 1, clock });
  const names = ["/one", "/two", "/three"];
  for (const [at, name] of names.entries())
    served.set(name, { bytes: qcow2((view) => view.setUint8(900, at)), etag: `"${at}"` });
  await images.imageFor(`${origin}/one`);
  await images.imageFor(`${origin}/two`);
  assert.equal((await readdir(own)).length, 4);
  await clock.run(86_400_001);
  await images.imageFor(`${origin}/three`);
  assert.equal((await readdir(own)).length, 2);
});

test("closing ends a conversion that is under way", async () => {
  const begun = Promise.withResolvers<void>();
  const convert: Convert = (_from, _to, signal) =>
    new Promise((_, reject) => {
      begun.resolve();
      signal?.addEventListener("abort", () => reject(new Fault("Unavailable", "image", "ended")));
    });
  const { images, own } = someImages({ convert });
  served.set("/disk", { bytes: qcow2(), etag: '"1"' });
  const asked = assert.rejects(images.imageFor(`${origin}/disk`), /ended/);
  await begun.promise;
  await images.close();
  await asked;
  assert.deepEqual(await readdir(own), []);
});

const untraced = spawnSync("strace", ["-V"]).status === 0 ? false : "no strace: apt-get install strace";
test("what was converted is on the disk before it has its name: a loss of power leaves no half image", {
  skip: untraced,
}, (t) => {
  const own = join(folder, "traced");
  const [from, trace] = [join(folder, "traced.qcow2"), join(folder, "trace")];
  writeFileSync(from, qcow2());
  const program = `
    import { writeFileSync } from "node:fs";
    import { systemClock as clock } from ${JSON.stringify(import.meta.resolve("@slipway/base"))};
    import { Images } from ${JSON.stringify(import.meta.resolve("./images.ts"))};
    const convert = async (_from, to) => writeFileSync(to, "raw");
    await new Images({ folder: ${JSON.stringify(own)}, clock, convert }).imageAt(${JSON.stringify(from)});`;
  const traced = ["-f", "-y", "-e", "trace=fdatasync,rename", "-o", trace, process.execPath];
  const { status, stderr } = spawnSync("strace", [...traced, "--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  if (/ptrace|PTRACE/.test(stderr)) return t.skip(`strace may not look: ${stderr.slice(0, 100)}`);
  assert.equal(status, 0, stderr);
  const steps = readFileSync(trace, "utf8")
    .split("\n")
    .filter((line) => line.includes(".raw.part"))
    .map((line) => /(fdatasync|rename)\(/.exec(line)![1]);
  assert.deepEqual(steps, ["fdatasync", "rename"]);
});

const missing = spawnSync("qemu-img", ["--version"]).status === 0 ? false : "no qemu-img: apt-get install qemu-utils";
test("qemu-img makes the very bytes of a qcow2 image", { skip: missing }, async () => {
  const raw = Buffer.concat([seededRandom(3).bytes(300_000), new Uint8Array(748_576)]);
  const [from, to] = [join(folder, "from.raw"), join(folder, "to.qcow2")];
  writeFileSync(from, raw);
  assert.equal(spawnSync("qemu-img", ["convert", "-c", "-f", "raw", "-O", "qcow2", from, to]).status, 0);
  served.set("/real", { bytes: readFileSync(to), etag: '"1"' });
  const { images } = someImages({ convert: qemuImg() });
  const image = await images.imageFor(`${origin}/real`);

  assert.equal(image.checksum?.value, sha256(raw));
  assert.equal(await contents(image), raw.toString("latin1"));
  served.set("/nonsense", { bytes: qcow2(), etag: '"1"' });
  await assert.rejects(
    images.imageFor(`${origin}/nonsense`),
    (error) => isFault(error, "Invalid") && /can't be converted/.test(error.message),
  );
});
