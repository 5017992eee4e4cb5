import assert from "node:assert/strict";
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
  assert.ok((await turnsOfOthers((res) => sendPlain(request, res, { status: 200, headers: {}, body }, 1000))) > 10);
});

test("others have their turn while a watch's many events are sent to a reader that takes all at once", async () => {
  const stream = async function* (): AsyncGenerator<WatchEvent> {
    for (let i = 0; i < 2000; i++) yield { type: "ADDED", object: { metadata: { name } } };
  };
  assert.ok((await turnsOfOthers((res) => sendStream(res, { status: 200, headers: {}, stream: stream() }, 1000))) > 10);
});
