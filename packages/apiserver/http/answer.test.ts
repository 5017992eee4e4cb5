import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { WatchEvent } from "@slipway/kube";
import { nextTurn } from "../json/turns.ts";
import { sendPlain, sendStream } from "./answer.ts";
import type { FaceRequest, FaceResponse } from "./exchange.ts";

/** A response whose reader takes everything at once. */
function eagerResponse(seen: string[]): FaceResponse {
  const response = {
    req: { httpVersionMajor: 1 },
    destroyed: false,
    writeHead() {},
    flushHeaders() {},
    write: () => seen.push("piece") > 0,
    end() {},
  };
  return response as unknown as FaceResponse;
}

/** How often other work had a turn between two pieces that `send` sends. */
async function turnsOfOthers(send: (response: FaceResponse) => Promise<void>): Promise<number> {
  const seen: string[] = [];
  let isOver = false;
  const sent = send(eagerResponse(seen)).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await nextTurn();
    seen.push("other");
  }
  await sent;
  return seen.join(" ").split("piece other").length - 1;
}

const name = "n".repeat(1000);

test("others have their turn while a long list is sent to a reader that takes all at once", async () => {
  const body = { kind: "List", items: Array.from({ length: 2000 }, () => ({ metadata: { name } })) };
  const request = { headers: {}, method: "GET", url: "/" } as unknown as FaceRequest;
  assert.ok(
    (await turnsOfOthers((res) => sendPlain(request, res, { status: 200, headers: {}, body }, { stalledMs: 1000 }))) >
      10,
  );
});

test("others have their turn while a watch's many events are sent to a reader that takes all at once", async () => {
  const stream = async function* (): AsyncGenerator<WatchEvent> {
    for (let i = 0; i < 2000; i++) yield { type: "ADDED", object: { metadata: { name } } };
  };
  assert.ok((await turnsOfOthers((res) => sendStream(res, { status: 200, headers: {}, stream: stream() }, 1000))) > 10);
});

test("letters beyond ASCII in a header go out as they are, whatever the body", async (t) => {
  const bodies = [{ kind: "Status" }, "text", new Uint8Array([1]), { items: ["ü".repeat(200_000)] }];
  // Node takes and gives headers a letter a byte.
  const warning = Buffer.from('299 - "ünicode"').toString("latin1");
  for (const body of bodies) {
    const server = createServer(
      (req, res) => void sendPlain(req, res, { status: 200, headers: { warning }, body }, { stalledMs: 1000 }),
    );
    t.after(() => server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const [answer] = (await once(get({ port, host: "127.0.0.1", agent: false }), "response")) as [IncomingMessage];
    assert.equal(answer.headers.warning, warning);
    const chunks = await answer.toArray();
    const bytes =
      typeof body === "string" ? Buffer.from(body) : body instanceof Uint8Array ? body : JSON.stringify(body);
    assert.equal(`${Buffer.concat(chunks)}`.trim(), Buffer.from(bytes).toString());
  }
});
