import assert from "node:assert/strict";
import { test } from "node:test";
import type { JoinedCluster } from "../systems/counterpart.ts";
import { anyCluster } from "./any-cluster.ts";

type Request = Parameters<JoinedCluster["join"]>[0];

/** A cluster that takes every machine, or refuses it for this reason. */
function cluster(reason?: string) {
  const seen: string[] = [];
  const joined = { is: "joined" } as Awaited<ReturnType<JoinedCluster["join"]>>;
  const one: JoinedCluster = {
    async join() {
      seen.push("asked");
      return reason === undefined ? joined : { is: "refused", reason };
    },
    powerLost: (id) => void seen.push(`lost ${id}`),
  };
  return { one, seen };
}

test("a machine joins the first cluster that takes it, and no other is asked", async () => {
  const [refuses, takes, last] = [cluster("it floats"), cluster(), cluster()];
  const all = anyCluster([refuses.one, takes.one, last.one])!;
  assert.equal((await all.join({} as Request)).is, "joined");
  assert.deepEqual([refuses.seen, takes.seen, last.seen], [["asked"], ["asked"], []]);
  all.powerLost("m-1");
  assert.deepEqual([refuses.seen.at(-1), takes.seen.at(-1), last.seen.at(-1)], ["lost m-1", "lost m-1", "lost m-1"]);
});

test("a machine that no cluster takes is refused with the reasons of all", async () => {
  const all = anyCluster([cluster("it floats").one, cluster("wrong token").one])!;
  assert.deepEqual(await all.join({} as Request), { is: "refused", reason: "it floats; wrong token" });
  assert.equal(anyCluster([]), undefined);
  const { one } = cluster();
  assert.equal(anyCluster([one]), one);
});
