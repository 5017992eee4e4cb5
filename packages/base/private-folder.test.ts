import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault } from "./fault.ts";
import { privateFile, privateFolder, replacePrivateFile } from "./private-folder.ts";

const OTHER_UID = 65534;
const root = process.geteuid?.() === 0;
const asRoot = root ? {} : { skip: "only root can give files to another user" };

function above(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "private-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const refused = (fn: () => void, words: RegExp): void =>
  assert.throws(fn, (error) => isFault(error, "Refused") && words.test(error.message) && error.remedy !== undefined);

test("a folder for state is its owner's alone, whatever the umask, and whoever made it before", (t) => {
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const made = join(above(t), "a", "b");
  privateFolder(made);
  assert.equal(modeOf(made), "700");
  for (const mode of [0o755, 0o777, 0o750]) {
    const found = join(above(t), "c");
    mkdirSync(found);
    chmodSync(found, mode);
    writeFileSync(join(found, "own"), "");
    privateFolder(found);
    assert.equal(modeOf(found), "700");
  }
});

test("a folder that can't be made is an error that says why, and no search without an end", () => {
  const error = (code: string) => (error: NodeJS.ErrnoException) => error.code === code;
  assert.throws(() => privateFolder("/proc/a/b"), error("ENOENT"));
  assert.throws(() => privateFolder("/dev/null"), error("EEXIST"));
  assert.throws(() => privateFolder("/dev/null/a"), error("ENOTDIR"));
});

test("an own link to an own folder is taken", (t) => {
  const folder = above(t);
  mkdirSync(join(folder, "real"), { mode: 0o755 });
  symlinkSync("real", join(folder, "link"));
  privateFolder(join(folder, "link"));
  assert.equal(modeOf(join(folder, "real")), "700");
});

test("an own link to a folder of another user is refused, though that is open to nobody else", asRoot, (t) => {
  const folder = above(t);
  mkdirSync(join(folder, "real"), { mode: 0o700 });
  chownSync(join(folder, "real"), OTHER_UID, OTHER_UID);
  symlinkSync("real", join(folder, "link"));
  refused(() => privateFolder(join(folder, "link")), /belongs to another user/);
});

test("a folder of another user is refused", asRoot, (t) => {
  const folder = above(t);
  chownSync(folder, OTHER_UID, OTHER_UID);
  refused(() => privateFolder(folder), /it belongs to another user \(uid 65534/);
});

test("a link that another user made is refused, wherever it leads", asRoot, (t) => {
  const folder = above(t);
  mkdirSync(join(folder, "real"));
  symlinkSync("real", join(folder, "link"));
  lchownSync(join(folder, "link"), OTHER_UID, OTHER_UID);
  refused(() => privateFolder(join(folder, "link")), /link: it belongs to another user/);
  assert.equal(modeOf(join(folder, "real")), "755");
});

test("what another user put into a folder that was open to all is refused by its name", asRoot, (t) => {
  const folder = above(t);
  chmodSync(folder, 0o777);
  symlinkSync("/etc/passwd", join(folder, "kubeconfig"));
  lchownSync(join(folder, "kubeconfig"), OTHER_UID, OTHER_UID);
  refused(() => privateFolder(folder), /kubeconfig: it belongs to another user/);
});

test("a file for state is made or narrowed to 0600; a link or another user's is refused", (t) => {
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const folder = above(t);
  const file = join(folder, "db");
  privateFile(file, { ifThere: true });
  assert.equal(statSync(file, { throwIfNoEntry: false }), undefined);
  privateFile(file);
  assert.equal(modeOf(file), "600");
  chmodSync(file, 0o644);
  privateFile(file);
  assert.equal(modeOf(file), "600");
  symlinkSync(file, `${file}-link`);
  refused(() => privateFile(`${file}-link`), /it is a link/);
  if (!root) return;
  chownSync(file, OTHER_UID, OTHER_UID);
  refused(() => privateFile(file), /another user/);
});

test("a file is replaced as a whole and is its owner's alone, whatever an interrupted replacement has left", async (t) => {
  const folder = above(t);
  const file = join(folder, "kubeconfig");
  writeFileSync(file, "old", { mode: 0o644 });
  writeFileSync(`${file}.new`, "half of what a kill", { mode: 0o644 });
  await replacePrivateFile(file, "new");
  assert.deepEqual([readFileSync(file, "utf8"), modeOf(file)], ["new", "600"]);
  assert.deepEqual(readdirSync(folder), ["kubeconfig"]);
  symlinkSync(file, `${file}-link`);
  await replacePrivateFile(`${file}-link`, "newest");
  assert.deepEqual([readFileSync(file, "utf8"), readFileSync(`${file}-link`, "utf8")], ["new", "newest"]);
});
