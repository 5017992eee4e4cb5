import assert from "node:assert/strict";
import { test } from "node:test";
import { selfSigned } from "@slipway/base/testing";
import { Sockets } from "./sockets.ts";

test("a renewed authority, certificate or key is shown on new sockets, and what has not changed keeps the old ones", async () => {
  const [one, two] = await Promise.all([selfSigned("one"), selfSigned("two")]);
  const certificates = { ca: one.cert, cert: one.cert, key: one.key };
  const sockets = new Sockets({ server: "https://127.0.0.1:1", ...certificates }, 1);
  const first = sockets.current;
  assert.equal(sockets.showing({ ...certificates }), first);
  for (const renewed of [{ ca: two.cert }, { cert: two.cert }, { key: two.key }]) {
    const before = sockets.showing({ ...certificates });
    assert.notEqual(sockets.showing({ ...certificates, ...renewed }), before, Object.keys(renewed).join());
  }
  await sockets.close();
});
