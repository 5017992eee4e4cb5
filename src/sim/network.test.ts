import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault, plain } from "@slipway/base";
import { simNetwork } from "./network.ts";

test("a URL reaches the handler of its origin, default port or not, and the handler sees the peer", async () => {
  const network = simNetwork();
  network.serve("https://api.example:443", async (request) => plain(200, `${request.url} from ${request.remote}`));

  const answer = await network.from("10.0.0.7")({ method: "GET", url: "https://api.example/x?y=1" });

  assert.equal(answer.body, "https://api.example/x?y=1 from 10.0.0.7");
});

test("an unknown host is Unavailable, and so is a served one after it stopped", async () => {
  const network = simNetwork();
  const stop = network.serve("http://boot.example", async () => plain(200, "here"));
  stop();

  for (const url of ["http://boot.example/", "http://nowhere.example/", "tftp://x/y"]) {
    await assert.rejects(network.http({ method: "GET", url }), (e) => isFault(e, "Unavailable"));
  }
});

test("a handler that dies is a lost answer: the request may have had its effect", async () => {
  const network = simNetwork();
  network.serve("http://boot.example", async () => {
    throw new Error("crash");
  });

  await assert.rejects(network.http({ method: "POST", url: "http://boot.example/" }), (e) => isFault(e, "LostAnswer"));
});

test("two servers can't share an origin", () => {
  const network = simNetwork();
  network.serve("http://boot.example", async () => plain(200, ""));

  assert.throws(() => network.serve("http://boot.example:80", async () => plain(200, "")), /already/);
});

test("what is not simulated goes through to the real network when there is one", async () => {
  const network = simNetwork();
  network.through(async ({ url }) => plain(200, `real ${url}`));

  assert.equal((await network.http({ method: "GET", url: "http://real.example/" })).body, "real http://real.example/");
});
