import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { packCpio } from "../../../tools/agent/cpio.ts";
import { FakeMachine } from "./testing.ts";

const lacking = ["wget", "zstd", "cpio"].filter((name) => !existsSync(`/usr/bin/${name}`));
const skip = lacking.length > 0 && `not installed: ${lacking.join(" ")}`;

const REST = zstdCompressSync(
  packCpio(new Map([["usr/bin/jq", { is: "file", content: Buffer.from("program"), executable: true }]])),
);

/** Runs `fetch_rest` on a machine that was made with `REST`, against a server that gives these answers in turn. */
async function fetched(...answers: readonly (Buffer | number)[]): Promise<{ said: string; machine: FakeMachine }> {
  const machine = new FakeMachine();
  machine.file("program/rest.sha256", createHash("sha256").update(REST).digest("hex"));
  const left = [...answers];
  const server = createServer((_, response) => {
    const answer = left.shift() ?? 500;
    if (typeof answer === "number") response.writeHead(answer).end();
    else response.end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const words = `REST=http://127.0.0.1:${(server.address() as AddressInfo).port}/rest`;
    // What would take long, or end the machine, tells that it would.
    const said = await machine.sh(
      `${words}; pause() { echo "pause $1"; }; restart() { echo restart; exit; }; fetch_rest; fetch_rest; cat "$RUN/lines"`,
    );
    return { said: said.replaceAll(/127\.0\.0\.1:\d+/g, "server"), machine };
  } finally {
    server.close();
  }
}

test("the rest of the agent is unpacked where the first part lies, and nothing of its way here stays", {
  skip,
}, async () => {
  const { said, machine } = await fetched(REST);
  try {
    assert.equal(said, "");
    assert.equal(readFileSync(`${machine.folder}/usr/bin/jq`, "utf8"), "program");
    for (const gone of ["run/rest", "run/rest.cpio", "program/rest.sha256"])
      assert.equal(existsSync(`${machine.folder}/${gone}`), false, gone);
  } finally {
    machine.close();
  }
});

test("a server that has no answer yet is asked again, and the console says why it waits", { skip }, async () => {
  const { said, machine } = await fetched(503, REST);
  try {
    assert.match(said, /^pause 3\nthe rest of the agent could not be fetched from http:\/\/server\/rest: .*\n$/);
    assert.ok(existsSync(`${machine.folder}/usr/bin/jq`));
  } finally {
    machine.close();
  }
});

test("the rest of another build is never unpacked: the machine starts again, and gets both parts anew", {
  skip,
}, async () => {
  const other = Buffer.concat([REST, zstdCompressSync("more")]);
  const { said, machine } = await fetched(other);
  try {
    assert.match(said, /^pause 30\nrestart\n/);
    assert.equal(existsSync(`${machine.folder}/usr/bin/jq`), false);
  } finally {
    machine.close();
  }
});
