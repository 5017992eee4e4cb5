import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import { type Entry, packCpio } from "./cpio.ts";

const file = (text: string, executable = false): Entry => ({ is: "file", content: Buffer.from(text), executable });

test("the same entries give the same bytes, whatever their order", () => {
  const path = fc.stringMatching(/^[a-z]{1,3}(\/[a-z]{1,3}){0,2}$/);
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(path, fc.string()), { selector: ([name]) => name }), (files) => {
      const entries = files.map(([name, text]) => [name, file(text)] as const);
      assert.deepEqual(packCpio(new Map(entries)), packCpio(new Map(entries.toReversed())));
    }),
  );
});

test("an entry is a header of thirteen numbers, a name and a content, each filled up to four bytes", () => {
  const packed = packCpio(new Map([["a", file("hello", true)]])).toString("latin1");
  const numbers = ["1", "81ed", "0", "0", "1", "0", "5", "0", "0", "0", "0", "2", "0"];
  const header = `070701${numbers.map((number) => number.padStart(8, "0")).join("")}`;
  assert.equal(packed.slice(0, 120), `${header}a\0hello\0\0\0`);
  assert.match(packed.slice(120), /^070701.{104}TRAILER!!!\0+$/s);
});

const cpio = spawnSync("cpio", ["--version"]).status === 0;

test("cpio lists what was packed, with the folders on the way", { skip: !cpio && "not installed: cpio" }, () => {
  const entries = new Map<string, Entry>([
    ["usr/bin/b", file("program", true)],
    ["bin", { is: "link", to: "usr/bin" }],
    ["dev/console", { is: "device", major: 5, minor: 1 }],
    ["etc/a", file("text")],
  ]);
  const listed = spawnSync("cpio", ["--list", "--verbose", "--numeric-uid-gid", "--quiet"], {
    input: packCpio(entries),
  });
  const lines = listed.stdout.toString().trim().split("\n");
  assert.deepEqual(
    lines.map((line) => line.replace(/ +/g, " ").replace(/ Jan +1 1970/, "")),
    [
      "lrwxrwxrwx 1 0 0 7 bin -> usr/bin",
      "drwxr-xr-x 2 0 0 0 dev",
      "crw------- 1 0 0 5, 1 dev/console",
      "drwxr-xr-x 2 0 0 0 etc",
      "-rw-r--r-- 1 0 0 4 etc/a",
      "drwxr-xr-x 2 0 0 0 usr",
      "drwxr-xr-x 2 0 0 0 usr/bin",
      "-rwxr-xr-x 1 0 0 7 usr/bin/b",
    ],
  );
});
