import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { reach } from "./reach.ts";

/** A server that answers so, or does not. */
const server = (answer: () => Promise<{ status: number }>): Transport => ({ request: answer }) as unknown as Transport;
const failing = (error: Error) => server(() => Promise.reject(error));

test("a server that answers is reached, whatever it answers but that it knows nobody", async () => {
  for (const status of [200, 403, 500])
    await reach(
      server(async () => ({ status })),
      "the server",
    );
  await assert.rejects(
    reach(
      server(async () => ({ status: 401 })),
      "the server",
    ),
    (error) => isFault(error, "Unauthorized") && /^the server: .* accept the credentials; check /.test(error.advice),
  );
});

test("one that does not is named as the user did, with what to check; a lost answer is none", async () => {
  for (const [code, shown] of [
    ["LostAnswer", "Unavailable"],
    ["Unavailable", "Unavailable"],
    ["BadCredentials", "BadCredentials"],
  ] as const)
    await assert.rejects(
      reach(failing(new Fault(code, "x", "broke off")), "the server"),
      (error) => isFault(error, shown) && /^the server: .*broke off; check the server/.test(error.advice),
    );
});

test("whoever stops it meanwhile gets the reason for that", async () => {
  const stopping = new AbortController();
  const reached = reach(failing(new Fault("Unavailable", "x", "aborted")), "the server", stopping.signal);
  stopping.abort(new Error("Ctrl-C"));
  await assert.rejects(reached, /Ctrl-C/);
});
