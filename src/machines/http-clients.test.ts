import assert from "node:assert/strict";
import { test } from "node:test";
import { plain } from "@slipway/base";
import { HttpClients } from "./http-clients.ts";

test("who trusts the same authority shares one client, and all of them are closed", async () => {
  const made: (string | undefined)[] = [];
  const closed: (string | undefined)[] = [];
  const clients = new HttpClients((ca) => {
    made.push(ca);
    return Object.assign(async () => plain(200, ""), { close: async () => void closed.push(ca) });
  });
  assert.equal(clients.of(undefined), clients.of(undefined));
  assert.equal(clients.of("A"), clients.of("A"));
  assert.notEqual(clients.of("A"), clients.of(undefined));
  assert.deepEqual(made, [undefined, "A"]);
  await clients.close();
  assert.deepEqual(closed.sort(), made.sort());
});
