import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { packCpio } from "./cpio.ts";
import { FakeMachine } from "./testing.ts";

const lacking = ["wget", "zstd", "cpio"].filter((name) => !existsSync(`/usr/bin/${name}`));
const skip = lacking.length > 0 && `not installed: ${lacking.join(" ")}`;

const packed = (path: string): Buffer =>
  zstdCompressSync(packCpio(new Map([[path, { is: "file", content: Buffer.from("program"), executable: true }]])));
const REST = packed("usr/bin/jq");
const KEYS = packed("usr/bin/age-keygen");

/** What a part's server gets asked for, what the agent says on the way, and the machine. */
type Fetched = { asked: string[]; said: string; machine: FakeMachine };

/** Runs a script on a machine that was made with `REST` and `KEYS`, against a server that gives these answers in turn. */
async function fetched(script: string, ...answers: readonly (Buffer | number)[]): Promise<Fetched> {
  const machine = new FakeMachine();
  for (const [part, content] of Object.entries({ rest: REST, keys: KEYS }))
    machine.file(`program/${part}.sha256`, createHash("sha256").update(content).digest("hex"));
  const left = [...answers];
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    const answer = left.shift() ?? 500;
    if (typeof answer === "number") response.writeHead(answer).end();
    else response.end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const words = `REST=http://127.0.0.1:${(server.address() as AddressInfo).port}/agent/x86_64/rest`;
    // What would take long, or end the machine, says that it would.
    const said = await machine.sh(
      `${words}; pause() { echo "pause $1"; }; restart() { echo restart; exit; }; ${script}; cat "$RUN/lines"`,
    );
    return { asked, said: said.replaceAll(/127\.0\.0\.1:\d+/g, "server"), machine };
  } finally {
    server.close();
  }
}

test("the rest of the agent is unpacked where the first part lies, and nothing of its way here stays", {
  skip,
}, async () => {
  const { said, machine } = await fetched("fetch_rest; fetch_rest", REST);
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
  const { said, machine } = await fetched("fetch_rest", 503, REST);
  try {
    assert.match(
      said,
      /^pause 3\nthe rest of the agent could not be fetched from http:\/\/server\/agent\/x86_64\/rest: .*\n$/,
    );
    assert.ok(existsSync(`${machine.folder}/usr/bin/jq`));
  } finally {
    machine.close();
  }
});

test("the rest of another build is never unpacked: the machine starts again, and gets both parts anew", {
  skip,
}, async () => {
  const other = Buffer.concat([REST, zstdCompressSync("more")]);
  const { said, machine } = await fetched("fetch_rest", other);
  try {
    assert.match(said, /^pause 30\nrestart\n/);
    assert.equal(existsSync(`${machine.folder}/usr/bin/jq`), false);
  } finally {
    machine.close();
  }
});

test("the keys part lies beside the rest, is fetched once, and nothing of its way here stays", { skip }, async () => {
  const { asked, said, machine } = await fetched("fetch_keys && fetch_keys && echo done", KEYS);
  try {
    assert.deepEqual([asked, said], [["/agent/x86_64/keys"], "done\n"]);
    assert.equal(readFileSync(`${machine.folder}/usr/bin/age-keygen`, "utf8"), "program");
    for (const gone of ["run/keys", "run/keys.cpio", "program/keys.sha256"])
      assert.equal(existsSync(`${machine.folder}/${gone}`), false, gone);
  } finally {
    machine.close();
  }
});

test("a keys part that can't be had is asked for three times and then left alone, with the reason; later it is asked for again", {
  skip,
}, async () => {
  const script = 'fetch_keys || echo "$problem"; fetch_keys && echo done';
  const { asked, said, machine } = await fetched(script, 404, 404, 404, 503, KEYS);
  try {
    assert.match(
      said,
      /^pause 3\npause 3\nage could not be fetched from http:\/\/server\/agent\/x86_64\/keys: .*\npause 3\ndone\n$/,
    );
    assert.equal(asked.length, 5);
  } finally {
    machine.close();
  }
});

test("the keys part of another build is never unpacked, and ends no machine that has registered", {
  skip,
}, async () => {
  const other = Buffer.concat([KEYS, zstdCompressSync("more")]);
  const { asked, said, machine } = await fetched('fetch_keys || echo "$problem"', other);
  try {
    assert.equal(said, "the server's files are not those that this machine started from\n");
    assert.equal(asked.length, 1);
    for (const gone of ["usr/bin/age-keygen", "run/keys"])
      assert.equal(existsSync(`${machine.folder}/${gone}`), false, gone);
  } finally {
    machine.close();
  }
});

test("a part that does not unpack leaves nothing behind but the wish to have it", { skip }, async () => {
  const broken = Buffer.from("no archive");
  const checksum = createHash("sha256").update(broken).digest("hex");
  const script = `printf ${checksum} >"$HERE/keys.sha256"; fetch_keys 2>/dev/null || echo "$problem"`;
  const { said, machine } = await fetched(script, broken);
  try {
    assert.equal(said, "age could not be unpacked: has this machine enough memory?\n");
    assert.equal(existsSync(`${machine.folder}/run/keys`), false);
    assert.equal(existsSync(`${machine.folder}/program/keys.sha256`), true);
  } finally {
    machine.close();
  }
});
