import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIG_MAPS, world } from "../testing.ts";

const refusal = (why: string): string => `invalid timeout specified in the request URL - ${why}`;

test("an invalid ?timeout is refused before anything else, wherever it stands; a watch has none", async () => {
  const w = await world();
  const query = { timeout: "soon" };
  const paths = [
    CONFIG_MAPS,
    `${CONFIG_MAPS}/a`,
    "/apis/no.such/v1/things",
    "/version",
    "/api",
    "/readyz",
    "/openapi/v2",
    "/nowhere",
  ];
  for (const path of paths) {
    const { code, message } = await w.refused("GET", path, undefined, { query });
    assert.deepEqual([code, message], [400, refusal('time: invalid duration "soon"')], path);
  }
  const { status } = await w.server.handle({
    method: "POST",
    path: CONFIG_MAPS,
    query: new URLSearchParams(query),
    headers: { authorization: "Bearer nobodys" },
  });
  assert.equal(status, 400);
  const watch = await w.watch(CONFIG_MAPS, { ...query, resourceVersion: "1" });
  await w.ask("POST", CONFIG_MAPS, { metadata: { name: "a" } });
  await w.clock.settle();
  assert.deepEqual(watch.shown(), ["ADDED a"]);
  await w.close();
});

test("durations are judged as Go judges them", async () => {
  const w = await world();
  for (const [timeout, why] of [
    ["10", 'time: missing unit in duration "10"'],
    ["1x", 'time: unknown unit "x" in duration "1x"'],
    ["-", 'time: invalid duration "-"'],
    [".s", 'time: invalid duration ".s"'],
    ["99999999999h", 'time: invalid duration "99999999999h"'],
    ["1constructor", 'time: unknown unit "constructor" in duration "1constructor"'],
  ] as const)
    assert.equal((await w.refused("GET", "/version", undefined, { query: { timeout } })).message, refusal(why));
  for (const timeout of ["", "0", "30s", "1m30s", "1.5h", "-1s", "+2ms"])
    assert.equal((await w.send({ method: "GET", path: "/version", query: { timeout } })).status, 200, timeout);
  await w.close();
});
