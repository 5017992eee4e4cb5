import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { SOCKET } from "../netboot/service/place.ts";
import { verb as approve } from "./approve.ts";
import { spoken } from "./testing.ts";

/** A netboot whose one host is trusted as it was asked last; what it was asked. */
async function netboot(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), "slipway-approve-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const asked: string[] = [];
  let standing = { trust: "none", because: "nobody has said so" };
  const server = createServer(async (request, response) => {
    const { method, url } = request;
    const body = (await request.toArray()).join("");
    // What is asked first is whether somebody answers.
    if (url !== "/v1/hosts") asked.push(`${method} ${url}${body && ` ${body}`}`);
    if (method === "PUT") standing = { trust: "approved", because: "an administrator has said so" };
    if (method === "DELETE") standing = { trust: "none", because: "its approval was taken back" };
    response.end(JSON.stringify({ name: "host-1", standing }));
  }).listen(join(dir, SOCKET));
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const slipway = async (...args: string[]) => (await spoken(t, approve, "approve", ...args, "--dir", dir)).out;
  return { asked, slipway };
}

test("approve trusts a host, or one key of it, and prints how it stands then", async (t) => {
  const { asked, slipway } = await netboot(t);
  assert.equal(await slipway("host/host-1"), "approved: an administrator has said so\n");
  assert.equal(await slipway("host-1", "--key", "3f2a-90b1"), "approved: an administrator has said so\n");
  assert.deepEqual(asked, [
    ...["PUT /v1/hosts/host-1/approval {}", "GET /v1/hosts/host-1"],
    ...['PUT /v1/hosts/host-1/approval {"key":"3f2a-90b1"}', "GET /v1/hosts/host-1"],
  ]);
});

test("approve --withdraw takes the approval back; with a key it is refused before anything is asked", async (t) => {
  const { asked, slipway } = await netboot(t);
  assert.equal(await slipway("host-1", "--withdraw"), "none: its approval was taken back\n");
  assert.deepEqual(asked, ["DELETE /v1/hosts/host-1/approval", "GET /v1/hosts/host-1"]);
  await assert.rejects(slipway("host-1", "--withdraw", "--key", "3f2a"), /leave --key out/);
  assert.equal(asked.length, 2);
});
