import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isFault } from "@slipway/base";
import { declaredFiles, folderFiles } from "./disk.ts";
import { memoryFiles } from "./memory.ts";
import { type FileSource, firstOf } from "./source.ts";

const ASKER = { address: "192.0.2.1" };
const base = mkdtempSync(join(tmpdir(), "slipway-files-"));
after(() => rmSync(base, { recursive: true }));
const root = join(base, "root");
mkdirSync(join(root, "EFI", "Boot"), { recursive: true });
writeFileSync(join(root, "EFI", "Boot", "BOOTX64.EFI"), "efi");
writeFileSync(join(root, "plain"), "0123456789");
writeFileSync(join(base, "secret"), "secret");
symlinkSync(join(base, "secret"), join(root, "out"));
symlinkSync("plain", join(root, "inside"));
execFileSync("mkfifo", [join(root, "pipe")]);

async function text(source: FileSource, name: string): Promise<string | undefined> {
  const file = await source.open(name, ASKER);
  if (file === undefined) return undefined;
  try {
    return Buffer.from(await file.read(0, file.size)).toString();
  } finally {
    await file.close();
  }
}

test("a folder serves its regular files, in any case of letters", async () => {
  const files = folderFiles(root);

  assert.equal(await text(files, "plain"), "0123456789");
  assert.equal(await text(files, "EFI/Boot/BOOTX64.EFI"), "efi");
  assert.equal(await text(files, "efi/boot/bootx64.efi"), "efi");
  assert.equal(await text(files, "inside"), "0123456789");
});

test("N2 a folder serves nothing outside it, no folder, no pipe, and no file that is not there", async () => {
  const files = folderFiles(root);

  for (const name of ["out", "EFI", "pipe", "absent", "plain/deeper", "EFI/absent"])
    assert.equal(await text(files, name), undefined, name);
  assert.equal(await text(folderFiles(join(base, "absent")), "plain"), undefined);
});

test("what is opened and not served is closed, and so is a file that was read", async (t) => {
  const descriptors = "/proc/self/fd";
  if (!existsSync(descriptors)) return t.skip(`${descriptors} is not here`);
  const open = (): string[] =>
    readdirSync(descriptors)
      .map((fd) => {
        try {
          return readlinkSync(join(descriptors, fd));
        } catch {
          return "the one of this reading";
        }
      })
      .filter((path) => path.startsWith(root));
  const files = folderFiles(root);
  for (const name of ["pipe", "EFI", "plain"]) await text(files, name);
  assert.deepEqual(open(), []);
  const held = await files.open("plain", ASKER);
  assert.deepEqual(open(), [join(root, "plain")]);
  await held!.close();
});

test("a part of a file is read from any place, and never beyond its end", async () => {
  const file = (await folderFiles(root).open("plain", ASKER))!;

  assert.equal(Buffer.from(await file.read(4, 3)).toString(), "456");
  assert.equal(Buffer.from(await file.read(8, 10)).toString(), "89");
  assert.equal((await file.read(10, 1)).length, 0);
  await file.close();
});

test("declared files are served under their names only; one that is missing is reported", async () => {
  const files = declaredFiles({ "shimx64.efi": join(root, "plain"), gone: join(root, "absent"), folder: root });

  assert.equal(await text(files, "SHIMX64.EFI"), "0123456789");
  assert.equal(await text(files, "plain"), undefined);
  for (const name of ["gone", "folder"])
    await assert.rejects(text(files, name), (error) => isFault(error, "MissingInput"));
});

test("the first source that has a name answers; the same content has the same version", async () => {
  const bytes = Buffer.from("memory");
  const files = firstOf(memoryFiles({ plain: bytes }), folderFiles(root));

  assert.equal(await text(files, "Plain"), "memory");
  assert.equal(await text(files, "inside"), "0123456789");
  const [first, second] = [
    await memoryFiles({ a: bytes }).open("a", ASKER),
    await memoryFiles({ b: bytes }).open("b", ASKER),
  ];
  assert.equal(first?.version, second?.version);
});

test("a large file fills memory of its reader, and what was read before it fills at once", async () => {
  const content = Buffer.alloc(1_100_000, "0123456789abc");
  writeFileSync(join(root, "large"), content);
  const files = folderFiles(root);
  const file = (await files.open("large", ASKER))!;
  const into = Buffer.alloc(65_536);

  const first = file.fill!(into, 0);
  assert.equal(typeof first, "object");
  assert.equal(await first, 65_536);
  assert.ok(into.equals(content.subarray(0, 65_536)));
  await file.close();
  const again = (await files.open("large", ASKER))!;
  into.fill(0);
  assert.equal(again.fill!(into, 0), 65_536);
  assert.ok(into.equals(content.subarray(0, 65_536)));
  assert.equal(await again.fill!(into, content.length - 3), 3);
  await again.close();
});

test("a small file is waited for each time, since it is read in one go", async () => {
  const file = (await folderFiles(root).open("plain", ASKER))!;
  const into = Buffer.alloc(4);
  for (let times = 0; times < 2; times++) assert.equal(await (file.fill!(into, 3) as Promise<number>), 4);
  assert.equal(typeof file.fill!(into, 3), "object");
  assert.equal(into.toString(), "3456");
  await file.close();
});
