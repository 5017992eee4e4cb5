import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { netbootApi } from "./api.ts";

/** A netboot that answers everything with this status and body. */
function netboot(status: number, body: object | string = "") {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const http = async () => ({ status, headers: {}, body: text });
  return netbootApi({ endpoint: "https://netboot.test", client: undefined, http, clock: new VirtualClock() });
}
const WANTED = { claim: "c", mac: "52:54:00:00:00:01" } as Parameters<ReturnType<typeof netboot>["claim"]>[0];

test("what a netboot's refusal means goes by its status, and by its code where it has one", async () => {
  for (const [status, body, code] of [
    [300, {}, "Unavailable"],
    [399, {}, "Unavailable"],
    [400, {}, "Invalid"],
    [401, {}, "BadCredentials"],
    [403, {}, "BadCredentials"],
    [403, { code: "Forbidden" }, "Forbidden"],
    [404, {}, "Unsupported"],
    [409, { code: "Conflict" }, "Conflict"],
    [409, { code: "AlreadyExists" }, "AlreadyExists"],
    [422, { code: "Invalid" }, "Invalid"],
    [422, { code: "BadCredentials" }, "Invalid"],
  ] as const)
    await assert.rejects(
      netboot(status, body).claim(WANTED),
      (error) => isFault(error, code) || assert.fail(`${status}: ${error}`),
    );
});

test("a claim that a netboot does not know is released", async () => {
  await netboot(404, { code: "NotFound" }).release("c");
  await assert.rejects(netboot(404).release("c"), (error) => isFault(error, "Unsupported"));
});

test("an answer that is no machine is asked for again, or looked for where it was a write", async () => {
  await assert.rejects(netboot(200, { machines: 1 }).machines(), (error) => isFault(error, "Unavailable"));
  await assert.rejects(netboot(200, { machines: 1 }).claim(WANTED), (error) => isFault(error, "LostAnswer"));
  await assert.rejects(netboot(200, { machines: [] }).claim(WANTED), /it was asked for one machine, and named another/);
});
