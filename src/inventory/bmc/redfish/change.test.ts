import assert from "node:assert/strict";
import { test } from "node:test";
import { type HttpAnswer, plain } from "@slipway/base";
import { change } from "./change.ts";
import type { Ask, RedfishConnection } from "./connection.ts";

/** Gives the PATCHes these answers one after the other, and the last one again to all that follow. Each PATCH is kept as `body if-match`. */
async function changed(
  statuses: readonly number[],
  { bodies = [{ a: 1 }], ...of }: { etag?: string | undefined; now?: string | undefined; bodies?: object[] } = {},
) {
  const { etag, now } = { etag: '"1"', now: '"2"', ...of };
  const sent: string[] = [];
  const left = [...statuses];
  const connection = {
    origin: "https://bmc",
    async ask({ body, ifMatch }: Ask): Promise<HttpAnswer> {
      sent.push(`${Object.keys(body!).join()} ${ifMatch}`);
      return plain(left.length > 1 ? left.shift()! : left[0]!, "");
    },
    get: async () => ({ etag: now }),
  } as unknown as RedfishConnection;
  const resource = { path: "/a", body: {}, etag };
  const work = change(connection, resource, bodies as never, new AbortController().signal);
  const status = await work.then(
    (answer) => answer.status as number | string,
    (error: Error) => error.message,
  );
  return { status, sent };
}

test("a change is sent with the ETag that was read, and once where that is taken", async () => {
  assert.deepEqual(await changed([200]), { status: 200, sent: ['a "1"'] });
  assert.deepEqual(await changed([204], { etag: undefined }), { status: 204, sent: ["a undefined"] });
});

test("a BMC that demands an ETag gets any", async () => {
  assert.deepEqual(await changed([428, 200], { etag: undefined }), { status: 200, sent: ["a undefined", "a *"] });
});

test("an ETag that is not met is read anew, and sent in each spelling, last without", async () => {
  assert.deepEqual(await changed([412, 200]), { status: 200, sent: ['a "1"', 'a "2"'] });
  const weak = await changed([412], { now: 'W/\\"2\\"' });
  assert.deepEqual(weak.sent, ['a "1"', 'a W/\\"2\\"', 'a \\"2\\"', 'a "2"', "a undefined"]);
  assert.match(`${weak.status}`, /PATCH \/a: the BMC answered 412/);
  assert.deepEqual((await changed([412, 412, 412, 412, 200], { now: 'W/""2""' })).sent.slice(2), [
    'a ""2""',
    'a "2"',
    "a undefined",
  ]);
  assert.deepEqual((await changed([412, 200], { now: undefined })).sent, ['a "1"', "a undefined"]);
  assert.deepEqual((await changed([412, 500])).sent, ['a "1"', 'a "2"'], "another refusal ends it");
});

test("of several spellings the next is sent where a property is refused, and the first refusal is reported", async () => {
  const bodies = [{ a: 1 }, { b: 1 }, { c: 1 }];
  assert.deepEqual(await changed([400, 422, 200], { bodies }), { status: 200, sent: ['a "1"', 'b "1"', 'c "1"'] });
  const all = await changed([400, 422, 422], { bodies });
  assert.match(`${all.status}`, /answered 400/);
  const stopped = await changed([400, 409], { bodies });
  assert.deepEqual([stopped.sent.length, /answered 400/.test(`${stopped.status}`)], [2, true]);
});
