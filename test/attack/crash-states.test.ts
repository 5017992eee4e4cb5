import assert from "node:assert/strict";
import { test } from "node:test";
import { stepsOf } from "./crash-states.ts";

const hex = (text: string): string => [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16)}`).join("");

test("a call that another thread's came between counts where it ended", () => {
  const db = hex("/d/db");
  const trace = [
    `7  pwrite64(3<${db}>, "${hex("ab")}", 2, 512 <unfinished ...>`,
    `8  write(9<${hex("anon_inode:[eventfd]")}>, "${hex("1")}", 8 <unfinished ...>`,
    "7  <... pwrite64 resumed>)  = 2",
    `7  fdatasync(3<${db}> <unfinished ...>`,
    "8  <... write resumed>)              = 8",
    "7  <... fdatasync resumed>)          = 0",
    `7  write(1<${hex("pipe:[1]")}>, "${hex("ack 1\n")}", 6) = 6`,
    `7  fdatasync(3<${db}>) = -1 EIO (Input/output error)`,
  ].join("\n");
  assert.deepEqual(stepsOf(trace, "/d"), [
    { is: "write", path: "/d/db", at: 512, bytes: Buffer.from("ab") },
    { is: "sync", path: "/d/db" },
    { is: "said", text: "ack 1" },
  ]);
});
