import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { type Code, isFault } from "@slipway/base";
import { folderFiles } from "../files/disk.ts";
import { fileOf } from "../files/memory.ts";
import type { FileSource, OpenFile } from "../files/source.ts";
import { isoFiles } from "./files.ts";
import { type ServedImage, servedImages } from "./served.ts";
import { directory, field, handMade, u32 } from "./testing.ts";

const ASKER = { address: "192.0.2.9" };
const scratch = mkdtempSync(join(tmpdir(), "slipway-iso-"));
after(() => rmSync(scratch, { recursive: true }));

const LONG = `${"a-long-name.".repeat(17)}txt`;
const FILES: Record<string, string> = {
  "readme.txt": "hello",
  "install.amd/vmlinuz": "k".repeat(100_000),
  "pool/main/l/linux/linux-image-6.1.0~rc1+b2_amd64.deb": "deb",
  "Deep/1/2/3/4/5/6/7/8/9/10/file": "deep",
  [`long/${LONG}`]: "long",
  empty: "",
  ".treeinfo": "tree",
};
const tree = join(scratch, "tree");
for (const [name, text] of Object.entries(FILES)) {
  mkdirSync(dirname(join(tree, name)), { recursive: true });
  writeFileSync(join(tree, name), text);
}
symlinkSync("bookworm", join(tree, "stable"));
symlinkSync(".", join(tree, "debian"));
mkdirSync(join(tree, "bookworm"));
writeFileSync(join(tree, "bookworm", "Release"), "release");
symlinkSync("../install.amd/vmlinuz", join(tree, "bookworm", "kernel"));
symlinkSync("nowhere", join(tree, "dangling"));
symlinkSync("circle", join(tree, "circle"));

const images = folderFiles(scratch);
const filesOf = (name: string): FileSource => isoFiles(() => images.open(name, ASKER));

async function text(files: FileSource, name: string): Promise<string | undefined> {
  const file = await files.open(name, ASKER);
  if (file === undefined) return undefined;
  try {
    return Buffer.from(await file.read(0, file.size)).toString();
  } finally {
    await file.close();
  }
}

/** Makes an image of the tree; the reason when it can't be made. */
function made(program: string, ...options: readonly string[]): string | undefined {
  const name = "image.iso";
  const run = spawnSync(program, [...options, "-o", join(scratch, name), tree], { encoding: "utf8" });
  if (run.error) return `${program} is not installed (Debian: ${program.replace("-as-mkisofs", "")})`;
  assert.equal(run.status, 0, run.stderr);
  return undefined;
}

for (const [program, ...options] of [
  ["genisoimage", "-quiet", "-R", "-J", "-joliet-long"],
  ["genisoimage", "-quiet", "-r"],
  ["xorrisofs", "-quiet", "-R", "-J"],
] as const) {
  test(`N24 Rock Ridge names and links are found, in an image made by ${[program, ...options].join(" ")}`, async (t) => {
    const why = made(program, ...options);
    if (why !== undefined) return t.skip(why);
    const files = filesOf("image.iso");

    for (const [name, content] of Object.entries(FILES)) assert.equal(await text(files, name), content, name);
    assert.equal(await text(files, "treeinfo"), "tree");
    assert.equal(await text(files, "stable/Release"), "release");
    assert.equal(await text(files, "debian/debian/stable/Release"), "release");
    assert.equal((await text(files, "stable/kernel"))?.length, 100_000);
    assert.equal(await text(files, "INSTALL.AMD/VMLINUZ"), FILES["install.amd/vmlinuz"]);
    for (const name of ["dangling", "circle", "install.amd", "readme.txt/x", "absent", "pool/absent/x"])
      assert.equal(await text(files, name), undefined, name);
  });
}

test("N24 Joliet names are found where there are no others", async (t) => {
  const why = made("genisoimage", "-quiet", "-J", "-joliet-long", "-f");
  if (why !== undefined) return t.skip(why);
  const files = filesOf("image.iso");

  const name = "pool/main/l/linux/linux-image-6.1.0~rc1+b2_amd64.deb";
  assert.equal(await text(files, name), "deb");
  assert.equal(await text(files, "readme.txt"), "hello");
});

test("an image with short names alone is served by those", async (t) => {
  const why = made("genisoimage", "-quiet");
  if (why !== undefined) return t.skip(why);

  assert.equal(await text(filesOf("image.iso"), "readme.txt"), "hello");
  assert.equal(
    (await text(filesOf("image.iso"), "install.amd/vmlinuz")) ??
      (await text(filesOf("image.iso"), "install_amd/vmlinuz")),
    FILES["install.amd/vmlinuz"],
  );
});

test("N24 a directory is read once; then a path costs no reading, and a part of a file is read alone", async (t) => {
  const why = made("genisoimage", "-quiet", "-R");
  if (why !== undefined) return t.skip(why);
  const bytes = readFileSync(join(scratch, "image.iso"));
  const read: number[] = [];
  const image = fileOf(bytes);
  const version = image.version;
  const files = isoFiles(async () => ({
    size: image.size,
    version,
    close: image.close,
    async read(offset, length) {
      read.push(length);
      return image.read(offset, length);
    },
  }));
  await text(files, "install.amd/vmlinuz");
  read.length = 0;

  const file = (await files.open("install.amd/vmlinuz", ASKER))!;
  assert.deepEqual(read, []);
  assert.equal(Buffer.from(await file.read(99_990, 100)).toString(), "k".repeat(10));
  assert.deepEqual(read, [10]);
});

test("an image that is replaced is indexed anew; one that is not there has no files", async () => {
  let image: OpenFile | undefined = handMade([{ name: "A.;1", block: 20, size: 3 }], { 20: Buffer.from("one") });
  const files = isoFiles(async () => image);

  assert.equal(await text(files, "a"), "one");
  image = handMade([{ name: "B.;1", block: 21, size: 3 }], { 21: Buffer.from("two") });
  assert.deepEqual([await text(files, "a"), await text(files, "b")], [undefined, "two"]);
  image = undefined;
  assert.equal(await text(files, "b"), undefined);
});

test("a file in several parts is one file", async () => {
  const image = handMade(
    [
      { name: "BIG;1", block: 20, size: 2048, goesOn: true },
      { name: "BIG;1", block: 30, size: 3 },
    ],
    { 20: Buffer.alloc(2048, "a"), 30: Buffer.from("end") },
  );
  const file = (await isoFiles(async () => image).open("big", ASKER))!;

  assert.equal(file.size, 2051);
  assert.equal(Buffer.from(await file.read(2046, 100)).toString(), "aaend");
});

test("N24 images are served by name, side by side, with what is to be replaced in their files; one that can't be is reported at the start", async () => {
  const path = join(scratch, "hand.iso");
  const image = handMade([{ name: "A", block: 20, size: 3 }], { 20: Buffer.from("one") });
  writeFileSync(path, await image.read(0, image.size));
  const files = await servedImages({ one: { file: path, replace: {} }, two: { file: path, replace: { ne: "k" } } });

  assert.equal(await text(files, "iso/one/a"), "one");
  assert.equal(await text(files, "iso/two/A"), "ok ");
  for (const name of ["a", "iso/a", "iso/one", "iso/three/a"]) assert.equal(await text(files, name), undefined, name);
  const wrong: [ServedImage, Code][] = [
    [{ file: join(scratch, "absent"), replace: {} }, "MissingInput"],
    [{ file: join(tree, "readme.txt"), replace: {} }, "Invalid"],
    [{ file: path, replace: { short: "longer" } }, "Invalid"],
  ];
  for (const [image, code] of wrong) await assert.rejects(servedImages({ image }), (e) => isFault(e, code));
});

test("an image is closed with its file, and at once where it has no such file or can't be read", async () => {
  let open = 0;
  const counted = (image: OpenFile): FileSource =>
    isoFiles(async () => {
      open++;
      return { ...image, close: async () => void open-- };
    });
  const files = counted(handMade([{ name: "A", block: 20, size: 3 }], { 20: Buffer.from("one") }));
  const file = (await files.open("a", ASKER))!;
  assert.equal(open, 1);
  await file.close();
  assert.equal(open, 0);
  assert.equal(await files.open("absent", ASKER), undefined);
  await assert.rejects(counted(fileOf(new Uint8Array())).open("a", ASKER));
  assert.equal(open, 0);
});

test("an image that is none, or that leads astray, is refused and says why", async () => {
  const astray = (record: Parameters<typeof handMade>[0][number], blocks = {}): FileSource =>
    isoFiles(async () => handMade([record], blocks));
  const circle = field("CE", [...u32(30), ...u32(0), ...u32(28)]);

  const cases: [FileSource, string, RegExp][] = [
    [isoFiles(async () => fileOf(Buffer.alloc(100_000))), "a", /no ISO 9660 image/],
    [isoFiles(async () => fileOf(new Uint8Array())), "a", /no ISO 9660 image/],
    [astray({ name: "A", block: 63, size: 4000 }), "a", /ends before its file a does/],
    [astray({ name: "D", block: 1e6, size: 2048, directory: true }), "d/x", /beyond its end/],
    [astray({ name: "D", block: 20, size: 0xffffffff, directory: true }), "d/x", /directory of 4294967295 bytes/],
    [astray({ name: "A", block: 20, size: 1, systemUse: circle }, { 30: circle }), "a", /without end/],
    [astray({ name: "A", block: 20, size: 1, systemUse: field("ZF", [0]) }), "a", /zisofs/],
  ];
  for (const [files, name, why] of cases)
    await assert.rejects(files.open(name, ASKER), (e) => isFault(e, "Invalid") && why.test(e.message), String(why));
});

test("a file may end where its image does, and not a byte later", async () => {
  const root = [
    { name: "LAST.;1", block: 19, size: 2048 },
    { name: "BEYOND.;1", block: 19, size: 2049 },
  ];
  const files = isoFiles(async () => handMade(root, {}, 20));
  assert.equal((await text(files, "last"))?.length, 2048);
  await assert.rejects(text(files, "beyond"), /ends before its file beyond does/);
});

test("volume descriptors are looked for in 64 sectors, and no further", async () => {
  for (const [last, isFound] of [
    [79, true],
    [80, false],
  ] as const) {
    const image = handMade([{ name: "A.;1", block: 90, size: 1 }], {}, 100);
    const bytes = Buffer.from(await image.read(0, image.size));
    const primary = Buffer.from(bytes.subarray(16 * 2048, 17 * 2048));
    const other = Buffer.alloc(2048);
    other.write("\x03CD001\x01", "latin1");
    // The root, which the primary descriptor points to, makes room.
    primary.writeUInt32LE(85, 156 + 2);
    primary.writeUInt32BE(85, 156 + 6);
    bytes.copy(bytes, 85 * 2048, 18 * 2048, 19 * 2048);
    for (let at = 16; at < last; at++) other.copy(bytes, at * 2048);
    primary.copy(bytes, last * 2048);
    const found = text(
      isoFiles(async () => fileOf(bytes)),
      "a",
    );
    if (isFound) assert.equal((await found)?.length, 1);
    else await assert.rejects(found, /has no volume descriptor/);
  }
});

test("a directory that contains itself ends where the path ends", async () => {
  const self = { name: "D", block: 20, size: 2048, directory: true };
  const image = handMade([self], { 20: directory([self, { name: "A", block: 21, size: 1 }]), 21: Buffer.from("x") });

  assert.equal(
    await text(
      isoFiles(async () => image),
      `${"d/".repeat(200)}a`,
    ),
    "x",
  );
});

test("an image spoilt anywhere is read to an end and never outside itself", async (t) => {
  const why = made("genisoimage", "-quiet", "-R", "-J", "-joliet-long");
  if (why !== undefined) return t.skip(why);
  const whole = readFileSync(join(scratch, "image.iso"));
  // The files' own contents decide nothing.
  const part = whole.subarray(16 * 2048, Math.min(whole.length, 80 * 2048));
  let random = 1;
  const next = (below: number): number => {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
    return random % below;
  };
  for (let run = 0; run < 200; run++) {
    const spoilt = Buffer.from(whole);
    for (let change = 0; change <= next(8); change++)
      spoilt[16 * 2048 + next(part.length)] = [0, 1, 0xff, next(256)][next(4)]!;
    const image = { ...fileOf(spoilt), version: String(run) };
    const files = isoFiles(async () => ({
      ...image,
      async read(offset: number, length: number) {
        assert.ok(offset >= 0 && length >= 0 && offset + length <= spoilt.length);
        return image.read(offset, length);
      },
    }));
    for (const name of [...Object.keys(FILES), "stable/kernel", "debian/debian/stable/Release", "circle"])
      await text(files, name).catch((error: unknown) => assert.ok(isFault(error, "Invalid"), String(error)));
  }
});
