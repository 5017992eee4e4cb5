/** `kubectl slipway`: the command as a plugin of a real kubectl. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Session } from "./session.ts";

let session: Session;
before(async () => {
  session = await Session.start();
});
after(() => session.close());

test("kubectl slipway is the command, with kubectl's kubeconfig, and names itself so in help and errors", async () => {
  assert.match(await session.ok("plugin list"), /\/kubectl-slipway$/m);
  const pools = JSON.parse(await session.ok("slipway get pools -o json")) as { kind: string; items: unknown[] };
  assert.deepEqual([pools.kind, pools.items], ["List", []]);
  assert.match(await session.ok("slipway get --help"), /^ {2}kubectl slipway get machines$/m);
  const wrong = await session.kubectl("slipway tree");
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /missing required argument 'object'; see kubectl slipway --help/);
});

test("kubectl's completion completes verbs, options, their values, kinds and objects behind kubectl slipway", async (t) => {
  if ((await session.minor()) < 26) return t.skip("kubectl completes plugins since 1.26");
  const offered = async (...words: string[]): Promise<string[]> =>
    (await session.ok(["__complete", "slipway", ...words])).trimEnd().split("\n");
  assert.deepEqual(
    (await offered("get", "")).map((line) => line.split("\t")[0]),
    ["machines", "pools", "clusters", "unleased", "help", ":4"],
  );
  assert.deepEqual(await offered("get", "pools", "--sel"), ["--selector", ":4"]);
  assert.deepEqual(await offered("get", "unleased", "-o", ""), ["wide", "json", "yaml", "name", ":4"]);
  assert.deepEqual(await offered("tree", "instancep"), ["instancepool/", "instancepools/", ":6"]);
  assert.deepEqual(await offered("tree", "machineproviders/"), [":0"]);
  assert.ok((await offered("events", "-n", "")).includes("default"));
});
