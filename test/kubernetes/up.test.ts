/** `slipway up --kubernetes real`, as a person starts it. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Node } from "@slipway/kube/core";
import { up, upUntilKilled } from "../cli/running-up.ts";
import { whyNotHere } from "./cluster.ts";

const skip = (await whyNotHere()) ?? false;

test("killed, it starts again at once, though the definitions still name the port at which objects were converted", {
  skip,
}, async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "slipway-up-real-"));
  t.after(() => rm(dir, { recursive: true, maxRetries: 10, retryDelay: 500 }));
  const options = ["--kubernetes", "real", "--sim", "harvester"];
  await upUntilKilled(t, dir, options, async () => {});
  await up(t, dir, options, async (client) => assert.equal((await client.list(Node)).items.length, 3));
});
