import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentReads } from "./recent-reads.ts";

const EXT4 = 0xef53;
const NFS = 0x6969;
const BLOCK = 64 * 1024;
const SIZE = 10 * BLOCK + 5;

function clocked(type = EXT4) {
  const clock = { now: 5_000, monotonic: () => clock.now };
  const asked: string[] = [];
  const recent = new RecentReads(clock, async (path) => {
    asked.push(path);
    return type;
  });
  return { clock, recent, asked };
}

test("what was read a short time ago is read at once, and nothing else", async () => {
  const { clock, recent } = clocked();
  const reads = (await recent.of("/image", "1", SIZE))!;
  const now = (offset: number, length: number) => reads.now(offset, length, () => length);

  assert.equal(now(0, BLOCK), undefined);
  reads.note(0, 2 * BLOCK);
  assert.equal(now(0, BLOCK), BLOCK);
  assert.equal(now(BLOCK - 1, 10), 10);
  assert.equal(now(BLOCK, BLOCK + 1), undefined);
  clock.now += 62_000;
  assert.equal(now(0, BLOCK), undefined);
});

test("reading at once is a reading too: what is read again and again stays known", async () => {
  const { clock, recent } = clocked();
  const reads = (await recent.of("/image", "1", SIZE))!;
  reads.note(0, BLOCK);
  for (let times = 0; times < 3; times++) {
    clock.now += 50_000;
    assert.equal(
      reads.now(0, BLOCK, () => BLOCK),
      BLOCK,
    );
  }
});

test("a block counts when its end was read; the last one ends with the file", async () => {
  const { recent } = clocked();
  const reads = (await recent.of("/image", "1", SIZE))!;
  const isNow = (offset: number, length: number) => reads.now(offset, length, () => length) !== undefined;

  reads.note(0, BLOCK / 2);
  assert.equal(isNow(0, 10), false);
  reads.note(BLOCK / 2, BLOCK / 2);
  assert.equal(isNow(0, 10), true);
  assert.equal(isNow(10 * BLOCK, 5), false);
  reads.note(10 * BLOCK, 5);
  assert.equal(isNow(10 * BLOCK, 5), true);
});

test("a read at once that took long shows that the kernel has forgotten the file: all of it is waited for again", async () => {
  const { clock, recent } = clocked();
  const reads = (await recent.of("/image", "1", SIZE))!;
  reads.note(0, SIZE);
  const slow = (): number => {
    clock.now += 10;
    return BLOCK;
  };

  assert.equal(reads.now(0, BLOCK, slow), BLOCK);
  assert.equal(reads.now(0, BLOCK, slow), undefined);
  assert.equal(reads.now(5 * BLOCK, BLOCK, slow), undefined);
});

test("files of a file system that may ask a server are always waited for, and so are those of an unknown one", async () => {
  assert.equal(await clocked(NFS).recent.of("/image", "1", SIZE), undefined);
  const failing = new RecentReads({ monotonic: () => 1 }, () => Promise.reject(new Error("EACCES")));
  assert.equal(await failing.of("/image", "1", SIZE), undefined);
});

test("what is known belongs to one content, and the files opened least recently are forgotten", async () => {
  const { recent, asked } = clocked();
  const first = await recent.of("/image", "first", SIZE);
  assert.notEqual(await recent.of("/image", "other content", SIZE), first);
  for (let file = 0; file < 30; file++) await recent.of("/image", `${file}`, SIZE);
  assert.equal(await recent.of("/image", "first", SIZE), first);
  assert.equal(asked.length, 32);

  await recent.of("/image", "one more", SIZE);
  assert.equal(await recent.of("/image", "first", SIZE), first);
  await recent.of("/image", "other content", SIZE);
  assert.equal(asked.length, 34);
});
