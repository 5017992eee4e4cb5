import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { FakeMachine } from "./testing.ts";

const missing = ["curl", "jq"].filter((name) => !existsSync(`/usr/bin/${name}`));
const skip = missing.length > 0 && `not installed: ${missing.join(" ")}`;

interface Registering {
  /** Instead of age-keygen; it has the file for the key behind `-o`. */
  keygen?: string;
  /** Instead of the part that has age. */
  fetchKeys?: string;
  /** What the server answers in turn; then 200. */
  answers?: readonly number[];
  /** What is run. */
  script?: string;
}

const KEYGEN = `echo "# public key: age1made" >"$2"`;

/** Has a machine register, and shows in turn what it said, how it asked the server, and what it did besides. */
async function registering({ keygen = KEYGEN, fetchKeys = ":", answers = [], script = "register" }: Registering = {}) {
  const machine = new FakeMachine();
  const left = [...answers];
  let tokens = 0;
  const happened: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      const { agent } = JSON.parse(body) as { agent: { key?: string } };
      const status = left.shift() ?? 200;
      happened.push(`${request.headers.authorization} ${agent.key ?? "keyless"}: ${status}`);
      if (status !== 200) response.writeHead(status).end("no\n");
      else response.end(JSON.stringify({ host: "host-a", token: `slh_${++tokens}` }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  machine.file("bin/age-keygen", `#!/bin/sh\n${keygen}\n`);
  try {
    const done = await machine.sh(`
      chmod +x ${machine.folder}/bin/*
      PATH=${machine.folder}/bin:$PATH
      SERVER=http://127.0.0.1:${(server.address() as AddressInfo).port} PIN='' CAPABILITY=slc_boot BOOT_MAC=52:54:00:00:00:0a
      ADDRESS=10.0.0.5
      pause() { echo "pause $1"; }
      connect() { echo "connect"; }
      fetch_keys() { ${fetchKeys}; }
      prove_cards_aside() { say "proving cards"; }
      ${script}`);
    return { requests: happened, said: machine.said().trim().split("\n"), done };
  } finally {
    server.close();
    machine.close();
  }
}

const FINGERPRINT = "ac9b-790b-8b83-0bc4-23c0-660c";

test("the first report waits for no key; a second one by the token has it, and only then cards are proven and orders taken", {
  skip,
}, async () => {
  const { requests, said } = await registering();
  assert.deepEqual(requests, ["Bearer slc_boot keyless: 200", "Bearer slh_1 age1made: 200"]);
  assert.deepEqual(said, [
    "registered as host-a",
    `this boot's key: ${FINGERPRINT}`,
    "waiting for orders",
    "proving cards",
  ]);
});

test("a second report that is not taken is tried again until it is", { skip }, async () => {
  const { requests, said, done } = await registering({ answers: [200, 503, 503] });
  assert.deepEqual(requests, [
    "Bearer slc_boot keyless: 200",
    "Bearer slh_1 age1made: 503",
    "Bearer slc_boot age1made: 503",
    "Bearer slh_1 age1made: 200",
  ]);
  assert.equal(done, "pause 1\n");
  assert.equal(said.at(-2), "waiting for orders");
});

test("a machine that is refused three times in a row asks DHCP for an address again, and registers from there", {
  skip,
}, async () => {
  const refused = await registering({ answers: [200, 403, 403, 403, 401, 403, 403] });
  assert.equal(refused.done, "pause 1\npause 2\npause 4\nconnect\n");
  assert.deepEqual(refused.requests.slice(-2), ["Bearer slc_boot age1made: 403", "Bearer slh_1 age1made: 200"]);
  assert.match(refused.said.join("\n"), /^the server refuses 10\.0\.0\.5: asking for an address again$/m);

  const script = `inventory() { echo '{"agent": {}}'; }; register`;
  const again = await registering({ answers: Array<number>(6).fill(403), script });
  assert.deepEqual(
    again.done
      .split("\n")
      .map((did) => did.split(" ")[0])
      .join(" "),
    "pause pause pause connect pause pause pause connect ",
  );
});

test("a machine whose server is busy, or refuses it for a moment, keeps its address", { skip }, async () => {
  const { done } = await registering({ answers: [403, 403, 503, 403, 403, 401] });
  assert.doesNotMatch(done, /connect/);
});

test("a machine that registers anew in the same boot keeps its key, and reports it at once", { skip }, async () => {
  const keygen = `[ ! -e "$2" ] || exit 1; ${KEYGEN}`;
  const { requests, said } = await registering({ keygen, script: "register; register" });
  assert.deepEqual(requests.slice(2), ["Bearer slh_2 age1made: 200"]);
  assert.deepEqual(said.slice(4), said.slice(0, 4));
});

test("a machine that can have no key says why, waits for orders all the same, and tries again when it registers again", {
  skip,
}, async () => {
  const reason = "age could not be fetched from http://server/keys: 404 Not Found";
  const unfetched = await registering({ fetchKeys: `problem='${reason}'; return 1` });
  const unmade = await registering({ keygen: "echo no randomness >&2; exit 1" });
  for (const [{ requests, said }, why] of [
    [unfetched, reason],
    [unmade, "no randomness"],
  ] as const) {
    assert.deepEqual(requests, ["Bearer slc_boot keyless: 200"]);
    assert.deepEqual(said, [
      "registered as host-a",
      `this boot has no key, so it gets no first-boot data: ${why}`,
      "waiting for orders",
      "proving cards",
    ]);
  }

  const script = `fetch_keys() { problem=none; return 1; }; register; fetch_keys() { :; }; register`;
  assert.deepEqual((await registering({ script })).requests.slice(1), [
    "Bearer slh_1 keyless: 200",
    "Bearer slh_2 age1made: 200",
  ]);
});
