import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { ServerRequest, User } from "../model/request.ts";
import { bodyShares } from "./body-share.ts";

const bob: User = { name: "bob", groups: [] };
const eve: User = { name: "eve", groups: [] };
const admin: User = { name: "admin", groups: ["system:masters"] };

function begin() {
  const share = bodyShares({ all: 10, each: 4 });
  const send = async (user: User, ...sizes: number[]) => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const read = async (take: (bytes: number) => void): Promise<string> => {
      for (const size of sizes) take(size);
      return "whole";
    };
    const request = { method: "POST", path: "/x", pending: { read } } as unknown as ServerRequest;
    let seen: unknown;
    const done = share(request, user, async ({ body, pending }) => {
      seen = [body, pending];
      await answered;
    });
    await Promise.race([done, new Promise(setImmediate)]);
    const end = async (): Promise<void> => {
      answer();
      await done;
    };
    return { seen, end };
  };
  return { share, send };
}

const isFull = (error: unknown): boolean => isFault(error, "Throttled") && /Too many requests/.test(error.message);

test("a user's bodies are bound together until each is answered, and another user has a share of their own", async () => {
  const { send } = begin();
  const first = await send(bob, 1, 2);
  assert.deepEqual(first.seen, ["whole", undefined]);
  await assert.rejects(send(bob, 2), isFull);
  const rest = await send(bob, 1);
  const other = await send(eve, 4);
  await first.end();
  const again = await send(bob, 3);
  await Promise.all([rest, other, again].map(({ end }) => end()));
});

test("administrators are bound by the whole alone", async () => {
  const { send } = begin();
  const large = await send(admin, 9);
  await assert.rejects(send(admin, 2), isFull);
  await assert.rejects(send(bob, 2), isFull);
  const last = await send(bob, 1);
  await Promise.all([large, last].map(({ end }) => end()));
});

test("a body that was refused half way, or whose request failed, holds no room", async () => {
  const { share, send } = begin();
  for (let round = 0; round < 5; round++) {
    await assert.rejects(send(bob, 3, 3), isFull);
    const read = async (take: (bytes: number) => void): Promise<string> => {
      take(4);
      return "whole";
    };
    const failing = { pending: { read } };
    await assert.rejects(
      share(failing as unknown as ServerRequest, eve, async () => {
        throw new Error("not now");
      }),
      /not now/,
    );
  }
});

test("a request without a body passes as it is, also when no room is left", async () => {
  const { share, send } = begin();
  const full = await send(admin, 10);
  const request = { method: "GET", path: "/x" } as unknown as ServerRequest;
  assert.equal(await share(request, bob, async (same) => same), request);
  await full.end();
});
