import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { FakeMachine } from "./testing.ts";

const needs = { jq: "/usr/bin/jq", "util-linux": "/usr/sbin/wipefs" };
const lacking = Object.entries(needs).flatMap(([name, file]) => (existsSync(file) ? [] : [name]));
const skip = lacking.length > 0 && `not installed: ${lacking.join(" ")}`;
const MIB = 1 << 20;

/** Disks of noise: files in the machine's own folder. */
function machine(...names: string[]): FakeMachine {
  const one = new FakeMachine();
  for (const name of names)
    one.disk(name, `virtual/${name}`, { bytes: 20 * MIB, content: Buffer.alloc(20 * MIB, 0xa5) });
  return one;
}

const disk = (one: FakeMachine, name: string): Buffer => readFileSync(join(one.folder, "dev", name));
const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

interface Outcome {
  message: string;
  wiped: { disk: string; proven: boolean; detail: string }[];
}

async function wipe(one: FakeMachine, order: object, before = ""): Promise<Outcome> {
  one.file("run/order", JSON.stringify({ id: "order-1", order: "wipe", ...order }));
  const out = await one.sh(`
    progress() { :; }
    ${before}
    ( wipe_disks ) >&2
    touch "$RUN/wiped"
    jq -n --rawfile message "$RUN/message" --slurpfile wiped "$RUN/wiped" '{message: ($message | rtrimstr("\\n")), $wiped}'`);
  return JSON.parse(out) as Outcome;
}

test("a full wipe leaves zeroes only, on the disks that were named only", { skip }, async () => {
  const one = machine("vda", "vdb");
  try {
    const { message, wiped } = await wipe(one, { how: "full", disks: ["/dev/vda"] });
    assert.equal(message, "wiped and read back: vda");
    assert.deepEqual(wiped, [
      { disk: "/dev/vda", how: "full", proven: true, detail: `zeroes written and read back, all ${20 * MIB} bytes` },
    ]);
    assert.equal(isZero(disk(one, "vda")), true);
    assert.equal(
      disk(one, "vdb").every((byte) => byte === 0xa5),
      true,
    );
  } finally {
    one.close();
  }
});

test("one name that no disk has, and nothing is wiped", { skip }, async () => {
  const one = machine("vda");
  try {
    for (const name of ["/dev/vdb", "/dev/../dev/vda", "", "*", "/dev/vda /dev/vda"]) {
      const { message, wiped } = await wipe(one, { how: "full", disks: ["/dev/vda", name] });
      assert.match(message, /^there is no disk .*nothing was wiped$/);
      assert.deepEqual(wiped, []);
    }
    assert.match((await wipe(one, { how: "thorough", disks: "all" })).message, /^this agent knows no wipe/);
    assert.equal(
      disk(one, "vda").every((byte) => byte === 0xa5),
      true,
    );
  } finally {
    one.close();
  }
});

test("N34 a wipe of metadata clears both ends of the disk and of each partition", { skip }, async () => {
  const one = machine("vda");
  try {
    const place = "sys/devices/virtual/vda/block/vda/vda1";
    one.file(`${place}/partition`, "1\n");
    one.file(`${place}/start`, `${(6 * MIB) / 512}\n`);
    one.file(`${place}/size`, `${(9 * MIB) / 512}\n`);
    one.file("dev/vda1", "");
    // The files show no partitions of their own: once the table is gone, so is this one.
    const gone = `reread_table() { [ ! -s "$RUN/read" ] || rm -r "${one.folder}/${place}"; echo read >>"$RUN/read"; }`;
    const { wiped } = await wipe(one, { how: "metadata", disks: "all" }, gone);
    assert.equal(wiped[0]!.detail, "4 places cleared and read back as zeroes; no signature and no partition is left");
    const content = disk(one, "vda");
    for (const [from, to] of [
      [0, 4],
      [6, 10],
      [11, 15],
      [16, 20],
    ] as const)
      assert.equal(isZero(content.subarray(from * MIB, to * MIB)), true, `${from} to ${to} MiB`);
    assert.equal(content[5 * MIB], 0xa5);
    assert.equal(content[10.5 * MIB], 0xa5);
  } finally {
    one.close();
  }
});

test("N34 a disk that lies about what was written is not proven to be wiped", { skip }, async () => {
  const one = machine("vda", "vdb");
  try {
    // It takes what is written to the first disk, and keeps what it has.
    const liar = 'zero() { [ "$1" = vda ] || dd if=/dev/zero of="$DEV/$1" bs=1M count=20 conv=notrunc 2>/dev/null; }';
    const { message, wiped } = await wipe(one, { how: "full", disks: "all" }, liar);
    assert.equal(message, "not proven to be wiped: /dev/vda");
    assert.deepEqual(
      wiped.map(({ disk, proven, detail }) => [disk, proven, detail]),
      [
        ["/dev/vda", false, "zeroes were written everywhere, but do not read back"],
        ["/dev/vdb", true, `zeroes written and read back, all ${20 * MIB} bytes`],
      ],
    );
  } finally {
    one.close();
  }
});

test("N34 one byte anywhere is found", { skip }, async () => {
  const bytes = 2 * MIB;
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes - 1), fc.integer({ min: 1, max: 255 }), async (at, value) => {
      const one = new FakeMachine();
      try {
        const content = Buffer.alloc(bytes);
        content[at] = value;
        one.disk("vda", "virtual/vda", { bytes, content });
        const said = await one.sh("CHUNK=1000000; all_zero vda && echo zero || echo data");
        assert.equal(said, "data\n");
        assert.equal(
          await one.sh(`is_zero vda 0 ${at} && is_zero vda ${at + 1} ${bytes - at - 1} && echo zero`),
          "zero\n",
        );
      } finally {
        one.close();
      }
    }),
    { numRuns: 5 },
  );
});
