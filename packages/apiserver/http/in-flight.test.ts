import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServerRequest, User } from "../model/request.ts";
import { limitInFlight } from "./in-flight.ts";

const request = (method: string, path = "/api/v1/pods"): ServerRequest => ({
  method,
  path,
  query: new URLSearchParams(),
  headers: {},
});
const USER: User = { name: "u", groups: ["system:authenticated"] };
const NEVER = () => new Promise<string>(() => {});
const AT_ONCE = () => Promise.resolve("done");

test("who comes when all places are taken is asked to come back in a second", async () => {
  const limited = limitInFlight<string>({ reading: 2, writing: 1 });
  void limited(request("POST"), USER, NEVER);
  const turnedAway = await limited(request("DELETE"), USER, AT_ONCE);

  assert.ok(typeof turnedAway === "object");
  assert.equal(turnedAway.status, 429);
  assert.equal(turnedAway.headers["retry-after"], "1");
  assert.equal(await limited(request("GET"), USER, AT_ONCE), "done");
});

test("a place is free again when its request is answered, or has failed", async () => {
  const limited = limitInFlight<string>({ reading: 1 });
  assert.equal(await limited(request("GET"), USER, AT_ONCE), "done");
  await assert.rejects(
    limited(request("GET"), USER, () => Promise.reject(new Error("broken"))),
    /broken/,
  );
  assert.equal(await limited(request("GET"), USER, AT_ONCE), "done");
});

test("administrators and health checks get in when all places are taken", async () => {
  const limited = limitInFlight<string>({ reading: 0 });
  assert.equal(await limited(request("GET", "/readyz"), USER, AT_ONCE), "done");
  const admin = { name: "a", groups: ["system:masters"] };
  assert.equal(await limited(request("GET", "/api"), admin, AT_ONCE), "done");
});
