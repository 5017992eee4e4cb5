import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient, type Transport } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { manifestsOf, plannedObjects } from "./planned-objects.ts";

const MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata: {k: mine}\n";

/** Plans the manifest over an API where somebody writes the object after each of the first looks. */
async function planBeside(writers: number): Promise<{ change: string | undefined; looks: number }> {
  const api = await createApiServer({ clock, random, log });
  try {
    const inner = api.transport();
    const other = createClient(inner, { clock, random, log });
    const ref = { namespace: "default", name: "a" };
    await other.create(ConfigMap, { metadata: ref, data: { k: "mine", n: "0" } });
    const first = {
      type: "apply",
      body: manifestsOf(MANIFEST, "f")[0]!.object,
      fieldManager: "user",
      force: true,
    } as const;
    await other.patch(ConfigMap, ref, first);
    let looks = 0;
    const request: Transport["request"] = async (asked) => {
      const answer = await inner.request(asked);
      if (asked.method === "GET" && asked.path.endsWith("/configmaps/a") && looks++ < writers)
        await other.patch(ConfigMap, ref, { type: "merge", body: { data: { n: String(looks) } } });
      return answer;
    };
    const transport: Transport = {
      ...inner,
      request,
      watch: (asked) => inner.watch(asked),
      close: () => inner.close(),
    };
    const client = createClient(transport, { clock, random, log });
    const { planned, problems } = await plannedObjects({ client, transport }, manifestsOf(MANIFEST, "f"), "default");
    assert.deepEqual(problems, []);
    return { change: planned[0]?.change, looks };
  } finally {
    await api.close();
  }
}

test("an object that nobody writes to meanwhile is kept at the first look", async () => {
  assert.deepEqual(await planBeside(0), { change: "keep", looks: 1 });
});

test("what a controller wrote between two looks is no change of the user's", async () => {
  assert.equal((await planBeside(1)).change, "keep");
});

test("an object that is written to all the time counts as changed after three looks", async () => {
  assert.deepEqual(await planBeside(99), { change: "change", looks: 5 });
});
