/** What a DELETE may ask for, in its body or in its query, and how what makes no sense is refused. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CONFIG_MAPS, type World, world } from "../testing.ts";
import { decodeToken, encodeToken } from "./continue-token.ts";

async function started(t: TestContext): Promise<World> {
  const w = await world();
  t.after(() => w.close());
  return w;
}
const made = async (w: World, name = "a") => (await w.ask("POST", CONFIG_MAPS, { metadata: { name } })).metadata;
const isThere = async (w: World, name = "a") =>
  (await w.send({ method: "GET", path: `${CONFIG_MAPS}/${name}` })).status === 200;

test("a dry run deletes nothing, whether the body or the query asks for it", async (t) => {
  const w = await started(t);
  await made(w);
  await w.ask("DELETE", `${CONFIG_MAPS}/a`, { dryRun: ["All"] });
  await w.ask("DELETE", `${CONFIG_MAPS}/a`, undefined, { query: { dryRun: "All" } });
  assert.equal(await isThere(w), true);
  await w.ask("DELETE", `${CONFIG_MAPS}/a`, { kind: "DeleteOptions", apiVersion: "v1" });
  assert.equal(await isThere(w), false);
});

test("of whom an object owns it is decided by either of two words, old and new, and not by both", async (t) => {
  const w = await started(t);
  const finalizers = async (body: object | undefined, query: Record<string, string> = {}) => {
    const owner = await made(w);
    const ownerReferences = [
      { apiVersion: "v1", kind: "ConfigMap", name: "a", uid: owner.uid, blockOwnerDeletion: true },
    ];
    await w.ask("POST", CONFIG_MAPS, { metadata: { name: "child", ownerReferences } });
    const left = (await w.ask("DELETE", `${CONFIG_MAPS}/a`, body, { query })).metadata?.finalizers;
    await w.clock.settle();
    const child = await isThere(w, "child");
    if (child) await w.ask("DELETE", `${CONFIG_MAPS}/child`);
    await w.clock.settle();
    assert.equal(await isThere(w), false);
    return [left?.[0], child ? "stays" : "goes"];
  };
  assert.deepEqual(await finalizers(undefined), [undefined, "goes"]);
  assert.deepEqual(await finalizers({ propagationPolicy: "Orphan" }), ["orphan", "stays"]);
  assert.deepEqual(await finalizers({ orphanDependents: true }), ["orphan", "stays"]);
  assert.deepEqual(await finalizers({ orphanDependents: false }), [undefined, "goes"]);
  assert.deepEqual(await finalizers({ propagationPolicy: "Foreground" }), ["foregroundDeletion", "goes"]);
  assert.deepEqual(await finalizers(undefined, { propagationPolicy: "Orphan" }), ["orphan", "stays"]);
  assert.deepEqual(await finalizers(undefined, { orphanDependents: "true" }), ["orphan", "stays"]);
});

test("what makes no sense is refused by its field", async (t) => {
  const w = await started(t);
  await made(w);
  const refused = async (body: unknown, query: Record<string, string> = {}) => {
    const { code, message } = await w.refused("DELETE", `${CONFIG_MAPS}/a`, body, { query });
    return [code, message];
  };
  const invalid = (why: string) => [422, `DeleteOptions.meta.k8s.io "" is invalid: ${why}`];
  assert.deepEqual(await refused({ orphanDependents: true, propagationPolicy: "Orphan" }), [
    ...invalid(
      'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
    ),
  ]);
  assert.deepEqual(await refused({ propagationPolicy: "Half" }), [
    ...invalid(
      'propagationPolicy: Unsupported value: "Half": supported values: "Foreground", "Background", "Orphan", "nil"',
    ),
  ]);
  assert.match(
    String((await refused({ dryRun: ["Some"] }))[1]),
    /dryRun: Unsupported value: \["Some"\]: supported values: "All"/,
  );
  assert.match(String((await refused({ kind: "Other" }))[1]), /^no kind "Other" is registered for version "v1"/);
  assert.equal((await refused({ gracePeriodSeconds: "x" }))[0], 400);
  assert.deepEqual(await refused(undefined, { gracePeriodSeconds: "x" }), [
    ...[400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  ]);
  assert.equal((await refused({ preconditions: { uid: "other" } }))[0], 409);
  assert.equal((await refused({ preconditions: { resourceVersion: "0" } }))[0], 409);
  assert.equal(await isThere(w), true);
});

test("a Pod is given the time that is asked for, in the body or in the query", async (t) => {
  const w = await started(t);
  const pods = "/api/v1/namespaces/default/pods";
  for (const [name, body, query, seconds] of [
    ["a", { gracePeriodSeconds: 7 }, {}, 7],
    ["b", undefined, { gracePeriodSeconds: "+8" }, 8],
    ["c", undefined, {}, 30],
  ] as const) {
    await w.ask("POST", pods, { metadata: { name }, spec: { nodeName: "n", containers: [{ name: "c", image: "a" }] } });
    const left = await w.ask("DELETE", `${pods}/${name}`, body, { query });
    assert.equal(left.metadata.deletionGracePeriodSeconds, seconds, name);
  }
});

test("the token of a list's next page is read as it was written, and anything else is refused with what is wrong", () => {
  for (const page of [
    { version: 7, from: "default/a" },
    { version: -1, from: "a" },
  ])
    assert.deepEqual(decodeToken(encodeToken(page)), page);
  const token = (of: unknown) => Buffer.from(JSON.stringify(of)).toString("base64url");
  const [v, rv, start] = ["meta.k8s.io/v1", 1, "a"];
  assert.deepEqual(decodeToken(token({ v, rv, start: "/a" })), { version: 1, from: "a" });
  for (const [text, why] of [
    ["!", ": illegal base64 data at input byte 0"],
    ["ab!", ": illegal base64 data at input byte 2"],
    ["abcde", ": illegal base64 data at input byte 4"],
    [Buffer.from("{").toString("base64url"), ""],
    [token({ rv, start }), ": server does not recognize this encoded version "],
    [token({ v: "v2", rv, start }), ": server does not recognize this encoded version v2"],
    [token({ v, start }), ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)"],
    [token({ v, rv: 0, start }), ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)"],
    [token({ v, rv }), ": encoded start key empty (version meta.k8s.io/v1)"],
    [token({ v, rv, start: "" }), ": encoded start key empty (version meta.k8s.io/v1)"],
    [token({ v, rv, start: "a/../b" }), ": a/../b"],
    [token({ v, rv, start: "." }), ": ."],
    [token({ v, rv, start: "a//b" }), ": a//b"],
  ] as const)
    assert.throws(
      () => decodeToken(text),
      (error: Error) => error.message.endsWith(`invalid continue token: continue key is not valid${why}`),
      text,
    );
});
