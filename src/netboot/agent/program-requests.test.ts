import assert from "node:assert/strict";
import { createHash, createPublicKey } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { systemClock } from "@slipway/base";
import { createAuthority, issueServer } from "../../pki/authority.ts";
import { FakeMachine } from "./testing.ts";

const lacking = ["jq", "curl"].filter((name) => !existsSync(`/usr/bin/${name}`));
const skip = lacking.length > 0 && `not installed: ${lacking.join(" ")}`;

interface Received {
  url: string;
  authorization: string | undefined;
}

/** A server that the agent knows by its key: nobody else vouches for it. */
async function start(): Promise<{ server: Server; received: Received[]; url: string; pin: string }> {
  const authority = await createAuthority({ commonName: "test", clock: systemClock });
  const { certificatePem, keyPem } = await issueServer(authority, {
    commonName: "server",
    hosts: ["127.0.0.1"],
    clock: systemClock,
  });
  const received: Received[] = [];
  const server = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    received.push({ url: request.url!, authorization: request.headers.authorization });
    if (request.url === "/agent/v1/elsewhere") response.writeHead(302, { location: "/taken" }).end();
    else response.writeHead(request.url === "/files/none" ? 404 : 200).end("body");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const key = createPublicKey(certificatePem).export({ type: "spki", format: "der" });
  const pin = `sha256//${createHash("sha256").update(key).digest("base64")}`;
  return { server, received, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, pin };
}

test("the agent speaks to the server with the key that it was given, and to no other", { skip }, async () => {
  const { server, received, url, pin } = await start();
  const machine = new FakeMachine();
  try {
    const ask = (words: string): Promise<string> =>
      machine.sh(`SERVER=${url} ${words}; request GET hosts/a/orders 10 secret-token; true`);
    assert.equal(await ask(`PIN=${pin}`), "200");
    assert.deepEqual(received, [{ url: "/agent/v1/hosts/a/orders", authorization: "Bearer secret-token" }]);
    assert.equal(await ask(`PIN=sha256//${"A".repeat(43)}=`), "000");
    assert.equal(await ask("PIN=''"), "000");
    assert.equal(received.length, 1);
  } finally {
    machine.close();
    server.close();
  }
});

test("a token is not carried to where the server points, and images get none", { skip }, async () => {
  const { server, received, url, pin } = await start();
  const machine = new FakeMachine();
  try {
    const known = `SERVER=${url} PIN=${pin}`;
    assert.equal(await machine.sh(`${known}; request GET elsewhere 10 secret-token`), "302");
    const fetched = await machine.sh(`${known}; fetch_options '"${url}/files/a"' | curl -q --config -`);
    assert.equal(fetched, "body");
    assert.deepEqual(
      received.map(({ authorization }) => authorization),
      ["Bearer secret-token", undefined],
    );
  } finally {
    machine.close();
    server.close();
  }
});

test("an address can't smuggle options into curl, nor a pin be worked around by a look-alike of the server's", {
  skip,
}, async () => {
  const { server, received, url, pin } = await start();
  const machine = new FakeMachine();
  try {
    const options = async (address: string): Promise<string> => {
      machine.file("run/order", JSON.stringify({ url: address }));
      return machine.sh(`SERVER=${url} PIN=${pin}; fetch_options "$(field '.url | @json')"`);
    };
    const smuggled = await options(`${url}/"\noutput = "${machine.folder}/stolen`);
    assert.equal(smuggled.match(/^output/gm), null);
    assert.equal(smuggled.match(/^url = .*$/gm)?.length, 1);
    assert.match(await options(`${url}/files/a`), /^pinnedpubkey/m);
    for (const other of [`${url}0/files/a`, `${url}.evil.example/files/a`, `${url}@evil.example/`])
      assert.equal((await options(other)).match(/^(insecure|pinnedpubkey)/m), null, other);
    assert.equal(received.length, 0);
  } finally {
    machine.close();
    server.close();
  }
});
