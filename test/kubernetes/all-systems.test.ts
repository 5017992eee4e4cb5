/**
 * Every system test of the suite on a real kube-apiserver, the operator with the rights that `deploy/` ships: none may be missing, none
 * idle. `SYSTEMS=pool,crash` plays those files only; with `TURN=<number>`, as CI sets it, every fourth file has its turn. By its name it
 * starts first: it takes longest.
 */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { after, test } from "node:test";
import { playOn } from "../system/api.ts";
import { whyNotHere } from "./cluster.ts";
import { grantsOf, isUsedBy, shippedRbac, wordsOf } from "./grants.ts";
import { realStage } from "./stage.ts";

/**
 * The first reads names of tests; the second takes away a definition, which all worlds share here. The third needs conversion, which a world in
 * virtual time does not serve to a real API server, and makes another core's Deployment, beside which the light core of later worlds rests.
 * plunder's manifests of 2019 need conversion, too; as slipway convert writes them they are played here (plunder-today and others). The last has two clusters, and here is one.
 */
const ELSEWHERE = new Set([
  "statements.test.ts",
  "missing-definition.test.ts",
  "cluster-api-versions.test.ts",
  "plunder.test.ts",
  "external-plane-crash.test.ts",
]);

/**
 * Four replicas renew eight Leases and more every two seconds of virtual time: against a real server this one file takes half an hour. Real replicas share
 * out shards in `shards.test.ts` beside this file. By `SYSTEMS` it is played here, too.
 */
const TOO_SLOW = "shards.test.ts";
/** So many commits have played all files. */
const PARTS = 4;

const skip = await whyNotHere();

if (skip !== undefined) test("the systems on a real kube-apiserver", { skip });
else {
  const stage = await realStage();
  after(() => stage.close());
  playOn(stage);
  const wanted = process.env.SYSTEMS?.split(",");
  const files = (await readdir("test/system")).filter((name) => name.endsWith(".test.ts") && !ELSEWHERE.has(name));
  const turn = wanted === undefined ? process.env.TURN : undefined;
  const hasTurn = (at: number): boolean => turn === undefined || (at - Number(turn)) % PARTS === 0;
  const isWanted = (name: string, at: number): boolean =>
    wanted === undefined ? hasTurn(at) && name !== TOO_SLOW : wanted.some((part) => name.includes(part));
  const played = files.toSorted().filter(isWanted);
  const partly =
    played.filter((name) => name !== TOO_SLOW).length < files.length - 1 &&
    `only ${played.length} of ${files.length} files of tests were played`;
  for (const name of played) await import(`../system/${name}`);

  test("the operator was forbidden nothing by the shipped RBAC", () => {
    assert.deepEqual([...new Set(stage.forbidden.map(wordsOf))], []);
  });

  test("every right in the shipped RBAC was used", { skip: partly }, async () => {
    const idle = grantsOf(await shippedRbac()).filter((grant) => !stage.used.some((used) => isUsedBy(grant, used)));
    assert.deepEqual(idle.map(wordsOf), []);
  });
}
