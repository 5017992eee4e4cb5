import assert from "node:assert/strict";
import { test } from "node:test";
import { type HttpRequest, json, quietLog } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createEquinixDriver } from "./driver.ts";

test("a machine that somebody else bought is marked with one claim, and keeps its other tags", async () => {
  for (const held of [["blue", "slipway:claim:old"], ["blue"]]) {
    const sent: HttpRequest[] = [];
    const driver = createEquinixDriver(
      { endpoint: undefined, token: "key", project: "p", planMapping: {}, metroMapping: {} },
      {
        http: async (request) => {
          sent.push(request);
          return json(200, { id: "d1", tags: held });
        },
        clock: new VirtualClock(),
        log: quietLog,
      },
    );
    await driver.tag!("d1", "new");
    const put = sent.find((request) => request.method === "PUT")!;
    assert.match(put.url, /\/devices\/d1$/);
    assert.deepEqual(JSON.parse(put.body!), { tags: ["slipway:claim:new", "blue"] });
  }
});
