import assert from "node:assert/strict";
import { test } from "node:test";
import { boundClient } from "./bound-client.ts";
import type { CallOptions, Client } from "./client.ts";
import { ConfigMap } from "./core.ts";

/** A client that is bound to a signal, and the signals that its calls are sent with. */
function bound() {
  const sent: (AbortSignal | undefined)[] = [];
  const get = async (_: unknown, __: unknown, options?: CallOptions) => void sent.push(options?.signal);
  const end = new AbortController();
  const client = boundClient({ get } as unknown as Client, end.signal);
  return { end, sent, ask: (signal?: AbortSignal) => client.get(ConfigMap, { name: "a" }, signal && { signal }) };
}

test("a call ends with the client's signal, or with its own where it has one", async () => {
  for (const who of ["client", "caller"] as const) {
    const { end, sent, ask } = bound();
    const own = new AbortController();
    await ask();
    await ask(end.signal);
    await ask(own.signal);
    (who === "client" ? end : own).abort();
    assert.deepEqual(
      sent.map((signal) => signal?.aborted),
      who === "client" ? [true, true, true] : [false, false, true],
    );
  }
});

test("once its signal is aborted nothing is sent any more, whatever the caller passes", async () => {
  const { end, sent, ask } = bound();
  end.abort(new Error("over"));
  await assert.rejects(ask(), /over/);
  await assert.rejects(ask(new AbortController().signal), /over/);
  assert.equal(sent.length, 0);
});
