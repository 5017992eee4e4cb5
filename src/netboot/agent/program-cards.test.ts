import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { FakeMachine } from "./testing.ts";

const missing = ["curl", "jq"].filter((name) => !existsSync(`/usr/bin/${name}`));
const skip = missing.length > 0 && `not installed: ${missing.join(" ")}`;

/**
 * Has a machine prove its cards to a server that gives these answers in turn. `lo` stands for a card that reaches it, since curl
 * has to find the card. What was done to the cards, what the server was asked, and what the agent said.
 */
async function proven(cards: readonly { name: string; link: boolean }[], answers: readonly number[], before = "") {
  const machine = new FakeMachine();
  const asked: string[] = [];
  const left = [...answers];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization} "${body}"`);
      response.writeHead(left.shift() ?? 500).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  for (const [at, { name, link }] of [{ name: "eth0", link: true }, ...cards].entries())
    machine.card(name, `52:54:00:00:00:0${at}`, { link });
  machine.file("run/session", "host-a\nslh_secret\n");
  try {
    const did = await machine.sh(`
      SERVER=http://127.0.0.1:${(server.address() as AddressInfo).port} PIN='' CARD=eth0
      lease_for_a_moment() { echo "lease $1"; }
      end_lease() { echo "end $1"; }
      pause() { echo "pause $1"; }
      ${before}
      prove_cards`);
    return { did: did.trim().split("\n").filter(Boolean), asked, said: machine.said() };
  } finally {
    server.close();
    machine.close();
  }
}

const ASKED = 'POST /agent/v1/hosts/host-a/cards Bearer slh_secret ""';

test("each further card with a link asks the server once, from an address that it has for this only", {
  skip,
}, async () => {
  const { did, asked, said } = await proven(
    [
      { name: "lo", link: true },
      { name: "eth2", link: false },
    ],
    [204],
  );
  assert.deepEqual(asked, [ASKED]);
  assert.deepEqual(did, ["lease lo", "end lo", "pause 10", "pause 10"]);
  assert.equal(said, "lo is known to be this machine's\n");
});

test("a card that the server says is another machine's stays that, and the agent says so", { skip }, async () => {
  const { asked, said } = await proven([{ name: "lo", link: true }], [409]);
  assert.deepEqual(asked, [ASKED]);
  assert.equal(said, "lo (52:54:00:00:00:01) is another machine's, says the server\n");
});

test("an older server that knows nothing of cards is asked once, and nothing is said", { skip }, async () => {
  const cards = [
    { name: "lo", link: true },
    { name: "wan0", link: true },
  ];
  const { did, asked, said } = await proven(cards, [404]);
  assert.deepEqual([did, asked, said], [["lease lo", "end lo"], [ASKED], ""]);
});

test("a card without an answer is tried a few times, its address taken off each time, and then left alone", {
  skip,
}, async () => {
  const { did, asked, said } = await proven([{ name: "lo", link: true }], [503, 503, 503]);
  assert.equal(asked.length, 3);
  assert.deepEqual(
    did.filter((what) => !what.startsWith("pause")),
    ["lease lo", "end lo", "lease lo", "end lo", "lease lo", "end lo"],
  );
  assert.equal(said, "");
  const none = await proven([{ name: "lo", link: true }], [], "lease_for_a_moment() { return 1; }");
  assert.deepEqual([none.did, none.asked], [["pause 10", "pause 10"], []]);
});

test("a request goes out by the card that it is to prove, or not at all", { skip }, async () => {
  const { asked, did } = await proven([{ name: "none0", link: true }], [204]);
  assert.deepEqual(asked, []);
  assert.equal(did.filter((what) => what === "end none0").length, 3);
});
